"""terminations: who was ended, why, for whose demand and at what price for the user; size, idle time and warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import kills, memory, style
from plimsoll_tools.plotting.run_directory import Run
from plimsoll_tools.quantities import span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = ("events.event", "events.exit_reason", *(f"terminations.{name}" for name in (
    "time_s", "app", "band", "exit_reason", "cause", "demand", "measure", "observed", "threshold", "beneficiary",
    "need", "taken_bytes", "footprint_bytes", "idle_s", "warned_s", "was_foreground", "was_perceived", "wanted_after_s",
)))  # fmt: skip

MOST_LINES = 30
"""Of the story. More ends than that are told by app and cause."""
MOST_BANDS = 6
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.75, 0.22, 0.56, 0.46
LEGEND_COLUMNS, LEGEND_ROW_IN = 6, 0.17
ROW_IN, NOTE_IN, PANEL_TITLE_IN, SCATTER_IN = 0.165, 0.18, 0.32, 2.3
LINE_PT, NAMED_PT = 6.6, 5.8
MARK: dict[str, Any] = {"linestyle": "none", "markersize": 5.0, "markeredgecolor": style.INK, "markeredgewidth": 0.5}
RING: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 9, "markerfacecolor": "none",
                        "markeredgecolor": style.INK, "markeredgewidth": 1.1}  # fmt: skip
FLOOR_S = 0.1
"""Shorter times are drawn here: a logarithm has no zero."""

BAND_COLOURS = ("#D3D7DB", "#56B4E9", "#E69F00", "#009E73", "#882255", "#222222")
"""From the least important band to the most important: light to dark."""
BAND_MARKS = ("o", "s", "^", "D", "v", "p")

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


def cause_of(cause: str, want: str = "", demand: str = "") -> str:
    """The cause in the tables' words, and what the policy was asked for where that was no level.

    The end of an app because an allocation found no room is a cause of its own, whether it was its own or another's.
    """
    if want == kills.OWN:
        return f"{cause}: its own allocation {FOUND_NO_ROOM}"
    if want == kills.ANOTHER:
        return f"{cause}, for an allocation that {FOUND_NO_ROOM}"
    return f"{cause}, for the limit of {kills.LIMITS[demand]}" if demand in kills.LIMITS else cause


# --- The story ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One line of the story: an end, or where there are too many the ends of one app for one cause."""

    when: str
    kind: str
    app: str
    held: str
    idle: str
    warned: str
    why: str
    is_want: bool
    beneficiary: str
    """Another app, if it was for one."""
    gain: str
    """Whom it was for, and how much that took."""
    user: str


BY_REASON = {
    "appWatchdog": "took too long (watchdog)",
    "cpuResourceLimit": "used too much CPU off screen",
    "backgroundTaskAssertionTimeout": "background task not over in time",
    "suspendedWithLockedFile": "suspended while it locked a file",
}


def level_at(levels: list[tuple[float, float, str]], time_s: float) -> str:
    """The level at this moment; empty before the first sample."""
    return next((level for start, _, level in reversed(levels) if start <= time_s + 1e-6), "")


def why_of(row: Any, levels: list[tuple[float, float, str]]) -> str:
    """Why it was ended, without figures, so that ends for one cause have one text; the kernel's word follows where it says
    more."""
    if row.want == kills.OWN:
        text = f"its own allocation {FOUND_NO_ROOM}"
    elif row.want == kills.ANOTHER:
        text = f"an allocation {FOUND_NO_ROOM}"
    elif row.demand == "background_memory":
        text = "too much memory off screen"
    elif row.demand == "background_processes":
        text = "too many background processes"
    elif row.exit_reason == "memoryResourceLimit":
        text = "over its own limit"
    elif row.demand == "pressure":
        level = level_at(levels, row.time_s)
        text = f"level {level}" if level else "for the monitor's level"
    else:
        return BY_REASON.get(row.cause, str(row.cause))
    return text if row.cause in (row.exit_reason, "jettisoned", "per-process-limit") else f"{text} ({row.cause})"


def size_text(count: float) -> str:
    return "?" if math.isnan(count) else style.bytes_text(count)


def user_text(row: Any) -> str:
    """What the user has of it."""
    if row.felt == kills.SEEN:
        return "saw it vanish"
    if row.felt:
        # What is seen of an app off screen, as a film in a corner, is missed without being wanted.
        return "misses it" if math.isinf(row.wanted_after_s) else f"wants it in {span_text(row.wanted_after_s, is_short=True)}"
    return "" if row.mark == style.ENDED else "does not miss it"


def line_of(row: Any, levels: list[tuple[float, float, str]], end_s: float) -> Line:
    taken = "" if math.isnan(row.taken_bytes) else f" +{size_text(row.taken_bytes)}"
    is_own = row.beneficiary == row.app
    never = "" if row.mark == style.ENDED else "never"
    return Line(
        style.moment_text(row.time_s, end_s), row.mark, row.app, size_text(row.footprint_bytes),
        "on screen" if row.idle_s == 0 else span_text(row.idle_s, is_short=True),
        never if math.isnan(row.warned_s) else span_text(row.warned_s, is_short=True), row.in_short or why_of(row, levels), row.want != "",
        "" if is_own else row.beneficiary,
        "itself" if is_own else f"{style.label(row.beneficiary, 14)}{taken}" if row.beneficiary else "", user_text(row),
    )  # fmt: skip


def line_of_several(rows: pd.DataFrame, levels: list[tuple[float, float, str]]) -> Line:
    """The ends of one app for one cause."""
    first, felt = next(rows.itertuples(index=False)), int((rows["felt"] != "").sum())
    held, idle = (float(rows[name].dropna().median()) for name in ("footprint_bytes", "idle_s"))
    idle_text = span_text(idle, is_short=True)
    warned = f"{rows['warned_s'].notna().sum()} of {len(rows)}" if is_known(rows) else ""
    apps = rows.loc[rows["beneficiary"] != "", "beneficiary"].value_counts(sort=True)
    beneficiary = "" if apps.empty else str(apps.index[0])
    others = f" and {len(apps) - 1} more" if len(apps) > 1 else ""
    is_own = beneficiary == first.app
    return Line(
        f"{len(rows):,} ends" if len(rows) > 1 else "1 end", style.FELT if felt else first.mark, first.app,
        f"~ {size_text(held)}", "on screen" if idle == 0 else idle_text and f"~ {idle_text}", warned,
        why_of(first, levels), first.want != "", "" if is_own else beneficiary,
        "itself" if is_own else f"{style.label(beneficiary, 12)}{others}" if beneficiary else "",
        f"misses {felt} of {len(rows)}" if felt else user_text(first),
    )  # fmt: skip


def story_of(table: pd.DataFrame, levels: list[tuple[float, float, str]], end_s: float) -> tuple[list[Line], list[str]]:
    """A line per end or, where there are too many of these, per app and cause; and the apps for which no line is left."""
    if len(table) <= MOST_LINES:
        return [line_of(row, levels, end_s) for row in table.itertuples(index=False)], []
    why = [why_of(row, levels) for row in table.itertuples(index=False)]
    groups = [group for _, group in table.assign(plain=why).groupby(["app", "plain"], sort=False)]
    groups.sort(key=lambda group: (-(group["felt"] != "").sum(), -len(group)))
    lines = [line_of_several(group, levels) for group in groups[:MOST_LINES]]
    left: dict[str, int] = {}
    for group in groups[MOST_LINES:]:
        left[group["app"].iloc[0]] = left.get(group["app"].iloc[0], 0) + len(group)
    return lines, [f"{style.label(app)} {count}" for app, count in left.items()]


def look_of(bands: list[str]) -> dict[str, tuple[str, str]]:
    """Band -> colour and mark."""
    places = np.linspace(0, len(BAND_COLOURS) - 1, len(bands)).round().astype(int) if len(bands) > 1 else [1]
    if len(bands) > MOST_BANDS:
        places = [min(index, MOST_BANDS - 1) for index in range(len(bands))]
    return {band: (BAND_COLOURS[place], BAND_MARKS[place]) for band, place in zip(bands, places)}


# --- Drawing ------------------------------------------------------------------------------------------------------------


COLUMNS_IN = {"when": 0.58, "mark": 0.7, "app": 0.81, "held": 2.26, "idle": 2.92, "warned": 3.66, "why": 3.74, "for": 5.62,
              "user": 6.66}  # fmt: skip
"""Where the columns of the story begin, or end, as those of figures do."""
HEADS = {"when": "at", "app": "ended", "held": "held", "idle": "off screen", "warned": "warned before", "why": "because",
         "for": "room for", "user": "the user"}  # fmt: skip


def draw_story(axes: Axes, lines: list[Line], colours: dict[str, str]) -> None:
    """A table in inches: who was ended, why, for whose demand, and what the user has of it."""
    from matplotlib.patches import Rectangle

    figure = axes.figure
    axes.set_axis_off()
    axes.set_xlim(0, style.WIDTH_IN)
    axes.set_ylim(ROW_IN * (len(lines) + 1), 0)

    def write(x_in: float, row: float, text: str, right: bool = False, **look: Any) -> None:
        axes.text(x_in, ROW_IN * row, text, ha="right" if right else "left", va="center", **({"fontsize": LINE_PT} | look))

    def chip(x_in: float, row: float, app: str) -> None:
        axes.add_patch(Rectangle((x_in, ROW_IN * row - 0.045), 0.09, 0.09, facecolor=colours.get(app, style.OTHER_COLOUR),
                                 edgecolor=style.QUIET, linewidth=0.3))  # fmt: skip

    is_any_for = any(line.gain for line in lines)
    for name, head in HEADS.items():
        if name != "for" or is_any_for:
            write(COLUMNS_IN[name], 0.5, head, name in ("when", "held", "idle", "warned"), color=style.QUIET)
    for place, line in enumerate(lines, start=1):
        row, is_felt = place + 0.5, line.kind == style.FELT
        if place % 2:
            axes.axhspan(ROW_IN * place, ROW_IN * (place + 1), color="#F5F6F7", linewidth=0, zorder=0)
        weight = "bold" if is_felt else "normal"
        write(COLUMNS_IN["when"], row, line.when, True)
        chip(COLUMNS_IN["app"], row, line.app)
        write(COLUMNS_IN["app"] + 0.14, row, style.fitted(figure, line.app, 0.74 * style.DPI, LINE_PT, weight), fontweight=weight)
        for name, text in (("held", line.held), ("idle", line.idle), ("warned", line.warned)):
            write(COLUMNS_IN[name], row, text, True)
        wide_px = (COLUMNS_IN["for"] - COLUMNS_IN["why"] - 0.08) * style.DPI
        why = style.fitted(figure, line.why, wide_px, LINE_PT)
        write(COLUMNS_IN["why"], row, why, color=style.WANT_COLOUR if line.is_want else style.INK)
        if line.beneficiary:
            chip(COLUMNS_IN["for"], row, line.beneficiary)
        wide_px = (COLUMNS_IN["user"] - COLUMNS_IN["for"] - 0.18) * style.DPI
        left_in = COLUMNS_IN["for"] + (0.13 if line.beneficiary else 0)
        write(left_in, row, style.fitted(figure, line.gain, wide_px, LINE_PT))
        write(COLUMNS_IN["user"], row, line.user, fontweight=weight, color=style.INK if is_felt else style.QUIET)
    for kind in style.END_LOOKS:
        at = [(COLUMNS_IN["mark"], ROW_IN * (place + 1.5)) for place, line in enumerate(lines) if line.kind == kind]
        style.mark_ends(axes, at, kind)


LOG_TICKS = {0.1: "≤ 0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36000: "10 h", 360000: "100 h"}


def log_time_axis(axes: Axes, times_s: np.ndarray, label: str) -> None:
    """From the round time below the shortest to the one above the longest; two decades at least."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    longest_s = max(float(np.max(times_s)), 10.0)
    highest_s = next((tick for tick in LOG_TICKS if tick >= longest_s), longest_s)
    lowest_s = 10.0 ** np.floor(np.log10(max(float(np.min(times_s)), FLOOR_S)))
    lowest_s = max(min(lowest_s, highest_s / 100), FLOOR_S)
    axes.set_xscale("log")
    axes.set_xlim(lowest_s * 0.8, highest_s * 1.15)
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in LOG_TICKS if lowest_s * 0.8 <= tick <= highest_s * 1.15]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: LOG_TICKS.get(round(value, 6), f"{value:g} s")))
    axes.set_xlabel(label)


def panel(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, loc="left", fontweight="bold", pad=7)
    axes.grid(color=style.RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    style.bare(axes, "left", "bottom")


def draw_sizes(axes: Axes, table: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    """Each end by what it freed and how long it was unused, with its name where there is room; the felt ones ringed."""
    panel(axes, "footprint against time off screen")
    known = table.dropna(subset=["footprint_bytes", "idle_s"])
    places = list(zip(known["idle_s"].clip(lower=FLOOR_S), known["footprint_bytes"]))
    for band, (colour, mark) in looks.items():
        shown = [place for place, own in zip(places, known["band"]) if own == band]
        axes.plot([x for x, _ in shown], [y for _, y in shown], marker=mark, markerfacecolor=colour, clip_on=False, **MARK)
    ringed = [place for place, felt in zip(places, known["felt"]) if felt]
    axes.plot([x for x, _ in ringed], [y for _, y in ringed], clip_on=False, gid="felt", **RING)
    log_time_axis(axes, known["idle_s"].to_numpy(), "off screen before it was ended")
    style.memory_axis(axes, max(float(known["footprint_bytes"].max()), style.MIB))
    axes.set_ylabel(axes.get_ylabel().replace("memory", "footprint"))
    style.name_points(axes, places, known["app"].tolist(), NAMED_PT)


def draw_leads(axes: Axes, table: pd.DataFrame) -> None:
    """How long after its last warning each was ended: a curve, or the ends themselves where they are too few for one."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    warned = table.dropna(subset=["warned_s"]).sort_values("warned_s", kind="stable")
    leads = warned["warned_s"].to_numpy()
    panel(axes, f"warning to kill: {len(leads):,} of {len(table):,} were warned")
    drawn = np.maximum(leads, FLOOR_S)
    log_time_axis(axes, leads, "from its last warning to its end")
    if len(leads) < style.LEAST_OF_A_CURVE:
        rows = np.arange(len(leads)) + 0.5
        axes.plot(drawn, rows, linestyle="none", marker="o", color="#0072B2", markersize=5)
        axes.set_ylim(style.LEAST_OF_A_CURVE - 1, 0)
        axes.set_yticks(rows, [style.label(app, 14) for app in warned["app"]], fontsize=7)
        axes.tick_params(axis="y", length=0)
        return
    shares = np.arange(1, len(leads) + 1) / len(table)
    axes.step(np.append(drawn[0], drawn), np.append(0.0, shares), where="post", color="#0072B2", linewidth=1.6)
    axes.plot(drawn[-1], shares[-1], marker="o", color="#0072B2", markersize=4)
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_locator(MultipleLocator(0.25))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel("share of terminations")


def is_known(table: pd.DataFrame) -> bool:
    """Whether the run tells more of these ends than that they happened."""
    return bool((table["mark"] != style.ENDED).all())


def ended_text(count: int) -> str:
    """How a sentence about the ends begins."""
    return f"The system ended {count:,} processes" if count > 1 else f"The system ended {count or 'no'} process"


def headline(run: Run, table: pd.DataFrame) -> str:
    felt, count, crashed = int((table["felt"] != "").sum()), len(table), kills.crashes(run)["app"]
    user = f"misses {felt or 'none'} of them"
    if count < 2:
        user = "misses it" if felt else "does not miss it"
    text = ended_text(count)
    text += f"; the user {user}." if count and is_known(table) else "."
    names = [style.label(app) + (f" {times}" if times > 1 else "") for app, times in crashed.value_counts().items()]
    return text + (f" {len(crashed):,} {'more ' if count else ''}crashed: {', '.join(names)}." if names else "")


def draw_bands(figure: Figure, looks: dict[str, tuple[str, str]], has_felt: bool, y_in: float) -> None:
    """What the marks of the lower picture mean."""
    from matplotlib.lines import Line2D

    height = figure.get_size_inches()[1]
    handles = [
        Line2D([], [], marker=mark, markerfacecolor=colour, label=band_name(band), **MARK)
        for band, (colour, mark) in looks.items()
    ]
    if has_felt:
        handles.append(Line2D([], [], label="ringed: the user misses it", **RING))
    figure.text(0.015, (y_in - 0.022) / height, "band", fontsize=7, va="top")
    # One legend fills columns from the top down, and a reader reads lines.
    for line in range(-(-len(handles) // LEGEND_COLUMNS)):
        figure.legend(
            handles=handles[LEGEND_COLUMNS * line : LEGEND_COLUMNS * (line + 1)], loc="upper left", ncols=LEGEND_COLUMNS,
            bbox_to_anchor=(0.05, (y_in - LEGEND_ROW_IN * line) / height), borderaxespad=0, handletextpad=0.2, columnspacing=1.2,
            borderpad=0.2, fontsize=7,
        )  # fmt: skip


def draw(run: Run) -> Figure | None:
    """The picture; without a termination it says so. None when no table tells of any."""
    import matplotlib.pyplot as plt

    table = kills.kills_of(run)
    if "events" in run.missing and table.empty:
        return None
    lines, left = story_of(table, memory.level_spans(run), max(run.end_s, 1e-3))
    sized = len(table.dropna(subset=["footprint_bytes", "idle_s"]))
    leads = len(table.dropna(subset=["warned_s"]))
    notes = []
    # Of a single end the story says so.
    if len(table) > 1 and not leads and is_known(table):
        notes.append("None of them had been warned.")
    if len(table) and not sized:
        notes.append("No footprint is known.")
    # Of a single end the story says all.
    panels = [kind for kind, is_drawn in (("sizes", sized > 1), ("leads", leads > 0 and len(table) > 1)) if is_drawn]

    looks = look_of(bands_of(table)) if len(table) else {}
    has_felt = bool((table["felt"] != "").any())
    legend_in = LEGEND_ROW_IN * -(-(len(looks) + has_felt) // LEGEND_COLUMNS) + 0.05 if "sizes" in panels else 0.0
    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    if left:
        notes += style.wrapped(figure, "Ended as well: " + ", ".join(left), LINE_PT, (style.WIDTH_IN - 0.4) * style.DPI)
    story_in = ROW_IN * (len(lines) + 1) if lines else 0.0
    notes_in = NOTE_IN * len(notes)
    panels_in = legend_in + PANEL_TITLE_IN + SCATTER_IN + BOTTOM_IN if panels else 0.1
    width, height_in = style.WIDTH_IN, TOP_IN + story_in + notes_in + panels_in
    figure.set_size_inches(width, height_in)

    def place(left_in: float, bottom: float, width_in: float, tall_in: float) -> Axes:
        return figure.add_axes((left_in / width, bottom / height_in, width_in / width, tall_in / height_in))

    style.title(figure, f"Terminations of {run.title}")
    shown = style.fitted(figure, headline(run, table), (width - 0.25) * style.DPI, 7.5)
    figure.text(0.015, 1 - 0.33 / height_in, shown, fontsize=7.5, va="top")
    y_in = height_in - TOP_IN - story_in
    if lines:
        draw_story(place(0, y_in, width, story_in), lines, memory.colours_of(run))
    for note in notes:
        y_in -= NOTE_IN
        figure.text(0.12 / width, (y_in + 0.04) / height_in, note, fontsize=LINE_PT, color=style.QUIET, va="bottom")
    if "sizes" in panels:
        draw_bands(figure, looks, has_felt, y_in - 0.05)
    wide = (width - LEFT_IN - RIGHT_IN - 0.85 * (len(panels) - 1)) / max(len(panels), 1)
    for index, kind in enumerate(panels):
        axes = place(LEFT_IN + index * (wide + 0.85), BOTTOM_IN, wide, SCATTER_IN)
        draw_sizes(axes, table, looks) if kind == "sizes" else draw_leads(axes, table)
    return figure
