"""A sweep or a comparison on an engine: the program plans and writes, the engine runs, this module goes between them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll_tools.clusters.chunks import Chunker, Failed, ending_of
from plimsoll_tools.clusters.engine import Engine, News
from plimsoll_tools.clusters.errand import Ended
from plimsoll_tools.clusters.parcel import build
from plimsoll_tools.clusters.planned import Gone, Head, Named, Planned
from plimsoll_tools.tuning.program import Fault, Interruption

MOST_REMARKS = 5
"""Failures that are told one by one; the logs of all are kept."""
AT_ONCE = 2
"""Chunks that are submitted, for each place to run one: a place that falls free finds the next one waiting."""


@dataclass(frozen=True)
class Settings:
    """How an experiment is spread."""

    chunk_s: float
    chunk: int | None
    cores: int
    attempts: int
    workers: int | None
    """The most chunks at a time; None: as many as the engine runs, and as many again that wait."""


def say(text: str) -> None:
    """A line for people, on a line of its own even where the program draws its progress."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}sweep-on: {text}", file=sys.stderr, flush=True)


class Remarks:
    """Tells what failed, the first times at once, and the number at the end."""

    def __init__(self) -> None:
        self.failures = 0
        self.folder = ""

    def take(self, failed: Failed) -> None:
        self.failures += not failed.is_last
        if self.failures > MOST_REMARKS and not failed.is_last:
            return
        ended, what = failed.ended, f"{failed.cases} {'case' if failed.cases == 1 else 'cases'}"
        then = "not tried again" if failed.is_last else "tried again elsewhere"
        say(f"{what} failed on {ended.where or 'an unknown host'} ({failed.why}): {then}{logged(ended)}")

    def end(self) -> None:
        if self.failures > MOST_REMARKS:
            say(f"{self.failures} failures in all")


def logged(ended: Ended) -> str:
    """Where the failure's own words are, or what they are."""
    if not ended.log:
        return ""
    return f"; log: {ended.log}" if "\n" not in ended.log and Path(ended.log).is_file() else f"; {last_line(ended.log)}"


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


@contextlib.contextmanager
def held(work: Path) -> Iterator[None]:
    """The working folder, for one command at a time."""
    try:
        work.mkdir(parents=True, exist_ok=True)
        with (work / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
    except BlockingIOError as error:
        raise Fault(73, f"another sweep-on works in {work}") from error
    except OSError as error:
        raise Fault(73, f"cannot use {error.filename or work}: {error.strerror}") from error


def run_folder(work: Path, name: str) -> Path:
    """The folder of this very plan and build; what another one left is removed."""
    run = work / name
    for other in work.glob("run-*"):
        if other != run:
            shutil.rmtree(other, ignore_errors=True)
    run.mkdir(exist_ok=True)
    return run


def left_over(run: Path) -> dict[int, bytes]:
    """The ends of successful runs that workers of an earlier attempt left behind, by case: they are not made again."""
    known: dict[int, bytes] = {}
    for path in sorted((run / "results").glob("*.done")):
        with contextlib.suppress(OSError):
            for line in path.read_bytes().split(b"\n"):
                found = ending_of(line)
                if found and found["status"] == 0:
                    known[int(found["index"])] = line
    return known


class Experiment:
    """One attempt at a sweep or a comparison."""

    def __init__(
        self, planned: Planned, engine: Engine, settings: Settings, news: News, interruption: Interruption
    ) -> None:
        self.planned = planned
        self.engine = engine
        self.settings = settings
        self.news = news
        self.interruption = interruption
        self.remarks = Remarks()

    def go(self, head: Head, run: Path) -> int:
        """Until the program has ended; its exit status."""
        settings = self.settings
        self.known = left_over(run)
        parcel = build(run / "parcel", head.program, head.files)
        self.engine.open(parcel, head.needed_bytes)
        self.chunks = Chunker(
            head.runs, settings.chunk_s, settings.chunk, settings.cores, settings.attempts, self._say
        )
        self.planned.begin()
        told = 0
        while True:
            self._hand_over()
            if self.interruption.number and not told:
                # The program books what it has, says how to go on, and ends.
                told = self.interruption.number
                self.planned.signal(told)
            try:
                status = self._take(self.news.get(timeout=0.25))
                while status is None:
                    status = self._take(self.news.get_nowait())
            except queue.Empty:
                continue
            self.remarks.end()
            return status

    def _say(self, failed: Failed) -> None:
        """What an interruption ends has not failed."""
        if not self.interruption.number:
            self.remarks.take(failed)

    def _hand_over(self) -> None:
        """Gives the engine chunks as long as it has room."""
        slots = self.settings.workers or self.engine.slots()
        limit = self.settings.workers or AT_ONCE * slots
        batch = []
        while len(self.chunks.under_way) < limit and (errand := self.chunks.form(slots)) is not None:
            batch.append(errand)
        for refused in reversed(self.engine.submit(batch) if batch else []):
            self.chunks.put_back(refused)
        self.planned.want(self.chunks.wanted(limit - len(self.chunks.under_way), slots))

    def _take(self, happened: object) -> int | None:
        """The program's exit status once it has ended."""
        match happened:
            case Named(line):
                case = self.chunks.take(line)
                known = self.known.pop(case.index, None)
                if known is None:
                    self.chunks.waiting.append(case)
                else:
                    self.chunks.done += 1
                    self.planned.answer([known])
            case Ended():
                self.planned.answer(self.chunks.end(happened))
            case Gone(status):
                return status
            case Exception():
                raise happened
        return None


def perform(
    words: list[str],
    out: Path,
    program: Path,
    make_engine: Callable[[News, Path], Engine],
    settings: Settings,
    interruption: Interruption,
) -> int:
    """The whole command; its exit status."""
    work = out.with_name(out.name + ".work").resolve()
    news: News = queue.SimpleQueue()
    # What is there goes on.
    given = words if "--resume" in words else [*words, "--resume"]
    planned = Planned(program, given, news, settings.workers or os.cpu_count() or 1)
    try:
        head = planned.head(interruption)
        if head is None or not head.runs:
            return planned.close()
        with held(work):
            run = run_folder(work, f"run-{head.plan}-{head.build[:12]}")
            engine = make_engine(news, run)
            experiment = Experiment(planned, engine, settings, news, interruption)
            try:
                status = experiment.go(head, run)
            finally:
                engine.close()
            tidy(work, run, status, experiment.remarks.failures)
        if interruption.number:
            say(f"what is finished is kept; the same command goes on ({work})")
        return status
    finally:
        planned.close()


def tidy(work: Path, run: Path, status: int, failures: int) -> None:
    """Removes the working folder after a success, but for the logs of what failed on the way."""
    if status:
        return
    logs = run / "logs"
    if failures and logs.is_dir() and any(logs.iterdir()):
        for path in run.iterdir():
            if path != logs:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        say(f"logs of failed attempts: {logs}")
    else:
        shutil.rmtree(work)
