"""Sweeps and comparisons of the program through Scripts/sweep-on, on this machine; check_clusters.py has the schedulers."""

from __future__ import annotations

import csv
import signal
import subprocess
import time
import unittest
from pathlib import Path

from release import PYTHON, SCENARIOS, ReleaseCase

QUICKSTART = SCENARIOS / "quickstart.yaml"
SWEEP = ("sweep", QUICKSTART, "--vary", "device.cores=1,2", "--seeds", "1..20", "--backend", "accounting", "--quiet")
TRACED = """plimsoll: 1
name: traced
duration: 20s
device: { ceiling: 512MiB, reserved: 32MiB }
policy: ladder
apps:
  - { name: recorded, like: plain, memory: { trace: { file: traces/t.txt, pace: 1000/s } } }
user:
  - { at: 0s, launch: recorded }
"""
ON = (*PYTHON, "-m", "plimsoll_tools.clusters", "local", "--workers", 2)


class Clusters(ReleaseCase):
    def assert_same(self, left: Path, right: Path, *names: str) -> None:
        for name in names:
            self.assertEqual((left / name).read_bytes(), (right / name).read_bytes(), name)

    def test_a_sweep_that_is_spread_interrupted_and_asked_for_again_is_that_of_one_command(self) -> None:
        out, local = self.directory / "spread", self.directory / "local"
        self.run_program(*SWEEP, "--out", local)
        command = [str(word) for word in (*ON, "--chunk", 1, *SWEEP, "--out", out)]
        process = subprocess.Popen(command, cwd=SCENARIOS.parent, stderr=subprocess.PIPE, text=True)
        ledger = out / "ledger.txt"
        while process.poll() is None and (not ledger.exists() or ledger.read_bytes().count(b"\n") < 5):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("the same command goes on", err)
        kept = ledger.read_bytes()
        self.ends(*command)
        self.assertTrue(ledger.read_bytes().startswith(kept), "a run was made again")
        self.assert_same(local, out, "sweep.csv", "plan.json", "datapackage.json")
        self.assertFalse((self.directory / "spread.work").exists())

    def test_a_comparison_with_a_policy_file_and_a_trace_has_the_tables_of_one_command(self) -> None:
        policy = SCENARIOS / "policies" / "weighted.yaml"
        (self.directory / "traces").mkdir()
        lines = [f"1: malloc {16 * number:#x} 4000" for number in range(1, 500)]
        (self.directory / "traces" / "t.txt").write_text("\n".join(lines) + "\n", "utf-8")
        traced = self.directory / "traced.yaml"
        traced.write_text(TRACED, "utf-8")
        words = ("compare", traced, QUICKSTART, "--policy", "ladder", "--policy", policy, "--seeds", "1..2",
                 "--backend", "accounting", "--quiet")  # fmt: skip
        out, local = self.directory / "spread", self.directory / "local"
        self.run_program(*words, "--out", local)
        self.ends(*ON, *words, "--out", out)
        self.assert_same(local, out, "comparison.csv", "runs.csv", "plan.json", "datapackage.json")

    def test_a_run_that_fails_everywhere_is_said_with_the_path_as_it_was_given(self) -> None:
        scenario = self.directory / "s.yaml"
        scenario.write_text(QUICKSTART.read_text("utf-8"), "utf-8")
        out = self.directory / "spread"
        words = ("sweep", scenario, "--vary", "device.ceiling=512MiB,16GiB", "--backend", "jemalloc", "--out", out)
        # There is no address space for the second ceiling.
        said = self.ends("bash", "-c", 'ulimit -v 6000000; exec "$@"', "bash", *ON, *words, status=71).stderr
        self.assertIn("case 2", said)
        self.assertNotIn("files/", said)

    def test_more_cases_than_the_engine_has_in_hand_are_all_made(self) -> None:
        out = self.directory / "spread"
        self.ends(*ON, "--chunk", 2, *SWEEP, "--out", out)
        with (out / "sweep.csv").open(encoding="utf-8", newline="") as file:
            self.assertEqual([int(row["case"]) for row in csv.DictReader(file)], list(range(1, 41)))


if __name__ == "__main__":
    unittest.main()
