"""What Scripts/agreement, Scripts/bench and Scripts/throughput refuse, and how they end when nothing was measured."""

from __future__ import annotations

import subprocess
import unittest
from typing import Any

from harness import SCRIPTS, FolderCase

DAY = SCRIPTS.parent / "Scenarios" / "quickstart.yaml"


class Refusals(FolderCase):
    def refused(self, status: int, words: str, script: str, *arguments: object, **options: Any) -> None:
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
        self.refused(66, "swift build -c release", "agreement", "scales", DAY, plimsoll="/no/plimsoll")
        failing = self.program("echo no room >&2\nexit 71\n", "failing")
        self.refused(71, "no room", "agreement", "scales", DAY, plimsoll=failing)
        result = self.call("agreement", "backends", DAY, "--seeds", 1, plimsoll=failing)
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


class Throughput(FolderCase):
    """With a program that only says how long it took."""

    def measure(
        self, *arguments: object, wall: str = "2.5", out: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        program = self.program(
            'while [ "$1" != --out ]; do shift; done\n'
            'mkdir "$2" && echo case >"$2/sweep.csv"\n'
            f'printf \'{{\\n  "cpu_s" : 3,\\n  "wall_s" : {wall}\\n}}\\n\' >"$2/manifest.json"\n'
        )
        return self.call("throughput", *arguments, start=(), plimsoll=program, out=out)

    def test_a_bound_that_was_measured_holds_or_does_not(self) -> None:
        result = self.measure("jobs", "--rounds", 2, "--most", 1)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.splitlines()[-1], "ratio 1.000 (at most 1)")
        self.assertEqual(self.measure("jobs", "--rounds", 1, "--most", 0.55).returncode, 1)

    def test_what_is_no_count_is_wrong_usage(self) -> None:
        for arguments in (
            ("jobs", "--rounds", 0), ("jobs", "--rounds", 1.5), ("jobs", "--rounds", "08"), ("jobs", "--rounds"),
            ("jobs", "--most", "nan"), ("flat", "--runs", 0), ("flat", "--jobs", 0), ("flat", "--runs", "1e3"),
        ):  # fmt: skip
            result = self.measure(*arguments)
            self.assertEqual((result.returncode, result.stdout), (64, ""), arguments)
            self.assertIn("Usage: Scripts/throughput", result.stderr)

    def test_a_bound_of_which_nothing_was_measured_does_not_hold(self) -> None:
        for wall in ("null", "0"):
            result = self.measure("jobs", "--rounds", 1, wall=wall)
            self.assertEqual(result.returncode, 70, result.stderr)
            self.assertNotIn("ratio", result.stdout)

    def test_a_result_that_cannot_be_written_is_no_broken_bound(self) -> None:
        with open("/dev/full", "wb") as full:
            result = self.measure("jobs", "--rounds", 1, out=full.fileno())
        self.assertEqual(result.returncode, 74, result.stderr)


if __name__ == "__main__":
    unittest.main()
