"""Pictures of made-up runs: whole ones, huge ones, empty ones, broken ones."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from harness import FolderCase, PictureCase, call_main, load_main
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_run import COLUMNS, METRICS, MIB, NOT_DRAWN, UNFELT, package_of, write_package, write_run, write_terminations

from plimsoll_tools.plotting import (
    compare,
    comparison,
    cores,
    kills,
    launches,
    memory,
    metrics,
    pressure,
    several,
    states,
    story,
    style,
    sweep,
    terminations,
)
from plimsoll_tools.plotting.metrics import Metric
from plimsoll_tools.plotting.run_directory import NO_FACTS, UNKNOWN_ENDS, Facts, Run, complete_records, read_run
from plimsoll_tools.quantities import span_text

PICTURES = ("story", "memory", "pressure", "cores", "states", "launches", "terminations")


# How people without red or green cones see: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation
# of color vision deficiency", IEEE TVCG 15 (2009), severity 1.
NO_RED = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]])
NO_GREEN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])


def seen(colour: str, view: np.ndarray) -> np.ndarray:
    """The colour in OKLab, as it is seen."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    cones = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    lab = np.array([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
                    [0.0259040371, 0.7827717662, -0.808675766]])  # fmt: skip
    oklab: np.ndarray = lab @ np.cbrt(np.clip(cones @ np.clip(view @ linear, 0, 1), 0, 1))
    return oklab


def drawn(figure: Figure | None) -> Figure:
    """The picture of a run that has something to draw."""
    assert figure is not None, "there is nothing to draw"
    return figure


class RunDirectoryCase(PictureCase):
    """A folder of its own, and the program to call."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(plt.close, "all")
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        # What a library deprecates today breaks the pictures tomorrow.
        warnings.simplefilter("error")

    def make(self, name: str = "run", **options: object) -> Path:
        path = self.directory / name
        write_run(path, **{"apps": 3, "minutes": 2.0, **options})  # type: ignore[arg-type]
        return path

    def plot(self, *arguments: object) -> tuple[int, str]:
        """Exit status and stderr."""
        status, _, said = call_main(load_main("plotting"), *arguments)
        return status, said


SLOW = """
import threading
from unittest import mock

class AtOnce(threading.Timer):
    def __init__(self, seconds, *rest):
        super().__init__(0, *rest)

from plimsoll_tools.plotting import style

with mock.patch.object(threading, "Timer", AtOnce):
    style.prepare()
"""
"""As on a machine on which nothing ends before a timer does."""


class FirstPicture(FolderCase):
    def test_a_slow_machine_that_has_no_list_of_fonts_yet_is_no_warning(self) -> None:
        fonts = self.directory / "fonts"
        done = subprocess.run(
            [sys.executable, "-I", "-c", SLOW], env={**os.environ, "MPLCONFIGDIR": str(fonts)}, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(list(fonts.glob("fontlist-*")), "no list was made, so nothing was tried")


class WholeRuns(RunDirectoryCase):
    def test_three_fourteen_and_two_hundred_apps_are_drawn_without_a_word(self) -> None:
        for apps, minutes, ceiling in ((3, 2.0, 512), (14, 30.0, 1024), (200, 60.0, 8192)):
            with self.subTest(apps=apps):
                run = self.make(f"run-{apps}", apps=apps, minutes=minutes, ceiling=ceiling * MIB)
                # That of many apps as pixels is looked at below, text by text.
                kinds = "png,svg" if apps < 100 else "svg"
                self.assertEqual(self.plot(run, "--format", kinds), (0, ""))
                for picture in PICTURES:
                    if "png" in kinds:
                        self.assertGreater((run / "plots" / f"{picture}.png").stat().st_size, 5_000)
                    self.assertIn("<svg", (run / "plots" / f"{picture}.svg").read_text("utf-8")[:500])

    def test_rows_of_changed_processes_are_filled_in(self) -> None:
        whole, thin = self.make("whole", apps=6, minutes=10.0, seed=3), self.directory / "thin"
        shutil.copytree(whole, thin)
        apps = pd.read_csv(thin / "apps.csv", dtype=str)
        known = apps.drop(columns="time_s")
        before = known.groupby("pid").shift()
        differs = (known[before.columns] != before).any(axis=1)
        apps[differs].to_csv(thin / "apps.csv", index=False)
        write_package(thin, "changed")
        self.assertLess(differs.sum(), len(apps))
        expected, got = (read_run(folder).apps.sort_values(["time_s", "pid"]).reset_index(drop=True)
                         for folder in (whole, thin))
        pd.testing.assert_frame_equal(got, expected, check_dtype=False, check_like=True)

    def test_a_run_that_has_not_come_to_its_end_is_noted(self) -> None:
        run = self.make()
        self.assertEqual(read_run(run).notes, [])
        summary = run / "summary.csv"
        # What there is of it from the run's first moment on.
        summary.write_text(summary.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
        self.assertEqual(read_run(run).notes, ["summary.csv has no row: the run was killed, or is not over yet"])
        # An early format had none.
        summary.unlink()
        self.assertEqual(read_run(run).notes, [])

    def test_a_dry_run_is_noted(self) -> None:
        run = self.make()
        (run / "manifest.json").write_text('{"dry_run": false}')
        self.assertEqual(read_run(run).notes, [])
        (run / "manifest.json").write_text('{"dry_run": true}')
        self.assertIn("a dry run", read_run(run).notes[0])
        self.assertTrue(read_run(run).title.endswith(", dry run"), "a picture goes where the notes do not")

    def test_the_same_csv_gives_the_same_bytes(self) -> None:
        run = self.make()
        for name in ("a", "b"):
            self.plot(run, "--out", self.directory / name)
        for picture in sorted((self.directory / "a").iterdir()):
            self.assertEqual(picture.read_bytes(), (self.directory / "b" / picture.name).read_bytes(), picture.name)
        self.assertNotIn("dc:date", (self.directory / "a" / "memory.svg").read_text("utf-8"))

    def test_only_the_wanted_formats_are_written_where_they_are_wanted(self) -> None:
        run = self.make()
        self.assertEqual(self.plot(run, "--out", self.directory / "p", "--format", "svg")[0], 0)
        self.assertEqual(sorted(path.name for path in (self.directory / "p").iterdir()),
                         sorted(f"{name}.svg" for name in PICTURES))  # fmt: skip
        self.assertFalse((run / "plots").exists())

    def test_a_picture_takes_the_place_of_an_earlier_one_and_of_nothing_else(self) -> None:
        run, out = self.make(apps=2), self.directory / "out"
        for arguments, name in (([run], "states"), (["--compare", run, run], "compare")):
            folder = out / name
            self.assertEqual(self.plot(*arguments, "--out", folder), (0, ""))
            before = {path.name: path.read_bytes() for path in folder.iterdir()}
            self.assertEqual(self.plot(*arguments, "--out", folder), (0, ""))
            self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, before)
            for kind in ("png", "svg"):
                # Another program's picture begins as ours does.
                mine = before[f"{name}.{kind}"].replace(style.MARK.encode(), b"mine")
                shutil.rmtree(folder)
                folder.mkdir()
                (folder / f"{name}.{kind}").write_bytes(mine)
                status, said = self.plot(*arguments, "--out", folder)
                self.assertEqual((status, said.count("\n")), (73, 1), said)
                self.assertIn(f"{name}.{kind} exists and was not drawn by Scripts/plot; give another --out, or --force", said)
                self.assertEqual([path.read_bytes() for path in folder.iterdir()], [mine])
                self.assertEqual(self.plot(*arguments, "--out", folder, "--force"), (0, ""))
                self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, before)

    def test_no_text_overlaps_another_or_leaves_the_picture(self) -> None:
        style.prepare()
        for apps, minutes in ((3, 2.0), (14, 30.0), (200, 60.0)):
            run = read_run(self.make(f"run-{apps}", apps=apps, minutes=minutes, ceiling=(4 << 30) if apps > 99 else 1 << 30))
            for module in (story, memory, pressure, cores, states, launches, terminations):
                with self.subTest(apps=apps, picture=module.__name__):
                    figure = module.draw(run)
                    self.assert_legible(figure)
                    plt.close(figure)


class BrokenRuns(RunDirectoryCase):
    def test_a_directory_that_does_not_exist_is_66(self) -> None:
        status, said = self.plot(self.directory / "nowhere")
        self.assertEqual(status, 66)
        self.assertEqual(said.count("\n"), 1)

    def test_a_directory_without_csv_is_66(self) -> None:
        self.assertEqual(self.plot(self.directory)[0], 66)

    def test_an_unknown_format_is_64(self) -> None:
        self.assertEqual(self.plot(self.make(), "--format", "gif")[0], 64)

    def test_each_missing_file_is_named_and_the_rest_is_drawn(self) -> None:
        for absent in ("samples", "apps", "events", "launches", "decisions", "summary"):
            with self.subTest(absent=absent):
                run = self.make(f"without-{absent}")
                (run / f"{absent}.csv").unlink()
                status, said = self.plot(run, "--format", "png")
                self.assertEqual(status, 0)
                self.assertEqual(absent in said, absent not in ("summary", "decisions"))
                drawn = {path.stem for path in (run / "plots").iterdir()}
                # Without events the samples tell the states, without samples the apps tell the memory.
                gone = {"samples": {"pressure"}, "events": {"terminations"}, "launches": {"launches"}}
                self.assertEqual(drawn, set(PICTURES) - gone.get(absent, set()))

    def test_each_file_may_be_the_only_one(self) -> None:
        for alone, drawn in (("samples", {"memory", "pressure"}), ("apps", {"story", "memory", "states"}),
                             ("events", {"story", "states", "terminations"}),
                             ("launches", {"launches"}), ("summary", set()), ("cores", {"cores"})):  # fmt: skip
            with self.subTest(alone=alone):
                run = self.make(f"only-{alone}")
                for path in run.glob("*.csv"):
                    if path.stem != alone:
                        path.unlink()
                self.assertEqual(self.plot(run, "--format", "png")[0], 0)
                self.assertEqual({path.stem for path in (run / "plots").iterdir()}, drawn)

    def test_files_with_a_header_alone_are_drawn_without_a_crash(self) -> None:
        run = self.make()
        for path in run.glob("*.csv"):
            path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
        status, said = self.plot(run, "--format", "png")
        self.assertEqual(status, 0)
        self.assertIn("memory: nothing to draw", said)
        # "no launches" is a picture of its own.
        self.assertTrue((run / "plots" / "launches.png").exists())

    def test_empty_files_are_drawn_without_a_crash(self) -> None:
        run = self.make()
        for path in run.glob("*.csv"):
            path.write_bytes(b"")
        self.assertEqual(self.plot(run)[0], 0)

    def test_an_older_run_without_cores_is_drawn_without_a_word_about_them(self) -> None:
        run = self.make(older=True)
        status, said = self.plot(run, "--format", "png")
        self.assertEqual((status, "cores:" in said), (0, False), said)
        self.assertEqual({path.stem for path in (run / "plots").iterdir()}, set(PICTURES) - {"cores"})

    def test_ends_are_drawn_without_events(self) -> None:
        run = self.make(apps=14, minutes=30.0)
        for path in run.glob("*.csv"):
            if path.stem != "terminations":
                path.unlink()
        self.assertEqual(self.plot(run, "--format", "svg")[0], 0)
        self.assertEqual([path.stem for path in (run / "plots").iterdir()], ["terminations"])
        self.assert_legible(terminations.draw(read_run(run)))

    def test_ends_that_are_not_in_the_order_of_time_are_told_by_the_events(self) -> None:
        run = self.make(apps=14, minutes=30.0)
        whole = kills.kills_of(read_run(run))
        header, *rows = (run / "terminations.csv").read_text("utf-8").splitlines(keepends=True)
        (run / "terminations.csv").write_text("".join([header, *reversed(rows)]), "utf-8")
        told = read_run(run)
        self.assertEqual(len(told.notes), 2)
        self.assertIn("terminations.csv: row 3 is earlier than the row before it", told.notes[0])
        self.assertEqual(told.notes[1], UNKNOWN_ENDS)
        self.assertEqual(kills.kills_of(told)[["time_s", "app", "pid", "cause", "why"]].values.tolist(),
                         whole[["time_s", "app", "pid", "cause", "why"]].values.tolist())  # fmt: skip

    def test_a_missing_column_is_named_and_the_rest_is_drawn(self) -> None:
        run = self.make()
        events = run / "events.csv"
        events.write_text(events.read_text("utf-8").replace(",scene,", ",stage,", 1), "utf-8")
        status, said = self.plot(run)
        left_out = "plot: story: without events.scene\nplot: states: without events.scene\n"
        self.assertEqual((status, said), (0, left_out))
        ends = run / "terminations.csv"
        ends.write_text(ends.read_text("utf-8").replace(",idle_s,", ",at_rest_s,", 1), "utf-8")
        self.assertEqual(self.plot(run), (0, f"{left_out}plot: terminations: without terminations.idle_s\n"))

    def test_a_table_in_another_order_is_told_and_left_out(self) -> None:
        whole = self.make(apps=14, minutes=5.0)
        for name in ("samples", "apps", "events", "decisions"):
            runs = [self.directory / f"{kind}-{name}" for kind in ("without", "turned")]
            for run in runs:
                shutil.copytree(whole, run)
            (runs[0] / f"{name}.csv").unlink()
            header, *rows = (whole / f"{name}.csv").read_text("utf-8").splitlines()
            # Two rows of one instant, then the others backwards.
            turned = [header, rows[0], rows[0], *rows[:0:-1]]
            first = next(row for row in range(2, len(turned)) if self.time(turned, row) < self.time(turned, row - 1))
            (runs[1] / f"{name}.csv").write_text("\n".join(turned) + "\n", "utf-8")
            with self.subTest(file=name):
                said = [self.plot(run, "--format", "svg")[1] for run in runs]
                note = (f"{name}.csv: row {first + 1} is earlier than the row before it; the rows are not in the run's "
                        "order, and the table is left out")  # fmt: skip
                self.assertEqual(said[1], f"plot: {note}\n{said[0]}")
                pictures = [{path.name: path.read_bytes() for path in (run / "plots").iterdir()} for run in runs]
                self.assertEqual(*pictures)
                _, said[0] = self.plot("--compare", runs[1], whole, "--format", "svg", "--out", self.directory / f"both-{name}")
                self.assertEqual(said[0].splitlines(), [f"plot: turned-{name}: {note}"])

    def test_an_empty_table_and_one_with_zero_bytes_are_told_in_a_line(self) -> None:
        for name in ("samples", "apps", "events", "launches", "decisions", "summary", "terminations"):
            run = self.make(name)
            table = run / f"{name}.csv"
            header, *rows = table.read_text("utf-8").splitlines(keepends=True)
            told = f"{name}.csv: rows with zero bytes are left out"
            table.write_text("".join([header, "1\0\0,2\n", *rows]), "utf-8")
            self.assertEqual(read_run(run).notes[0], told)
            unknown = f"{name}.csv: the first row names no column of it, and the table is left out"
            broken = header.replace(",", "\0", 1)
            for text, notes in (("", [unknown]), (broken, [told, unknown]), ("1,2\n3,4\n", [unknown])):
                table.write_text(text, "utf-8")
                read = read_run(run)
                self.assertEqual((read.notes, read.absent, name in read.missing), (notes, set(), True), name)
            # For the pictures the three are the same: the table is missing.
            self.assertEqual(self.plot(run, "--format", "png", "--force")[0], 0)

    @staticmethod
    def time(lines: list[str], row: int) -> float:
        return float(lines[row].split(",")[lines[0].split(",").index("time_s")])

    def test_a_run_cut_anywhere_is_drawn_up_to_the_cut(self) -> None:
        whole = self.make()
        names, shares = ("samples", "apps", "events", "launches"), (0.02, 0.3, 0.777, 0.9999)
        # Each table is cut at each place once, every time beside others that are cut elsewhere.
        for turn in range(len(shares)):
            cuts = dict(zip(names, shares[turn:] + shares[:turn]))
            with self.subTest(cuts):
                run = self.directory / f"cut-{turn}"
                shutil.copytree(whole, run)
                for name, share in cuts.items():
                    content = (whole / f"{name}.csv").read_bytes()
                    (run / f"{name}.csv").write_bytes(content[: int(len(content) * share)])
                self.assertEqual(self.plot(run, "--format", "png")[0], 0)


class Reading(unittest.TestCase):
    def test_a_half_written_last_row_is_left_out(self) -> None:
        self.assertEqual(complete_records("a,b\n1,2\n3"), ("a,b\n1,2\n", True))
        self.assertEqual(complete_records('a,b\n1,"x\ny'), ("a,b\n", True))

    def test_whole_rows_stay_also_those_with_line_breaks_in_quotes(self) -> None:
        self.assertEqual(complete_records('a,b\n1,"x\ny ""z"""\n'), ('a,b\n1,"x\ny ""z"""\n', False))
        self.assertEqual(complete_records(""), ("", False))


class Memory(RunDirectoryCase):
    def run_of(self, **options: Any) -> Run:
        return read_run(self.make(**options))

    def test_the_layers_sum_up_to_the_resident_memory(self) -> None:
        run = self.run_of(apps=14, minutes=10.0)
        stack = memory.stack_of(run)
        np.testing.assert_allclose(sum(layer.bytes for layer in stack.layers), run.samples["resident_bytes"])

    def test_thinning_the_samples_loses_no_peak(self) -> None:
        run = self.run_of(apps=14, minutes=60.0)
        self.assertGreater(len(run.samples), 2 * memory.COLUMNS)
        stack = memory.stack_of(run)
        self.assertLessEqual(len(stack.times_s), memory.COLUMNS + 2)
        self.assertEqual(stack.top, run.samples["resident_bytes"].max())

    def test_small_apps_are_one_layer_and_every_ended_app_has_its_own(self) -> None:
        run = self.run_of(apps=60, minutes=5.0, ceiling=16 << 30)
        ended = {style.label(app) for app in kills.kills_of(run)["app"]}
        names = [layer.name for layer in memory.stack_of(run).layers]
        self.assertGreater(len(ended), memory.MOST_LAYERS)
        self.assertLessEqual(ended, set(names))
        self.assertRegex(names[-1], r"^\d+ other apps$")
        run.tables["terminations"] = run.terminations.iloc[:0]
        run.known.clear()
        names = [layer.name for layer in memory.stack_of(run).layers]
        self.assertEqual(len(names), memory.MOST_LAYERS + 1)
        self.assertRegex(names[-1], r"^\d+ other apps$")

    def test_an_app_has_one_colour_in_all_runs_of_a_scenario(self) -> None:
        paths = [self.make(f"run-{seed}", apps=14, minutes=10.0, seed=seed) for seed in (1, 2, 3)]
        names = sorted({name for path in paths for name in read_run(path).apps["app"]}, reverse=True)
        for path in paths:
            write_package(path, apps=names)
        runs = [read_run(path) for path in paths]
        looks = [{layer.name: layer.colour for layer in memory.stack_of(run).layers if not layer.hatch} for run in runs]
        orders = {tuple(look) for look in looks}
        self.assertGreater(len(orders), 1, "the runs must differ in which app is the largest")
        for look in looks[1:]:
            for name in looks[0].keys() & look.keys():
                self.assertEqual(look[name], looks[0][name], name)
        colours = memory.colours_of(runs[0])
        self.assertEqual(len(set(colours.values())), len(colours))
        self.assertEqual(list(colours), names, "the order is the scenario's")

    def test_facts_that_are_none_are_those_of_an_older_run(self) -> None:
        run = self.make()
        self.assertEqual((read_run(run).facts.apps, read_run(run).facts.cores), ((), 4))
        package = package_of()
        broken: dict[str, Any]
        for broken in ({}, {"run": 5}, {"run": {}}, package | {"run": package["run"] | {"thresholds": 5}}):
            (run / "datapackage.json").write_text(json.dumps(broken), "utf-8")
            self.assertEqual((read_run(run).facts, read_run(run).notes), (Facts(), [NO_FACTS]))
        (run / "datapackage.json").write_text("{", "utf-8")
        self.assertEqual(read_run(run).facts, Facts())
        write_package(run, apps=["a\u202eb"])
        self.assertEqual(read_run(run).facts.apps, ("a\\u{202E}b",))

    def test_no_apps_colour_is_a_levels_or_anothers(self) -> None:
        taken = [*style.LEVEL_COLOURS.values(), style.WANT_COLOUR, style.INK, style.OTHER_COLOUR, style.SYSTEM_COLOUR]
        # Beside the levels in one picture, for every eye; the other colours are those of texts, edges and other pictures.
        for view, least, beside in (
            (np.eye(3), 0.08, taken), (NO_RED, 0.05, style.LEVEL_COLOURS.values()), (NO_GREEN, 0.05, style.LEVEL_COLOURS.values())
        ):  # fmt: skip
            for index, colour in enumerate(style.APP_COLOURS):
                for other in (*style.APP_COLOURS[:index], *beside):
                    apart = np.linalg.norm(seen(colour, view) - seen(other, view))
                    self.assertGreater(apart, least, f"{colour} and {other}")
        for level in ("warning", "critical"):
            plain = seen(style.LEVEL_COLOURS[level], np.eye(3))
            for colour in style.APP_COLOURS:
                self.assertGreater(np.linalg.norm(seen(colour, np.eye(3)) - plain), 0.14, f"{colour} and {level}")
        # Beyond the palette they are tints of it, and all different for a while.
        many = [style.app_colour(place) for place in range(4 * len(style.APP_COLOURS))]
        self.assertEqual(len(set(many)), len(many))
        self.assertEqual(style.app_colour(len(many)), many[0])
        self.assertEqual(set(many) & set(taken), set())

    def test_classes_of_service_differ_for_every_eye(self) -> None:
        for view in (np.eye(3), NO_RED, NO_GREEN):
            colours = list(style.CLASS_COLOURS.values())
            for index, colour in enumerate(colours):
                for other in colours[:index]:
                    self.assertGreater(np.linalg.norm(seen(colour, view) - seen(other, view)), 0.08, f"{colour} and {other}")

    def test_an_app_without_a_row_holds_nothing(self) -> None:
        table = memory.at_times(memory.footprints(self.run_of().apps), np.array([0.0, 1.0, 1e6]))
        self.assertEqual(table.loc[1e6].sum(), 0)

    def test_every_kind_of_warning_has_its_marks(self) -> None:
        told = pd.DataFrame({"time_s": [1.0, 2.0, 3.0, 4.0], "level": ["warning", "critical", "", ""]})
        figure = plt.figure()
        memory.draw_warnings(figure.add_subplot(), told, seconds_per_px=0.01)
        marks = {line.get_color(): list(np.asarray(line.get_xdata())) for line in figure.axes[0].lines}
        plt.close(figure)
        self.assertEqual(marks, {
            style.SYSTEM_COLOUR: [3.0, 4.0], style.LEVEL_COLOURS["warning"]: [1.0], style.LEVEL_COLOURS["critical"]: [2.0],
        })  # fmt: skip


class States(RunDirectoryCase):
    def test_samples_tell_the_states_when_events_do_not(self) -> None:
        run = read_run(self.make(apps=5, minutes=10.0))
        told = {lane.app for lane in states.lanes_of(run)}
        run.tables["events"] = run.events.iloc[:0].copy()
        self.assertEqual({lane.app for lane in states.lanes_of(run)}, told)

    def test_lanes_are_capped_and_the_caption_says_so(self) -> None:
        run = read_run(self.make(apps=200, minutes=120.0, ceiling=4 << 30))
        lanes = states.lanes_of(run)
        shown = states.chosen(lanes)
        self.assertGreater(len(lanes), states.MOST_APPS)
        self.assertEqual(len(shown), states.MOST_APPS)
        self.assertIn(f"The 40 most eventful of {len(lanes)} apps", states.caption(lanes, shown, False))

    def test_spans_end_where_the_next_state_begins(self) -> None:
        changes = [(0.0, "active"), (5.0, "background"), (7.0, "background"), (8.0, "notRunning"), (9.0, "active")]
        self.assertEqual(states.spans(changes, 10), [(0, 5, "active"), (5, 8, "background"), (9, 10, "active")])


class Launches(RunDirectoryCase):
    def test_percentiles_are_latencies_that_occurred(self) -> None:
        latencies = np.arange(1.0, 21.0)
        self.assertEqual(launches.percentile(latencies, 0.50), 10)
        self.assertEqual(launches.percentile(latencies, 0.95), 19)

    def test_zero_latency_and_unfinished_launches_are_no_fault(self) -> None:
        run = self.make()
        (run / "launches.csv").write_text(
            "app,kind,tapped_s,ready_s,latency_ms\na,hot,0,0,0\na,cold,1,,\nb,cold,1,2,1000\n", "utf-8"
        )
        self.assertEqual(self.plot(run), (0, ""))

    def test_no_launch_finished_is_said_in_the_picture(self) -> None:
        run = self.make()
        (run / "launches.csv").write_text("app,kind,tapped_s,ready_s,latency_ms\na,cold,1,,\n", "utf-8")
        self.assertEqual(self.plot(run), (0, ""))


class Kills(RunDirectoryCase):
    COLUMNS = ("time_s", "event", "app", "pid", "scene", "reason", "state", "level", "action", "exit_reason", "cause", "measure",
               "threshold")  # fmt: skip
    FACTS: ClassVar[dict[str, str]] = {"process_state": "state", "warning": "level", "action": "action", "exit": "exit_reason"}

    def run_of(self, events: str, ends: Sequence[dict[str, object]] | None = None) -> Run:
        """A run with these events: time, kind, app, process, scene, the fact that the kind has, and the reason; and
        with these rows of terminations.csv. Without them it is an older run."""
        rows = []
        for time_s, kind, app, pid, scene, fact, reason in csv.reader(events.splitlines()):
            row = {"time_s": time_s, "event": kind, "app": app, "pid": pid, "scene": scene, "reason": reason}
            rows.append({**row, self.FACTS[kind]: fact})
        run = self.make()
        (run / "terminations.csv").unlink()
        if ends is not None:
            write_terminations(run, ends)
        with (run / "events.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, self.COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
        return read_run(run)

    def test_every_column_of_the_table_finds_its_place(self) -> None:
        # Events and samples of the same processes say otherwise, and are not asked.
        facts: dict[str, object] = {
            "time_s": 8.5, "app": "a", "pid": "1", "band": "30", "exit_reason": "memoryPressure", "cause": "idle-exit",
            "demand": "pressure", "measure": "available_bytes", "observed": 11.0, "threshold": 12.0, "beneficiary": "b",
            "taken_bytes": 13.0, "footprint_bytes": 14.0, "idle_s": 15.0, "warned_s": 3.5, "wanted_after_s": 16.0,
            "why": "so",
        }  # fmt: skip
        events = "0,process_state,a,1,,active,\n1,warning,a,1,,critical,\n7,exit,a,1,,appWatchdog,late\n"
        run = self.run_of(events, [{**facts, "need": "level", "was_foreground": "false", "was_perceived": "true"}])
        self.assertEqual(run.notes, [])
        (row,) = kills.kills_of(run).to_dict("records")
        self.assertEqual({name: row[name] for name in facts}, facts)
        self.assertEqual((row["want"], row["felt"], row["mark"]), ("", kills.MISSED, style.FELT))
        # Every column that is read has a name of the table.
        self.assertLessEqual(set(run.terminations), set(COLUMNS["terminations"].split()))

    def test_what_the_table_leaves_empty_is_not_known_or_never_was(self) -> None:
        seen = {**UNFELT, "time_s": 7, "app": "a", "pid": 1, "exit_reason": "appWatchdog", "was_foreground": "true"}
        (row,) = kills.kills_of(self.run_of("", [seen])).itertuples()
        self.assertEqual((row.cause, row.felt), ("appWatchdog", kills.SEEN))
        self.assertEqual((row.band, row.beneficiary, row.demand, row.want), ("", "", "", ""))
        self.assertTrue(math.isnan(row.warned_s) and math.isnan(row.footprint_bytes) and math.isinf(row.wanted_after_s))

    def test_who_quit_as_the_user_wished_was_not_killed(self) -> None:
        run = self.run_of("7,exit,a,1,,userTerminated,\n")
        self.assertTrue(kills.kills_of(run).empty)
        self.assertEqual(run.notes, [], "there is no termination of which too little is known")

    def test_who_was_asked_to_end_and_is_still_there_was_not_killed(self) -> None:
        events = "7,action,a,1,,terminate_politely,why\n"
        self.assertTrue(kills.kills_of(self.run_of(events, [])).empty)
        self.assertEqual(len(kills.kills_of(self.run_of(events))), 1, "an early format has no exits")

    def test_without_exits_who_was_asked_to_end_counts_too_and_once(self) -> None:
        run = self.run_of(
            "7,action,a,1,,terminate_politely,why\n8,action,a,1,,terminate,now\n9,action,b,2,,terminate_politely,why\n"
        )
        table = kills.kills_of(run)
        self.assertEqual((table["app"].tolist(), table["why"].tolist()), (["a", "b"], ["now", "why"]))

    def test_a_crash_is_no_termination_and_is_counted_beside(self) -> None:
        run = self.run_of("7,exit,a,1,,abnormal,crashed\n8,exit,b,2,,memoryPressure,why\n")
        self.assertEqual(kills.kills_of(run)["app"].tolist(), ["b"])
        self.assertEqual(kills.crashes(run)["app"].tolist(), ["a"])
        words = [text.get_text() for text in drawn(memory.draw(run)).findobj(Text)]
        self.assertIn("1 terminated\n1 crashed", words)
        self.assertIn("a (crash)", words)
        self.assertTrue(any("1 more crashed: a." in text.get_text() for text in drawn(terminations.draw(run)).findobj(Text)))

    def test_the_spared_are_those_of_the_same_decision(self) -> None:
        run = read_run(self.make(apps=14, minutes=30.0))
        spared = kills.spared(run)
        self.assertGreater(len(spared), 0)
        self.assertEqual(len(spared), len(kills.kills_of(run)))
        self.assertTrue(any(("in the foreground" in [why for _, why in who]) for who in spared.values()))

    def test_a_later_candidate_was_spared_because_its_turn_was_later(self) -> None:
        run = self.make(apps=14, minutes=30.0)
        rows = [why for who in kills.spared(read_run(run)).values() for _, why in who]
        self.assertTrue(any(why.startswith("its turn was later (choice ") for why in rows), rows[:5])
        # That is why it was ranked, not why it lives.
        self.assertNotIn("idle longest", rows)

    def test_each_spared_process_has_one_true_reason(self) -> None:
        header = "time_s,decision,action,app,pid,rank,chosen,reason,observed,threshold,demand,outcome\n"
        run = self.run_of("7,exit,a,1,,memoryPressure,why\n")
        rows = (
            "7,1,terminate,f,6,1,false,refused by foreground: on a screen,0,0,pressure,refused\n"
            "7,1,terminate,a,1,2,true,idle longest,0,0,pressure,chosen\n"
            "7,1,disconnect_scene,b,2,3,false,off screen,0,0,pressure,ranked\n"
            "7,1,terminate,b,2,4,false,idle longest,0,0,pressure,ranked\n"
            "7,1,warn,c,3,5,false,running,0,0,pressure,ranked\n"
            "7,1,,d,4,,false,plays audio,0,0,pressure,spared\n"
            "7,1,terminate,a,1,6,false,idle longest,0,0,pressure,ranked\n"
        )
        (run.directory / "decisions.csv").write_text(header + rows, "utf-8")
        self.assertEqual(kills.spared(read_run(run.directory))["1"], [
            ("f", "refused by foreground: on a screen"),
            ("b", "its turn was later (choice 4)"),
            ("c", "warn was all that was considered for it, and its turn was later (choice 5)"),
            ("d", "plays audio"),
        ])  # fmt: skip

    def test_who_was_asked_to_end_goes_later_than_the_decision(self) -> None:
        run = self.make(apps=14, minutes=30.0)
        ends = pd.read_csv(run / "terminations.csv", dtype=str, keep_default_na=False)
        ends["time_s"] = (ends["time_s"].astype(float) + 2).astype(str)
        ends.to_csv(run / "terminations.csv", index=False)
        later = read_run(run)
        self.assertEqual(later.notes, [])
        self.assertEqual(set(kills.spared(later)), set(kills.kills_of(later)["pid"]))

    def test_a_cause_says_which_limit_the_policy_was_asked_about(self) -> None:
        self.assertEqual(
            terminations.cause_of("jettisoned", demand="background_processes"),
            "jettisoned, for the limit of background processes",
        )
        self.assertEqual(terminations.cause_of("memoryPressure", demand="pressure"), "memoryPressure")
        self.assertEqual(terminations.cause_of("idle-exit"), "idle-exit")

    def test_the_want_of_memory_is_a_cause_of_its_own(self) -> None:
        run = self.run_of("", [
            {**UNFELT, "time_s": 7, "app": "a", "pid": 1, "cause": "no_room", "need": "own_allocation"},
            {**UNFELT, "time_s": 8, "app": "b", "pid": 2, "demand": "allocation", "need": "allocation"},
            # The policy ended the very process whose allocation waits.
            {**UNFELT, "time_s": 9, "app": "d", "pid": 4, "demand": "allocation", "need": "own_allocation"},
            {**UNFELT, "time_s": 10, "app": "c", "pid": 3, "demand": "pressure", "need": "level"},
            # As much as the events of a killed run tell.
            {**UNFELT, "time_s": 11, "app": "e", "pid": 5, "cause": "kept_back"},
        ])  # fmt: skip
        table = kills.kills_of(run)
        self.assertEqual(table["want"].tolist(), [kills.OWN, kills.ANOTHER, kills.OWN, "", kills.OWN])
        self.assertEqual(set(table["cause"]), {"memoryPressure"}, "how it found none is said by `want`")
        words = drawn(terminations.draw(run)).findobj(Text)
        coloured = {text.get_text() for text in words if text.get_color() == style.WANT_COLOUR}
        self.assertEqual(
            coloured,
            {
                "its own allocation found no room",
                "an allocation found no room",
            },
        )
        # A run in which every allocation found room has no such line.
        plain = drawn(terminations.draw(self.run_of("9,exit,c,3,,memoryPressure,why\n")))
        self.assertFalse(any("found no room" in text.get_text() for text in plain.findobj(Text)))

    def test_many_bands_and_causes_and_a_footprint_of_nothing_are_legible(self) -> None:
        style.prepare()
        bands = (0, 10, 20, 30, 40, 75, 80, 90, 100, 120, 160, 170)
        run = self.run_of("", [
            {**UNFELT, "time_s": 9 + index, "app": f"a{index}", "pid": index, "band": band, "footprint_bytes": 0,
             "exit_reason": f"cause{index}", "idle_s": 9 + index, "why": f"why {'so long ' * index}"}
            for index, band in enumerate(bands)
        ])  # fmt: skip
        figure = drawn(terminations.draw(run))
        self.assertEqual(len(figure.axes), 2, "the story, and footprint against time off screen")
        self.assert_legible(figure)

    def test_bands_ascend_and_the_unknown_is_last(self) -> None:
        self.assertEqual(terminations.bands_of(pd.DataFrame({"band": ["100", "", "0", "20"]})), ["0", "20", "100", ""])


class Pressure(RunDirectoryCase):
    def test_labels_of_stalls_say_where_their_lines_are(self) -> None:
        for highest in (0.0002, 0.003, 0.012, 0.03, 0.07, 0.4, 1.0):
            run = self.make(f"stalled-{highest}")
            samples = pd.read_csv(run / "samples.csv")
            samples["psi_some_avg10"] = highest
            samples.to_csv(run / "samples.csv", index=False)
            figure = pressure.draw(read_run(run))
            assert figure is not None
            figure.canvas.draw()
            for tick in figure.axes[1].yaxis.get_major_ticks():
                label = tick.label1.get_text()
                self.assertAlmostEqual(float(label.rstrip("%")), 100 * tick.get_loc(), msg=f"{highest}: {label}")

    def test_no_trough_is_lost(self) -> None:
        run = read_run(self.make(apps=14, minutes=60.0))
        samples = run.samples
        self.assertAlmostEqual(
            pressure.shares(run)["share"].min(), (samples["available_bytes"] / samples["ceiling_bytes"]).min()
        )

    def test_stall_columns_are_drawn_when_they_are_there(self) -> None:
        run = self.make()
        lines = (run / "samples.csv").read_text("utf-8").splitlines()
        lines = [lines[0] + ",psi_some_avg10,psi_full_avg300"] + [f"{line},0.0{index % 10},0" for index, line in enumerate(lines[1:])]
        (run / "samples.csv").write_text("\n".join(lines) + "\n", "utf-8")
        without, figure = (drawn(pressure.draw(read_run(folder))) for folder in (self.make("other"), run))
        self.assertEqual((len(without.axes), len(figure.axes)), (1, 2))
        self.assert_legible(figure)


class Comparisons(RunDirectoryCase):
    def one(self, name: str, policy: str, seed: int, ceiling: str = "1GiB", rest: str = "") -> Path:
        run = self.make(name, seed=seed, minutes=5.0)
        (run / "summary.csv").write_text(
            "scenario,policy,seed,launch_latency_p95_ms,terminations\n" f"s,{policy},{seed},{100 * seed},{seed}\n", "utf-8"
        )
        (run / "scenario.yaml").write_text(
            f"name: s\nseed: {seed}\ndevice:\n  ceiling: {ceiling}\npolicy:\n  name: {policy}\n{rest}", "utf-8"
        )
        write_package(run, seed=seed, setup=f"{ceiling} {policy} {rest}")
        return run

    def sweep(self) -> Path:
        for policy, seed in (("lru", 1), ("lru", 2), ("ladder", 1), ("ladder", 2)):
            self.one(f"sweep/{policy}-{seed}", policy, seed)
        return self.directory / "sweep"

    def labels_of(self, *directories: Path) -> list[str]:
        names = several.labels(list(directories), [several.summary_of(directory) for directory in directories])
        return [group.label for group in compare.groups_of([read_run(directory) for directory in directories], names)]

    def test_seeds_of_one_policy_are_one_group(self) -> None:
        directories = several.expand([self.sweep()])
        groups = compare.groups_of([read_run(directory) for directory in directories], list("abcd"))
        self.assertEqual([group.label for group in groups], ["ladder (2 seeds)", "lru (2 seeds)"])
        self.assertEqual(groups[0].mean("launch_latency_p95_ms"), 150.0)

    def test_runs_that_differ_in_more_than_the_seed_are_no_group(self) -> None:
        runs = [self.one(f"a-{seed}", "ladder", seed) for seed in (1, 2)]
        runs += [self.one(f"b-{seed}", "ladder", seed, ceiling="700MiB") for seed in (3, 4)]
        self.assertEqual(self.labels_of(*runs), ["ceiling 1GiB (2 seeds)", "ceiling 700MiB (2 seeds)"])
        runs += [self.one(f"l-{seed}", "lru", seed) for seed in (1, 2)]
        labels = ["ladder, ceiling 1GiB (2 seeds)", "ladder, ceiling 700MiB (2 seeds)", "lru, ceiling 1GiB (2 seeds)"]
        self.assertEqual(self.labels_of(*runs), labels)
        # Also where the policies alone would tell them apart: the ceiling's effect is not the policy's.
        self.assertEqual(self.labels_of(*runs[2:]), labels[1:])
        # What the settings do not tell, or not in sight, the folder does.
        runs[2:] = [self.one(f"c-{seed}", "ladder", seed, rest="user:\n- { at: 1s, lock: 1s }\n") for seed in (3, 4)]
        self.assertEqual(self.labels_of(*runs), ["a-1 (2 seeds)", "c-3 (2 seeds)"])

    def test_a_policys_parameter_is_told_among_its_own_groups_alone(self) -> None:
        def parameter(value: str) -> str:
            return f"  parameters:\n    grace: {value}\n"

        runs = [self.one(f"a-{seed}", "ladder", seed, rest=parameter("1s")) for seed in (1, 2)]
        runs += [self.one(f"l-{seed}", "lru", seed, rest=parameter("2s")) for seed in (1, 2)]
        self.assertEqual(self.labels_of(*runs), ["ladder (2 seeds)", "lru (2 seeds)"])
        runs += [self.one(f"b-{seed}", "ladder", seed, rest=parameter("3s")) for seed in (1, 2)]
        labels = ["ladder, grace 1s (2 seeds)", "lru (2 seeds)", "ladder, grace 3s (2 seeds)"]
        self.assertEqual(self.labels_of(*runs), labels)

    def test_a_run_of_which_nobody_knows_the_setup_joins_no_other(self) -> None:
        runs = [self.one(f"a-{seed}", "ladder", seed) for seed in (1, 2, 3)]
        (runs[2] / "datapackage.json").unlink()
        self.assertEqual(self.labels_of(*runs), ["a-1 (2 seeds)", "a-3"])
        (runs[1] / "datapackage.json").unlink()
        self.assertEqual(self.labels_of(*runs), ["seed 1", "seed 2", "seed 3"])

    def test_a_directory_of_runs_gives_one_picture(self) -> None:
        out = self.directory / "out"
        status, said = self.plot("--compare", self.sweep(), "--out", out)
        self.assertEqual((status, said), (0, ""))
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["compare.png", "compare.svg"])

    def test_runs_on_devices_by_name_give_a_picture_of_apps_alive_and_of_returns(self) -> None:
        runs = [self.make("a"), self.make("b")]
        for run, name in zip(runs, ("iPhone 13", "Pixel 6")):
            write_package(run, device=name)
        out = self.directory / "out"
        self.assertEqual(self.plot("--compare", *runs, "--out", out, "--format", "png")[0], 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["compare.png", "devices.png"])

    def test_runs_without_summary_or_launches_are_compared_by_the_rest(self) -> None:
        runs = [self.make("a"), self.make("b")]
        (runs[0] / "summary.csv").unlink()
        (runs[1] / "launches.csv").unlink()
        status, said = self.plot("--compare", *runs, "--out", self.directory / "out", "--format", "png")
        self.assertEqual(status, 0)
        self.assertIn("summary", said)
        self.assertIn("launches", said)

    def losing(self, name: str, shown: int, lost: int) -> Run:
        """A run whose shown launches took 100 ms each."""
        run = self.make(name)
        rows = ["app,kind,tapped_s,ready_s,latency_ms,pid,outcome"]
        rows += [f"a,cold,{index},{index}.1,100,1,ready" for index in range(shown)]
        rows += [f"a,cold,{index},,,1,terminated" for index in range(lost)]
        (run / "launches.csv").write_text("\n".join(rows) + "\n", "utf-8")
        (run / "summary.csv").write_text(
            f"scenario,policy,seed,launch_latency_p95_ms,launches_unfinished\ns,{name},1,100,{lost}\n", "utf-8"
        )
        return read_run(run)

    def test_lost_launches_are_missing_at_the_top_and_their_latency_is_no_merit(self) -> None:
        style.prepare()
        runs = [self.losing("whole", 20, 0), self.losing("lossy", 15, 5)]
        groups = compare.groups_of(runs, ["whole", "lossy"])
        self.assertEqual([group.lost for group in groups], [0, 5])
        for name, rated in (("launch_latency_p95_ms", [True, False]), ("terminations", [True, True])):
            self.assertEqual(compare.may_be_best(groups, metrics.named(runs[0].metrics, name)), rated)
        figure = compare.draw(runs, ["whole", "lossy"])
        tops = [np.asarray(line.get_ydata())[-1] for line in figure.axes[-1].lines if line.get_linestyle() != "None"]
        self.assertEqual(tops, [1.0, 0.75])
        words = {text.get_text(): text.get_fontweight() for text in figure.findobj(Text)}
        self.assertEqual((words["100 ms"], words["100 ms*"]), ("bold", "normal"))
        self.assertEqual((words["0"], words["5"]), ("bold", "normal"))

    def test_the_package_says_which_policy_is_a_yardstick_and_where_a_run_took_place(self) -> None:
        runs = [self.make(name, seed=seed) for seed, name in enumerate("ab", start=1)]
        write_package(runs[0], isYardstick=True, setup="a")
        write_package(runs[1], setup="b", place=" on an iPhone 13, at 12.5%")
        found = [read_run(run) for run in runs]
        self.assertEqual([group.is_yardstick for group in compare.groups_of(found, ["a", "b"])], [True, False])
        self.assertEqual([run.title for run in found], ["synthetic, policy lru, seed 1", "synthetic on an iPhone 13, at 12.5%: policy lru, seed 2"])

    def test_a_single_runs_curve_lacks_what_was_lost(self) -> None:
        figure = drawn(launches.draw(self.losing("lossy", 15, 5)))
        curve, *marks = figure.axes[0].lines
        self.assertEqual(np.asarray(curve.get_ydata())[-1], 0.75)
        self.assertEqual([float(np.asarray(mark.get_ydata())[0]) for mark in marks], [0.375, 0.7125])
        self.assertTrue(any("never came" in text.get_text() for text in figure.findobj(Text)))

    def test_metrics_are_those_of_the_package_or_of_the_program(self) -> None:
        found = metrics.metrics_of(package_of())
        self.assertEqual([one.name for one in found if one.place], [name for name, *_ in METRICS])
        self.assertEqual({one.name for one in found} - {one.name for one in found if one.is_drawn}, NOT_DRAWN)
        self.assertEqual(metrics.named(found, "time_critical_s"),
                         Metric("time_critical_s", "time critical", "lower", "s", 9, is_drawn=True))  # fmt: skip
        self.assertEqual(metrics.named(found, "new_ms"), Metric("new_ms", "new_ms", unit="ms"))
        broken: Any
        for broken in ({}, {"resources": 3}, {"resources": [{"schema": {"fields": [{"metric": {}}]}}]}):
            self.assertEqual(metrics.metrics_of(broken), [])
        said = json.dumps(package_of()["resources"])
        program = self.program(f"test \"$*\" = 'schema csv' && echo '{said}'\n")
        older = self.make(older=True)
        for named, known in ((program, found), ("/bin/false", [])):
            with mock.patch.dict(os.environ, PLIMSOLL=str(named)):
                self.assertEqual(read_run(older).metrics, known)
                self.assertEqual(self.plot("--compare", older, "--out", self.directory / f"out-{len(known)}", "--format", "png")[0], 0)

    def test_no_text_overlaps_another_whatever_the_number_of_runs(self) -> None:
        style.prepare()
        run = read_run(self.make())
        for count in (1, 2, 8, 30):
            with self.subTest(runs=count):
                names = [f"a policy with a long name {index}" for index in range(count)]
                self.assert_legible(compare.draw([run] * count, names))

    def test_wrong_calls_are_64_and_66(self) -> None:
        run = self.make()
        self.assertEqual(self.plot(run, "--compare", run)[0], 64)
        self.assertEqual(self.plot()[0], 64)
        self.assertEqual(self.plot("--compare", self.directory / "nowhere")[0], 66)

    def test_labels_name_what_differs(self) -> None:
        rows = [{"scenario": "a", "policy": "lru", "seed": "1"}, {"scenario": "b", "policy": "lru", "seed": "2"}]
        self.assertEqual(several.labels([Path("x"), Path("y")], rows), ["a, seed 1", "b, seed 2"])


class Numbers(unittest.TestCase):
    def test_a_length_of_time_is_cut_and_reads_as_in_the_program_s_words(self) -> None:
        for seconds, text, short in (
            (0, "0 s", "0 s"), (0.0625, "62.5 ms", "62.5 ms"), (0.99999, "999.9 ms", "999.9 ms"), (31.47, "31.4 s", "31.4 s"), (60, "1 min 0.0 s", "1 min"),
            (151.4, "2 min 31.4 s", "2 min 31 s"), (900, "15 min 0.0 s", "15 min"), (3723.45, "1 h 2 min 3.4 s", "1 h 2 min"), (math.inf, "", ""), (math.nan, "", ""),
        ):  # fmt: skip
            self.assertEqual((span_text(seconds), span_text(seconds, is_short=True)), (text, short))

    def test_no_figure_is_a_power_of_ten(self) -> None:
        self.assertEqual(
            [launches.seconds_text(value) for value in (0, 9.14, 999, 1120, 3599, 40000, 4e6)],
            ["0 s", "9.14 s", "999 s", "18.7 min", "60 min", "11.11 h", "1,111 h"],
        )
        self.assertEqual(launches.duration_text(1.12e6), "18.7 min")
        self.assertEqual(launches.duration_text(999.7), "1 s")
        self.assertEqual([style.number_text(value) for value in (0.25, 999.6, 12345, 2.5e7)],
                         ["0.25", "999.6", "12,345", "25,000,000"])  # fmt: skip
        self.assertEqual([comparison.number_text(value, "s") for value in (1120, -1120)], ["+18.7 min", "-18.7 min"])
        self.assertEqual(comparison.number_text(2345.6, ""), "+2,346")
        self.assertEqual(compare.text_of(1120, "s"), "18.7 min")
        self.assertEqual(sweep.setting_text(1120, "policy.parameters.after_s"), "18.7 min")


class PairedPictures(unittest.TestCase):
    def drawn(self, pairs: int, verdict: str, low: float, high: float) -> set[str]:
        """The texts of a picture of two policies and one metric."""
        style.prepare()
        rows = [("ladder", "baseline", "", "", "", "", "baseline"), ("lru", "candidate", pairs, 2.0, low, high, verdict)]
        columns = ["policy", "role", "pairs", "difference", "difference_low", "difference_high", "verdict"]
        table = pd.DataFrame(rows, columns=columns).assign(
            scope="scenario", scenario="s", metric="terminations", sense="lower", runs=pairs, mean=3.0
        )
        (self.directory / "comparison.csv").write_text(table.to_csv(index=False), "utf-8")
        figure = comparison.draw(comparison.read(self.directory), "s", metrics.metrics_of(package_of()))
        return {text.get_text() for text in figure.findobj(Text)}

    def test_the_picture_says_whether_there_are_intervals(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            self.directory = Path(directory)
            nan = float("nan")
            self.assertIn("differences from ladder; 8 pairs under the same seeds; bars are confidence intervals", self.drawn(8, "worse", 1, 3))
            self.assertIn(
                "differences from ladder; 4 pairs under the same seeds; too few for confidence intervals", self.drawn(4, "too_few", nan, nan)
            )


class Names(unittest.TestCase):
    def test_names_are_printable_short_and_never_hidden(self) -> None:
        self.assertEqual(style.label("price_$5"), "price_$5")
        self.assertEqual(style.label("_hidden"), " _hidden")
        self.assertEqual(style.label("two\nlines\tand\x00more"), "two lines and more")
        self.assertEqual(style.label("x" * 40, 10), "x" * 9 + "…")
        self.assertEqual(style.label(""), "(no name)")


if __name__ == "__main__":
    unittest.main()
