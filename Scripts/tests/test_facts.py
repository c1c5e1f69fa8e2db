"""Facts are read from columns of facts, in new runs; of older ones, what their columns say without a doubt."""

from __future__ import annotations

import itertools
import json
import shutil
import unittest
from pathlib import Path

import check_facts
from harness import FolderCase, call_main, load_main
from synthetic_run import write_run, write_terminations

from plimsoll_tools.plotting import states, style
from plimsoll_tools.plotting.run_directory import NEWEST_FORMAT, NO_FACTS, UNKNOWN_ENDS, read_run
from plimsoll_tools.tuning import program

OLDER = ("an older run, without columns of facts: the levels' thresholds, whose allocation found no room, and "
         "what a limit refused are not shown")  # fmt: skip


class Facts(FolderCase):
    def make(self, name: str = "run", **options: object) -> Path:
        path = self.directory / name
        write_run(path, **{"apps": 14, "minutes": 20.0, **options})  # type: ignore[arg-type]
        return path

    def test_nonsense_in_every_detail_and_reason_changes_quotations_alone(self) -> None:
        run = self.make()
        page = check_facts.page_of(run)
        for key in ("kills", "warnings", "decisions", "thresholds", "lanes", "levels"):
            self.assertTrue(page[key], f"the page has no {key}: the test shows nothing")
        self.assertEqual(check_facts.differences(run, self.directory / "scratch"), [])
        # A run that was killed tells of its ends in events.csv alone.
        write_terminations(run, [])
        self.assertEqual(read_run(run).notes, [UNKNOWN_ENDS])
        self.assertTrue(check_facts.page_of(run)["kills"])
        self.assertEqual(check_facts.differences(run, self.directory / "killed"), [])

    def test_every_sentence_is_overwritten(self) -> None:
        run = self.make(minutes=10.0)
        tables = read_run(run).tables
        cells = {name: len(tables[name]) * len(columns) for name, columns in check_facts.PROSE.items()}
        self.assertGreater(cells["terminations"], 0)
        self.assertEqual(check_facts.overwrite_prose(run), sum(cells.values()))
        self.assertTrue(read_run(run).terminations["why"].str.contains("nonsense").all())

    def test_tune_reads_the_summary_alone(self) -> None:
        runs = [self.make("one", minutes=5.0), self.directory / "other"]
        shutil.copytree(runs[0], runs[1])
        check_facts.overwrite_prose(runs[1])
        rows = []
        header, _ = (runs[0] / "summary.csv").read_text("utf-8").splitlines()
        fields = [{"name": name} for name in header.split(",")]
        metrics = self.directory / "metrics.json"
        metrics.write_text(json.dumps({"metrics": fields}), "utf-8")
        for run in runs:
            # As `plimsoll serve` does, which answers with no other table of its run.
            row = (run / "summary.csv").read_text("utf-8").splitlines()[1]
            answer = run / "answer.json"
            answer.write_text(json.dumps({"status": 0, "output": f"0 0\n{row}\n", "errors": ""}) + "\n", "utf-8")
            serve = f'read -r _; cat "{answer}"'
            copy = self.program(f'case $1 in list) cat "{metrics}";; serve) {serve};; *) exit 64;; esac\n', f"copy-{run.name}")
            made = program.Program(copy, 1)
            self.addCleanup(made.close)
            rows.append(made.submit(program.Job(Path("scenario"), 1, "lru", "accounting")).result())
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(rows[0]["policy"], "lru")


class OlderRuns(FolderCase):
    def make(self, name: str, **options: object) -> Path:
        path = self.directory / name
        write_run(path, apps=14, minutes=20.0, **options)  # type: ignore[arg-type]
        return path

    def test_an_older_run_is_drawn_as_far_as_it_goes_and_says_so_in_a_line(self) -> None:
        new, older = (read_run(self.make(name, older=name == "older")) for name in ("new", "older"))
        self.assertEqual((new.notes, older.notes), ([], [OLDER, UNKNOWN_ENDS, NO_FACTS]))
        lanes = [states.lanes_of(run) for run in (new, older)]
        kinds = [{kind for lane in one for kind in lane.ended_as} for one in lanes]
        self.assertEqual(kinds, [{style.FELT, style.UNFELT}, {style.ENDED}])
        for lane in itertools.chain(*lanes):
            # When they were is known all the same.
            lane.ended_as = {style.ENDED: sorted(itertools.chain(*lane.ended_as.values()))}
        self.assertEqual(*lanes)
        pages = [check_facts.page_of(run.directory) for run in (new, older)]
        self.assertEqual(pages[1].pop("thresholds"), {})
        self.assertNotEqual(pages[0].pop("thresholds"), {})
        for page in pages:
            # What only columns of facts say: which row of a decision is about no process, and the unit of a measure.
            for key in ("notes", "title", "cores", "values"):
                del page[key]
            page["decisions"] = [row[:-1] for row in page["decisions"]]
            # What only terminations.csv says.
            for kill in page["kills"]:
                told = [kill.pop(key, "left out") for key in ("band", "footprint", "idle", "lead")]
                self.assertEqual(told == ["", None, None, "left out"], page is pages[1])
            # Whether the user missed a process, and what was short, are facts of that table, too.
            self.assertEqual("whether the user missed any is not known" in page.pop("sentence"), page is pages[1])
            ends = [end for lane in page["lanes"] for end in lane["ends"]]
            marks = {end.pop() for end in ends} | {kill.pop("mark") for kill in page["kills"]}
            self.assertEqual(marks, {style.ENDED} if page is pages[1] else {style.FELT, style.UNFELT})
            wanted = {(kill.pop("felt"), kill.pop("after")) for kill in page["kills"]}
            self.assertEqual(wanted == {("", None)}, page is pages[1])
            why = {(kill.pop("reason"), bool(kill.pop("course"))) for kill in page["kills"]}
            self.assertEqual(why == {("memoryPressure", False)}, page is pages[1])
        somebody = [[kill.pop("for") for kill in page["kills"] if "for" in kill] for page in pages]
        self.assertNotEqual(somebody[0], [])
        self.assertEqual(somebody[1], [], "nobody knows for whom an older run ended one")
        self.assertEqual(pages[0], pages[1])

    def test_plot_and_report_take_an_older_run(self) -> None:
        run = self.make("run", older=True)
        for folder, name in (("plotting", "plot"), ("reporting", "report")):
            with self.subTest(folder=folder):
                status, _, said = call_main(load_main(folder), run)
                self.assertEqual((status, said), (0, "".join(f"{name}: {note}\n" for note in (OLDER, UNKNOWN_ENDS, NO_FACTS))))

    def test_a_newer_format_is_refused_in_one_line(self) -> None:
        run = self.make("run")
        (run / "manifest.json").write_text(json.dumps({"format_version": NEWEST_FORMAT + 1}), "utf-8")
        for folder in ("plotting", "reporting"):
            with self.subTest(folder=folder):
                status, _, said = call_main(load_main(folder), run)
                self.assertEqual((status, said.count("\n")), (66, 1), said)
                self.assertIn(f"is a run of format {NEWEST_FORMAT + 1}", said)


if __name__ == "__main__":
    unittest.main()
