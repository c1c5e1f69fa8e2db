"""The commands of the documentation's pages, run as a reader would, page by page, where no other test runs them."""

from __future__ import annotations

import os
import re
import unittest
from pathlib import Path

from release import KERNEL_REPORT, SCENARIOS, ReleaseCase, each, long

from plimsoll_tools.checkout import ROOT

PAGES = {path.stem: path.read_text("utf-8") for path in sorted(ROOT.glob("Sources/*/*.docc/*.md"))}
BEGINNING = r"(?:plimsoll |Scripts/|\.venv/|sweep\(\) \{)"
"""Of the first line of a block of commands."""

ELSEWHERE = {
    "FAQ": "Scripts/tests/release_init.py", "MyAppInCI": "Scripts/tests/release_checks.py", "Policies": "Scripts/tests/check_policies.py",
    "TutorialMyApp": "Tests/plimsollTests/TutorialMyAppTests.swift",
}  # fmt: skip
"""By page, the test that runs its commands."""

NOT_RUN = {
    "Scripts/sweep-on slurm": "it needs Slurm; .ci/run tries it on a real one",
    "Scripts/sweep-on dask": "it needs a scheduler; .ci/run tries it on a real one",
    "Scripts/bench": "it measures for minutes; test_measuring.py tries it on a small scale",
    "swift package benchmark": "it builds a package of its own for minutes",
    "Scripts/tests/run_tests.py": "this test is a part of it",
    "Scripts/tests/check_guesses.py": "it writes the page; Scripts/test runs it without --write",
    "Scripts/tune --scenarios Scenarios/training --held-out Scenarios/held-out --policy": "hours; the other commands of that page are alike, and shorter",
    "--guesses": "minutes; check_guesses.py asks the same",
}
"""Parts of commands that are left out, each with its reason."""

SHORTER = {
    "--seeds 1..200": "--seeds 1..2", "--seeds 1..20": "--seeds 1..2", "--seeds 1..10": "--seeds 1..2",
    "4..12:2": "4..6:2", "768MiB..1536MiB/4": "768MiB..1536MiB/2", "--trials 20": "--trials 2",
    "--seeds 1..3 --held-out-seeds 101..108": "--seeds 1..2 --held-out-seeds 101..105 --confirm accounting",
    "plimsoll report runs/evening": "plimsoll report runs/evening --explain 1",
}  # fmt: skip
"""What pages show in full and is cut short here."""

KERN_LOG = "printf '%s\\n' " + " ".join(f"'{line}'" for line in KERNEL_REPORT.splitlines()) + " > kern.log"
"""Makes a small report of a kernel."""

RUN = "plimsoll run Scenarios/quickstart.yaml --set 'expect=[]' --quiet"
GIVEN = {
    "Importing": [
        f"{RUN} --policy jetsam --seed 3 --set device.ceiling=300MiB --jetsam-events --out phone", "mv \"$(ls phone/jetsam-events/* | head -1)\" report.ips",
        "printf 'timestamp,user,app,event\\n100,ann,maps,opened\\n160,ann,maps,closed\\n170,ann,mail,opened\\n' > usage.csv",
        "printf '1: malloc 0x10 100\\n1: free 0x10\\n' > trace.txt",
        KERN_LOG,
    ],
    "WhyMine": [KERN_LOG],
    "PicturesOfARun": [*(f"{RUN} --seed {seed} --out runs/{name}" for seed, name in enumerate(("evening", "jetsam", "commute"), 1)),
                       "plimsoll compare Scenarios/seeded-commuter.yaml --policy ladder --policy jetsam --seeds 1..2 --out runs/compare --quiet"],
}  # fmt: skip
"""What a page takes for granted, by commands."""


def blocks(page: str) -> list[list[str]]:
    """The indented or fenced blocks of a page that begin with a command, as lines. Of a block with prompts only the lines
    behind these."""
    found: list[list[str]] = [[]]
    is_fenced = False
    for line in [*page.splitlines(), ""]:
        if line.startswith("```"):
            is_fenced = not is_fenced
            found.append([])
        elif is_fenced or line.startswith("    "):
            found[-1].append(line if is_fenced else line[4:])
        elif found[-1]:
            found.append([])
    with_prompts = [[line[2:] for line in block if line.startswith("$ ")] or block for block in found if block]
    return [block for block in with_prompts if re.match(BEGINNING, block[0].lstrip())]


def text_of(block: list[str]) -> str:
    """The block, each command in one line."""
    return re.sub(r"\\\n\s*", "", "\n".join(block))


def commands(name: str) -> list[str]:
    """The commands of a page as scripts, without those of NOT_RUN."""
    texts = [text_of(block) for block in blocks(PAGES[name])]
    kept = ("\n".join(line for line in text.splitlines() if not any(part in line for part in NOT_RUN)) for text in texts)
    return [text for text in kept if text.strip()]


def cheap(script: str) -> str:
    """The same on the backend without memory, and with few runs."""
    for words, fewer in SHORTER.items():
        script = script.replace(words, fewer)
    lines = []
    for line in script.splitlines():
        if "--backend" not in line:
            line = re.sub(r"plimsoll (run|compare|sweep)(?! merge)", r"plimsoll \1 --backend accounting", line)
        if "plimsoll survive" in line and "--seeds" not in line:
            line = line.replace("plimsoll survive", "plimsoll survive --seeds 1..2 --share-only")
        lines.append(re.sub(r"(?<![\w/])Scripts/", f"{ROOT}/Scripts/", line))
    return "\n".join(lines)


WITH_COMMANDS = [name for name in PAGES if name not in ELSEWHERE and commands(name)]


class Pages(ReleaseCase):
    def setUp(self) -> None:
        super().setUp()
        (self.directory / "Scenarios").symlink_to(SCENARIOS)
        (self.directory / "program").mkdir()
        (self.directory / "program" / "plimsoll").symlink_to(Path(self.plimsoll).resolve())
        os.environ["PATH"] = f"{self.directory / 'program'}{os.pathsep}{os.environ['PATH']}"

    @long
    @each(WITH_COMMANDS)
    def test_the_commands_of_a_page_end_well(self, name: str) -> None:
        policy = re.search(r"```yaml\n(plimsoll: 1\n.*?)```", PAGES["PolicyWithoutSwift"], re.DOTALL)
        assert policy
        (self.directory / "mine.yaml").write_text(policy.group(1), "utf-8")
        for script in [*GIVEN.get(name, ()), *commands(name)]:
            with self.subTest(script):
                self.ends("bash", "-e", "-o", "pipefail", "-c", cheap(script), folder=self.directory)

    def test_what_is_left_out_or_cut_short_is_on_a_page(self) -> None:
        scripts = "\n".join(text_of(block) for page in PAGES.values() for block in blocks(page))
        for part in (*NOT_RUN, *SHORTER):
            self.assertIn(part, scripts, "no page has it any more")
        for name, test in ELSEWHERE.items():
            self.assertTrue(blocks(PAGES[name]), name)
            self.assertIn(f"{name}.md", (ROOT / test).read_text("utf-8"), f"{test} no longer reads {name}")
        self.assertLessEqual(set(GIVEN), set(WITH_COMMANDS))


if __name__ == "__main__":
    unittest.main()
