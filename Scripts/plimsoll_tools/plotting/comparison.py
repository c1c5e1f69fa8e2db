"""comparison: what `plimsoll compare` found, as paired differences with their intervals, a panel per metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from plimsoll_tools.plotting import launches, several, style
from plimsoll_tools.plotting.metrics import Metric, named
from plimsoll_tools.plotting.run_directory import read_experiment

FILE = "comparison.csv"
NEEDS = ("scope", "scenario", "policy", "role", "metric", "sense", "mean", "pairs", "difference", "difference_low",
         "difference_high", "verdict")  # fmt: skip
NUMBERS = ("mean", "pairs", "difference", "difference_low", "difference_high")

COLUMNS = 4
LEFT_IN, LABEL_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.15, 1.25, 0.12, 0.72, 0.42
ROW_IN, HEAD_IN, AXIS_IN = 0.2, 0.34, 0.3
COLOURS = {"better": "#009E73", "worse": "#D55E00", "higher": "#0072B2", "lower": "#0072B2"}
UNCERTAIN = "#8A8A8A"
TICK_SIZE = 5.8
MARGIN = 0.08
"""Of the span of a panel, on either side."""


def is_comparison(directory: Path) -> bool:
    """Whether its table is there, a folder in its place included: then `read` says so."""
    return (directory / FILE).exists()


def read(directory: Path) -> pd.DataFrame:
    """Raises ValueError when the file is not what compare writes."""
    table = read_experiment(directory / FILE)
    missing = [name for name in NEEDS if name not in table]
    if missing or table.empty:
        raise ValueError(f"{directory / FILE}: {'no column ' + ', '.join(missing) if missing else 'no rows'}")
    for name in NUMBERS:
        table[name] = pd.to_numeric(table[name], errors="coerce")
    return table


def seeds(directory: Path) -> str:
    """Which seeds were run, as the table of the runs beside it says; empty without that."""
    try:
        return several.seeds_text(read_experiment(directory / "runs.csv").get("seed", pd.Series(dtype=str)).tolist())
    except ValueError:
        return ""


def scopes(table: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """File name, title and rows of each picture: all scenarios together first, if there are several."""
    pooled = table[table["scope"] == "pooled"]
    names = list(dict.fromkeys(table.loc[table["scope"] == "scenario", "scenario"]))
    weighed = f"{style.plural(len(names), 'scenario')}, weighed alike"
    found = [] if pooled.empty else [("comparison", weighed, pooled)]
    for number, name in enumerate(names, start=1):
        stem = "comparison" if len(names) == 1 else f"comparison-{number}"
        found.append((stem, style.label(name, 40), table[(table["scope"] == "scenario") & (table["scenario"] == name)]))
    return found


def number_text(value: float, unit: str, signed: bool = True) -> str:
    sign = "+" if signed and value > 0 else "-" if value < 0 else ""
    size = abs(value)
    if size == 0:
        return "0"
    if unit == "s" and size < 0.1:
        return f"{sign}{size * 1000:.3g} ms"
    if unit == "ms":
        return sign + launches.duration_text(size) if size >= 1 else f"{sign}{size:.2g} ms"
    if unit == "1":
        return f"{sign}{size * 100:.3g} pp" if signed else f"{size:.1%}"
    if unit == "byte":
        return sign + style.bytes_text(size)
    return sign + launches.seconds_text(size) if unit == "s" else sign + style.number_text(size)


def limits(rows: pd.DataFrame) -> tuple[float, float]:
    """The axis shows what was asked for whole; a yardstick that is far away becomes an arrow at the edge."""
    ends = ["difference", "difference_low", "difference_high"]
    asked = rows.loc[rows["role"] == "candidate", ends].stack().dropna()
    every = rows.loc[rows["role"] != "baseline", ends].stack().dropna()
    shown = asked if len(asked) and asked.abs().max() > 0 else every
    low, high = min(0.0, *shown, 0.0), max(0.0, *shown, 0.0)
    if low == high:
        low, high = -1.0, 1.0
    widest = 2.5 * (high - low)
    low = max(min(low, *every, 0.0), low - widest / 5)
    high = min(max(high, *every, 0.0), high + widest / 5)
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def apart(axes: Axes, ticks: list[float], unit: str) -> list[float]:
    """Those whose labels do not touch: zero first, then from the ends inwards."""
    low, high = axes.get_xlim()
    px = axes.get_window_extent().width / (high - low)
    kept: list[tuple[float, float]] = []
    for tick in sorted(ticks, key=lambda tick: (tick != 0, -abs(tick))):
        wide = style.text_width_px(axes.figure, number_text(tick, unit), TICK_SIZE)
        if all(abs(tick - other) * px >= (wide + width) / 2 + 4 for other, width in kept):
            kept.append((tick, wide))
    return sorted(tick for tick, _ in kept)


def draw_panel(axes: Axes, rows: pd.DataFrame, metric: Metric) -> None:
    """A row per policy: the difference from the baseline and its interval, with the figure beside it."""
    unit = metric.unit
    low, high = limits(rows)
    moved = (rows["difference"].fillna(0) != 0).any()
    margin = MARGIN * (high - low) / (1 + 2 * MARGIN)
    covering = MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]).tick_values(low + margin, high - margin)
    ticks = [float(tick) for tick in covering] if moved else [0.0]
    if moved:
        # The outermost ticks cover what is drawn.
        low, high = min(low, ticks[0]), max(high, ticks[-1])
    axes.set_xlim(low, high + 0.5 * (high - low))
    axes.axvline(0, color=style.QUIET, linewidth=0.7)
    for position, row in enumerate(rows.itertuples()):
        if row.role == "baseline":
            text = "unknown" if math.isnan(row.mean) else number_text(row.mean, unit, signed=False)
            axes.plot([0], [position], marker="|", markersize=8, color=style.INK)
            axes.text(high, position, text, fontsize=6.8, va="center", color=style.INK, fontweight="bold")
            continue
        if math.isnan(row.difference):
            axes.text(high, position, "unknown", fontsize=6.8, va="center", color=style.QUIET)
            continue
        colour = COLOURS.get(row.verdict, UNCERTAIN)
        star = {"not_comparable": "*", "same_under_every_seed": "="}.get(row.verdict, "")
        outside = not low <= row.difference <= high
        if not math.isnan(row.difference_low):
            ends = [min(max(end, low), high) for end in (row.difference_low, row.difference_high)]
            axes.plot(ends, [position, position], color=colour, linewidth=1.5, solid_capstyle="butt")
        marker = (">" if row.difference > high else "<") if outside else "D" if row.role == "yardstick" else "o"
        edge = 0.02 * (high - low) if outside else 0
        axes.plot(
            [min(max(row.difference, low + edge), high - edge)], [position], marker=marker, markersize=4.2, color=colour,
            markerfacecolor="white" if row.role == "yardstick" and not outside else colour, markeredgewidth=1,
        )  # fmt: skip
        weight = "bold" if row.verdict in COLOURS else "normal"
        axes.text(high + 0.05 * (high - low), position, number_text(row.difference, unit) + star, fontsize=6.8, va="center",
                  color=style.QUIET if weight == "normal" else colour, fontweight=weight)  # fmt: skip
    axes.set_yticks([])
    ticks = apart(axes, [tick for tick in ticks if low <= tick <= high], unit)
    axes.set_xticks(ticks, [number_text(tick, unit) for tick in ticks], fontsize=TICK_SIZE)
    axes.spines["bottom"].set_bounds(low, high)
    axes.set_title(f"{metric.title}\n", fontsize=7.5, loc="left", fontweight="bold", pad=3)
    axes.text(0, 1, f"{metric.hint}\n", transform=axes.transAxes, fontsize=6.3, color=style.QUIET, va="center")
    style.bare(axes, "bottom")


def draw(rows: pd.DataFrame, title: str, known: Sequence[Metric], seeds: str = "", scenarios: str = "") -> Figure:
    """The picture of one scenario, or of all of these."""
    metrics = list(dict.fromkeys(rows["metric"]))
    policies = list(dict.fromkeys(rows["policy"]))
    roles = dict(zip(rows["policy"], rows["role"]))
    columns = min(COLUMNS, len(metrics))
    bands = math.ceil(len(metrics) / columns)
    rows_in = ROW_IN * len(policies)
    band_in = HEAD_IN + rows_in + AXIS_IN
    width, height = style.WIDTH_IN, TOP_IN + bands * band_in + BOTTOM_IN
    figure = plt.figure(figsize=(width, height))
    panel_in = (width - LEFT_IN - LABEL_IN - RIGHT_IN) / columns
    for index, metric in enumerate(metrics):
        band, column = divmod(index, columns)
        top_in = height - TOP_IN - band * band_in - HEAD_IN
        axes = figure.add_axes(
            ((LEFT_IN + LABEL_IN + column * panel_in) / width, (top_in - rows_in) / height, (panel_in - 0.14) / width,
             rows_in / height)
        )  # fmt: skip
        axes.set_ylim(len(policies) - 0.5, -0.5)
        draw_panel(axes, rows[rows["metric"] == metric], named(known, metric))
        if column == 0:
            for position, policy in enumerate(policies):
                y = (top_in - (position + 0.5) * ROW_IN) / height
                weight = "bold" if roles[policy] == "baseline" else "normal"
                colour = style.QUIET if roles[policy] == "yardstick" else style.INK
                figure.text(LEFT_IN / width, y, style.label(policy, 19), fontsize=7.5, va="center", fontweight=weight,
                            color=colour)  # fmt: skip
    pairs = rows.loc[rows["role"] != "baseline", "pairs"].max()
    few = (rows["verdict"] == "too_few").any()
    bars = "too few for confidence intervals" if few else "bars are confidence intervals"
    candidates = [policy for policy in policies if roles[policy] == "candidate"]
    against = f"{several.names_text(candidates, 'policies', 4)} against {policies[0]}" if candidates else policies[0]
    style.title(figure, ", ".join(part for part in (f"{title}: {against}", seeds) if part))
    pairs_text = style.plural(int(pairs) if pairs == pairs else 0, "pair")
    figure.text(
        0.015, 1 - 0.33 / height, f"differences from {policies[0]}; {pairs_text} under the same seeds; {bars}",
        fontsize=7, va="top", color=style.QUIET,
    )  # fmt: skip
    shown = style.fitted(figure, scenarios, (width - 0.3) * style.DPI, 7)
    figure.text(0.015, 1 - 0.48 / height, shown, fontsize=7, va="top", color=style.QUIET)
    legend = [("better", COLOURS["better"]), ("worse", COLOURS["worse"]), ("no difference shown", UNCERTAIN)]
    x = LEFT_IN
    for text, colour in legend:
        figure.add_artist(Line2D([x / width, (x + 0.22) / width], [0.16 / height] * 2, color=colour, linewidth=1.8))
        figure.text((x + 0.28) / width, 0.16 / height, text, fontsize=7, va="center")
        x += 0.5 + style.text_width_px(figure, text, 7) / style.DPI
    signs = "hollow: yardstick    arrow: beyond the axis"
    if (rows["verdict"] == "not_comparable").any():
        signs += "    *: who lost more launches looks fast"
    if (rows["verdict"] == "same_under_every_seed").any():
        signs += "    =: identical under every seed, no interval"
    figure.text((x + 0.05) / width, 0.16 / height, signs, fontsize=7, va="center", color=style.QUIET)
    return figure
