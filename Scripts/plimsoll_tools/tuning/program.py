"""The program under test: what it can do, and many runs of it at once, each a process of the host."""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll_tools.plotting.metrics import Metric, metrics_of

Summary = dict[str, str]
"""The one row of a run's summary.csv; with `seconds_lost` where it is asked for."""

SECONDS_LOST = "seconds_lost"
"""What a person loses against the policy `unbounded` under the same seed, as `plimsoll compare` has it."""

YARDSTICK = json.dumps({"name": "unbounded"})

TICK_S = 0.25
"""How often a wait looks up: for an interruption, and to tell the storage that this worker lives."""


class Fault(Exception):
    """One line for the user, and the exit status that goes with it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Refused(Fault):
    """The program finds the scenario or the policy invalid (65)."""


class Interrupted(Exception):
    """Ctrl-C, or a request to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


class Interruption:
    """Remembers SIGINT, SIGTERM and SIGHUP; code that waits checks it, so that no write is cut in the middle."""

    def __init__(self) -> None:
        self.number = 0
        self.screens: list[str] = []

    def listen(self) -> None:
        # Asked now: a terminal that was closed no longer says that it is one.
        self.screens = [name for name in ("stdout", "stderr") if getattr(sys, name).isatty()]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup a closed terminal is nothing to us.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        self.number = number
        if number == signal.SIGHUP:
            # Writing to a closed terminal fails.
            for name in self.screens:
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115

    def check(self) -> None:
        if self.number:
            raise Interrupted(self.number)


@dataclass(frozen=True)
class Job:
    """One run."""

    scenario: Path
    seed: int
    policy: str
    """As `--set policy=` takes it."""
    backend: str
    prices: str | None = None
    """What counts as lost for an end in front and for a lost launch, as `Problem.prices`; None: nobody asks what is lost."""


class Server:
    """A process that makes runs, one after the other (`plimsoll serve`)."""

    def __init__(self, program: Path) -> None:
        # Its standard input closes when this process ends in any way; then it ends, too. A session of its own: Ctrl-C on
        # the terminal is for us, and we end our runs ourselves.
        self.process = subprocess.Popen(
            [program, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def ask(self, words: Sequence[object]) -> dict[str, Any] | None:
        """What `plimsoll case` would say; None if the process has ended."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        answer = self.process.stdout.readline()
        found: dict[str, Any] | None = json.loads(answer) if answer.endswith("\n") else None
        return found

    def close(self) -> int:
        """Waits for its end, and returns the status."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        return self.process.wait()


class Program:
    """`plimsoll`, and a pool that runs it."""

    def __init__(self, path: Path, jobs: int) -> None:
        self.path = path
        self.pool = ThreadPoolExecutor(jobs)
        self.servers: set[Server] = set()
        self.idle: list[Server] = []
        self.lock = threading.Lock()
        self.yardsticks: dict[tuple[Path, int], Future[Path]] = {}
        self.scratch = tempfile.TemporaryDirectory(prefix="plimsoll-tune.")
        self.is_closed = False

    def close(self) -> None:
        """Ends the runs that are still going and removes what they left."""
        with self.lock:
            self.is_closed = True
            for server in self.servers:
                server.process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)
        for server in self.idle:
            server.close()
        self.scratch.cleanup()

    def ask(self, *arguments: str, given: str | None = None) -> str:
        """What the program prints, `given` being its standard input; a Fault with its own words and status otherwise."""
        try:
            result = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False, input=given)
        except OSError as error:
            raise Fault(71, f"cannot start {self.path}: {error.strerror or error}") from error
        if result.returncode:
            raise Fault(result.returncode, first_line(result.stderr))
        return result.stdout

    def version(self) -> str:
        return self.ask("--version").strip()

    @functools.cached_property
    def build(self) -> str:
        """Two builds of one version may differ in their results."""
        return self.ask("build-id").strip()

    def parameters_of(self, file: str) -> list[dict[str, object]]:
        """The parameters that a policy file declares for its rules, with the file's values as defaults."""
        table = json.loads(self.ask("list", "policies", file, "--format", "json"))
        found: list[dict[str, object]] = table["policies"][0]["parameters"]
        return found

    def policies(self) -> dict[str, list[dict[str, object]]]:
        """Every policy's parameter table, by name."""
        table = json.loads(self.ask("list", "policies", "--format", "json"))
        return {policy["policy"]: policy["parameters"] for policy in table["policies"]}

    @functools.cached_property
    def _fields(self) -> list[dict[str, Any]]:
        """The columns of summary.csv in their order, and `seconds_lost`, as a table's schema has them."""
        found: list[dict[str, Any]] = json.loads(self.ask("list", "metrics", "--format", "json"))["metrics"]
        return found

    def metrics(self) -> list[Metric]:
        """Of summary.csv, and what `compare` adds."""
        return metrics_of({"resources": [{"schema": {"fields": self._fields}}]})

    def judge(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """The verdicts on what a search found, one for each group that is asked about."""
        found: list[dict[str, Any]] = json.loads(self.ask("verdict", given=json.dumps(question)))
        return found

    @functools.cached_property
    def columns(self) -> list[str]:
        """Of summary.csv, in their order."""
        return [name for field in self._fields if (name := str(field["name"])) != SECONDS_LOST]

    def submit(self, job: Job) -> Future[Summary]:
        return self.pool.submit(self._run, job)

    def _run(self, job: Job) -> Summary:
        against: list[str | Path] = []
        if job.prices is not None:
            against = ["--lost-against", self._waits(job.scenario, job.seed), f"--prices={job.prices or ','}"]
        said = self._case(job, *against)
        found = dict(zip(self.columns, next(csv.reader([said[1]]))))
        return found | {SECONDS_LOST: said[2]} if against else found

    def _waits(self, scenario: Path, seed: int) -> Path:
        """The file with what a person waits for where memory has no end; a yardstick runs once, whoever asks for it first."""
        key = (scenario, seed)
        with self.lock:
            is_first = key not in self.yardsticks
            kept = self.yardsticks.setdefault(key, Future())
            file = Path(self.scratch.name, f"{len(self.yardsticks)}.txt")
        if is_first:
            try:
                # The accounting backend has the figures of real memory, and no machine has memory without end.
                _, row = self._case(Job(scenario, seed, YARDSTICK, "accounting"), "--tell-waits")
                file.write_text(row.rpartition("\t")[2], "ascii")
                kept.set_result(file)
            except Exception as error:  # noqa: BLE001  Whoever waits for it must know.
                kept.set_exception(error)
        return kept.result()

    def _case(self, job: Job, *more: str | Path) -> list[str]:
        """The lines that a run prints: the fingerprints of what it read, its row of summary.csv, and what is asked for."""
        chosen = ("--set", f"policy={job.policy}", "--set", "expect=[]")
        server = self._server()
        answer = server.ask((job.scenario, "--seed", job.seed, "--backend", job.backend, *chosen, *more))
        # Real memory gets a process of its own: what a run before it left in the allocator is no part of it.
        ended = server.close() if answer is None or job.backend != "accounting" else None
        with self.lock:
            if ended is None:
                self.idle.append(server)
            else:
                self.servers.discard(server)
        if answer is None:
            # Another process ended it, perhaps the host, which had no memory left.
            why = signal.Signals(-ended).name if ended and ended < 0 else f"status {ended}"
            raise Fault(71, f"{job.scenario}, seed {job.seed}: the run was ended by {why}; what is done is kept")
        if status := answer["status"]:
            kind = Refused if status == 65 else Fault
            known = status if status in (64, 65, 66, 71, 73, 74) else 70
            raise kind(known, f"{job.scenario} with {job.policy}, seed {job.seed}: {first_line(answer['errors'])}")
        lines: list[str] = answer["output"].splitlines()
        return lines

    def _server(self) -> Server:
        with self.lock:
            if self.is_closed:
                raise Fault(70, "a run was asked for after the end")
            if self.idle:
                return self.idle.pop()
            try:
                server = Server(self.path)
            except OSError as error:
                raise Fault(71, f"cannot start {self.path}: {error.strerror or error}") from error
            self.servers.add(server)
            return server


def first_line(text: str) -> str:
    """The line that says what is wrong: the first that is not a warning."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if not line.startswith(("warning", "plimsoll: warning"))]
    return (wrong or lines or ["it ended without a word"])[0]


def gather(futures: list[Future[Summary]], tick: Callable[[], None]) -> list[Summary]:
    """The results in the order of the futures, whatever order they came in; `tick` is called while waiting."""
    results = []
    for future in futures:
        while True:
            tick()
            try:
                results.append(future.result(timeout=TICK_S))
                break
            except NotYet:
                if future.done():  # The run itself timed out: an error like any other.
                    raise
    return results


def rest(seconds: float, tick: Callable[[], None]) -> None:
    """Waits, and ticks meanwhile."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        tick()
        time.sleep(min(TICK_S, seconds))
