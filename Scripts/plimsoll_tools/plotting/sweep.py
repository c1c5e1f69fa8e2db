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

from plimsoll_tools.plotting import compare, launches, metrics, several, style
from plimsoll_tools.plotting.metrics import Metric
from plimsoll_tools.plotting.run_directory import read_experiment

FILE = "sweep.csv"
MOST_SETTINGS, MOST_LINES = 4, 12
MOST_VALUES, MOST_FIGURES = 12, 8
"""Of a setting of a heat map, and of those that have room for the figures themselves."""
MAP_COLUMNS, MAP_LEFT_IN, MAP_GAP_IN, MAP_HEAD_IN, MAP_ROW_IN = 2, 0.75, 0.3, 0.3, 0.24
MOST_MAPS = 12
NOTE_IN = 0.17
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN, ROW_IN, GAP_IN = 0.85, 0.15, 0.55, 0.5, 1.15, 0.12
# A column is a setting when it stands between these and the columns of a run's summary.
BEFORE, AFTER = "policy_label", "scenario"


def is_sweep(directory: Path) -> bool:
    """Whether its table is there, a folder in its place included: then `read` says so."""
    return (directory / FILE).exists()


def read(directory: Path) -> tuple[pd.DataFrame, list[str], list[Metric]]:
    """The rows, the settings that were varied, and what is shown. Raises ValueError when the file is not what sweep
    writes."""
    table = read_experiment(directory / FILE)
    names = list(table.columns)
    if BEFORE not in names or AFTER not in names or table.empty:
        raise ValueError(f"{directory / FILE}: {'no rows' if BEFORE in names else f'no column {BEFORE}'}")
    settings = names[names.index(BEFORE) + 1 : names.index(AFTER)]
    shown, yardstick = metrics.of_sweep(directory)
    if yardstick:
        table = table[table["policy_label"] != yardstick].reset_index(drop=True)
    for one in shown:
        table[one.name] = pd.to_numeric(table.get(one.name, pd.Series(index=table.index, dtype=str)), errors="coerce")
    return table, settings, shown


def settings_means(table: pd.DataFrame, settings: list[str], known: list[Metric], decider: str) -> pd.DataFrame:
    """A row per setting, with the number of its runs and the mean of each metric; scenarios weigh alike. The best by the
    decider first; of a latency, after them those that lost more launches."""
    names = list(dict.fromkeys(one.name for one in known if one.name in table) | dict.fromkeys([decider] if decider in table else []))
    lost = next((one.leaves_out for one in known if one.name == decider), "")
    names += [lost] if lost in table and lost not in names else []
    policy = table["policy_label"].where(table["policy_label"] != "", table["policy"])
    values = {name: pd.to_numeric(table[name], errors="coerce") for name in names}
    rows = table[[*settings, AFTER]].assign(policy=policy, **values)
    by = rows.groupby(["policy", *settings, AFTER], sort=False)
    means = by[names].mean().groupby(level=list(range(len(settings) + 1)), sort=False).mean().reset_index()
    means["runs"] = rows.groupby(["policy", *settings], sort=False).size().to_numpy()
    if decider not in means:
        return means
    is_higher = metrics.named(known, decider).better == "higher"
    means = means.sort_values(decider, ascending=not is_higher, kind="stable")
    return means.sort_values(lost, key=lambda column: column > column.min(), kind="stable") if lost in means else means


def best_of(means: pd.DataFrame, settings: list[str], known: list[Metric], decider: str) -> str:
    """Between which settings the means of the decider lie, in a sentence, which is no verdict on other seeds."""
    if decider not in means or means[decider].isna().all():
        return f"No setting has {decider}."
    metric = metrics.named(known, decider)
    found = means.dropna(subset=[decider])
    best, worst = (compare.text_of(float(found[decider].iloc[place]), metric.unit) for place in (0, -1))
    if found[decider].nunique() == 1:
        return f"No setting changes the mean of {decider}: it is {best} with each of {len(found)}."

    def said(row: pd.Series) -> str:
        told = [f"{plain(name)} {value_text(row[name], name)}" for name in settings]
        return ", ".join([row["policy"], *told] if means["policy"].nunique() > 1 else told)

    return f"{decider} has its best mean, {best}, with {said(found.iloc[0])}, and its worst, {worst}, with {said(found.iloc[-1])}, in these runs."


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


def draw_panel(axes: Axes, table: pd.DataFrame, setting: str, shown: Metric, groups: list[str]) -> None:
    """A dot per run; where several runs have the same value, a line through their means."""
    metric = shown.name
    where = place(axes, table[setting], setting)
    for index, group in enumerate(groups):
        colour, line = compare.look(index)
        own = (table["group"] == group).to_numpy() & table[metric].notna().to_numpy()
        axes.plot(where[own], table.loc[own, metric], linestyle="none", marker="o", markersize=1.8, alpha=0.45,
                  color=colour, markeredgewidth=0)  # fmt: skip
        means = pd.Series(table.loc[own, metric].to_numpy()).groupby(where[own]).mean()
        if len(means) * 2 <= own.sum():
            axes.plot(means.index, means, color=colour, linestyle=line, linewidth=1.3)
    style.cover(axes, float(table[metric].max()), 4, integer=metric.startswith(("terminations", "launches")))
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    if shown.unit == "ms":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: launches.duration_text(value) if value else "0"))
    elif shown.unit == "1":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    elif shown.unit == "s":
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: launches.seconds_text(value) if value else "0"))
    axes.tick_params(labelsize=6.5)
    style.bare(axes, "left", "bottom")


def varied(table: pd.DataFrame, settings: list[str]) -> list[str]:
    return [name for name in settings if table[name].nunique() > 1][:MOST_SETTINGS]


def groups_of(table: pd.DataFrame) -> pd.Series:
    """What tells the lines apart: the policy, and of several scenarios which it is."""
    several_scenarios = table["scenario_file"].nunique() > 1
    labels = table["policy_label"].where(table["policy_label"] != "", table["policy"])
    return table["scenario"] + ", " + labels if several_scenarios else labels


def split(table: pd.DataFrame, known: list[Metric]) -> tuple[list[Metric], list[str]]:
    """The metrics that differ between runs, and a sentence for each of the others."""
    shown, notes = [], []
    for metric in known:
        values = table[metric.name].dropna()
        if values.nunique() > 1:
            shown.append(metric)
        elif len(values):
            notes.append(f"{metric.title}: {compare.text_of(float(values.iloc[0]), metric.unit)} in every run")
    return shown, notes


def titled(table: pd.DataFrame) -> str:
    columns = [table[name].tolist() if name in table else [] for name in ("scenario", "policy", "seed")]
    text = several.described(*columns)
    return f"{text}: {style.plural(len(table), 'run')}" if text else style.plural(len(table), "run")


def plain(setting: str) -> str:
    """The setting without its unit, which stands at its values."""
    for unit in ("_bytes", "_s", "_ratio"):
        setting = setting.removesuffix(unit)
    return style.label(setting, 44)


def figures(table: pd.DataFrame, settings: list[str], known: list[Metric]) -> list[tuple[str, Figure]]:
    """Name and picture: a heat map per policy and scenario where two settings were varied on a grid, else lines."""
    shown = varied(table, settings)
    table = table.assign(group=groups_of(table)) if shown else table
    if len(shown) == 2 and all(is_grid(rows, shown) for _, rows in table.groupby("group")) and split(table, known)[0]:
        groups = list(dict.fromkeys(table["group"]))[:MOST_MAPS]
        return [
            ("sweep" if len(groups) == 1 else f"sweep-{number}", draw_map(table, shown, known, group))
            for number, group in enumerate(groups, start=1)
        ]
    figure = draw(table, settings, known)
    return [("sweep", figure)] if figure else []


def is_grid(rows: pd.DataFrame, settings: list[str]) -> bool:
    """Whether every value of one setting was run with every value of the other, and all have room."""
    first, second = (rows[name].nunique() for name in settings)
    return bool(max(first, second) <= MOST_VALUES and len(rows[settings].drop_duplicates()) == first * second)


def ascending(column: pd.Series) -> list[str]:
    """The values in their order: numbers by size, words as they came."""
    values = list(dict.fromkeys(column))
    numbers = pd.to_numeric(pd.Series(values), errors="coerce")
    return values if numbers.isna().any() else [values[place] for place in np.argsort(numbers.to_numpy(), kind="stable")]


def value_text(value: str, name: str) -> str:
    number = several.number(value)
    return style.label(value, 14) if number is None else setting_text(number, name)


def draw_map(table: pd.DataFrame, settings: list[str], known: list[Metric], group: str) -> Figure:
    """A map per metric of one group's means; the colours mean the same in the maps of all groups."""
    rows = table[table["group"] == group]
    # The setting with more values lies flat.
    flat, upright = sorted(settings, key=lambda name: -rows[name].nunique())
    shown, notes = split(table, known)
    columns, lines = ascending(rows[flat]), ascending(rows[upright])
    cells_in = MAP_ROW_IN * max(len(lines), 3)
    bands = -(-len(shown) // MAP_COLUMNS)
    width, top_in = style.WIDTH_IN, 0.5
    height = top_in + bands * (cells_in + MAP_HEAD_IN) + 0.42 + NOTE_IN * len(notes)
    figure = plt.figure(figsize=(width, height))
    wide_in = (width - MAP_LEFT_IN - 0.15 - MAP_GAP_IN * (MAP_COLUMNS - 1)) / MAP_COLUMNS
    for index, metric in enumerate(shown):
        band, column = divmod(index, MAP_COLUMNS)
        bottom_in = height - top_in - band * (cells_in + MAP_HEAD_IN) - MAP_HEAD_IN - cells_in + 0.06
        axes = figure.add_axes(
            ((MAP_LEFT_IN + column * (wide_in + MAP_GAP_IN)) / width, bottom_in / height, wide_in / width, cells_in / height)
        )
        means = rows.pivot_table(index=upright, columns=flat, values=metric.name, aggfunc="mean").reindex(index=lines, columns=columns)
        all_means = table.groupby(["group", *settings])[metric.name].mean()
        draw_cells(axes, means, metric, (float(all_means.min()), float(all_means.max())))
        is_lowest = index + MAP_COLUMNS >= len(shown)
        axes.set_xticks(np.arange(len(columns)) + 0.5, [value_text(value, flat) if is_lowest else "" for value in columns])
        axes.set_yticks(np.arange(len(lines)) + 0.5, [value_text(value, upright) if column == 0 else "" for value in lines])
        axes.tick_params(length=0, labelsize=6.5 if len(columns) <= 6 else 5)
        if is_lowest:
            axes.set_xlabel(plain(flat), fontsize=7.5)
    several_groups = table["group"].nunique() > 1
    style.title(figure, titled(rows) if not several_groups or group in titled(rows) else f"{group}: {titled(rows)}")
    runs = len(rows) / max(len(columns) * len(lines), 1)
    text = f"means of {runs:g} runs each; " if runs > 1 else ""
    note = f"upwards {plain(upright)}, to the right {plain(flat)}; {text}the darker, the worse"
    figure.text(0.015, 1 - 0.33 / height, note, fontsize=7, va="top", color=style.QUIET)
    for place, note in enumerate(reversed(notes)):
        figure.text(0.015, (0.05 + NOTE_IN * place) / height, note, fontsize=7, color=style.QUIET)
    return figure


def draw_cells(axes: Axes, means: pd.DataFrame, metric: Metric, ends: tuple[float, float]) -> None:
    """The map of one metric, with the figures where there is room."""
    unit = metric.unit
    low, high = ends
    badness = (means.to_numpy() - low) / max(high - low, 1e-12)
    badness = 1 - badness if metric.better == "higher" else badness
    axes.pcolormesh(0.06 + 0.86 * badness, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=0.8, gid="heat-map")
    if means.shape[1] <= MOST_FIGURES:
        for row, column in np.ndindex(*means.shape):
            value = means.iat[row, column]
            text = "none" if np.isnan(value) else compare.text_of(float(value) if unit else float(f"{value:.3g}"), unit)
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=6 if means.shape[1] <= 6 else 5,
                      color="white" if badness[row, column] > 0.55 else style.INK)  # fmt: skip
    axes.set_title(metric.title, fontsize=7.5, loc="left", fontweight="bold", pad=3)
    axes.text(1, 1, metric.hint, transform=axes.transAxes, fontsize=6.3, color=style.QUIET, ha="right", va="bottom")
    style.bare(axes)


def draw(table: pd.DataFrame, settings: list[str], known: list[Metric]) -> Figure | None:
    """A column per setting, a row per metric that differs; None when nothing was varied."""
    shown = varied(table, settings)
    if not shown or not any(table[one.name].notna().any() for one in known):
        return None
    differing, notes = split(table, known)
    table = table.assign(group=groups_of(table))
    groups = list(dict.fromkeys(table["group"]))
    bottom_in = BOTTOM_IN + NOTE_IN * len(notes)
    width, height = style.WIDTH_IN, TOP_IN + bottom_in + len(differing) * ROW_IN
    figure = plt.figure(figsize=(width, height))
    column_in = (width - LEFT_IN - RIGHT_IN) / len(shown)
    for row, metric in enumerate(differing):
        for column, setting in enumerate(shown):
            axes = figure.add_axes(
                ((LEFT_IN + column * column_in) / width, 1 - (TOP_IN + (row + 1) * ROW_IN - GAP_IN) / height,
                 (column_in - 2 * GAP_IN) / width, (ROW_IN - 2 * GAP_IN) / height)
            )  # fmt: skip
            draw_panel(axes, table, setting, metric, groups[:MOST_LINES])
            axes.set_ylim(figure.axes[row * len(shown)].get_ylim())
            if column == 0:
                axes.set_ylabel(metric.title, fontsize=7.5)
                axes.yaxis.set_label_coords(-0.62 / (column_in - 2 * GAP_IN), 0.5)
            else:
                axes.set_yticklabels([])
            if row + 1 == len(differing):
                axes.set_xlabel(plain(setting), fontsize=7.5)
            else:
                axes.set_xticklabels([])
    for column in range(len(shown)):
        same = figure.axes[column :: len(shown)]
        for axes in same[:-1]:
            axes.set_xlim(same[-1].get_xlim())
    style.title(figure, titled(table))
    for place, note in enumerate(reversed(notes)):
        figure.text(0.015, (0.05 + NOTE_IN * place) / height, note, fontsize=7, color=style.QUIET)
    draw_lines_legend(figure, groups[:MOST_LINES])
    return figure


def draw_lines_legend(figure: Figure, groups: list[str]) -> None:
    width, height = figure.get_size_inches()
    x = LEFT_IN
    for index, group in enumerate(groups):
        colour, line = compare.look(index)
        text = style.label(group, 30)
        wide = 0.5 + style.text_width_px(figure, text, 7) / style.DPI
        if x + wide > width:
            break
        y = 1 - 0.4 / height
        figure.add_artist(Line2D([x / width, (x + 0.25) / width], [y, y], color=colour, linestyle=line, linewidth=1.5))
        figure.text((x + 0.31) / width, y, text, fontsize=7, va="center")
        x += wide
