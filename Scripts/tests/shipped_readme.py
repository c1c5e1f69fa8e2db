"""README's commands, run one after the other as a reader would, in a folder that has the scenarios."""

from __future__ import annotations

import os
import re
import shlex
import unittest
from pathlib import Path

from release import KERNEL_REPORT
from release_terminal import TerminalCase

from plimsoll_tools import session
from plimsoll_tools.checkout import ROOT

README = (ROOT / "README.md").read_text("utf-8")
PICTURE = (ROOT / "Sources/plimsoll/plimsoll.docc/session.svg").read_text("utf-8")
NOT_RUN = {
    "Scripts/test": "this test is a part of it",
    "plimsoll explain runs/headline --guesses": "release_explain.py plays all its runs",
    "Scripts/package": "Scripts/test --package runs it",
    "Scripts/sweep-on slurm": "it needs Slurm; .ci/run tries it on a real one",
    "docker run": "README says that it is not tried",
}
SHORTER = {
    "--seeds 1..20": "--seeds 1..3",
    "--seeds 1..5": "--seeds 1..2",
    "--day gaming": "--day gaming --seeds 1..2",
    "report runs/headline": "report runs/headline --explain 1",
    "--trials 40": "--trials 4 --seeds 1..2 --held-out-seeds 101..105 --confirm accounting",
    "Scripts/run Scenarios/headline.yaml": "Scripts/run Scenarios/headline.yaml --backend accounting",
}
"""What README shows in full and is cut short here. Other tests run the scenario on real memory, and confirm a tuned policy
there."""


def commands() -> list[str]:
    """Every command of the page, in its order, without its comment: lines of their own, and words within a text."""
    found = []
    for line in README.splitlines():
        if line.startswith("    "):
            found += re.findall(r"^    (?:\$ )?((?:Scripts/|plimsoll )[^#]*)", line)
        else:
            found += re.findall(r"`((?:Scripts/|plimsoll |docker run )[^`]*)`", line)
    return [command.strip() for command in found]


def shortened(command: str) -> str:
    for words, fewer in SHORTER.items():
        command = command.replace(words, fewer)
    return command


def quoted(first: str) -> list[str]:
    """The indented lines of README from the one that begins so on."""
    lines = README.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"    {first}"))
    found = []
    for line in lines[start:]:
        if not line.startswith("    "):
            break
        found.append(line[4:])
    return found


class Readme(TerminalCase):
    def setUp(self) -> None:
        super().setUp()
        self.with_scenarios()
        (self.directory / "program").mkdir()
        (self.directory / "program" / "plimsoll").symlink_to(self.plimsoll)
        os.environ["PATH"] = f"{self.directory / 'program'}{os.pathsep}{os.environ['PATH']}"

    def test_every_command_of_the_readme_runs(self) -> None:
        run = self.run_of("evening-commute", "accounting")
        # Any report will do: this one is of a run.
        self.run_program("run", run / "scenario.yaml", "--set", "expect=[]", "--backend", "accounting", "--quiet", "--jetsam-events",
                         "--out", self.directory / "phone")  # fmt: skip
        next((self.directory / "phone" / "jetsam-events").iterdir()).rename(self.directory / "report.ips")
        (self.directory / "kern.log").write_text(KERNEL_REPORT, "utf-8")
        tried = 0
        for command in dict.fromkeys(commands()):
            if command == "Scripts/run" or any(command.startswith(start) for start in NOT_RUN):
                continue
            with self.subTest(command):
                words = shlex.split(shortened(command))
                if words[0].startswith("Scripts/"):
                    words[0] = str(ROOT / words[0])
                self.ends(*words, folder=self.directory)
            tried += 1
        self.assertGreaterEqual(tried, 12)
        for part in (*NOT_RUN, *SHORTER):
            self.assertIn(part, " ".join(commands()), "README has it no more")

    def test_the_run_that_it_quotes_says_so(self) -> None:
        run = ["run", "Scenarios/headline.yaml", "--backend", "accounting", "--out", "runs/headline"]
        said = self.ends("plimsoll", *run, "--report-follows", folder=self.directory).stdout.splitlines()
        # The first line has the duration, and the last one is that of Scripts/run.
        self.assertEqual(said[1:], quoted("headline on an iPhone 13")[1:-1])

    def test_the_explanation_that_it_quotes_is_what_a_person_gets_who_is_never_left_in_silence_for_long(self) -> None:
        why = self.directory / "why.txt"
        says = r"of at most \d+ changes? tried|repeating the run: \d+:\d\d of "
        self.assert_speaks("explain run --app editor --most 1", says, stdout=why)
        self.assertEqual(why.read_text("utf-8").rstrip("\n").splitlines(), quoted("editor was ended"))

    def test_the_recorded_session_is_what_the_program_says(self) -> None:
        screen = session.recorded(session.SESSION, Path(self.plimsoll), ("--backend", "accounting"))
        self.assertEqual(session.texts(PICTURE), session.texts(session.drawn(screen, "")), "record it anew: plimsoll_tools/session.py")

    def test_the_scenario_of_the_readme_holds_what_it_expects(self) -> None:
        text = README.split("```yaml\n")[1].split("```")[0]
        (self.directory / "two-apps.yaml").write_text(text, "utf-8")
        self.run_program("run", "two-apps.yaml", "--quiet", folder=self.directory)


if __name__ == "__main__":
    unittest.main()
