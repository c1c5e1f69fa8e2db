"""launches: how long each kind of launch took."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = ("launches.kind", "launches.latency_ms")

KINDS: dict[str, tuple[str, str]] = {"cold": ("#0072B2", "-"), "warm": ("#D55E00", "--"), "hot": ("#333333", ":")}
"""Colour and line: the line alone tells them apart in print."""

SHARES = {0.50: "o", 0.95: "D"}
TOP_IN, CURVE_IN, FEW_IN, BOTTOM_IN = 0.45, 2.5, 0.24, 0.46
NAME_PT = 6.5
UPON_PX = 8
"""Marks that are nearer than this lie upon each other."""
FLOOR_MS = 1.0
"""Shorter latencies are drawn here: a logarithm has no zero."""


def percentile(latencies: np.ndarray, share: float) -> float:
    """The smallest latency that at least the share of launches did not exceed: a latency that occurred."""
    return float(np.quantile(latencies, share, method="inverted_cdf"))


def seconds_text(seconds: float) -> str:
    """Three digits, and never a power of ten: minutes and hours from 1,000 s on."""
    size = abs(seconds)
    if size < 999.5:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if size < 7200 else f"{seconds / 3600:,.4g} h"


def duration_text(milliseconds: float) -> str:
    return seconds_text(milliseconds / 1000) if milliseconds >= 999.5 else f"{milliseconds:.3g} ms"


def range_text(latencies: np.ndarray) -> str:
    """The shortest and the longest; one text where they read the same, and none without a launch."""
    texts = dict.fromkeys(duration_text(value) for value in (latencies[0], latencies[-1])) if len(latencies) else {}
    return " to ".join(texts)


def finished(run: Run, kind: str) -> np.ndarray:
    launches = run.launches
    return np.sort(launches.loc[launches["kind"] == kind, "latency_ms"].dropna().to_numpy())


def draw_kind(axes: Axes, kind: str, latencies: np.ndarray, tapped: int) -> None:
    """The curve of all that were tapped: with launches that never came it ends below 100%."""
    colour, line = KINDS[kind]
    drawn = np.maximum(latencies, FLOOR_MS)
    shares = np.arange(1, len(drawn) + 1) / tapped
    axes.step(
        np.append(drawn[0], drawn), np.append(0.0, shares), where="post", color=colour, linestyle=line, linewidth=1.6
    )
    for share, marker in SHARES.items():
        axes.plot(
            max(percentile(latencies, share), FLOOR_MS), share * len(drawn) / tapped, marker=marker, markersize=5.5, color=colour,
            markeredgecolor="white", markeredgewidth=0.8, zorder=5,
        )  # fmt: skip


def draw_few(axes: Axes, kinds: dict[str, np.ndarray]) -> None:
    """Launches of which there are too few for a curve: a row per kind, a mark per launch."""
    rows = np.arange(len(kinds)) + 0.5
    for row, (kind, latencies) in zip(rows, kinds.items()):
        axes.plot(np.maximum(latencies, FLOOR_MS), [row] * len(latencies), linestyle="none", marker="o", markersize=5,
                  markerfacecolor="none", markeredgecolor=KINDS[kind][0], markeredgewidth=1.4, gid=f"few-{kind}", clip_on=False)  # fmt: skip
    axes.set_ylim(len(kinds), 0)
    axes.set_yticks(rows, list(kinds))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")


@dataclass(frozen=True)
class Group:
    """Launches beside each other that have one name: that of their apps."""

    apps: tuple[str, ...]
    first_px: float
    last_px: float

    @property
    def text(self) -> str:
        times = Counter(self.apps)
        return ", ".join(style.label(app, 14) + (f" {count}" if count > 1 else "") for app, count in times.items())

    def joined(self, other: Group) -> Group:
        return Group(self.apps + other.apps, self.first_px, other.last_px)


def sides_of(groups: Sequence[Group], wide_of: Callable[[str], float], start_px: float, end_px: float) -> list[bool] | int:
    """Whether each group's name stands on its right, or the place of the first that has room on neither side."""
    sides, taken = [], start_px
    for place, group in enumerate(groups):
        wide = wide_of(group.text)
        free = groups[place + 1].first_px if place + 1 < len(groups) else end_px
        is_right = group.last_px + wide <= free
        if not is_right and group.first_px - wide < taken:
            return place
        sides.append(is_right)
        taken = group.last_px + (wide if is_right else 0)
    return sides


def join(groups: list[Group], place: int) -> None:
    """Makes one of the group and its nearer neighbour."""

    def distance(first: int) -> float:
        return groups[first + 1].first_px - groups[first].last_px if 0 <= first < len(groups) - 1 else math.inf

    first = min(place - 1, place, key=distance)
    groups[first : first + 2] = [groups[first].joined(groups[first + 1])]


def name_few(axes: Axes, run: Run, kinds: Sequence[str]) -> None:
    """The apps of the launches that are drawn themselves, beside their marks; those too near for that have one text."""
    frame, gap = axes.get_window_extent(), 5.5 * style.DPI / 72

    def wide_of(text: str) -> float:
        return gap * 2 + style.text_width_px(axes.figure, text, NAME_PT)

    for row, kind in enumerate(kinds):
        shown = run.launches[run.launches["kind"] == kind].dropna(subset=["latency_ms"]).sort_values("latency_ms", kind="stable")
        groups: list[Group] = []
        for app, latency_ms in zip(shown["app"], shown["latency_ms"]):
            x_px = float(axes.transData.transform((max(latency_ms, FLOOR_MS), row + 0.5))[0])
            groups.append(Group((str(app),), x_px, x_px))
            if len(groups) > 1 and x_px - groups[-2].last_px < UPON_PX:
                join(groups, len(groups) - 1)
        while isinstance(sides := sides_of(groups, wide_of, frame.x0, frame.x1 + gap), int) and len(groups) > 1:
            join(groups, sides)
        for group, is_right in zip(groups, [True] if isinstance(sides, int) else sides):
            x_px = group.last_px + gap if is_right else group.first_px - gap
            x_ms = float(axes.transData.inverted().transform((x_px, frame.y0))[0])
            axes.text(x_ms, row + 0.5, group.text, fontsize=NAME_PT, ha="left" if is_right else "right", va="center",
                      gid=f"names-{kind}")  # fmt: skip


def time_ticks(axes: Axes, shortest_ms: float, longest_ms: float) -> None:
    """A logarithmic axis in ms and s, whose last tick covers the data; with ticks at 2 and 5 when it spans little."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    digits = (1, 2, 5) if longest_ms / max(shortest_ms, FLOOR_MS) < 3000 else (1,)
    every = [digit * 10.0**power for power in range(12) for digit in digits]
    left_ms = max([tick for tick in every if tick <= shortest_ms], default=FLOOR_MS)
    right_ms = next((tick for tick in every if tick >= longest_ms), longest_ms)
    if right_ms < 4 * left_ms:
        left_ms = max([tick for tick in every if tick * 4 <= right_ms], default=FLOOR_MS)
    axes.set_xscale("log")
    axes.set_xlim(left_ms * 0.95, right_ms * 1.05)
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in every if left_ms <= tick <= right_ms]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: "≤ 1 ms" if value <= FLOOR_MS else duration_text(value))
    )
    axes.set_xlabel("latency, from the tap to the first active frame")


def draw_table(figure: Figure, axes: Axes, run: Run) -> None:
    """The legend, with the numbers: one row per kind."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    x0, y0 = axes.get_position().x1 + 0.025, 1 - TOP_IN / height
    columns = (0.0, 0.36, 1.02, 1.58, 2.14)  # inches: line, kind, launches, p50, p95
    has_curve = any(len(finished(run, kind)) >= style.LEAST_OF_A_CURVE for kind in KINDS)
    heads = ("", "n", "p50 ●", "p95 ◆") if has_curve else ("", "n", "", "latency")
    for x, text, right in zip(columns[1:], heads, (False, True, True, True)):
        figure.text(x0 + x / width, y0, text, fontsize=7.5, color=style.QUIET, ha="right" if right else "left", va="top")
    notes = []
    kinds = [kind for kind in KINDS if (run.launches["kind"] == kind).any()]
    for row, kind in enumerate(kinds, start=1):
        colour, line = KINDS[kind]
        y = y0 - 0.22 * row / height
        latencies = finished(run, kind)
        total = int((run.launches["kind"] == kind).sum())
        middle = y - 0.06 / height
        is_curve = len(latencies) >= style.LEAST_OF_A_CURVE
        sample: dict[str, Any] = {"linestyle": line, "linewidth": 1.6} if is_curve else {
            "linestyle": "none", "marker": "o", "markersize": 5, "markerfacecolor": "none", "markeredgewidth": 1.4
        }  # fmt: skip
        figure.add_artist(Line2D(
            [x0, x0 + 0.28 / width] if is_curve else [x0 + 0.14 / width], [middle] * (2 if is_curve else 1), color=colour, **sample
        ))  # fmt: skip
        # Percentiles of two or three launches would say more than these do: they have the shortest and the longest.
        marks = [duration_text(percentile(latencies, share)) for share in SHARES] if is_curve else ["", range_text(latencies)]
        figure.text(x0 + columns[1] / width, y, kind, fontsize=7.5, va="top")
        for x, text in zip(columns[2:], (f"{len(latencies):,}", *marks)):
            figure.text(x0 + x / width, y, text, fontsize=7.5, ha="right", va="top")
        if total > len(latencies):
            apps = run.launches.loc[(run.launches["kind"] == kind) & run.launches["latency_ms"].isna(), "app"].unique()
            names = ", ".join(style.label(app, 14) for app in apps[:3]) + (", …" if len(apps) > 3 else "")
            notes.append(f"{total - len(latencies):,} {kind}" + (f" ({names})" if "".join(apps) else ""))
    if notes:
        lost = style.fitted(figure, ", ".join(notes), (width - x0 * width - 0.05) * style.DPI, 7)
        y = y0 - 0.22 * (len(kinds) + 1.3) / height
        figure.text(
            x0, y, f"never came to a first frame:\n{lost}" + "\np50 and p95 are of the others" * has_curve, fontsize=7,
            color=style.QUIET, va="top",
        )  # fmt: skip


def draw(run: Run) -> Figure | None:
    """The picture; without launches it says so. None when there is no such table."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    if run.lacks("launches.kind", "launches.latency_ms"):
        return None
    by_kind = {kind: latencies for kind in KINDS if len(latencies := finished(run, kind))}
    few = {kind: latencies for kind, latencies in by_kind.items() if len(latencies) < style.LEAST_OF_A_CURVE}
    has_curve = len(few) < len(by_kind)
    if not by_kind:
        return draw_nothing(run)
    few_in = FEW_IN * len(few) + (0.12 if few and has_curve else 0)
    table_in = 0.22 * (len(set(run.launches["kind"])) + 1.3) + (0.4 if run.launches["latency_ms"].isna().any() else 0)
    height_in = TOP_IN + max((CURVE_IN if has_curve else 0) + few_in + BOTTOM_IN, table_in)
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    left, wide = 0.085, 0.59
    top_in = height_in - TOP_IN
    lowest = (top_in - (CURVE_IN if has_curve else 0) - few_in) / height_in
    style.title(figure, f"Launches of {run.title}")
    every = np.concatenate(list(by_kind.values()))
    shortest_ms, longest_ms = max(float(every.min()), FLOOR_MS), max(float(every.max()), FLOOR_MS)
    figure_axes = []
    if has_curve:
        axes = figure.add_axes((left, (top_in - CURVE_IN) / height_in, wide, CURVE_IN / height_in))
        axes.grid(color=style.RULE, linewidth=0.5)
        axes.set_axisbelow(True)
        for kind, latencies in by_kind.items():
            if kind not in few:
                draw_kind(axes, kind, latencies, int((run.launches["kind"] == kind).sum()))
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_locator(MultipleLocator(0.25))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
        axes.set_ylabel("share of launches")
        style.bare(axes, "left", "bottom")
        figure_axes.append(axes)
    if few:
        figure_axes.append(figure.add_axes((left, lowest, wide, FEW_IN * len(few) / height_in)))
        draw_few(figure_axes[-1], few)
    for axes in figure_axes:
        time_ticks(axes, shortest_ms, longest_ms)
        if axes is not figure_axes[-1]:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    if few and not run.lacks("launches.app"):
        name_few(figure_axes[-1], run, list(few))
    draw_table(figure, figure_axes[0], run)
    return figure


def draw_nothing(run: Run) -> Figure:
    """A line of text in place of a picture without a launch."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(style.WIDTH_IN, 0.6))
    style.title(figure, f"Launches of {run.title}")
    unfinished = len(run.launches)
    text = f"no launch came to its first frame ({unfinished:,} tapped)" if unfinished else "no launches"
    figure.text(0.015, 0.2, text, fontsize=8, color=style.QUIET)
    return figure
