"""What the program's policies promise, what `explain` says of them, and what Scripts/tune makes of one."""

from __future__ import annotations

import unittest
from pathlib import Path

from harness import SCRIPTS
from release import SCENARIOS, ReleaseCase, each, early, long

from plimsoll_tools.tuning.problem import tree_of

UNNAMED = sorted(path for path in (SCENARIOS / "training").glob("*.yaml") if "like" not in tree_of(path)["device"])
"""The training scenarios on devices without a name: their runs are the cheaper ones."""
RIVALS = ("ladder", "lru", "largest-first", "earlyoom", "cheapest-relaunch")


class Policies(ReleaseCase):
    @early
    def test_one_evening_under_every_policy_is_what_the_page_says_and_the_yardsticks_promise(self) -> None:
        self.check("policies", self.plimsoll, self.directory / "evening")

    @early
    def test_foresight_is_beaten_by_no_policy_that_ends_whole_processes(self) -> None:
        out = self.directory / "felt"
        self.run_program("compare", *UNNAMED,
                         *(word for policy in RIVALS for word in ("--policy", policy)), "--seeds", "1..3",
                         "--backend", "accounting", "--metric", "terminations_felt", "--quiet", "--out", out)  # fmt: skip
        self.check("foresight", out / "runs.csv")

    @early
    @each(("ladder", "jetsam"))
    def test_what_explain_names_does_save_the_app_where_limits_end_most_apps_too(self, policy: str) -> None:
        run = self.play("evening-commute", "limited", "--backend", "accounting", "--policy", policy, "--set", "expect=[]")
        self.check("explain", self.plimsoll, run, self.directory / "explained")

    @long
    def test_what_explain_names_of_ends_drawn_at_random_does_save_at_that_price(self) -> None:
        self.check("explain", self.plimsoll, "--kills", 12, "--seed", 1, *UNNAMED,
                   self.directory / "kills")  # fmt: skip

    @early
    def test_a_tuned_policy_runs_and_the_same_search_writes_the_same_files(self) -> None:
        first, second = self.directory / "tuned", self.directory / "tuned-again"
        for out in (first, second):
            self.script("tune", SCENARIOS / "quickstart.yaml", "--policy", "ladder", "--trials", 4, "--seeds", "1..2",
                        "--held-out-seeds", "11..15", "--out", out)  # fmt: skip
        for table in ("trials.csv", "verdict.csv"):
            self.assertEqual((first / table).read_bytes(), (second / table).read_bytes(), f"{table} differs")
        # What the quickstart's user does is written down, and no seed changes what is tuned for.
        report = (first / "report.md").read_text("utf-8")
        self.assertIn("identical under every seed: nothing was held out", report)
        # What the scenario expects is about its own policy.
        self.play("quickstart", "run", "--policy", first / "policy.yaml", "--set", "expect=[]")

    def test_a_policy_of_another_package_is_tuned_by_the_program_of_that_package(self) -> None:
        own, out = Path(self.plimsoll).with_name("my-policy"), self.directory / "own"
        self.ends("env", f"PLIMSOLL={own}", SCRIPTS / "tune", SCENARIOS / "quickstart.yaml", "--policy", "largest-asleep",
                  "--trials", 2, "--seeds", "1", "--held-out-seeds", "11..15", "--confirm", "accounting",
                  "--out", out)  # fmt: skip
        self.assertIn("largest-asleep", (out / "policy.yaml").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
