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

from plimsoll_tools.plotting import compare, conclusion, launches, several, style
from plimsoll_tools.plotting.metrics import Metric, named
from plimsoll_tools.plotting.run_directory import read_experiment

FILE = "comparison.csv"
NEEDS = ("scope", "scenario", "policy", "role", "metric", "sense", "mean", "pairs", "difference", "difference_low",
         "difference_high", "verdict")  # fmt: skip
NUMBERS = ("mean", "pairs", "difference", "difference_low", "difference_high")

COLUMNS = 4
LEFT_IN, LABEL_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.15, 1.25, 0.12, 0.56, 0.42
ROW_IN, HEAD_IN, AXIS_IN, LINE_IN = 0.23, 0.34, 0.3, 0.17
COLOURS = {"better": "#009E73", "worse": "#D55E00", "higher": "#0072B2", "lower": "#0072B2"}
UNCERTAIN = "#555555"
TICK_SIZE = 5.8
DOT_PT = 7.0
MOST_HEADLINES = 3
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


def seed_list(directory: Path) -> list[str]:
    """Which seeds were run, as the table of the runs beside it says; empty without that."""
    try:
        return list(dict.fromkeys(read_experiment(directory / "runs.csv").get("seed", pd.Series(dtype=str))))
    except ValueError:
        return []


def seeds(directory: Path) -> str:
    """The seeds in words."""
    return several.seeds_text(seed_list(directory))


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
    beside = high + 0.05 * (high - low)
    axes.hlines(range(len(rows)), low, high, color=style.RULE, linewidth=0.7, zorder=0.5)
    for position, row in enumerate(rows.itertuples()):
        if row.role == "baseline":
            text = "unknown" if math.isnan(row.mean) else number_text(row.mean, unit, signed=False)
            axes.plot([0], [position], marker="|", markersize=8, color=style.INK)
            axes.text(beside, position, text, fontsize=6.8, va="center", color=style.INK, fontweight="bold")
            continue
        if math.isnan(row.difference):
            axes.text(beside, position, "unknown", fontsize=6.8, va="center", color=style.QUIET)
            continue
        is_yardstick = row.role == "yardstick"
        colour = compare.YARDSTICK_COLOUR if is_yardstick else COLOURS.get(row.verdict, UNCERTAIN)
        star = {"not_comparable": "*", "same_under_every_seed": "="}.get(row.verdict, "")
        outside = not low <= row.difference <= high
        if not math.isnan(row.difference_low):
            ends = [min(max(end, low), high) for end in (row.difference_low, row.difference_high)]
            axes.plot(ends, [position, position], color=colour, linewidth=2.2, solid_capstyle="butt")
        marker = (">" if row.difference > high else "<") if outside else "o"
        edge = 0.02 * (high - low) if outside else 0
        is_shown = is_yardstick or outside or row.verdict in COLOURS
        axes.plot(
            [min(max(row.difference, low + edge), high - edge)], [position], marker=marker, markersize=DOT_PT - outside * 1.5,
            color=colour, markerfacecolor=colour if is_shown else "white", markeredgewidth=1.3, clip_on=False, zorder=3,
        )  # fmt: skip
        weight = "bold" if row.verdict in COLOURS and not is_yardstick else "normal"
        axes.text(beside, position, number_text(row.difference, unit) + star, fontsize=6.8, va="center",
                  color=style.QUIET if weight == "normal" else colour, fontweight=weight)  # fmt: skip
    axes.set_yticks([])
    ticks = apart(axes, [tick for tick in ticks if low <= tick <= high], unit)
    axes.set_xticks(ticks, [number_text(tick, unit) for tick in ticks], fontsize=TICK_SIZE)
    axes.spines["bottom"].set_bounds(low, high)
    axes.set_title(f"{metric.title}\n", fontsize=7.5, loc="left", fontweight="bold", pad=3)
    axes.text(0, 1, f"{metric.hint}\n", transform=axes.transAxes, fontsize=6.3, color=style.QUIET, va="center")
    style.bare(axes, "bottom")


def headline(figure: Figure, rows: pd.DataFrame, known: Sequence[Metric]) -> list[str]:
    """What is shown of each policy, in lines that fit; of no policy beside the baseline, its name."""
    baseline, candidates = conclusion.sides(rows)
    if not candidates:
        return [f"{baseline} and the yardsticks"]
    lines: list[str] = []
    for text in conclusion.headlines(rows, known)[:MOST_HEADLINES]:
        is_wide = style.text_width_px(figure, text, 9, "bold") > (style.WIDTH_IN - 0.25) * style.DPI
        parts = text.split("; ", 1) if is_wide else [text]
        lines += [part + ";" for part in parts[:-1]] + parts[-1:]
    left = len(candidates) - MOST_HEADLINES
    return lines + ([f"and {left} more {'policy' if left == 1 else 'policies'}"] if left > 0 else [])


def draw(rows: pd.DataFrame, title: str, known: Sequence[Metric], seeds: str = "", scenarios: str = "") -> Figure:
    """The picture of one scenario, or of all of these."""
    metrics = list(dict.fromkeys(rows["metric"]))
    policies = list(dict.fromkeys(rows["policy"]))
    roles = dict(zip(rows["policy"], rows["role"]))
    columns = min(COLUMNS, len(metrics))
    bands = math.ceil(len(metrics) / columns)
    rows_in = ROW_IN * len(policies)
    band_in = HEAD_IN + rows_in + AXIS_IN
    figure = plt.figure()
    shown = headline(figure, rows, known)
    top_of_panels_in = TOP_IN + LINE_IN * len(shown)
    width, height = style.WIDTH_IN, top_of_panels_in + bands * band_in + BOTTOM_IN
    figure.set_size_inches(width, height)
    panel_in = (width - LEFT_IN - LABEL_IN - RIGHT_IN) / columns
    for index, metric in enumerate(metrics):
        band, column = divmod(index, columns)
        top_in = height - top_of_panels_in - band * band_in - HEAD_IN
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
    for line, text in enumerate(shown):
        said = style.fitted(figure, text, (width - 0.25) * style.DPI, 9, "bold")
        figure.text(0.015, 1 - (0.12 + line * LINE_IN) / height, said, fontsize=9, fontweight="bold", va="top")
    pairs_text = style.plural(int(pairs) if pairs == pairs else 0, "pair")
    below_in = 0.16 + LINE_IN * len(shown)
    told = [
        "; ".join(filter(None, (title, seeds, scenarios))),
        f"differences from {policies[0]}; {pairs_text} under the same seeds; {bars}",
    ]
    for line, text in enumerate(told):
        said = style.fitted(figure, text, (width - 0.3) * style.DPI, 7)
        figure.text(0.015, 1 - (below_in + 0.15 * line) / height, said, fontsize=7, va="top", color=style.QUIET)
    draw_legend(figure, rows)
    return figure


def draw_legend(figure: Figure, rows: pd.DataFrame) -> None:
    """What the colours and signs mean, in a line at the bottom."""
    width, height = figure.get_size_inches()
    legend = [("better", COLOURS["better"], True), ("worse", COLOURS["worse"], True), ("no difference shown", UNCERTAIN, False)]
    if (rows["role"] == "yardstick").any():
        legend.append(("yardstick", compare.YARDSTICK_COLOUR, True))
    x = LEFT_IN
    for text, colour, is_filled in legend:
        figure.add_artist(Line2D([(x + 0.06) / width], [0.16 / height], linestyle="none", marker="o", markersize=DOT_PT,
                                 color=colour, markerfacecolor=colour if is_filled else "white", markeredgewidth=1.3))  # fmt: skip
        figure.text((x + 0.16) / width, 0.16 / height, text, fontsize=7, va="center")
        x += 0.34 + style.text_width_px(figure, text, 7) / style.DPI
    signs = "arrow: beyond the axis"
    if (rows["verdict"] == "not_comparable").any():
        signs += "    *: lost more launches"
    if (rows["verdict"] == "same_under_every_seed").any():
        signs += "    =: same under every seed"
    figure.text((x + 0.05) / width, 0.16 / height, signs, fontsize=7, va="center", color=style.QUIET)
