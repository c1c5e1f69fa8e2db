"""Runs the Swift tests of a build: a process for a few suites, as many processes at once as there are cores.

    .venv/bin/python Scripts/tests/run_swift_tests.py .build/debug/plimsollPackageTests.xctest

Within a process one test runs after the other, so each one's seconds are its own; `swift test --parallel` begins all tests at
once, and says of most that they took as long as all of them. Every test that the build lists must have run.

Each line has the seconds by the clock, and those of CPU. Of a process with a failure everything is printed that it said.

Exit status: 0 all passed or were skipped, 1 some failed, 64 usage, 66 there is no such build, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run_tests import Job, Outcome, add_options, run_jobs
from slowest import line_of_time

from plimsoll_tools.command_line import Parser

LONG = (
    "ScenarioTests.RealCompressionTests", "SurvivalTests.StudyTests", "ScenarioTests.EveningOnDevicesTests",
    "SimulationTests.RandomLifeTests", "plimsollTests.SettingsMatterTests", "ScenarioTests.DiagnosticsTests",
    "SimulationTests.CeilingTests", "MemoryTests.CompressorTests", "MemoryTests.JemallocDeviceTests",
    "plimsollTests.RoughHostTests", "plimsollTests.CompareCommandTests", "plimsollTests.SweepCommandTests",
    "ScenarioTests.WindowRunTests", "SimulationTests.CompressorRunTests", "plimsollTests.RunCommandTests",
)  # fmt: skip
"""These suites take long: each begins early, in a process of its own, so that no core waits for it at the end."""

TOGETHER = 3
"""So many of the others share a process, which takes a tenth of a second to begin."""

SKIPPED = re.compile(r'^\S* *(?:Test|Suite) (.*) skipped: "(.*)"$', re.MULTILINE)
"""Swift Testing names a skipped test as: ➜ Test "name" skipped: "reason"."""


@dataclass(frozen=True)
class Bundle:
    """The program that holds the tests."""

    path: Path

    def words(self, *words: object) -> list[str]:
        return [str(self.path), "--testing-library", "swift-testing", *map(str, words)]

    def tests(self) -> list[str]:
        """The identifiers of all tests, such as `PressureTests.BandMachineTests/age()`."""
        done = subprocess.run(self.words("--list-tests"), capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if "/" in line or "()" in line]


def parts(tests: Sequence[str]) -> list[list[str]]:
    """The suites of each process: a long one alone, then a few others of one target."""
    suites = sorted({test.partition("/")[0] for test in tests})
    long = [[suite] for suite in LONG if suite in suites]
    of_target: defaultdict[str, list[str]] = defaultdict(list)
    for suite in suites:
        if suite not in LONG:
            of_target[suite.partition(".")[0]].append(suite)
    # The targets with the most suites are those that run whole scenarios.
    targets = sorted(of_target.values(), key=lambda found: -len(found))
    return long + [found[at : at + TOGETHER] for found in targets for at in range(0, len(found), TOGETHER)]


def records(text: str) -> Iterator[dict[str, Any]]:
    """The lines of the stream of events; the last one is cut off where a process crashed."""
    for line in text.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            yield json.loads(line)


def name_of(test: dict[str, Any]) -> str:
    """The file and the sentence: "RunCommandTests: a run leaves what it says"."""
    file = str(test["sourceLocation"].get("fileID", "")).rpartition("/")[2].removesuffix(".swift")
    return f"{file}: {test.get('displayName') or test['name']}"


def times(text: str) -> dict[str, float]:
    """The seconds of each test that ended, or was skipped, by its name; the same name twice has its sum."""
    names: dict[str, str] = {}
    began: dict[str, float] = {}
    seconds: defaultdict[str, float] = defaultdict(float)
    for record in records(text):
        payload = record["payload"]
        if record["kind"] == "test" and payload["kind"] == "function":
            names[payload["id"]] = name_of(payload)
        elif payload.get("testID") in names:
            at, test = float(payload["instant"]["absolute"]), payload["testID"]
            if payload["kind"] == "testStarted":
                began[test] = at
            elif payload["kind"] == "testEnded" and test in began:
                seconds[names[test]] += at - began[test]
    return seconds


def ended(text: str) -> int:
    """How many tests came to an end, or were skipped."""
    found = list(records(text))
    tests = {one["payload"]["id"] for one in found if one["kind"] == "test" and one["payload"]["kind"] == "function"}
    over = {one["payload"].get("testID") for one in found
            if one["kind"] == "event" and one["payload"]["kind"] in ("testEnded", "testSkipped")}  # fmt: skip
    return len(tests & over)


def filter_of(suites: Sequence[str]) -> str:
    return f"^({'|'.join(map(re.escape, suites))})/"


def run_part(bundle: Bundle, expected: int, job: Job, scratch: Path) -> Outcome:
    """Runs the suites of a job in a process of its own."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        said, events = Path(folder, "said.txt"), Path(folder, "events.jsonl")
        events.touch()
        words = bundle.words("--no-parallel", "--filter", filter_of(job.only), "--event-stream-version", 0,
                             "--event-stream-output-path", events)  # fmt: skip
        with said.open("w") as out:
            process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)
            # The CPU time of the process, and of the programs that it waited for.
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status = os.waitstatus_to_exitcode(status)
        text, stream = said.read_text("utf-8", "replace"), events.read_text("utf-8", "replace")
        if status == 0 and ended(stream) != expected:
            status, text = 1, f"{text}\n{ended(stream)} of {expected} tests ran\n"
        lines = [line_of_time(seconds, None, name) for name, seconds in times(stream).items()]
        skips = [f"{name}: {reason}" for name, reason in SKIPPED.findall(text)]
        return Outcome(status, time.monotonic() - started, used.ru_utime + used.ru_stime, text if status else "", "",
                       "\n".join(skips), "\n".join(lines))  # fmt: skip


def main() -> int:
    parser = Parser(prog="run_swift_tests.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", metavar="BUILD", type=Path, help="the tests as `swift build` makes them")
    add_options(parser)
    given = parser.parse_args()
    if not (given.bundle.is_file() and os.access(given.bundle, os.X_OK)):
        print(f"run_swift_tests.py: {given.bundle} is no build of tests; swift build --build-tests makes one", file=sys.stderr)
        return 66
    # Tests look for the program beside the build.
    bundle = Bundle(given.bundle.resolve())
    tests = bundle.tests()
    counts: defaultdict[str, int] = defaultdict(int)
    for test in tests:
        counts[test.partition("/")[0]] += 1
    jobs = [Job(", ".join(suites), "", tuple(suites)) for suites in parts(tests)]

    def run(job: Job, scratch: Path) -> Outcome:
        return run_part(bundle, sum(counts[suite] for suite in job.only), job, scratch)

    print(f"{len(tests)} tests in {len(counts)} suites")
    return run_jobs(jobs, given.jobs or os.cpu_count() or 1, given.skips, given.times, run)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
