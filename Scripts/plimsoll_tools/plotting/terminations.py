"""terminations: by cause and band, footprint against idle time at each kill, and how long after a warning it came."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from plimsoll_tools.plotting import kills, style
from plimsoll_tools.plotting.run_directory import Run

NEEDS = ("events.event", "events.pid", "events.exit_reason", "apps.pid", "apps.band", "apps.footprint_bytes")

MOST_CAUSES = 8
MOST_BANDS = 6
LEFT_IN, RIGHT_IN, TOP_IN = 0.75, 0.22, 0.62
LEGEND_COLUMNS, LEGEND_ROW_IN = 6, 0.17
ROW_IN, SCATTER_IN = 0.36, 2.5
FLOOR_S = 0.1
"""Shorter times are drawn here: a logarithm has no zero."""

BAND_COLOURS = ("#D3D7DB", "#56B4E9", "#E69F00", "#009E73", "#882255", "#222222")
"""From the least important band to the most important: light to dark."""
BAND_MARKS = ("o", "s", "^", "D", "v", "X")

BAND_NAMES = {
    0: "idle", 10: "ageing daemon", 20: "ageing", 30: "background", 40: "active background", 75: "freezer",
    80: "UI support", 90: "foreground support", 100: "foreground", 120: "audio",
}  # fmt: skip


def band_name(band: str) -> str:
    try:
        number = int(float(band))
    except ValueError:
        return "unknown"
    return f"{number} {BAND_NAMES[number]}" if number in BAND_NAMES else str(number)


def bands_of(table: pd.DataFrame) -> list[str]:
    """The bands that occur, ascending, the unknown last; what is too many is one: `other`."""

    def rank(band: str) -> float:
        try:
            return float(band)
        except ValueError:
            return np.inf

    return sorted(table["band"].unique(), key=rank)


FOUND_NO_ROOM = "found no room"
"""So ends the name of every cause that is a want of memory."""


LIMITS = {"background_processes": "background processes", "background_memory": "memory off screen"}
"""Demands that are about a limit, and what is limited."""


def cause_of(cause: str, want: str = "", demand: str = "") -> str:
    """The cause in the tables' words, and what the policy was asked for where that was no level.

    The end of an app because an allocation found no room is a cause of its own, whether it was its own or another's.
    """
    if want == kills.OWN:
        return f"{cause}: its own allocation {FOUND_NO_ROOM}"
    if want == kills.ANOTHER:
        return f"{cause}, for an allocation that {FOUND_NO_ROOM}"
    return f"{cause}, for the limit of {LIMITS[demand]}" if demand in LIMITS else cause


def causes_of(table: pd.DataFrame) -> pd.DataFrame:
    """Counts: a row per cause, the most frequent first, a column per band."""
    causes = [cause_of(*row) for row in table[["cause", "want", "demand"]].itertuples(index=False)]
    counts = pd.crosstab(pd.Series(causes, name="cause"), table["band"].reset_index(drop=True))
    counts = counts.loc[counts.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    if len(counts) > MOST_CAUSES:
        rest = counts.iloc[MOST_CAUSES - 1 :].sum().rename(f"{len(counts) - MOST_CAUSES + 1} further causes")
        counts = pd.concat([counts.iloc[: MOST_CAUSES - 1], rest.to_frame().T])
    return counts


def look_of(bands: list[str]) -> dict[str, tuple[str, str]]:
    """Band -> colour and mark."""
    places = np.linspace(0, len(BAND_COLOURS) - 1, len(bands)).round().astype(int) if len(bands) > 1 else [1]
    if len(bands) > MOST_BANDS:
        places = [min(index, MOST_BANDS - 1) for index in range(len(bands))]
    return {band: (BAND_COLOURS[place], BAND_MARKS[place]) for band, place in zip(bands, places)}


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_causes(axes: Axes, counts: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    """A bar per cause, its name above it: names are long, and nothing else needs the width.

    Names of the want of memory have its colour; that of a bar is the band's.
    """
    left = np.zeros(len(counts))
    rows = np.arange(len(counts))
    for band, (colour, _) in looks.items():
        if band not in counts:
            continue
        values = counts[band].to_numpy()
        axes.barh(rows + 0.2, values, left=left, height=0.42, color=colour, edgecolor=style.QUIET, linewidth=0.4)
        left += values
    total = counts.to_numpy().sum()
    for row, (cause, count) in enumerate(zip(counts.index, left)):
        colour = style.WANT_COLOUR if cause.endswith(FOUND_NO_ROOM) else style.INK
        axes.text(0, row - 0.28, style.label(cause, 110), fontsize=7.5, va="center", color=colour)
        axes.annotate(
            f"{count:,.0f}  ({count / total:.0%})", (count, row + 0.2), xytext=(4, 0), textcoords="offset points",
            fontsize=7.5, va="center",
        )  # fmt: skip
    axes.set_ylim(len(counts) - 0.45, -0.62)
    axes.set_xlim(0, max(left.max() * 1.12, 1))
    axes.set_axis_off()


def log_time_axis(axes: Axes, times_s: np.ndarray, label: str) -> None:
    """From the round time below the shortest to beyond the longest; two decades at least."""
    highest_s = max(float(np.max(times_s)), 10.0)
    lowest_s = 10.0 ** np.floor(np.log10(max(float(np.min(times_s)), FLOOR_S)))
    lowest_s = max(min(lowest_s, highest_s / 100), FLOOR_S)
    axes.set_xscale("log")
    axes.set_xlim(lowest_s * 0.8, highest_s * 1.5)
    ticks = {0.1: "≤ 0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36000: "10 h"}
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if lowest_s * 0.8 <= tick <= highest_s * 1.5]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ticks.get(round(value, 6), f"{value:g} s")))
    axes.set_xlabel(label)


def panel(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, loc="left", fontweight="bold", pad=7)
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")


def say(axes: Axes, text: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=8, color=style.QUIET)


def edge(wanting: bool) -> dict[str, Any]:
    """Of a mark: whether it stands for a want of memory."""
    colour, width, size = (style.WANT_COLOUR, 1.1, 5.8) if wanting else (style.INK, 0.5, 5.0)
    return {"markeredgecolor": colour, "markeredgewidth": width, "markersize": size}


def draw_sizes(axes: Axes, table: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    panel(axes, "footprint against time off screen")
    known = table.dropna(subset=["footprint_bytes", "idle_s"])
    if known.empty:
        return say(axes, "no footprint is known")
    is_want = known["want"] != ""
    for (band, (colour, mark)), wanting in itertools.product(looks.items(), (False, True)):
        shown = known[(known["band"] == band) & (is_want == wanting)]
        if len(shown):
            axes.plot(
                shown["idle_s"].clip(lower=FLOOR_S), shown["footprint_bytes"], linestyle="none", marker=mark,
                markerfacecolor=colour, alpha=0.85, clip_on=False, **edge(wanting),
            )  # fmt: skip
    log_time_axis(axes, known["idle_s"].to_numpy(), "off screen before it was ended")
    top = float(known["footprint_bytes"].max())
    style.memory_axis(axes, max(top, style.MIB))
    axes.set_ylim(0, max(top * 1.1, style.MIB))
    axes.set_ylabel(axes.get_ylabel().replace("memory", "footprint"))


def draw_leads(axes: Axes, table: pd.DataFrame) -> None:
    leads = np.sort(table["lead_s"].dropna().to_numpy())
    panel(axes, f"warning to kill: {len(leads):,} of {len(table):,} were warned")
    if len(leads) == 0:
        return say(axes, "none of them was ever warned")
    drawn = np.maximum(leads, FLOOR_S)
    shares = np.arange(1, len(leads) + 1) / len(table)
    axes.step(np.append(drawn[0], drawn), np.append(0.0, shares), where="post", color="#0072B2", linewidth=1.6)
    axes.plot(drawn[-1], shares[-1], marker="o", color="#0072B2", markersize=4)
    log_time_axis(axes, leads, "from its last warning to its end")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel("share of terminations")


def draw(run: Run) -> Figure | None:
    """The picture; without a termination it says so. None when there are no events."""
    if "events" in run.missing:
        return None
    table = kills.kills_of(run)
    title = f"Terminations of {style.label(run.title, 80)}"
    if crashed := len(kills.crashes(run)):
        title += f"; {crashed:,} more {'app' if crashed == 1 else 'apps'} crashed"
    if table.empty:
        figure = plt.figure(figsize=(style.WIDTH_IN, 1.3))
        figure.text(0.015, 1 - 0.12 / 1.3, title, fontsize=9, fontweight="bold", va="top")
        figure.text(0.5, 0.4, "nobody was ended by the system", ha="center", fontsize=11, color=style.QUIET)
        return figure

    looks, counts = look_of(bands_of(table)), causes_of(table)
    bars_in, bottom_in, gap_in = ROW_IN * len(counts), 0.46, 0.5
    is_wanting = bool((table["want"] != "").any())
    legend_rows = -(-(len(looks) + is_wanting) // LEGEND_COLUMNS)
    height_in = TOP_IN + LEGEND_ROW_IN * (legend_rows - 1) + bars_in + gap_in + SCATTER_IN + bottom_in
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    width = style.WIDTH_IN

    def place(left_in: float, bottom: float, width_in: float, tall_in: float) -> Axes:
        return figure.add_axes((left_in / width, bottom / height_in, width_in / width, tall_in / height_in))

    draw_causes(place(0.15, bottom_in + SCATTER_IN + gap_in, width - 0.3, bars_in), counts, looks)
    half = (width - LEFT_IN - RIGHT_IN - 0.85) / 2
    draw_sizes(place(LEFT_IN, bottom_in, half, SCATTER_IN), table, looks)
    draw_leads(place(LEFT_IN + half + 0.85, bottom_in, half, SCATTER_IN), table)

    figure.text(0.015, 1 - 0.12 / height_in, title, fontsize=9, fontweight="bold", va="top")
    figure.text(0.015, 1 - 0.33 / height_in, "band", fontsize=7.5, va="top")
    handles = [
        Line2D(
            [], [], linestyle="none", marker=mark, markerfacecolor=colour, label=band_name(band),
            **(edge(False) | {"markersize": 5.5}),
        )
        for band, (colour, mark) in looks.items()
    ]  # fmt: skip
    if is_wanting:
        label = f"an allocation {FOUND_NO_ROOM}"
        handles.append(Line2D([], [], linestyle="none", marker="o", markerfacecolor="none", label=label, **edge(True)))
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.055, 1 - 0.3 / height_in), ncols=LEGEND_COLUMNS, borderaxespad=0,
        handletextpad=0.2, columnspacing=1.2, borderpad=0.2,
    )  # fmt: skip
    return figure
