"""launches: how long each kind of launch took."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator, NullLocator

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import Run

NEEDS = ("launches.kind", "launches.latency_ms")

KINDS: dict[str, tuple[str, str]] = {"cold": ("#0072B2", "-"), "warm": ("#D55E00", "--"), "hot": ("#333333", ":")}
"""Colour and line: the line alone tells them apart in print."""

SHARES = {0.50: "o", 0.95: "D"}
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


def time_ticks(axes: Axes, left_ms: float, right_ms: float) -> None:
    """A logarithmic axis in ms and s; with ticks at 2 and 5 when it spans little."""
    axes.set_xscale("log")
    axes.set_xlim(left_ms, right_ms)
    digits = (1, 2, 5) if right_ms / left_ms < 3000 else (1,)
    ticks = [digit * 10.0**power for power in range(9) for digit in digits]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if left_ms <= tick <= right_ms]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: "≤ 1 ms" if value <= FLOOR_MS else duration_text(value))
    )
    axes.set_xlabel("latency, from the tap to the first active frame")


def draw_table(figure: Figure, axes: Axes, run: Run) -> None:
    """The legend, with the numbers: one row per kind."""
    x0, y0 = axes.get_position().x1 + 0.025, axes.get_position().y1
    width, height = figure.get_size_inches()
    columns = (0.0, 0.36, 1.02, 1.58, 2.14)  # inches: line, kind, launches, p50, p95
    for x, text, right in zip(columns[1:], ("", "n", "p50 ●", "p95 ◆"), (False, True, True, True)):
        figure.text(x0 + x / width, y0, text, fontsize=7.5, color=style.QUIET, ha="right" if right else "left", va="top")
    notes = []
    for row, (kind, (colour, line)) in enumerate(KINDS.items(), start=1):
        y = y0 - 0.22 * row / height
        latencies = finished(run, kind)
        total = int((run.launches["kind"] == kind).sum())
        middle = y - 0.06 / height
        figure.add_artist(
            Line2D([x0, x0 + 0.28 / width], [middle, middle], color=colour, linestyle=line, linewidth=1.6)
        )
        marks = [duration_text(percentile(latencies, share)) if len(latencies) else "" for share in SHARES]
        figure.text(x0 + columns[1] / width, y, kind, fontsize=7.5, va="top")
        for x, text in zip(columns[2:], (f"{len(latencies):,}", *marks)):
            figure.text(x0 + x / width, y, text, fontsize=7.5, ha="right", va="top")
        if total > len(latencies):
            notes.append(f"{total - len(latencies):,} {kind}")
    if notes:
        y = y0 - 0.22 * (len(KINDS) + 1.3) / height
        figure.text(
            x0, y, f"never came to a first frame:\n{', '.join(notes)}\np50 and p95 are of the others", fontsize=7,
            color=style.QUIET, va="top",
        )  # fmt: skip


def draw(run: Run) -> Figure | None:
    """The picture; without launches it says so. None when there is no such table."""
    if run.lacks("launches.kind", "launches.latency_ms"):
        return None
    height_in = 3.4
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    axes = figure.add_axes((0.085, 0.46 / height_in, 0.59, (height_in - 0.46 - 0.45) / height_in))
    figure.text(
        0.015, 1 - 0.12 / height_in, f"Launches of {style.label(run.title, 80)}", fontsize=9, fontweight="bold", va="top"
    )
    by_kind = {kind: finished(run, kind) for kind in KINDS}
    every = np.concatenate(list(by_kind.values()))
    if len(every) == 0:
        axes.set_axis_off()
        unfinished = len(run.launches)
        text = f"no launch came to its first frame ({unfinished:,} tapped)" if unfinished else "no launches"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=11, color=style.QUIET)
        return figure

    left_ms = max(float(every.min()) * 0.8, FLOOR_MS)
    right_ms = max(float(every.max()) * 1.25, left_ms * 10)
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    for kind, latencies in by_kind.items():
        if len(latencies):
            draw_kind(axes, kind, latencies, int((run.launches["kind"] == kind).sum()))
    time_ticks(axes, left_ms, right_ms)
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel("share of launches")
    style.bare(axes, "left", "bottom")
    draw_table(figure, axes, run)
    return figure
