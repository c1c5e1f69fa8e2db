"""Many runs of the program: comparisons and sweeps, random worlds, equal builds, measurements."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

from harness import SCRIPTS
from release import PYTHON, SCENARIOS, UNMET, ReleaseCase, early, long_with_checks, part_of_long, rows

from plimsoll_tools.checkout import ROOT

QUICKSTART = SCENARIOS / "quickstart.yaml"
BENCH = ROOT / "Benchmarks" / ".venv" / "bin" / "python"
FEWEST_FIGURES = 10
MOST_LINES = 15
"""What a world must shrink to that has a hundred lines, and fails as soon as it has two processes."""


class Experiments(ReleaseCase):
    def assert_described_and_drawn(self, folder: Path, picture: str) -> None:
        self.assert_described(folder)
        self.ends(SCRIPTS / "plot", folder)
        self.assert_there(folder / "plots" / picture)

    def test_a_comparison_is_what_its_data_package_says_and_is_drawn(self) -> None:
        out = self.directory / "compare"
        self.run_program("compare", QUICKSTART, "--policy", "ladder", "--policy", "lru", "--seeds", "1..5",
                         "--backend", "accounting", "--out", out, "--quiet")  # fmt: skip
        self.assert_described_and_drawn(out, "comparison.png")

    def test_a_sweep_is_what_its_data_package_says_and_is_drawn(self) -> None:
        out = self.directory / "sweep"
        self.run_program("sweep", QUICKSTART, "--vary", "device.ceiling=400MiB,512MiB", "--vary", "device.cores=1..2",
                         "--backend", "accounting", "--out", out, "--quiet")  # fmt: skip
        self.assert_described_and_drawn(out, "sweep.png")

    @early
    def test_two_jobs_write_the_same_sweep_as_one(self) -> None:
        # It prints what the second job saves. A test does not fail for a slow machine: the limit that counts is that of
        # `Scripts/throughput jobs` by hand.
        self.script("throughput", "jobs", "--rounds", 1, "--most", 9)


class Worlds(ReleaseCase):
    @part_of_long
    def test_nothing_fails_in_the_first_fixed_worlds(self) -> None:
        self.script("soak", "--program", self.plimsoll, "--seeds", "1..60", "--shrink", 60)

    @long_with_checks
    def test_fixed_worlds_use_every_word_of_the_format_come_to_every_exit_and_nothing_fails(self) -> None:
        self.script("soak", "--program", self.plimsoll, "--seeds", "1..540", "--coverage", "--shrink", 60)

    @long_with_checks
    def test_nothing_fails_in_new_worlds(self) -> None:
        # A world that fails is named with the command that repeats it.
        self.script("soak", "--program", self.plimsoll, "--new", 100, "--minutes", 1, "--shrink", 60)

    @long_with_checks
    def test_nothing_fails_in_worlds_at_the_edges_of_the_format(self) -> None:
        self.script("soak", "--program", self.plimsoll, "--far", "--seeds", "1..9000", "--minutes", 1, "--shrink", 60)

    @early
    def test_a_fault_that_is_planted_in_one_world_is_found_named_and_shrunk(self) -> None:
        # A canary: two processes of this world, a small one, seem to hold a page that nobody handed out.
        seed, kept = 2, self.directory / "kept"
        said = self.ends(SCRIPTS / "soak", "--program", self.plimsoll, "--seeds", f"{seed}..{seed + 1}",
                         "--canary", seed, "--keep", kept, status=1).stdout  # fmt: skip
        self.assertIn("\n1 failed\n", said)
        claim = r"plimsoll: at [0-9.]+s of a run with the seed: processes hold .* are resident"
        self.assertRegex(said, rf"\nseed {seed}: run: status 70\n  {claim}\n")
        self.assertIn(f"\n  again: Scripts/soak --seeds {seed} --canary {seed}\n", said)
        small = kept / f"world-{seed}/world.yaml"
        self.assertLess(len(small.read_text("utf-8").splitlines()), MOST_LINES, said)
        # Nothing else is wrong with what is left of the world, and it keeps the fault.
        for option, status in (((), (0, UNMET)), (("--canary",), 70)):
            out = self.directory / f"run{len(option)}"
            self.run_program("run", small, "--verify", *option, "--out", out, status=status)

    @early
    def test_a_breach_of_a_relation_that_is_planted_in_one_world_is_found_named_and_shrunk(self) -> None:
        # Launches take another time in the world that it is compared with.
        seed, kept = 2, self.directory / "kept"
        said = self.ends(SCRIPTS / "soak", "--program", self.plimsoll, "--seeds", f"{seed}..{seed + 1}", "--relations",
                         "--canary", seed, "--keep", kept, status=1).stdout  # fmt: skip
        self.assertIn("\n1 failed\n", said)
        self.assertRegex(said, rf"\nseed {seed}: renamed apps: [a-z_]+\.csv differs in [a-z_]+\n")
        self.assertIn(f"\n  again: Scripts/soak --seeds {seed} --relations --canary {seed}\n", said)
        small = kept / f"world-{seed}/world.yaml"
        self.assertLess(len(small.read_text("utf-8").splitlines()), MOST_LINES, said)
        # Nothing is wrong with what is left of the world by itself.
        self.run_program("run", small, "--verify", "--out", self.directory / "run", status=(0, UNMET))

    @early
    def test_a_build_gives_the_same_tables_as_itself(self) -> None:
        self.script("same", self.plimsoll, self.plimsoll, "--worlds", "1..20")


@unittest.skipUnless(os.access(BENCH, os.X_OK), "SimPy is not installed (Scripts/setup.sh bench)")
class Measurements(ReleaseCase):
    def test_the_books_of_the_anchor_that_places_objects_add_up(self) -> None:
        self.ends(BENCH, *PYTHON[1:], "Benchmarks/Anchors/queue.py", "--objects", "--check", 50, 10, 5, 25)

    @early
    def test_every_kind_of_measurement_works_on_short_inputs(self) -> None:
        # How fast it is depends on the machine.
        out = self.directory / "bench.csv"
        only = [word for figure in (1, 3, 4, 7) for word in ("--only", figure)]
        self.script("bench", "--no-build", "--quick", "--repeat", 1, *only, "--out", out)
        measured = [row for row in rows(out) if row["ratio"]]
        self.assertGreaterEqual(len(measured), FEWEST_FIGURES)


if __name__ == "__main__":
    unittest.main()
