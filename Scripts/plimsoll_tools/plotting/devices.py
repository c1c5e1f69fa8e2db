"""devices: runs on several devices side by side, by the apps that stay alive and by what it costs to come back to one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plimsoll_tools.plotting import compare, launches, several, style
from plimsoll_tools.plotting.run_directory import Run

MOST_RUNS = 12
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.75, 0.2, 0.62, 0.46
ALIVE_IN, GAP_IN, ROW_IN, NAME_IN, TEXT_IN = 1.9, 0.85, 0.34, 1.6, 1.9


def are_devices(names: list[str]) -> bool:
    """Whether the runs are of several devices, each with a name of its own."""
    return len(names) > 1 and all(names) and "none" not in names and len(set(names)) == len(names)


def alive(run: Run) -> pd.Series:
    """How many apps of the scenario have a process, by the time of the sample."""
    apps = run.apps[["time_s", "app"]]
    if run.facts.apps:
        apps = apps[apps["app"].isin(run.facts.apps)]
    times = run.samples["time_s"] if len(run.samples) else apps["time_s"].drop_duplicates()
    return apps.groupby("time_s")["app"].nunique().reindex(times, fill_value=0)


def returns(run: Run) -> pd.DataFrame:
    """The launches of apps that the user had launched before: what it costs to come back."""
    table = run.launches.sort_values("tapped_s", kind="stable")
    return table[table.duplicated("app")]


def cost_text(back: pd.DataFrame) -> str:
    """How many came back, how many of them had to begin anew, and how long they took together."""
    cold = int((back["kind"] == "cold").sum())
    total = launches.duration_text(float(back["latency_ms"].sum()))
    return f"{len(back):,} returns, {cold:,} cold, {total} in all"


def draw_alive(axes: Axes, runs: list[Run]) -> None:
    every = [alive(run) for run in runs]
    for row, count in enumerate(every):
        colour, line = compare.look(row)
        # Curves that lie upon each other stay apart: each is a little higher than the one before.
        raised = count.to_numpy() + 0.09 * row
        axes.step(count.index, raised, where="post", color=colour, linestyle=line, linewidth=1.4, gid="alive")
    end_s = max(run.end_s for run in runs)
    style.time_axis(axes, end_s)
    style.cover(axes, max((int(count.max()) for count in every if len(count)), default=1) + 0.5, 5, integer=True)
    axes.set_ylabel("apps alive")
    axes.grid(axis="y", color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")


def draw_returns(axes: Axes, every: list[pd.DataFrame]) -> None:
    """A row per device, a mark per return."""
    for row, back in enumerate(every):
        for kind, (colour, _) in launches.KINDS.items():
            shown = back.loc[back["kind"] == kind, "latency_ms"].dropna()
            axes.plot(np.maximum(shown, launches.FLOOR_MS), [row] * len(shown), linestyle="none", marker="o", markersize=5,
                      markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.2, gid=f"returns-{kind}")  # fmt: skip
    known = pd.concat([back["latency_ms"] for back in every]).dropna()
    launches.time_ticks(axes, *(max(float(end), launches.FLOOR_MS) for end in ((known.min(), known.max()) if len(known) else (1, 1000))))
    axes.set_xlabel("latency of a return, from the tap to the first active frame")
    axes.set_ylim(len(every) - 0.5, -0.5)
    axes.set_yticks([])
    axes.grid(axis="x", color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "bottom")


def draw(runs: list[Run], names: list[str]) -> Figure:
    """The picture of the first twelve of them."""
    runs, names = runs[:MOST_RUNS], names[:MOST_RUNS]
    width, rows_in = style.WIDTH_IN, ROW_IN * len(runs)
    height = TOP_IN + ALIVE_IN + GAP_IN + rows_in + BOTTOM_IN
    figure = plt.figure(figsize=(width, height))
    seeds = [several.summary_of(run.directory).get("seed", "") for run in runs]
    title = ", ".join(filter(None, (f"The apps of a user on {len(runs)} devices", several.seeds_text(seeds))))
    style.title(figure, title)
    x = 0.015 * width
    for kind, (colour, _) in launches.KINDS.items():
        text = {"cold": "cold: the app had ended", "warm": "warm: its window had gone", "hot": "hot: it was alive"}[kind]
        figure.add_artist(Line2D([(x + 0.06) / width], [1 - 0.42 / height], linestyle="none", marker="o", markersize=4.5,
                                 markerfacecolor="none", markeredgecolor=colour, markeredgewidth=1.2))  # fmt: skip
        figure.text((x + 0.16) / width, 1 - 0.42 / height, text, fontsize=7, va="center", color=style.QUIET)
        x += 0.4 + style.text_width_px(figure, text, 7) / style.DPI
    wide = width - LEFT_IN - RIGHT_IN
    low_in = BOTTOM_IN + rows_in + GAP_IN
    draw_alive(figure.add_axes((LEFT_IN / width, low_in / height, wide / width, ALIVE_IN / height)), runs)
    every = [returns(run) for run in runs]
    axes = figure.add_axes(((0.15 + NAME_IN) / width, BOTTOM_IN / height,
                            (width - 0.15 - NAME_IN - TEXT_IN - RIGHT_IN) / width, rows_in / height))  # fmt: skip
    draw_returns(axes, every)
    for row, (name, back) in enumerate(zip(names, every)):
        y = (BOTTOM_IN + rows_in - (row + 0.5) * ROW_IN) / height
        colour, line = compare.look(row)
        figure.add_artist(Line2D([0.15 / width, 0.43 / width], [y, y], color=colour, linestyle=line, linewidth=1.6))
        figure.text(0.5 / width, y, style.label(name, 20), fontsize=7.5, va="center")
        figure.text((width - RIGHT_IN) / width, y, cost_text(back), fontsize=6.8, va="center", ha="right", color=style.QUIET)
    return figure
