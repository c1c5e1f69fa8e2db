"""What the readers of tables make of folders in their place, and of names that hide something."""

from __future__ import annotations

import os
import shutil
import unittest
from unittest import mock

from harness import FAKE, SCRIPTS, FolderCase, call_main, load_main
from synthetic_run import write_run

TABLES = ("samples", "apps", "events", "launches", "decisions", "summary", "terminations")


class Readers(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.run_folder = self.directory / "run"
        write_run(self.run_folder, apps=2, minutes=0.5)

    def said(self, script: str, *arguments: object) -> tuple[int, str]:
        """Exit status and stderr; what the command does not catch is an error of the test."""
        with mock.patch.dict(os.environ, {"PLIMSOLL": "/bin/false"}):
            status, _, said = call_main(load_main(script), *arguments)
        return status, said

    def test_a_folder_in_place_of_a_table_is_a_line_and_the_rest_is_drawn(self) -> None:
        for name in (*TABLES, "manifest.json", "scenario.yaml", "datapackage.json"):
            copy = self.directory / f"without-{name}"
            shutil.copytree(self.run_folder, copy)
            file = copy / (name if "." in name else f"{name}.csv")
            file.unlink(missing_ok=True)
            file.mkdir()
            for script, *words in (("plotting", "--format", "png"), ("reporting",)):
                status, said = self.said(script, copy, *words)
                self.assertEqual(status, 0, said)
                if name in TABLES:
                    self.assertIn(f"{name}.csv cannot be read and is left out: it is a folder\n", said)

    def test_a_folder_in_place_of_an_experiments_table_is_66_and_a_line(self) -> None:
        for name in ("comparison.csv", "sweep.csv"):
            folder = self.directory / name.removesuffix(".csv")
            (folder / name).mkdir(parents=True)
            status, said = self.said("plotting", folder)
            self.assertEqual((status, said.count("\n")), (66, 1), said)
            self.assertTrue(said.endswith(f"{name} cannot be read: it is a folder\n"), said)
            (folder / name).rmdir()
            (folder / name).touch()
            status, said = self.said("plotting", folder)
            self.assertEqual((status, said.count("\n")), (66, 1), said)

    def test_a_folder_in_place_of_what_tuning_reads_is_a_line(self) -> None:
        folder = self.directory / "scenario.yaml"
        folder.mkdir()
        program = self.program(FAKE)
        for scenario, policy in ((folder, "lru"), (SCRIPTS.parent / "Scenarios" / "quickstart.yaml", folder)):
            result = self.call("tuning", scenario, "--policy", policy, "--out", "t", "--trials", 2, plimsoll=program)
            self.assertNotIn("Traceback", result.stderr)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (66, 1), result.stderr)

    def test_hidden_characters_are_spelt_out_in_the_page_and_in_messages(self) -> None:
        hidden = "\u202e\u200b\u2066\x1b"
        events = self.run_folder / "events.csv"
        events.write_text(events.read_text("utf-8").replace("app", f"a{hidden}p"), "utf-8")
        (self.run_folder / "scenario.yaml").write_text(f"name: x\ndescription: {hidden}\n", "utf-8")
        self.assertEqual(self.said("reporting", self.run_folder)[0], 0)
        page = (self.run_folder / "report.html").read_text("utf-8")
        for letter in hidden:
            self.assertNotIn(letter, page)
            self.assertNotIn(f"\\u{ord(letter):04x}", page)
        self.assertIn("u{202E}", page)
        result = self.call("plotting", self.directory / f"no{hidden}")
        self.assertEqual(result.returncode, 66)
        self.assertIn("no\\u{202E}\\u{200B}\\u{2066}", result.stderr)

    def test_a_name_that_is_not_utf_8_is_kept(self) -> None:
        out = os.fsdecode(os.fsencode(self.directory) + b"/page\xff.html")
        result = self.call("reporting", self.run_folder, "--out", out, encoded="surrogateescape")
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", f"{out}\n"))
        self.assertTrue(os.path.isfile(out))


if __name__ == "__main__":
    unittest.main()
