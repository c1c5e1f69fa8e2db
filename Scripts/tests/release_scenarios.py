"""The scenarios and policies that ship, held against the program and its schema."""

from __future__ import annotations

import unittest

from release import SCENARIOS, ReleaseCase, early

from plimsoll_tools.checkout import ROOT

INVALID = 65
"""The exit status for a scenario or a policy that is not valid."""
USAGE = 64
"""The exit status for a wrong command line."""

FILES = sorted(path for folder in (".", "training", "held-out") for path in (SCENARIOS / folder).glob("*.yaml"))
INVALID_FILES = sorted((SCENARIOS / "Invalid").glob("*.yaml"))
POLICIES = sorted((SCENARIOS / "policies").glob("*.yaml"))
PAGES = ROOT / "Sources/plimsoll/plimsoll.docc"
QUICKSTART = SCENARIOS / "quickstart.yaml"


class Scenarios(ReleaseCase):
    def test_every_scenario_that_ships_is_valid(self) -> None:
        self.assertNotEqual(FILES, [])
        self.assertEqual(self.run_program("validate", *FILES).stderr, "", "and none draws a warning")

    def test_every_policy_that_ships_is_valid(self) -> None:
        self.assertNotEqual(POLICIES, [])
        for policy in POLICIES:
            with self.subTest(policy.name):
                self.run_program("validate", QUICKSTART, "--policy", policy)

    def test_a_setting_can_be_checked_without_a_run(self) -> None:
        said = self.run_program("validate", QUICKSTART, "--set", "device.ceiling=1GiB", "--set", "name=other").stdout
        self.assertIn(": valid (", said)
        wrong = self.run_program("validate", QUICKSTART, "--set", "device.ceiling=4", status=INVALID)
        self.assertIn("--set device.ceiling=4: error: device.ceiling: expected a size", wrong.stderr)

    def test_a_folder_stands_for_the_scenarios_in_it(self) -> None:
        folder = self.directory / "two"
        folder.mkdir()
        for name in ("burst", "quickstart"):
            (folder / f"{name}.yaml").write_bytes((SCENARIOS / f"{name}.yaml").read_bytes())
        words = ("--policy", "lru", "--seeds", "1", "--backend", "accounting", "--dry-run")
        both = self.run_program("compare", folder, *words).stdout
        self.assertIn("8 runs: 2 scenarios x 4 policies", both)
        self.assertEqual(both, self.run_program("compare", *sorted(folder.iterdir()), *words).stdout)
        (folder / "burst.yaml").unlink()
        (folder / "quickstart.yaml").rename(folder / "notes.txt")
        empty = self.run_program("compare", folder, *words, status=USAGE)
        self.assertIn("is a folder without scenario files (*.yaml)", empty.stderr)

    def test_an_editor_that_knows_the_schema_accepts_every_scenario_and_policy_that_ships(self) -> None:
        for kind, files in (("scenario", FILES), ("policy", POLICIES)):
            schema = self.run_program("schema", kind).stdout
            invalid = ["--invalid", *INVALID_FILES] if kind == "scenario" else []
            self.check("schema", *files, *invalid, given=schema)

    def test_the_line_that_names_the_schema_to_editors_is_a_comment_to_the_program(self) -> None:
        page = (PAGES / "ScenarioFile.md").read_text("utf-8")
        self.assertIn("plimsoll schema scenario > plimsoll.schema.json", page)
        self.assertIn("# yaml-language-server: $schema=plimsoll.schema.json\n", page)
        quickstart = QUICKSTART.read_text("utf-8")
        marked = self.directory / "marked.yaml"
        marked.write_text(f"# yaml-language-server: $schema=plimsoll.schema.json\n{quickstart}", "utf-8")
        self.run_program("validate", marked)

    def test_the_schema_and_the_program_accept_the_same_scenarios(self) -> None:
        self.check("verdicts", self.plimsoll)

    def test_every_invalid_scenario_and_policy_is_refused_as_invalid_and_for_no_other_reason(self) -> None:
        scenarios, policies = (sorted((SCENARIOS / folder).glob("*.yaml")) for folder in ("Invalid", "Invalid/policies"))
        self.assertTrue(scenarios and policies)
        for file in [*scenarios, *policies]:
            with self.subTest(str(file.relative_to(SCENARIOS))):
                words = [file] if file in scenarios else [QUICKSTART, "--policy", file]
                self.run_program("validate", *words, status=INVALID)

    @early
    def test_the_figures_in_the_comments_of_scenarios_are_those_of_their_runs(self) -> None:
        self.check("comments", self.plimsoll, self.directory / "comments")


if __name__ == "__main__":
    unittest.main()
