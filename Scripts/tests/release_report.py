"""The report's page, with what the program explains."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

from release import SHIPPED, ReleaseCase, each, long
from test_report import data_of

from plimsoll_tools.plotting import kills
from plimsoll_tools.plotting.run_directory import read_run


class Report(ReleaseCase):
    def explained(self, run: Path, *options: object) -> dict[str, Any]:
        """The run as a page shows it, whose explanations all have their places."""
        out = self.directory / "page.html"
        self.script("report", run, "--out", out, *options)
        shown: dict[str, Any] = data_of(out)["runs"][0]
        blocks = shown["explained"]["blocks"]
        self.assertEqual(shown["explained"]["note"], "")
        self.assertNotIn(None, [block["kill"] for block in blocks])
        self.assertEqual(len({block["kill"] for block in blocks}), len(blocks))
        for block in blocks:
            self.assertTrue(block["short"])
            labels = [label for label, _ in block["facts"]]
            self.assertTrue(any(label.startswith(("What saves", "What would")) for label in labels), labels)
        return shown

    def test_what_the_program_explains_finds_its_places_on_the_page(self) -> None:
        shown = self.explained(self.run_of("quickstart"))
        # The user felt none of its ends: then the page explains the first few.
        self.assertEqual(dict(shown["summary"])["terminations_felt"], "0")
        self.assertEqual([block["kill"] for block in shown["explained"]["blocks"]], list(range(min(3, len(shown["kills"])))))
        self.assertTrue(all(held for _, held, _ in shown["expectations"]) and shown["expectations"])

    def test_the_first_page_of_a_short_run_explains_every_end_that_the_user_felt(self) -> None:
        self.assert_explains_felt_ends("editor-behind-a-game")

    @long
    def test_the_first_page_of_an_evening_explains_every_end_that_the_user_felt(self) -> None:
        self.assert_explains_felt_ends("evening-on-iphone")

    @long
    @each(SHIPPED)
    def test_a_page_of_each_scenario_explains_an_end(self, scenario: str) -> None:
        # To explain a run on real memory repeats it there; what is said is the same.
        run = self.run_of(scenario, "accounting")
        self.assertEqual(len(self.explained(run, "--explain", 1)["explained"]["blocks"]), min(1, len(kills.kills_of(read_run(run)))))

    def assert_explains_felt_ends(self, scenario: str) -> None:
        run = self.run_of(scenario, "accounting")
        # Asked for by name, it waits however busy the machine is.
        shown = self.explained(run, "--explain", "felt")
        table = kills.kills_of(read_run(run))
        felt = table.index[table["felt"] != ""].tolist()
        self.assertEqual(len(felt), int(dict(shown["summary"])["terminations_felt"]))
        self.assertGreater(len(felt), 0)
        self.assertEqual([block["kill"] for block in shown["explained"]["blocks"]], felt)


if __name__ == "__main__":
    unittest.main()
