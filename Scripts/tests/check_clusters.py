"""Runs Scripts/sweep-on on real schedulers: Slurm's daemons, Dask's processes and PostgreSQL, several hosts on this one.

Needs root on Debian or Ubuntu, and what `Scripts/setup.sh clusters-test` installs. Elsewhere it says why it does not run.
Takes some minutes, and prints what each check found. Exit status: 0 all passed, or none can run here; 1 some failed; 64 usage.

Examples:
  .venv/bin/python Scripts/tests/check_clusters.py --program .build/release/plimsoll
  .venv/bin/python Scripts/tests/check_clusters.py --program .build/release/plimsoll dask
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import optuna
from clusters import WAIT_S, DaskCluster, Processes, SlurmCluster, two_hosts, until
from optuna.trial import TrialState
from test_tune_postgres import SERVER, Postgres

from plimsoll_tools.checkout import ROOT
from plimsoll_tools.clusters.engine import Engine
from plimsoll_tools.clusters.errand import Ended, Errand
from plimsoll_tools.clusters.experiment import Settings, perform
from plimsoll_tools.clusters.parcel import Parcel
from plimsoll_tools.command_line import Parser
from plimsoll_tools.tuning.board import open_storage
from plimsoll_tools.tuning.program import Interruption

SCENARIO = "Scenarios/quickstart.yaml"
SWEEP = ("sweep", SCENARIO, "--backend", "accounting", "--vary", "device.cores=1,2", "--seeds", "1..100")
RUNS = 200
COMPARE = ("compare", SCENARIO, "--backend", "accounting", "--policy", "ladder", "--policy", "lru", "--seeds", "1..16",
           "--set", "duration=10min")  # fmt: skip
TUNE = ("tune", SCENARIO, "--policy", "ladder", "--trials", "60", "--seeds", "1..2", "--held-out-seeds", "101..105",
        "--confirm", "accounting", "--heartbeat", "5")  # fmt: skip
TRIALS, HELD_OUT = 60, 5
MANY = 100_000


class Check:
    """What the checks share: the program, a folder, and the results of this machine alone."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.env = {**os.environ, "PLIMSOLL": str(program), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def sweep_on(self, *words: object, prefix: tuple[str, ...] = (), env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, "-I", "-m", "plimsoll_tools.clusters", *map(str, words)]
        return subprocess.Popen(
            command, cwd=ROOT, env={**self.env, **(env or {})}, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def end(self, process: subprocess.Popen[str], status: int = 0) -> str:
        """What a command said on stderr; it must end with this status."""
        try:
            out, err = process.communicate(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"did not end:\n{out}{err}") from None
        assert process.returncode == status, f"ended with {process.returncode}, not {status}:\n{out}{err}"
        return err

    def alone(self, name: str, words: tuple[str, ...]) -> Path:
        """The result of the same command on this machine alone."""
        out = self.folder / name
        if not out.exists():
            subprocess.run([self.program, *words, "--out", out, "--quiet"], cwd=ROOT, check=True)
        return out

    def rows(self, out: Path) -> int:
        """The runs that a sweep has booked."""
        ledger = out / "ledger.txt"
        return ledger.read_bytes().count(b"\n") - 1 if ledger.exists() else 0

    def assert_same(self, left: Path, right: Path, names: tuple[str, ...]) -> None:
        for name in names:
            assert (left / name).read_bytes() == (right / name).read_bytes(), f"{name} differs"


def slurm_sweep(check: Check, cluster: SlurmCluster) -> str:
    """A sweep of 200 cases; a case is killed, and then a node in the middle."""
    out = check.folder / "slurm-sweep"
    started = time.monotonic()
    process = check.sweep_on("slurm", "--chunk", 5, *SWEEP, "--out", out, "--quiet", env=cluster.env)
    until(lambda: check.rows(out) >= RUNS // 8, "the first results")
    until(lambda: signal_cases(signal.SIGKILL), "a chunk under way")
    until(lambda: check.rows(out) >= RUNS // 3, "a third of the results")
    # A stopped chunk cannot end between the look at it and the death of its node.
    task, node = until(lambda: signal_cases(signal.SIGSTOP), "another chunk under way")
    cluster.kill_node(node)
    at = check.rows(out)
    until(lambda: re.search(r"Restarts=[1-9]", cluster.ask("scontrol", "show", "job", task)), f"task {task} in the queue again")
    err = check.end(process)
    found = re.search(r"failed on (n[1-3]) \(signal 9\): tried again elsewhere; log: (\S+)", err)
    assert found, f"the killed chunk is not said:\n{err}"
    assert Path(found[2]).is_file(), "the log is not there"
    check.assert_same(check.alone("sweep", SWEEP), out, ("sweep.csv", "plan.json", "datapackage.json"))
    return (
        f"{RUNS} cases in {time.monotonic() - started:.0f} s on 3 nodes; a chunk killed on {found[1]}, node {node} killed "
        f"with {at} cases done: its task {task} ran elsewhere; sweep.csv is that of one machine"
    )


def signal_cases(number: signal.Signals) -> tuple[str, str] | None:
    """Sends a signal to one `plimsoll cases` of ours; its task and its node, or nothing where none runs."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"cases"] and b"slurm-sweep.work" in words[0] + bytes((folder / "cwd").readlink()):
                entries = (folder / "environ").read_text("utf-8", "replace").split("\0")
                env = dict(entry.partition("=")[::2] for entry in entries)
                os.kill(int(folder.name), number)
                return f"{env['SLURM_ARRAY_JOB_ID']}_{env['SLURM_ARRAY_TASK_ID']}", env["SLURMD_NODENAME"]
        except OSError:
            continue
    return None


def slurm_compare(check: Check, cluster: SlurmCluster) -> str:
    """A comparison that is interrupted and asked for again."""
    out = check.folder / "slurm-compare"
    words = ("slurm", "--chunk", 4, *COMPARE, "--out", out, "--quiet")
    process = check.sweep_on(*words, env=cluster.env)

    ledger = out / "ledger.txt"
    until(lambda: ledger.is_file() and ledger.read_bytes().count(b"\n") > 1, "the first results")
    process.send_signal(signal.SIGINT)
    err = check.end(process, 130)
    assert "the same command goes on" in err, err
    until(lambda: not cluster.ask("squeue", "--noheader"), "an empty queue")
    before = ledger.read_bytes()
    kept = before.count(b"\n") - 1
    check.end(check.sweep_on(*words, env=cluster.env))
    assert ledger.read_bytes().startswith(before), "a run was made again"
    local = check.alone("compare", COMPARE)
    check.assert_same(local, out, ("comparison.csv", "runs.csv", "plan.json"))
    made = len((out / "runs.csv").read_bytes().splitlines()) - 1
    assert not out.with_name(f"{out.name}.work").exists(), "the working folder is left"
    return f"{made} runs, interrupted with {kept} done, which were not made again; the tables are those of one machine"


def slurm_tune(check: Check, cluster: SlurmCluster) -> str:
    """A search of 60 trials with PostgreSQL."""
    server = Postgres()
    try:
        out = check.folder / "slurm-tune"
        started = time.monotonic()
        process = check.sweep_on("slurm", "--workers", 2, *TUNE, "--storage", server.url, "--out", out, env=cluster.env)
        check.end(process)
        return f"{settled(server.url)} in {time.monotonic() - started:.0f} s; {written(out)}"
    finally:
        server.stop()


def settled(url: str) -> str:
    """All trials of both studies are settled, each slot once."""
    storage = open_storage(url, 1, 3)
    found = {}
    for name in optuna.get_all_study_names(storage):
        trials = optuna.load_study(study_name=name, storage=storage).get_trials()
        slots = [trial.user_attrs["slot"] for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        wanted = HELD_OUT if "verdict" in name else TRIALS
        assert sorted(slots) == list(range(wanted)), f"{name}: {sorted(slots)}"
        found["verdict" if "verdict" in name else "search"] = {str(trial.user_attrs.get("worker")) for trial in trials}
    storage.engine.dispose()
    assert sorted(found) == ["search", "verdict"], found
    return f"{TRIALS} trials by {len(found['search'])} workers, {HELD_OUT} held-out pairs, each settled once"


def written(out: Path) -> str:
    """The verdict is there, once."""
    rows = (out / "trials.csv").read_text("utf-8").splitlines()
    assert len(rows) == TRIALS + 1, f"{len(rows)} rows"
    assert (out / "verdict.csv").is_file()
    others = [path for path in out.parent.rglob("verdict.csv") if path.parent != out and out.name in str(path)]
    assert not others, others
    return "the verdict is written once"


def dask_sweep(check: Check) -> str:
    """A sweep of 200 cases on three workers, one of them killed in the middle."""
    folder = Path(tempfile.mkdtemp(dir=check.folder))
    cluster = DaskCluster(folder, 3)
    try:
        out = check.folder / "dask-sweep"
        started = time.monotonic()
        process = check.sweep_on(
            "dask", "--scheduler-file", cluster.file, "--chunk", 5, *SWEEP, "--out", out, "--quiet"
        )  # fmt: skip
        until(lambda: check.rows(out) >= RUNS // 3, "a third of the results")
        # With all that it started, as if its host were gone.
        os.killpg(cluster.workers[1].pid, signal.SIGKILL)
        at = check.rows(out)
        check.end(process)
        check.assert_same(check.alone("sweep", SWEEP), out, ("sweep.csv", "plan.json", "datapackage.json"))
        return (
            f"{RUNS} cases in {time.monotonic() - started:.0f} s on 3 workers, one killed with {at} cases done; "
            "sweep.csv is that of one machine"
        )
    except BaseException:
        print(cluster.said())
        raise
    finally:
        cluster.stop()


def two_hosts_sweep_and_tune(check: Check) -> str:
    """Two hosts with no common disk: a sweep and a search, whose workers are all on the other host."""
    with two_hosts() as (near, far, address):
        folder = Path(tempfile.mkdtemp(dir=check.folder))
        cluster = DaskCluster(folder, 2, address, near, far)
        server = Postgres(address, tuple(near))
        try:
            unseen = subprocess.run([*far, "sh", "-c", f"! ls {check.program} {ROOT}/Scripts {check.folder}"], check=False)
            assert unseen.returncode == 0, "the hosts share a disk"
            out = check.folder / "far-sweep"
            words = ("dask", "--scheduler", cluster.address)
            check.end(check.sweep_on(*words, *SWEEP, "--out", out, "--quiet", prefix=tuple(near)))
            check.assert_same(check.alone("sweep", SWEEP), out, ("sweep.csv", "plan.json", "datapackage.json"))
            tuned = check.folder / "far-tune"
            check.end(check.sweep_on(*words, "--workers", 2, *TUNE, "--storage", server.url, "--out", tuned, prefix=tuple(near)))
            rows = (tuned / "trials.csv").read_text("utf-8").splitlines()
            assert len(rows) == TRIALS + 1
            assert "the search" not in rows
            return f"{RUNS} cases as on one machine, and {TRIALS} trials; {written(tuned)}"
        except BaseException:
            print(cluster.said())
            raise
        finally:
            server.stop()
            cluster.stop()


class Canned(Engine):
    """Answers every case at once with the same result: what remains is the cost of planning, gathering and writing."""

    row = ""

    def open(self, parcel: Parcel, needed: int) -> None:
        pass

    def slots(self) -> int:
        return 64

    def submit(self, batch: Sequence[Errand]) -> list[Errand]:
        for errand in batch:
            indices = [json.loads(line)["index"] for line in errand.given.splitlines()]
            ends = [{"index": index, "status": 0, "output": self.row, "errors": "", "cpu_seconds": 0.03, "peak_kibibytes": 9}
                    for index in indices]  # fmt: skip
            self.news.put(Ended(errand.number, "\n".join(map(json.dumps, ends)).encode(), "nowhere"))
        return []

    def close(self) -> None:
        pass


def memory_of(process: int) -> int:
    """Resident memory in KiB."""
    found = re.search(r"VmRSS:\s+([0-9]+)", Path(f"/proc/{process}/status").read_text("utf-8"))
    return int(found[1]) if found else 0


def gatherer(check: Check) -> str:
    """A sweep of 100,000 cases whose runs cost nothing: the memory of both processes stays flat."""
    out = check.folder / "many"
    words = ["sweep", SCENARIO, "--backend", "accounting", "--seeds", f"1..{MANY}", "--out", str(out)]
    case = subprocess.run([check.program, "case", "--seed", "1", "--backend", "accounting", SCENARIO],
                          cwd=ROOT, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)  # fmt: skip
    Canned.row = case.stdout
    figures: list[tuple[int, int, int]] = []

    def watch() -> None:
        while not done.wait(0.2):
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text("utf-8").split()
            with contextlib.suppress(OSError, IndexError):
                size = (out / "ledger.txt").stat().st_size
                figures.append((size, memory_of(os.getpid()), memory_of(int(children[-1]))))

    done, started, before = threading.Event(), time.monotonic(), os.times()
    os.chdir(ROOT)
    watcher = threading.Thread(target=watch)
    watcher.start()
    settings = Settings(chunk_s=30, chunk=500, cores=1, attempts=3, workers=None)
    try:
        status = perform([*words, "--quiet"], out, check.program, lambda news, _: Canned(news), settings, Interruption())
    finally:
        done.set()
        watcher.join()
    assert status == 0, status
    after = os.times()
    assert len((out / "sweep.csv").read_bytes().splitlines()) == MANY + 1
    whole = (out / "ledger.txt").stat().st_size
    early, late = (next(figure for figure in figures if figure[0] > share * whole) for share in (0.2, 0.9))
    for name, place in (("sweep-on", 1), ("the program", 2)):
        assert late[place] < early[place] * 1.25, f"{name} grew from {early[place]} to {late[place]} KiB"
    ours, theirs = after.user + after.system - before.user - before.system, after.children_user + after.children_system
    theirs -= before.children_user + before.children_system
    return (
        f"{MANY} cases gathered in {time.monotonic() - started:.0f} s; per case {1e6 * ours / MANY:.0f} us of CPU in sweep-on and "
        f"{1e6 * theirs / MANY:.0f} us in the program; resident {early[1] >> 10} and {early[2] >> 10} MiB after a fifth, "
        f"{late[1] >> 10} and {late[2] >> 10} MiB after nine tenths"
    )


def kubernetes_recipe(_: Check) -> str:
    """The objects in the documentation have the fields that Kubernetes knows."""
    import kubernetes_validate
    import yaml

    page = (ROOT / "Sources/plimsoll/plimsoll.docc/ClustersKubernetes.md").read_text("utf-8")
    blocks = re.findall(r"(?:^    .*\n)+", page, re.MULTILINE)
    objects = [yaml.safe_load(block) for block in blocks if "apiVersion:" in block]
    assert len(objects) >= 2, "the page has no objects"
    version = kubernetes_validate.latest_version()
    for each in objects:
        kubernetes_validate.validate(each, version, strict=True)
    try:
        kubernetes_validate.validate({**objects[0], "spec": {"completion": 3}}, version, strict=True)
    except kubernetes_validate.ValidationError:
        return f"{len(objects)} objects are valid for Kubernetes {version}"
    raise AssertionError("the validator accepts anything")


def on_slurm(body: Callable[[Check, SlurmCluster], str]) -> Callable[[Check], str]:
    def run(check: Check) -> str:
        cluster = SlurmCluster(Path(tempfile.mkdtemp(dir=check.folder)))
        try:
            return body(check, cluster)
        except BaseException:
            print(Processes.said(cluster))
            raise
        finally:
            cluster.stop()

    return run


CHECKS: dict[str, Callable[[Check], str]] = {
    "slurm sweep": on_slurm(slurm_sweep),
    "slurm compare": on_slurm(slurm_compare),
    "slurm tune": on_slurm(slurm_tune),
    "dask sweep": dask_sweep,
    "gatherer": gatherer,
    "two hosts": two_hosts_sweep_and_tune,
    "kubernetes": kubernetes_recipe,
}


def why_not() -> str | None:
    """Why the checks cannot run here."""
    if not Path("/etc/debian_version").exists():
        return "this is neither Debian nor Ubuntu, whose packages of Slurm it uses"
    if os.geteuid() != 0:
        return "it starts daemons and namespaces as root, and this is another user"
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged", "ip", "unshare") if not shutil.which(name)]
    if missing or SERVER is None:
        return f"not installed: {', '.join(missing or ['PostgreSQL'])} (Scripts/setup.sh clusters-test)"
    if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "--net", "true"], capture_output=True, check=False).returncode:
        return "this container may make no namespaces of processes and networks, which the checks use as hosts"
    return None


def main() -> int:
    parser = Parser(prog="check_clusters.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", metavar="FILE", type=Path, required=True, help="a release build of plimsoll")
    parser.add_argument("words", metavar="WORD", nargs="*", help=f"only the checks with a word: {', '.join(CHECKS)}")
    options = parser.parse_args()
    reason = why_not()
    if reason:
        print(f"check_clusters.py does not run here: {reason}")
        return 0
    # Otherwise one comparison would leave runs for the next.
    os.environ["PLIMSOLL_CACHE"] = ""
    wanted = [name for name in CHECKS if not options.words or any(word in name for word in options.words)]
    failed = 0
    # One that all users may enter: the database has a user of its own.
    with tempfile.TemporaryDirectory(prefix="plimsoll-clusters.", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        check = Check(options.program.resolve(), Path(folder))
        for name in wanted:
            started = time.monotonic()
            try:
                print(f"passed {name}, {{:.0f}} s: {CHECKS[name](check)}".format(time.monotonic() - started), flush=True)
            except Exception:  # noqa: BLE001  The other checks go on.
                failed += 1
                print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
