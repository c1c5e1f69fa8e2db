"""The program as a check of continuous integration: JUnit XML as another program reads it, and the page about it."""

from __future__ import annotations

import re
import shlex
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import junitparser
import yaml
from release import UNMET, ReleaseCase, long

from plimsoll_tools.checkout import ROOT

PAGE = (ROOT / "Sources/plimsoll/plimsoll.docc/MyAppInCI.md").read_text("utf-8")

CLAIMS = """
expect:
  - launches_cold >= 1
  - terminations == 77
"""


def suite_of(path: Path) -> Any:
    """The one suite of a file, read by junitparser, whose counts are those of a reader that knows nothing of JUnit."""
    (suite,) = junitparser.JUnitXml.fromfile(str(path))
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    counts = (len(cases), sum(len(case.findall("failure")) for case in cases), sum(len(case.findall("skipped")) for case in cases))
    if (suite.tests, suite.failures, suite.skipped) != counts:
        raise AssertionError(f"{path}: the suite counts {suite.tests}, {suite.failures}, {suite.skipped}, not {counts}")
    return suite


def command_of(verb: str) -> list[str]:
    """The words of the page's command, without the program's name."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"    plimsoll {verb} "))
    return shlex.split(line)[1:]


class Checks(ReleaseCase):
    def test_every_expectation_is_a_case_with_its_place(self) -> None:
        text = (ROOT / "Scenarios/quickstart.yaml").read_text("utf-8").split("\nexpect:")[0] + CLAIMS
        scenario = self.directory / "claims.yaml"
        scenario.write_text(text, "utf-8")
        words = ("--backend", "accounting", "--quiet", "--github")
        said = self.run_program("run", "claims.yaml", *words, "--out", "a", "--junit", "a.xml",
                                status=UNMET, folder=self.directory).stderr  # fmt: skip
        suite = suite_of(self.directory / "a.xml")
        held, failed = list(suite)
        line = text.splitlines().index("  - terminations == 77") + 1
        self.assertEqual((suite.name, held.name, failed.name), ("quickstart", "launches_cold >= 1", "terminations == 77"))
        self.assertTrue(held.is_passed and failed.is_failure)
        message = failed.result[0].message
        self.assertIn(f"::error file=claims.yaml,line={line},title=quickstart::terminations == 77: {message}\n", said)
        self.run_program("run", "claims.yaml", *words, "--out", "b", "--junit", "b.xml", status=UNMET, folder=self.directory)
        self.assertEqual((self.directory / "a.xml").read_bytes(), (self.directory / "b.xml").read_bytes())

    def test_the_budget_of_the_page_is_a_case_that_too_few_runs_leave_undecided(self) -> None:
        words = [{"1..40": "1..2"}.get(word, word) for word in command_of("survive")]
        said = self.run_program(*words, "--quiet", folder=self.directory).stderr
        (case,) = suite_of(self.directory / "survive.xml")
        self.assertTrue(case.is_skipped, case.name)
        self.assertIn("survives in 90% of the runs on iphone-13", case.name)
        self.assertIn("::warning title=survive::photo-editor", said)

    def test_each_policy_and_metric_is_a_case(self) -> None:
        words = [{"1..20": "1..2", "mine.yaml": "jetsam"}.get(word, word) for word in command_of("compare")]
        words = [str(ROOT / word) if word.startswith("Scenarios/") else word for word in words]
        self.run_program(*words, "--quiet", folder=self.directory, status=(0, UNMET))
        names = [case.name for case in suite_of(self.directory / "compare.xml")]
        self.assertEqual(names, [f"jetsam is no worse than ladder on {metric}, seeded-commuter"
                                 for metric in ("terminations_felt", "launch_latency_p95_ms")])  # fmt: skip

    @long
    def test_the_page_shows_what_its_commands_print(self) -> None:
        held, failed = (line for line in PAGE.splitlines() if line.startswith("    plimsoll survive "))
        said = self.run_program(*shlex.split(held)[1:], folder=self.directory).stdout
        self.assertIn("".join(f"    {line}\n" for line in said.partition("\n\n")[0].splitlines()), PAGE)
        said = self.run_program(*shlex.split(failed)[1:], "--quiet", folder=self.directory, status=UNMET).stderr
        self.assertIn(f"    {said}", PAGE)

    def test_the_workflow_of_the_page_has_the_page_s_commands_and_its_lines_run_as_on_a_runner(self) -> None:
        workflow = yaml.safe_load(PAGE.split("```yaml\n")[1].split("```")[0])
        runs = [step["run"] for step in workflow["jobs"]["survive"]["steps"] if "run" in step]
        checks = [run for run in runs if "/plimsoll " in run]
        self.assertEqual([shlex.split(re.sub(r"^\S+/plimsoll ", "", run)) for run in checks], [command_of("survive"), command_of("run")])
        # On a runner the copy of Plimsoll is a folder beside the app's sources.
        program = self.directory / "plimsoll/.build/release/plimsoll"
        program.parent.mkdir(parents=True)
        program.symlink_to(Path(self.plimsoll).resolve())
        init = next(re.findall(r"`plimsoll (init my-app .*)`", line) for line in PAGE.splitlines() if "`plimsoll init my-app " in line)
        self.ends(program, *shlex.split(init[0]), folder=self.directory)
        claim = f"::error file=my-app.yaml,line={(self.directory / 'my-app.yaml').read_text('utf-8').splitlines().index('expect: [mine survives]') + 1},"
        self.assertIn(claim, PAGE)
        for run in checks:
            self.ends("bash", "-e", "-o", "pipefail", "-c", run.replace("1..40", "1..2"), folder=self.directory)
        self.assertEqual(len(list(self.directory.glob("*.xml"))), len(checks))
        # The others install and build; here they are only read.
        for run in runs:
            self.ends("bash", "-n", "-c", run)
            for word in shlex.split(run):
                if word.startswith("plimsoll/Scripts/"):
                    self.assertTrue((ROOT / word.removeprefix("plimsoll/")).exists(), word)


if __name__ == "__main__":
    unittest.main()
