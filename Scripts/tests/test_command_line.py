"""How the commands in Python end when their output cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from typing import IO
from unittest import mock

from harness import SCRIPTS, FolderCase
from synthetic_run import write_run

COMMANDS = {"agreement": "agreement", "bench": "benchmarking", "plot": "plotting", "report": "reporting",
            "tune": "tuning"}  # fmt: skip
FULL = "cannot write to standard output: No space left on device"


class NobodyListens(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.full = open("/dev/full", "wb")  # noqa: SIM115
        self.addCleanup(self.full.close)
        # A pipe without a reader.
        reader, writer = os.pipe()
        os.close(reader)
        self.broken = os.fdopen(writer, "wb")
        self.addCleanup(self.broken.close)

    def said(
        self, name: str, *arguments: object, out: IO[bytes] | int = subprocess.PIPE, err: IO[bytes] | int = subprocess.PIPE
    ) -> tuple[int, str]:
        """Exit status and stderr."""
        result = self.call(COMMANDS[name], *arguments, plimsoll="/bin/true", out=out, err=err)
        return result.returncode, result.stderr

    def test_what_cannot_be_written_is_74_and_one_line(self) -> None:
        for name in COMMANDS:
            self.assertEqual(self.said(name, "--help", out=self.full), (74, f"{name}: {FULL}\n"))

    def test_a_reader_that_has_enough_is_74_and_no_line(self) -> None:
        for name in ("agreement", "report"):
            self.assertEqual(self.said(name, "--help", out=self.broken), (74, ""))

    def test_wrong_usage_stays_wrong_usage_when_nobody_hears_of_it(self) -> None:
        for name in ("agreement", "plot"):
            self.assertEqual(self.said(name, "--nonsense", err=self.broken)[0], 64, name)
            self.assertEqual(self.said(name, "--nonsense", out=self.full, err=self.full)[0], 64, name)

    def test_a_table_of_which_a_line_is_lost_is_no_broken_bound(self) -> None:
        scenario = SCRIPTS.parent / "Scenarios" / "quickstart.yaml"
        arguments = ("backends", scenario, "--seeds", 1)
        self.assertEqual(self.said("agreement", *arguments, out=self.full), (74, f"agreement: {FULL}\n"))
        self.assertEqual(self.said("agreement", *arguments, out=self.broken), (74, ""))

    def test_a_lost_list_of_pictures_is_no_fault_of_their_folder(self) -> None:
        run = self.directory / "run"
        write_run(run, apps=1, minutes=0.5)
        self.assertEqual(self.said("plot", run, "--format", "png", out=self.full), (74, f"plot: {FULL}\n"))
        self.assertTrue((run / "plots" / "terminations.png").is_file())
        self.assertEqual(self.said("report", run, out=self.full), (74, f"report: {FULL}\n"))
        self.assertTrue((run / "report.html").is_file())

    def test_a_closed_output_is_written_into_nothing(self) -> None:
        for closed in (">&-", "2>&-", ">&- 2>&-"):
            status = subprocess.run(
                ["sh", "-c", f'"$0" "$@" {closed}', sys.executable, SCRIPTS / "agreement", "--help"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            ).returncode  # fmt: skip
            self.assertEqual(status, 0, closed)


class Misspelt(FolderCase):
    def last_line(self, name: str, *arguments: object) -> str:
        """What is said about wrong usage, below the usage."""
        result = self.call(COMMANDS[name], *arguments)
        self.assertEqual((result.returncode, result.stdout), (64, ""), result.stderr)
        return result.stderr.splitlines()[-1]

    def test_an_option_that_there_is_not_gets_the_nearest_one(self) -> None:
        self.assertEqual(self.last_line("plot", "run", "--fromat", "png"), "plot: there is no option '--fromat'; did you mean '--format'?")
        self.assertEqual(self.last_line("report", "--explian=2", "run"), "report: there is no option '--explian'; did you mean '--explain'?")
        # Also before what else is missing.
        self.assertEqual(self.last_line("tune", "a.yaml", "--polcy", "lru"), "tune: there is no option '--polcy'; did you mean '--policy'?")

    def test_an_option_like_none_gets_no_advice(self) -> None:
        self.assertEqual(self.last_line("plot", "run", "--zzz"), "plot: there is no option '--zzz'")

    def test_other_faults_are_said_as_they_are(self) -> None:
        self.assertIn("--policy", self.last_line("tune", "a.yaml"))
        # Not an option: its beginning is enough, and nothing after two dashes is one.
        self.assertIn("'gif': choose from png, svg", self.last_line("plot", "run", "--form", "gif", "--", "--fromat"))


class Called(FolderCase):
    def test_messages_and_examples_name_the_command_that_was_typed(self) -> None:
        """An archive has no folder Scripts."""
        (self.directory / "sweep.csv").write_text("", "utf-8")
        for name in ("plot", "report", "tune"):
            with mock.patch.dict(os.environ, {"PLIMSOLL_COMMAND": f"plimsoll {name}"}):
                said = self.call(COMMANDS[name], "--help").stdout
                fault = self.call("reporting", ".", ".").stderr
            self.assertIn(f"usage: plimsoll {name} ", said)
            self.assertNotIn("Scripts/", said + fault)
        self.assertIn("no runs; plimsoll report ., alone, shows it", fault)
        self.assertIn("\n  Scripts/tune Scenarios/", self.call("tuning", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
