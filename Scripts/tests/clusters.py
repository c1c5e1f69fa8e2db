"""Clusters on this one host, for check_clusters.py: Slurm's daemons, Dask's processes, hosts in network namespaces.

Everything runs with files and sockets in a folder of its own, talks to addresses of this machine only, and ends with the test.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from plimsoll_tools.checkout import ROOT

Found = TypeVar("Found")

WAIT_S = 240
CONFIGURATION = """
ClusterName=plimsoll
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=8
KillWait=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def until(happened: Callable[[], Found | None], what: str, seconds: float = WAIT_S) -> Found:
    """Waits until something is true, and returns it."""
    end = time.monotonic() + seconds
    while not (found := happened()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
    return found


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on. They lie below those that Linux gives to connections (from 32768 on), so that no
    connection takes one before the server does; and they begin at random, for two tests at once."""
    found: list[int] = []
    port = 15_000 + secrets.randbelow(15_000)
    while len(found) < count:
        port += 1
        with contextlib.suppress(OSError), socket.socket() as each:
            each.bind(("127.0.0.1", port))
            found.append(port)
    return found


class Processes:
    """What a test started, to be ended by its number, and the folder with its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *words: object, name: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("ab") as log:
            process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**os.environ, **(env or {})}, start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        return process

    def said(self) -> str:
        """The last lines of all logs, for a test that failed."""
        logs = sorted([*self.folder.glob("*.out"), *self.folder.glob("*.log")])
        return "\n".join(f"--- {log.name}\n" + "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:]) for log in logs)

    def stop(self) -> None:
        for process in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in reversed(self.started):
            try:
                process.wait(timeout=8)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class SlurmCluster(Processes):
    """One slurmctld and nodes of two processors. Each node is a process namespace, so that its death is that of a host."""

    def __init__(self, folder: Path, nodes: int = 3) -> None:
        super().__init__(folder)
        for name in ("state", *(f"spool-n{number + 1}" for number in range(nodes))):
            (folder / name).mkdir()
        ports = free_ports(nodes + 1)
        host = socket.gethostname().partition(".")[0]
        lines = [
            f"NodeName=n{number + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000 State=UNKNOWN"
            for number, port in enumerate(ports[1:])
        ]
        text = CONFIGURATION.format(host=host, port=ports[0], folder=folder, nodes="\n".join(lines))
        (folder / "slurm.conf").write_text(text, "utf-8")
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        self.start(
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed",
            name="munged",
        )  # fmt: skip
        until((folder / "munge.socket").exists, "munged's socket")
        self.start("slurmctld", "-D", "-f", folder / "slurm.conf", name="slurmctld", env=self.env)
        self.nodes = {}
        for number in range(nodes):
            name = f"n{number + 1}"
            self.nodes[name] = self.start(
                "unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "slurmd", "-D", "-N", name,
                "-f", folder / "slurm.conf", name=f"slurmd-{name}", env=self.env,
            )  # fmt: skip
        until(lambda: self.ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * nodes, "idle nodes")

    def ask(self, *words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **self.env})
        return done.stdout

    def running(self) -> list[tuple[str, str]]:
        """The tasks that run, with their nodes."""
        lines = self.ask("squeue", "--noheader", "--array", "--states=R", "--format=%i %N").splitlines()
        return [(task, node) for task, _, node in (line.strip().partition(" ") for line in lines)]

    def kill_node(self, name: str) -> None:
        """The host is gone at once, with everything that ran on it."""
        self.nodes[name].kill()
        self.nodes[name].wait()


class DaskCluster(Processes):
    """A scheduler, and workers in processes of their own. `prefix` is what starts a command on another host."""

    def __init__(self, folder: Path, workers: int, address: str = "127.0.0.1", prefix: Sequence[object] = (),
                 workers_prefix: Sequence[object] = ()) -> None:  # fmt: skip
        super().__init__(folder)
        dask = (sys.executable, "-m", "distributed.cli.dask_scheduler")
        self.file = folder / "scheduler.json"
        self.start(*prefix, *dask, "--host", address, "--port", "0", "--no-dashboard", "--scheduler-file", self.file,
                   name="scheduler")  # fmt: skip
        until(self.file.exists, "Dask's scheduler")
        until(lambda: '"address"' in self.file.read_text("utf-8"), "the scheduler's address")
        self.address = self.file.read_text("utf-8").partition('"address": "')[2].partition('"')[0]
        worker = (sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--nthreads", "1",
                  "--no-dashboard", "--memory-limit", "0")  # fmt: skip
        self.workers = [
            self.start(*workers_prefix, *worker, "--name", f"w{number}", "--local-directory", f"/tmp/plimsoll-{folder.name}-w{number}",
                       name=f"worker-{number}")
            for number in range(workers)
        ]  # fmt: skip

    def stop(self) -> None:
        super().stop()
        for number in range(len(self.workers)):
            shutil.rmtree(f"/tmp/plimsoll-{self.folder.name}-w{number}", ignore_errors=True)


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[list[str], list[str], str]]:
    """Two hosts that share nothing but a network: what starts a command on each, and the first one's address.

    The second has a file system of its own where the first has the checkout, the toolchain and the temporary files. What it
    has is the system's Python, and a Python environment with the packages of the group `clusters`, both read-only.
    """
    tag = f"{os.getpid() % 10_000}"
    near, far = f"pl{tag}a", f"pl{tag}b"
    try:
        for name in (near, far):
            call("ip", "netns", "add", name)
            call("ip", "-n", name, "link", "set", "lo", "up")
        call("ip", "link", "add", f"v{tag}a", "netns", near, "type", "veth", "peer", "name", f"v{tag}b", "netns", far)
        for name, link, address in ((near, f"v{tag}a", "10.77.0.1/24"), (far, f"v{tag}b", "10.77.0.2/24")):
            call("ip", "-n", name, "address", "add", address, "dev", link)
            call("ip", "-n", name, "link", "set", link, "up")
        on_near = ["ip", "netns", "exec", near]
        on_far = ["ip", "netns", "exec", far, "unshare", "--mount", "sh", "-euc", DISK, "sh", str(ROOT)]
        yield on_near, on_far, "10.77.0.1"
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


DISK = """
root=$1
shift
mount --make-rprivate /
mount --bind "$root/.venv" /mnt
mount -t tmpfs tmpfs /tmp
case $root in /tmp/*) ;; *) mount -t tmpfs tmpfs "$root" ;; esac
mkdir -p "$root/.venv"
mount --bind /mnt "$root/.venv"
mount -o remount,bind,ro "$root/.venv"
umount /mnt
if [ -d /opt ]; then mount -t tmpfs tmpfs /opt; fi
cd /
exec "$@"
"""


def call(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)
