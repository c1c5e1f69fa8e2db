"""The search for better parameters: what it finds, what it must not claim, and what it does with bad input."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast
from unittest import mock

import fake_plimsoll
import yaml
from harness import FAKE, FolderCase, call_main, load_main, program_of
from optuna.storages import RDBStorage

from plimsoll_tools.plotting.metrics import Metric
from plimsoll_tools.quantities import quantity
from plimsoll_tools.tuning import ablation, outcome, program, search, space, verdict
from plimsoll_tools.tuning.board import Board, open_storage
from plimsoll_tools.tuning.problem import (
    Constraint,
    Objective,
    Problem,
    bounds_of,
    policy_of,
    prices_of,
    scenarios_of,
    seeds_of,
    space_of,
)

MAIN = load_main("tuning")


class FakeProgram(program.Program):
    """Answers at once, without a process."""

    made = 0
    jobs: ClassVar[list[program.Job]] = []
    real_memory: ClassVar[dict[str, str]] = {}
    """Figures that real memory gives in place of the computed ones."""

    def ask(self, *arguments: str, given: str | None = None) -> str:
        if arguments[0] == "validate":
            words = fake_plimsoll.faults(list(arguments[1:]))
            if words:
                raise program.Fault(65, words)
        return fake_plimsoll.answer(list(arguments)) or ""

    judge = staticmethod(fake_plimsoll.judge)

    def _run(self, job: program.Job) -> program.Summary:
        type(self).made += 1
        self.jobs.append(job)
        row = fake_plimsoll.summary(job.scenario.stem, job.seed, json.loads(job.policy))
        if row is None:
            raise program.Refused(65, "picky refuses")
        if job.prices is not None:
            row[program.SECONDS_LOST] = fake_plimsoll.seconds_lost(row)
        return {**row, **self.real_memory} if job.backend == "jemalloc" else row


class TuneCase(FolderCase):
    has_default_objectives = False

    def setUp(self) -> None:
        super().setUp()
        # Pictures take longer than the search; one test draws them.
        for name in ("draw_front", "draw_importance", "draw_verdict"):
            drawing = mock.patch.object(MAIN.outcome.charts, name)
            drawing.start()
            self.addCleanup(drawing.stop)

    def scenario(self, name: str, text: str = "") -> Path:
        path = self.directory / f"{name}.yaml"
        path.write_text(text or f"name: {name}\nduration: 20min\ndevice: {{ ceiling: 1GiB }}\n", "utf-8")
        return path

    def tune(self, *arguments: object) -> tuple[int, str, str]:
        """Exit status, stdout and stderr, within this process."""
        words = [str(word) for word in arguments]
        if "--held-out-seeds" not in words:
            words += ["--held-out-seeds", "101..106"]
        if "--minimize" not in words and not self.has_default_objectives:
            words += ["--minimize", "terminations_perceived", "--minimize", "launch_latency_p95_ms"]
        with mock.patch.object(MAIN, "Program", FakeProgram):
            return call_main(MAIN, *words)

    def rows(self, name: str, out: str = "out") -> list[dict[str, str]]:
        with (self.directory / out / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


class Searching(TuneCase):
    def test_a_better_policy_is_found_and_proved_on_what_was_never_seen(self) -> None:
        mock.patch.stopall()
        day, night, feast = (self.scenario(name) for name in ("day", "night", "feast"))
        status, out, err = self.tune(
            "--held-out-seeds",
            "101..120",
            day,
            night,
            "--held-out",
            feast,
            "--policy",
            "fake",
            "--trials",
            30,
            "--out",
            self.directory / "out",
        )
        self.assertEqual((status, err), (0, ""))
        self.assertIn("On 20 seeds it never saw: better than the default. terminations_perceived", out)
        self.assertIn("On scenarios it never saw (feast; 20 seeds): better", out)
        # The claim is in the tables, too, and the interval is on the good side of zero.
        rows = {(row["scenario"], row["metric"]): row for row in self.rows("verdict.csv")}
        whole = rows["all training scenarios", "terminations_perceived"]
        self.assertLess(float(whole["high"]), 0)
        self.assertEqual((rows["feast", "terminations_perceived"]["held_out"], whole["held_out"]), ("true", "false"))
        self.assertEqual(len(self.rows("held-out.csv")), 20 * 3 * 2)
        policy = yaml.safe_load((self.directory / "out" / "policy.yaml").read_text("utf-8"))
        self.assertEqual((policy["plimsoll"], policy["name"], policy["label"]), (1, "fake", "fake-tuned"))
        keep = quantity(policy["parameters"]["keep"], "time")
        self.assertTrue(2 < keep < 200, f"the best is at 20 s, not at {keep} s")
        self.assertNotIn("friends", policy["parameters"])
        self.assertEqual(len(self.rows("trials.csv")), 30)
        for name in ("front.png", "importance.png", "verdict.png", "report.md", "front.csv", "tuning.json"):
            self.assertGreater((self.directory / "out" / name).stat().st_size, 100, name)

    def test_what_changes_nothing_goes_back_to_its_default_and_what_carries_the_gain_is_told(self) -> None:
        out = self.directory / "out"
        self.tune(self.scenario("day"), "--policy", "fake", "--trials", 25, "--seeds", "1..2", "--out", out)
        rows = self.rows("ablation.csv")
        kept = {row["parameter"] for row in rows if row["kept"] == "true"}
        idle = {row["parameter"] for row in rows if row["kept"] == "false"}
        self.assertLessEqual(kept, {"keep", "reserve"})
        self.assertTrue(idle and idle <= {"greed", "rounds", "picky"}, idle)
        for row in rows:
            is_same = row["tuned_mean"] == row["mean_without"]
            self.assertEqual(is_same or row["kept"] == "true", True, row)
        self.assertEqual(set(yaml.safe_load((out / "policy.yaml").read_text("utf-8"))["parameters"]), kept)
        self.assertEqual(set(json.loads((out / "tuning.json").read_text("utf-8"))["changes_nothing"]), idle)
        report = (out / "report.md").read_text("utf-8")
        self.assertIn("has its default again", report)
        self.assertIn("| (the tuned policy) |", report)
        # The verdict is about the policy that is written down.
        made = [json.loads(job.policy) for job in FakeProgram.jobs if job.seed == 101]
        self.assertIn(kept, [set(one.get("parameters", {})) for one in made])

    def test_nothing_is_claimed_where_every_run_is_luck(self) -> None:
        status, out, _ = self.tune(
            "--held-out-seeds",
            "101..120",
            self.scenario("noise"),
            "--policy",
            "fake",
            "--trials",
            30,
            "--seeds",
            "1..2",
            "--out",
            self.directory / "out",
        )
        self.assertEqual(status, 0)
        self.assertNotIn(": better", out)
        # The search itself was fooled: on its own seeds the chosen one looks better.
        trials = self.rows("trials.csv")
        best = min(float(row["terminations_perceived"]) for row in trials if row["state"] == "complete")
        self.assertLess(best, float(trials[0]["terminations_perceived"]))

    def test_identical_outcomes_under_every_seed_are_told_and_prove_nothing(self) -> None:
        written = self.scenario("written")
        status, out, err = self.tune(written, "--policy", "fake", "--trials", 20, "--out", self.directory / "out")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("On 6 seeds it never saw: nothing was held out", out)
        self.assertNotIn("better than the default", out)
        row = next(row for row in self.rows("verdict.csv") if row["metric"] == "terminations_perceived")
        self.assertEqual((row["low"], row["high"], row["identical_under_every_seed"]), ("", "", "true"))
        facts = json.loads((self.directory / "out" / "tuning.json").read_text("utf-8"))
        self.assertEqual(list(facts["verdicts"].values()), ["nothing was held out"])
        self.assertIn("nothing was held out", (self.directory / "out" / "policy.yaml").read_text("utf-8"))

    def test_a_policy_that_kills_in_the_foreground_is_no_answer(self) -> None:
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 25, "--parameter", "greed")
        self.tune(*arguments, "--out", self.directory / "out")
        trials = self.rows("trials.csv")
        greedy = [row for row in trials if float(row["greed"].rstrip("%")) > 50]
        self.assertTrue(greedy, "the search never looked there")
        for row in greedy:
            self.assertEqual((row["state"], row["feasible"]), ("pruned", "false"))
            self.assertEqual(row["stopped"], "breaks terminations_foreground <= 0")
            self.assertEqual(row["cases"], "1", "it is lost after the first seed")
        # The twin: without the constraint it is the answer.
        self.tune(*arguments, "--constraint", "none", "--out", self.directory / "free")
        policy = yaml.safe_load((self.directory / "free" / "policy.yaml").read_text("utf-8"))
        self.assertGreater(float(policy["parameters"]["greed"].rstrip("%")), 50)

    def test_a_search_that_finds_nothing_feasible_says_so_and_draws_its_pictures(self) -> None:
        mock.patch.stopall()
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 2, "--seeds", "1..2")
        impossible = ("--constraint", "terminations_foreground >= 9")
        status, out, err = self.tune(*arguments, *impossible, "--out", self.directory / "out")
        self.assertEqual((status, err), (0, ""))
        # The default breaks the bound as much, so that it says nothing against the policy that was found.
        self.assertNotIn("not admissible", out)
        report = (self.directory / "out" / "report.md").read_text("utf-8")
        self.assertIn("\nNo trial kept terminations_foreground >= 9 in the search, nor did the default.\n", report)
        self.assertEqual({row["feasible"] for row in self.rows("trials.csv")}, {"false"})
        self.assertGreater((self.directory / "out" / "front.png").stat().st_size, 100)

    def test_hopeless_trials_are_stopped_after_a_few_seeds(self) -> None:
        self.tune(
            self.scenario("day"),
            "--policy",
            "fake",
            "--trials",
            25,
            "--minimize",
            "terminations_perceived",
            "--out",
            self.directory / "out",
        )
        trials = self.rows("trials.csv")
        stopped = [row for row in trials if row["state"] == "pruned" and row["stopped"].startswith("worse than trial")]
        self.assertGreater(len(stopped), 3)
        self.assertTrue(all(2 <= int(row["cases"]) < 6 for row in stopped))
        self.assertTrue(all(row["cases"] == "6" for row in trials if row["state"] == "complete"))

    def test_a_search_that_died_between_two_parameters_draws_what_it_would_have_drawn(self) -> None:
        class Died(BaseException):
            pass

        words = (self.scenario("day"), "--policy", "fake", "--trials", 4, "--seeds", "1..2", "--heartbeat", 1)
        self.assertEqual(self.tune(*words, "--out", self.directory / "out")[0], 0)
        drawn, draw = [0], space.Dimension.suggest

        def suggest(dimension: space.Dimension, trial: Any) -> Any:
            drawn[0] += 1
            # In the third trial, with some parameters drawn and others not.
            if drawn[0] == 2 * len(fake_plimsoll.TABLE) + 3:
                raise Died
            return draw(dimension, trial)

        again = (*words, "--out", self.directory / "again")
        patches = (mock.patch.object(space.Dimension, "suggest", suggest), mock.patch.object(search.Worker, "release"))
        with patches[0], patches[1], self.assertRaises(Died):
            self.tune(*again)
        self.assertEqual(self.tune(*again, "--resume")[0], 0)
        self.assertEqual(self.rows("trials.csv", "again"), self.rows("trials.csv"))

    def test_a_trial_is_stopped_within_a_seed_too(self) -> None:
        self.tune(
            *(self.scenario(f"day-{number}") for number in range(5)), "--policy", "fake", "--trials", 25, "--seeds", "1..3",
            "--minimize", "terminations_perceived", "--out", self.directory / "out",
        )  # fmt: skip
        trials = self.rows("trials.csv")
        stopped = {int(row["cases"]) for row in trials if row["stopped"].startswith("worse than trial")}
        # Compared after each third case and each whole seed, from a quarter of the fifteen on.
        self.assertLessEqual(stopped, {3, 5, 8, 10, 13}, "of 15 cases")
        self.assertIn(3, stopped)
        self.assertTrue(all(row["cases"] == "15" for row in trials if row["state"] == "complete"))

    def test_one_objective_reports_intermediate_values(self) -> None:
        import optuna

        self.tune(
            self.scenario("day"),
            "--policy",
            "fake",
            "--trials",
            20,
            "--minimize",
            "terminations_perceived",
            "--out",
            self.directory / "out",
        )
        storage = f"sqlite:///{self.directory}/out/study.db"
        study = optuna.load_study(study_name=optuna.get_all_study_names(storage)[0], storage=storage)
        self.assertEqual(sorted(study.trials[0].intermediate_values), list(range(6)))
        stopped = [trial for trial in study.trials if trial.state.name == "PRUNED"]
        self.assertTrue(stopped and all(len(trial.intermediate_values) < 6 for trial in stopped))

    def test_values_that_the_program_refuses_together_are_stepped_over(self) -> None:
        self.tune(
            self.scenario("day"),
            "--policy",
            "fake",
            "--trials",
            25,
            "--parameter",
            "keep",
            "--parameter",
            "picky",
            "--out",
            self.directory / "out",
        )
        refused = [row for row in self.rows("trials.csv") if row["stopped"].startswith("refused")]
        self.assertTrue(refused)
        self.assertTrue(all(row["picky"] == "true" and row["feasible"] == "false" for row in refused))

    def test_the_same_seed_gives_the_same_bytes_however_many_runs_go_at_once(self) -> None:
        arguments = (self.scenario("day"), self.scenario("night"), "--policy", "fake", "--trials", 20)
        self.tune(*arguments, "--jobs", 1, "--out", self.directory / "one")
        self.tune(*arguments, "--jobs", 3, "--out", self.directory / "three")
        self.tune(*arguments, "--jobs", 1, "--seed", 2, "--out", self.directory / "other")
        for name in ("trials.csv", "front.csv", "verdict.csv", "held-out.csv", "importance.csv", "policy.yaml"):
            one, three = ((self.directory / out / name).read_bytes() for out in ("one", "three"))
            self.assertEqual(one, three, name)
        self.assertNotEqual(self.rows("trials.csv", "one"), self.rows("trials.csv", "other"))

    def test_more_trials_go_on_where_the_study_ended(self) -> None:
        arguments = (self.scenario("day"), "--policy", "fake", "--out", self.directory / "out")
        self.tune(*arguments, "--trials", 8)
        before = self.rows("trials.csv")
        made = FakeProgram.made
        status, _, err = self.tune(*arguments, "--trials", 14, "--resume")
        self.assertEqual((status, err), (0, ""))
        after = self.rows("trials.csv")
        self.assertEqual((after[:8], len(after)), (before, 14))
        # Six trials, the five parameters one at a time and together, and the verdict; not the trials of before.
        self.assertLessEqual(FakeProgram.made - made, 6 * 6 + 6 * 6 + 6 * 2)

    def test_going_on_with_another_build_is_told_once_and_kept_on_record(self) -> None:
        arguments = (self.scenario("day"), "--policy", "fake", "--out", self.directory / "out")
        facts = self.directory / "out" / "tuning.json"
        self.assertEqual(self.tune(*arguments, "--trials", 3)[2], "")
        self.assertEqual(json.loads(facts.read_text("utf-8"))["builds"], ["f" * 40])
        with mock.patch.dict(os.environ, {"FAKE_BUILD": "a" * 40}):
            # Nothing is left to do: this build makes no run, and mixes nothing.
            self.assertEqual(self.tune(*arguments, "--trials", 3, "--resume")[2], "")
            status, _, err = self.tune(*arguments, "--trials", 5, "--resume")
        self.assertEqual((status, err.count("\n")), (0, 1), err)
        self.assertIn("warning: the runs in ", err)
        self.assertIn(f"2 builds of plimsoll 0.0-fake ({'f' * 10}, this one {'a' * 10}); if results differ", err)
        self.assertEqual(json.loads(facts.read_text("utf-8"))["builds"], ["f" * 40, "a" * 40])
        self.assertIn("2 builds of plimsoll 0.0-fake", (facts.parent / "report.md").read_text("utf-8"))
        # The last worker finds a mixture, whether it adds to it or not.
        self.assertIn(f"(this one {'f' * 10}, {'a' * 10})", self.tune(*arguments, "--trials", 5, "--resume")[2])

    def test_going_on_with_another_option_is_refused_before_anything_is_written(self) -> None:
        out = self.directory / "out"
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 3, "--seeds", "1..2", "--out", out)
        self.assertEqual(self.tune(*arguments)[0], 0)
        before = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".md", ".csv", ".json")}
        made = FakeProgram.made
        for option, value in (("--seed", 2), ("--parameter", "keep"), ("--constraint", "none")):
            status, text, err = self.tune(*arguments, "--resume", option, value)
            self.assertEqual((status, text, err.count("\n")), (65, "", 1), err)
            self.assertIn(option, err)
        status, _, err = self.tune(*arguments, "--resume", "--minimize", "terminations", "--held-out-seeds", "7..11")
        self.assertEqual(status, 65)
        self.assertIn("differs in: --minimize or --maximize; --held-out-seeds.", err)
        after = {path.name: path.read_bytes() for path in out.iterdir() if path.name in before}
        self.assertEqual((after, FakeProgram.made), (before, made))

    def test_the_verdict_alone_is_made_again_on_the_other_backend(self) -> None:
        out = self.directory / "out"
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 3, "--seeds", "1..2", "--out", out)
        self.tune(*arguments, "--confirm", "accounting")
        trials, made = self.rows("trials.csv"), FakeProgram.made
        status, _, err = self.tune(*arguments, "--resume", "--confirm", "jemalloc")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual((self.rows("trials.csv"), FakeProgram.made - made), (trials, 6 * 2))
        facts = json.loads((out / "tuning.json").read_text("utf-8"))
        self.assertEqual(facts["problem"]["confirmation backend"], "jemalloc")

    def test_the_first_held_out_seed_is_run_on_real_memory_as_well(self) -> None:
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 3, "--seeds", "1..2", "--held-out",
                     self.scenario("night"))  # fmt: skip
        with mock.patch.object(FakeProgram, "jobs", []):
            self.assertEqual(self.tune(*arguments, "--out", self.directory / "out")[0], 0)
            verdict_of = [job for job in FakeProgram.jobs if job.seed > 100]
            real = [job for job in FakeProgram.jobs if job.backend == "jemalloc"]
        self.assertEqual((len(verdict_of), len(real)), (2 * 2 * 6 + 2 * 2, 2 * 2))
        self.assertEqual({(job.scenario.stem, job.seed) for job in real}, {("day", 101), ("night", 101)})
        self.assertIn("the first seed on real memory as well", (self.directory / "out" / "report.md").read_text("utf-8"))

    def test_other_figures_on_real_memory_are_no_verdict(self) -> None:
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 3, "--seeds", "1..2")
        with mock.patch.object(FakeProgram, "real_memory", {"terminations": "77"}):
            status, text, err = self.tune(*arguments, "--out", self.directory / "out")
            self.assertEqual((status, text), (70, ""), err)
            self.assertIn("day, seed 101: on real memory terminations is not what the accounting backend computes", err)
            self.assertFalse((self.directory / "out" / "report.md").exists())
            # With one kind of memory there is nothing to compare.
            for backend in ("accounting", "jemalloc"):
                self.assertEqual(self.tune(*arguments, "--out", self.directory / backend, "--confirm", backend)[0], 0)

    def test_a_policy_file_is_what_the_search_begins_with(self) -> None:
        file = self.directory / "mine.yaml"
        file.write_text("plimsoll: 1\nname: fake\nlabel: mine\nparameters: { keep: 30s, friends: [chat] }\n", "utf-8")
        self.tune(
            self.scenario("day"),
            "--policy",
            file,
            "--trials",
            8,
            "--parameter",
            "keep",
            "--out",
            self.directory / "out",
        )
        self.assertEqual(self.rows("trials.csv")[0]["keep"], "30s")
        policy = yaml.safe_load((self.directory / "out" / "policy.yaml").read_text("utf-8"))
        self.assertEqual(policy["parameters"]["friends"], ["chat"])


class Signatures(FolderCase):
    """What a study says of the builds that made its runs, while other workers write to it."""

    def board(self) -> Board:
        storage = open_storage(f"sqlite:///{self.directory}/study.db", 20, 60)
        self.addCleanup(storage.engine.dispose)
        return Board(storage, "study", ["minimize"], [{}, {}])

    def book(self, board: Board) -> None:
        """One run is done."""
        trial = board.study.get_trials(deepcopy=False)[0]
        board.storage.set_trial_user_attr(trial._trial_id, "round_0", [[1.0]])

    def test_a_worker_that_signs_and_books_between_two_readings_is_no_unknown_build(self) -> None:
        ours, theirs = self.board(), self.board()
        ours.fill(lambda: None)

        class Storage(RDBStorage):
            """Another worker does its part after the first reading, whichever that is."""

            readings = 0

            def _get_trials(self, *arguments: Any, **named: Any) -> Any:
                return self.after(super()._get_trials(*arguments, **named))

            def get_study_user_attrs(self, *arguments: Any, **named: Any) -> Any:
                return self.after(super().get_study_user_attrs(*arguments, **named))

            def after(self, found: Any) -> Any:
                type(self).readings += 1
                if self.readings == 1:
                    theirs.sign("a")
                    book(theirs)
                return found

        book, ours.storage.__class__ = self.book, Storage
        self.assertIn(ours.builds(), ([], ["a"]))
        self.assertGreaterEqual(Storage.readings, 1)
        self.assertEqual(ours.builds(), ["a"])

    def test_runs_that_no_build_signed_are_of_an_unknown_one_and_stay_so(self) -> None:
        board = self.board()
        board.fill(lambda: None)
        self.assertEqual(board.builds(), [])
        self.book(board)
        self.assertEqual(board.builds(), ["unknown"])
        board.sign("a")
        self.assertEqual(board.builds(), ["unknown", "a"])

    def test_a_build_that_signed_and_died_before_its_first_run_made_none(self) -> None:
        board = self.board()
        board.fill(lambda: None)
        board.sign("a")
        self.assertEqual(board.builds(), [])


class Readers(unittest.TestCase):
    """Versions of YAML differ in what an unquoted scalar is; what is written must be the same to all."""

    NUMBER = re.compile(
        r"[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"
        r"|(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)(e[-+]?[0-9]+)?|\.inf)|\.nan|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
        re.IGNORECASE,
    )
    """Everything that YAML 1.1 or 1.2, or a reader between them, takes for a number or a date."""
    TRUTH = re.compile(r"y|n|yes|no|on|off|true|false|null|~|", re.IGNORECASE)
    ODD = ("1_000", "0o17", "010", "1:30", "0x1F", "0b11", "1e3", "1.e3", ".5", "5e-2", "+7", ".inf", "2020-01-01")
    WORDS = ("no", "Off", "Y", "~", "", "null", "<<", "=", "a: b", "- a", "90s", "0B", "1h30min", "5%", "0.25MiB", "lru")

    def test_what_a_policy_file_says_is_the_same_to_all(self) -> None:
        parameters: dict[str, Any] = {f"p{i}": t for i, t in enumerate(self.ODD + self.WORDS)}
        tree = {"plimsoll": 1, "name": "fake", "parameters": parameters | {"count": 1000, "none": 0, "flag": True}}
        text = yaml.dump(tree, Dumper=outcome.PlainDumper, sort_keys=False, width=110)
        self.assertEqual(yaml.safe_load(text), tree)
        for event in yaml.parse(text):
            if isinstance(event, yaml.ScalarEvent) and event.style is None:
                is_odd = self.NUMBER.fullmatch(event.value) or self.TRUTH.fullmatch(event.value)
                self.assertTrue(not is_odd or event.value in ("1", "1000", "0", "true"), event.value)
        self.assertIn("  p13: \"no\"\n", text)
        self.assertIn("  p23: 90s\n", text)


class Breaches(unittest.TestCase):
    def test_only_a_breach_that_the_default_does_not_have_speaks_against_a_policy(self) -> None:
        goals = [Constraint("stalls", "<=", 3.0), Constraint("launches", ">=", 5.0)]
        asked = SimpleNamespace(constraints=goals)

        def breaches(standard: tuple[float, float], tuned: tuple[float, float]) -> list[str]:
            rows = ({"stalls": str(stalls), "launches": str(launches)} for stalls, launches in (standard, tuned))
            return verdict.breaches(cast(Problem, asked), [verdict.Pair("day", 1, *rows)])

        self.assertEqual(breaches((2, 6), (3, 5)), [])
        self.assertEqual(breaches((4, 4), (4, 4)), [])
        self.assertEqual(breaches((9, 2), (4, 4)), [])
        self.assertEqual(breaches((4, 6), (5, 4)), ["stalls <= 3: 5, and 4 under the default",
                                                     "launches >= 5: 4, and 6 under the default"])  # fmt: skip


class Lost(TuneCase):
    has_default_objectives = True

    def test_without_a_wish_the_search_is_for_what_a_person_feels(self) -> None:
        status, _, err = self.tune(self.scenario("day"), "--policy", "fake", "--trials", 3, "--out", self.directory / "out")
        self.assertEqual((status, err), (0, ""))
        goals = json.loads((self.directory / "out" / "tuning.json").read_text("utf-8"))["problem"]["objectives"]
        least = [["terminations_felt", "minimize"], ["seconds_lost", "minimize"]]
        self.assertEqual(goals, [*least, ["hot_launch_ratio", "maximize"]])
        first = self.rows("trials.csv")[0]
        self.assertGreater(float(first["seconds_lost"]), 0)

    def test_what_is_lost_is_told_against_a_yardstick_that_runs_once(self) -> None:
        day = self.scenario("day")
        asked: list[program.Job] = []
        found = program.Program(self.program(FAKE), 2)
        self.addCleanup(found.close)
        made = found._case

        def case(job: program.Job, *more: str | Path) -> list[str]:
            asked.append(job)
            self.assertEqual("--prices=20s," in more, job.prices is not None)
            return made(job, *more)

        policy = json.dumps({"name": "fake"})
        with mock.patch.object(found, "_case", case):
            jobs = [program.Job(day, seed, policy, "accounting", "20s,") for seed in (1, 1, 2)]
            rows = [one.result() for one in [found.submit(job) for job in jobs]]
            plain = found.submit(program.Job(day, 1, policy, "accounting")).result()
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(rows[0], plain | {"seconds_lost": fake_plimsoll.seconds_lost(plain)})
        self.assertEqual(sorted(job.seed for job in asked if job.policy == program.YARDSTICK), [1, 2])

    def test_the_prices_are_times_and_belong_to_seconds_lost(self) -> None:
        self.assertEqual(prices_of(None, None, ["stalls"]), "")
        self.assertEqual(prices_of("20s", None, ["seconds_lost"]), "20s,")
        self.assertEqual(prices_of("0s", "1min", ["seconds_lost"]), "0s,1min")
        for end, launch, metric, said in (("20s", None, "stalls", "--end-price is a part of seconds_lost"),
                                          (None, "soon", "seconds_lost", "--lost-launch-price soon: expected a time"),
                                          ("2h", None, "seconds_lost", "at most 1h")):  # fmt: skip
            with self.assertRaisesRegex(program.Fault, said):
                prices_of(end, launch, [metric])

    def test_a_loss_may_be_a_gain_so_no_sum_of_it_is_final(self) -> None:
        self.assertFalse(Constraint("seconds_lost", "<=", 0).is_lost(1, 30))


class Spaces(unittest.TestCase):
    def dimension(self, name: str, default: float | None = None, **most: float) -> space.Dimension:
        entry = next(entry for entry in fake_plimsoll.TABLE if entry["parameter"] == name)
        found = space.dimension(entry if default is None else {**entry, "default_value": default}, most)
        assert found is not None
        return found

    def test_scales_and_ranges_come_from_the_table(self) -> None:
        self.assertEqual(self.dimension("keep", 0).range_text, "0s to 1440min, logarithmic")
        self.assertEqual(self.dimension("reserve", 0).range_text, "4KiB to 1024MiB, logarithmic")
        self.assertEqual(self.dimension("greed").range_text, "0% to 100%")
        self.assertEqual(self.dimension("rounds", 0).range_text, "1 to 1000, logarithmic")
        self.assertEqual(self.dimension("picky").range_text, "false, true")
        for kind in ("names", "choice"):
            entry = next(entry for entry in fake_plimsoll.TABLE if entry["type"] == kind)
            self.assertIsNone(space.dimension(entry, {}))

    def test_a_search_stays_near_the_default_where_nobody_names_a_range(self) -> None:
        entry = next(entry for entry in fake_plimsoll.TABLE if entry["parameter"] == "keep")
        for default, words in ((1, "62ms to 16s, logarithmic"), (300, "18.8s to 80min, logarithmic"), (86400, "90min to 1440min")):
            found = self.dimension("keep", default)
            self.assertEqual(found.range_text, words)
            self.assertEqual(space.narrowed(found, "0s..1440min", entry).range_text, "0s to 1440min, logarithmic")
        self.assertEqual(self.dimension("rounds", 5).range_text, "1 to 80")
        self.assertEqual(self.dimension("rounds", 50).range_text, "4 to 800, logarithmic")
        even = space.dimension({**entry, "scale": "even"}, {})
        assert even
        self.assertEqual(even.range_text, "0s to 1440min")
        # What is off by default begins at a second.
        off = self.dimension("keep", 0)
        self.assertEqual((off.text(1.2), off.text(1.3)), ("0s", "1.3s"))

    def test_the_table_may_ask_for_an_even_scale(self) -> None:
        small = {**next(entry for entry in fake_plimsoll.TABLE if entry["parameter"] == "greed"), "default_value": 0.0}
        by_range, even = (space.dimension({**small, "scale": scale}, {}) for scale in ("ranged", "even"))
        assert by_range and even
        self.assertEqual((by_range.range_text, even.range_text), ("0% to 100%, logarithmic", "0% to 100%"))
        self.assertFalse(space.narrowed(even, "0%..50%", {**small, "scale": "even"}).is_log)

    def test_what_the_scenarios_cannot_use_is_not_searched(self) -> None:
        self.assertEqual(self.dimension("keep", 600, time=1200).high, 1200)
        self.assertEqual(self.dimension("reserve", 0, bytes=1 << 29).high, 1 << 29)
        # Unless the default lies there.
        self.assertEqual(self.dimension("reserve", bytes=1 << 20).high, 8 << 20)

    def test_a_zero_stands_at_the_lowest_step_of_a_logarithmic_scale(self) -> None:
        keep = self.dimension("keep", 0)
        self.assertEqual(keep.text(keep.clamped(0.0)), "0s")
        self.assertEqual(self.dimension("reserve").text(4096.0), "4KiB")

    def test_where_a_zero_would_stand_is_the_table_s_figure(self) -> None:
        table = {
            "parameter": "critical", "type": "ratio", "default": "table", "meaning": "a threshold", "may_be_table": True,
            "minimum": "0.0001%", "minimum_value": 1e-6, "maximum": "100%", "maximum_value": 1.0,
        }  # fmt: skip
        found = space.dimension(table, {})
        assert found
        self.assertEqual(found.range_text, "table to 100%, logarithmic")
        self.assertEqual(found.text(found.clamped(found.standard)), "table")
        self.assertEqual(found.text(0.05), "5%")
        given = space.dimension({**table, "default": "5%", "default_value": 0.05}, {})
        assert given
        self.assertEqual(given.text(given.clamped(given.standard)), "5%")
        for ends in ("table..10%", "0%..10%"):
            self.assertEqual(space.narrowed(found, ends, table).range_text, "table to 10%, logarithmic")
        self.assertEqual(space.narrowed(found, "1%..10%", table).range_text, "1% to 10%")

    def test_parameters_of_rules_have_numbers_and_ranges_of_any_figures(self) -> None:
        weight = {
            "parameter": "w", "type": "number", "default": "0.5", "default_value": 0.5, "meaning": "", "scale": "ranged",
            "minimum": "-1.2345", "minimum_value": -1.2345, "maximum": "2", "maximum_value": 2.0, "may_be_table": False,
        }  # fmt: skip
        found = space.dimension(weight, {})
        assert found
        self.assertFalse(found.is_log)
        self.assertEqual([found.text(value) for value in (-1.2345, -0.00000001, 0.5, 1.23456)], ["-1.23", "0", "0.5", "1.23"])
        # Three figures would be beyond the end of the range, which the program refuses.
        self.assertEqual(found.text(1.9999), "2")
        self.assertEqual(replace(found, ends=("-1.2", "1.999")).text(1.9999), "1.999")
        self.assertEqual(replace(found, ends=("-1.2", "1.999")).text(-1.2345), "-1.2")
        self.assertEqual(space.narrowed(found, "-0.5..1", weight).range_text, "-0.5 to 1")

    def test_a_parameter_of_rules_gets_a_value_beside_its_declaration(self) -> None:
        table = {
            "parameter": "calm", "type": "time", "default": "40s", "default_value": 40.0, "meaning": "", "scale": "ranged",
            "minimum": "5s", "minimum_value": 5.0, "maximum": "5min", "maximum_value": 300.0, "may_be_table": False,
        }  # fmt: skip
        policy = {
            "name": "ladder",
            "parameters": {"calm": {"default": "30s", "range": "5s..5min", "value": "40s"}, "rest": {"default": "1s"}},
            "rules": [{"name": "a", "who": "idle > $calm"}],
        }
        found = space_of(policy, [table], [], [], {"time": 1200.0})
        self.assertEqual([(one.standard, one.low, one.high) for one in found], [(40.0, 5.0, 300.0)])
        asked = mock.Mock(space=found, policy=policy)
        chosen = Problem.with_parameters(asked, {"calm": 12.3456})
        self.assertEqual(chosen["parameters"]["calm"], {"default": "30s", "range": "5s..5min", "value": "12.3s"})
        self.assertEqual(chosen["parameters"]["rest"], {"default": "1s"})
        self.assertEqual(chosen["rules"], policy["rules"])

    def test_texts_are_read_back_as_what_they_say(self) -> None:
        for kind, values in {
            "time": (0.012, 1.0, 32.7, 60.0, 90.0, 3600.0),
            "ratio": (0.001, 0.07, 0.5, 1.0),
            "bytes": (4096.0, 8388608.0, 123456789.0),
        }.items():
            write = {"time": space.time_text, "ratio": space.share_text, "bytes": space.bytes_text}[kind]
            for value in values:
                self.assertAlmostEqual(quantity(write(value), kind) / value, 1, delta=0.005, msg=write(value))


class Questions(unittest.TestCase):
    def problem(self, **different: object) -> mock.Mock:
        known = tuple(Metric(name, name, is_number=name != "policy") for name in ("policy", "a_ms", "b", "duration_s"))
        scenarios, held_out = ([SimpleNamespace(name=name)] for name in ("day", "feast"))
        return mock.Mock(**{
            "seed": 7, "seeds": (1, 2), "held_out_seeds": (5, 6), "scenarios": scenarios, "held_out": held_out, "known": known,
            "objectives": (Objective("a_ms", "minimize"), Objective("b", "maximize")),
            "constraints": (Constraint("b", "<=", 3),), "metrics": ("a_ms", "b"), **different,
        })  # fmt: skip

    def test_the_program_is_asked_about_numbers_by_scenario(self) -> None:
        standard, tuned = ({"policy": "p", "a_ms": a, "b": b, "duration_s": "60"} for a, b in (("900", "2"), ("", "5")))
        pairs = [verdict.Pair(name, seed, standard, tuned) for seed in (5, 6) for name in ("day", "feast")]
        asked = verdict.question(self.problem(), pairs, [["training"]])  # type: ignore[list-item]
        self.assertEqual(asked["goals"], [{"metric": "a_ms", "is_maximized": False}, {"metric": "b", "is_maximized": True}])
        self.assertEqual([(one["name"], one["is_seen"], one["training"]) for one in asked["scenarios"]],
                         [("day", True, ["training"]), ("feast", False, [])])  # fmt: skip
        # A run without a launch counts as waiting for all of it.
        pair = {"standard": {"a_ms": 900.0, "b": 2.0, "duration_s": 60.0}, "tuned": {"a_ms": 60_000.0, "b": 5.0, "duration_s": 60.0}}
        self.assertEqual([one["pairs"] for one in asked["scenarios"]], [[pair, pair], [pair, pair]])
        broken = ["b <= 3: 5, and 2 under the default"]
        self.assertEqual([(one["place"], one["scenarios"], one["broken"]) for one in asked["groups"]], [
            ("day", ["day"], broken), ("feast", ["feast"], broken), ("2 seeds it never saw", ["day"], broken),
            ("scenarios it never saw (feast; 2 seeds)", ["feast"], broken),
        ])  # fmt: skip

    def test_the_training_runs_are_told_too(self) -> None:
        problem = self.problem(scenarios=(mock.Mock(), mock.Mock()), metrics=("a", "b"))
        base = mock.Mock(user_attrs={"round_0": [[1, 2], [3, 4]], "round_1": [[2, 2], [3, 4]]})
        tuned = mock.Mock(user_attrs={"round_0": [[0, 1], [3, 4]], "round_1": [[1, 1], [3, 5]]})
        night = [{"standard": {"a": 3, "b": 4}, "tuned": {"a": 3, "b": b}} for b in (4, 5)]
        self.assertEqual(verdict.training_of(problem, base, tuned)[1], night)


class Ablations(unittest.TestCase):
    """Of a policy whose parameters a, b and c the search changed; d has its default."""

    TUNED: ClassVar = [[5.0, 1.0], [7.0, 2.0]]

    def ablated(self, alone: dict[str, list[list[float]]], together: list[list[float]]) -> tuple[ablation.Ablation, list[list[str]]]:
        space_ = [mock.Mock(standard_text="0", **{"text.side_effect": str}) for _ in "abcd"]
        for one, name in zip(space_, "abcd"):
            one.name = name
        problem = mock.Mock(space=space_, seeds=(1, 2), metrics=("felt", "lost"))
        chosen = mock.Mock(params={"a": 1, "b": 2, "c": 3, "d": 0})
        chosen.user_attrs = {"slot": 4, "round_0": [self.TUNED[0]], "round_1": [self.TUNED[1]]}
        asked: list[list[str]] = []

        def board(sets: list[list[str]]) -> Board:
            asked.extend(sets)
            found = [alone[names[0]] if len(names) == 1 else together for names in sets]
            trials = {
                slot: mock.Mock(user_attrs={f"round_{number}": [case] for number, case in enumerate(cases)})
                for slot, cases in enumerate(found)
            }
            return cast("Board", mock.Mock(**{"read.return_value": SimpleNamespace(owners=trials)}))

        return ablation.ablate(problem, chosen, 1, board, lambda _: mock.Mock()), asked

    def test_what_changes_nothing_alone_and_together_goes_back(self) -> None:
        found, asked = self.ablated({"a": self.TUNED, "b": [[6.0, 1.0], [7.0, 2.0]], "c": self.TUNED}, self.TUNED)
        self.assertEqual((found.kept, found.idle), (["b"], ["a", "c"]))
        self.assertEqual(asked, [["a"], ["b"], ["c"], ["a", "c"]])
        self.assertEqual(found.without["b"], {"felt": 6.5, "lost": 1.5})

    def test_what_matters_together_stays(self) -> None:
        found, _ = self.ablated({"a": self.TUNED, "b": self.TUNED, "c": [[9.0, 1.0], [7.0, 2.0]]}, [[5.0, 1.0], [8.0, 2.0]])
        self.assertEqual((found.kept, found.idle), (["a", "b", "c"], []))

    def test_what_the_program_refuses_to_be_without_stays(self) -> None:
        found, asked = self.ablated({"a": [], "b": self.TUNED, "c": [[9.0, 1.0], [7.0, 2.0]]}, [])
        self.assertEqual((found.kept, found.idle, "a" in found.without), (["a", "c"], ["b"], False))
        self.assertEqual(asked, [["a"], ["b"], ["c"]])


class Stopping(unittest.TestCase):
    def test_a_trial_is_stopped_only_when_it_is_nowhere_better_and_somewhere_clearly_worse(self) -> None:
        problem = mock.Mock(objectives=(Objective("a", "minimize"), Objective("b", "minimize")), metrics=("a", "b"))
        other = [[float(k), 5.0] for k in range(4)]

        def worse(da: float, db: float) -> bool:
            return search.is_worse(problem, [[a + da, b + db] for a, b in other], other)

        self.assertTrue(worse(1, 0))
        self.assertFalse(worse(1, -0.1))
        self.assertFalse(worse(0, 0))
        self.assertTrue(Constraint("a", "<=", 0).is_lost(1, 30))
        self.assertFalse(Constraint("a", ">=", 5).is_lost(1, 30))


class BadInput(TuneCase):
    def refused(self, status: int, words: str, *arguments: object) -> None:
        found, out, err = self.tune(*arguments)
        self.assertEqual((found, out), (status, ""), err)
        line = err.strip().splitlines()[-1]
        self.assertIn(words, line)
        self.assertNotIn("Traceback", err)

    def test_one_line_and_the_documented_status(self) -> None:
        day = self.scenario("day")
        fine = (day, "--policy", "fake", "--out", self.directory / "none")
        self.refused(64, "required: --policy", day)
        self.refused(64, "--out: is empty", day, "--policy", "fake", "--out", "")
        self.refused(64, "name a scenario", "--policy", "fake")
        self.refused(64, "--trials must be at least 2", *fine, "--trials", 1)
        self.refused(64, "no metric 'kils'", *fine, "--minimize", "kils")
        self.refused(64, "expected METRIC <= NUMBER", *fine, "--constraint", "stalls < many")
        self.refused(64, "expected seeds such as", *fine, "--seeds", "one")
        self.refused(64, "the search sees some of them", *fine, "--seeds", "1..5", "--held-out-seeds", "5..20")
        self.refused(64, "at least 5 seeds", *fine, "--held-out-seeds", "50..52")
        self.refused(64, "no parameter 'kep'", *fine, "--parameter", "kep")
        self.refused(64, "expected LOW..HIGH", *fine, "--range", "keep=5")
        self.refused(64, "the policy takes 0s..1d", *fine, "--range", "keep=1s..48h")
        self.refused(64, "both trained on and held out: day", *fine, "--held-out", day)
        self.refused(65, "unknown policy 'fak'", day, "--policy", "fak")
        self.refused(65, "unknown key 'broken'", self.scenario("bad", "broken: 1"), "--policy", "fake")
        self.refused(66, "no scenario", self.directory / "nope.yaml", "--policy", "fake")
        self.refused(
            66, "no scenario (*.yaml)", "--scenarios", tempfile.mkdtemp(dir=self.directory), "--policy", "fake"
        )
        self.refused(66, "no policy file", day, "--policy", self.directory / "nope.yaml")
        self.refused(66, "nothing to resume", *fine, "--resume")
        self.refused(64, "postgresql:// and sqlite:/// are supported", *fine, "--storage", "mysql://here/db")
        self.refused(69, "cannot reach the storage", *fine, "--storage", "postgresql://me:secret@127.0.0.1:1/db")
        self.assertFalse((self.directory / "none").exists(), "a refused command leaves nothing")

    def test_a_password_is_never_shown(self) -> None:
        url = "postgresql://me:secret@127.0.0.1:1/db"
        _, out, err = self.tune(self.scenario("day"), "--policy", "fake", "--storage", url)
        self.assertNotIn("secret", out + err)
        self.assertNotIn("secret", " ".join(MAIN.hidden(["--storage", url, f"--storage={url}"])))

    def test_a_result_directory_is_not_touched_unasked(self) -> None:
        out = self.directory / "out"
        out.mkdir()
        (out / "mine.txt").write_text("mine", "utf-8")
        self.refused(73, "exists; go on with --resume", self.scenario("day"), "--policy", "fake", "--out", out)
        self.assertEqual([path.name for path in out.iterdir()], ["mine.txt"])

    def test_folders_that_nothing_came_of_are_taken_away(self) -> None:
        out = self.directory / "some" / "where" / "out"
        storage = f"sqlite:///{self.directory / 'not-there' / 'study.db'}"
        self.refused(69, "", self.scenario("day"), "--policy", "fake", "--storage", storage, "--out", out)
        self.assertFalse((self.directory / "some").exists())

    def test_a_study_about_something_else_is_not_joined(self) -> None:
        storage = f"sqlite:///{self.directory}/shared.db"
        arguments = (self.scenario("day"), "--policy", "fake", "--trials", 3, "--storage", storage, "--study", "ours")
        self.assertEqual(self.tune(*arguments, "--out", self.directory / "a")[0], 0)
        self.refused(65, "differs in seeds", *arguments, "--seeds", "1..3", "--out", self.directory / "b")

    def test_a_bad_policy_file_is_told_in_the_programs_own_words(self) -> None:
        fine = (self.scenario("day"), "--out", self.directory / "none")
        self.refused(65, "bad.yaml:1:1: unknown key 'broken'", *fine, "--policy", self.scenario("bad", "broken: 1"))
        self.refused(64, "expected METRIC <=", *fine, "--policy", "fake", "--constraint", "terminations <= 1.2.3")
        self.refused(64, "expected LOW..HIGH", *fine, "--policy", "fake", "--range", "greed=nan..50%")
        self.assertFalse((self.directory / "none").exists())

    def test_a_policy_file_is_read_as_the_program_reads_it(self) -> None:
        tables = {"fake": fake_plimsoll.TABLE, "ladder": []}
        file = self.directory / "policy.yaml"

        def read(text: bytes) -> dict[str, object]:
            file.write_bytes(text)
            return policy_of(str(file), tables)

        self.assertEqual(read(b"parameters: { a: 1MB }\n"), {"name": "ladder", "parameters": {"a": "1MB"}})
        self.assertEqual(read(b"name: fake\nlabel: mine\nparameters:\n"), {"name": "fake"})
        # To YAML 1.1 these are 8, 1000, 90, a tenth of a thousandth, a day and a truth.
        odd = {"a": "010", "b": "1_000", "c": "1:30", "d": "0.0001", "e": "2020-01-01", "f": "yes"}
        text = ", ".join(f"{key}: {value}" for key, value in odd.items())
        self.assertEqual(read(f"name: fake\nparameters: {{ {text} }}\n".encode()), {"name": "fake", "parameters": odd})
        for bad, words in (
            (b"name: [ladder]\n", "expected a policy with a name"),
            (b"name: fake\nparameters: text\n", "expected a mapping"),
            (b"rules: [{ name: a, when: level == warning, action: warn }]\n", "its rules have no parameters to search"),
            (b"rules: [{ name: a }]\nparameters: {}\n", "its rules have no parameters to search"),
            (b"- fake\n", "a mapping"),
            (b"name: \xff\n", "not UTF-8"),
            (b"name: {\n", "not YAML"),
        ):
            with self.assertRaisesRegex(program.Fault, words) as caught:
                read(bad)
            self.assertEqual(caught.exception.status, 65)
        rules = b"rules: [{ name: a, who: idle > $calm }]\nparameters: { calm: { default: 30s, range: 5s..5min } }\n"
        declared = {"calm": {"default": "30s", "range": "5s..5min"}}
        whole = {"name": "ladder", "parameters": declared, "rules": [{"name": "a", "who": "idle > $calm"}]}
        self.assertEqual(read(rules), whole)
        with self.assertRaisesRegex(program.Fault, "keep: 'lots' is no time"):
            space_of({"name": "fake", "parameters": {"keep": "lots"}}, fake_plimsoll.TABLE, [], [], {})

    def test_bounds_are_read_in_all_units_each_for_itself(self) -> None:
        paths: tuple[Path, ...] = (
            self.scenario("day", "duration: 1h30min\ndevice: { ceiling: 900MB }\n"),
            self.scenario("night", "duration: 20min\ndevice: { ceiling: 512MiB }\n"),
        )
        self.assertEqual(bounds_of(scenarios_of(paths, "")), {"time": 5400, "bytes": 900_000_000})
        paths += (self.scenario("other", "duration: 1min\ndevice: phone\n"),)
        self.assertEqual(bounds_of(scenarios_of(paths, "")), {"time": 5400})

    def test_seeds(self) -> None:
        self.assertEqual(seeds_of("1..3,7", "--seeds"), (1, 2, 3, 7))
        for text in ("", "3..1", "1,1", "1..", "-1"):
            with self.assertRaises(program.Fault):
                seeds_of(text, "--seeds")


class Processes(TuneCase):
    """With a real process for the search, and one for each run."""

    has_default_objectives = True

    def setUp(self) -> None:
        super().setUp()
        self.fake = self.program(FAKE)

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, *program_of("tuning"), *map(str, arguments)]
        process: subprocess.Popen[str] = subprocess.Popen(
            command,
            env={**os.environ, "PLIMSOLL": str(self.fake)},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self.addCleanup(process.kill)
        return process

    def wait_for(self, database: Path, query: str, least: int) -> None:
        """Until the study has got so far."""
        import sqlite3

        until = time.monotonic() + 300
        while time.monotonic() < until:
            with (
                contextlib.suppress(sqlite3.OperationalError),
                contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection,
            ):
                if connection.execute(query).fetchone()[0] >= least:
                    return
            time.sleep(0.02)
        self.fail("the search did not get so far")

    def test_runs_end_when_the_search_is_killed(self) -> None:
        endless = self.scenario("endless")
        process = self.start(endless, "--policy", "fake", "--jobs", 1, "--out", self.directory / "out")
        note = endless.with_suffix(".pid")
        self.until("a run has begun", lambda: note.is_file() and note.read_text("utf-8") != "")
        process.kill()
        process.communicate(timeout=300)
        run = Path("/proc") / note.read_text("utf-8") / "cmdline"
        self.until("the run has ended", lambda: not run.is_file() or b"endless" not in run.read_bytes())

    def test_a_closed_terminal_interrupts_the_search_unless_it_is_under_nohup(self) -> None:
        endless = self.scenario("endless")
        note = endless.with_suffix(".pid")
        arguments = (endless, "--policy", "fake", "--jobs", 1, "--out", self.directory / "out")
        # These tests may be under nohup themselves.
        process = self.start(*arguments, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL) and None)
        self.until("a run has begun", lambda: note.is_file() and note.read_text("utf-8") != "")
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 129, err)
        self.assertIn("what is done is kept", err)
        note.unlink()
        process = self.start(
            *arguments, "--resume", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None
        )
        self.until("a run has begun again", lambda: note.is_file() and note.read_text("utf-8") != "")
        process.send_signal(signal.SIGHUP)
        time.sleep(1)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 143, err)

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 300
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def test_an_interrupted_search_goes_on_as_if_it_had_not_been(self) -> None:
        slow = self.scenario("slow day")
        arguments = (
            slow,
            "--policy",
            "fake",
            "--parameter",
            "keep",
            "--trials",
            14,
            "--seeds",
            "1..3",
            "--jobs",
            2,
            "--held-out-seeds",
            "11..15",
        )
        out = self.directory / "out"
        process = self.start(*arguments, "--out", out)
        # In mid-trial: several are done, and one has a seed behind it.
        self.wait_for(out / "study.db", "select count(*) from trials where state = 'COMPLETE'", 2)
        self.wait_for(out / "study.db", "select count(*) from trial_user_attributes where key like 'round_%'", 8)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        # As a shell takes it, although there is a space in it.
        words = shlex.split(err.strip().partition("Go on with: ")[2])
        self.assertEqual(words, ["Scripts/tune", *map(str, arguments), "--out", str(out), "--resume"])
        process = self.start(*arguments, "--out", out, "--resume")
        _, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, err), (0, ""))
        self.tune(*arguments, "--out", self.directory / "whole")
        for name in ("trials.csv", "verdict.csv", "policy.yaml"):
            self.assertEqual((out / name).read_bytes(), (self.directory / "whole" / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
