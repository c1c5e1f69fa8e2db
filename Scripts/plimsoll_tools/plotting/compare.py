"""compare: several runs side by side, by what they cost and what they gained, and by launch latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MultipleLocator

from plimsoll_tools.plotting import launches, several, style
from plimsoll_tools.plotting.metrics import Metric
from plimsoll_tools.plotting.run_directory import Run

MOST_GROUPS = 12
MOST_LETTERS = 34
"""Of a group's name; the column is as wide as the longest one needs."""
LEFT_IN, RIGHT_IN, TOP_IN = 0.15, 0.2, 0.52
LABEL_IN, ROW_IN, HEAD_IN, GAP_IN = 1.75, 0.19, 0.3, 0.2
ECDF_IN, BOTTOM_IN = 2.5, 0.46
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#882255", "#E69F00", "#56B4E9", "#332288", "#7A5C2E", "#222222", "#F2B6D2",
           "#C4B5E8", "#A8DDB5")  # fmt: skip
LINES = ("-", "--", "-.", ":")
YARDSTICK_COLOUR = "#A6A6A6"
"""Of policies that nobody would ship: they say how far the others are from nothing and from all."""


@dataclass
class Group:
    """Runs that differ in their seed alone, or a single run."""

    label: str
    values: dict[str, list[float]]
    latencies: np.ndarray
    tapped: int
    """Launches in all, those whose first frame never came among them."""
    look: tuple[str, str] = ("", "")
    """Its colour and its line."""

    @property
    def is_yardstick(self) -> bool:
        return self.look[0] == YARDSTICK_COLOUR

    @property
    def lost(self) -> int:
        return self.tapped - len(self.latencies)

    @property
    def lost_share(self) -> float:
        return self.lost / self.tapped if self.tapped else 0.0

    def mean(self, metric: str) -> float:
        return float(np.mean(self.values[metric])) if self.values.get(metric) else math.nan


def values_of(run: Run, summary: dict[str, str]) -> dict[str, float]:
    """The compared metrics. A run that was cut off before its summary has none: its part is no match for a whole run."""
    found = {one.name: several.number(summary.get(one.name)) for one in run.metrics}
    return {name: value for name, value in found.items() if value is not None}


def members_of(runs: list[Run], seeds: list[str]) -> list[list[int]]:
    """Runs that differ in their seed alone stand together; a run of which that is not known stands alone."""
    setups = [run.facts.setup or index for index, run in enumerate(runs)]
    if not all(seeds) or len(set(zip(setups, seeds))) < len(runs):
        return [[index] for index in range(len(runs))]
    members: dict[object, list[int]] = {}
    for index, setup in enumerate(setups):
        members.setdefault(setup, []).append(index)
    return list(members.values())


def names_of(firsts: list[Run]) -> list[str]:
    """What tells the groups apart, given one run of each: policy, scenario, and the settings in which groups of one
    scenario differ (a policy's own among those of that policy); the folder, where that would not be seen in the
    picture."""
    summaries = [several.summary_of(run.directory) for run in firsts]
    settings = [several.scenario_settings(run.text_of("scenario.yaml")) for run in firsts]
    for its in settings:
        its.pop("seed", None)
    one_scenario = len({row.get("scenario") for row in summaries}) == 1
    names = [
        row.get("policy", "") if one_scenario else f"{row.get('scenario', '')}, {row.get('policy', '')}" for row in summaries
    ]
    values: dict[tuple[str | None, ...], set[str | None]] = {}
    """All that a setting is among the groups in which it means the same."""

    def meaning(row: dict[str, str], key: str) -> tuple[str | None, ...]:
        return row.get("scenario"), key, row.get("policy") if key.startswith("policy.") else None

    for key in dict.fromkeys(key for its in settings for key in its):
        for row, its in zip(summaries, settings):
            values.setdefault(meaning(row, key), set()).add(its.get(key))
    found = []
    for name, row, its in zip(names, summaries, settings):
        told = []
        for key, value in its.items():
            all_of_them = values[meaning(row, key)]
            if len(all_of_them) > 1 and None not in all_of_them:
                told.append(f"{key.rpartition('.')[2]} {value}")
        # What all of them are called says nothing.
        found.append(", ".join(told if told and len(set(names)) == 1 else [name, *told]))
    is_told = len({style.label(name, MOST_LETTERS) for name in found}) == len(found)
    return found if is_told else several.folders([run.directory for run in firsts])


def groups_of(runs: list[Run], labels: list[str]) -> list[Group]:
    """Runs that differ in their seed alone are one group: their spread is what the seeds make."""
    summaries = [several.summary_of(run.directory) for run in runs]
    groups = members_of(runs, [row.get("seed", "") for row in summaries])
    names = names_of([runs[first] for first, *_ in groups]) if len(groups) < len(runs) else labels
    found = []
    for name, members in zip(names, groups):
        each = [values_of(runs[index], summaries[index]) for index in members]
        latencies = np.concatenate([runs[index].launches["latency_ms"].dropna().to_numpy() for index in members])
        metrics = dict.fromkeys(metric for one in each for metric in one)
        values = {metric: [one[metric] for one in each if metric in one] for metric in metrics}
        label = f"{name} ({len(members)} seeds)" if len(members) > 1 else name
        found.append(Group(label, values, np.sort(latencies), sum(len(runs[index].launches) for index in members)))
    give_looks(found, [runs[first].facts.is_yardstick for first, *_ in groups])
    return found


def give_looks(groups: list[Group], are_yardsticks: list[bool]) -> None:
    """Yardsticks are grey, each with a line of its own."""
    places = {True: 0, False: 0}
    for group, is_yardstick in zip(groups, are_yardsticks):
        colour, line = look(places[is_yardstick])
        group.look = (YARDSTICK_COLOUR if is_yardstick else colour, line)
        places[is_yardstick] += 1


def may_be_best(groups: list[Group], metric: Metric) -> list[bool]:
    """A low latency is no merit of a run that lost more launches than others: only those that came count in it."""
    if not metric.leaves_out:
        return [True] * len(groups)
    least = min((group.lost_share for group in groups), default=0.0)
    return [group.lost_share <= least for group in groups]


def text_of(value: float, unit: str) -> str:
    if unit == "ms":
        return launches.duration_text(value)
    if unit == "1":
        return f"{value:.0%}"
    return launches.seconds_text(value) if unit == "s" else style.number_text(value)


def look(index: int) -> tuple[str, str]:
    return COLOURS[index % len(COLOURS)], LINES[index % len(LINES)]


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_metric(axes: Axes, groups: list[Group], metric: Metric) -> None:
    """A line with a large dot per group; where it has several runs, a small dot per run."""
    name, title = metric.name, metric.title
    means = np.array([group.mean(name) for group in groups])
    axes.set_xticks([])
    axes.set_yticks([])
    if np.isnan(means).all():
        axes.set_axis_off()
        axes.set_title(f"{title}\n", fontsize=7.5, loc="left", fontweight="bold", pad=3)
        axes.text(0, 0.5, "unknown", transform=axes.transAxes, fontsize=7, va="center", color=style.QUIET)
        return
    top = max(float(np.nanmax([max(group.values.get(name, ()), default=math.nan) for group in groups])), 1e-9)
    eligible = may_be_best(groups, metric)
    # A yardstick is no winner.
    rated = [mean for group, mean, is_eligible in zip(groups, means, eligible)
             if is_eligible and not group.is_yardstick and not math.isnan(mean)]  # fmt: skip
    best = (min(rated) if metric.better == "lower" else max(rated)) if rated else math.nan
    for row, (group, mean) in enumerate(zip(groups, means)):
        if math.isnan(mean):
            axes.text(0, row, " unknown", fontsize=7, va="center", color=style.QUIET)
            continue
        axes.plot([0, mean], [row, row], color=group.look[0], linewidth=1.6, solid_capstyle="butt", zorder=2)
        axes.plot([mean], [row], marker="o", markersize=6, color=group.look[0], clip_on=False, zorder=3, gid="mean")
        values = group.values[name]
        if len(values) > 1:
            axes.plot(
                values, [row] * len(values), linestyle="none", marker="o", markersize=2.4,
                markerfacecolor="white", markeredgecolor=style.INK, markeredgewidth=0.5, zorder=4,
            )  # fmt: skip
        axes.annotate(
            text_of(mean, metric.unit) + ("" if eligible[row] else "*"), (max(*values, mean), row),
            xytext=(5, -0.3), textcoords="offset points", fontsize=7, va="center",
            color=style.QUIET if group.is_yardstick else style.INK,
            fontweight="bold" if mean == best and eligible[row] and not group.is_yardstick else "normal",
        )  # fmt: skip
    axes.set_xlim(0, top * 1.75)
    axes.set_title(f"{title}\n", fontsize=7.5, loc="left", fontweight="bold", pad=3)
    axes.text(0, 1, f"{metric.hint}\n", transform=axes.transAxes, fontsize=6.3, color=style.QUIET, va="center")
    style.bare(axes, "left")


def draw_latencies(axes: Axes, groups: list[Group]) -> None:
    known = [group.latencies for group in groups if len(group.latencies)]
    if not known:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no launch came to its first frame", transform=axes.transAxes, ha="center", color=style.QUIET)
        return
    every = np.concatenate(known)
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    for group in groups:
        if len(group.latencies):
            colour, line = group.look
            drawn = np.maximum(group.latencies, launches.FLOOR_MS)
            # Of all that were tapped: what never came is missing at the top.
            shares = np.arange(1, len(drawn) + 1) / group.tapped
            if len(drawn) < style.LEAST_OF_A_CURVE:
                axes.plot(drawn, shares, linestyle="none", marker="o", markersize=4.5, markerfacecolor="none", color=colour,
                          markeredgewidth=1.3, gid="few")  # fmt: skip
                continue
            axes.step(np.append(drawn[0], drawn), np.append(0.0, shares), where="post", color=colour, linestyle=line,
                      linewidth=1.4)  # fmt: skip
            if group.lost:
                axes.plot(drawn[-1], shares[-1], linestyle="none", marker="x", markersize=5, color=colour, markeredgewidth=1.4,
                          zorder=5)  # fmt: skip
    launches.time_ticks(axes, max(float(every.min()), launches.FLOOR_MS), max(float(every.max()), launches.FLOOR_MS))
    axes.set_xlabel("launch latency, from the tap to the first active frame")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel("share of launches")
    style.bare(axes, "left", "bottom")


def draw(runs: list[Run], labels: list[str]) -> Figure:
    """The picture of all of them."""
    every = groups_of(runs, labels)
    groups = every[:MOST_GROUPS]
    rows_in = ROW_IN * len(groups)
    height_in = TOP_IN + HEAD_IN + rows_in + GAP_IN + 0.35 + ECDF_IN + BOTTOM_IN
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    width = style.WIDTH_IN
    panels = [one for one in next(filter(None, (run.metrics for run in runs)), []) if one.is_drawn]
    bottom_in = BOTTOM_IN + ECDF_IN + 0.35 + GAP_IN
    names = [style.label(group.label, MOST_LETTERS) for group in groups]
    longest_px = max((style.text_width_px(figure, name, 7.5) for name in names), default=0)
    label_in = max(LABEL_IN, 0.35 + longest_px / style.DPI + 0.1)
    wide_in = (width - LEFT_IN - label_in - RIGHT_IN) / max(len(panels), 1)
    for column, metric in enumerate(panels):
        axes = figure.add_axes(
            ((LEFT_IN + label_in + column * wide_in) / width, bottom_in / height_in, (wide_in - 0.12) / width,
             rows_in / height_in)
        )  # fmt: skip
        axes.set_ylim(len(groups) - 0.5, -0.5)
        draw_metric(axes, groups, metric)
    for row in range(len(groups)):
        colour, line = groups[row].look
        y = (bottom_in + rows_in - (row + 0.5) * ROW_IN) / height_in
        figure.add_artist(
            Line2D([LEFT_IN / width, (LEFT_IN + 0.28) / width], [y, y], color=colour, linestyle=line, linewidth=1.6)
        )
        ink = style.QUIET if groups[row].is_yardstick else style.INK
        figure.text((LEFT_IN + 0.35) / width, y, names[row], fontsize=7.5, va="center", color=ink)
    draw_latencies(
        figure.add_axes((0.75 / width, BOTTOM_IN / height_in, (width - 0.75 - RIGHT_IN) / width, ECDF_IN / height_in)), groups
    )
    summaries = [several.summary_of(run.directory) for run in runs]
    known = [[row.get(key, "") for row in summaries] for key in ("scenario", "policy", "seed")]
    title = f"{style.plural(len(runs), 'run')} compared: {several.described(*known)}".removesuffix(": ")
    if len(groups) < len(every):
        title += f"; the first {len(groups)} of {len(every)} groups"
    style.title(figure, title)
    notes = []
    if any(group.lost for group in groups):
        notes.append("✕ where the other launches never came to a first frame")
        if any(not all(may_be_best(groups, metric)) for metric in panels):
            notes.insert(0, "* of the launches that came; more were lost than by others")
    if any(0 < len(group.latencies) < style.LEAST_OF_A_CURVE for group in groups):
        notes.append("○ launches themselves, too few for a curve")
    figure.text(0.015, 1 - 0.34 / height_in, "    ".join(notes), fontsize=6.5, va="top", color=style.QUIET)
    return figure
