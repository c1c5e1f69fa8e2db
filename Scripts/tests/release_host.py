"""A host that fails while the program writes: a disk that is full from one write on, whichever it is."""

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
