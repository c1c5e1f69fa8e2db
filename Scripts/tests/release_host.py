"""A host that fails: a disk that is full from one write on, memory that is refused, a program that is killed."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

from harness import SCRIPTS
from release import ReleaseCase, long

SCENARIO = """plimsoll: 1
name: full-disk
duration: 20s
device: { ceiling: 128MiB }
policy: lru
backend: accounting
apps: [ { name: a }, { name: b }, { name: c } ]
user: [ { at: 1s, launch: a }, { at: 3s, launch: b }, { at: 6s, launch: c } ]
"""
CANNOT_CREATE, CANNOT_WRITE = 73, 74
FAILED, REFUSED = 70, 71
MOST = 200
"""Of a command that writes more often, so many of the first writes are tried."""


class FullDisk(ReleaseCase):
    def setUp(self) -> None:
        super().setUp()
        self.shim = self.directory / "full_disk.so"
        self.ends("cc", "-O1", "-shared", "-fPIC", "-o", self.shim, SCRIPTS / "tests/full_disk.c", "-ldl")
        (self.directory / "s.yaml").write_text(SCENARIO, "utf-8")

    def under(self, *words: object, **settings: object) -> subprocess.CompletedProcess[str]:
        """Runs the program on a disk that is full after so many writes, in the test's folder."""
        extra = {name.upper(): str(value) for name, value in settings.items()}
        return subprocess.run(
            [self.plimsoll, *map(str, words)], cwd=self.directory, capture_output=True, text=True, check=False,
            env={**os.environ, "LD_PRELOAD": str(self.shim), **extra},
        )  # fmt: skip

    def writes(self, *words: object) -> int:
        """How often the command writes where there is room; at most `MOST`."""
        count = self.directory / "count"
        result = self.under(*words, full_count=count)
        self.assertEqual(result.returncode, 0, result.stderr)
        shutil.rmtree(self.directory / "out")
        return min(MOST, int(count.read_text("utf-8")))

    def assert_refused(self, result: subprocess.CompletedProcess[str], at: int) -> None:
        """One line, and one of the two statuses."""
        self.assertIn(result.returncode, (CANNOT_CREATE, CANNOT_WRITE), f"write {at}: {result.stderr}")
        lines = [line for line in result.stderr.splitlines() if not line.startswith("plimsoll: warning: ")]
        self.assertEqual(len(lines), 1, f"write {at}: {result.stderr}")
        self.assertRegex(lines[0], r"^plimsoll: .*No space left on device", f"write {at}")

    def assert_honest(self, folder: Path, at: int) -> None:
        """Nothing claims that the run is complete, and each table is a beginning of whole rows."""
        manifest = folder / "manifest.json"
        if manifest.exists():
            self.assertNotEqual(json.loads(manifest.read_text("utf-8")).get("ending"), "completed", f"write {at}")
        for table in folder.glob("*.csv"):
            text = table.read_text("utf-8")
            whole = text[: text.rfind("\n") + 1]
            widths = {len(row) for row in csv.reader(whole.splitlines())}
            self.assertLessEqual(len(widths), 1, f"write {at}: {table.name} has rows of {widths} cells")

    @long
    def test_a_run_on_a_disk_that_is_full_from_any_write_on_says_so_and_leaves_whole_rows(self) -> None:
        words = ("run", "s.yaml", "--quiet", "--out", "out")
        count = self.writes(*words)
        self.assertGreater(count, 30)
        for at in range(count):
            self.assert_refused(self.under(*words, full_after=at), at)
            self.assert_honest(self.directory / "out", at)
            shutil.rmtree(self.directory / "out", ignore_errors=True)

    @long
    def test_a_sweep_on_a_disk_that_was_full_goes_on_to_the_bytes_of_one_that_was_not(self) -> None:
        words = ("sweep", "s.yaml", "--seeds", "1..3", "--vary", "device.ceiling=96MiB,128MiB", "--jobs", "1", "--out", "out")
        self.assertEqual(self.under(*words).returncode, 0)
        whole = (self.directory / "out/sweep.csv").read_bytes()
        shutil.rmtree(self.directory / "out")
        for at in range(self.writes(*words)):
            result = self.under(*words, full_after=at)
            self.assertIn(result.returncode, (CANNOT_CREATE, CANNOT_WRITE), f"write {at}: {result.stderr}")
            resumed = self.under(*words, "--resume")
            self.assertEqual(resumed.returncode, 0, f"write {at}: {resumed.stderr}")
            self.assertEqual((self.directory / "out/sweep.csv").read_bytes(), whole, f"write {at}")
            shutil.rmtree(self.directory / "out")


class RefusedMemory(ReleaseCase):
    def setUp(self) -> None:
        super().setUp()
        self.shim = self.directory / "refused_memory.so"
        self.ends("cc", "-O1", "-shared", "-fPIC", "-o", self.shim, SCRIPTS / "tests/refused_memory.c")
        self.write(SCENARIO.replace("accounting", "jemalloc"))

    def write(self, scenario: str) -> None:
        (self.directory / "s.yaml").write_text(scenario, "utf-8")

    def under(self, out: str, call: str, **settings: object) -> subprocess.CompletedProcess[str]:
        extra = {name.upper(): str(value) for name, value in settings.items()}
        return subprocess.run(
            [self.plimsoll, "run", "s.yaml", "--quiet", "--out", out], cwd=self.directory, capture_output=True, text=True,
            check=False, env={**os.environ, "LD_PRELOAD": str(self.shim), "REFUSE_CALL": call, **extra},
        )  # fmt: skip

    def tables(self, out: str) -> dict[str, bytes]:
        return {table.name: table.read_bytes() for table in (self.directory / out).glob("*.csv")}

    def assert_refusals_are_said_or_do_not_matter(self, call: str, least: int) -> int:
        """How many of them end the run. Of many calls, some thirty are refused."""
        shutil.rmtree(self.directory / "whole", ignore_errors=True)
        count = self.directory / "count"
        self.assertEqual(self.under("whole", call, refuse_count=count, refuse_least=least).returncode, 0)
        calls = int(count.read_text("utf-8"))
        whole, refused = self.tables("whole"), 0
        for at in range(1, calls + 1, 1 + calls // 30):
            result = self.under("out", call, refuse_at=at, refuse_least=least)
            where = f"{call} {at} of {calls}: {result.returncode} {result.stderr}"
            if result.returncode == 0:
                self.assertEqual(self.tables("out"), whole, where)
            else:
                refused += 1
                self.assertIn(result.returncode, (FAILED, REFUSED), where)
                lines = [line for line in result.stderr.splitlines() if not line.startswith("plimsoll: warning: ")]
                self.assertEqual(len(lines), 1, where)
                # What jemalloc is refused for itself, it refuses the run.
                words = r"the host " if result.returncode == REFUSED else r"at .* of a run with seed \d+: jemalloc refused "
                self.assertRegex(lines[0], f"^plimsoll: {words}", where)
                manifest = self.directory / "out/manifest.json"
                self.assertFalse(manifest.exists() and '"completed"' in manifest.read_text("utf-8"), where)
            shutil.rmtree(self.directory / "out", ignore_errors=True)
        print(f"{call}: {calls} calls of at least {least} bytes; {refused} refusals ended the run, the others changed nothing")
        return refused

    def test_memory_that_the_host_refuses_once_is_said_in_a_line_or_changes_nothing(self) -> None:
        # The device's memory. Smaller maps are the heap of the program itself, without which Swift ends it.
        self.assertGreaterEqual(self.assert_refusals_are_said_or_do_not_matter("mmap", 16 << 20), 2)
        # Tables with an entry per page of a device are maps of their own if it is a large one.
        self.write(SCENARIO.replace("128MiB", "8GiB"))
        self.assertGreaterEqual(self.assert_refusals_are_said_or_do_not_matter("mmap", 16 << 20), 3)

    def test_advice_that_the_host_refuses_once_is_said_in_a_line_or_changes_nothing(self) -> None:
        self.assert_refusals_are_said_or_do_not_matter("madvise", 0)


class Killed(ReleaseCase):
    def test_what_is_killed_at_random_moments_leaves_a_beginning_and_goes_on_to_the_same_bytes(self) -> None:
        # check_kills.py by itself kills hundreds.
        self.check("kills", "--program", self.plimsoll, "--run", 6, "--sweep", 2, "--tune", 0, "--survive", 0)
