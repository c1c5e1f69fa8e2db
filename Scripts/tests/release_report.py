"""The report's page, with what the program explains."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import pandas as pd
from release import SHIPPED, each, long
from release_terminal import TerminalCase
from synthetic_run import METRICS, NOT_DRAWN
from test_report import data_of

from plimsoll_tools.plotting import kills, metrics
from plimsoll_tools.plotting.run_directory import read_run

FELT = "evening-commute"
"""All its felt ends are explained, so one of them is, too."""
ON_TERMINAL = "headline"
"""Its page is made on a terminal."""


class Report(TerminalCase):
    def explained(self, run: Path, *options: object) -> dict[str, Any]:
        """The run as a page shows it, whose explanations all have their places."""
        out = self.directory / "page.html"
        self.script("report", run, "--out", out, *options)
        return self.explained_by(out)

    def explained_by(self, out: Path) -> dict[str, Any]:
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
        self.assertTrue(all(held for _, held, *_ in shown["expectations"]) and shown["expectations"])

    def test_a_run_says_what_made_up_runs_say_of_themselves_and_of_metrics(self) -> None:
        run = read_run(self.run_of("quickstart"))
        known = {one.name: one for one in run.metrics}
        for name, title, better, unit in METRICS:
            metric = known[name]
            self.assertEqual((metric.title, metric.better, metric.unit), (title, better, unit))
            self.assertEqual((metric.is_drawn, metric.leaves_out != ""), (name not in NOT_DRAWN, unit == "ms"), name)
        shown = [one.name for one in run.metrics if one.place]
        self.assertEqual([name for name in shown if name in {name for name, *_ in METRICS}], [name for name, *_ in METRICS])
        self.assertEqual(metrics.of_program(self.plimsoll), run.metrics)
        # Written from the plan, so that a killed run has them, too.
        made = run.manifest
        self.assertEqual((run.facts.scenario, run.facts.policy, run.facts.seed),
                         (made["scenario"], made["policy"], str(made["seed"])))  # fmt: skip
        self.assertEqual(list(run.facts.expectations), [one["expectation"] for one in made["expectations"]])
        self.assertEqual(run.facts.apps, tuple(pd.read_csv(run.directory / "app_summary.csv")["app"]))
        other = read_run(self.play("quickstart", "other", "--seed", 7, "--backend", "accounting", "--summary-only", "--set", "expect=[]"))
        self.assertNotEqual(other.facts.setup, run.facts.setup)
        again = read_run(self.play("quickstart", "again", "--seed", 8, "--backend", "accounting", "--summary-only", "--set", "expect=[]"))
        self.assertEqual((again.facts.setup, again.facts.seed), (other.facts.setup, "8"))

    def test_the_first_page_of_a_short_run_explains_every_end_that_the_user_felt(self) -> None:
        self.assert_explains_felt_ends("editor-behind-a-game")

    @long
    def test_the_first_page_of_an_evening_explains_every_end_that_the_user_felt(self) -> None:
        self.assert_explains_felt_ends(FELT)

    @long
    def test_the_page_of_the_headline_explains_its_end_and_is_never_silent_for_long_on_a_terminal(self) -> None:
        self.assert_speaks("report run --out page.html", "making the page")
        self.assertGreater(len(self.explained_by(self.directory / "page.html")["explained"]["blocks"]), 0)

    @long
    @each(tuple(name for name in SHIPPED if name not in (FELT, ON_TERMINAL)))
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
