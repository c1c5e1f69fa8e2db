"""What pictures say: which ends the user misses, why each happened, where memory peaked, and what is too little for a panel."""

from __future__ import annotations

import csv
import shutil
import unittest
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from harness import PictureCase
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from synthetic_run import MIB, UNFELT, package_of, write_package, write_run, write_terminations

from plimsoll_tools.plotting import (
    compare,
    comparison,
    cores,
    kills,
    launches,
    memory,
    metrics,
    pages,
    pictures,
    pressure,
    reasons,
    states,
    story,
    style,
    sweep,
    terminations,
)
from plimsoll_tools.plotting.run_directory import UNKNOWN_ENDS, read_run
from plimsoll_tools.reporting import payload
from plimsoll_tools.tuning import charts

KNOWN = metrics.metrics_of(package_of())
FACTS: dict[str, Any] = {"scenario": "morning", "seed": 7, "policy": "lru", "apps": ["chat", "game", "notes"]}
EVENTS = ["time_s", "event", "app", "pid", "scene", "detail", "reason", "state", "level", "action", "exit_reason", "cause",
          "measure", "observed", "threshold"]  # fmt: skip


class StoryCase(PictureCase):
    """A made-up run whose every end is known."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(plt.close, "all")
        style.prepare()

    def folder(self, name: str = "run", **options: Any) -> Path:
        path = self.directory / name
        write_run(path, **{"apps": 3, "minutes": 2.0, **options})
        return path

    def table(self, folder: Path, name: str, columns: list[str], rows: list[dict[str, object]]) -> None:
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def story(self) -> Path:
        """Ten minutes of three apps: chat is ended and wanted 100 s later, notes ended and never wanted, game dies on the
        screen at its own limit of 64 MiB."""
        folder = self.folder("story")
        write_package(folder, **FACTS)

        def event(time_s: float, kind: str, app: str, pid: int, **facts: object) -> dict[str, object]:
            return {"time_s": time_s, "event": kind, "app": app, "pid": pid, **facts}

        self.table(folder, "events", EVENTS, [
            event(0, "process_state", "chat", 1, state="active"), event(60, "process_state", "chat", 1, state="suspended"),
            event(60, "process_state", "notes", 2, state="active"), event(90, "process_state", "notes", 2, state="suspended"),
            event(95, "process_state", "game", 3, state="active"),
            event(100, "pressure_level", "", 0, level="critical", measure="available_bytes", observed=20 * MIB,
                  threshold=30 * MIB),
            event(100, "warning", "game", 3, level="critical"), event(100, "warning", "notes", 2, level=""),
            event(120, "exit", "chat", 1, exit_reason="memoryPressure", cause="jettisoned"),
            event(130, "exit", "notes", 2, exit_reason="memoryPressure", cause="jettisoned"),
            event(220, "launch", "chat", 4), event(221, "process_state", "chat", 4, state="active"),
            event(300, "exit", "game", 3, exit_reason="memoryResourceLimit", cause="per-process-limit",
                  measure="footprint_bytes", observed=65 * MIB, threshold=64 * MIB),
        ])  # fmt: skip
        decided = {"action": "terminate", "rank": 1, "chosen": "true", "reason": "idle longest", "measure": "available_bytes",
                   "observed": 20 * MIB, "threshold": 30 * MIB, "demand": "pressure", "outcome": "chosen", "band": "0",
                   "cause": "jettisoned"}  # fmt: skip
        columns = ["time_s", "decision", "app", "pid", *decided]
        self.table(folder, "decisions", columns, [
            {**decided, "time_s": 120, "decision": 1, "app": "chat", "pid": 1},
            {**decided, "time_s": 130, "decision": 2, "app": "notes", "pid": 2},
        ])  # fmt: skip
        facts = ("band", "cause", "demand", "measure", "observed", "threshold")
        ended = {**UNFELT, **{name: decided[name] for name in facts}, "beneficiary": "game", "need": "level",
                 "taken_bytes": 4 * MIB, "in_short": "memory was critical",
                 "standing": "holds most"}  # fmt: skip
        write_terminations(folder, [
            {**ended, "time_s": 120, "app": "chat", "pid": 1, "footprint_bytes": 50 * MIB, "idle_s": 60,
             "was_perceived": "true", "wanted_after_s": 100},
            {**ended, "time_s": 130, "app": "notes", "pid": 2, "footprint_bytes": 30 * MIB, "idle_s": 40,
             "warned_s": 30},
            {**UNFELT, "time_s": 300, "app": "game", "pid": 3, "exit_reason": "memoryResourceLimit", "band": 100,
             "cause": "per-process-limit", "measure": "footprint_bytes", "observed": 65 * MIB, "threshold": 64 * MIB,
             "in_short": "over its own limit of 64 MiB",
             "beneficiary": "game", "need": "own_limit", "footprint_bytes": 64 * MIB, "idle_s": 0, "warned_s": 200,
             "was_foreground": "true"},
        ])  # fmt: skip
        self.table(folder, "launches", ["app", "kind", "tapped_s", "ready_s", "latency_ms", "pid", "outcome"], [
            {"app": app, "kind": "cold", "tapped_s": at, "ready_s": at + 1, "latency_ms": 1000, "pid": pid, "outcome": "ready"}
            for app, at, pid in (("chat", 0, 1), ("notes", 59, 2), ("game", 94, 3), ("chat", 220, 4))
        ])  # fmt: skip
        held: dict[int, dict[str, int]] = {}
        for time_s in range(0, 601, 10):
            held[time_s] = {}
            if time_s < 120:
                held[time_s]["chat"] = 50
            if 60 <= time_s < 130:
                held[time_s]["notes"] = 30
            if 95 <= time_s < 300:
                held[time_s]["game"] = min(12 + 4 * (time_s - 95) // 10, 64)
        pids = {"chat": 1, "notes": 2, "game": 3}
        self.table(folder, "apps", ["time_s", "app", "pid", "state", "band", "footprint_bytes"], [
            {"time_s": time_s, "app": app, "pid": pids[app], "state": "suspended", "band": 0, "footprint_bytes": size * MIB}
            for time_s, sizes in held.items() for app, size in sizes.items()
        ])  # fmt: skip
        columns = ["time_s", "ceiling_bytes", "resident_bytes", "available_bytes", "pressure_level", "peak_resident_bytes"]
        rows: list[dict[str, object]] = []
        for time_s, sizes in held.items():
            resident = 20 + sum(sizes.values())
            # Between the samples of 110 s and 120 s there was more than either of them found.
            peak = 180 if time_s >= 120 else max([resident, *(int(str(row["peak_resident_bytes"])) // MIB for row in rows)])
            rows.append({"time_s": time_s, "ceiling_bytes": 200 * MIB, "resident_bytes": resident * MIB,
                         "available_bytes": (200 - resident) * MIB, "peak_resident_bytes": peak * MIB,
                         "pressure_level": "critical" if 100 <= time_s < 140 else "normal"})  # fmt: skip
        self.table(folder, "samples", columns, rows)
        self.table(folder, "summary", ["scenario", "policy", "seed", "ceiling_bytes", "peak_resident_bytes"], [
            {"scenario": "morning", "policy": "lru", "seed": 7, "ceiling_bytes": 200 * MIB, "peak_resident_bytes": 180 * MIB}
        ])  # fmt: skip
        return folder

    @staticmethod
    def words(figure: Figure | None) -> list[str]:
        assert figure is not None
        return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text().strip()]

    @staticmethod
    def xs(line: Line2D) -> list[float]:
        return [float(x) for x in np.asarray(line.get_xdata())]

    @staticmethod
    def marked(axes: Axes, name: str) -> list[float]:
        """The places of the marks that were drawn under this name."""
        lines = [line for line in axes.lines if line.get_gid() == name]
        return [float(x) for line in lines[:1] for x in np.asarray(line.get_xdata())]


class FeltEnds(StoryCase):
    def test_an_end_is_felt_on_the_screen_or_when_the_app_is_wanted_soon(self) -> None:
        run = read_run(self.story())
        table = kills.kills_of(run).set_index("app")
        self.assertEqual(table["felt"].to_dict(), {"chat": kills.MISSED, "notes": "", "game": kills.SEEN})
        self.assertEqual(table["wanted_after_s"].to_dict(), {"chat": 100.0, "notes": np.inf, "game": np.inf})
        # The flags alone say it: wanted again too late is not missed, and who saw it vanish felt it then.
        run.terminations.loc[0, "was_perceived"] = "false"
        run.terminations.loc[2, "was_perceived"] = "true"
        run.known.clear()
        self.assertEqual(kills.kills_of(run)["felt"].tolist(), ["", "", kills.SEEN])

    def test_what_was_seen_off_screen_is_missed_without_being_wanted(self) -> None:
        run = read_run(self.story())
        run.terminations.loc[1, "was_perceived"] = "true"
        self.assertEqual(kills.kills_of(run)["felt"].tolist(), [kills.MISSED, kills.MISSED, kills.SEEN])
        words = self.words(terminations.draw(run))
        self.assertIn("misses it", words)
        self.assertIn("wants it in 1 min 40 s", words)

    def test_felt_ends_are_marked_otherwise_than_others_in_memory_and_states(self) -> None:
        run = read_run(self.story())
        figure = memory.draw(run)
        assert figure is not None
        lane = next(axes for axes in figure.axes if any("terminated" in text.get_text() for text in axes.texts))
        self.assertEqual((self.marked(lane, "ends-felt"), self.marked(lane, "ends-unfelt")), ([120.0, 300.0], [130.0]))
        weights = {text.get_text(): (text.get_fontweight(), text.get_color()) for text in lane.texts}
        self.assertEqual([weights[app][0] for app in ("chat", "game", "notes")], ["bold", "bold", "normal"])
        self.assertNotEqual(weights["chat"][1], weights["notes"][1])
        self.assertIn(style.END_NAMES[style.FELT], self.words(figure))
        looks = [{key: look.get(key) for key in ("marker", "color")} for look in
                 (style.END_LOOKS[style.FELT][0], style.END_LOOKS[style.UNFELT][0])]  # fmt: skip
        self.assertNotEqual(*looks)
        figure = states.draw(run)
        assert figure is not None
        marks = {line.get_gid(): list(np.asarray(line.get_xdata())) for line in figure.axes[0].lines if line.get_gid()}
        self.assertEqual((marks["ends-felt"], marks["ends-unfelt"]), ([300.0], [130.0]))
        self.assertIn(style.END_NAMES[style.UNFELT], self.words(figure))
        # A white edge below the mark: its grey is near that of a suspended process.
        for kind in (style.UNFELT, style.LEFT):
            below, mark = style.END_LOOKS[kind]
            self.assertEqual((below["marker"], below["color"]), (mark["marker"], "white"))
            self.assertGreater(below["markeredgewidth"], mark["markeredgewidth"] + 1)

    def test_a_warning_at_a_first_frame_stands_above_it(self) -> None:
        run = read_run(self.story())
        frame = run.events.loc[run.events["event"] == "warning"].assign(event="first_frame")
        run.tables["events"] = pd.concat([run.events, frame]).sort_values("time_s", kind="stable")
        figure = states.draw(run)
        assert figure is not None
        heights: dict[str, list[float]] = {"^": [], "o": []}
        for line in figure.axes[0].lines:
            if line.get_marker() in heights and line.get_gid() is None:
                heights[str(line.get_marker())] += np.asarray(line.get_ydata(), dtype=float).tolist()
        self.assertEqual((len(heights["^"]), len(heights["o"])), (2, 2))
        for warning, first in zip(sorted(heights["^"]), sorted(heights["o"])):
            self.assertAlmostEqual(first - warning, (states.FRAME_AT - states.WARNED_AT) * states.APP_IN)
        self.assertGreater((states.FRAME_AT - states.WARNED_AT) * states.APP_IN * 72, (4.6 + 2.6) / 2, "in points")

    def test_quits_and_crashes_have_marks_of_their_own(self) -> None:
        run = read_run(self.story())
        events = run.events
        events.loc[events["app"] == "notes", "exit_reason"] = events["exit_reason"].replace("memoryPressure", "userTerminated")
        events.loc[events["exit_reason"] == "memoryResourceLimit", "exit_reason"] = "abnormal"
        run.tables["terminations"] = run.terminations[run.terminations["app"] == "chat"]
        lanes = {lane.app: lane.ended_as for lane in states.lanes_of(run)}
        self.assertEqual(lanes, {"chat": {style.FELT: [120.0]}, "notes": {style.LEFT: [130.0]}, "game": {style.CRASHED: [300.0]}})


class Compressed(StoryCase):
    def compressed(self) -> Path:
        """The story on a device whose processes hold three times what is in RAM: 20 MiB of system and 10 MiB of pool."""
        folder = self.story()
        apps = pd.read_csv(folder / "apps.csv")
        footprints = apps.groupby("time_s")["footprint_bytes"].sum()
        samples = pd.read_csv(folder / "samples.csv")
        held = samples["time_s"].map(footprints).fillna(0)
        samples["resident_bytes"] = 30 * MIB + (held / 3).astype(int)
        samples["available_bytes"] = samples["ceiling_bytes"] - samples["resident_bytes"]
        samples.to_csv(folder / "samples.csv", index=False)
        pages = pd.DataFrame({"time_s": samples["time_s"], "resident_bytes": (held / 3).astype(int)})
        pages["compressed_bytes"] = (held - held / 3).astype(int)
        pages["pool_bytes"] = 10 * MIB
        pages["free_bytes"] = samples["available_bytes"]
        for name in ("newly_compressed_bytes", "refaulted_bytes", "compress_ms", "decompress_ms"):
            pages[name] = 0
        pages.to_csv(folder / "pages.csv", index=False)
        return folder

    def test_footprints_and_what_is_in_ram_have_a_panel_each(self) -> None:
        run = read_run(self.compressed())
        stack = memory.stack_of(run)
        self.assertEqual(sorted(layer.name for layer in stack.layers), ["chat", "game", "notes"])
        self.assertEqual([layer.name for layer in stack.ram], ["system", "compressor", "resident pages"])
        used = run.samples.set_index("time_s").loc[stack.times_s, "resident_bytes"]
        np.testing.assert_allclose(sum(layer.bytes for layer in stack.ram), used)
        np.testing.assert_allclose(stack.ram[0].bytes, 20 * MIB, atol=1)
        self.assertEqual(stack.top, run.apps.groupby("time_s")["footprint_bytes"].sum().max())
        figure = memory.draw(run)
        assert figure is not None
        labels = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
        self.assertEqual(labels, ["footprints (MiB)", "in RAM (MiB)"])
        words = self.words(figure)
        self.assertLessEqual({"footprint of", "in RAM", "compressor", "ceiling 200 MiB"}, set(words))
        self.assertTrue(any("65.3 MiB of compressed pages" in word for word in words), words)
        # The ceiling is drawn over what is in RAM, and not over footprints.
        upper, lower = (axes for axes in figure.axes if axes.get_ylabel())
        at_ceiling = [any(np.all(np.asarray(line.get_ydata()) == 200 * MIB) for line in axes.lines) for axes in (upper, lower)]
        self.assertEqual(at_ceiling, [False, True])

    def test_without_a_compressor_the_system_is_a_layer_and_there_is_one_panel(self) -> None:
        run = read_run(self.story())
        stack = memory.stack_of(run)
        self.assertEqual((stack.layers[0].name, stack.ram), ("system", []))
        figure = memory.draw(run)
        assert figure is not None
        self.assertEqual([axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()], ["memory (MiB)"])

    def test_the_report_has_both(self) -> None:
        self.assertEqual(payload.payload_of(read_run(self.story()), "a")["ram"], [])
        told = payload.payload_of(read_run(self.compressed()), "a")
        self.assertEqual([layer["name"] for layer in told["ram"]], ["system", "compressor", "resident pages"])


class OnFlash(StoryCase):
    def frozen(self, share: float = 0.5) -> Path:
        """The story on a device with a compressor whose freezer has this share of the footprints on flash from 100 s on, and
        nothing compressed in its pool."""
        folder = self.story()
        samples = pd.read_csv(folder / "samples.csv")
        held = samples["time_s"].map(pd.read_csv(folder / "apps.csv").groupby("time_s")["footprint_bytes"].sum()).fillna(0)
        swapped = (held * share).astype(int).where(samples["time_s"] >= 100, 0)
        samples["resident_bytes"] -= swapped
        samples.to_csv(folder / "samples.csv", index=False)
        zeros = ("compressed_bytes", "newly_compressed_bytes", "refaulted_bytes", "compress_ms", "decompress_ms")
        pages = pd.DataFrame({"time_s": samples["time_s"], "resident_bytes": (held - swapped).astype(int), "pool_bytes": 2 * MIB,
                              "free_bytes": samples["ceiling_bytes"] - samples["resident_bytes"], **dict.fromkeys(zeros, 0)})  # fmt: skip
        pages.to_csv(folder / "pages.csv", index=False)
        pd.DataFrame({"time_s": samples["time_s"], "frozen": 1, "swapped_bytes": swapped}).to_csv(folder / "freezer.csv", index=False)
        return folder

    def test_what_is_on_flash_is_a_line_upon_the_footprints_and_has_no_place_in_ram(self) -> None:
        run = read_run(self.frozen())
        self.assertEqual(run.notes, [])
        stack = memory.stack_of(run)
        held = np.sum([layer.bytes for layer in stack.layers], axis=0)
        np.testing.assert_array_equal(held, run.apps.groupby("time_s")["footprint_bytes"].sum().reindex(stack.times_s).fillna(0))
        np.testing.assert_array_equal(stack.flash, np.where(stack.times_s >= 100, held // 2, 0))
        self.assertEqual([layer.name for layer in stack.ram], ["system", "compressor", "resident pages"])
        figure = memory.draw(run)
        assert figure is not None and stack.flash is not None
        upper, lower = (axes for axes in figure.axes if axes.get_ylabel())
        (line,) = (line for line in upper.lines if line.get_gid() == "on-flash")
        np.testing.assert_array_equal(np.asarray(line.get_ydata())[:-1], stack.flash)
        self.assertFalse(any(line.get_gid() == "on-flash" for line in lower.lines))
        words = self.words(figure)
        self.assertEqual(words[words.index("on flash") + 1], style.bytes_text(float(stack.flash.max())))
        self.assertEqual(payload.payload_of(run, "a")["flash"], stack.flash.tolist())

    def test_footprints_of_the_pages_count_what_is_on_flash(self) -> None:
        run = read_run(self.frozen())
        figure = pages.draw(run)
        assert figure is not None
        drawn = {line.get_label(): np.asarray(line.get_ydata(), dtype=float) for line in figure.axes[0].lines}
        held = run.samples["time_s"].map(run.apps.groupby("time_s")["footprint_bytes"].sum()).fillna(0)
        np.testing.assert_allclose(drawn["footprints:\nresident,\ncompressed and\non flash"], held / MIB, atol=1e-5)
        self.assertAlmostEqual(drawn["on flash"].max(), run.tables["freezer"]["swapped_bytes"].max() / MIB)

    def test_a_freezer_that_never_froze_changes_no_picture(self) -> None:
        folder = self.frozen(share=0.0)
        names = ("memory", "pages", "states")
        before = [pictures.picture_of(read_run(folder), name, ["svg"]).files for name in names]
        (folder / "freezer.csv").unlink()
        run = read_run(folder)
        self.assertEqual(run.notes, [])
        self.assertEqual([pictures.picture_of(run, name, ["svg"]).files for name in names], before)
        self.assertEqual(payload.payload_of(run, "a")["flash"], [])
        self.assertNotIn("frozen", self.words(states.draw(run)))

    def test_a_frozen_process_is_marked_until_it_loses_its_place(self) -> None:
        folder = self.frozen()

        def event(time_s: float, kind: str, app: str, pid: int, **facts: object) -> dict[str, object]:
            return {"time_s": time_s, "event": kind, "app": app, "pid": pid, **facts}

        def freeze(time_s: float, app: str, pid: int) -> dict[str, object]:
            return event(time_s, "freeze", app, pid, detail="2 MiB", measure="written_bytes", observed=2 * MIB)

        self.table(folder, "events", EVENTS, [
            *(event(0, "process_state", app, pid, state="suspended") for pid, app in enumerate(("chat", "notes", "game"), 1)),
            event(10, "freeze", "game", 3, detail="skipped", reason="below-min-pages"),
            freeze(20, "chat", 1), freeze(30, "notes", 2),
            event(100, "thaw", "chat", 1, measure="swapped_bytes", observed=MIB),
            event(100, "process_state", "chat", 1, state="active"), event(150, "process_state", "chat", 1, state="suspended"),
            freeze(200, "chat", 1),
            event(250, "exit", "notes", 2, exit_reason="memoryPressure"), event(300, "process_state", "notes", 5, state="suspended"),
            event(400, "demote", "chat", 1, detail="band 0"), freeze(500, "chat", 1),
        ])  # fmt: skip
        run = read_run(folder)
        lanes = {lane.app: lane.process for lane in states.lanes_of(run)}
        self.assertEqual(lanes, {
            "chat": [(0, 20, "suspended"), (20, 100, "frozen"), (100, 150, "active"), (150, 400, "frozen"), (400, 500, "suspended"),
                     (500, 600, "frozen")],
            "notes": [(0, 30, "suspended"), (30, 250, "frozen"), (300, 600, "suspended")],
            "game": [(0, 600, "suspended")],
        })  # fmt: skip
        self.assertIn("frozen", self.words(states.draw(run)))
        (chat,) = (lane for lane in payload.payload_of(run, "a")["lanes"] if lane["app"] == "chat")
        self.assertIn([20, 100, "frozen"], chat["spans"])


class EndedApps(StoryCase):
    def test_every_ended_app_is_named_however_many_there_are(self) -> None:
        run = read_run(self.folder(apps=200, minutes=60.0, ceiling=4 << 30))
        ended = {style.label(app) for app in kills.kills_of(run)["app"]}
        self.assertGreater(len(ended), 60)
        told = " ".join(self.words(memory.draw(run)))
        self.assertEqual([app for app in ended if app not in told], [])
        told = " ".join(self.words(terminations.draw(run)))
        # The story has no room for a name that is too long.
        self.assertEqual([app for app in ended if app[:12] not in told], [])
        told = " ".join(self.words(states.draw(run)))
        self.assertEqual([app for app in ended if app[:12] not in told], [])

    def test_ends_near_each_other_are_one_mark_with_a_number(self) -> None:
        ends = [(10.0, "a", style.UNFELT), (10.5, "b", style.FELT), (90.0, "c", style.UNFELT)]
        figure = plt.figure()
        lane, axes = figure.add_subplot(2, 1, 1), figure.add_subplot(2, 1, 2)
        memory.draw_ends(lane, axes, ends, None, px_per_second=10)
        self.assertEqual([text.get_text() for text in lane.texts], ["2"])
        # The mark is that of the worst of them.
        self.assertEqual((self.marked(lane, "ends-felt"), self.marked(lane, "ends-unfelt")), ([10.0], [90.0]))

    def test_warned_apps_are_named_and_counted(self) -> None:
        words = self.words(memory.draw(read_run(self.story())))
        self.assertIn("game, notes", words)
        run = read_run(self.folder("busy", apps=14, minutes=30.0))
        rows = memory.legend_rows(run, memory.stack_of(run), run.events_named("warning"), kills.ends_of(run))
        counted = {row.layer.apps[0]: row.warned for row in rows if row.layer.apps and row.warned}
        self.assertEqual(counted, run.events_named("warning")["app"].value_counts().to_dict())
        self.assertEqual(sum(row.ended for row in rows), len(kills.kills_of(run)))


class TruePeak(StoryCase):
    def test_a_peak_between_samples_is_drawn_at_its_moment(self) -> None:
        run = read_run(self.story())
        self.assertEqual(memory.peak_of(run), memory.Peak(180 * MIB, 120.0, (20 + 30 + 22) * MIB))
        figure = memory.draw(run)
        assert figure is not None
        tip = next(line for axes in figure.axes for line in axes.lines if line.get_gid() == "peak")
        self.assertEqual((self.xs(tip), np.asarray(tip.get_ydata()).tolist()), ([120.0], [180 * MIB]))
        text = next(text for text in figure.findobj(Text) if isinstance(text, Annotation) and text.get_text().startswith("peak"))
        self.assertEqual(text.get_text(), "peak 180 MiB at 2:00, between samples")
        self.assertEqual((text.xy, text.get_horizontalalignment()), ((120 / 600, 180 * MIB), "left"), "beside its mark, below the ceiling")

    def test_the_names_of_peak_and_ceiling_share_a_row_only_without_meeting(self) -> None:
        for at, wide, taken, expected in (
            (0.1, 0.3, 0.2, ("left", False)), (0.6, 0.3, 0.2, ("right", False)), (0.9, 0.3, 0.2, ("right", True)),
            (0.47, 0.5, 0.2, ("left", True)), (0.5, 0.6, 0.2, ("center", False)), (0.6, 0.7, 0.2, ("center", True)),
        ):  # fmt: skip
            self.assertEqual(memory.peak_side(at, wide, taken), expected)
        run = read_run(self.story())
        run.samples[["peak_resident_bytes", "resident_bytes"]] = 199 * MIB
        figure = memory.draw(run)
        assert figure is not None
        figure.canvas.draw()
        boxes = [text.get_window_extent() for text in figure.findobj(Text) if isinstance(text, Text) and
                 text.get_text().startswith(("peak 199", "ceiling"))]  # fmt: skip
        self.assertEqual((len(boxes), boxes[0].overlaps(boxes[1])), (2, False))

    def test_the_peaks_name_stands_clear_of_the_levels_lines(self) -> None:
        for lines, expected in (([], 2.5), ([8.8], 11.3), ([-20.0, 40.0], 2.5), ([3.0, 12.0], 14.5)):
            self.assertEqual(memory.lift_of(lines, 2.5), expected)

    def test_a_peak_of_one_sample_is_not_covered_by_the_line_on_its_layer(self) -> None:
        figure = memory.draw(read_run(self.story()))
        assert figure is not None
        line = next(line for axes in figure.axes for line in axes.lines if line.get_gid() == "layer-top")
        axes = plt.figure().add_subplot()
        times_s = np.arange(8.0)
        memory.draw_tops(axes, times_s, np.array([10, 10, 90, 10.2, 10.2, 10, 40, 40.0]), 100)
        self.assertEqual(axes.lines[0].get_drawstyle(), line.get_drawstyle())
        ys = np.asarray(axes.lines[0].get_ydata(), dtype=float)
        drawn = ys[:-1][~np.isnan(ys[:-1]) & ~np.isnan(ys[1:])], np.diff(ys)[~np.isnan(np.diff(ys))]
        self.assertEqual((set(drawn[0]) >= {10, 90, 10.2, 40}, float(np.abs(drawn[1]).max()) < 1), (True, True))

    def test_what_rounds_to_a_gibibyte_is_one(self) -> None:
        sizes = (1023.4, 1023.6, 1024, 1536)
        self.assertEqual([style.bytes_text(size * MIB) for size in sizes], ["1023 MiB", "1 GiB", "1 GiB", "1.5 GiB"])

    def test_a_peak_that_only_the_whole_run_knows_is_told_without_a_moment(self) -> None:
        run = read_run(self.story())
        run.samples["peak_resident_bytes"] = float("nan")
        figure = memory.draw(run)
        self.assertIn("peak 180 MiB, between samples", self.words(figure))
        run.tables["summary"]["peak_resident_bytes"] = float("nan")
        peak = memory.peak_of(run)
        assert peak is not None
        self.assertFalse(peak.is_between_samples)
        self.assertEqual(peak.bytes, run.samples["resident_bytes"].max())


    def test_an_apps_own_peak_between_samples_is_in_the_legend(self) -> None:
        folder = self.story()
        self.assertIn("50 MiB", self.words(memory.draw(read_run(folder))))
        (folder / "app_summary.csv").write_text(f"app,launches,peak_footprint_bytes\nchat,2,{77 * MIB}\nnotes,1,\n", "utf-8")
        words = self.words(memory.draw(read_run(folder)))
        self.assertEqual(("77 MiB" in words, "50 MiB" in words, "30 MiB" in words), (True, False, True))


class Levels(StoryCase):
    def test_levels_have_lines_where_they_begin_and_a_page_has_those_that_were_reached(self) -> None:
        folder = self.story()
        self.assertEqual(memory.thresholds(read_run(folder)), {})
        known = {"critical": 170 * MIB}
        for facts, found in (({"warning": 50 * MIB, "critical": 30 * MIB}, {**known, "warning": 150.0 * MIB}),
                             ({"warning": 0, "critical": 30 * MIB}, known),
                             ({"warning": 200 * MIB, "critical": 30 * MIB}, known)):  # fmt: skip
            write_package(folder, **FACTS, thresholds=facts)
            run = read_run(folder)
            self.assertEqual(memory.thresholds(run), found)
            reached = {name: value for name, value in found.items() if name in set(run.samples["pressure_level"])}
            self.assertEqual(payload.payload_of(run, "run")["thresholds"], reached)
            for figure, text in ((memory.draw(run), "warning, from 150 MiB"), (pressure.draw(run), "warning < 25%")):
                self.assertEqual(text in self.words(figure), "warning" in found)

    def test_a_level_held_all_the_time_has_no_decimals(self) -> None:
        self.assertEqual([pressure.share_text(share) for share in (1, 0.9999, 0.075, 0)], ["100%", "100.0%", "7.5%", "0%"])

    def test_what_is_available_is_drawn_upon_the_thresholds(self) -> None:
        folder = self.story()
        write_package(folder, **FACTS, thresholds={"critical": 30 * MIB})
        figure = pressure.draw(read_run(folder))
        assert figure is not None
        lines = figure.axes[0].lines
        shares = [line.get_zorder() for line in lines if line.get_drawstyle() == "steps-post"]
        self.assertGreater(shares[0], max(line.get_zorder() for line in lines if line.get_drawstyle() == "default"))

    def test_what_fails_because_the_scenario_says_so_is_marked_and_counted(self) -> None:
        folder = self.story()
        self.assertNotIn("\u00d7", self.words(pressure.draw(read_run(folder))))
        events = pd.read_csv(folder / "events.csv", dtype=str, keep_default_na=False)
        faults = pd.DataFrame([{**dict.fromkeys(events.columns, ""), "time_s": str(time_s), "event": "fault", "detail": detail}
                               for time_s, detail in ((10, "missed_sample"), (20, "missed_sample"), (30, "crash"))])  # fmt: skip
        events = pd.concat([events, faults]).sort_values("time_s", key=pd.to_numeric, kind="stable")
        events.to_csv(folder / "events.csv", index=False)
        figure = pressure.draw(read_run(folder))
        self.assertIn("\u00d7 1 crash, 2 missed samples", self.words(figure))
        assert figure is not None
        crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
        self.assertEqual([np.asarray(line.get_xdata()).tolist() for line in crosses], [[10, 20, 30]])

    def test_little_waiting_fills_its_panel(self) -> None:
        for waited, top in ((0.00002, 0.001), (0.0009, 0.001), (0.0046, 0.006), (0.3, 0.312)):
            folder = self.folder(f"waited-{waited}")
            samples = pd.read_csv(folder / "samples.csv")
            samples["psi_some_avg10_ratio"] = waited
            samples.to_csv(folder / "samples.csv", index=False)
            figure = pressure.draw(read_run(folder))
            assert figure is not None
            self.assertAlmostEqual(figure.axes[1].get_ylim()[1], top)

    def test_time_lost_by_some_is_seen_where_it_is_that_of_all(self) -> None:
        folder = self.folder("tight")
        samples = pd.read_csv(folder / "samples.csv")
        for kind in ("some", "full"):
            samples[f"psi_{kind}_avg10_ratio"] = 0.1
        samples.to_csv(folder / "samples.csv", index=False)
        figure = pressure.draw(read_run(folder))
        assert figure is not None
        some, full = figure.axes[1].lines
        self.assertEqual((some.get_label(), full.get_label()), ("some, 10 s", "full, 10 s"))
        self.assertGreater(some.get_linewidth(), full.get_linewidth() + 1)

    def test_a_layer_that_is_not_seen_is_not_in_the_legend(self) -> None:
        run = read_run(self.story())
        self.assertIn("system", self.words(memory.draw(run)))
        run.samples["resident_bytes"] -= 20 * MIB
        self.assertNotIn("system", self.words(memory.draw(run)))


class OwnLimits(StoryCase):
    def test_the_limit_at_which_an_app_dies_lies_above_its_layer(self) -> None:
        run = read_run(self.story())
        stack = memory.stack_of(run)
        (limit,) = memory.own_limits(run, stack, kills.kills_of(run))
        self.assertEqual((limit.app, limit.bytes, limit.times_s[-1]), ("game", 64 * MIB, 300.0))
        below = 0.0
        for layer in stack.layers:
            if layer.apps == ("game",):
                break
            below += layer.bytes[list(stack.times_s).index(290.0)]
        self.assertEqual(limit.heights[-1], below + 64 * MIB)
        figure = memory.draw(run)
        assert figure is not None
        self.assertEqual(sum(line.get_gid() == "own-limit" for axes in figure.axes for line in axes.lines), 1)
        (name,) = (text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text() == "game's own limit 64 MiB")
        figure.canvas.draw()
        box = name.get_window_extent()
        self.assertFalse([axes for axes in figure.axes if axes.get_window_extent().overlaps(box)], "no name lies upon data")


class OnePicture(StoryCase):
    """The picture of the whole run, `story`."""

    def test_every_victim_has_its_reason_at_its_mark_and_the_lines_that_decided_are_drawn(self) -> None:
        folder = self.story()
        write_package(folder, **FACTS, thresholds={"critical": 30 * MIB})
        figure = story.draw(read_run(folder))
        assert figure is not None
        words = self.words(figure)
        for text in ("chat, for game: memory was critical, holds most", "notes, for game: memory was critical, holds most",
                     "game: over its own limit of 64 MiB", "The system ended 3 processes; the user misses 2 of them.", "ceiling 200 MiB", "critical, from 170 MiB"):  # fmt: skip
            self.assertIn(text, words)
        lanes = next(axes for axes in figure.axes if "chat" in [tick.get_text() for tick in axes.get_yticklabels()])
        led = sorted(x for line in lanes.lines if line.get_gid() == "to-mark" for x in set(self.xs(line)))
        self.assertEqual(led, [120.0, 130.0, 300.0])
        weights = {text.get_text(): text.get_fontweight() for text in lanes.texts}
        self.assertEqual([weights[text] for text in weights], ["bold", "normal", "bold"])
        bounds = [float(np.asarray(line.get_ydata())[0]) for axes in figure.axes for line in axes.lines if line.get_gid() == "bound"]
        self.assertEqual(bounds, [170 * MIB])
        self.assert_legible(figure)

    def test_a_measure_that_is_a_share_has_a_panel_with_its_thresholds_and_ends(self) -> None:
        folder = self.story()
        run = read_run(folder)
        for table in (run.terminations, run.decisions):
            rows = table["demand"] == "pressure"
            table.loc[rows, ["measure", "observed", "threshold"]] = ["uncompressed_ppm", 299_883, 350_000]
        figure = story.draw(run)
        assert figure is not None
        (axes,) = (axes for axes in figure.axes if axes.get_ylabel() == "not compressed")
        self.assertEqual(self.marked(axes, "bound"), [0.0, 1.0])
        self.assertIn("ended below 35%", self.words(figure))
        self.assertEqual((self.marked(axes, "ends-felt"), self.marked(axes, "ends-unfelt")), ([120.0], [130.0]))
        self.assertEqual(self.marked(axes, "read-uncompressed_ppm"), [120.0, 130.0])
        self.assertFalse([axes for axes in (story.draw(read_run(folder)) or figure).axes if axes.get_ylabel() == "not compressed"])

    def test_labels_and_the_lines_to_their_marks_cover_no_label(self) -> None:
        figure = plt.figure(figsize=(style.WIDTH_IN, 1))
        near = [reasons.Victim(time_s, "editor", style.UNFELT, "critical", "largest of the idle") for time_s in (10.0, 60.0, 500.0, 590.0)]
        labels = story.labels_of(figure, near, story.WIDTH_PX / 600, story.MOST_LABELS)
        self.assertEqual({round(label.at_px * 600 / story.WIDTH_PX): label.row for label in labels}, {10: 1, 60: 0, 500: 1, 590: 0})
        self.assertLess(max(label.start_px for label in labels), story.room_px())
        (label,) = story.labels_of(figure, near, story.WIDTH_PX / 600, 1)
        self.assertEqual(label.text, "editor: 4 ends: critical (4)")

    def test_processes_that_are_no_apps_have_a_lane_only_if_they_were_ended(self) -> None:
        folder = self.story()
        write_package(folder, **{**FACTS, "apps": ["chat", "game"]})
        run = read_run(folder)
        self.assertEqual([lane.app for lane in story.told_lanes(run, states.lanes_of(run))], ["chat", "notes", "game"])
        write_terminations(folder, [])
        (folder / "events.csv").write_text((folder / "events.csv").read_text("utf-8").replace("memoryPressure", "normalApp"), "utf-8")
        figure = story.draw(read_run(folder))
        self.assertIn("Without a lane, as none of them was ended: notes", self.words(figure))


class Story(StoryCase):
    def test_a_line_per_end_says_who_why_for_whom_and_at_what_price(self) -> None:
        figure = terminations.draw(read_run(self.story()))
        assert figure is not None
        words = self.words(figure)
        for text in (
            "memory was critical", "over its own limit of 64 MiB", "game +4 MiB", "itself", "wants it in 1 min 40 s",
            "does not miss it", "saw it vanish", "never", "30 s", "50 MiB", "2:00", "2:10", "5:00",
            "The system ended 3 processes; the user misses 2 of them.",
        ):  # fmt: skip
            self.assertIn(text, words)
        self.assertFalse([text for text in words if "%)" in text], "no bar of shares")
        rows = {text.get_text(): text.get_fontweight() for text in figure.axes[0].texts}
        self.assertEqual((rows["chat"], rows["notes"]), ("bold", "normal"))
        self.assert_legible(figure)

    def test_a_waiting_allocation_is_named_by_its_app(self) -> None:
        run = read_run(self.story())
        run.terminations.loc[0, ["demand", "need", "in_short"]] = ["allocation", "allocation", "an allocation of game found no room"]
        run.terminations.loc[0, "taken_bytes"] = float("nan")
        first = next(kills.kills_of(run).itertuples())
        self.assertEqual((first.beneficiary, first.want), ("game", kills.ANOTHER))
        line = terminations.line_of(first, [], 600.0)
        self.assertEqual((line.beneficiary, line.gain, line.why), ("game", "game", "an allocation of game found no room"))

    def test_who_ends_for_its_own_sake_or_for_nobody_s_gives_room_to_none(self) -> None:
        for beneficiary, gain in (("game", "itself"), ("", "")):
            run = read_run(self.story())
            run.terminations.loc[2, "beneficiary"] = beneficiary
            table = kills.kills_of(run)
            line = terminations.line_of(list(table.itertuples())[2], [], 600.0)
            self.assertEqual((line.beneficiary, line.gain), ("", gain))
            several = terminations.line_of_several(table.iloc[[2, 2]], [])
            self.assertEqual((several.beneficiary, several.gain), ("", gain))

    def test_limits_of_the_device_and_kernel_words_are_told_in_plain_words(self) -> None:
        def why(**facts: object) -> str:
            row = {"want": "", "demand": "", "exit_reason": "memoryPressure", "cause": "memoryPressure", "measure": "",
                   "observed": float("nan"), "threshold": float("nan"), "time_s": 5.0}  # fmt: skip
            return terminations.why_of(SimpleNamespace(**{**row, **facts}), [(0.0, 9.0, "warning")])

        self.assertEqual(why(demand="background_memory"), "too much memory off screen")
        self.assertEqual(why(demand="background_processes"), "too many background processes")
        self.assertEqual(why(demand="pressure"), "level warning")
        self.assertEqual(why(demand="pressure", cause="idle-exit"), "level warning (idle-exit)")
        self.assertEqual(why(exit_reason="appWatchdog", cause="appWatchdog"), "took too long (watchdog)")

    def test_more_ends_than_lines_are_told_by_app_and_cause(self) -> None:
        run = read_run(self.folder(apps=60, minutes=60.0, ceiling=2 << 30))
        table = kills.kills_of(run)
        self.assertGreater(len(table), terminations.MOST_LINES)
        lines, left = terminations.story_of(table, memory.level_spans(run), run.end_s)
        self.assertLessEqual(len(lines), terminations.MOST_LINES)
        named = {line.app for line in lines} | {text.rpartition(" ")[0] for text in left}
        self.assertEqual({style.label(app) for app in named}, {style.label(app) for app in table["app"]})
        self.assertTrue(all(" of " in line.warned for line in lines))
        # Those that have no line of their own are named below.
        lines, left = terminations.story_of(pd.concat([table.assign(app=table["app"] + str(turn)) for turn in range(9)]),
                                            memory.level_spans(run), run.end_s)  # fmt: skip
        self.assertEqual((len(lines), len(left) > 0), (terminations.MOST_LINES, True))


class Unknown(StoryCase):
    """A run without rows of terminations.csv: it is older, or it was killed."""

    def test_pictures_say_no_more_of_an_end_than_the_events_do(self) -> None:
        for name in ("older", "killed"):
            with self.subTest(name):
                folder = self.story()
                write_terminations(folder, [])
                if name == "older":
                    (folder / "terminations.csv").unlink()
                run = read_run(folder)
                self.assertEqual(run.notes, [UNKNOWN_ENDS])
                told = kills.kills_of(run)
                self.assertEqual(told[["time_s", "app", "pid", "cause", "measure"]].values.tolist(), [
                    [120.0, "chat", "1", "jettisoned", ""], [130.0, "notes", "2", "jettisoned", ""],
                    [300.0, "game", "3", "per-process-limit", "footprint_bytes"],
                ])  # fmt: skip
                self.assertEqual((set(told["felt"]), set(told["want"]), set(told["mark"])), ({""}, {""}, {style.ENDED}))
                words = self.words(terminations.draw(run))
                self.assertIn("The system ended 3 processes.", words)
                for text in ("jettisoned", "over its own limit", "chat", "2:00", "No footprint is known."):
                    self.assertIn(text, words)
                for text in ("does not miss it", "never", "on screen", "itself", "None of them had been warned."):
                    self.assertNotIn(text, words)
                figure = memory.draw(run)
                words = self.words(figure)
                self.assertIn(style.END_NAMES[style.ENDED], words)
                self.assertNotIn(style.END_NAMES[style.UNFELT], words)
                assert figure is not None
                lane = next(axes for axes in figure.axes if any("terminated" in text.get_text() for text in axes.texts))
                self.assertEqual(self.marked(lane, "ends-ended"), [120.0, 130.0, 300.0])
                self.assertIn("game's own limit 64 MiB", words)

    def test_several_ends_in_a_line_say_no_more_either(self) -> None:
        folder = self.story()
        (folder / "terminations.csv").unlink()
        table = kills.kills_of(read_run(folder))
        with warnings.catch_warnings():
            # numpy complains about the median of nothing.
            warnings.simplefilter("error")
            line = terminations.line_of_several(table.iloc[[0, 0]], [])
        self.assertEqual((line.when, line.kind), ("2 ends", style.ENDED))
        self.assertEqual((line.idle, line.warned, line.gain, line.user), ("", "", "", ""))
        self.assertEqual(terminations.headline(read_run(folder), table.iloc[[0]]), "The system ended 1 process.")


class TooLittle(StoryCase):
    def test_a_panel_with_nothing_in_it_is_a_line_of_text(self) -> None:
        for name, waited, axes, said in (("calm", 0.0, 1, True), ("tight", 0.1, 2, False)):
            folder = self.folder(name)
            samples = pd.read_csv(folder / "samples.csv")
            samples["psi_some_avg10_ratio"] = waited
            samples.to_csv(folder / "samples.csv", index=False)
            figure = pressure.draw(read_run(folder))
            assert figure is not None
            self.assertEqual((len(figure.axes), "No process waited for memory." in self.words(figure)), (axes, said))
        run = read_run(self.story())
        run.terminations["warned_s"] = float("nan")
        figure = terminations.draw(run)
        assert figure is not None
        self.assertIn("None of them had been warned.", self.words(figure))
        self.assertEqual(len(figure.axes), 2, "the story, and footprint against time off screen")
        run.tables["launches"] = run.launches.iloc[:0]
        figure = launches.draw(run)
        assert figure is not None
        self.assertEqual((figure.axes, figure.get_size_inches()[1] < 1), ([], True))

    def test_a_curve_has_five_points_at_least(self) -> None:
        folder = self.folder()
        for count in (4, 5):
            self.table(folder, "launches", ["app", "kind", "tapped_s", "ready_s", "latency_ms", "pid"], [
                {"app": "a", "kind": kind, "tapped_s": at, "ready_s": at + 1, "latency_ms": 100 + at, "pid": 1}
                for kind, times in (("cold", range(8)), ("hot", range(count))) for at in times
            ])  # fmt: skip
            figure = launches.draw(read_run(folder))
            assert figure is not None
            self.assert_legible(figure)
            few = [line for axes in figure.axes for line in axes.lines if line.get_gid() == "few-hot"]
            curves = [line for line in figure.axes[0].lines if line.get_drawstyle() == "steps-post"]
            self.assertEqual((len(few), len(curves)), (1, 1) if count == 4 else (0, 2))
            if few:
                self.assertEqual(self.xs(few[0]), [100, 101, 102, 103])
            runs = [read_run(folder)]
            runs[0].tables["launches"] = runs[0].launches[runs[0].launches["kind"] == "hot"]
            compared = compare.draw(runs, ["a"])
            few = [line for line in compared.axes[-1].lines if line.get_gid() == "few"]
            self.assertEqual(len(few), 1 if count == 4 else 0)
        # How long after a warning, too.
        table = kills.kills_of(read_run(self.story()))
        for rows, drawstyle in ((table, "default"), (pd.concat([table.iloc[[1]]] * 5), "steps-post")):
            axes = plt.figure().add_subplot()
            terminations.draw_leads(axes, rows)
            self.assertEqual(axes.lines[0].get_drawstyle(), drawstyle)

    def test_launches_that_are_drawn_themselves_have_names(self) -> None:
        folder = self.folder()
        for latencies, expected in (
            ((100, 2000), ["a", "b"]), ((100, 100, 2000), ["a, b", "c"]), ((100, 100, 100, 100), ["a, b, c, d"]),
        ):  # fmt: skip
            self.table(folder, "launches", ["app", "kind", "tapped_s", "ready_s", "latency_ms", "pid"], [
                {"app": app, "kind": "hot", "tapped_s": 1, "ready_s": 5, "latency_ms": latency, "pid": 1}
                for app, latency in zip("abcd", latencies)
            ])  # fmt: skip
            figure = launches.draw(read_run(folder))
            assert figure is not None
            self.assertEqual([text.get_text() for text in figure.axes[0].texts], expected)
            self.assert_legible(figure)
        self.assertIn("100 ms", self.words(figure), "what all of them took")
        run = read_run(folder)
        run.launches.loc[run.launches["app"] == "d", "latency_ms"] = float("nan")
        self.assertTrue(any("1 hot (d)" in text for text in self.words(launches.draw(run))))

    def test_names_of_launches_keep_clear_of_other_marks(self) -> None:
        def sides(*groups: launches.Group) -> list[bool] | int:
            return launches.sides_of(groups, lambda text: 10.0 * len(text), 0, 200)

        a, b, c = launches.Group(("aa",), 50, 50), launches.Group(("bb",), 60, 65), launches.Group(("cc",), 190, 190)
        self.assertEqual(sides(a, b, c), [False, True, False])
        self.assertEqual(sides(launches.Group(("aa",), 10, 10), launches.Group(("bb",), 25, 30)), 0, "room on neither side")
        groups = [a, b, c]
        launches.join(groups, 1)
        self.assertEqual([group.text for group in groups], ["aa, bb", "cc"])
        self.assertEqual(launches.Group(("a", "b", "a"), 0, 0).text, "a 2, b")

    def test_one_end_needs_no_panels(self) -> None:
        run = read_run(self.story())
        run.tables["terminations"] = run.terminations[run.terminations["app"] == "game"].copy()
        figure = terminations.draw(run)
        assert figure is not None
        self.assertEqual(len(figure.axes), 1)
        run.terminations["warned_s"] = float("nan")
        run.known.clear()
        self.assertNotIn("None of them had been warned.", self.words(terminations.draw(run)), "its line says so")

    def test_points_above_each_other_have_names_beside_or_above(self) -> None:
        axes = plt.figure(figsize=(4, 4)).add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        # Between two others there is room above and below alone.
        style.name_points(axes, [(0.45, 0.5), (0.55, 0.5), (0.5, 0.5), (0.5, 0.0)], ["left", "right", "middle", "low"], 6)
        self.assertEqual([text.get_text() for text in axes.texts], ["left", "right", "middle", "low"])

    def test_points_of_one_app_upon_each_other_are_named_once_and_a_crowd_by_lines(self) -> None:
        axes = plt.figure(figsize=(4, 4)).add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        crowd = [(0.5, 0.5), (0.44, 0.43), (0.48, 0.44), (0.4, 0.48), (0.6, 0.55), (0.56, 0.45), (0.51, 0.46)]
        names = [letter * 6 for letter in "mabcdef"]
        style.name_points(axes, [(0.1, 0.1), (0.105, 0.1), (0.1, 0.105), *crowd], ["video"] * 3 + names, 6)
        texts = [text for text in axes.texts if isinstance(text, Annotation)]
        self.assertEqual(sorted(text.get_text() for text in texts), sorted([*names, "video 3"]))
        self.assertEqual([line.get_gid() for line in axes.lines], ["leader"], "one has a line to its name")
        axes.figure.canvas.draw()
        boxes = [Text.get_window_extent(text) for text in texts]
        self.assertFalse(any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place]))

    def test_bands_are_read_along_the_line(self) -> None:
        figure = plt.figure(figsize=(8, 4))
        bands = ["0", "20", "30", "40", "75", "90", "100"]
        terminations.draw_bands(figure, terminations.look_of(bands), True, 3.0)
        lines = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
        self.assertEqual([len(line) for line in lines], [6, 2])
        self.assertEqual([text.split()[0] for text in lines[0] + lines[1]], [*bands, "ringed:"])


class Ticks(StoryCase):
    def test_the_last_tick_covers_the_data(self) -> None:
        for end_s in (0.7, 1.9, 47.0, 90.0, 131.5, 200.0, 1800.0, 2011.0, 15000.0, 50000.0):
            axes = plt.figure().add_subplot()
            style.time_axis(axes, end_s)
            self.assertAlmostEqual(max(axes.get_xticks()), end_s)
            plt.close("all")
        for top in (90, 100, 513, 960, 1030, 5000):
            axes = plt.figure().add_subplot()
            style.memory_axis(axes, top * MIB)
            low, high = axes.get_ylim()
            self.assertGreaterEqual(max(tick for tick in axes.get_yticks() if low <= tick <= high), top * MIB)
            plt.close("all")
        for highest in (0.0, 0.011, 0.4, 3, 4, 97, 1870):
            axes = plt.figure().add_subplot()
            style.cover(axes, highest, 4)
            self.assertGreaterEqual(max(axes.get_yticks()), highest * 0.999)
            self.assertGreaterEqual(axes.get_ylim()[1], highest)
            plt.close("all")
        for shortest, longest in ((55, 3900), (1200, 1400), (1, 1), (0.5, 12), (30, 2e6)):
            axes = plt.figure().add_subplot()
            launches.time_ticks(axes, shortest, longest)
            self.assertGreaterEqual(max(axes.get_xticks()), longest)
            plt.close("all")

    def test_the_ticks_of_a_comparison_and_of_kills_cover_what_is_drawn(self) -> None:
        rows = [("lru", "baseline", float("nan"), float("nan"), float("nan")), ("ladder", "candidate", 1.3, 0.9, 1.7)]
        table = pd.DataFrame(rows, columns=["policy", "role", "difference", "difference_low", "difference_high"])
        table = table.assign(verdict="worse", mean=3.0, pairs=8)
        figure = plt.figure(figsize=(8, 3))
        axes = figure.add_subplot()
        comparison.draw_panel(axes, table, metrics.named(KNOWN, "terminations"))
        self.assertGreaterEqual(max(axes.get_xticks()), 1.7)
        for longest in (9, 55, 290, 2000, 9000):
            axes = plt.figure().add_subplot()
            terminations.log_time_axis(axes, np.array([1.0, longest]), "")
            self.assertGreaterEqual(max(axes.get_xticks()), longest)


class OfTheCores(StoryCase):
    WAITED = """app,kind,tapped_s,ready_s,latency_ms,pid,outcome,cpu_wait_ms
chat,cold,10,17.008,7008,1,ready,5451
notes,hot,40,40.1,100,2,ready,0
game,cold,60,,,3,abandoned,2500
"""

    def test_steps_add_up_to_what_the_table_says_however_long_the_run(self) -> None:
        for minutes in (2.0, 60.0):
            folder = self.folder(f"run-{minutes}", minutes=minutes)
            table = pd.read_csv(folder / "cores.csv")
            times = cores.times_of(read_run(folder))
            assert times
            self.assertEqual(times.count, 4)
            self.assertLessEqual(len(times.edges_s), cores.BINS + 1)
            self.assertEqual(times.edges_s[0], 0)
            self.assertGreaterEqual(times.edges_s[-1], minutes * 60)
            self.assertEqual(list(times.given), ["user_interactive", "utility", "background"])
            lengths = np.diff(times.edges_s)
            for name in times.given:
                for found, column, cores_each in ((times.given, "given", 4), (times.waiting, "waited", 1)):
                    expected = table[f"{column}_{name}_ms"].sum() / 1000
                    self.assertAlmostEqual(float((found[name] * lengths).sum()) * cores_each, expected, places=6)
            self.assertLessEqual(max(sum(values) for values in zip(*times.given.values())), 1 + 1e-9)
            # The device sleeps in every seventh minute: its samples have no rows.
            asleep = (times.edges_s[:-1] >= 360) & (times.edges_s[1:] < 420)
            self.assertEqual(bool(asleep.any()), minutes > 6)
            self.assertEqual(max(float(values[asleep].max(initial=0)) for values in times.given.values()), 0)

    def test_without_samples_a_row_tells_of_as_much_time_as_the_others(self) -> None:
        folder = self.folder(minutes=20.0)
        known = cores.times_of(read_run(folder))
        (folder / "samples.csv").unlink()
        guessed = cores.times_of(read_run(folder))
        assert known and guessed
        self.assertEqual(guessed.count, known.count)
        for name, values in known.given.items():
            np.testing.assert_allclose(guessed.given[name], values, atol=1e-9)

    def test_launches_have_their_latency_and_their_wait_where_there_is_room(self) -> None:
        folder = self.story()
        (folder / "launches.csv").write_text(self.WAITED, "utf-8")
        figure = cores.draw(read_run(folder))
        words = self.words(figure)
        for text in ("chat 7.01 s (5.45 s)", "notes 100 ms", "game never ready (2.5 s)", "launches", "never came to a first frame",
                     "launch, from the tap to the first frame (and its wait for a core)"):  # fmt: skip
            self.assertIn(text, words)
        self.assert_legible(figure)
        rows = "".join(f"app-{tap},cold,{tap},{tap + 1},1000,{tap},ready,{0 if tap % 60 else 900}\n" for tap in range(0, 600, 2))
        (folder / "launches.csv").write_text(self.WAITED.splitlines()[0] + "\n" + rows, "utf-8")
        figure = cores.draw(read_run(folder))
        self.assert_legible(figure)
        self.assertIn("launches", self.words(figure))
        self.assertNotIn("app-2 1 s", self.words(figure))

    def test_work_that_waits_has_a_panel_and_none_is_a_line_of_text(self) -> None:
        folder = self.folder(apps=8, minutes=20.0)
        labels = [axes.get_ylabel() for axes in self.figure_of(folder).axes]
        self.assertEqual([label for label in labels if label], ["share of 4 cores", "pieces of work\nthat wait"])
        table = pd.read_csv(folder / "cores.csv")
        table[[column for column in table if column.startswith("waited")]] = 0
        table.to_csv(folder / "cores.csv", index=False)
        figure = self.figure_of(folder)
        self.assertEqual([axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()], ["share of 4 cores"])
        self.assertIn("No work waited for a core.", self.words(figure))

    def figure_of(self, folder: Path) -> Figure:
        figure = cores.draw(read_run(folder))
        assert figure
        self.assert_legible(figure)
        return figure

    def test_without_priorities_the_only_class_says_so(self) -> None:
        folder = self.folder()
        table = pd.read_csv(folder / "cores.csv")
        for kind in ("given", "waited"):
            columns = [column for column in table if column.startswith(kind)]
            sums = table[columns].sum(axis=1)
            table[columns] = 0
            table[f"{kind}_default_ms"] = sums
        table.to_csv(folder / "cores.csv", index=False)
        write_package(folder, hasPriorities=False)
        words = self.words(self.figure_of(folder))
        self.assertIn("default", words)
        self.assertIn("all work: no priorities", words)
        self.assertNotIn("background", words)

    def test_nothing_that_ran_is_nothing_to_draw(self) -> None:
        folder = self.folder()
        table = pd.read_csv(folder / "cores.csv")
        idle = table * [1, *[0] * (len(table.columns) - 1)]
        for nothing in (table.iloc[:0], idle):
            nothing.to_csv(folder / "cores.csv", index=False)
            self.assertIsNone(cores.draw(read_run(folder)))

    def test_a_row_before_the_one_above_it_and_a_half_written_one_are_told(self) -> None:
        folder = self.folder()
        text = (folder / "cores.csv").read_text("utf-8")
        (folder / "cores.csv").write_text(text[:-5], "utf-8")
        self.assertEqual(read_run(folder).notes, ["cores.csv: the last row is half-written and left out"])
        self.assertIsNotNone(cores.draw(read_run(folder)))
        header, *rows = text.splitlines()
        (folder / "cores.csv").write_text("\n".join([header, *reversed(rows)]) + "\n", "utf-8")
        run = read_run(folder)
        self.assertIn("cores.csv: row 3 is earlier", run.notes[0])
        self.assertIsNone(cores.draw(run))


class Titles(StoryCase):
    def test_every_picture_names_scenario_policy_and_seed(self) -> None:
        folder = self.story()
        for name in ("whole", "killed"):
            if name == "killed":
                summary = folder / "summary.csv"
                summary.write_text(summary.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
            for module in (story, memory, pressure, cores, states, launches, terminations):
                words = self.words(module.draw(read_run(folder)))
                self.assertTrue([text for text in words if "morning, policy lru, seed 7" in text], f"{name}: {words[:3]}")
        other = self.directory / "other"
        shutil.copytree(self.story(), other)
        text = (other / "summary.csv").read_text("utf-8").replace("lru,7", "ladder,8")
        (other / "summary.csv").write_text(text, "utf-8")
        words = self.words(compare.draw([read_run(folder), read_run(other)], ["lru", "ladder"]))
        self.assertIn("2 runs compared: morning, policies lru, ladder, seeds 7 to 8", words)

    def test_a_comparison_names_its_scenarios_policies_and_seeds(self) -> None:
        rows = [("lru", "baseline", ""), ("ladder", "candidate", "1"), ("none", "yardstick", "2")]
        table = pd.DataFrame(rows, columns=["policy", "role", "difference"]).assign(
            scope="scenario", scenario="morning", metric="terminations", sense="lower", runs=3, mean=3, pairs=3,
            difference_low="", difference_high="", verdict="too_few",
        )  # fmt: skip
        table.to_csv(self.directory / "comparison.csv", index=False)
        self.assertEqual(comparison.seeds(self.directory), "")
        pd.DataFrame({"seed": [1, 2, 3]}).to_csv(self.directory / "runs.csv", index=False)
        seeds = comparison.seeds(self.directory)
        words = self.words(comparison.draw(comparison.read(self.directory), "morning", KNOWN, seeds, "morning, evening"))
        self.assertIn("these runs allow no general conclusion about ladder and lru", words)
        self.assertIn("morning; seeds 1 to 3; morning, evening", words)

    def test_a_name_that_is_too_long_is_shortened_and_not_clipped(self) -> None:
        run = read_run(self.story())
        run.tables["summary"]["scenario"] = "a-very-long-name-of-a-scenario-" * 6
        for module in (memory, terminations):
            self.assert_legible(module.draw(run))


class Sweeps(StoryCase):
    def rows(self, *combinations: tuple[str, str], policy: str = "lru") -> pd.DataFrame:
        rows = [
            {"case": 1, "scenario_file": "a.yaml", "policy_label": "", "device.ceiling_bytes": first,
             "policy.parameters.size_weight_ratio": second, "scenario": "morning", "policy": policy, "seed": str(seed),
             "terminations": int(first) // MIB + round(10 * float(second)) + seed, "terminations_felt": 2,
             "hot_launch_ratio": float(second) / 2}
            for first, second in combinations for seed in (1, 2)
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def drawn(self, table: pd.DataFrame) -> list[tuple[str, Figure]]:
        table.to_csv(self.directory / "sweep.csv", index=False)
        write_package(self.directory)
        return sweep.figures(*sweep.read(self.directory))

    GRID = tuple((str(first * MIB), second) for first in (64, 32, 96) for second in ("0", "0.5"))

    def test_two_settings_on_a_grid_are_a_heat_map(self) -> None:
        ((stem, figure),) = self.drawn(self.rows(*self.GRID))
        self.assertEqual(stem, "sweep")
        self.assert_legible(figure)
        maps = {axes.get_title(loc="left"): axes for axes in figure.axes}
        self.assertEqual(set(maps), {"hot launches", "terminations"})
        (mesh,) = [item for item in maps["terminations"].collections if isinstance(item, QuadMesh)]
        shades = np.asarray(mesh.get_array()).reshape(2, 3)
        # Ceilings ascend to the right, the weight upwards; the darker, the worse.
        self.assertTrue((np.diff(shades, axis=1) > 0).all() and (np.diff(shades, axis=0) > 0).all())
        (mesh,) = [item for item in maps["hot launches"].collections if isinstance(item, QuadMesh)]
        shades = np.asarray(mesh.get_array()).reshape(2, 3)
        self.assertTrue((shades[0] > shades[1]).all(), "more hot launches are lighter")
        words = self.words(figure)
        for text in ("33.5", "102", "25%", "32 MiB", "96 MiB", "50%", "device.ceiling",
                     "upwards policy.parameters.size_weight, to the right device.ceiling; means of 2 runs each; the darker, the worse",
                     "felt: 2 in every run", "morning, policy lru, seeds 1 to 2: 12 runs"):  # fmt: skip
            self.assertIn(text, words)

    def test_two_policies_have_a_map_each_with_the_same_colours(self) -> None:
        two = pd.concat([self.rows(*self.GRID), self.rows(*self.GRID, policy="ladder").assign(terminations=5)])
        found = self.drawn(two)
        self.assertEqual([stem for stem, _ in found], ["sweep-1", "sweep-2"])
        for (_, figure), name in zip(found, ("lru", "ladder")):
            self.assertIn(f"morning, policy {name}, seeds 1 to 2: 12 runs".replace("morning, ", ""), " ".join(self.words(figure)))
        shades = [[float(np.asarray(item.get_array()).max()) for axes in figure.axes for item in axes.collections
                   if axes.get_title(loc="left") == "terminations"] for _, figure in found]  # fmt: skip
        self.assertGreater(shades[0][0], shades[1][0])

    def test_what_is_no_grid_of_two_settings_is_drawn_in_lines(self) -> None:
        for combinations in (self.GRID[:-1], tuple((first, "0") for first, _ in self.GRID)):
            ((_, figure),) = self.drawn(self.rows(*combinations))
            self.assertFalse([item for axes in figure.axes for item in axes.collections if isinstance(item, QuadMesh)])
            self.assertTrue([axes for axes in figure.axes if axes.lines])
            self.assertIn("felt: 2 in every run", self.words(figure))
            self.assertIn(f"morning, policy lru, seeds 1 to 2: {2 * len(combinations)} runs", self.words(figure))
            self.assert_legible(figure)


class Fronts(StoryCase):
    PROBLEM = SimpleNamespace(
        name="jetsam", seeds=(1, 2), held_out_seeds=(101, 102), scenarios=(SimpleNamespace(name="morning"),),
        objectives=(SimpleNamespace(metric="terminations_felt", sign=1.0),
                    SimpleNamespace(metric="launch_latency_p95_ms", sign=1.0)), known=KNOWN,
    )  # fmt: skip

    def test_a_front_is_a_staircase_of_what_was_reached(self) -> None:
        points = np.array([[2.0, 1800.0], [5.0, 1600.0], [9.0, 1500.0]])
        for sign, between in ((1.0, 1800.0), (-1.0, 1600.0)):
            axes = plt.figure().add_subplot()
            axes.plot(points[:, 0], points[:, 1])
            charts.cover(axes, ("terminations_felt", "launch_latency_p95_ms"))
            charts.staircase(axes, points, (sign, 1.0))
            axes.figure.canvas.draw()
            front = next(line for line in axes.lines if line.get_gid() == "front")
            # The corners as they are drawn. Between the first two trials only the worse of both was reached.
            corners = [(float(x), float(y)) for x, y in np.asarray(front.get_path().vertices)]
            self.assertEqual(len(corners), 2 * len(points) - 1)
            self.assertEqual(corners[1], (5.0, between) if sign > 0 else (2.0, between))
            low, high = axes.get_ylim()
            ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
            self.assertTrue(min(ticks) <= 1500 and max(ticks) >= 1800, ticks)

    def test_metrics_in_which_nothing_differs_are_a_line_of_text(self) -> None:
        rows = [{"metric": "terminations_felt", "difference": -2.0, "low": -3.0, "high": -1.0, "is_clear": True},
                {"metric": "launch_latency_p95_ms", "difference": 0.0, "low": 0.0, "is_clear": False}]  # fmt: skip
        parts = [{"place": name, "rows": rows} for name in ("morning", "all training scenarios")]
        saved: list[Figure] = []
        with mock.patch.object(style, "save", side_effect=lambda figure, *_: saved.append(figure)):
            charts.draw_verdict(self.PROBLEM, parts, self.directory)  # type: ignore[arg-type]
        (figure,) = saved
        self.assertEqual(len(figure.axes), 1)
        words = self.words(figure)
        self.assertIn("launch p95: no difference in any scenario, under any seed", words)
        self.assertIn("policy jetsam, tuned against default, seeds 101 to 102", words)


if __name__ == "__main__":
    unittest.main()
