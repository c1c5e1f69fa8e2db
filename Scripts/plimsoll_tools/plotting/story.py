"""story: a run in one picture. Levels and warnings on top, the states of every app with the reason of each end, and below them
what was in RAM under the ceiling, with the marks by which processes were ended. The other pictures are the details."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import kills, memory, ram, reasons, states, style, terminations
from plimsoll_tools.plotting.reasons import Victim
from plimsoll_tools.plotting.run_directory import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = ("samples.time_s", "samples.resident_bytes", "samples.ceiling_bytes", "samples.pressure_level", "events.event",
         "events.app", "events.scene", "events.state", "terminations.app", "terminations.cause")  # fmt: skip

SIDES = (1.42, 1.95)
"""What the panels leave free on the left and on the right, in inches. Labels of late ends reach into the right side."""
WIDTH_PX = (style.WIDTH_IN - sum(SIDES)) * style.DPI
HEADLINE_PT, TITLE_PT, LEGEND_TOP_IN = 13, 8.5, 0.62
"""The headline is legible where a phone shows the picture 390 px wide."""
MARK_SCALE, MARKED_PX = 1.55, 9
LABEL_PT, LABEL_IN, MOST_LABELS, MOST_LABEL_ROWS = 6.8, 0.135, 8, 4
"""Of the reasons above a lane. An app with more ends has one line that counts their causes."""
STRIP_IN, GAP_IN, LEAST_HEAD_IN = 0.11, 0.06, 0.62
"""The strip of levels; with the warnings it is never lower than the legend beside it."""
RAM_IN, SHARE_IN, PANEL_GAP_IN, AXIS_IN, NOTE_IN = 1.5, 0.95, 0.16, 0.46, 0.13
LEGEND_LINE_IN = 0.15
MOST_BOUNDS = 3
"""Thresholds of ends that have a line, those of the most ends first."""
END_LINE: Any = (0, (4, 1, 1, 1))

SHARES = {
    "uncompressed_ppm": ("not compressed", "below"), "stall_some_ppm": ("some wait", "above"),
    "stall_full_ppm": ("all wait", "above"), "limit_share_ppm": ("of its own limit", "above"),
}  # fmt: skip
"""Measures that are shares: what people call them, and on which side of its threshold a level begins."""


# --- What is drawn ------------------------------------------------------------------------------------------------------


def told_lanes(run: Run, lanes: list[states.Lane]) -> list[states.Lane]:
    """The scenario's apps, and every process that was ended; all processes where the run does not name its apps."""
    known = set(run.facts.apps)
    return [lane for lane in lanes if lane.app in known or states.was_ended(lane)] if known else lanes


def notes_of(
    figure: Figure, lanes: list[states.Lane], told: list[states.Lane], shown: list[states.Lane], scale: float = 1.0
) -> list[str]:
    """Below the picture: what the lanes leave out, and of what the sizes are."""
    width_px = (style.WIDTH_IN - SIDES[0] - 0.1) * style.DPI
    parts = [states.caption(told, shown, len(shown) <= states.MOST_APPS_WITH_SCENES), states.ended_elsewhere(told, shown)]
    kept = {lane.app for lane in told}
    others = [style.label(lane.app) for lane in lanes if lane.app not in kept]
    parts.append(f"Without a lane, as none of them was ended: {', '.join(others)}" if others else "")
    parts.append("" if scale == 1 else f"Sizes below the lanes are the model's, {scale:.4g} of the device's; those in words are the device's")
    return [line for part in parts if part for line in style.wrapped(figure, part, 7, width_px)]


@dataclass(frozen=True)
class Label:
    """A reason above a lane, in pixels from the left edge of the lane."""

    at_px: float
    start_px: float
    row: int
    """Counted from the lane upwards."""
    text: str
    is_bold: bool


def labels_of(figure: Figure, victims: list[Victim], px_per_second: float, most: int) -> list[Label]:
    """The reasons of one lane's ends, each at its mark; in one line that counts the causes where there are more than so
    many, or there is no room for all."""
    placed = place_labels(figure, victims, px_per_second) if len(victims) <= most else None
    if placed is not None or not victims:
        return placed or []
    counts = pd.Series([victim.cause for victim in victims]).value_counts(sort=True)
    listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
    text = f"{style.label(victims[0].app, 20)}: {len(victims):,} ends: {listed}"
    is_bold = any(victim.kind == style.FELT for victim in victims)
    fitted = style.fitted(figure, text, room_px(), LABEL_PT, "bold" if is_bold else "normal")
    return [Label(math.nan, 0.0, 0, fitted, is_bold)]


def room_px() -> float:
    """How far right a label may reach."""
    return WIDTH_PX + (SIDES[1] - 0.1) * style.DPI


def place_labels(figure: Figure, victims: list[Victim], px_per_second: float) -> list[Label] | None:
    """From the last end to the first, each label in the lowest row in which neither it nor the line to its mark covers
    another one. None when that takes too many rows, or a line cannot avoid a label."""
    placed: list[Label] = []
    ends: list[float] = []
    for victim in reversed(victims):
        is_bold = victim.kind == style.FELT
        text = style.fitted(figure, victim.text, room_px(), LABEL_PT, "bold" if is_bold else "normal")
        wide = style.text_width_px(figure, text, LABEL_PT, "bold" if is_bold else "normal")
        at = victim.time_s * px_per_second
        start = min(at + 7, room_px() - wide)
        over = [label.row for label, end in zip(placed, ends) if label.start_px < start + wide + 6 and start < end + 6]
        row = max(over, default=-1) + 1
        if row >= MOST_LABEL_ROWS or any(
            label.row < row and label.start_px < at + 1 and at - 1 < end for label, end in zip(placed, ends)
        ):
            return None
        placed.append(Label(at, start, row, text, is_bold))
        ends.append(start + wide)
    return placed


@dataclass(frozen=True)
class Bound:
    """A threshold that decided, as a line across a panel."""

    at: float
    text: str
    colour: str
    line: Any


def bounds_in_ram(run: Run) -> list[Bound]:
    """Thresholds of available memory, as the memory in use at which they are reached: of the levels, and of the ends."""
    found = [Bound(resident, f"{level}, from {style.bytes_text(resident)}", style.LEVEL_COLOURS[level], (0, (5, 2)))
             for level, resident in memory.thresholds(run).items()]  # fmt: skip
    ceiling = float(run.samples["ceiling_bytes"].max())
    for threshold in bounds_of_ends(run, "available_bytes"):
        if 0 < threshold < ceiling and all(abs(ceiling - threshold - bound.at) > 1 for bound in found):
            found.append(Bound(ceiling - threshold, f"ended below {style.bytes_text(threshold)} left", style.INK, END_LINE))
    return found


def bounds_of_ends(run: Run, measure: str) -> list[float]:
    """The thresholds of this measure for which processes were ended, those of the most ends first."""
    table = kills.kills_of(run)
    known = table.loc[(table["measure"] == measure) & table["threshold"].notna(), "threshold"]
    return [float(threshold) for threshold in known.value_counts(sort=True).index[:MOST_BOUNDS]]


def bounds_of_shares(run: Run) -> list[Bound]:
    """Thresholds of measures that are shares: of the levels that were entered, and of the ends."""
    entered = run.events_named("pressure_level")
    entered = entered[entered["measure"].isin(SHARES) & entered["threshold"].notna() & (entered["level"] != "normal")]
    rows = entered[["level", "measure", "threshold"]].drop_duplicates().itertuples(index=False)
    found = [Bound(row.threshold / 1e6, f"{row.level}, {SHARES[row.measure][1]} {row.threshold / 1e4:.3g}%",
                   style.LEVEL_COLOURS.get(row.level, style.INK), (0, (5, 2))) for row in rows]  # fmt: skip
    for measure, (_, side) in SHARES.items():
        for threshold in bounds_of_ends(run, measure):
            if all(abs(threshold / 1e6 - bound.at) > 1e-9 for bound in found):
                found.append(Bound(threshold / 1e6, f"ended {side} {threshold / 1e4:.3g}%", style.INK, END_LINE))
    return found


def readings_of(run: Run) -> pd.DataFrame:
    """time_s, measure, share: what the policy read of these measures at its decisions, one per pixel at most."""
    decisions = run.decisions[run.decisions["measure"].isin(SHARES)].dropna(subset=["observed"])
    column = (decisions["time_s"] / max(run.end_s, 1e-3) * WIDTH_PX).astype(int)
    kept = decisions.assign(column=column).drop_duplicates(["measure", "column", "observed"])
    return pd.DataFrame({"time_s": kept["time_s"], "measure": kept["measure"], "share": kept["observed"] / 1e6})


def in_ram(run: Run) -> memory.Stack | None:
    """What takes room, as in the picture of memory; without a compressor the layers of all processes are one."""
    stack = memory.stack_of(run)
    if not stack.layers or len(stack.times_s) == 0:
        return None
    if stack.ram:
        return memory.Stack(stack.times_s, stack.ram)
    apps = [layer.bytes for layer in stack.layers if layer.apps]
    layers = [layer for layer in stack.layers if not layer.apps]
    if apps:
        layers.append(memory.Layer("processes", ram.RESIDENT_COLOUR, np.sum(apps, axis=0)))
    return memory.Stack(stack.times_s, layers)


def ends_at(run: Run, measure: str) -> list[tuple[float, float, str]]:
    """(time, observed value, kind) of the ends that this measure decided."""
    table = kills.kills_of(run)
    known = table[(table["measure"] == measure) & table["observed"].notna()]
    return list(known[["time_s", "observed", "mark"]].itertuples(index=False, name=None))


# --- Drawing ------------------------------------------------------------------------------------------------------------


def label_rows(labels: list[Label]) -> int:
    return max((label.row for label in labels), default=-1) + 1


def draw_labels(axes: Axes, labels: list[Label], top: float, px_per_second: float) -> None:
    """The reasons above a lane that begins at `top`, in inches, with a line from each to its mark."""
    for label in labels:
        y_in = top - LABEL_IN * (label.row + 0.5)
        axes.text(
            label.start_px / px_per_second, y_in, label.text, fontsize=LABEL_PT, va="center_baseline", clip_on=False, zorder=8,
            fontweight="bold" if label.is_bold else "normal",
        )  # fmt: skip
        if not math.isnan(label.at_px):
            begin = y_in - 0.04 if label.start_px > label.at_px else y_in + LABEL_IN / 2
            axes.plot([label.at_px / px_per_second] * 2, [begin, top], color=style.INK, linewidth=0.6, zorder=4, gid="to-mark",
                      clip_on=False, solid_capstyle="butt")  # fmt: skip


def draw_lanes(axes: Axes, lanes: list[states.Lane], labels: dict[str, list[Label]], end_s: float) -> None:
    """All lanes, with the reasons of their ends above them."""
    with_scenes = len(lanes) <= states.MOST_APPS_WITH_SCENES
    px_per_second = WIDTH_PX / end_s
    top, ticks = states.GAP_IN, []
    for lane in lanes:
        top += LABEL_IN * label_rows(labels[lane.app])
        draw_labels(axes, labels[lane.app], top, px_per_second)
        ticks.append(top + states.APP_IN / 2)
        top = states.draw_lane(axes, lane, top, MARKED_PX / px_per_second, with_scenes, MARK_SCALE) + states.GAP_IN
        axes.axhline(top - states.GAP_IN / 2, color=style.RULE, linewidth=0.4, zorder=0.5)
    axes.set_yticks(ticks, [style.label(lane.app, 20) for lane in lanes], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    style.bare(axes, "bottom")


def draw_bounds(axes: Axes, bounds: list[Bound]) -> None:
    from matplotlib.patheffects import withStroke

    for bound in bounds:
        line = axes.axhline(bound.at, color=bound.colour, linewidth=1.1, linestyle=bound.line, zorder=4.5, gid="bound")
        line.set_path_effects([withStroke(linewidth=2.4, foreground="white")])


def draw_ends(axes: Axes, ends: list[tuple[float, float, str]]) -> None:
    """The ends that a measure decided, at what was read of it; very many would hide the measure."""
    if len(ends) > terminations.MOST_LINES:
        return
    for kind in style.END_LOOKS:
        style.mark_ends(axes, [(time_s, value) for time_s, value, own in ends if own == kind], kind, MARK_SCALE)


def side_legend(figure: Figure, axes: Axes, handles: list[Any], names: list[str], below_in: float) -> None:
    """Names beside a panel, so that none lies upon its lines."""
    if not handles:
        return
    height = figure.get_size_inches()[1]
    at = (axes.get_position().x1 + 0.0125, axes.get_position().y1 - below_in / height)
    figure.legend(
        handles, names, loc="upper left", bbox_to_anchor=at,
        borderaxespad=0, borderpad=0, handlelength=2.2, handletextpad=0.5, labelspacing=0.35, fontsize=7,
    )  # fmt: skip


def bound_handles(bounds: list[Bound]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [Line2D([], [], color=bound.colour, linewidth=1.1, linestyle=bound.line) for bound in bounds]


def draw_ram(axes: Axes, run: Run, stack: memory.Stack, bounds: list[Bound], end_s: float) -> None:
    """What takes room, the ceiling, the peak, and the ends that the available memory decided."""
    from matplotlib.lines import Line2D

    memory.draw_stack(axes, stack, end_s)
    samples, peak = run.samples.dropna(subset=["ceiling_bytes"]), memory.peak_of(run)
    handles, names, top = bound_handles(bounds), [bound.text for bound in bounds], stack.top
    if peak:
        memory.draw_peak(axes, peak)
        handles.insert(0, Line2D([], [], linestyle="none", marker="v", markersize=5.5, color=style.INK))
        names.insert(0, memory.peak_text(peak, end_s).removesuffix(", between samples"))
        top = max(top, peak.bytes)
    if not samples.empty:
        axes.step(samples["time_s"], samples["ceiling_bytes"], where="post", color=style.INK, linewidth=1.6, zorder=5,
                  gid="ceiling")  # fmt: skip
        ceiling = float(samples["ceiling_bytes"].iloc[-1])
        handles.insert(0, Line2D([], [], color=style.INK, linewidth=1.6))
        names.insert(0, f"ceiling {style.bytes_text(ceiling)}")
        top = max(top, float(samples["ceiling_bytes"].max()))
        draw_ends(axes, [(time_s, ceiling - value, kind) for time_s, value, kind in ends_at(run, "available_bytes")])
    draw_bounds(axes, bounds)
    style.memory_axis(axes, top)
    axes.set_ylabel(axes.get_ylabel().replace("memory", "in RAM"))
    rows = [memory.LegendRow(layer, float(layer.bytes.max(initial=0.0)), 0, 0, 0) for layer in reversed(stack.layers)]
    memory.draw_layers_legend(axes.figure, axes, rows, "in RAM")  # type: ignore[arg-type]
    side_legend(axes.figure, axes, handles, names, memory.LEGEND_ROW_IN * len(rows) + 0.18)  # type: ignore[arg-type]


def draw_shares(axes: Axes, run: Run, readings: pd.DataFrame, bounds: list[Bound]) -> None:
    """What the policy read of a measure that is no number of bytes, against its thresholds, and the ends that it decided."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter

    handles, names = bound_handles(bounds), [bound.text for bound in bounds]
    colours = dict(zip(SHARES, ("#0072B2", "#D55E00", "#332288", "#009E73")))
    measures = [measure for measure in SHARES if measure in set(readings["measure"])]
    ends = [(time_s, value / 1e6, kind) for measure in SHARES for time_s, value, kind in ends_at(run, measure)]
    for measure in measures:
        own = readings[readings["measure"] == measure]
        axes.plot(own["time_s"], own["share"], linestyle="none", marker=".", markersize=2.6, color=colours[measure], zorder=3,
                  gid=f"read-{measure}")  # fmt: skip
        handles.append(Line2D([], [], linestyle="none", marker=".", markersize=5, color=colours[measure]))
        names.append("read at decisions" if len(measures) == 1 else f"{SHARES[measure][0]}, at decisions")
    draw_bounds(axes, bounds)
    draw_ends(axes, ends)
    values = [*readings["share"], *(bound.at for bound in bounds), *(value for _, value, _ in ends)]
    style.cover(axes, max(values, default=0.0), 4, at_least=0.01, steps=[1, 2, 5, 10])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))
    axes.set_ylabel(SHARES[measures[0]][0] if len(measures) == 1 else "share")
    side_legend(axes.figure, axes, handles, names, 0.02)  # type: ignore[arg-type]


def draw_head(
    figure: Figure, lanes_axes: Axes, run: Run, bottom_in: float, warned: memory.Names | None, warned_in: float
) -> None:
    """Above the lanes: the warnings by name, and the strip of levels with its legend beside it."""
    end_s, spans = max(run.end_s, 1e-3), memory.level_spans(run)
    warnings = run.events_named("warning")
    warned_lane = memory.add_lane(figure, bottom_in, warned_in, lanes_axes, f"{len(warnings):,} warned", SIDES)
    strip = memory.add_lane(figure, bottom_in + warned_in + GAP_IN, STRIP_IN, lanes_axes, "pressure", SIDES)
    memory.draw_levels([lanes_axes], strip, spans)
    memory.draw_warnings(warned_lane, warnings, end_s / WIDTH_PX, warned)
    levels = [level for level in style.LEVEL_COLOURS if any(level == span[2] for span in spans)]
    memory.draw_levels_legend(figure, strip, levels, {}, strip.get_position().y1)


def draw_panels(
    figure: Figure, run: Run, stack: memory.Stack | None, ram_in: float, notes_in: float, share: Axes
) -> list[Axes]:
    """The panels below the lanes, from the top down."""
    end_s, ends = max(run.end_s, 1e-3), [end for end in kills.ends_of(run) if end[2] != style.LEFT]
    readings, bounds = readings_of(run), bounds_of_shares(run)
    has_shares = bool(bounds) or not readings.empty
    bottom_in, panels = notes_in + AXIS_IN, []
    if stack:
        at_in = bottom_in + (SHARE_IN + PANEL_GAP_IN if has_shares else 0)
        panels.append(memory.add_axes(figure, at_in, ram_in, share, SIDES))
        draw_ram(panels[-1], run, stack, bounds_in_ram(run), end_s)
    if has_shares:
        panels.append(memory.add_axes(figure, bottom_in, SHARE_IN, share, SIDES))
        draw_shares(panels[-1], run, readings, bounds)
    for axes in panels:
        memory.shade_levels(axes, memory.level_spans(run))
        # Lines for very many ends would hide what is below them.
        if len(ends) <= terminations.MOST_LINES:
            memory.draw_end_lines(axes, ends)
        style.bare(axes, "left", "bottom")
    return panels


def draw(run: Run) -> Figure | None:
    """The picture, or None when nothing ever ran."""
    import matplotlib.pyplot as plt

    lanes = states.lanes_of(run)
    told = told_lanes(run, lanes) or lanes
    if not told:
        return None
    shown, end_s = states.chosen(told), max(run.end_s, 1e-3)
    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    victims, px_per_second = reasons.victims_of(run), WIDTH_PX / end_s
    own = {lane.app: [victim for victim in victims if victim.app == lane.app] for lane in shown}
    most = MOST_LABELS if len(victims) <= terminations.MOST_LINES else 1
    labels = {app: labels_of(figure, ends, px_per_second, most) for app, ends in own.items()}
    notes = notes_of(figure, lanes, told, shown, run.facts.scale)
    warned = memory.warned_names(figure, run.events_named("warning"), px_per_second, WIDTH_PX)
    stack, bounds = in_ram(run), bounds_in_ram(run)

    with_scenes = len(shown) <= states.MOST_APPS_WITH_SCENES
    rows = sum(label_rows(placed) for placed in labels.values())
    lanes_in = states.GAP_IN + sum(states.lane_height_in(lane, with_scenes) for lane in shown) + LABEL_IN * rows
    warned_rows = 1 + max((name.row for name in warned or []), default=0)
    warned_in = max(memory.LANE_IN * warned_rows, LEAST_HEAD_IN - STRIP_IN - GAP_IN)
    # Beside the panel are the names of its layers, then those of its lines.
    ram_in = max(RAM_IN, memory.LEGEND_ROW_IN * len(stack.layers) + 0.2 + LEGEND_LINE_IN * (len(bounds) + 2)) if stack else 0.0
    has_shares = bool(bounds_of_shares(run)) or not readings_of(run).empty
    notes_in = 0.03 + NOTE_IN * len(notes) if notes else 0.0
    under_in = notes_in + AXIS_IN + (ram_in + PANEL_GAP_IN if stack else 0) + (SHARE_IN + PANEL_GAP_IN if has_shares else 0)
    marks, names = states.marks_of(shown)
    legend_in = LEGEND_TOP_IN + states.LEGEND_ROW_IN * (1 + -(-len(marks) // states.MOST_MARKS)) + 0.1
    height_in = under_in + lanes_in + GAP_IN + warned_in + GAP_IN + STRIP_IN + legend_in
    figure.set_size_inches(style.WIDTH_IN, height_in)

    axes = memory.add_axes(figure, under_in, lanes_in, None, SIDES)
    axes.set_ylim(lanes_in, 0)
    style.time_axis(axes, end_s)
    draw_lanes(axes, shown, labels, end_s)
    draw_head(figure, axes, run, under_in + lanes_in + GAP_IN, warned, warned_in)
    panels = [axes, *draw_panels(figure, run, stack, ram_in, notes_in, axes)]
    for upper in panels[:-1]:
        upper.set_xlabel("")
        upper.tick_params(labelbottom=False)
    style.time_axis(panels[-1], end_s)

    style.title(figure, terminations.headline(run, kills.kills_of(run)), HEADLINE_PT)
    subtitle = style.fitted(figure, f"The story of {run.title}", (style.WIDTH_IN - 0.25) * style.DPI, TITLE_PT)
    figure.text(0.12 / style.WIDTH_IN, 1 - 0.4 / height_in, subtitle, fontsize=TITLE_PT, va="top", color=style.QUIET)
    states.draw_legend(figure, marks, names, {state for lane in shown for _, _, state in lane.process}, height_in, LEGEND_TOP_IN)
    figure.text(SIDES[0] / style.WIDTH_IN, 0.08 / height_in, "\n".join(notes), fontsize=7, color=style.QUIET, va="bottom")
    return figure
