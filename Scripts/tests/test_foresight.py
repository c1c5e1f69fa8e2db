"""When `foresight` counts as beaten: not by a policy that is lucky at one seed."""

from __future__ import annotations

import unittest

import check_foresight


def rows(policy: str, *felt: int, scenario: str = "day") -> list[dict[str, str]]:
    return [
        {"scenario": scenario, "policy": policy, "policy_label": "", "seed": str(seed), "terminations_felt": str(count)}
        for seed, count in enumerate(felt)
    ]


class Beaten(unittest.TestCase):
    def test_luck_at_one_seed_is_none_however_great(self) -> None:
        self.assertEqual(check_foresight.faults(rows("foresight", 5, 5, 5) + rows("lucky", 0, 5, 5)), [])
        self.assertEqual(check_foresight.faults(rows("foresight", 5, 5, 5) + rows("lucky", 0, 6, 6)), [])

    def test_who_is_better_at_most_seeds_beats_it_in_that_scenario_and_on_the_whole(self) -> None:
        found = check_foresight.faults(rows("foresight", 5, 5, 5) + rows("better", 4, 4, 5))
        self.assertEqual(len(found), 2)
        self.assertTrue(found[1].startswith("day: better (13 felt) beats foresight (15)"))

    def test_better_in_one_scenario_alone_is_not_better_on_the_whole(self) -> None:
        known = rows("foresight", 5, 5, 5) + rows("foresight", 5, 5, 5, scenario="night")
        found = check_foresight.faults(known + rows("odd", 4, 4, 4) + rows("odd", 9, 9, 9, scenario="night"))
        self.assertEqual([fault.split(":")[0] for fault in found], ["day"])

    def test_the_bounds_and_in_one_scenario_the_ladder_may_be_better(self) -> None:
        known = rows("foresight", 5, 5, 5) + rows("foresight", 5, 5, 5, scenario="night")
        better = rows("ladder", 4, 4, 4) + rows("ladder", 9, 9, 9, scenario="night") + rows("none", 0, 0, 0)
        self.assertEqual(check_foresight.faults(known + better + rows("none", 0, 0, 0, scenario="night")), [])


if __name__ == "__main__":
    unittest.main()
