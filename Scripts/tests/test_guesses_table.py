"""The page of guesses: what it says of a scenario, and the marks between which it says that."""

from __future__ import annotations

import unittest

import check_guesses

DOCUMENT: check_guesses.Document = {
    "format": 1, "scenario": "runs/a/scenario.yaml", "runs": 9,
    "guesses": [
        {"title": "hot share", "key": "apps.*.memory.hot", "source": "20 to 60 %: no source", "values": [
            {"text": "20%", "is_own": False, "ends": 4, "felt": 1, "expectations_held": 2},
            {"text": "40%", "is_own": True, "ends": 3, "felt": 1, "expectations_held": 2},
            {"text": "60%", "is_own": False, "ends": 7, "felt": 2, "expectations_held": 1}]},
        {"title": "wired memory", "key": "device.reserved", "source": "30 % less to 30 % more: no source", "values": [
            {"text": "-15%", "is_own": False, "ends": 3, "felt": 1, "expectations_held": 2},
            {"text": "0%", "is_own": True, "ends": 3, "felt": 1, "expectations_held": 2}]},
    ],
    "draws": [
        {"values": ["20%", "0%"], "ends": 4, "felt": 1, "expectations_held": 2},
        {"values": ["40%", "0%"], "ends": 3, "felt": 1, "expectations_held": 2},
        {"values": ["60%", "-15%"], "ends": 9, "felt": 2, "expectations_held": 1},
        {"values": ["60%", "0%"], "ends": 7, "felt": 2, "expectations_held": 1}],
    "expectations": [
        {"text": "terminations_foreground == 0", "held": 9, "is_own": True, "unless": []},
        {"text": "music survives", "held": 6, "is_own": True, "unless": [{"title": "hot share", "text": "60%"}]}],
    "ends": [
        {"app": "mail", "reason": "long-idle-exit", "times": 9, "is_own": True, "unless": []},
        {"app": "feed", "reason": "long-idle-exit", "times": 9, "is_own": True, "unless": []},
        {"app": "shop", "reason": "long-idle-exit", "times": 7, "is_own": True,
         "unless": [{"title": "hot share", "text": "20%"}, {"title": "wired memory", "text": "-15%"},
                    {"title": "hot share", "text": "60%"}]},
        {"app": "maps", "reason": "vm-pageshortage", "times": 8, "is_own": True, "unless": []},
        {"app": "music", "reason": "vm-pageshortage", "times": 3, "is_own": False, "unless": []}],
}  # fmt: skip

SECTION = """### headline

| guess | values | ends (felt) | expectations held, of 2 |
|---|---|---|---|
| hot share | 20% · **40%** · 60% | 4 (1) · **3 (1)** · 7 (2) | 2 · **2** · 1 |
| wired memory | -15% · **0%** | 3 (1) at each | 2 at each |

4 draws of all guesses: 3 to 9 ends, with a median of 5.5. All 2 expectations hold in 2 of them.

True in all 9 runs:

- `terminations_foreground == 0`
- ends by `long-idle-exit`: mail, feed

Not true in all of them:

- `music survives`: in 6 of 9 runs; not with hot share 60%
- shop ends (`long-idle-exit`): in 7 of 9 runs; not with hot share 20%, 60%; wired memory -15%
- maps ends (`vm-pageshortage`): in 8 of 9 runs; no guess alone changes it
- ends that the run as it is does not have, with the number of runs, by `vm-pageshortage`: music (3)"""

PAGE = f"""# A page

| guess | key | range | source |
|---|---|---|---|
| hot share | `apps.*.memory.hot` | 20 to 60 % | no source |

{check_guesses.BEGIN}
old
{check_guesses.END}

[Survive]: doc:Survive
"""


class Page(unittest.TestCase):
    def test_a_scenario_has_its_table_its_draws_and_what_is_true_in_every_run(self) -> None:
        self.assertEqual(check_guesses.section("headline", DOCUMENT), SECTION)

    def test_where_nothing_is_true_or_everything_is_the_list_says_so(self) -> None:
        bare = {**DOCUMENT, "expectations": [], "ends": []}
        self.assertEqual(check_guesses.statements(bare), (["nothing"], ["nothing"]))

    def test_what_the_run_as_it_is_does_not_have_is_not_said_to_change_with_a_guess(self) -> None:
        broken = {"text": "music survives", "held": 6, "is_own": False, "unless": []}
        said = check_guesses.statements({**DOCUMENT, "expectations": [broken], "ends": []})[1]
        self.assertEqual(said, ["`music survives`: in 6 of 9 runs; not in the run as it is"])

    def test_only_what_is_between_the_marks_is_replaced(self) -> None:
        made = check_guesses.page_with("new", PAGE)
        self.assertEqual(made, PAGE.replace("\nold\n", "\n\nnew\n\n"))
        self.assertEqual(check_guesses.page_with("new", made), made)

    def test_a_guess_without_a_row_an_expectation_that_breaks_and_another_table_are_faults(self) -> None:
        page = check_guesses.page_with(check_guesses.section("frozen-night", DOCUMENT), PAGE)
        row = "Guesses.md lacks the row of a guess: | wired memory | `device.reserved` | 30 % less to 30 % more | no source |"
        self.assertEqual(check_guesses.faults({"frozen-night": DOCUMENT}, page), [row])
        found = check_guesses.faults({"headline": DOCUMENT}, PAGE)
        self.assertEqual(found[:2], ["headline: `music survives` holds in 6 of 9 runs", row])
        self.assertEqual(len(found), 3)
        self.assertIn("--write puts this there", found[2])

    def test_the_page_has_every_scenario(self) -> None:
        page = check_guesses.PAGE.read_text("utf-8")
        marked = page.split(f"{check_guesses.BEGIN}\n")[1].split(f"{check_guesses.END}\n")[0]
        for scenario in check_guesses.SCENARIOS:
            self.assertIn(f"### {scenario}\n", marked)


if __name__ == "__main__":
    unittest.main()
