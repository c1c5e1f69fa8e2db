"""A search on an engine: as many workers as were asked for, each a `Scripts/tune` that joins one study in PostgreSQL."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

from plimsoll_tools.clusters.engine import Engine, News
from plimsoll_tools.clusters.errand import PARCEL, PYTHON, SCRATCH, Ended, Errand
from plimsoll_tools.clusters.experiment import held, logged, run_folder, say, tidy
from plimsoll_tools.clusters.parcel import build
from plimsoll_tools.clusters.planned import Head, Planned
from plimsoll_tools.tuning.__main__ import STORAGE, parse_arguments
from plimsoll_tools.tuning.program import Fault, Interruption

TOOLS = Path(__file__).resolve().parents[1]
SEPARATE = ("--out", "--storage", "--jobs")
"""Options with a value that every worker gets of its own."""


def read(words: Sequence[str]) -> tuple[str, list[Path], list[str]]:
    """The storage, the scenarios, and the policy files of a search. Ends as Scripts/tune does if its words are wrong."""
    with mock.patch.object(sys, "argv", ["tune", *words]):
        options = parse_arguments()
    if not options.storage:
        raise Fault(64, f"the workers of a search share a database: --storage postgresql://…, or {STORAGE}")
    if not options.storage.startswith("postgres"):
        raise Fault(64, "--storage: many machines need postgresql://…")
    paths = [*options.scenario, *options.scenarios, *options.held_out]
    policy = Path(options.policy)
    return options.storage, paths, [options.policy] if policy.is_file() else []


def scenarios_in(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.yaml"), *path.glob("*.yml")]) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def head_of(program: Path, paths: Sequence[Path], policies: Sequence[str], interruption: Interruption) -> Head:
    """Which files runs of the scenarios read: the program says it before the first case of a sweep, and makes none."""
    policy = [word for each in policies for word in ("--policy", each)]
    with tempfile.TemporaryDirectory(prefix="plimsoll-files.") as folder:
        words = ["sweep", *map(str, scenarios_in(paths)), *policy, "--quiet", "--out", f"{folder}/none"]
        planned = Planned(program, words, queue.SimpleQueue(), 1)
        head = planned.head(interruption)
        if head is not None:
            planned.process.terminate()
        status = planned.close()
    if head is None:
        raise Fault(status if status > 0 else 70, "the scenarios cannot be used")
    return head


def workers_words(words: Sequence[str], places: dict[str, str], cores: int) -> tuple[str, ...]:
    """The command of a worker: the files as they lie in the parcel, and a result directory that is thrown away."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in SEPARATE:
            if not equals:
                next(rest, None)
        elif word == "--resume":
            continue
        elif equals and name.startswith("--") and value in places:
            kept.append(f"{name}={places[value]}")
        else:
            kept.append(places.get(word, word))
    start = (PYTHON, "-E", "-s", f"{PARCEL}/python/tune.py")
    return (*start, *kept, "--jobs", str(cores), "--out", f"{SCRATCH}/tuning")


def places_of(paths: Sequence[Path], policies: Sequence[str]) -> dict[str, str]:
    """Where the parcel has what was named on the command line."""
    named = [*map(str, paths), *policies]
    return {name: f"{PARCEL}/files{os.path.normpath(Path.cwd() / name)}" for name in named}


class Workers:
    """The workers of one search."""

    def __init__(self, engine: Engine, news: News, errand: Errand, count: int, attempts: int) -> None:
        self.engine = engine
        self.news = news
        self.errand = errand
        self.count = count
        self.attempts = attempts
        self.failures = 0

    def work(self, interruption: Interruption, progress: Callable[[int], None]) -> None:
        """Until the study is done: a worker ends well only then. One that fails is started again elsewhere."""
        waiting = [self._another(number, frozenset()) for number in range(self.count)]
        running, done = 0, 0
        while running or waiting:
            interruption.check()
            if waiting:
                refused = self.engine.submit(waiting)
                running += len(waiting) - len(refused)
                waiting = refused
            progress(running)
            try:
                ended = self.news.get(timeout=1.0)
            except queue.Empty:
                continue
            if isinstance(ended, Exception):
                raise ended
            assert isinstance(ended, Ended)
            running -= 1
            if not ended.fault:
                done += 1
                continue
            self.failures += 1
            is_last = done > 0 or self.failures >= self.attempts * self.count
            then = "not started again" if is_last else "started again elsewhere"
            say(f"a worker failed on {ended.where or 'an unknown host'} ({ended.fault}): {then}{logged(ended)}")
            if not is_last:
                waiting.append(self._another(self.count + self.failures - 1, frozenset({ended.where} - {""})))
        if not done:
            raise Fault(70, f"no worker could finish the search, in {self.failures} attempts")

    def _another(self, number: int, avoid: frozenset[str]) -> Errand:
        return Errand(number, self.errand.words, env=self.errand.env, avoid=avoid, cores=self.errand.cores)


def perform(
    words: list[str],
    program: Path,
    make_engine: Callable[[News, Path], Engine],
    count: int | None,
    cores: int,
    attempts: int,
    work: Path,
    interruption: Interruption,
) -> int:
    """Searches with workers on the engine, then writes the result here, once."""
    storage, paths, policies = read(words[1:])
    head = head_of(program, paths, policies, interruption)
    news: News = queue.SimpleQueue()
    with held(work):
        run = run_folder(work, f"run-{head.plan}-{head.build[:12]}")
        # The name of the folder says nothing of our own Python in it.
        shutil.rmtree(run / "parcel", ignore_errors=True)
        parcel = build(run / "parcel", head.program, head.files, TOOLS)
        engine = make_engine(news, run)
        try:
            engine.open(parcel, max(head.needed_bytes, 600 << 20))
            env = {"PLIMSOLL": f"{PARCEL}/plimsoll", STORAGE: storage}
            errand = Errand(0, workers_words(words[1:], places_of(paths, policies), cores), env=env, cores=cores)
            workers = Workers(engine, news, errand, count or engine.slots(), attempts)
            workers.work(interruption, Progress(engine).show)
        finally:
            engine.close()
        tidy(work, run, 0, workers.failures)
    # Everything is in the study: this makes no run, and writes the verdict.
    result = subprocess.run(
        [sys.executable, "-I", "-m", "plimsoll_tools.tuning", *words[1:]],
        env={**os.environ, "PLIMSOLL": str(program), STORAGE: storage}, check=False,
    )  # fmt: skip
    return result.returncode


class Progress:
    """One line on stderr, only where a person looks."""

    def __init__(self, engine: Engine) -> None:
        self.is_shown = sys.stderr.isatty()
        self.name = type(engine).__name__
        self.last = -1

    def show(self, running: int) -> None:
        if self.is_shown and running != self.last:
            self.last = running
            print(f"\r\x1b[Ksweep-on: {running} workers with {self.name}", end="", file=sys.stderr, flush=True)
            if not running:
                print(file=sys.stderr)
