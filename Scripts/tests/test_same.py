"""What Scripts/same says of two builds."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from unittest import mock

from harness import FolderCase

#: Writes six tables; the text of events.csv is an argument of the script's own.
RUN = """
while [ "$1" != --out ]; do shift; done
mkdir -p "$2"
for table in samples apps launches decisions summary; do printf 'time_s,a\\n1,x\\n' >"$2/$table.csv"; done
printf '%b' '{events}' >"$2/events.csv"
"""

#: Writes a world as soak does.
SOAK = """
while [ "$1" != --write ]; do shift; done
for seed in 7 8; do
    mkdir -p "$2/$seed"
    printf 'run\\n./world.yaml\\n--out\\nOUT\\n--quiet\\n--verify\\n--scale\\n50%%' >"$2/$seed/arguments.txt"
done
"""


class Same(FolderCase):
    def same(self, one: str, other: str, *options: str, status: int, later: tuple[str, str] = ("", "")) -> str:
        """What it prints of two builds with these events; a text of `later` is a build's terminations.csv."""
        builds = []
        for events, ends, name in zip((one, other), later, "ab"):
            more = f"printf '%b' '{ends}' >\"$2/terminations.csv\"\n" if ends else ""
            builds.append(self.program(RUN.format(events=events) + more, name))
        soak = self.program(SOAK, "soak")
        with mock.patch.dict(os.environ, {"SOAK": str(soak)}):
            result = self.call("same", *builds, *(options or ("--worlds", "7..8")))
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def test_builds_with_equal_tables_are_the_same(self) -> None:
        events = "time_s,event,detail\\n1,exit,a\\n"
        self.assertEqual(self.same(events, events, status=0), "2 of 2 runs are the same\n")

    def test_the_first_cell_that_differs_is_named_with_both_values(self) -> None:
        one, other = (f"time_s,event,detail\\n1,exit,a\\n2,exit,{detail}\\n" for detail in ("b", ""))
        text = self.same(one, other, status=1)
        self.assertIn("world 7:\n  events.csv, row 2, detail: b in A, nothing in B (time_s 2, event exit)", text)
        self.assertIn("0 of 2 runs are the same; 2 differ", text)

    def test_a_row_or_a_column_that_one_of_them_has_alone_is_named(self) -> None:
        text = self.same("time_s,event\\n1,exit\\n", "time_s,event\\n1,exit\\n2,exit\\n", status=1)
        self.assertIn("events.csv, row 2: B alone has it (time_s 2, event exit)", text)
        text = self.same("time_s,event\\n1,exit\\n", "time_s,event,why\\n1,exit,x\\n", status=1)
        self.assertIn("the column why is in B alone", text)

    def test_a_table_that_came_later_is_compared_if_both_builds_write_it(self) -> None:
        events, ends = "time_s,event\\n1,exit\\n", "time_s,app,idle_s\\n1,maps,7\\n"
        self.same(events, events, status=0, later=(ends, ""))
        self.same(events, events, status=0, later=(ends, ends))
        text = self.same(events, events, status=1, later=(ends, ends.replace("7", "8")))
        self.assertIn("terminations.csv, row 1, idle_s: 7 in A, 8 in B (time_s 1, app maps)", text)

    def test_a_column_may_be_left_out(self) -> None:
        one, other = ("time_s,event\\n1,exit\\n", "time_s,event,why\\n1,exit,x\\n")
        self.same(one, other, "--worlds", "7..8", "--besides", "why", status=0)

    def test_builds_that_end_otherwise_differ(self) -> None:
        good = self.program(RUN.format(events="time_s\\n1\\n"), "good")
        bad = self.program("echo 'at 3s: a claim' >&2\nexit 70\n", "bad")
        with mock.patch.dict(os.environ, {"SOAK": str(self.program(SOAK, "soak"))}):
            result = self.call("same", good, bad, "--worlds", "7")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("A: done\n  B: status 70: at 3s: a claim", result.stdout)

    def test_wrong_usage_is_64_and_what_is_no_build_66(self) -> None:
        good = self.program(RUN.format(events=""), "good")
        self.assertEqual(self.call("same", good).returncode, 64)
        self.assertEqual(self.call("same", good, good, "--worlds", "9..1").returncode, 64)
        self.assertEqual(self.call("same", good, Path("no-such-revision")).returncode, 66)


if __name__ == "__main__":
    unittest.main()
