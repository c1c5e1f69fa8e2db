"""Scripts/sweep-on without a cluster: the parcel, the chunks, what becomes of failures, and going on."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from harness import SCRIPTS, FolderCase, call_main, load_main

from plimsoll_tools.clusters import experiment, slurm, study
from plimsoll_tools.clusters.chunks import FIRST, MOST, Chunker, Failed
from plimsoll_tools.clusters.engine import Local
from plimsoll_tools.clusters.errand import PARCEL, SCRATCH, SUMS, Desk, Ended, Errand, by_host, faults_of, filled, unpack
from plimsoll_tools.clusters.experiment import Settings
from plimsoll_tools.clusters.parcel import build, libraries_of
from plimsoll_tools.clusters.planned import Planned
from plimsoll_tools.clusters.slurm import SCRIPT, node_of, status_of
from plimsoll_tools.tuning.program import Fault, Interruption


def request(index: int) -> bytes:
    return json.dumps({"index": index, "arguments": ["--seed", str(index)]}).encode()


def ending(index: int, status: int = 0, cpu_s: float = 0.1) -> bytes:
    found = {"index": index, "status": status, "output": "f\nrow\n", "errors": "", "cpu_seconds": cpu_s, "peak_kibibytes": 9}
    return json.dumps(found).encode()


def ended(errand: Errand, *lines: bytes, where: str = "n1", fault: str = "") -> Ended:
    return Ended(errand.number, b"\n".join(lines) + b"\n", where, fault)


class Chunks(unittest.TestCase):
    def setUp(self) -> None:
        self.said: list[Failed] = []

    def chunker(self, runs: int, waiting: int | None = None, **how: object) -> Chunker:
        chunks = Chunker(runs, say=self.said.append, **how)  # type: ignore[arg-type]
        for index in range(runs if waiting is None else waiting):
            chunks.asked += 1
            chunks.waiting.append(chunks.take(request(index)))
        return chunks

    def indices(self, errand: Errand) -> list[int]:
        return [json.loads(line)["index"] for line in errand.given.splitlines()]

    def form(self, chunks: Chunker, slots: int = 2) -> Errand:
        errand = chunks.form(slots)
        assert errand is not None
        return errand

    def test_the_first_chunk_is_small_and_later_ones_take_the_time_that_was_asked_for(self) -> None:
        chunks = self.chunker(10_000, waiting=500, seconds=20)
        first = self.form(chunks)
        self.assertEqual(self.indices(first), list(range(FIRST)))
        chunks.end(ended(first, *(ending(index, cpu_s=0.25) for index in range(FIRST))))
        self.assertEqual(chunks.size(2), 80)
        self.assertEqual(self.indices(self.form(chunks)), list(range(FIRST, FIRST + 80)))

    def test_chunks_become_smaller_towards_the_end_and_no_case_is_left_or_doubled(self) -> None:
        chunks = self.chunker(1000, seconds=1000)
        sizes, seen = [], []
        while (errand := chunks.form(4)) is not None:
            seen += self.indices(errand)
            sizes.append(len(self.indices(errand)))
            chunks.end(ended(errand, *(ending(index) for index in self.indices(errand))))
        self.assertEqual(seen, list(range(1000)))
        self.assertEqual(sizes[1:], sorted(sizes[1:], reverse=True))
        self.assertEqual((sizes[1], sizes[-1]), (125, 1))

    def test_a_chunk_never_exceeds_the_most_nor_the_size_that_was_given(self) -> None:
        chunks = self.chunker(1_000_000, waiting=8, seconds=1e9)
        errand = self.form(chunks)
        chunks.end(ended(errand, *(ending(index, cpu_s=1e-9) for index in self.indices(errand))))
        self.assertEqual(chunks.size(1), MOST)
        self.assertEqual(len(self.indices(self.form(self.chunker(100, fixed=7)))), 7)

    def test_no_more_cases_are_asked_for_than_the_next_chunks_hold(self) -> None:
        chunks = self.chunker(1000, waiting=0, fixed=10)
        self.assertEqual(chunks.wanted(3, 2), 30)
        self.assertEqual(chunks.wanted(3, 2), 0)
        chunks.waiting.append(chunks.take(request(0)))
        self.assertEqual(chunks.wanted(3, 2), 0)
        self.assertEqual(self.chunker(8, waiting=5, fixed=10).wanted(3, 2), 3)

    def test_a_case_that_fails_is_tried_again_alone_and_elsewhere_and_at_last_said_to_the_program(self) -> None:
        chunks = self.chunker(4, fixed=4)
        answers = chunks.end(ended(self.form(chunks), ending(0), ending(1, 65), ending(2), ending(3)))
        self.assertEqual([json.loads(line)["index"] for line in answers], [0, 2, 3])
        for attempt, node in ((2, "n2"), (3, "n3")):
            errand = self.form(chunks)
            self.assertEqual(self.indices(errand), [1])
            self.assertNotIn(node, errand.avoid)
            self.assertIn("n1", errand.avoid)
            answers = chunks.end(ended(errand, ending(1, 65), where=node))
            self.assertEqual(len(answers), attempt == 3)
        self.assertEqual(json.loads(answers[0])["status"], 65)
        self.assertIsNone(chunks.form(2))
        self.assertEqual([failed.is_last for failed in self.said], [False, False, True])

    def test_a_worker_that_dies_blames_the_case_that_was_under_way_and_no_other(self) -> None:
        chunks = self.chunker(6, fixed=6)
        answers = chunks.end(ended(self.form(chunks), ending(0), ending(1), fault="signal 9"))
        self.assertEqual(len(answers), 2)
        self.assertEqual({case.index: case.attempts for case in chunks.waiting}, {3: 0, 4: 0, 5: 0, 2: 1})
        self.assertTrue(all(case.avoid == {"n1"} for case in chunks.waiting))
        self.assertEqual(self.indices(self.form(chunks)), [3, 4, 5])
        self.assertEqual(self.indices(self.form(chunks)), [2])
        self.assertEqual([(one.cases, one.why) for one in self.said], [(4, "signal 9")])

    def test_a_case_that_kills_every_worker_ends_as_failed_with_the_reason(self) -> None:
        chunks = self.chunker(1)
        for _ in range(3):
            answers = chunks.end(ended(self.form(chunks), fault="signal 9"))
        found = json.loads(answers[0])
        self.assertEqual((found["index"], found["status"]), (0, 71))
        self.assertIn("in 3 attempts; the last one, on n1: signal 9", found["errors"])

    def test_half_a_line_and_foreign_lines_are_no_results(self) -> None:
        chunks = self.chunker(2, fixed=2)
        answers = chunks.end(ended(self.form(chunks), b"warning: x", ending(7), ending(0)[:-4], b'{"index": 1}'))
        self.assertEqual(answers, [])
        self.assertEqual(sorted(case.index for case in chunks.waiting), [0, 1])

    def test_a_chunk_that_the_engine_refuses_waits_again_in_its_order(self) -> None:
        chunks = self.chunker(10, fixed=3)
        first, second = self.form(chunks), self.form(chunks)
        for refused in (second, first):
            chunks.put_back(refused)
        self.assertEqual([case.index for case in chunks.waiting], list(range(10)))

    def test_hosts_are_avoided_as_long_as_there_are_others(self) -> None:
        hosts = {"a": ["a:1", "a:2"], "b": ["b:1"]}
        self.assertEqual(by_host(frozenset({"a"}), hosts), ["b:1"])
        self.assertEqual(by_host(frozenset({"a", "b"}), hosts), ["a:1", "a:2", "b:1"])


class Parcels(FolderCase):
    def built(self) -> Path:
        tree = self.directory / "tree"
        (tree / "deep").mkdir(parents=True)
        (tree / "deep" / "scenario.yaml").write_text("name: s\n", "utf-8")
        program = self.program("echo ran\n")
        files = {"files/tree/deep/scenario.yaml": tree / "deep" / "scenario.yaml"}
        return build(self.directory / "parcel", program, files).folder

    def test_a_program_takes_its_libraries_along_but_not_the_c_library(self) -> None:
        names = libraries_of(Path(sys.executable).resolve())
        self.assertFalse([name for name in names if name.startswith(("libc.", "libm.", "ld-linux"))])
        self.assertTrue(all(path.is_file() for path in names.values()))

    def test_the_folder_holds_everything_under_its_hash_and_starts(self) -> None:
        parcel = self.built()
        listed = [line.split("  ")[1] for line in (parcel / SUMS).read_text("utf-8").splitlines()]
        there = sorted(str(path.relative_to(parcel)) for path in parcel.rglob("*") if path.is_file())
        self.assertEqual(sorted([*listed, SUMS]), there)
        self.assertEqual(Desk(parcel, "here").run(Errand(0, ("./plimsoll",))).output, b"ran\n")

    def test_a_changed_file_is_found_and_the_folder_is_made_anew(self) -> None:
        parcel = self.built()
        self.assertEqual(faults_of(parcel), [])
        (parcel / "bin" / "plimsoll").write_bytes(b"other")
        (parcel / "files/tree/deep/scenario.yaml").unlink()
        self.assertEqual(faults_of(parcel), ["bin/plimsoll", "files/tree/deep/scenario.yaml"])
        again = build(parcel, self.directory / "plimsoll", {})
        self.assertEqual(faults_of(again.folder), [])

    def test_it_arrives_whole_in_another_place_or_not_at_all(self) -> None:
        self.built()
        parcel = build(self.directory / "parcel", self.directory / "plimsoll", {})
        packed = parcel.packed()
        self.assertEqual(packed[10:], parcel.packed()[10:])  # gzip writes the time into its head.
        unpack(packed, self.directory / "there")
        self.assertEqual(Desk(self.directory / "there", "there").run(Errand(0, ("./plimsoll",))).output, b"ran\n")
        (parcel.folder / "bin" / "plimsoll").write_bytes(b"other")
        with self.assertRaisesRegex(RuntimeError, "bin/plimsoll"):
            unpack(parcel.packed(), self.directory / "damaged")

    def test_a_file_that_is_not_there_is_66(self) -> None:
        with self.assertRaises(Fault) as raised:
            build(self.directory / "p", self.program(""), {"files/x": self.directory / "missing"})
        self.assertEqual(raised.exception.status, 66)

    def test_words_are_filled_in_on_the_worker(self) -> None:
        self.assertEqual(filled(f"{PARCEL}/a {SCRATCH}/b", "/p", "/s", "python"), "/p/a /s/b")

    def test_an_errand_that_fails_brings_its_words_back(self) -> None:
        done = Desk(self.directory, "here").run(Errand(1, ("sh", "-c", "echo out; echo why >&2; exit 3")))
        self.assertEqual((done.output, done.fault, done.log), (b"out\n", "status 3", "why"))
        done = Desk(self.directory, "here").run(Errand(1, ("sh", "-c", "kill -9 $$")))
        self.assertEqual(done.fault, "signal 9")
        self.assertIn("cannot start", Desk(self.directory, "here").run(Errand(1, ("no-such-program",))).fault)


class Experiments(FolderCase):
    """The whole way with the engine `local` and a stand-in for the program."""

    def setUp(self) -> None:
        super().setUp()
        planner = SCRIPTS / "tests" / "fake_planner.py"
        self.fake = self.program(f'exec "{sys.executable}" -I -S "{planner}" "$@"\n')
        (self.directory / "scenario.yaml").write_text("name: s\n", "utf-8")
        self.out = self.directory / "out"
        environment = mock.patch.dict(os.environ, {"FAKE_PLANNER": str(self.directory), "PLIMSOLL": str(self.fake)})
        environment.start()
        self.addCleanup(environment.stop)

    def sweep(self, runs: int, *words: str, chunk: int = 5) -> tuple[int, str]:
        status, _, err = call_main(
            load_main("clusters"), "local", "--workers", 2, "--chunk", chunk, *words, "sweep", "--runs", runs, "--out", self.out
        )  # fmt: skip
        return status, err

    def ran(self) -> list[int]:
        path = self.directory / "ran"
        return sorted(int(line) for line in path.read_text("utf-8").split()) if path.exists() else []

    def assert_whole(self, runs: int) -> None:
        rows = (self.out / "sweep.csv").read_text("utf-8").splitlines()
        self.assertEqual(rows, [f"{index},{index * index}" for index in range(runs)])

    def test_every_case_runs_once_and_nothing_is_left_behind(self) -> None:
        self.assertEqual(self.sweep(103), (0, ""))
        self.assert_whole(103)
        self.assertEqual(self.ran(), list(range(103)))
        self.assertFalse((self.directory / "out.work").exists())

    def test_the_program_has_only_the_next_chunks_in_hand(self) -> None:
        self.assertEqual(self.sweep(400, chunk=3)[0], 0)
        self.assertLessEqual(int((self.directory / "most").read_text("utf-8")), 2 * 2 * 3)

    def test_a_worker_that_dies_costs_nothing_but_its_chunk(self) -> None:
        (self.directory / "crash-17").write_bytes(b"1")
        status, err = self.sweep(40)
        self.assertEqual(status, 0)
        self.assert_whole(40)
        self.assertEqual(self.ran(), sorted([*range(40), 17]))
        self.assertIn("failed on this machine (status 9): tried again elsewhere", err)

    def test_a_case_that_always_fails_is_named_and_the_others_are_made(self) -> None:
        (self.directory / "fail-3").write_bytes(b"1" * 99)
        (self.directory / "crash-8").write_bytes(b"1" * 99)
        status, err = self.sweep(20)
        self.assertEqual(status, 65)
        self.assertEqual([self.ran().count(index) for index in (2, 3, 8, 9)], [1, 3, 3, 1])
        self.assertIn("not tried again", err)
        rows = (self.out / "sweep.csv").read_text("utf-8").splitlines()
        self.assertEqual([row for row in rows if row.endswith("None")], ["3,None", "8,None"])

    def test_a_second_command_for_the_same_folder_is_refused(self) -> None:
        with experiment.held(self.directory / "out.work"):
            status, err = self.sweep(3)
        self.assertEqual(status, 73)
        self.assertIn("another sweep-on works in", err)

    def test_what_workers_of_an_earlier_attempt_left_is_known_unless_it_failed_or_is_half_a_line(self) -> None:
        run = self.directory / "run"
        self.assertEqual(experiment.left_over(run), {})
        (run / "results").mkdir(parents=True)
        (run / "results" / "0.done").write_bytes(b"\n".join([ending(4), ending(5, 71), ending(6)[:-3]]))
        (run / "results" / "1.done").write_bytes(ending(9) + b"\n")
        (run / "results" / "2.part").write_bytes(ending(11) + b"\n")
        self.assertEqual(sorted(experiment.left_over(run)), [4, 9])

    def test_what_is_known_is_answered_and_not_run(self) -> None:
        news: queue.SimpleQueue[object] = queue.SimpleQueue()
        words = ["sweep", "--runs", "30", "--out", str(self.out)]
        planned, engine = Planned(self.fake, words, news, 2), Local(news, 2)
        head = planned.head(Interruption())
        assert head is not None
        run = experiment.run_folder(self.directory, "run-a")
        known = {"output": "36", **json.loads(ending(6))} | {"output": "36"}
        (run / "results").mkdir()
        (run / "results" / "0.done").write_bytes(json.dumps(known).encode() + b"\n")
        settings = Settings(30, 4, 1, 3, 2)
        status = experiment.Experiment(planned, engine, settings, news, Interruption()).go(head, run)
        engine.close()
        self.assertEqual((status, planned.close()), (0, 0))
        self.assert_whole(30)
        self.assertNotIn(6, self.ran())

    def test_the_folder_of_another_plan_is_removed(self) -> None:
        for name in ("run-a", "run-b"):
            run = experiment.run_folder(self.directory, name)
            (run / "x").write_text("", "utf-8")
        self.assertFalse((self.directory / "run-a").exists())
        self.assertTrue((experiment.run_folder(self.directory, "run-b") / "x").exists())

    def test_closing_the_engine_ends_what_runs(self) -> None:
        news: queue.SimpleQueue[object] = queue.SimpleQueue()
        engine = Local(news, 1)
        engine.open(build(self.directory / "p", self.program("sleep 600\n", "sleeper"), {}), 0)
        engine.submit([Errand(number, ("sleep", "600")) for number in range(3)])
        time.sleep(0.2)
        started = time.monotonic()
        engine.close()
        # It waits for none of them; the machine may be slow.
        self.assertLess(time.monotonic() - started, 300)


class Usage(FolderCase):
    def sweep_on(self, *words: object) -> tuple[int, str]:
        with mock.patch.dict(os.environ, {"PLIMSOLL": "/bin/false"}):
            os.environ.pop("DASK_SCHEDULER_ADDRESS", None)
            status, _, err = call_main(load_main("clusters"), *words)
        return status, err

    def test_wrong_usage_is_one_line_and_64(self) -> None:
        for words, said in (
            (["slurm"], "say what to run"),
            (["moon", "sweep"], "invalid choice"),
            (["local", "sweep", "s.yaml"], "--out DIR"),
            (["local", "sweep", "s.yaml", "--out", "o", "--jobs", "3"], "--workers and --cores"),
            (["local", "sweep", "s.yaml", "--out", "o", "--shard=1/2"], "spreads the cases by itself"),
            (["local", "--workers", "0", "sweep", "s.yaml", "--out", "o"], "--workers must be at least 1"),
            (["local", "--chunk-seconds", "nan", "sweep", "s.yaml", "--out", "o"], "--chunk-seconds"),
            (["dask", "sweep", "s.yaml", "--out", "o"], "--scheduler"),
            (["slurm", "tune", "s.yaml", "--policy", "p"], "the workers of a search share a database"),
        ):
            status, err = self.sweep_on(*words)
            self.assertEqual(status, 64, (words, err))
            self.assertIn(said, err.splitlines()[-1])

    def test_the_last_out_counts(self) -> None:
        main = load_main("clusters")
        self.assertEqual(main.out_of(["sweep", "--out", "a", "--out=b"]), Path("b"))
        self.assertIsNone(main.out_of(["sweep"]))

    def test_a_searcher_gets_the_files_of_the_parcel_and_no_folder_of_the_users(self) -> None:
        places = {"a.yaml": f"{PARCEL}/files/a.yaml", "held": f"{PARCEL}/files/held"}
        words = ["a.yaml", "--held-out=held", "--out", "o", "--storage=postgresql://x", "--resume", "--trials", "9"]
        found = study.workers_words(words, places, 2)
        self.assertEqual(
            found[4:], (places["a.yaml"], f"--held-out={places['held']}", "--trials", "9", "--jobs", "2", "--out",
                        f"{SCRATCH}/tuning"),
        )  # fmt: skip


class SlurmWords(FolderCase):
    def test_a_log_tells_the_last_node_and_how_the_task_ended(self) -> None:
        log = self.directory / "log"
        log.write_text("node n1: errand 3, attempt 1\nnode n2: errand 3, attempt 2\nplimsoll: x\nended with 137\n", "utf-8")
        self.assertEqual((node_of(log), status_of(log)), ("n2", "signal 9"))
        self.assertEqual((node_of(self.directory / "none"), status_of(self.directory / "none")), ("", ""))

    def task(self, *words: str) -> int:
        run = self.directory / "run"
        for name in ("errands", "results"):
            (run / name).mkdir(parents=True, exist_ok=True)
        if not (run / "parcel").exists():
            build(run / "parcel", self.program("cat\n"), {})
        (run / "errands" / "5.words").write_bytes(b"".join(word.encode() + b"\0" for word in words))
        (run / "errands" / "5.in").write_bytes(b"one\n")
        script = self.directory / "task.sh"
        script.write_text(SCRIPT, "utf-8")
        env = {**os.environ, "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_ID": "77", "SLURMD_NODENAME": "n1",
               "PLIMSOLL_WORKER_PYTHON": "python3"}  # fmt: skip
        done = subprocess.run(["bash", script, run, "2"], env=env, capture_output=True, text=True, check=False)
        (self.directory / "log").write_text(done.stderr, "utf-8")
        return done.returncode

    def test_the_script_of_a_task_runs_an_errand_in_the_parcel_and_leaves_its_result(self) -> None:
        self.assertEqual(self.task("./plimsoll"), 0)
        self.assertEqual((self.directory / "run/results/5.done").read_bytes(), b"one\n")
        self.assertEqual(node_of(self.directory / "log"), "n1")

    def test_a_failure_or_a_damaged_parcel_leaves_no_result(self) -> None:
        self.assertEqual(self.task("sh", "-c", "exit 7"), 7)
        self.assertEqual(status_of(self.directory / "log"), "status 7")
        (self.directory / "run" / "parcel" / "plimsoll").write_text("other", "utf-8")
        self.assertEqual(self.task("./plimsoll"), 66)
        self.assertFalse((self.directory / "run/results/5.done").exists())

    def test_words_with_blanks_and_placeholders_arrive_as_they_are(self) -> None:
        self.assertEqual(self.task("sh", "-c", 'printf "%s|" "$@"', "x", "a  b", "*", f"{PARCEL}/y", "{the Python}"), 0)
        said = (self.directory / "run/results/5.done").read_text("utf-8")
        self.assertEqual(said, f"a  b|*|{self.directory}/run/parcel/y|python3|")


class SlurmEngine(FolderCase):
    """The engine with stand-ins for Slurm's commands, which note what they are asked."""

    def setUp(self) -> None:
        super().setUp()
        (self.directory / "bin").mkdir()
        notes = self.directory
        for name, text in (
            ("sinfo", "case \"$*\" in *%C*) echo 2/4/1/7 ;; *) printf 'n1\\nn2\\n' ;; esac"),
            ("sbatch", f"if [ -e {notes}/refuse ]; then echo 'QOSMaxSubmitJobPerUserLimit' >&2; exit 1; fi; echo 41"),
            ("squeue", f"cat {notes}/queue"),
            ("scontrol", "case $* in 'show config') echo 'MaxArraySize = 4' ;; *) echo 'JobId=41 JobState=CANCELLED' ;; esac"),
            ("scancel", ":"),
        ):
            self.program(f'echo "{name} $*" >>{notes}/asked\n{text}\n', f"bin/{name}")
        (self.directory / "queue").write_text("", "utf-8")
        patches: list[Any] = [
            mock.patch.dict(os.environ, {"PATH": f"{self.directory}/bin:{os.environ['PATH']}"}),
            mock.patch.object(slurm, "ASK_S", 0.1), mock.patch.object(slurm, "GRACE_S", 0.3),
        ]  # fmt: skip
        for each in patches:
            each.start()
            self.addCleanup(each.stop)
        self.news: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.run_folder = self.directory / "run-a"
        self.run_folder.mkdir()
        self.engine = slurm.Slurm(self.news, self.run_folder, ["--partition=p"], 2, "python3")
        self.engine.open(build(self.run_folder / "parcel", self.program(""), {}), 100 << 20)
        self.addCleanup(self.engine.close)

    def asked(self, name: str) -> list[str]:
        lines = (self.directory / "asked").read_text("utf-8").splitlines()
        return [line for line in lines if line.startswith(name)]

    def submit(self, *numbers: int, avoid: frozenset[str] = frozenset()) -> list[Errand]:
        return self.engine.submit([Errand(number, ("x",), avoid=avoid) for number in numbers])

    def next(self) -> Ended:
        ended = self.news.get(timeout=240)
        assert isinstance(ended, Ended)
        return ended

    def test_there_are_as_many_places_as_processors_that_are_up(self) -> None:
        self.assertEqual(self.engine.slots(), 3)

    def test_arrays_are_no_longer_than_slurm_takes_and_say_what_a_task_needs(self) -> None:
        self.submit(0, 1, 2, 3, 4)
        calls = self.asked("sbatch")
        self.assertEqual([call.split("--array=")[1].split()[0] for call in calls], ["0-2", "0-1"])
        self.assertTrue(calls[1].endswith(f"task.sh {self.run_folder} 3"))
        for word in ("--cpus-per-task=2", "--mem=348M", "--partition=p", "--requeue"):
            self.assertIn(word, calls[0])

    def test_a_node_that_failed_is_left_out_unless_none_is_left(self) -> None:
        self.submit(0, avoid=frozenset({"n1", "gone"}))
        self.submit(1, avoid=frozenset({"n1", "n2"}))
        self.assertEqual(["--exclude=n1" in call for call in self.asked("sbatch")], [True, False])

    def test_a_result_is_gathered_and_its_files_are_removed(self) -> None:
        (self.directory / "queue").write_text("41_0 None\n", "utf-8")
        self.submit(7)
        (self.run_folder / "results" / "7.done").write_bytes(b"line\n")
        ended = self.next()
        self.assertEqual((ended.number, ended.output, ended.fault), (7, b"line\n", ""))
        until = time.monotonic() + 60
        while list((self.run_folder / "errands").iterdir()) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([list((self.run_folder / name).iterdir()) for name in ("errands", "results")], [[], []])

    def test_a_task_that_leaves_the_queue_without_a_result_has_failed(self) -> None:
        self.submit(0)
        (self.run_folder / "results" / "0.part-41-0").write_bytes(b"half\n")
        ended = self.next()
        self.assertEqual((ended.output, ended.fault), (b"half\n", "CANCELLED"))

    def test_a_task_that_is_held_is_cancelled_and_has_failed(self) -> None:
        (self.directory / "queue").write_text("41_0 launch failed requeued held\n", "utf-8")
        self.submit(0)
        self.assertEqual(self.next().fault, "launch failed requeued held")
        self.assertIn("scancel 41_0", self.asked("scancel"))

    def test_a_limit_of_the_queue_is_waited_for_but_a_refusal_with_nothing_in_it_is_69(self) -> None:
        (self.directory / "queue").write_text("41_0 None\n", "utf-8")
        (self.directory / "refuse").touch()
        with self.assertRaises(Fault) as raised:
            self.submit(0)
        self.assertEqual((raised.exception.status, "QOSMaxSubmit" in str(raised.exception)), (69, True))
        (self.directory / "refuse").unlink()
        self.assertEqual(self.submit(0), [])
        (self.directory / "refuse").touch()
        pause = mock.patch.object(slurm, "PAUSE_S", 600.0)
        pause.start()
        self.addCleanup(pause.stop)
        self.assertEqual([errand.number for errand in self.submit(1, 2)], [1, 2])
        self.assertEqual([errand.number for errand in self.submit(3)], [3])
        self.assertEqual(len(self.asked("sbatch")), 3)

    def test_what_an_earlier_attempt_left_in_the_queue_is_cancelled(self) -> None:
        self.submit(0)
        again = slurm.Slurm(self.news, self.run_folder, [], 1, "python3")
        again.open(build(self.run_folder / "parcel", self.program(""), {}), 0)
        again.close()
        self.assertTrue(any(call.endswith(" 41") and f"--jobname={again.name}" in call for call in self.asked("scancel")))


if __name__ == "__main__":
    unittest.main()
