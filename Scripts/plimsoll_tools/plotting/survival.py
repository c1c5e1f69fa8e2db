"""survival: what `plimsoll survive` found: the curve of stays in the background, the ends, the sizes and devices that were
tried, and what changes of behaviour gain."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import read_experiment

FILES = {
    "survival": ("app", "scenario", "runs", "lived", "survival_ratio", "survival_low", "survival_high", "asked_ratio", "verdict",
                 "footprint_bytes", "ceiling_bytes"),
    "background": ("length_s", "at_risk", "ended", "censored", "survival_ratio", "survival_low", "survival_high"),
    "stays": ("length_s",),
    "ends": ("exit_reason", "foreground", "counter", "beneficiary", "count"),
    "settings": ("kind", "name", "footprint_bytes", "enough", "gain", "gain_low", "gain_high", "runs", "lived"),
}  # fmt: skip
TEXTS = ("app", "scenario", "verdict", "exit_reason", "foreground", "counter", "beneficiary", "kind", "name", "enough")
ENOUGH, LACKING, NEUTRAL = "#009E73", "#D55E00", "#0072B2"
MOST_ENDS = 7
CHANGE_NAMES = {
    "answers-warnings": "answers warnings", "frees-on-the-way": "frees when it leaves", "half-the-cache": "half the cache",
    "saves-state": "saves its state", "no-leak": "no leak",
}  # fmt: skip
Tables = dict[str, pd.DataFrame]


def is_survival(directory: Path) -> bool:
    """Whether its table is there, a folder in its place included: then `read` says so."""
    return (directory / "survival.csv").exists()


def read(directory: Path) -> Tables:
    """Raises ValueError when a file is not what survive writes."""
    tables: Tables = {}
    for name, needs in FILES.items():
        table = read_experiment(directory / f"{name}.csv")
        missing = [column for column in needs if column not in table]
        if missing or (table.empty and name in ("survival", "settings")):
            raise ValueError(f"{directory / name}.csv: {'no column ' + ', '.join(missing) if missing else 'no rows'}")
        for column in needs:
            if column not in TEXTS:
                table[column] = pd.to_numeric(table[column], errors="coerce")
        tables[name] = table
    return tables


def percent(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{whole(value)}%"


def whole(value: float) -> int:
    """A share in whole percent; halves are rounded away from zero, as in the answer's words."""
    return int(math.copysign(math.floor(abs(value) * 100 + 0.5), value))


def draw_curve(axes: Axes, table: pd.DataFrame, stays: pd.Series) -> None:
    """The survival curve with its band, ticks where stays are censored, and the stays at risk below."""
    axes.set_title("how long it stays alive in the background", fontsize=8, loc="left", fontweight="bold")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.grid(axis="y", color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")
    if table.empty:
        axes.text(0.5, 0.5, "it never leaves the screen", ha="center", va="center", transform=axes.transAxes, color=style.QUIET)
        axes.set_xticks([])
        return
    x = table["length_s"].to_numpy()
    axes.fill_between(x, table["survival_low"], table["survival_high"], step="post", color=NEUTRAL, alpha=0.18, linewidth=0)
    axes.plot(x, table["survival_ratio"], drawstyle="steps-post", color=NEUTRAL, linewidth=1.5)
    end = max(float(x[-1]), 1.0)
    small(axes)
    style.time_axis(axes, end)
    axes.set_xlabel(
        f"time since it left the screen ({style.time_unit(end)[0]}); above: the stays that last so long", labelpad=2
    )
    axes.text(
        0.02, 0.16, "band: 95%, from the variance between runs", fontsize=6.3, color=style.QUIET, transform=axes.transAxes
    )
    for moment in axes.get_xticks():
        axes.text(moment, 0.035, f"{int((stays >= moment).sum()):,}", fontsize=6.3, color=style.QUIET,
                  ha="left" if moment == 0 else "right" if moment == end else "center",
                  transform=axes.get_xaxis_transform())  # fmt: skip


def small(axes: Axes) -> None:
    axes.tick_params(labelsize=6.8)
    axes.xaxis.label.set_fontsize(7)


def draw_ends(axes: Axes, table: pd.DataFrame) -> None:
    """A bar per kind of end, the counter of MetricKit in words below its cause."""
    axes.set_title("how it ends, in all runs", fontsize=8, loc="left", fontweight="bold")
    axes.set_yticks([])
    axes.set_xticks([])
    style.bare(axes)
    if table.empty:
        axes.text(0, 0.9, "it is never ended", va="top", transform=axes.transAxes, color=style.QUIET)
        return
    # A kind has a row for each need, whether the other app was being launched or in front; the picture does not tell them apart.
    kinds = table.groupby(["exit_reason", "counter", "beneficiary", "foreground"], sort=False, dropna=False)["count"].sum()
    rows = [(*kind, int(count)) for kind, count in kinds.sort_values(ascending=False, kind="stable").items()]
    if len(rows) > MOST_ENDS:
        rest = sum(row[4] for row in rows[MOST_ENDS - 1 :])
        rows = [*rows[: MOST_ENDS - 1], (f"{len(rows) - MOST_ENDS + 1} other kinds", "", "", "", rest)]
    most = max(row[4] for row in rows)
    axes.set_xlim(0, most)
    axes.set_ylim(MOST_ENDS - 0.4, -0.6)
    for place, (reason, counter, beneficiary, foreground, count) in enumerate(rows):
        colour = style.INK if foreground == "true" else LACKING
        axes.barh([place + 0.22], [count], height=0.16, color=colour)
        cause = f" for {style.label(beneficiary, 14)}" if beneficiary else ""
        short = counter.removeprefix("cumulative").removesuffix("ExitCount") or reason
        side = " in front" if foreground == "true" else ""
        axes.text(0, place - 0.06, f"{count}  {short}{cause}{side}", fontsize=6.8, va="center")


def mark(axes: Axes, x: float, y: float, enough: str) -> None:
    """A disc where the app survives often enough, a cross where it does not, a ring where it seems to."""
    colour = LACKING if enough == "false" else ENOUGH
    shape, inside = ("x", colour) if enough == "false" else ("o", colour if enough else "none")
    axes.plot([x], [y], shape, color=colour, markerfacecolor=inside, markersize=5, markeredgewidth=1.4)


def hint(rows: pd.DataFrame) -> str:
    """What a ring means, if there is one."""
    return " (ring: it seems to)" if (rows["enough"] == "").any() else ""


def draw_strip(axes: Axes, rows: pd.DataFrame, own: float, asked: str) -> None:
    """The footprints that were tried, in a row, each with its mark."""
    axes.set_title(
        f"at which footprint it survives in {asked} of the runs{hint(rows)}", fontsize=8, loc="left", fontweight="bold"
    )
    axes.set_ylim(-1, 1)
    axes.set_yticks([])
    style.bare(axes, "bottom")
    if rows.empty:
        axes.set_xticks([])
        axes.text(0, 0.6, "not searched", va="center", transform=axes.transAxes, color=style.QUIET)
        return
    x = rows["footprint_bytes"].to_numpy()
    margin = 0.04 * (x.max() - x.min() or 1)
    axes.set_xlim(x.min() - margin, x.max() + margin)
    for row in rows.itertuples():
        mark(axes, row.footprint_bytes, 0, row.enough)
    if x.min() - margin <= own <= x.max() + margin:
        axes.plot([own], [0.55], "v", color=style.INK, markersize=4)
        side = "right" if own > x.mean() else "left"
        axes.text(own, 0.85, f"as asked: {style.bytes_text(own)}", fontsize=6.8, ha=side, va="center")
    step = 2.0 ** math.ceil(math.log2(max(x.max(), 1) / style.MIB / 6))
    axes.xaxis.set_major_locator(MultipleLocator(step * style.MIB))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / style.MIB:,.0f}"))
    axes.set_xlabel("footprint alone in front (MiB)", labelpad=2)
    small(axes)


def draw_devices(axes: Axes, rows: pd.DataFrame, asked: str) -> None:
    """The devices that were tried, the one with the least memory first."""
    axes.set_title(f"on which device it survives in {asked} of the runs{hint(rows)}", fontsize=8, loc="left", fontweight="bold")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([])
    style.bare(axes)
    for place, row in enumerate(rows.itertuples()):
        mark(axes, 0.02, place, row.enough)
        memory = style.bytes_text(row.ceiling_bytes)
        axes.text(0.06, place, f"{style.label(row.name, 24)}  ({memory})", fontsize=7, va="center")


def draw_changes(axes: Axes, rows: pd.DataFrame) -> None:
    """What each change gains, with its interval, the largest gain first; of those that gain nothing, the most they can."""
    axes.set_title("what changes of its behaviour gain", fontsize=8, loc="left", fontweight="bold")
    axes.set_yticks([])
    style.bare(axes, "bottom")
    if rows.empty:
        axes.set_xticks([])
        axes.text(0, 0.9, "none was tried", va="top", transform=axes.transAxes, color=style.QUIET)
        return
    rows = rows.sort_values("gain", ascending=False, kind="stable")
    reach = max(0.1, float(rows[["gain", "gain_low", "gain_high"]].abs().max().max()) * 1.08)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(-reach * 2.3, reach * 1.5)
    axes.axvline(0, color=style.QUIET, linewidth=0.7)
    for place, row in enumerate(rows.itertuples()):
        colour = ENOUGH if row.gain_low > 0 else LACKING if row.gain_high < 0 else "#8A8A8A"
        axes.text(-reach * 2.3, place, CHANGE_NAMES.get(row.name, row.name), fontsize=7, va="center")
        if math.isnan(row.gain):
            # Its runs stopped, because it saved the app in none of them.
            axes.plot([0, row.gain_high], [place, place], color=colour, linewidth=1.5, linestyle=":")
            axes.text(reach * 1.08, place, f"<{whole(row.gain_high) + 1}", fontsize=7, va="center", color=colour)
            continue
        axes.plot([row.gain_low, row.gain_high], [place, place], color=colour, linewidth=1.5, solid_capstyle="butt")
        axes.plot([row.gain], [place], "o", color=colour, markersize=4.2)
        axes.text(reach * 1.08, place, f"{whole(row.gain):+d}", fontsize=7, va="center", color=colour)
    axes.set_xticks([tick for tick in (-0.5, -0.25, -0.1, 0, 0.1, 0.25, 0.5) if abs(tick) <= reach])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:+.0f}" if value else "0"))
    axes.spines["bottom"].set_bounds(-reach, reach)
    axes.set_xlabel("percentage points of the runs, and their 95% interval", labelpad=2)
    small(axes)


def gain_text(row: dict[str, Any]) -> str:
    """What a change gains, in percentage points, with its interval; the most it can where its runs stopped early."""
    if math.isnan(row["gain"]):
        return "unknown" if math.isnan(row["gain_high"]) else f"below {whole(row['gain_high']) + 1:+d}"
    return f"{whole(row['gain']):+d} ({whole(row['gain_low']):+d} to {whole(row['gain_high']):+d})"


def headline(answer: pd.Series) -> tuple[str, str]:
    """How often it survives, and how sure that is beside what was asked for."""
    name, runs = style.label(str(answer["app"]), 30), style.plural(int(answer["runs"]), "run")
    interval = f"{percent(float(answer['survival_low']))} to {percent(float(answer['survival_high']))}"
    verdicts = {"yes": "at least", "no": "less than", "open": "perhaps", "absent": "no run has it;"}
    said = f"95% interval {interval}, {verdicts.get(str(answer['verdict']), '')} the {percent(float(answer['asked_ratio']))} asked for"
    return f"{name} survives in {int(answer['lived'])} of {runs}: {percent(float(answer['survival_ratio']))}", said


def draw(tables: Tables) -> Figure:
    """The picture of one answer."""
    answer, settings = tables["survival"].iloc[0], tables["settings"]
    devices = settings[settings["kind"] == "device"].assign(ceiling_bytes=lambda rows: pd.to_numeric(rows["ceiling_bytes"]))
    width, top, upper, gap, lower, bottom = style.WIDTH_IN, 0.62, 2.0, 0.72, 1.05, 0.42
    list_in = 0.2 * len(devices) + (0.5 if len(devices) else 0)
    height = top + upper + gap + lower + bottom + list_in
    figure = plt.figure(figsize=(width, height))

    def place(left: float, wide: float, down: float, high: float) -> Axes:
        return figure.add_axes((left / width, (height - down - high) / height, wide / width, high / height))

    draw_curve(place(0.55, 4.1, top + 0.15, upper - 0.15), tables["background"], tables["stays"]["length_s"])
    draw_ends(place(5.0, 2.85, top + 0.15, upper - 0.15), tables["ends"])
    asked = percent(float(answer["asked_ratio"]))
    below = top + upper + gap
    own = float(answer["footprint_bytes"])
    draw_strip(place(0.55, 4.1, below, 0.5), settings[settings["kind"] == "footprint"], own, asked)
    draw_changes(place(5.0, 2.85, below, lower), settings[settings["kind"] == "change"])
    if len(devices):
        draw_devices(place(0.55, 4.1, below + lower + 0.35, 0.2 * len(devices)), devices, asked)
    title, said = headline(answer)
    style.title(figure, title)
    where = f"scenario {style.label(str(answer['scenario']), 30)}, {style.bytes_text(float(answer['ceiling_bytes']))} of memory"
    figure.text(0.015, 1 - 0.33 / height, f"{said}; {where}", fontsize=7, va="top", color=style.QUIET)
    return figure
