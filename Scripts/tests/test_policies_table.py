"""The table of one evening under every policy: what ends were for, and the page that holds it."""

from __future__ import annotations

import unittest

import check_policies
from harness import FolderCase

from plimsoll_tools.plotting.run_directory import read_run

EVENTS = """time_s,event,app,pid,scene,reason,state,level,action,exit_reason,cause,measure,threshold
1,exit,a,1,,idle longest,,,,memoryPressure,jettisoned,,
2,exit,b,2,,idle longest,,,,memoryPressure,jettisoned,,
3,exit,c,3,,idle longest,,,,memoryPressure,jettisoned,,
4,exit,d,4,,idle longest,,,,memoryPressure,jettisoned,,
5,exit,e,5,,nobody left to reclaim,,,,memoryPressure,no_room,free_bytes,4096
6,exit,f,6,,launch took longer than 20s,,,,appWatchdog,,,
7,exit,g,7,,above its limit,,,,memoryResourceLimit,per-process-limit,footprint_bytes,1024
8,exit,h,8,,swiped away,,,,userTerminated,,,
"""
DECISIONS = """time_s,decision,action,app,pid,rank,chosen,reason,demand
1,1,terminate,a,1,1,true,idle longest,pressure
2,2,terminate,b,2,1,true,idle longest,allocation
3,3,terminate,c,3,1,true,idle longest,nothing
4,4,terminate,d,4,1,true,idle longest,background_memory
4,4,,g,7,2,false,idle longest,background_memory
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
        (self.directory / "events.csv").write_text(EVENTS, "utf-8")
        (self.directory / "decisions.csv").write_text(DECISIONS, "utf-8")
        self.assertEqual(
            check_policies.causes(read_run(self.directory)),
            {"pressure": 1, "allocation": 1, "own look": 1, "no room": 1, "watchdog": 1, "limits": 2},
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
