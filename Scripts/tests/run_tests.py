"""Runs the Python tests of this folder and names every test that was skipped, with its reason.

Usage: run_tests.py [SKIPS-FILE]   each skip is also appended to SKIPS-FILE, as "name: reason"
Exit status: 0 all passed or were skipped, 1 some failed.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path


def main(arguments: list[str]) -> int:
    folder = Path(__file__).resolve().parent
    suite = unittest.TestLoader().discover(str(folder))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    lines = [f"{test.id() if hasattr(test, 'id') else test}: {reason}" for test, reason in result.skipped]
    for line in lines:
        print(f"skipped: {line}", file=sys.stderr)
    if arguments:
        with Path(arguments[0]).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
