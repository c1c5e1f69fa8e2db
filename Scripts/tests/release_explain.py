"""What the release program explains of two evenings: as before, as one document, and in short."""

from __future__ import annotations

import json
import math
import unittest
from pathlib import Path
from typing import Any

from release import ReleaseCase, each, long, part_of_long, rows

ROWS, COLUMNS = 15, 80


class Explain(ReleaseCase):
    def evening(self, scenario: str) -> Path:
        """A run of an evening under the rules of the fixture: a phone by name had no kernel's management of memory."""
        if scenario != "evening-on-iphone":
            return self.run_of(scenario, "accounting")
        return self.play(scenario, scenario, "--backend", "accounting", "--set", "device.kernel=none", "--set", "expect=[]")

    def explained(self, run: Path, *options: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.run_program("explain", run, "--format", "json", *options).stdout)
        return document

    @part_of_long
    def test_an_app_of_an_evening_on_a_phone_has_the_remedies_and_prices_of_before(self) -> None:
        self.check("explained", self.plimsoll, self.evening("evening-on-iphone"), "--app", "browser")

    @part_of_long
    def test_an_app_of_an_evening_commute_has_the_remedies_and_prices_of_before(self) -> None:
        self.check("explained", self.plimsoll, self.run_of("evening-commute", "accounting"), "--app", "notes")

    @long
    @each(("evening-on-iphone", "evening-commute"))
    def test_all_ends_of_an_evening_have_the_remedies_and_prices_of_before(self, scenario: str) -> None:
        self.check("explained", self.plimsoll, self.evening(scenario))

    @long
    def test_what_hangs_on_guesses_is_what_the_page_says_and_the_headline_holds_whatever_they_are(self) -> None:
        self.check("guesses", self.plimsoll, self.directory / "guesses", "headline")

    def test_one_document_holds_each_felt_end_to_the_microsecond(self) -> None:
        run = self.run_of("editor-behind-a-game", "accounting")
        document = self.explained(run, "--felt")
        felt = int(rows(run / "summary.csv")[0]["terminations_felt"])
        self.assertEqual(len(document["explanations"]), felt)
        self.assertGreater(felt, 0)
        ended = {int(row["pid"]): float(row["time_s"]) for row in rows(run / "events.csv") if row["event"] == "exit"}
        for end in document["explanations"]:
            self.assertTrue(end["was_foreground"] or end["was_perceived"], end["head"])
            # A process that the policy ends is gone at once, or as soon as it has answered.
            self.assertLessEqual(0, ended[end["pid"]] - end["at_s"] + 1e-7)
        self.assertEqual(document["warnings"], [])

    @each(("quickstart", "editor-behind-a-game", "evening-commute"))
    def test_at_eighty_columns_an_end_takes_fifteen_rows_and_all_lines_but_commands_fit(self, scenario: str) -> None:
        run = self.run_of(scenario, "accounting")
        for part in self.run_program("explain", run).stdout.split("\n\n"):
            lines = part.rstrip("\n").split("\n")
            self.assertLessEqual(sum(max(1, math.ceil(len(line) / COLUMNS)) for line in lines), ROWS, part)
        for line in self.run_program("explain", run, "--all", "--most", "1").stdout.splitlines():
            self.assertTrue(len(line) <= COLUMNS or line.lstrip().startswith("plimsoll run "), line)


if __name__ == "__main__":
    unittest.main()
