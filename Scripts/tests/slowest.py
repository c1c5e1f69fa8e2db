"""Prints the slowest tests of one call of Scripts/test, in Swift and in Python.

    python Scripts/tests/slowest.py [--most 20] TIMES

TIMES is what run_tests.py and run_swift_tests.py wrote with --times. If it is missing there were no tests.

Several tests run at once, so that each one's seconds by the clock depend on its neighbours'. CPU is known of tests in Python
alone, with all programs that they start.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

MOST = 20


@dataclass(frozen=True)
class Timed:
    """A test and how long it took."""

    seconds: float
    cpu_seconds: float | None
    name: str


def line_of_time(seconds: float, cpu_seconds: float | None, name: str) -> str:
    """A line of TIMES."""
    return f"{seconds:.3f}\t{'' if cpu_seconds is None else format(cpu_seconds, '.3f')}\t{' '.join(name.splitlines())}"


def timed(text: str) -> list[Timed]:
    """The tests in TIMES."""
    found = []
    for line in text.splitlines():
        seconds, cpu_seconds, name = line.split("\t", 2)
        found.append(Timed(float(seconds), float(cpu_seconds) if cpu_seconds else None, name))
    return found


def table(tests: list[Timed], most: int) -> str:
    lines = [f"{'seconds':>8} {'CPU':>7}  test"]
    for one in sorted(tests, key=lambda test: (-test.seconds, test.name))[:most]:
        used = "" if one.cpu_seconds is None else f"{one.cpu_seconds:.1f}"
        lines.append(f"{one.seconds:8.1f} {used:>7}  {one.name}")
    total = sum(test.seconds for test in tests)
    return "\n".join([*lines, f"{total:8.1f} {'':7}  all {len(tests)} tests, one after the other"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", metavar="N", type=int, default=MOST, help=f"this many tests (default: {MOST})")
    parser.add_argument("times", metavar="TIMES", type=Path)
    given = parser.parse_args()
    text = given.times.read_text("utf-8", "replace") if given.times.exists() else ""
    print(table(timed(text), given.most))
    return 0


if __name__ == "__main__":
    sys.exit(main())
