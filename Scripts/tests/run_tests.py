"""Runs the Python tests of this folder, a file on each core, and names every test that was skipped, with its reason.

Usage: run_tests.py [SKIPS-FILE]   each skip is also appended to SKIPS-FILE, as "name: reason"
       run_tests.py --file NAME SKIPS-FILE   the tests of one file
Exit status: 0 all passed or were skipped, 1 some failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def run_file(name: str, skips: Path) -> int:
    """Runs the tests of one file in this process."""
    suite = unittest.TestLoader().discover(str(FOLDER), pattern=name)
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    lines = [f"{test.id() if hasattr(test, 'id') else test}: {reason}" for test, reason in result.skipped]
    with skips.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return 0 if result.wasSuccessful() else 1


def run_apart(path: Path, scratch: Path) -> tuple[Path, int, str, str]:
    """Runs the tests of one file in a process of their own: the file, the exit status, what it said, its skips."""
    skips = scratch / f"{path.stem}.skips"
    skips.touch()
    command = [sys.executable, "-E", "-s", __file__, "--file", path.name, str(skips)]
    result = subprocess.run(command, capture_output=True, text=True)
    return path, result.returncode, result.stdout + result.stderr, skips.read_text(encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--file"]:
        return run_file(arguments[1], Path(arguments[2]))
    # The longest first, so that no core waits for the last one.
    files = sorted(FOLDER.glob("test_*.py"), key=lambda path: -path.stat().st_size)
    failed, skipped = 0, ""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, status, said, skips in pool.map(lambda path: run_apart(path, Path(scratch)), files):
            failed += status != 0
            skipped += skips
            verdict = said.rstrip().splitlines()[-3:] if status == 0 else said.splitlines()
            print(f"{path.name}: " + "\n".join(line for line in verdict if line), flush=True)
    for line in skipped.splitlines():
        print(f"skipped: {line}", file=sys.stderr)
    if arguments:
        with Path(arguments[0]).open("a", encoding="utf-8") as file:
            file.write(skipped)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
