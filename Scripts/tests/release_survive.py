"""plimsoll survive of the release program: the folder, interruption, and the time that the default question takes."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import time
from pathlib import Path

from harness import SCRIPTS
from release import SCENARIOS, ReleaseCase, alone, rows

COMMUTER = SCENARIOS / "seeded-commuter.yaml"
QUESTION = ("survive", COMMUTER, "--app", "photos", "--seeds", "1..12")
ANSWER = ("answer.txt", "survival.csv", "background.csv", "ends.csv", "settings.csv", "runs.csv", "stays.csv", "plan.json",
          "datapackage.json", "scenario.yaml")  # fmt: skip


class Survive(ReleaseCase):
    def assert_same(self, left: Path, right: Path) -> None:
        for name in ANSWER:
            self.assertEqual((left / name).read_bytes(), (right / name).read_bytes(), name)

    def test_the_answer_is_what_its_data_package_says_and_is_drawn(self) -> None:
        out = self.directory / "photos"
        self.run_program(*QUESTION, "--share-only", "--out", out, "--quiet")
        self.assert_described(out)
        self.ends(SCRIPTS / "plot", out)
        self.assert_there(out / "plots" / "survival.png")

    def test_the_runs_are_those_of_plimsoll_run(self) -> None:
        out, run = self.directory / "photos", self.directory / "run"
        self.run_program(*QUESTION, "--share-only", "--out", out, "--quiet")
        for row in rows(out / "runs.csv")[:3]:
            self.run_program("run", out / "scenario.yaml", "--seed", row["seed"], "--out", run, "--force", "--quiet",
                             "--summary-only", "--set", "expect=[]")  # fmt: skip
            own = next(line for line in rows(run / "app_summary.csv") if line["app"] == "photos")
            self.assertEqual(own["survived"], {"true": "1", "false": "0", "": ""}[row["lives"]], row)
            self.assertEqual(own["terminations"], row["ends"], row)

    def test_an_interrupted_answer_goes_on_and_no_run_is_made_twice(self) -> None:
        whole, part = self.directory / "whole", self.directory / "part"
        self.run_program(*QUESTION, "--out", whole, "--quiet")
        command = [str(word) for word in (self.plimsoll, *QUESTION, "--out", part, "--quiet", "--jobs", 1)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        ledger = part / "ledger.txt"
        while process.poll() is None and (not ledger.exists() or ledger.read_bytes().count(b"\n") < 9):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume continues in", err)
        kept = ledger.read_bytes()
        self.ends(*command, "--resume")
        self.assertTrue(ledger.read_bytes().startswith(kept), "a run was made again")
        self.assert_same(whole, part)

    @alone
    def test_the_default_question_takes_at_most_two_minutes_of_cpu_and_gives_every_part_of_the_answer(self) -> None:
        out = self.directory / "editor"
        self.run_program("survive", "--like", "photo-editor", "--footprint", "300MiB", "--device", "iphone-13", "--day", "commuter", "--out", out,
                         "--quiet")  # fmt: skip
        # A minute on two cores. Other work on the machine counts for the wall clock, not for the CPU time.
        manifest = json.loads((out / "manifest.json").read_text("utf-8"))
        self.assertLess(manifest["cpu_s"], 120)
        with (out / "settings.csv").open(encoding="utf-8", newline="") as file:
            kinds = {row["kind"] for row in csv.DictReader(file)}
        self.assertLessEqual({"own", "footprint", "device", "change"}, kinds)
