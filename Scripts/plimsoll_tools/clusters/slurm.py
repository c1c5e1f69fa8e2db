"""Slurm: each chunk is a task of a job array, and its results come back over a disk that all nodes share.

Slurm's own commands submit and watch (`sbatch`, `squeue`, `scontrol`, `scancel`); a site without accounting has these, too.
A node that dies is Slurm's matter: it puts the task back into its queue (`--requeue`). A task that ended without a result
comes back here as failed, and is submitted again without the node that it failed on.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll_tools.clusters.engine import Engine, News
from plimsoll_tools.clusters.errand import Ended, Errand, ending, filled
from plimsoll_tools.clusters.parcel import Parcel
from plimsoll_tools.tuning.program import Fault

SCRIPT = """#!/bin/bash
# A task of an array of Slurm: runs one errand of Scripts/sweep-on. $1: its folder; $2: the array's first errand.
set -u
run=$1
number=$(($2 + SLURM_ARRAY_TASK_ID))
printf 'node %s: errand %s, attempt %s\\n' "$SLURMD_NODENAME" "$number" "$((${SLURM_RESTART_COUNT:-0} + 1))" >&2
cd -- "$run/parcel" || exit 66
sha256sum --check --quiet --strict SHA256SUMS >&2 || exit 66
scratch=$(mktemp -d) || exit 73
trap 'rm -rf -- "$scratch"' EXIT
mapfile -d '' -t words <"$run/errands/$number.words"
words=("${words[@]//'{the parcel}'/$run/parcel}")
words=("${words[@]//'{the scratch folder}'/$scratch}")
words=("${words[@]//'{the Python}'/$PLIMSOLL_WORKER_PYTHON}")
part=$run/results/$number.part-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}
"${words[@]}" <"$run/errands/$number.in" >"$part" &
child=$!
# Slurm asks for an end with SIGTERM, which bash keeps to itself.
trap 'kill -TERM "$child" 2>/dev/null' TERM
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
done
printf 'ended with %s\\n' "$status" >&2
if ((status == 0)); then mv -f -- "$part" "$run/results/$number.done"; fi
exit "$status"
"""

NODE = re.compile(r"^node ([^:\n]+):", re.MULTILINE)
STATUS = re.compile(r"^ended with ([0-9]+)$", re.MULTILINE)
GRACE_S = 10.0
"""How long a task may be gone from the queue before its result is seen: a disk over the network tells late."""
COUNT_S = 30.0
"""How often the processors are counted."""
PAUSE_S = 5.0
"""How long nothing is submitted after a refusal."""
ASK_S = 3.0
"""How often the queue is asked."""


@dataclass
class Task:
    errand: Errand
    job: str
    """ARRAY_TASK, as Slurm names it."""
    missed: float = 0.0
    """Since when it is no longer in the queue; 0: it is."""


class Slurm(Engine):
    def __init__(self, news: News, run: Path, options: Sequence[str], cores: int, python: str) -> None:
        super().__init__(news)
        self.run = run
        self.options = list(options)
        self.cores = cores
        self.python = python
        self.name = f"plimsoll-{run.name.rpartition('-')[2]}"
        self.tasks: dict[int, Task] = {}
        self.memory = ""
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.most = 1000
        self.places = 0
        self.counted = 0.0
        self.paused_until = 0.0
        for name in ("errands", "results", "logs"):
            (run / name).mkdir(exist_ok=True)

    # --- Slurm's commands ---------------------------------------------------------------------------------------------

    def _ask(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise Fault(69, f"there is no {words[0]} here: this is no machine of a Slurm cluster") from error
        except subprocess.TimeoutExpired as error:
            raise Fault(69, f"{words[0]} did not answer within 120 s") from error
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())
            raise Fault(69, f"{words[0]} refuses: {said or f'status {done.returncode}'}")
        return done.stdout

    def _partition(self) -> list[str]:
        """The options of sbatch that also choose what sinfo lists."""
        return [word for word in self.options if word.startswith(("--partition=", "-p", "--clusters=", "-M"))]

    def slots(self) -> int:
        """The processors of nodes that are up, by the cores of a chunk; asked for now and then."""
        if not self.places or time.monotonic() - self.counted >= COUNT_S:
            try:
                self.places = self._processors() // self.cores
            except Fault:
                # Once it has answered, the controller may be away for a while.
                if not self.places:
                    raise
            self.counted = time.monotonic()
        return max(1, self.places)

    def _processors(self) -> int:
        """sinfo says allocated/idle/other/total."""
        lines = self._ask("sinfo", "--noheader", "--format=%C", *self._partition()).split()
        return sum(int(allocated) + int(idle) for allocated, idle, *_ in (line.split("/") for line in lines))

    # --- The work -----------------------------------------------------------------------------------------------------

    def open(self, parcel: Parcel, needed: int) -> None:
        place = self.run / "parcel"
        if place != parcel.folder:
            raise Fault(70, f"the parcel is not at {place}")
        (self.run / "task.sh").write_text(SCRIPT, "utf-8")
        # A tenth more than a run needs, and the program that starts it.
        self.memory = f"--mem={self.cores * -(-needed * 11 // (10 << 20)) + 128}M"
        found = re.search(r"^MaxArraySize\s*=\s*([0-9]+)", self._ask("scontrol", "show", "config"), re.MULTILINE)
        self.most = max(1, int(found[1]) - 1) if found else self.most
        self._forget()
        self.watcher.start()

    def _forget(self) -> None:
        """Cancels what an earlier attempt left in the queue: whoever asked for it is gone."""
        with contextlib.suppress(OSError, Fault):
            jobs = (self.run / "jobs.txt").read_text("utf-8").split()
            if jobs:
                self._ask("scancel", "--quiet", f"--jobname={self.name}", *jobs)
        for folder in ("errands", "results"):
            shutil.rmtree(self.run / folder)
            (self.run / folder).mkdir()
        (self.run / "jobs.txt").write_text("", "utf-8")

    def submit(self, batch: Sequence[Errand]) -> list[Errand]:
        """An array for each group of errands that avoid the same nodes and have consecutive numbers."""
        if time.monotonic() < self.paused_until:
            return list(batch)
        groups: list[list[Errand]] = []
        for errand in batch:
            last = groups[-1][-1] if groups else None
            follows = last and (last.number + 1, last.avoid) == (errand.number, errand.avoid)
            if follows and len(groups[-1]) < self.most:
                groups[-1].append(errand)
            else:
                groups.append([errand])
        refused: list[Errand] = []
        for group in groups:
            if not self._submit(group):
                refused += group
        return refused

    def _submit(self, group: Sequence[Errand]) -> bool:
        first = group[0]
        for errand in group:
            (self.run / "errands" / f"{errand.number}.in").write_bytes(errand.given)
            words = b"".join(word.encode() + b"\0" for word in errand.words)
            (self.run / "errands" / f"{errand.number}.words").write_bytes(words)
        env = {name: filled(value, self.run / "parcel", "", self.python) for name, value in first.env.items()}
        try:
            avoid = self._avoid(first)
            said = self._ask(
                "sbatch", "--parsable", "--requeue", f"--array=0-{len(group) - 1}", f"--job-name={self.name}",
                "--ntasks=1", f"--cpus-per-task={self.cores}", self.memory, "--open-mode=append", f"--chdir={self.run}",
                f"--output={self.run / 'logs' / '%A_%a.log'}", *avoid, *self.options, str(self.run / "task.sh"),
                str(self.run), str(first.number), env={**env, "PLIMSOLL_WORKER_PYTHON": self.python},
            )  # fmt: skip
        except Fault:
            with self.lock:
                # A limit on jobs in the queue, of which some of ours will leave it; or the controller is away.
                if self.tasks:
                    self.paused_until = time.monotonic() + PAUSE_S
                    return False
            raise
        job = said.strip().partition(";")[0]
        with (self.run / "jobs.txt").open("a", encoding="utf-8") as file:
            file.write(f"{job}\n")
        with self.lock:
            for place, errand in enumerate(group):
                self.tasks[errand.number] = Task(errand, f"{job}_{place}")
        return True

    def _avoid(self, errand: Errand) -> list[str]:
        """Without the nodes that it failed on, if others are left."""
        if not errand.avoid:
            return []
        nodes = set(self._ask("sinfo", "--noheader", "--Node", "--responding", "--format=%N", *self._partition()).split())
        return [f"--exclude={','.join(sorted(errand.avoid & nodes))}"] if errand.avoid & nodes and nodes - errand.avoid else []

    # --- What becomes of it -------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        asked = time.monotonic()
        while not self.stop.wait(0.3):
            try:
                self._collect()
                if time.monotonic() - asked >= ASK_S:
                    asked = time.monotonic()
                    self._look(self._queue(), asked)
            except (Fault, OSError):
                # The controller or the disk is away for a while; the tasks are not.
                continue
            except Exception as error:  # noqa: BLE001  The main thread raises it.
                self.news.put(error)
                return

    def _collect(self) -> None:
        with os.scandir(self.run / "results") as entries:
            numbers = sorted(int(entry.name[:-5]) for entry in entries if entry.name.endswith(".done"))
        for number in numbers:
            with self.lock:
                task = self.tasks.pop(number, None)
            if task is None:
                continue
            path = self.run / "results" / f"{number}.done"
            log = self.run / "logs" / f"{task.job}.log"
            self.news.put(Ended(number, path.read_bytes(), node_of(log), "", str(log)))
            self._tidy(number, task)

    def _tidy(self, number: int, task: Task, keep_log: bool = False) -> None:
        """Removes the files of an errand that ended, so that the folder stays small."""
        gone = [*(self.run / "results").glob(f"{number}.*"), *(self.run / "errands").glob(f"{number}.*")]
        for path in gone + ([] if keep_log else [self.run / "logs" / f"{task.job}.log"]):
            path.unlink(missing_ok=True)

    def _queue(self) -> dict[str, str]:
        """Our tasks that are in the queue, with the reason why they wait."""
        lines = self._ask("squeue", "--noheader", "--array", f"--name={self.name}", "--format=%F_%K %r").splitlines()
        return {name: reason for name, _, reason in (line.strip().partition(" ") for line in lines)}

    def _look(self, present: Mapping[str, str], now: float) -> None:
        """Finds tasks that ended without a result."""
        with self.lock:
            tasks = dict(self.tasks)
        for number, task in tasks.items():
            reason = present.get(task.job)
            if reason is not None and "held" not in reason.lower():
                task.missed = 0.0
            elif not task.missed:
                task.missed = now
            elif now - task.missed >= GRACE_S:
                self._fail(number, task, reason)

    def _fail(self, number: int, task: Task, held: str | None) -> None:
        self._collect()
        with self.lock:
            if self.tasks.pop(number, None) is None:
                return
        if held is not None:
            with contextlib.suppress(Fault):
                self._ask("scancel", task.job)
        log = self.run / "logs" / f"{task.job}.log"
        parts = sorted((self.run / "results").glob(f"{number}.part-*"), key=lambda path: path.stat().st_mtime)
        output = parts[-1].read_bytes() if parts else b""
        why = held or status_of(log) or self._state(task.job)
        self.news.put(Ended(number, output, node_of(log), why, str(log)))
        self._tidy(number, task, keep_log=True)

    def _state(self, job: str) -> str:
        """How Slurm says that the task ended."""
        with contextlib.suppress(Fault):
            found = re.search(r"JobState=([A-Z_]+)", self._ask("scontrol", "--oneliner", "show", "job", job))
            if found:
                return found[1]
        return "it left the queue without a result"

    def close(self) -> None:
        self.stop.set()
        if self.watcher.is_alive():
            self.watcher.join(timeout=30)
        jobs = sorted({task.job.partition("_")[0] for task in self.tasks.values()})
        if jobs:
            try:
                self._ask("scancel", "--quiet", f"--jobname={self.name}", *jobs)
            except Fault as error:
                print(f"sweep-on: {error}; still in the queue: {', '.join(jobs)}", file=sys.stderr)


def text_of(log: Path) -> str:
    try:
        return log.read_text("utf-8", "replace")
    except OSError:
        return ""


def node_of(log: Path) -> str:
    """The node of the last attempt; empty if there was none."""
    found = NODE.findall(text_of(log))
    return found[-1] if found else ""


def status_of(log: Path) -> str:
    found = STATUS.findall(text_of(log))
    if not found:
        return ""
    status = int(found[-1])
    return ending(status if status < 128 else 128 - status)
