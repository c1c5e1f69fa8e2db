"""The page about runs: what it holds, and how a browser takes it."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from browser import BROWSER
from harness import FolderCase, call_main, load_main
from synthetic_run import UNFELT, write_package, write_run, write_terminations

from plimsoll_tools.plotting import kills, reasons, several
from plimsoll_tools.plotting.run_directory import read_run
from plimsoll_tools.reporting import explanations, opening, payload

MOST_BYTES = 8_000_000
MOST_MS = 3_000

ITS_OWN = ("file:", "data:", "about:", "chrome", "https://accounts.google.com/", "http://update.googleapis.com/",
           "https://update.googleapis.com/", "http://clients2.google.com/", "https://clients2.google.com/")  # fmt: skip
"""What a browser asks for by itself, whatever page it shows; the page's own requests are counted by the page, too."""

HOVER = """
<script>
const mark = document.querySelector("g.kill");
mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 300, clientY: 200 }));
document.body.dataset.hover = document.getElementById("tip").textContent;
mark.dispatchEvent(new MouseEvent("click", { bubbles: true }));
document.body.dataset.pinned = document.querySelector("#pinned .card").textContent;
zoom(10, 20);
document.body.dataset.window = document.getElementById("window").textContent;
document.body.dataset.wide = String(document.documentElement.scrollWidth > innerWidth);
document.body.dataset.asked = String(performance.getEntriesByType("resource").length);
</script></body>"""


TOGETHER = """
<script>
const all = [...document.querySelectorAll("g.kill")], mark = all[all.length - 1];
document.body.dataset.marked = all.map((one) => one.dataset.kill).join(",");
document.body.dataset.number = mark.querySelector("text") ? mark.querySelector("text").textContent : "";
mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 300, clientY: 200 }));
document.body.dataset.hover = document.getElementById("tip").textContent;
mark.dispatchEvent(new MouseEvent("click", { bubbles: true }));
document.body.dataset.pinned = document.getElementById("pinned").textContent;
</script></body>"""


def explanation(pid: object, at_s: float, head: str, words: list[tuple[str, list[str]]] | None = None) -> dict[str, Any]:
    """An end as `plimsoll explain --format json` explains it."""
    said = words if words is not None else [("What saves it", ["less."])]
    return {"pid": int(str(pid)), "at_s": at_s, "head": head, "short": [{"label": "Why", "sentences": ["for its size."]}],
            "words": [{"label": label, "sentences": sentences} for label, sentences in said]}  # fmt: skip


def answer(*explanations_: dict[str, Any], **document: object) -> str:
    """What `plimsoll explain --format json` prints."""
    return json.dumps({"format": 1, "scenario": "scenario.yaml", "warnings": [], "other_ends": [], "explanations": explanations_, **document})


class ReportCase(FolderCase):
    def make(self, name: str = "run", **options: object) -> Path:
        path = self.directory / name
        write_run(path, **{"apps": 14, "minutes": 30.0, **options})  # type: ignore[arg-type]
        return path

    def report(self, *arguments: object) -> tuple[int, str]:
        """Exit status and stderr."""
        status, _, said = call_main(load_main("reporting"), *arguments)
        return status, said

    def page(self, *runs: Path) -> Path:
        out = self.directory / "page.html"
        self.assertEqual(self.report(*runs, "--out", out)[0], 0)
        return out


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def attribute(document: str, name: str) -> str:
    """The value of a `data-` attribute."""
    found = re.search(rf'data-{name}="([^"]*)"', document)
    assert found, f"there is no data-{name}"
    return found[1]


class Refusals(ReportCase):
    def test_another_files_place_is_not_taken(self) -> None:
        run, mine = self.make(), self.directory / "mine.html"
        mine.write_text("mine", "utf-8")
        status, said = self.report(run, "--out", mine)
        self.assertEqual((status, mine.read_text("utf-8")), (73, "mine"))
        self.assertIn("is no report", said)
        for _ in range(2):
            self.assertEqual(self.report(run)[0], 0)

    def test_an_empty_path_is_wrong_usage(self) -> None:
        self.assertEqual(self.report(self.make(), "--out", "")[0], 64)

    def test_an_experiment_beside_a_run_is_told_to_stand_alone(self) -> None:
        for name, table in (("sweep", "sweep.csv"), ("comparison", "comparison.csv"), ("survival", "survival.csv")):
            folder = self.directory / name
            folder.mkdir()
            (folder / table).write_text("case\n", "utf-8")
            status, said = self.report(self.make(f"run-{name}"), folder)
            self.assertEqual(status, 66)
            self.assertIn(f"holds a {name}'s tables and no runs; Scripts/report {folder}, alone, shows it", said)


class Explanations(ReportCase):
    """What plimsoll explain answers, and what the page says without an answer."""

    MISSING = "What would have saved an ended process is not on this page: "

    def told(self, program: object, *arguments: object, **options: object) -> dict[str, Any]:
        out = self.directory / "page.html"
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(program)}):
            status, said = self.report(self.make("told", **options), *arguments, "--out", out)
        run: dict[str, Any] = data_of(out)["runs"][0]
        # Only that something is missing is said on the terminal, too.
        note = run["explained"]["note"]
        self.assertEqual((status, said), (0, f"report: {note}\n" if note.startswith("Some ends are not explained: ") else ""))
        return run

    def says(self, *explanations_: dict[str, Any], name: str = "plimsoll", then: str = "", **document: object) -> Path:
        """A program with this answer."""
        return self.program(f"cat <<'E'\n{answer(*explanations_, **document)}\nE\n{then}", name)

    def asked(self) -> list[str]:
        """With which words the program was called, call by call."""
        file = self.directory / "asked"
        words = file.read_text("utf-8").splitlines() if file.is_file() else []
        file.unlink(missing_ok=True)
        return words

    def test_an_explanation_finds_its_kill_by_the_process_and_its_time(self) -> None:
        ends = self.told("/nowhere")["kills"]
        first = explanation(ends[0]["pid"], ends[0]["t"], "It was the first.", words=[("Who pays", ["chat.", "mail."]), ("Or", ["less."])])
        # Who is asked to end is there for a while; nobody ends before the decision, and other processes have other numbers.
        asked = explanation(ends[1]["pid"], ends[1]["t"] - 0.25, "It was asked to end.")
        early = explanation(ends[2]["pid"], ends[2]["t"] + 0.000001, "It was ended too early.")
        blocks = self.told(self.says(first, asked, early, explanation(10**6, ends[0]["t"], "Nobody was.")))["explained"]["blocks"]
        self.assertEqual({block["head"]: block["kill"] for block in blocks},
                         {"It was the first.": 0, "It was asked to end.": 1, "It was ended too early.": None, "Nobody was.": None})  # fmt: skip
        self.assertEqual(blocks[0]["facts"], [["Who pays", ["chat.", "mail."]], ["Or", ["less."]]])
        self.assertEqual(blocks[0]["short"], [["Why", ["for its size."]]])

    def test_no_text_of_the_program_hides_anything(self) -> None:
        told = self.told(self.says(explanation(1, 1.0, "a\u202eb", words=[("c\u200bd", ["<e>\u2066"])])))
        self.assertEqual([(block["head"], block["facts"]) for block in told["explained"]["blocks"]],
                         [("a\\u{202E}b", [["c\\u{200B}d", ["<e>\\u{2066}"]]])])  # fmt: skip

    def test_it_is_asked_of_every_felt_end_or_of_as_many_as_wanted(self) -> None:
        program = self.program(f'echo "$@" >> "$(dirname "$0")/asked"\ncat <<\'E\'\n{answer()}\nE\n')
        rest = f"--format json -- {self.directory / 'told'}"
        for arguments, asked in (((), "--felt"), (("--explain", "7"), "--most 7"), (("--explain", "felt"), "--felt")):
            with self.subTest(arguments), mock.patch.object(explanations, "MOST_AT_ONCE", 100):
                self.told(program, *arguments)
                self.assertEqual(self.asked(), [f"explain {asked} {rest}"])
        self.told(program, "--explain", "0")
        self.assertEqual(self.asked(), [])
        # A comparison asks on request alone.
        runs = [self.make(f"{seed}", seed=seed, minutes=10.0) for seed in (1, 2)]
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(program)}):
            self.report(*runs, "--out", self.directory / "page.html")
            self.assertEqual(self.asked(), [])
            self.report(*runs, "--explain", "1", "--out", self.directory / "page.html")
            self.assertEqual(len(self.asked()), 2)

    def test_of_an_older_run_the_program_tells_which_ends_were_felt(self) -> None:
        program = self.program(f'echo "$@" >> "$(dirname "$0")/asked"\ncat <<\'E\'\n{answer()}\nE\n')
        run = read_run(self.make("told", older=True))
        most_at_once = mock.patch.object(explanations, "MOST_AT_ONCE", 100)
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(program)}), most_at_once:
            for most in (None, explanations.FELT):
                explanations.of_tables(run, most).answer(lambda: None)
                self.assertEqual(self.asked(), [f"explain --felt --format json -- {run.directory}"])

    def test_very_many_felt_ends_are_asked_about_app_by_app(self) -> None:
        program = self.program(f'echo "$@" >> "$(dirname "$0")/asked"\ncat <<\'E\'\n{answer(warnings=["older"])}\nE\n')
        run = self.make("told")
        table = kills.kills_of(read_run(run))
        felt = table.loc[table["felt"] != "", "app"].drop_duplicates().tolist()
        self.assertGreater(len(felt), 2)
        with mock.patch.object(explanations, "MOST_AT_ONCE", 2):
            note = self.told(program)["explained"]["note"]
        self.assertEqual(self.asked(), [f"explain --felt --app={app} --format json -- {run}" for app in felt])
        self.assertEqual(note, "plimsoll explain: older")

    def test_an_app_whose_expectation_failed_is_asked_about_first(self) -> None:
        run = self.make("told", minutes=10.0)
        table = kills.kills_of(read_run(run))
        app = next(one for one in table["app"] if one not in set(table.loc[table["felt"] != "", "app"]))
        manifest = run / "manifest.json"
        known = json.loads(manifest.read_text("utf-8")) if manifest.exists() else {}
        claims = [{"expectation": f"{app} survives", "app": app, "held": False, "observed": "0"}, {"expectation": "none survives", "held": True}]
        manifest.write_text(json.dumps({**known, "expectations": claims}), "utf-8")
        self.assertIsNone(explanations.early(run, None))
        with mock.patch.dict(os.environ, {"PLIMSOLL": "/nowhere"}), mock.patch.object(explanations.Question, "begin"):
            asked = explanations.of_tables(read_run(run), None)
        self.assertEqual(asked.count, 2)
        program = self.program(f'echo "$@" >> "$(dirname "$0")/asked"\ncat <<\'E\'\n{answer()}\nE\n')
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(program)}):
            explanations.of_tables(read_run(run), None).answer(lambda: None)
        self.assertIn(f"--most 1 --app={app} ", self.asked()[0])

    def test_the_words_for_the_program_follow_from_the_ends(self) -> None:
        for most, ended, felt, words in (
            (None, 0, [], []), (None, 5, [], [["--most", "3"]]), (None, 5, ["a"], [["--felt"]]), ("felt", 5, [], []),
            ("felt", 5, ["a", "b"], [["--felt"]]), (4, 5, ["a"], [["--most", "4"]]), (0, 5, ["a"], []), (4, 0, [], []),
            (None, 99, ["a", "b"] * 40, [["--felt", "--app=a"], ["--felt", "--app=b"]]),
        ):  # fmt: skip
            self.assertEqual(explanations.words_of(most, ended, felt), words, (most, ended, felt))

    def test_a_summary_that_counts_the_ends_is_enough_to_ask(self) -> None:
        program = self.program(f'echo "$@" >> "$(dirname "$0")/asked"\ncat <<\'E\'\n{answer()}\nE\n')
        run = self.make("told")
        for counts, words in (("9,2", "--felt"), ("9,0", "--most 3"), ("0,0", ""), ("99,9", None), (",2", None)):
            (run / "summary.csv").write_text(f"terminations,terminations_felt\n{counts}\n", "utf-8")
            with self.subTest(counts), mock.patch.dict(os.environ, {"PLIMSOLL": str(program)}):
                question = explanations.early(run, None)
                self.assertEqual(question is None, words is None)
                if question:
                    self.assertEqual(question.answer(lambda: None), explanations.Answer([]))
                    self.assertEqual(self.asked(), [f"explain {words} --format json -- {run}"] if words else [])

    def test_without_an_answer_one_line_says_why(self) -> None:
        form = "plimsoll explain gave an answer of another form"
        for name, program, note in (
            ("no program", self.directory / "nowhere", "the program plimsoll is not here."),
            ("no run", self.program("echo 'plimsoll: no scenario' >&2\nexit 66\n", "fails"), "no scenario"),
            ("silence", self.program("exit 3\n", "silent"), "plimsoll explain ended with 3"),
            ("no program at all", self.directory, "the program plimsoll is not here."),
            ("prose", self.program("echo It was.\n", "older"), form),
            ("another form", self.says({"pid": 1}, name="other"), form),
            ("a list", self.program("echo '[]'\n", "list"), form),
            ("newer", self.says(name="newer", format=2), "plimsoll explain answers in format 2, and this page takes 1"),
        ):
            with self.subTest(name):
                run = self.told(program, minutes=10.0)
                self.assertEqual(run["explained"]["blocks"], [])
                self.assertEqual(run["explained"]["note"], self.MISSING + note)
                self.assertTrue(run["kills"] and run["decisions"])

    def test_a_remark_of_the_program_goes_with_its_answer(self) -> None:
        run = self.told(self.says(explanation(1, 2.0, "It was."), warnings=["older run"]), minutes=10.0)
        self.assertEqual(run["explained"]["note"], "plimsoll explain: older run")
        self.assertEqual(run["explained"]["blocks"][0]["head"], "It was.")
        run = self.told(self.says(note="No end in this run was felt by the user."), minutes=10.0)
        self.assertEqual(run["explained"]["note"], "No end in this run was felt by the user.")

    def test_a_page_waits_four_minutes_or_three_times_as_long_as_the_run(self) -> None:
        run = self.make("told", minutes=5.0)
        for manifest, wait_s in (('{"cpu_s": 5}', 240.0), ('{"cpu_s": 100}', 300.0), ("{", 240.0), ("[]", 240.0)):
            (run / "manifest.json").write_text(manifest, "utf-8")
            self.assertEqual(explanations.longest_wait_s(run), wait_s)

    def test_no_page_waits_for_ever_and_what_is_answered_by_then_is_kept(self) -> None:
        # The first part is answered, and the second never.
        slow = self.program(f'test -e "$0.called" && exec sleep 60\n: > "$0.called"\ncat <<\'E\'\n{answer(explanation(1, 2.0, "It was."))}\nE\n')
        with (
            mock.patch.object(explanations, "LEAST_WAIT_S", 2.0), mock.patch.object(explanations, "STEP_S", 0.1),
            mock.patch.object(explanations, "MOST_AT_ONCE", 1),
        ):  # fmt: skip
            run = self.told(slow)
        self.assertEqual([block["head"] for block in run["explained"]["blocks"]], ["It was."])
        self.assertEqual(run["explained"]["note"], "Some ends are not explained: `plimsoll explain` needs more than 2 s for this run; "
                                                   f"`Scripts/report {self.directory / 'told'} --explain felt` waits for it.")  # fmt: skip

    def test_what_the_program_has_found_when_the_wait_is_over_is_kept(self) -> None:
        # As the program does, it writes what it has when it is asked to end.
        document = answer(explanation(1, 2.0, "It was."))
        patient = self.program(f"sleep 60 & slow=$!\ntrap 'kill $slow; cat <<\\E\n{document}\nE\nexit 143' TERM\nwait\n", "patient")
        with mock.patch.object(explanations, "LEAST_WAIT_S", 1.0), mock.patch.object(explanations, "STEP_S", 0.1):
            run = self.told(patient)
        self.assertEqual([block["head"] for block in run["explained"]["blocks"]], ["It was."])
        self.assertIn("Some ends are not explained", run["explained"]["note"])

    def test_whoever_asks_for_explanations_gets_them(self) -> None:
        slow = self.says(explanation(1, 2.0, "It was."), then="sleep 1\n")
        never = self.program("exec sleep 60\n", "never")
        with mock.patch.object(explanations, "LEAST_WAIT_S", 0.0), mock.patch.object(explanations, "STEP_S", 0.1):
            self.assertTrue(self.told(slow, "--explain", "3", minutes=10.0)["explained"]["blocks"])
            self.assertFalse(self.told(never, minutes=10.0)["explained"]["blocks"])

    def test_a_page_asked_for_felt_ends_says_that_there_are_none(self) -> None:
        run = self.told("/nowhere", "--explain", "felt", minutes=10.0)
        self.assertEqual(run["explained"]["note"], "The user felt none of the terminations.")

    def test_a_number_of_explanations_is_a_whole_number(self) -> None:
        run = self.make(minutes=5.0)
        for wrong in ("-1", "all", "1.5", "", "Felt"):
            self.assertEqual(self.report(run, f"--explain={wrong}")[0], 64)


class Together(ReportCase):
    """What Scripts/run asks for after a run: the pictures and the page from tables that are read once."""

    def test_pictures_and_page_are_those_of_both_commands(self) -> None:
        run, other = self.make(minutes=10.0), self.make("other", minutes=10.0)
        self.assertEqual(self.report(run, "--pictures"), (0, ""))
        self.assertEqual(self.report(other), (0, ""))
        self.assertEqual(call_main(load_main("plotting"), other)[0], 0)
        names = sorted(path.name for path in (other / "plots").iterdir())
        self.assertIn("memory.png", names)
        self.assertEqual(sorted(path.name for path in (run / "plots").iterdir()), names)
        for name in names:
            self.assertEqual((run / "plots" / name).read_bytes(), (other / "plots" / name).read_bytes(), name)
        self.assertEqual(data_of(run / "report.html")["runs"][0]["kills"], data_of(other / "report.html")["runs"][0]["kills"])

    def test_a_foreign_file_in_the_place_of_a_picture_costs_no_page(self) -> None:
        run = self.make(minutes=5.0)
        (run / "plots").mkdir()
        (run / "plots" / "memory.png").write_text("mine", "utf-8")
        status, said = self.report(run, "--pictures")
        self.assertEqual(status, 73)
        self.assertIn("memory.png exists and was not drawn by Scripts/plot", said)
        self.assertTrue((run / "report.html").is_file())
        self.assertEqual([path.name for path in (run / "plots").iterdir()], ["memory.png"])


class Expectations(ReportCase):
    def test_the_scenario_s_claims_are_there_with_their_outcomes(self) -> None:
        run = self.make(minutes=5.0)
        self.assertEqual(data_of(self.page(run))["runs"][0]["expectations"], [])
        write_package(run, expectations=["terminations == 0", "warnings >= 1"])
        # A run that was killed has checked none of them.
        self.assertEqual(data_of(self.page(run))["runs"][0]["expectations"], [["terminations == 0", None, "", ""], ["warnings >= 1", None, "", ""]])
        outcomes = [{"expectation": "terminations == 0", "held": False, "observed": "3"}, {"expectation": "warnings >= 1", "held": True, "observed": "9"}]
        (run / "manifest.json").write_text(json.dumps({"expectations": outcomes}), "utf-8")
        self.assertEqual(data_of(self.page(run))["runs"][0]["expectations"], [["terminations == 0", False, "3", ""], ["warnings >= 1", True, "9", ""]])
        for broken in ("[]", "{", '{"expectations": 3}', '{"expectations": [{}]}'):
            (run / "manifest.json").write_text(broken, "utf-8")
            self.assertEqual([claim[1] for claim in data_of(self.page(run))["runs"][0]["expectations"]], [None, None])


class Opening(ReportCase):
    """The sentence, and what the cards and the lanes are made from."""

    def end(self, app: str, time_s: float, **facts: object) -> dict[str, object]:
        return {**UNFELT, "time_s": time_s, "app": app, "pid": int(time_s), "footprint_bytes": 1 << 20, "idle_s": 1, **facts}

    def sentence(self, *ends: dict[str, object]) -> str:
        run = self.make(minutes=15.0)
        events = (run / "events.csv").read_text("utf-8").splitlines(keepends=True)
        (run / "events.csv").write_text("".join(line for line in events if ",exit," not in line), "utf-8")
        write_terminations(run, list(ends))
        return opening.sentence_of(read_run(run))

    def test_the_sentence_counts_the_ends_and_names_the_apps_that_the_user_missed(self) -> None:
        missed, seen = {"was_perceived": "true"}, {"was_foreground": "true"}
        for ends, sentence in (
            ((), "The system ended no process in 15 min."),
            ((self.end("maps", 10),), "The system ended 1 process in 15 min; the user did not miss it."),
            ((self.end("maps", 10, **seen),), "The system ended 1 process in 15 min; the user missed it: maps."),
            ((self.end("maps", 10), self.end("feed", 20)), "The system ended 2 processes in 15 min; the user missed none of them."),
            ((self.end("maps", 10), self.end("feed", 20, **missed), self.end("chat", 30, **seen), self.end("feed", 40, **missed)),
             "The system ended 4 processes in 15 min; the user missed 3: feed (2 times), chat."),
            ([self.end(f"app-{number}", number + 10, **missed) for number in range(6)],
             "The system ended 6 processes in 15 min; the user missed 6: app-0, app-1, app-2, app-3 and 2 other apps."),
        ):  # fmt: skip
            with self.subTest(sentence):
                self.assertEqual(self.sentence(*ends), sentence)

    def test_an_older_run_and_one_without_events_claim_nothing_of_the_user(self) -> None:
        self.assertRegex(opening.sentence_of(read_run(self.make(older=True))), "; whether the user missed any is not known\\.$")
        run = self.make("none")
        for name in ("events", "terminations"):
            (run / f"{name}.csv").unlink()
        self.assertEqual(opening.sentence_of(read_run(run)), "")

    def test_a_card_says_what_another_app_did(self) -> None:
        run = read_run(self.make(minutes=10.0))
        row = {"app": "editor", "beneficiary": "game", "need": "level", "taken_bytes": 96.0 * (1 << 20)}
        for facts, level, words in (
            ({}, "critical", "game took 96 MiB of the free memory, memory became critical, and editor went."),
            ({"taken_bytes": math.nan}, "warning", "game took most of the free memory, pressure rose to warning, and editor went."),
            ({"need": "allocation"}, "critical", "game needed memory and found no room, and editor went."),
            ({"beneficiary": "editor", "need": "own_limit"}, "normal", ""), ({"beneficiary": ""}, "critical", ""),
        ):  # fmt: skip
            self.assertEqual(reasons.course_of(SimpleNamespace(**{**row, **facts}), level), words)
        self.assertIn("game took 192 MiB", reasons.course_of(SimpleNamespace(**row), "critical", 0.5))
        run.terminations.loc[:, ["beneficiary", "need", "taken_bytes"]] = ["game", "level", 96.0 * (1 << 20)]
        self.assertEqual({one.course.partition(",")[0] for one in reasons.victims_of(run)}, {"game took 96 MiB of the free memory"})

    def test_a_card_has_reason_and_memory_and_an_orderly_exit_is_no_death(self) -> None:
        path = self.make()
        with (path / "events.csv").open("a", encoding="utf-8") as file:
            file.write("1800,exit,feed,98,,normalApp,done,,,,normalApp,,,,\n1800,exit,maps,99,,abnormal,crashed,,,,abnormal,,,,\n")
        run = data_of(self.page(path))["runs"][0]
        self.assertTrue(all(kill["reason"] and kill["footprint"] for kill in run["kills"]))
        self.assertEqual({kill["mark"] for kill in run["kills"] if kill["felt"]}, {"felt"})
        self.assertTrue(all(kill["after"] is not None for kill in run["kills"] if kill["felt"] == "missed"))
        ends = {lane["app"]: lane["ends"] for lane in run["lanes"]}
        self.assertEqual((ends["feed"][-1], ends["maps"][-1]), ([1800, "left"], [1800, "crashed"]))
        self.assertEqual(run["crashes"], [[1800, "maps"]])
        self.assertTrue(run["sentence"].endswith(" 1 more crashed: maps."))


class Settings(unittest.TestCase):
    def test_a_value_with_a_unit_is_a_number(self) -> None:
        for text, number in (("3", 3), ("-2", -2), ("25%", 0.25), ("1GiB", 1 << 30), ("1.5MiB", 1.5 * (1 << 20)), ("250ms", 0.25),
                             ("1min30s", 90), ("4MiB/s", 4 << 20), ("0B/s", 0)):  # fmt: skip
            self.assertEqual(payload.measured(text), number, text)
        for text in ("", "none", "True", "ladder", "1GiB of it", "3 4s", "3 4", "2 apps", "1.2.3", "nan", "v2", "1s2MiB", "apps-7"):
            self.assertIsNone(payload.measured(text), text)

    def test_values_stand_in_the_order_of_what_they_stand_for(self) -> None:
        runs = [{"settings": {"ceiling": ceiling, "policy": policy}} for ceiling, policy in
                (("1GiB", "lru"), ("512MiB", "rules-10"), ("2GiB", "rules-9"), ("1536MiB", "lru"))]  # fmt: skip
        self.assertEqual(payload.orders(runs, ["ceiling", "policy"]), {
            "ceiling": {"numeric": True, "values": ["512MiB", "1GiB", "1536MiB", "2GiB"]},
            "policy": {"numeric": False, "values": ["lru", "rules-9", "rules-10"]},
        })  # fmt: skip


class Pages(ReportCase):
    def test_every_kill_says_who_why_and_who_was_spared(self) -> None:
        run = data_of(self.page(self.make()))["runs"][0]
        self.assertGreater(len(run["kills"]), 3)
        for kill in run["kills"]:
            self.assertTrue(kill["app"] and kill["cause"] and kill["why"])
            self.assertTrue(kill["spared"])
            self.assertTrue(all(0 <= why < len(run["reasons"]) for _, why in kill["spared"]))

    def test_a_decision_that_names_no_other_process_is_a_decision_all_the_same(self) -> None:
        path = self.make()
        lines = (path / "decisions.csv").read_text("utf-8").splitlines(keepends=True)
        (path / "decisions.csv").write_text("".join([lines[0], *(row for row in lines if ",true," in row)]), "utf-8")
        run = data_of(self.page(path))["runs"][0]
        self.assertTrue(run["kills"])
        for kill in run["kills"]:
            self.assertEqual((kill["decided"], kill["spared"]), (True, []))

    def test_the_cores_have_a_lane_whose_steps_add_up(self) -> None:
        path = self.make(minutes=60.0)
        (path / "launches.csv").write_text("app,kind,tapped_s,ready_s,latency_ms,pid,outcome,cpu_wait_ms\nmaps,cold,1,8,7000,9,ready,5500\n", "utf-8")
        run = data_of(self.page(path))["runs"][0]
        times = run["cores"]
        self.assertEqual((times["count"], times["step"]), (4, 3))
        self.assertEqual([one["name"] for one in times["classes"]], ["user-interactive", "utility", "background"])
        for one in times["classes"]:
            self.assertEqual(len(one["given"]), len(times["t"]))
            self.assertAlmostEqual(sum(one["given"]) * 4 * times["step"], one["givenAll"], delta=0.01 * one["givenAll"])
            self.assertEqual(bool(one["waiting"]), one["name"] == "background")
        self.assertEqual(run["launches"][0]["wait"], 5500)
        (path / "cores.csv").unlink()
        older = data_of(self.page(path))["runs"][0]
        self.assertEqual((older["cores"], older["notes"]), (None, run["notes"]))

    def test_crashes_and_lost_launches_have_figures_of_their_own(self) -> None:
        path = self.make()
        before = {name: value for name, value, _ in data_of(self.page(path))["runs"][0]["headline"]}
        with (path / "events.csv").open("a", encoding="utf-8") as file:
            file.write("1800,exit,maps,99,,abnormal,crashed,,,,abnormal,,,,\n")
        with (path / "launches.csv").open("a", encoding="utf-8") as file:
            file.write("maps,cold,1790,,,99,terminated\n")
        run = data_of(self.page(path))["runs"][0]
        after = {name: value for name, value, _ in run["headline"]}
        self.assertEqual(after["terminations"], before["terminations"])
        self.assertEqual(after["terminations"], str(len(run["kills"])))
        self.assertEqual(after["crashed, which is no termination"], "1")
        lost = "of these lost: no first frame"
        self.assertEqual(int(after[lost]), int(before[lost]) + 1)

    def test_nothing_in_it_points_outside(self) -> None:
        text = self.page(self.make()).read_text("utf-8")
        outside = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"'<]*", text))
        self.assertEqual({link for link in outside if not link.startswith(("http://www.w3.org/2000/svg",))}, set())
        self.assertIn("default-src 'none'", text)

    def test_a_hostile_name_or_scenario_stays_text(self) -> None:
        run = self.make()
        (run / "scenario.yaml").write_text("name: '</script><script>alert(1)</script> @{SCRIPT} @{TITLE}'\n", "utf-8")
        page = self.page(run)
        self.assertEqual(page.read_text("utf-8").count("</script>"), 2)
        self.assertIn("@{SCRIPT} @{TITLE}", data_of(page)["runs"][0]["scenario"])

    def test_the_same_csv_gives_the_same_bytes(self) -> None:
        run = self.make()
        self.assertEqual(self.page(run).read_bytes(), self.page(run).read_bytes())

    def test_what_is_missing_is_said_and_the_rest_is_there(self) -> None:
        for absent in ("samples", "apps", "events", "launches", "decisions", "summary"):
            with self.subTest(absent=absent):
                run = self.make(f"without-{absent}", minutes=5.0)
                (run / f"{absent}.csv").unlink()
                status, said = self.report(run)
                self.assertEqual(status, 0)
                self.assertIn(absent, said)
                notes = data_of(run / "report.html")["runs"][0]["notes"]
                self.assertIn(f"{absent}.csv is missing", notes)

    def test_a_table_in_another_order_is_told_and_left_out(self) -> None:
        run = self.make(minutes=5.0)
        header, *rows = (run / "events.csv").read_text("utf-8").splitlines()
        (run / "events.csv").write_text("\n".join([header, *reversed(rows)]) + "\n", "utf-8")
        status, said = self.report(run)
        self.assertEqual((status, said.count("\n")), (0, 1), said)
        self.assertIn("events.csv: row ", said)
        page = data_of(run / "report.html")["runs"][0]
        self.assertEqual([f"report: {note}\n" for note in page["notes"]], [said])
        self.assertEqual((len(page["kills"]) > 0, page["warnings"]), (True, []), "ends have a table of their own")

    def test_decisions_that_did_nothing_are_counted_as_left_out(self) -> None:
        run = self.make(minutes=5.0)
        table = run / "decisions.csv"
        before = data_of(self.page(run))["runs"][0]
        header, *rows = table.read_text("utf-8").splitlines()
        columns = header.split(",")
        last = dict(zip(columns, rows[-1].split(","), strict=True))
        last |= {"decision": "999999", "action": "", "rank": "", "chosen": "false", "reason": "in front", "outcome": "spared"}
        table.write_text("\n".join([header, *rows, ",".join(last[name] for name in columns)]) + "\n", "utf-8")
        after = data_of(self.page(run))["runs"][0]
        self.assertEqual(after["decisions"], before["decisions"])
        self.assertEqual(after["decisionsLeftOut"], before["decisionsLeftOut"] + 1)

    def test_a_half_written_row_and_empty_tables_are_no_fault(self) -> None:
        run = self.make(minutes=5.0)
        events = run / "events.csv"
        events.write_bytes(events.read_bytes()[:-7])
        self.assertIn("half-written", self.report(run)[1])
        for path in run.glob("*.csv"):
            path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
        self.assertEqual(self.report(run)[0], 0)

    def test_wrong_calls_have_their_status(self) -> None:
        self.assertEqual(self.report()[0], 64)
        self.assertEqual(self.report(self.directory / "nowhere")[0], 66)
        self.assertEqual(self.report(self.directory)[0], 66)

    def test_a_directory_of_runs_is_compared(self) -> None:
        for seed in (1, 2, 10):
            self.make(f"sweep/lru/seed-{seed}", seed=seed, minutes=5.0)
        data = data_of(self.page(self.directory / "sweep"))
        self.assertEqual([run["label"] for run in data["runs"]], ["seed 1", "seed 2", "seed 10"])
        self.assertEqual(data["varied"], ["seed"])

    def test_a_page_about_several_runs_takes_the_place_of_no_run_s_own(self) -> None:
        runs = [self.make(f"runs/{seed}", seed=seed, minutes=5.0) for seed in (1, 2)]
        self.assertEqual(self.report(runs[0])[0], 0)
        before = (runs[0] / "report.html").read_bytes()
        elsewhere = self.directory / "elsewhere"
        elsewhere.mkdir()
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(elsewhere)
        self.assertEqual(self.report(*runs), (0, ""))
        self.assertEqual((runs[0] / "report.html").read_bytes(), before)
        self.assertEqual(len(data_of(elsewhere / "comparison.html")["runs"]), 2)
        # One run, however it is named, has its own.
        self.assertEqual(self.report(runs[1].parent / "2")[0], 0)
        self.assertTrue((runs[1] / "report.html").is_file())

    def test_the_heat_map_begins_with_settings_that_all_runs_have(self) -> None:
        runs = [
            {"settings": {"policy": policy, "device.ceiling": ceiling, "seed": ceiling} | ({"only": "1"} if policy == "lru" else {})}
            for policy in ("lru", "ladder") for ceiling in ("1", "2")
        ]  # fmt: skip
        self.assertEqual(payload.varied(runs), ["policy", "device.ceiling", "only", "seed"])

    def test_very_many_runs_stay_below_the_limit(self) -> None:
        run = self.make("many/a", apps=60, minutes=60.0, ceiling=2 << 30)
        for number in range(11):
            shutil.copytree(run, self.directory / "many" / f"b-{number}")
        self.assertLess(self.page(self.directory / "many").stat().st_size, MOST_BYTES)

    def test_labels_tell_runs_apart(self) -> None:
        paths = [Path("a/x"), Path("b/x")]
        self.assertEqual(several.labels(paths, [{"policy": "lru"}, {"policy": "ladder"}]), ["lru", "ladder"])
        self.assertEqual(several.labels(paths, [{"policy": "lru"}] * 2), ["a/x", "b/x"])


@unittest.skipUnless(BROWSER, "no Chromium is installed")
class InABrowser(ReportCase):
    def open(self, page: Path, size: str = "1200,900") -> tuple[str, str, set[str]]:
        """The page's document when it is ready, what the console said, and which addresses were asked for."""
        log = self.directory / "net.json"
        flags = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
            "--disable-component-update", "--no-first-run",
            "--proxy-server=http://127.0.0.1:9", "--disable-default-apps", "--disable-extensions",
            f"--user-data-dir={self.directory / 'profile'}", "--enable-logging=stderr", f"--window-size={size}",
            f"--log-net-log={log}", "--dump-dom", page.as_uri(),
        ]  # fmt: skip
        done = subprocess.run([str(BROWSER), *flags], capture_output=True, text=True, timeout=600, check=True)
        said = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
        asked = set(re.findall(r'"url":"([^"]+)"', log.read_text("utf-8", errors="replace")))
        return done.stdout, said, asked

    def test_it_loads_quickly_without_an_error_and_asks_nobody(self) -> None:
        big = self.make("big", apps=200, minutes=60.0, ceiling=8 << 30)
        for run in (self.make("middle"), big):
            with self.subTest(run=run.name):
                page = self.page(run)
                self.assertLess(page.stat().st_size, MOST_BYTES)
                document, said, asked = self.open(page)
                self.assertEqual(said, "")
                ready = int(attribute(document, "ready"))
                for _ in range(2):
                    # Other tests run beside this one: a slow page gets a second and a third try.
                    if ready >= MOST_MS:
                        ready = min(ready, int(attribute(self.open(page)[0], "ready")))
                self.assertLess(ready, MOST_MS)
                self.assertEqual({link for link in asked if not link.startswith(ITS_OWN)}, set())
                self.assertGreater(document.count("<svg"), 4)

    def test_a_kill_explains_itself_when_hovered_and_stays_when_clicked(self) -> None:
        page = self.page(self.make())
        page.write_text(page.read_text("utf-8").replace("</body>", HOVER), "utf-8")
        for size in ("1200,900", "390,844"):
            with self.subTest(size=size):
                document, said, _ = self.open(page, size)
                self.assertEqual(said, "")
                hover = attribute(document, "hover")
                self.assertRegex(hover, r"✕ .+ ended: memoryPressure")
                self.assertIn("Spared in this decision", hover)
                # Nothing is wider than the window, also on a phone; and nothing was loaded beside the page.
                for wanted in ('data-pinned="✕ ', 'data-window="0:10 to 0:20 of ', 'data-wide="false"', 'data-asked="0"'):
                    self.assertTrue(wanted in document, wanted)

    def test_kills_at_one_instant_are_one_mark_that_counts_and_tells_them_all(self) -> None:
        path = self.make()
        with (path / "terminations.csv").open("a", encoding="utf-8") as file:
            for app, pid in (("first", 901), ("second", 902)):
                file.write(f"1800,{app},{pid},app,suspended,0,memoryPressure{',' * 16}none left\n")
        page = self.page(path)
        page.write_text(page.read_text("utf-8").replace("</body>", TOGETHER), "utf-8")
        document, said, _ = self.open(page)
        self.assertEqual(said, "")
        number, hover, pinned = (attribute(document, name) for name in ("number", "hover", "pinned"))
        self.assertEqual(number, "2")
        for name in ("first", "second"):
            self.assertIn(f"✕ {name} (process", hover)
            self.assertIn(f"✕ {name} (process", pinned)
        self.assertIn("2 were ended at 30:00", hover)
        # Every kill has its place in exactly one mark.
        marked = attribute(document, "marked").split(",")
        kills = data_of(page)["runs"][0]["kills"]
        self.assertEqual(sorted(map(int, marked)), list(range(len(kills))))

    def test_a_comparison_loads_without_an_error(self) -> None:
        runs = [self.make(f"runs/{seed}", seed=seed, minutes=10.0) for seed in (1, 2, 3)]
        document, said, _ = self.open(self.page(*runs))
        self.assertEqual(said, "")
        self.assertTrue("3 runs side by side" in document)

    def test_a_run_that_lost_launches_is_not_the_fastest(self) -> None:
        runs = [self.make(f"runs/{seed}", seed=seed, minutes=10.0) for seed in (1, 2)]
        for run, p95 in zip(runs, (200, 100)):
            seed = run.name
            (run / "summary.csv").write_text(
                f"scenario,policy,seed,launch_latency_p95_ms\ns,lru,{seed},{p95}\n", "utf-8"
            )
            (run / "launches.csv").write_text(
                "app,kind,tapped_s,ready_s,latency_ms,pid,outcome\na,cold,1,1.1,100,1,ready\n"
                + ("a,cold,5,,,2,terminated\n" if run is runs[1] else ""), "utf-8"
            )  # fmt: skip
        document, said, _ = self.open(self.page(*runs))
        self.assertEqual(said, "")
        self.assertTrue("they are no merit.</p>" in document)
        self.assertTrue('<td class="num best">200 ms</td>' in document)
        self.assertTrue('<td class="num">100 ms*</td>' in document)


if __name__ == "__main__":
    unittest.main()
