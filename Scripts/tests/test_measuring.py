"""What Scripts/agreement and Scripts/bench refuse before they measure anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
DAY = SCRIPTS.parent / "Scenarios" / "quickstart.yaml"


class Refusals(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="plimsoll-measuring."))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def call(self, script: str, *arguments: object, program: str = "/bin/false") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(SCRIPTS / script), *map(str, arguments)], capture_output=True, text=True, check=False,
            cwd=self.directory, env={**os.environ, "PLIMSOLL": program},
        )  # fmt: skip

    def refused(self, status: int, words: str, script: str, *arguments: object, **options: str) -> None:
        result = self.call(script, *arguments, **options)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertIn(words, result.stderr.strip().splitlines()[-1])

    def test_an_agreement_of_nothing_is_no_agreement(self) -> None:
        self.refused(64, "nothing to compare", "agreement", "backends", DAY, "--seeds", 0)
        self.refused(64, "nothing to compare", "agreement", "backends")
        self.refused(64, "nothing to compare", "agreement", "scales")
        self.refused(64, "--jobs must be at least 1", "agreement", "backends", DAY, "--jobs", 0)
        self.refused(64, "invalid choice", "agreement", "nonsense")

    def test_an_agreement_says_what_is_missing_and_what_failed_by_its_status(self) -> None:
        self.refused(66, "no file none.yaml", "agreement", "backends", "none.yaml")
        self.refused(66, "swift build -c release", "agreement", "scales", DAY, program="/no/plimsoll")
        failing = self.directory / "failing"
        failing.write_text("#!/bin/sh\necho no room >&2\nexit 71\n", "utf-8")
        failing.chmod(0o755)
        self.refused(71, "no room", "agreement", "scales", DAY, program=str(failing))
        result = self.call("agreement", "backends", DAY, "--seeds", 1, program=str(failing))
        self.assertEqual(result.returncode, 71, result.stderr)

    def test_a_table_of_figures_takes_no_files_place_unasked(self) -> None:
        mine = self.directory / "mine.csv"
        mine.write_text("mine", "utf-8")
        self.refused(73, "--force", "benchmarking", "--out", mine)
        self.refused(73, "is a folder", "benchmarking", "--out", self.directory, "--force")
        self.refused(73, "cannot create", "benchmarking", "--out", self.directory / "no" / "figures.csv")
        self.assertEqual(mine.read_text("utf-8"), "mine")
        self.refused(64, "invalid choice", "benchmarking", "--only", 9)
        # Past the question of the file, there is the next one.
        self.refused(66, "no trace", "benchmarking", "--out", mine, "--force", "--trace", "none.txt")
        self.assertEqual(mine.read_text("utf-8"), "mine")

    def test_wrong_usage_of_the_benchmark_is_64(self) -> None:
        self.refused(64, "--out: is empty", "benchmarking", "--out", "")
        self.refused(64, "at least 1", "benchmarking", "--repeat", 0)
        self.refused(64, "invalid choice", "benchmarking", "--only", 9)


if __name__ == "__main__":
    unittest.main()
