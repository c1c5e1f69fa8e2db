"""Runs the Python tests of this folder, and names every test that was skipped, with its reason.

Without --program: the tests of the Python code (test_*.py), a process for each file, as many at once as there are cores.
With --program: the tests of that build of plimsoll (release_*.py), a process for each test, two at once. A test that needs
gigabytes, or compares times, runs alone. Any build will do; Scripts/test takes the one with checks.
With --shipped: the few tests of the build without these checks (shipped_*.py), which compare it with that of --program.
With --short: without the tests that are marked as long; it says how many these are. Scripts/test --all runs the long ones, too:
those that look for faults with the build with checks (--checked), the others with the build that people get (--long).

Each line has the seconds by the clock, and those of CPU, which say what a test costs on a busy machine, too. --times writes
the seconds of each single test to a file for slowest.py.

Needs the packages of `Scripts/setup.sh python`; tests that need those of `bench` or `tests`, too, are skipped without them.
Exit status: 0 all passed or were skipped, 1 some failed, 64 usage, 66 there is no such program, 130 interrupted.

Examples:
  .venv/bin/python Scripts/tests/run_tests.py test_plots
  .venv/bin/python Scripts/tests/run_tests.py --program .build/debug/plimsoll "lower ceiling"
  .venv/bin/python Scripts/tests/run_tests.py --shipped .build/release/plimsoll --program .build/debug/plimsoll
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from check_host import available
from slowest import line_of_time

from plimsoll_tools.command_line import Parser, positive

FOLDER = Path(__file__).resolve().parent
SKIPS, TIMES, CPU = "skips.txt", "times.tsv", "cpu.txt"
"""What a job's process leaves in its folder."""

TWO_AT_ONCE = 4 << 30
"""Release tests run two at once where this much memory is available: a run on real memory may need more than 1 GiB."""


@dataclass(frozen=True)
class Job:
    """What one process runs: a file's tests, or one test."""

    name: str
    file: str
    only: tuple[str, ...] = ()
    is_alone: bool = False
    is_one_test: bool = False


@dataclass(frozen=True)
class Outcome:
    status: int
    seconds: float
    cpu_seconds: float
    out: str
    err: str
    skips: str
    times: str


def title_of(test: unittest.TestCase) -> str:
    """The file and the sentence: "release_runs: a run holds what its data package says: burst"."""
    file, _, method = test.id().partition(".")
    return f"{file}: {method.partition('.')[2].removeprefix('test_').replace('_', ' ')}"


def tests_in(suite: unittest.TestSuite | unittest.TestCase) -> Iterator[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for part in suite:
            yield from tests_in(part)


def is_meant(test: unittest.TestCase, words: Sequence[str]) -> bool:
    """Whether the name contains one of the words; blanks and underscores are the same."""
    name = f"{title_of(test)} {test.id()}".lower()
    return not words or any(word.lower() in name or word.lower().replace("_", " ") in name for word in words)


def load(pattern: str, words: Sequence[str] = ()) -> list[unittest.TestCase]:
    suite = unittest.TestLoader().discover(str(FOLDER), pattern=pattern)
    return [test for test in tests_in(suite) if is_meant(test, words)]


# --- Within the process of a job --------------------------------------------------------------------------------------


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class TimedResult(unittest.TextTestResult):
    """Notes how long each test takes; what a class prepares for all its tests counts for the first one."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.lines: list[str] = []
        self.began, self.used = time.monotonic(), cpu_seconds()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        now, used = time.monotonic(), cpu_seconds()
        self.lines.append(line_of_time(now - self.began, used - self.used, title_of(test)))
        self.began, self.used = now, used


def run_here(file: str, folder: Path, only: Sequence[str]) -> int:
    """Runs the tests of one file: all of them, or those with one of these identifiers."""
    tests = [test for test in load(file) if not only or test.id() in only]
    result = unittest.TextTestRunner(verbosity=1, resultclass=TimedResult).run(unittest.TestSuite(tests))
    # A part of a test (subTest) has its test's name.
    lines = [f"{getattr(test, 'test_case', test).id()}: {reason}" for test, reason in result.skipped]
    (folder / SKIPS).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (folder / TIMES).write_text("".join(f"{line}\n" for line in getattr(result, "lines", [])), "utf-8")
    (folder / CPU).write_text(str(cpu_seconds()), "ascii")
    return 0 if tests and result.wasSuccessful() else 1


# --- The jobs ---------------------------------------------------------------------------------------------------------


def run_apart(job: Job, scratch: Path) -> Outcome:
    """Runs a job in a process of its own."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        skips, times, cpu = (Path(folder, name) for name in (SKIPS, TIMES, CPU))
        skips.touch()
        times.touch()
        # Of a process that is killed nobody knows.
        cpu.write_text("nan", "ascii")
        command = [sys.executable, "-E", "-s", __file__, "--here", job.file, folder, *job.only]
        # What a test that was killed leaves behind goes with this folder. A database of test_*.py needs one that all may enter.
        env = {**os.environ, "TMPDIR": folder} if job.is_one_test else None
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=env)
        seconds = time.monotonic() - started
        return Outcome(done.returncode, seconds, float(cpu.read_text("ascii")), done.stdout, done.stderr,
                       skips.read_text("utf-8"), times.read_text("utf-8"))  # fmt: skip


def fits(job: Job, running: Sequence[Job], at_once: int) -> bool:
    """Whether the job may start beside those that run."""
    return not running or (len(running) < at_once and not job.is_alone and not any(one.is_alone for one in running))


Run = Callable[[Job, Path], Outcome]
"""Runs a job; it may use a folder."""


def run_all(jobs: Sequence[Job], at_once: int, scratch: Path, run: Run) -> Iterator[tuple[Job, Outcome]]:
    """Each job with its outcome, as they end."""
    waiting, running = list(jobs), dict[Future[Outcome], Job]()
    with ThreadPoolExecutor(at_once) as pool:
        while waiting or running:
            for job in list(waiting):
                if fits(job, list(running.values()), at_once):
                    waiting.remove(job)
                    running[pool.submit(run, job, scratch)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def jobs_of_code(words: Sequence[str]) -> list[Job]:
    # The longest first, so that no core waits for the last one.
    files = sorted(FOLDER.glob("test_*.py"), key=lambda path: -path.stat().st_size)
    if not words:
        return [Job(path.name, path.name) for path in files]
    found = {path.name: tuple(test.id() for test in load(path.name, words)) for path in files}
    return [Job(name, name, only) for name, only in found.items() if only]


def marks(test: unittest.TestCase, mark: str) -> bool:
    return bool(getattr(getattr(test, test.id().split(".", 2)[2]), mark, False))


LEFT_OUT = {
    "short": (("is_long", "is_long_with_checks"), "left to Scripts/test --all: {} tests that take long"),
    "checked": (("is_long", "is_part_of_long"), "left to the shipping build, or a part of longer ones: {} tests"),
    None: ((), ""),
}
"""By the extent: the marks of the tests that are left out, and what is said of these."""


def jobs_of_program(pattern: str, words: Sequence[str], extent: str | None) -> list[Job]:
    """A job for each test; those that run alone come first, then those that begin early."""
    found = load(pattern, words)
    if extent == "long":
        tests = [test for test in found if marks(test, "is_long")]
    else:
        without, remark = LEFT_OUT[extent]
        tests = [test for test in found if not any(marks(test, mark) for mark in without)]
        if len(tests) < len(found):
            print(remark.format(len(found) - len(tests)))
    tests.sort(key=lambda test: (not marks(test, "is_alone"), not marks(test, "is_early")))
    return [
        Job(title_of(test), f"{test.id().partition('.')[0]}.py", (test.id(),), marks(test, "is_alone"), is_one_test=True)
        for test in tests
    ]


def last_lines(text: str) -> str:
    """How many tests a file has, and that they passed."""
    return "\n".join([line for line in text.splitlines() if line][-2:])


def show(job: Job, outcome: Outcome) -> None:
    """A line, with what a test printed below it; of a failed one everything that it said."""
    verdict = "FAILED" if outcome.status else "skipped" if outcome.skips and job.is_one_test else "passed"
    print(f"{verdict:8} {outcome.seconds:5.0f} s {outcome.cpu_seconds:5.0f} s CPU  {job.name}")
    said = outcome.out + (outcome.err if outcome.status else "" if job.is_one_test else last_lines(outcome.err))
    for line in said.splitlines():
        print(f"    {line}" if line else "")
    sys.stdout.flush()


def append(file: Path | None, lines: Sequence[str]) -> None:
    if file:
        with file.open("a", encoding="utf-8") as written:
            written.writelines(f"{line}\n" for line in lines)


def run_jobs(
    jobs: Sequence[Job], at_once: int, skips: Path | None, times: Path | None, run: Run = run_apart
) -> int:
    """Runs them, prints what comes of each, and ends with the exit status."""
    failed, skipped = list[str](), list[str]()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="plimsoll-tests.") as scratch:
        shared = Path(scratch, "shared")
        shared.mkdir()
        os.environ["PLIMSOLL_SHARED"] = str(shared)
        for job, outcome in run_all(jobs, at_once, Path(scratch), run):
            show(job, outcome)
            failed += [job.name] if outcome.status else []
            skipped += outcome.skips.splitlines()
            append(times, outcome.times.splitlines())
    print(f"{len(jobs) - len(failed)} passed, {len(failed)} failed, {time.monotonic() - started:.0f} s")
    for name in failed:
        print(f"FAILED: {name}")
    sys.stdout.flush()
    for line in skipped:
        print(f"skipped: {line}", file=sys.stderr)
    append(skips, skipped)
    return 1 if failed else 0


def within(seconds: float, run: Run) -> Run:
    """Skips the jobs that have not begun so many seconds from now on."""
    end = time.monotonic() + seconds

    def begun(job: Job, scratch: Path) -> Outcome:
        if time.monotonic() < end:
            return run(job, scratch)
        return Outcome(0, 0, 0, "", "", f"{job.name}: machine: not begun within {seconds:.0f} s\n", "")

    return begun


def add_options(parser: Parser) -> None:
    """The options of every run of tests."""
    parser.add_argument("--jobs", metavar="N", type=positive, help="at most this many processes at once")
    parser.add_argument("--skips", metavar="FILE", type=Path, help='append each skip to FILE, as "name: reason"')
    parser.add_argument("--times", metavar="FILE", type=Path, help="append the seconds of each test to FILE")


def arguments() -> tuple[Parser, argparse.Namespace]:
    parser = Parser(prog="run_tests.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="only the tests whose name contains one of these")
    parser.add_argument("--program", metavar="FILE", type=Path, help="the build of plimsoll to test")
    parser.add_argument("--shipped", metavar="FILE", type=Path, help="the build that people get, to compare with --program")
    add_options(parser)
    extent = parser.add_mutually_exclusive_group()
    for name, text in (
        ("short", "without the tests that take long"),
        ("checked", "without the long ones that are about what the program says, and without parts of long ones"),
        ("long", "these long ones alone"),
    ):
        extent.add_argument(f"--{name}", dest="extent", action="store_const", const=name, help=text)
    parser.add_argument("--within", metavar="SECONDS", type=positive, help="skip the tests that have not begun by then")
    parser.add_argument("--list", action="store_true", help="print the names of the tests, run nothing")
    return parser, parser.parse_args()


def faults_of(programs: Sequence[Path | None]) -> list[str]:
    return [f"{path} is no program; swift build makes one" for path in programs
            if path and not (path.is_file() and os.access(path, os.X_OK))]  # fmt: skip


def name_programs(tested: Path | None, other: Path | None) -> None:
    """Tells the tests where the builds are, and what draws random worlds beside them; no run is kept for another."""
    os.environ["PLIMSOLL_CACHE"] = ""
    if tested:
        os.environ["PLIMSOLL"] = str(tested.resolve())
    if other:
        os.environ["PLIMSOLL_OTHER"] = str(other.resolve())
    soaks = [program.resolve().with_name("soak") for program in (tested, other) if program]
    found = next((soak for soak in soaks if os.access(soak, os.X_OK)), None)
    if found:
        os.environ.setdefault("SOAK", str(found))


def main() -> int:
    if sys.argv[1:2] == ["--here"]:
        return run_here(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    parser, given = arguments()
    faults = faults_of((given.program, given.shipped))
    if faults:
        print(f"run_tests.py: {faults[0]}", file=sys.stderr)
        return 66
    name_programs(given.shipped or given.program, given.program if given.shipped else None)
    pattern = "shipped_*.py" if given.shipped else "release_*.py" if given.program else "test_*.py"
    if given.list:
        for test in load(pattern, given.words):
            print(title_of(test))
        return 0
    of_program = given.program or given.shipped
    jobs = jobs_of_program(pattern, given.words, given.extent) if of_program else jobs_of_code(given.words)
    if not jobs:
        parser.error(f"no test is called {' or '.join(map(repr, given.words))}; --list names them")
    at_once = (2 if available() >= TWO_AT_ONCE else 1) if of_program else os.cpu_count() or 1
    run = within(given.within, run_apart) if given.within else run_apart
    return run_jobs(jobs, given.jobs or at_once, given.skips, given.times, run)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
