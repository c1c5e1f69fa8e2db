"""plimsoll survive of the program: the folder, interruption, and the time that the default question takes."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness import SCRIPTS
from release import SCENARIOS, ReleaseCase, alone, long, rows

COMMUTER = SCENARIOS / "seeded-commuter.yaml"
QUESTION = ("survive", COMMUTER, "--app", "photos", "--seeds", "1..12")
ANSWER = ("answer.txt", "survival.csv", "background.csv", "ends.csv", "settings.csv", "runs.csv", "stays.csv", "plan.json",
          "datapackage.json", "scenario.yaml")  # fmt: skip


class Survive(ReleaseCase):
    def assert_same(self, left: Path, right: Path) -> None:
        for name in ANSWER:
            self.assertEqual((left / name).read_bytes(), (right / name).read_bytes(), name)

    def cpu_seconds(self, directory: Path) -> float:
        return float(json.loads((directory / "manifest.json").read_text("utf-8"))["cpu_s"])

    def cost_of_runs(self, scenario: Path, count: int) -> float:
        """The mean CPU time of whole runs, two at a time."""
        costs: list[float] = []
        for seed in range(1, count, 2):
            pair = [self.directory / f"whole-{seed + more}" for more in range(2)]
            running = [
                subprocess.Popen([str(word) for word in (
                    self.plimsoll, "run", scenario, "--backend", "accounting", "--seed", seed + more, "--set",
                    "expect=[]", "--out", directory, "--quiet")])
                for more, directory in enumerate(pair)
            ]  # fmt: skip
            for process in running:
                self.assertEqual(process.wait(), 0)
            costs += [self.cpu_seconds(directory) for directory in pair]
        return sum(costs) / len(costs)

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
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume continues in", err)
        kept = ledger.read_bytes()
        self.ends(*command, "--resume")
        self.assertTrue(ledger.read_bytes().startswith(kept), "a run was made again")
        self.assert_same(whole, part)

    def test_the_answer_about_the_app_as_it_is_comes_before_all_other_runs(self) -> None:
        out = self.directory / "early"
        reading, writing = os.pipe()
        # The pipe is full, so the program waits when it prints for the first time, however slow the machine is.
        os.set_blocking(writing, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(writing, b"." * 4096)
        os.set_blocking(writing, True)
        command = [str(word) for word in (self.plimsoll, *QUESTION, "--out", out)]
        with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, text=True) as process:
            os.close(writing)
            ledger = out / "ledger.txt"
            while process.poll() is None and (not ledger.exists() or ledger.read_bytes().count(b"\n") < 1 + 12):
                time.sleep(0.01)
            time.sleep(1)
            self.assertEqual(ledger.read_bytes().count(b"\n"), 1 + 12, "a header and the runs of all seeds")
            with open(reading, encoding="utf-8") as pipe:
                said = " ".join(pipe.read()[filled:].split())
            assert process.stderr is not None
            self.assertEqual((process.stderr.read(), process.wait()), ("", 0))
        answer = " ".join((out / "answer.txt").read_text("utf-8").split())
        self.assertTrue(said.startswith(answer.split(". ")[0]), said)
        # Each sentence is printed once; the later ones may come in another order.
        for sentence in answer.removesuffix(".").split(". "):
            self.assertEqual(said.count(sentence), 1, sentence)

    @alone
    @long
    def test_the_default_question_is_cheap_and_gives_every_part_of_the_answer(self) -> None:
        """Its runs write no tables, so each is to cost less than a `plimsoll run` of the same day.

        Both are measured here, two at a time, because machines differ, and one machine from hour to hour.
        """
        out = self.directory / "editor"
        # Too large for its device at times, so that changes are tried; a run of that one is short.
        self.run_program("survive", "--like", "photo-editor", "--footprint", "1500MiB", "--device", "chromebook-4gb", "--day", "gaming",
                         "--out", out, "--quiet")  # fmt: skip
        runs = int(rows(out / "survival.csv")[0]["runs_made"])
        self.assertLessEqual(runs, 250)
        whole = self.cost_of_runs(out / "scenario.yaml", 12)
        survey = self.cpu_seconds(out) / runs
        self.assertLess(survey, whole, f"{survey:.3f} s and {whole:.3f} s of CPU")
        with (out / "settings.csv").open(encoding="utf-8", newline="") as file:
            kinds = {row["kind"] for row in csv.DictReader(file)}
        self.assertLessEqual({"own", "footprint", "device", "change"}, kinds)
