"""The table of one evening under every policy: what ends were for, and the page that holds it."""

from __future__ import annotations

import unittest

import check_policies
from harness import FolderCase

from plimsoll_tools.plotting.run_directory import read_run

TERMINATIONS = """time_s,app,pid,exit_reason,cause,demand,need
1,a,1,memoryPressure,jettisoned,pressure,level
2,b,2,memoryPressure,jettisoned,allocation,allocation
2,i,9,memoryPressure,jettisoned,allocation,own_allocation
3,c,3,memoryPressure,jettisoned,nothing,
4,d,4,memoryPressure,jettisoned,background_memory,
5,e,5,memoryPressure,no_room,,own_allocation
6,f,6,appWatchdog,,,
7,g,7,memoryResourceLimit,per-process-limit,,own_limit
"""
PAGE = """# A page

| policy | of another table |
|---|---|

### One evening under every policy

Words.

| policy | ended |
|---|---|
| old | 1 |

More words.
"""


class Tables(FolderCase):
    def test_every_end_has_one_cause(self) -> None:
        (self.directory / "terminations.csv").write_text(TERMINATIONS, "utf-8")
        self.assertEqual(
            check_policies.causes(read_run(self.directory)),
            {"pressure": 1, "allocation": 2, "own look": 1, "no room": 1, "watchdog": 1, "limits": 2},
        )

    def test_the_table_takes_the_place_of_its_own_alone(self) -> None:
        made = check_policies.page_with("| policy | new |\n|---|---|", PAGE)
        self.assertEqual(made, PAGE.replace("| policy | ended |\n|---|---|\n| old | 1 |", "| policy | new |\n|---|---|"))
        self.assertEqual(check_policies.page_with("| policy | new |\n|---|---|", made), made)

    def test_a_policy_that_the_page_does_not_have_yet_is_told_apart(self) -> None:
        made = "| policy | ended |\n|---|---|\n| old | 2 |\n| new | 1 |"
        self.assertEqual(check_policies.missing_rows(made, PAGE), ["| new | 1 |"])

    def test_the_page_has_the_columns_of_today(self) -> None:
        titles = ["policy", *(title for title, _ in check_policies.COLUMNS), *check_policies.CAUSES]
        self.assertIn("| " + " | ".join(titles) + " |", check_policies.PAGE.read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
