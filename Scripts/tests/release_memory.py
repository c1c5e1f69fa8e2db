"""Real memory under the program: ceilings hold, the books agree, and the host comes to no harm."""

from __future__ import annotations

import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_host import available
from release import SCENARIOS, ReleaseCase, alone, early, rows

MIB = 1 << 20
INVALID = 65
CEILINGS = (1024, 820, 620)
"""In MiB: the evening commute's own, and less step by step."""

MOST_APPS = 4000
"""There are arenas for no more."""
MEMORY_OF_MOST_APPS = 3 << 30

EVENING = SCENARIOS / "evening-commute.yaml"


def many_apps(count: int) -> str:
    """A scenario in which this many small apps are alive at the same time."""
    lines = ["plimsoll: 1", "name: many-apps", f"duration: {count // 100 + 20}s",
             "device: { ceiling: 2GiB, reserved: 16MiB, cores: 256 }", "monitor: { interval: 5s }", "policy: ladder", "apps:"]  # fmt: skip
    lines += [
        f"  - {{ name: a{app}, memory: {{ base: 128KiB, scene: 32KiB, cache: {{ size: 0B }} }},"
        " costs: { process: 1ms, launch: 1ms, first_launch: 0s }, background: { work: 100ms, snapshot: 0B } }"
        for app in range(count)
    ]
    lines += ["user:", *(f"  - {{ at: {app * 10}ms, launch: a{app} }}" for app in range(count))]
    return "\n".join([*lines, "expect:", "  - terminations == 0", ""])


class Books(ReleaseCase):
    def test_the_books_equal_the_statistics_of_jemalloc_at_every_sample(self) -> None:
        self.run_of("evening-commute")

    def test_the_accounting_backend_agrees_with_jemalloc_on_every_archetype_and_two_scenarios(self) -> None:
        # The whole comparison, twenty seeds of the evening commute and of the catalogue, is made by hand.
        files = [SCENARIOS / f"{name}.yaml" for name in ("quickstart", "burst")]
        self.script("agreement", "backends", *files, "--seeds", 3, "--catalogue-seeds", 1)

    def test_warnings_and_exits_keep_their_order_on_a_quarter_of_the_device_and_on_four_times_as_much(self) -> None:
        self.script("agreement", "scales", EVENING)

    def test_policies_with_tables_for_devices_keep_the_order_on_a_quarter_of_the_device(self) -> None:
        # A larger device has another row of the kernel's. All other policies know only shares.
        self.script("agreement", "scales", EVENING, "--scales", 0.25, "--policy", "jetsam", "--policy", "lmkd-minfree",
                    "--set", "device.ceiling=4GiB", "--set", "device.reserved=3200MiB")  # fmt: skip


class Ceilings(ReleaseCase):
    def under(self, ceiling: int) -> dict[str, str]:
        if ceiling == CEILINGS[0]:
            out = self.run_of("evening-commute")
        else:
            out = self.play("evening-commute", f"{ceiling}", "--set", f"device.ceiling={ceiling}MiB", "--set", "expect=[]")
        return rows(out / "summary.csv")[0]

    @early
    def test_a_lower_ceiling_holds_and_makes_the_policy_end_more_apps(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            summaries = dict(zip(CEILINGS, pool.map(self.under, CEILINGS)))
        for ceiling, summary in summaries.items():
            print(f"{ceiling} MiB: peak {summary['peak_resident_bytes']} bytes, {summary['terminations']} terminations")
            self.assertEqual(int(summary["ceiling_bytes"]), ceiling * MIB)
            self.assertLessEqual(int(summary["peak_resident_bytes"]), ceiling * MIB)
        ends = [int(summary["terminations"]) for summary in summaries.values()]
        self.assertGreater(ends[-1], ends[0], "terminations at 60 % of the ceiling, and at the whole")


class ManyApps(ReleaseCase):
    def scenario(self, count: int) -> Path:
        path = self.directory / "many-apps.yaml"
        path.write_text(many_apps(count), "utf-8")
        return path

    @alone
    def test_four_thousand_processes_are_alive_at_the_same_time_on_real_memory(self) -> None:
        if available() < MEMORY_OF_MOST_APPS:
            self.skipTest(f"machine: they need about 3 GiB, this host has {available() // MIB} MiB")
        out = self.directory / "run"
        self.run_program("run", self.scenario(MOST_APPS), "--quiet", "--out", out)
        self.assertEqual(max(int(row["processes"]) for row in rows(out / "samples.csv")), MOST_APPS)

    def test_more_apps_than_there_are_arenas_for_are_refused_before_anything_is_made(self) -> None:
        out = self.directory / "run"
        refused = self.run_program("run", self.scenario(5000), "--quiet", "--out", out, status=INVALID)
        self.assertIn("5000 apps are too many; at most 4000", refused.stderr)
        self.assertFalse(out.exists())


class Host(ReleaseCase):
    @alone
    def test_in_memory_groups_with_a_limit_a_run_completes_or_is_refused_and_is_never_killed(self) -> None:
        for line in self.check("host", self.plimsoll, self.directory / "host").splitlines():
            if line.startswith("skipped: "):
                with self.subTest():
                    self.skipTest(f"machine: {line.removeprefix('skipped: ')}")


if __name__ == "__main__":
    unittest.main()
