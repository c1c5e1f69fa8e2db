"""The report's page, with what the release program explains."""

from __future__ import annotations

import unittest

from release import ReleaseCase
from test_report import data_of


class Report(ReleaseCase):
    def test_what_the_program_explains_finds_its_places_on_the_page(self) -> None:
        out = self.directory / "page.html"
        self.script("report", self.run_of("quickstart"), "--out", out)
        shown = data_of(out)["runs"][0]
        blocks = shown["explained"]["blocks"]
        # The scenario is of the kind that the policy alone ends apps in.
        self.assertEqual([block["kill"] for block in blocks], list(range(min(3, len(shown["kills"])))))
        for block in blocks:
            labels = [label for label, _ in block["facts"]]
            self.assertTrue(any(label.startswith(("What saves", "What would")) for label in labels), labels)
        self.assertEqual(shown["explained"]["note"], "")
        self.assertTrue(all(held for _, held, _ in shown["expectations"]) and shown["expectations"])


if __name__ == "__main__":
    unittest.main()
