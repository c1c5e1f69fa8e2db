"""The build that people get, without the checks of the tests: it works, and its tables are those of the build with checks.

All that is tested of the program is tested with checks. Here, run_tests.py names the shipping build in PLIMSOLL, and the one
with checks in PLIMSOLL_OTHER.
"""

from __future__ import annotations

import json
import os
import unittest
from pathlib import Path

from release import SCENARIOS, ReleaseCase, each

WARNING = "this build has the checks of the tests"


class Shipped(ReleaseCase):
    def setUp(self) -> None:
        super().setUp()
        if "PLIMSOLL_OTHER" not in os.environ:
            self.skipTest("data: no build with checks is named (--program)")
        self.checked = os.environ["PLIMSOLL_OTHER"]

    def assert_same_tables(self, *words: object) -> None:
        folders = []
        for name, program in (("shipped", self.plimsoll), ("checked", self.checked)):
            folder = self.directory / name
            self.ends(program, "run", *words, "--quiet", "--set", "expect=[]", "--out", folder)
            folders.append({path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))})
        shipped, checked = folders
        self.assertGreaterEqual(len(shipped), 6)
        self.assertEqual(shipped.keys(), checked.keys())
        self.assertEqual([name for name in shipped if shipped[name] != checked[name]], [], "these tables differ")

    def kind_and_warnings(self, program: str, out: Path) -> tuple[str, str]:
        said = self.ends(program, "run", SCENARIOS / "quickstart.yaml", "--backend", "accounting", "--out", out)
        manifest = json.loads((out / "manifest.json").read_text("utf-8"))
        return manifest["build"], said.stdout + said.stderr

    @each(("jemalloc", "accounting"))
    def test_both_builds_write_the_same_tables(self, backend: str) -> None:
        self.assert_same_tables(SCENARIOS / "quickstart.yaml", "--backend", backend)
        (self.directory / "shipped").rename(self.directory / "quickstart-shipped")
        (self.directory / "checked").rename(self.directory / "quickstart-checked")
        self.assert_same_tables(SCENARIOS / "evening-on-iphone.yaml", "--backend", backend)

    def test_both_builds_write_the_same_tables_of_random_worlds(self) -> None:
        self.script("same", self.plimsoll, self.checked, "--worlds", "21..40")

    def test_only_the_build_with_checks_warns_of_them(self) -> None:
        kind, said = self.kind_and_warnings(self.plimsoll, self.directory / "shipped")
        self.assertEqual(kind, "release")
        self.assertNotIn(WARNING, said)
        kind, said = self.kind_and_warnings(self.checked, self.directory / "checked")
        self.assertEqual(kind, "debug")
        self.assertIn(WARNING, said)

    def test_each_command_of_a_reader_works(self) -> None:
        quickstart, run = SCENARIOS / "quickstart.yaml", self.directory / "run"
        self.run_program("validate", quickstart)
        self.run_program("doctor", quickstart)
        self.run_program("list", "policies")
        self.run_program("schema", "scenario")
        self.run_program("run", quickstart, "--quiet", "--verify", "--out", run)
        self.assert_described(run)
        self.run_program("explain", run)


if __name__ == "__main__":
    unittest.main()
