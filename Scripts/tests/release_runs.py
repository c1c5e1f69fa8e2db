"""What the program's runs leave behind: the same bytes each time, as described, readable and drawable."""

from __future__ import annotations

import shutil
import unittest
from pathlib import Path

from harness import SCRIPTS
from release import OTHERS, SHIPPED, UNMET, ReleaseCase, each

THOROUGHLY = ("quickstart", "evening-commute", "evening-on-iphone")
"""These are looked at in every way."""

FEWEST_TABLES = 6
PICTURES = ("story", "memory", "pressure", "states", "launches", "terminations")
LARGEST_PAGE = 8_000_000


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


class Runs(ReleaseCase):
    @each(THOROUGHLY)
    def test_the_same_run_twice_writes_the_same_bytes_and_another_seed_writes_others(self, scenario: str) -> None:
        first, second = tables(self.run_of(scenario)), tables(self.play(scenario, "again"))
        self.assertGreaterEqual(len(first), FEWEST_TABLES)
        self.assertEqual(first.keys(), second.keys())
        self.assertEqual([name for name in first if first[name] != second[name]], [], "these tables differ")
        # What the seed decides is the same on either backend. The scenario's expectations are written for its own seed: with
        # another, 99 is as good as 0.
        own = tables(self.run_of(scenario, "accounting"))
        other = tables(self.play(scenario, "another", "--backend", "accounting", "--seed", 8154711, status=(0, UNMET)))
        differ = [name for name in own if own[name] != other.get(name) and name != "summary.csv"]
        self.assertNotEqual(differ, [], "another seed changed nothing but the summary, which names the seed")
        print(f"{len(first)} tables are the same twice; another seed changes {', '.join(differ)}")

    @each([*SHIPPED, *OTHERS])
    def test_a_run_holds_what_its_data_package_says(self, scenario: str) -> None:
        # The others are for tuning, which plays them on the accounting backend.
        self.assert_described(self.run_of(scenario, "jemalloc" if scenario in SHIPPED else "accounting"))

    @each(THOROUGHLY)
    def test_readers_of_tables_guess_the_type_of_each_column_as_it_is_described(self, scenario: str) -> None:
        self.check("readers", self.run_of(scenario))

    @each(THOROUGHLY)
    def test_nonsense_in_place_of_every_sentence_changes_no_picture_and_of_the_page_only_quotations(self, scenario: str) -> None:
        self.check("facts", self.run_of(scenario), self.directory / "facts")

    @each(THOROUGHLY)
    def test_rows_of_changed_processes_say_as_much_as_all_rows(self, scenario: str) -> None:
        changed = self.play(scenario, "changed", "--backend", "accounting", "--set", "metrics.apps=changed")
        self.check("changed_rows", self.run_of(scenario, "accounting"), changed)

    @each(SHIPPED)
    def test_a_run_is_drawn_and_reported_and_another_run_in_its_place_leaves_none_of_that(self, scenario: str) -> None:
        run = self.directory / "run"
        # To explain a run on real memory repeats it there; the pictures are the same.
        shutil.copytree(self.run_of(scenario, "accounting"), run)
        self.ends(SCRIPTS / "plot", run)
        # release_report.py looks at the explanations.
        self.ends(SCRIPTS / "report", run, "--explain", 0)
        for picture in PICTURES:
            self.assert_there(run / "plots" / f"{picture}.png")
        self.assert_there(run / "report.html")
        self.assertLess((run / "report.html").stat().st_size, LARGEST_PAGE)
        self.play("quickstart", "run", "--force", "--set", "expect=[]")
        for left in ("plots", "report.html"):
            self.assertFalse((run / left).exists(), f"--force left {left} of the run before")


if __name__ == "__main__":
    unittest.main()
