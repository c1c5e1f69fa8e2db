"""Prints the slowest tests of one call of Scripts/test, in Swift and in Python.

    python Scripts/tests/slowest.py [--most 20] [--swift EVENTS] [--times TIMES]

EVENTS is what `swift test --event-stream-output-path EVENTS` wrote: a line of JSON for each event. A test's time is the sum
of those of its cases. TIMES is what run_tests.py --times wrote. A file that is missing counts as one without tests.

Two tests run at once, so that each one's seconds by the clock depend on its neighbour's. CPU is known of tests in Python
alone, with all programs that they start.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST = 20


@dataclass(frozen=True)
class Timed:
    """A test and how long it took."""

    seconds: float
    cpu_seconds: float | None
    name: str


def line_of_time(seconds: float, cpu_seconds: float, name: str) -> str:
    """A line of TIMES."""
    return f"{seconds:.3f}\t{cpu_seconds:.3f}\t{name}"


def python_tests(text: str) -> list[Timed]:
    """The tests in TIMES."""
    found = []
    for line in text.splitlines():
        seconds, cpu_seconds, name = line.split("\t", 2)
        found.append(Timed(float(seconds), float(cpu_seconds), name))
    return found


def records(text: str) -> Iterator[dict[str, Any]]:
    """The lines of EVENTS; the last one is cut off where a process crashed."""
    for line in text.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            yield json.loads(line)


def swift_tests(text: str) -> list[Timed]:
    """The tests in EVENTS; a test that has not ended, as in a process that crashed, is not among them."""
    names: dict[str, str] = {}
    began: dict[tuple[str, str], float] = {}
    sums: defaultdict[str, float] = defaultdict(float)
    for record in records(text):
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                names[payload["id"]] = name_of(payload)
            continue
        if payload["kind"] not in ("testCaseStarted", "testCaseEnded"):
            continue
        case = (payload["testID"], str(payload.get("_testCase", {}).get("id", "")))
        at = float(payload["instant"]["absolute"])
        if payload["kind"] == "testCaseStarted":
            began[case] = at
        elif case in began:
            sums[payload["testID"]] += at - began.pop(case)
    return [Timed(seconds, None, names.get(test, test)) for test, seconds in sums.items()]


def name_of(test: dict[str, Any]) -> str:
    """The file and the sentence: "RunCommandTests: a run leaves what it says"."""
    file = str(test["sourceLocation"].get("fileID", "")).rpartition("/")[2].removesuffix(".swift")
    return f"{file}: {test.get('displayName') or test['name']}"


def table(tests: list[Timed], most: int) -> str:
    lines = [f"{'seconds':>8} {'CPU':>7}  test"]
    for one in sorted(tests, key=lambda test: (-test.seconds, test.name))[:most]:
        used = "" if one.cpu_seconds is None else f"{one.cpu_seconds:.1f}"
        lines.append(f"{one.seconds:8.1f} {used:>7}  {one.name}")
    total = sum(test.seconds for test in tests)
    return "\n".join([*lines, f"{total:8.1f} {'':7}  all {len(tests)} tests, one after the other"])


def text_of(file: Path | None) -> str:
    return file.read_text("utf-8", "replace") if file and file.exists() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", metavar="N", type=int, default=MOST, help=f"this many tests (default: {MOST})")
    parser.add_argument("--swift", metavar="EVENTS", type=Path)
    parser.add_argument("--times", metavar="TIMES", type=Path)
    given = parser.parse_args()
    print(table(swift_tests(text_of(given.swift)) + python_tests(text_of(given.times)), given.most))
    return 0


if __name__ == "__main__":
    sys.exit(main())
