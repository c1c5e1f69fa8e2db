"""sweep: what `plimsoll sweep` found, metrics against the settings that were varied."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from plimsoll_tools.plotting import compare, launches, several, style
from plimsoll_tools.plotting.run_directory import read_experiment

FILE = "sweep.csv"
METRICS = ("launch_latency_p95_ms", "launches_unfinished", "hot_launch_ratio", "terminations", "terminations_felt",
           "time_critical_s")  # fmt: skip
MOST_SETTINGS, MOST_LINES = 4, 12
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN, ROW_IN, GAP_IN = 0.85, 0.15, 0.55, 0.5, 1.15, 0.12
# A column is a setting when it stands between these and the columns of a run's summary.
BEFORE, AFTER = "policy_label", "scenario"


def is_sweep(directory: Path) -> bool:
    """Whether its table is there, a folder in its place included: then `read` says so."""
    return (directory / FILE).exists()


def read(directory: Path) -> tuple[pd.DataFrame, list[str]]:
    """The rows, and the settings that were varied. Raises ValueError when the file is not what sweep writes."""
    table = read_experiment(directory / FILE)
    names = list(table.columns)
    if BEFORE not in names or AFTER not in names or table.empty:
        raise ValueError(f"{directory / FILE}: {'no rows' if BEFORE in names else f'no column {BEFORE}'}")
    settings = names[names.index(BEFORE) + 1 : names.index(AFTER)]
    for name in METRICS:
        table[name] = pd.to_numeric(table.get(name, pd.Series(index=table.index, dtype=str)), errors="coerce")
    return table, settings


def setting_text(value: float, name: str) -> str:
    if name.endswith("_bytes"):
        return style.exact_bytes_text(value)
    if name.endswith("_s"):
        return launches.seconds_text(value)
    return f"{value:.0%}" if name.endswith("_ratio") else style.number_text(value)


def place(axes: Axes, column: pd.Series, name: str) -> np.ndarray:
    """Where the values are on the axis: at their numbers, or side by side when they are words."""
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().any():
        words = list(dict.fromkeys(column))
        axes.set_xticks(range(len(words)), [style.label(word, 14) for word in words])
        axes.set_xlim(-0.5, len(words) - 0.5)
        return np.array([words.index(word) for word in column], dtype=float)
    if numbers.min() > 0 and numbers.max() / numbers.min() >= 30:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    distinct = np.sort(numbers.unique())
    if len(distinct) <= 12:
        # Ticks stand at values that were run: every one, or every second, third, ...
        axes.set_xticks(distinct[:: -(-len(distinct) // 5)])
    elif axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: setting_text(value, name)))
    places: np.ndarray = numbers.to_numpy()
    return places


def draw_panel(axes: Axes, table: pd.DataFrame, setting: str, metric: str, groups: list[str]) -> None:
    """A dot per run; where several runs have the same value, a line through their means."""
    where = place(axes, table[setting], setting)
    for index, group in enumerate(groups):
        colour, line = compare.look(index)
        own = (table["group"] == group).to_numpy() & table[metric].notna().to_numpy()
        axes.plot(where[own], table.loc[own, metric], linestyle="none", marker="o", markersize=1.8, alpha=0.45,
                  color=colour, markeredgewidth=0)  # fmt: skip
        means = pd.Series(table.loc[own, metric].to_numpy()).groupby(where[own]).mean()
        if len(means) * 2 <= own.sum():
            axes.plot(means.index, means, color=colour, linestyle=line, linewidth=1.3)
    highest = table[metric].max()
    # Room above, so that no line lies on the edge; of counts that are all zero, up to one.
    axes.set_ylim(0, highest * 1.08 if highest > 0 else 1)
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=metric.startswith(("terminations", "launches"))))
    if metric.endswith("_ms"):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: launches.duration_text(value) if value else "0"))
    elif metric.endswith("_ratio"):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    elif metric.endswith("_s"):
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: launches.seconds_text(value) if value else "0"))
    axes.tick_params(labelsize=6.5)
    style.bare(axes, "left", "bottom")


def draw(table: pd.DataFrame, settings: list[str]) -> Figure | None:
    """A column per setting, a row per metric; None when nothing was varied."""
    shown = [name for name in settings if table[name].nunique() > 1][:MOST_SETTINGS]
    metrics = [name for name in METRICS if table[name].notna().any()]
    if not shown or not metrics:
        return None
    several_scenarios = table["scenario_file"].nunique() > 1
    labels = table["policy_label"].where(table["policy_label"] != "", table["policy"])
    table["group"] = table["scenario"] + ", " + labels if several_scenarios else labels
    groups = list(dict.fromkeys(table["group"]))
    width, height = style.WIDTH_IN, TOP_IN + BOTTOM_IN + len(metrics) * ROW_IN
    figure = plt.figure(figsize=(width, height))
    column_in = (width - LEFT_IN - RIGHT_IN) / len(shown)
    titles = {key: title for key, title, _, _ in several.METRICS}
    for row, metric in enumerate(metrics):
        for column, setting in enumerate(shown):
            axes = figure.add_axes(
                ((LEFT_IN + column * column_in) / width, 1 - (TOP_IN + (row + 1) * ROW_IN - GAP_IN) / height,
                 (column_in - 2 * GAP_IN) / width, (ROW_IN - 2 * GAP_IN) / height)
            )  # fmt: skip
            draw_panel(axes, table, setting, metric, groups[:MOST_LINES])
            axes.set_ylim(figure.axes[row * len(shown)].get_ylim())
            if column == 0:
                axes.set_ylabel(titles[metric], fontsize=7.5)
                axes.yaxis.set_label_coords(-0.62 / (column_in - 2 * GAP_IN), 0.5)
            else:
                axes.set_yticklabels([])
            if row + 1 == len(metrics):
                axes.set_xlabel(style.label(setting, 40), fontsize=7.5)
            else:
                axes.set_xticklabels([])
    for column in range(len(shown)):
        same = figure.axes[column :: len(shown)]
        for axes in same[:-1]:
            axes.set_xlim(same[-1].get_xlim())
    figure.text(0.018, 1 - 0.12 / height, style.plural(len(table), "run"), fontsize=9, fontweight="bold", va="top")
    x = LEFT_IN
    for index, group in enumerate(groups[:MOST_LINES]):
        colour, line = compare.look(index)
        text = style.label(group, 30)
        wide = 0.5 + style.text_width_px(figure, text, 7) / style.DPI
        if x + wide > width:
            break
        y = 1 - 0.4 / height
        figure.add_artist(Line2D([x / width, (x + 0.25) / width], [y, y], color=colour, linestyle=line, linewidth=1.5))
        figure.text((x + 0.31) / width, y, text, fontsize=7, va="center")
        x += wide
    return figure
