"""What a person who waits at a terminal sees: each command that takes long says something at least once a second."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import sys
import time
import unittest
from pathlib import Path

from release import SCENARIOS, UNMET, ReleaseCase, each, long

from plimsoll_tools.session import on_terminal

COMMUTER = "Scenarios/seeded-commuter.yaml"

COMMANDS = {
    "run Scenarios/headline.yaml --out made": r"\d+%  \d+:\d\d of 15:00 ",
    "plot run": r"drawing: \d of \d pictures",
    f"compare {COMMUTER} --policy ladder --policy jetsam --seeds 1..3 --backend accounting --out c": r"\d+ of \d+ runs",
    f"sweep {COMMUTER} --vary device.ceiling=768MiB..1536MiB/2 --seeds 1..2 --backend accounting --out s": r"\d+ of \d+ runs",
    "survive --like photo-editor --footprint 300MiB --device iphone-13 --day gaming --seeds 1..2 --out v": r"\d+ of \d+ runs",
    f"tune {COMMUTER} --policy jetsam --trials 3 --seeds 1..2 --held-out-seeds 101..105 --confirm accounting": r"\d of \d+ done",
}
"""Each with what its line must say. A counter has a total. release_report.py has the report, shipped_readme.py an explanation."""

MOST_S = 2.5
"""The longest silence: half a second between two beats of a line, a second for what comes before the first line, or holds
a beat up, and another second for the build with the tests' checks, which takes twice as long as what people run."""


def cpu_s(session: int) -> float:
    """What the processes of a session have computed so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Silence:
    """The longest time in which a command says nothing. On a machine that is busy with other things, what the command itself
    computes meanwhile counts, if that is less."""

    def __init__(self) -> None:
        self.began_s = self.last_s = time.monotonic()
        self.before_s, self.last_cpu_s = children_s(), 0.0
        self.longest_s, self.place = 0.0, ""
        self.text = ""

    def hear(self, process: int, part: bytes) -> None:
        self.note(cpu_s(process))
        self.text += part.decode("utf-8", "replace")

    def end(self) -> None:
        self.note(children_s() - self.before_s)

    def note(self, cpu: float) -> None:
        now = time.monotonic()
        silent = min(now - self.last_s, cpu - self.last_cpu_s)
        if silent > self.longest_s:
            after = re.split(r"[\r\n]", self.text.rstrip())[-1][-90:]
            self.longest_s, self.place = silent, f"{now - self.began_s:.1f} s after the beginning, after {after!r}"
        self.last_s, self.last_cpu_s = now, cpu


class TerminalCase(ReleaseCase):
    """A test of a command on a terminal."""

    def with_scenarios(self) -> None:
        """The test's folder has the scenarios, as the checkout's has."""
        scenarios = self.directory / "Scenarios"
        if not scenarios.is_symlink():
            scenarios.symlink_to(SCENARIOS)

    def assert_speaks(self, command: str, says: str, stdout: Path | None = None) -> None:
        """The command says this, and is never silent for long. `run` is a run of the headline. A file may take stdout."""
        self.with_scenarios()
        if " run " in f" {command.partition(' ')[2]} ":
            shutil.copytree(self.run_of("headline", "accounting"), self.directory / "run")
        environment = {**os.environ, "TERM": "xterm", "PLIMSOLL_PYTHON": sys.executable}
        environment.pop("PLIMSOLL_SHARED", None)
        silence = Silence()
        words = [self.plimsoll, *shlex.split(command)]
        if stdout:
            words = ["sh", "-c", 'exec "$@" > "$0"', str(stdout), *words]
        status = on_terminal(words, silence.hear, folder=self.directory, environment=environment)
        silence.end()
        self.assertIn(status, (0, UNMET), silence.text)
        print(f"{command.partition(' ')[0]}: silent for {silence.longest_s:.2f} s at most, {silence.place}")
        self.assertRegex(silence.text, says)
        self.assertLess(silence.longest_s, MOST_S, silence.place)


class Waiting(TerminalCase):
    @long
    @each(tuple(COMMANDS))
    def test_a_command_is_never_silent_for_long_on_a_terminal(self, command: str) -> None:
        self.assert_speaks(command, COMMANDS[command])


if __name__ == "__main__":
    unittest.main()
