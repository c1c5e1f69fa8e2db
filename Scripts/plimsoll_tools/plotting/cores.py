"""cores: which class of work the cores worked for, how much work waited for a core, and the launches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.launches import duration_text, seconds_text
from plimsoll_tools.plotting.run_directory import CLASSES, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = ("cores.time_s", *(f"cores.{kind}_{name}_ms" for kind in ("given", "waited") for name in CLASSES))

BINS = 400
"""Steps drawn at most, about three pixels each: every step is the mean of its time, so that an hour is no comb."""

LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.75, 2.26, 0.5, 0.46
SHARE_IN, WAIT_IN, GAP_IN, NOTE_IN = 2.1, 1.3, 0.16, 0.16
ROW_IN, MOST_ROWS, NAME_PT = 0.17, 7, 6.5
TOPS = (0.1, 0.25, 0.5, 1.0)
"""How far the axis of shares goes: so that all of the cores look like all of them, and little is still seen."""
MOST_GUIDES = 12
"""Launches with a line down the pictures; more would hide what is below them."""
LEAST_WAIT_MS = 0.5
"""A launch that waited less is not said to have waited."""
ALL_WORK = "all work: no priorities"
"""What the only class of a device without priorities is."""
LEGEND_ROW_IN = 0.3
LEGEND_COLUMNS_IN = (0.2, 1.53, 2.12)
"""Where the legend's names begin and where its figures end, from its left edge."""


@dataclass(frozen=True)
class CoreTimes:
    """The time of all cores in steps of equal length; only classes that worked or waited."""

    count: int
    """How many cores there are."""
    edges_s: np.ndarray
    """Where the steps begin, and where the last one ends."""
    given: dict[str, np.ndarray]
    """Class -> the share of all cores' time that it had in each step."""
    waiting: dict[str, np.ndarray]
    """Class -> how many pieces of its work waited for a core in each step, on average."""
    given_s: dict[str, float]
    """Class -> all the time that cores worked for it."""
    waited_s: dict[str, float]
    """Class -> all the time that its work waited."""

    @property
    def step_s(self) -> float:
        return float(self.edges_s[1] - self.edges_s[0])


# --- What is drawn ------------------------------------------------------------------------------------------------------


def starts_of(run: Run, ends_s: np.ndarray) -> np.ndarray:
    """When the time began that a row tells of: at the sample before it. Samples without a row were idle."""
    rows_before = np.append(0.0, ends_s[:-1])
    sampled = np.append(0.0, np.sort(run.samples["time_s"].to_numpy()))
    if len(sampled) > 1:
        earliest = sampled[np.maximum(np.searchsorted(sampled, ends_s) - 1, 0)]
    else:
        # Without samples all rows are taken to be as long as most of them.
        earliest = ends_s - float(np.median(np.diff(np.append(0.0, ends_s))))
    starts_s: np.ndarray = np.maximum(rows_before, earliest)
    return starts_s


def times_of(run: Run, most: int = BINS) -> CoreTimes | None:
    """The times of the cores in at most so many steps; None when nothing ran, or when the number of
    cores is not known."""
    table = run.cores[run.cores["time_s"] > 0].drop_duplicates("time_s", keep="last").fillna({f"given_{name}_ms": 0 for name in CLASSES})
    count = run.facts.cores
    if table.empty or count < 1:
        return None
    ends_s = table["time_s"].to_numpy()
    starts_s = starts_of(run, ends_s)
    end_s = max(run.end_s, float(ends_s[-1]))
    interval_s = float(np.median(ends_s - starts_s))
    step_s = interval_s * math.ceil(round(end_s / interval_s, 6) / most)
    edges_s = np.append(np.arange(0, end_s - 1e-6 * step_s, step_s), end_s)
    times_s = np.column_stack([starts_s, ends_s]).ravel()

    def per_second(column: str) -> tuple[np.ndarray, float]:
        """The column's seconds in each second of a step, and in all."""
        sums_s = np.append(0.0, table[column].fillna(0).to_numpy().cumsum() / 1000)
        at_times = np.column_stack([sums_s[:-1], sums_s[1:]]).ravel()
        return np.diff(np.interp(edges_s, times_s, at_times)) / np.diff(edges_s), float(sums_s[-1])

    given, waiting, given_s, waited_s = {}, {}, {}, {}
    for name in CLASSES:
        share, given_s[name] = per_second(f"given_{name}_ms")
        pieces, waited_s[name] = per_second(f"waited_{name}_ms")
        if given_s[name] > 0 or waited_s[name] > 0:
            given[name], waiting[name] = share / count, pieces
    return CoreTimes(count, edges_s, given, waiting, given_s, waited_s) if given else None


@dataclass(frozen=True)
class Launch:
    """A launch in its lane."""

    tapped_s: float
    ready_s: float
    """NaN when it never came to a first frame."""
    text: str
    waited_ms: float

    @property
    def ended_s(self) -> float:
        return self.tapped_s if math.isnan(self.ready_s) else self.ready_s


def launches_of(run: Run) -> list[Launch]:
    """All launches in the order of their taps, each with its latency and how much of that it waited for a core."""
    table = run.launches.dropna(subset=["tapped_s"]).sort_values("tapped_s", kind="stable")
    found = []
    for row in table.itertuples(index=False):
        waited_ms = 0.0 if math.isnan(row.cpu_wait_ms) else float(row.cpu_wait_ms)
        text = style.label(row.app, 14) + " " + (duration_text(row.latency_ms) if row.latency_ms >= 0 else "never ready")
        if waited_ms >= LEAST_WAIT_MS:
            text += f" ({duration_text(waited_ms)})"
        found.append(Launch(float(row.tapped_s), float(row.ready_s), text, waited_ms))
    return found


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_steps(axes: Axes, edges_s: np.ndarray, layers: dict[str, np.ndarray]) -> float:
    """The classes upon each other, the most urgent at the bottom; how high they are."""
    base = np.zeros(len(edges_s))
    for name, values in layers.items():
        top = base + np.append(values, values[-1])
        axes.fill_between(
            edges_s, base, top, step="post", facecolor=style.CLASS_COLOURS[name], linewidth=0, gid=f"class-{name}"
        )
        base = top
    return float(base.max())


def place_launches(figure: Figure, launches: list[Launch], px_per_second: float, width_px: float) -> list[tuple[Launch, int, str]]:
    """Each launch with its row and its name: all have one where there is room, else those that waited longest."""
    mark_px = 4 * style.DPI / 72
    waited = sorted((one for one in launches if one.waited_ms >= LEAST_WAIT_MS), key=lambda one: -one.waited_ms)
    for named in (launches, waited[:12], waited[:5]):
        spans = []
        for one in launches:
            text = one.text if one in named else ""
            wide = mark_px + style.text_width_px(figure, text, NAME_PT) if text else 0.0
            start, end = one.tapped_s * px_per_second - mark_px, one.ended_s * px_per_second + mark_px
            is_right = end + wide <= width_px
            spans.append(((start, end + wide) if is_right else (start - wide, end), one, text))
        spans.sort(key=lambda item: item[0])
        rows = style.pack([span for span, *_ in spans], MOST_ROWS, gap=4)
        if rows is not None and named:
            return [(one, row, text) for (_, one, text), row in zip(spans, rows)]
    return [(one, 0, "") for one in launches]


def draw_launches(lane: Axes, placed: list[tuple[Launch, int, str]], px_per_second: float, width_px: float) -> None:
    """A bar from the tap to the first frame, which is a circle; a launch that never came is a stroke."""
    for one, row, text in placed:
        height = row + 0.5
        if math.isnan(one.ready_s):
            lane.plot([one.tapped_s], [height], clip_on=False, **style.LOST_LAUNCH)
        else:
            lane.plot([one.tapped_s, one.ready_s], [height, height], color=style.INK, linewidth=1.2, solid_capstyle="butt")
            lane.plot([one.ready_s], [height], clip_on=False, **style.FIRST_FRAME)
        if text:
            wide = style.text_width_px(lane.figure, text, NAME_PT) + 8 * style.DPI / 72
            is_right = one.ended_s * px_per_second + wide <= width_px
            lane.annotate(
                text, (one.ended_s if is_right else one.tapped_s, height), xytext=(4 if is_right else -4, -0.3),
                textcoords="offset points", ha="left" if is_right else "right", va="center", fontsize=NAME_PT,
                annotation_clip=False,
            )  # fmt: skip


def draw_key(figure: Figure, launches: list[Launch], step_s: float, height_in: float) -> None:
    """Under the title: what the marks of launches mean, and how long a step is."""
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    names = []
    if any(not math.isnan(one.ready_s) for one in launches):
        handles.append((Line2D([], [], color=style.INK, linewidth=1.2), Line2D([], [], **style.FIRST_FRAME)))
        names.append("launch, from the tap to the first frame" + (
            " (and its wait for a core)" if any(one.waited_ms >= LEAST_WAIT_MS for one in launches) else ""
        ))  # fmt: skip
    if any(math.isnan(one.ready_s) for one in launches):
        handles.append(Line2D([], [], **style.LOST_LAUNCH))
        names.append("never came to a first frame")
    handles.append(Line2D([], [], linestyle="none"))
    names.append(f"every step is the mean of {duration_text(1000 * step_s)}")
    figure.legend(
        handles, names, loc="upper left", bbox_to_anchor=(0.012, 1 - 0.27 / height_in), ncols=3, borderaxespad=0,
        borderpad=0.1, handletextpad=0.4, columnspacing=1.2, handlelength=1.6, fontsize=7,
    )  # fmt: skip


def draw_legend(figure: Figure, axes: Axes, times: CoreTimes, with_priorities: bool) -> None:
    """The classes in the order of their layers, each with what it is, what it was given and how long it waited."""
    from matplotlib.patches import Rectangle

    width, height = figure.get_size_inches()
    box = axes.get_position()
    x0, top = box.x1 + 0.1 / width, box.y1

    def write(x_in: float, y: float, text: str, **look: Any) -> None:
        figure.text(x0 + x_in / width, y, text, fontsize=7, va="top", **look)

    write(LEGEND_COLUMNS_IN[0], top, "class of service", color=style.QUIET)
    for x_in, text in zip(LEGEND_COLUMNS_IN[1:], ("worked", "waited")):
        write(x_in, top, text, ha="right", color=style.QUIET)
    for row, name in enumerate(reversed(times.given), start=1):
        y = top - (LEGEND_ROW_IN * row - 0.14) / height
        figure.add_artist(Rectangle(
            (x0, y - 0.105 / height), 0.13 / width, 0.1 / height, facecolor=style.CLASS_COLOURS[name], linewidth=0,
            transform=figure.transFigure,
        ))  # fmt: skip
        write(LEGEND_COLUMNS_IN[0], y, name.replace("_", "-"))
        for x_in, seconds in zip(LEGEND_COLUMNS_IN[1:], (times.given_s[name], times.waited_s[name])):
            write(x_in, y, seconds_text(seconds) if seconds > 0 else "none", ha="right")
        meaning = CLASSES[name] if with_priorities else ALL_WORK
        figure.text(x0 + LEGEND_COLUMNS_IN[0] / width, y - 0.125 / height, meaning, fontsize=6.3, va="top", color=style.QUIET)


def draw(run: Run) -> Figure | None:
    """The picture, or None when no core worked."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter

    times = times_of(run)
    if times is None:
        return None
    end_s = max(run.end_s, float(times.edges_s[-1]), 1e-3)
    launches = launches_of(run)
    waits = any(seconds > 0 for seconds in times.waited_s.values())
    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    wide_in = style.WIDTH_IN - LEFT_IN - RIGHT_IN
    width_px = wide_in * style.DPI
    placed = place_launches(figure, launches, width_px / end_s, width_px)
    rows = 1 + max((row for _, row, _ in placed), default=-1)
    lane_in = ROW_IN * rows + (0.05 if rows else 0)
    share_in = max(SHARE_IN, LEGEND_ROW_IN * (len(times.given) + 0.5))
    lower_in = WAIT_IN + GAP_IN if waits else NOTE_IN
    height_in = TOP_IN + lane_in + share_in + lower_in + BOTTOM_IN
    figure.set_size_inches(style.WIDTH_IN, height_in)

    def place(top_in: float, tall_in: float, share: Axes | None = None) -> Axes:
        box = (LEFT_IN / style.WIDTH_IN, 1 - (top_in + tall_in) / height_in, wide_in / style.WIDTH_IN, tall_in / height_in)
        return figure.add_axes(box, sharex=share)

    axes = place(TOP_IN + lane_in, share_in)
    highest = draw_steps(axes, times.edges_s, times.given)
    top = next((top for top in TOPS if top >= highest - 1e-3), TOPS[-1])
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(FixedLocator([top * step / 5 for step in range(6)]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    axes.set_ylabel(f"share of {style.plural(times.count, 'core')}")
    style.bare(axes, "left", "bottom")
    panels = [axes]
    if waits:
        lower = place(TOP_IN + lane_in + share_in + GAP_IN, WAIT_IN, axes)
        style.cover(lower, draw_steps(lower, times.edges_s, times.waiting), 4)
        lower.set_ylabel("pieces of work\nthat wait")
        style.bare(lower, "left", "bottom")
        panels.append(lower)
    else:
        figure.text(LEFT_IN / style.WIDTH_IN, 0.08 / height_in, "No work waited for a core.", fontsize=7.5, color=style.QUIET)
    for panel in panels:
        style.time_axis(panel, end_s)
        for one in launches if len(launches) <= MOST_GUIDES else []:
            # Black on white and white on colours.
            panel.axvline(one.tapped_s, color="white", linewidth=0.9, alpha=0.7)
            panel.axvline(one.tapped_s, color=style.INK, linewidth=0.5, linestyle=(0, (2, 2)))
    if waits:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
    if rows:
        lane = place(TOP_IN, ROW_IN * rows, axes)
        style.bare(lane)
        lane.set_ylim(rows, 0)
        lane.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
        lane.patch.set_visible(False)
        lane.text(-0.012, 0.5, "launches", transform=lane.transAxes, ha="right", va="center", fontsize=7.5)
        draw_launches(lane, placed, width_px / end_s, width_px)
    draw_legend(figure, axes, times, run.facts.has_priorities)
    draw_key(figure, launches, times.step_s, height_in)
    style.title(figure, f"Cores of {run.title}")
    return figure
