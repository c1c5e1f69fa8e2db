"""pressure: the available share of memory against the thresholds, the level, and time lost to waiting for memory."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from plimsoll_tools.plotting import memory, style
from plimsoll_tools.plotting.run_directory import STALLS, Run

NEEDS = ("samples.time_s", "samples.ceiling_bytes", "samples.available_bytes", "samples.pressure_level")

LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.75, 1.28, 0.68, 0.46
SHARE_IN, STALL_IN, GAP_IN, NOTE_IN = 2.5, 1.3, 0.2, 0.16

STALL_COLOURS = {"some": "#D55E00", "full": "#332288"}
STALL_LINES = ((), (4.1, 1.8), (1.1, 1.8))
"""Drawn and left out, in points: from the shortest average to the longest."""
SOME_PT, FULL_PT = 2.4, 1.1
"""Where all wait, some and full are the same: the lower line is then seen on either side of the upper one."""
MOST_STALLS = 6
FAULT = "#882255"
"""Of what fails because the scenario says so."""
LEAST_STALL = 0.001
"""The axis goes so far at least; what is less is too little to have a shape."""


def shares(run: Run) -> pd.DataFrame:
    """time_s and the available share; of each stretch of time the smallest, so that no trough is lost."""
    samples = run.samples.dropna(subset=["available_bytes", "ceiling_bytes"])
    samples = samples[samples["ceiling_bytes"] > 0]
    thinned = memory.peaks(samples.assign(resident_bytes=-samples["available_bytes"]), run.end_s)
    return pd.DataFrame({"time_s": thinned["time_s"], "share": thinned["available_bytes"] / thinned["ceiling_bytes"]})


def draw_shares(axes: Axes, run: Run, end_s: float) -> None:
    table = shares(run)
    times_s = np.append(table["time_s"], max(end_s, table["time_s"].iloc[-1]))
    values = np.append(table["share"], table["share"].iloc[-1])
    spans = memory.level_spans(run)
    style.shade(axes, [(start, end, style.LEVEL_SHADES[level]) for start, end, level in spans if level in style.LEVEL_SHADES], zorder=0)
    # Upon the thresholds: what is available stays near them for long, and their white edges would hide it.
    axes.step(times_s, values, where="post", color="#0072B2", linewidth=1.2, zorder=3)
    axes.fill_between(times_s, values, step="post", color="#0072B2", alpha=0.12, linewidth=0)

    ceiling = float(run.samples["ceiling_bytes"].max())
    limits = {level: 1 - resident / ceiling for level, resident in memory.thresholds(run).items()}
    for level, share in limits.items():
        line = axes.axhline(share, color=style.LEVEL_COLOURS[level], linewidth=1.2, linestyle=(0, (5, 2)), zorder=2)
        line.set_path_effects([withStroke(linewidth=2.4, foreground="white")])
    top = max([float(values.max()), *limits.values(), 0.05])
    # Beside the picture, where no line crosses them; apart from each other however close the thresholds are.
    line_height = 0.13 / SHARE_IN * top
    free_from = 0.0
    for level, share in sorted(limits.items(), key=lambda item: item[1]):
        free_from = max(share, free_from + line_height)
        axes.annotate(
            f"{level} < {100 * share:.3g}%", (1, free_from), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", ha="left", va="center", fontsize=7.5, annotation_clip=False,
        )  # fmt: skip
    style.cover(axes, top, 6)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel("memory available")
    axes.grid(axis="y", color=style.RULE, linewidth=0.4)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")


def draw_faults(axes: Axes, run: Run) -> str:
    """A cross on the time axis for each fault that the scenario asks for; the words that say so, empty without faults."""
    faults = run.events_named("fault")
    if faults.empty:
        return ""
    axes.plot(
        faults["time_s"], np.zeros(len(faults)), linestyle="", marker="x", markersize=4, color=FAULT, clip_on=False, zorder=6
    )  # fmt: skip
    kinds = faults["detail"].str.replace("_", " ").value_counts()
    return "\u00d7 " + ", ".join(style.plural(count, kind) for kind, count in sorted(kinds.items()))


def share_text(share: float) -> str:
    """With a tenth of a percent; what is all of it, or nothing, has none."""
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def stall_look(column: str, columns: list[str]) -> tuple[str, tuple[float, ...], str]:
    """Colour, dashes and name of a column such as psi_some_avg10."""
    name = column.removeprefix(STALLS).removesuffix("_ratio")
    kind = name.split("_")[0]
    alike = [other for other in columns if other.removeprefix(STALLS).split("_")[0] == kind]
    what, average, seconds = name.partition("_avg")
    name = (f"{what}, {seconds} s" if average else what).replace("_", " ")
    return STALL_COLOURS.get(kind, "#009E73"), STALL_LINES[alike.index(column) % len(STALL_LINES)], name


def draw_stalls(axes: Axes, run: Run, columns: list[str]) -> None:
    """Pressure stall information, as the kernel's /proc/pressure has it: the share of time lost, averaged."""
    top = 0.0
    for column in columns:
        known = run.samples.dropna(subset=[column])
        colour, line, name = stall_look(column, columns)
        wide = SOME_PT if name.startswith("some") else FULL_PT
        # matplotlib counts dashes in line widths.
        dashes: Any = (0, tuple(length / wide for length in line)) if line else "-"
        axes.step(known["time_s"], known[column], where="post", color=colour, linestyle=dashes, linewidth=wide, label=name)
        top = max(top, float(known[column].max())) if len(known) else top
    # Steps that the labels can say: 0.25 % would be written as 0.2 %.
    style.cover(axes, top, 4, at_least=LEAST_STALL, steps=[1, 2, 5, 10])
    step = float(np.diff(axes.get_yticks()[:2])[0])
    digits = max(0, -math.floor(math.log10(100 * step) + 1e-9))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.{digits}f}%"))
    axes.set_ylabel("time stalled")
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.04), borderaxespad=0.2, labelspacing=0.25, handlelength=1.8,
        title="waiting for memory", alignment="left", title_fontproperties={"size": 7, "weight": "bold"}, fontsize=7,
    )  # fmt: skip
    style.bare(axes, "left", "bottom")


def draw(run: Run) -> Figure | None:
    """The picture, or None when no sample says what is available."""
    samples = run.samples.dropna(subset=["available_bytes", "ceiling_bytes"])
    if samples.empty:
        return None
    end_s = max(run.end_s, 1e-3)
    known = [column for column in run.samples if column.startswith(STALLS)][:MOST_STALLS]
    # A panel with nothing in it is a line of text.
    stalls = known if (run.samples[known] > 0).to_numpy().any() else []
    note = "No process waited for memory." if known and not stalls else ""
    height_in = TOP_IN + SHARE_IN + BOTTOM_IN + (GAP_IN + STALL_IN if stalls else NOTE_IN if note else 0)
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    wide = (style.WIDTH_IN - LEFT_IN - RIGHT_IN) / style.WIDTH_IN

    def place(bottom: float, tall_in: float) -> Axes:
        return figure.add_axes((LEFT_IN / style.WIDTH_IN, bottom / height_in, wide, tall_in / height_in))

    axes = place(height_in - TOP_IN - SHARE_IN, SHARE_IN)
    draw_shares(axes, run, end_s)
    faults = draw_faults(axes, run)
    style.time_axis(axes, end_s)
    if stalls:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
        lower = place(BOTTOM_IN, STALL_IN)
        draw_stalls(lower, run, stalls)
        style.time_axis(lower, end_s)

    spent = {level: sum(end - start for start, end, name in memory.level_spans(run) if name == level)
             for level in style.LEVEL_COLOURS}  # fmt: skip
    handles = [
        Rectangle((0, 0), 1, 1, color=style.LEVEL_COLOURS[level], label=f"{level} {share_text(seconds / end_s)} of the time")
        for level, seconds in spent.items()
        if seconds > 0 or level == "normal"
    ]
    if faults:
        figure.text(1 - 0.05 / style.WIDTH_IN, 1 - 0.25 / height_in, faults, fontsize=7.5, color=FAULT, ha="right")
    if note:
        figure.text(LEFT_IN / style.WIDTH_IN, 0.08 / height_in, note, fontsize=7.5, color=style.QUIET)
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.015, 1 - 0.3 / height_in), ncols=3, borderaxespad=0,
        handlelength=1.2,
    )  # fmt: skip
    style.title(figure, f"Pressure of {run.title}")
    return figure
