"""states: one lane per app with its process state, thinner lanes for its scenes, and what happened to it.

On a device with a freezer, a suspended process is `frozen` while it has the place of frozen processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from plimsoll_tools.plotting import kills, style
from plimsoll_tools.plotting.run_directory import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

NEEDS = ("events.time_s", "events.event", "events.app", "events.scene", "events.state")

MOST_APPS = 40
MOST_APPS_WITH_SCENES = 20
MOST_SCENES = 4
"""Lanes of one app; further scenes are counted in the caption."""

LEFT_IN, RIGHT_IN, TOP_IN = 1.42, 0.3, 0.54
APP_IN, SCENE_IN, GAP_IN = 0.15, 0.055, 0.075
LEGEND_ROW_IN, MOST_MARKS = 0.18, 6
MARKED_PX = 5
"""Marks of one kind in one lane that are nearer than this are one."""

WARNED_AT, FRAME_AT = 0.36, 0.79
"""How far down a lane the marks are: an app that is warned at its first frame has both, one below the other."""
FRAME_FILL = "white"
WARNING_FILLS = {"": "white", "warning": "#FFE14D", "critical": style.LEVEL_COLOURS["critical"]}
"""By level; those of an app near its own limit have none."""
WARNING_NAMES = {"": "warning near its own limit", "warning": "warning", "critical": "critical warning"}

Spans = list[tuple[float, float, str]]


@dataclass
class Lane:
    """What happened to one app. Spans are (start, end, state), and being not running is no span."""

    app: str
    process: Spans = field(default_factory=list)
    scenes: list[Spans] = field(default_factory=list)
    warnings: list[float] = field(default_factory=list)
    warned_at: dict[str, list[float]] = field(default_factory=dict)
    """The warnings by level."""
    ends: list[float] = field(default_factory=list)
    ended_as: dict[str, list[float]] = field(default_factory=dict)
    """The ends by kind, as `kills.ends_of` has them."""
    frames: list[float] = field(default_factory=list)

    @property
    def eventfulness(self) -> int:
        return len(self.process) + 10 * len(self.ends)

    @property
    def first_s(self) -> float:
        return self.process[0][0] if self.process else float("inf")


# --- What is drawn ------------------------------------------------------------------------------------------------------


def spans(changes: list[tuple[float, str]], end_s: float) -> Spans:
    """From the states entered, in the order of time, the time spent in each that has a colour."""
    result: Spans = []
    for (start, state), (end, _) in zip(changes, changes[1:] + [(end_s, "")]):
        if state not in style.STATE_COLOURS or end <= start:
            continue
        if result and result[-1][1] == start and result[-1][2] == state:
            result[-1] = (result[-1][0], end, state)
        else:
            result.append((start, end, state))
    return result


def process_changes(run: Run) -> pd.DataFrame:
    """time_s, app, state: every change of a process's state. An exit is one, too.

    Without events the samples tell, at the grain of a sample.
    """
    events = run.events
    changes = events[events["event"].isin(["process_state", "exit"])]
    if not (events["event"] == "process_state").any():
        return sampled_changes(run)
    return changes[["time_s", "app", "state"]].assign(
        state=changes["state"].where(changes["event"] == "process_state", "notRunning")
    )


def sampled_changes(run: Run) -> pd.DataFrame:
    """The changes of state between samples; an app without a row is not running."""
    times = run.samples["time_s"] if not run.samples.empty else run.apps["time_s"]
    states = run.apps.pivot_table(index="time_s", columns="app", values="state", aggfunc="last", sort=False)
    states = states.reindex(sorted(set(times) | set(states.index))).fillna("notRunning")
    rows = []
    for app in states.columns:
        changed = states[app].ne(states[app].shift(fill_value="notRunning"))
        rows += [(time_s, app, state) for time_s, state in states.loc[changed, app].items()]
    return pd.DataFrame(rows, columns=["time_s", "app", "state"])


def frozen_times(run: Run) -> dict[str, list[tuple[float, float]]]:
    """App -> from when to when one of its processes had the place of frozen processes (band 75), in order.

    It gets the place when its pages go to flash, and keeps it when it has run since, until it is demoted or ends.
    """
    events = run.events
    kinds = events["event"].where(events["event"] != "freeze", events["measure"].map({"written_bytes": "freeze"}))
    since: dict[str, tuple[str, float]] = {}
    found: dict[str, list[tuple[float, float]]] = {}
    rows = events.assign(event=kinds)[kinds.isin(["freeze", "demote", "exit"])]
    for time_s, event, app, pid in rows[["time_s", "event", "app", "pid"]].itertuples(index=False):
        if event == "freeze":
            # Frozen anew, it has had its place since the first time.
            since.setdefault(pid, (app, time_s))
        elif pid in since:
            found.setdefault(app, []).append((since.pop(pid)[1], time_s))
    for app, start in since.values():
        found.setdefault(app, []).append((start, run.end_s))
    return {app: sorted(times) for app, times in found.items()}


def with_frozen(process: Spans, times: list[tuple[float, float]]) -> Spans:
    """The spans, where what is suspended at these times is frozen."""
    result: Spans = []
    for start, end, state in process:
        for first, last in times if state == "suspended" else []:
            first, last = max(first, start), min(last, end)
            if first >= last:
                continue
            if first > start:
                result.append((start, first, state))
            result.append((first, last, "frozen"))
            start = last
        if start < end:
            result.append((start, end, state))
    return result


def scene_spans(events: pd.DataFrame, end_s: float) -> dict[str, list[Spans]]:
    """App -> its scenes' spans, by scene number."""
    rows = events[(events["event"] == "scene_state") & (events["scene"] != "")]
    found: dict[str, dict[str, list[tuple[float, str]]]] = {}
    for time_s, app, scene, state in rows[["time_s", "app", "scene", "state"]].itertuples(index=False):
        state = style.SCENE_STATES.get(state, "unattached")
        found.setdefault(app, {}).setdefault(scene, []).append((time_s, state))
    return {
        app: [spans(scenes[number], end_s) for number in sorted(scenes, key=lambda text: (len(text), text))]
        for app, scenes in found.items()
    }


def lanes_of(run: Run) -> list[Lane]:
    """All apps that ever ran, in the order in which they first did."""
    lanes: dict[str, Lane] = {}
    scenes, frozen = scene_spans(run.events, run.end_s), frozen_times(run)
    for app, changes in process_changes(run).groupby("app", sort=False):
        if app != "":
            listed = list(zip(changes["time_s"], changes["state"]))
            process = with_frozen(spans(listed, run.end_s), frozen.get(str(app), []))
            lanes[str(app)] = Lane(str(app), process, scenes.get(str(app), []))
    for time_s, app, kind in kills.ends_of(run):
        if app in lanes:
            lanes[app].ended_as.setdefault(kind, []).append(time_s)
    for event, app, time_s, level in run.events[["event", "app", "time_s", "level"]].itertuples(index=False):
        lane = lanes.get(app)
        if lane is None:
            continue
        if event == "warning":
            lane.warnings.append(time_s)
            lane.warned_at.setdefault(level if level in WARNING_FILLS else "", []).append(time_s)
        elif event == "exit":
            lane.ends.append(time_s)
        elif event == "first_frame":
            lane.frames.append(time_s)
    return sorted((lane for lane in lanes.values() if lane.process), key=lambda lane: lane.first_s)


def was_ended(lane: Lane) -> bool:
    return bool(lane.ended_as.keys() - {style.LEFT})


def chosen(lanes: list[Lane]) -> list[Lane]:
    """Where there are too many, those that were ended first, and the most eventful of them; the order stays."""
    if len(lanes) <= MOST_APPS:
        return lanes
    ranked = sorted(lanes, key=lambda lane: (not was_ended(lane), -lane.eventfulness))[:MOST_APPS]
    kept = {lane.app for lane in ranked}
    return [lane for lane in lanes if lane.app in kept]


def ended_elsewhere(lanes: list[Lane], shown: list[Lane]) -> str:
    """The names of the ended apps that have no lane."""
    kept = {lane.app for lane in shown}
    names = [style.label(lane.app) for lane in lanes if was_ended(lane) and lane.app not in kept]
    return f"Ended as well: {', '.join(names)}" if names else ""


def caption(lanes: list[Lane], shown: list[Lane], with_scenes: bool) -> str:
    parts = []
    if len(shown) < len(lanes):
        parts.append(f"The {len(shown)} most eventful of {len(lanes)} apps that ran; the rest is left out.")
    hidden = sum(max(len(lane.scenes) - MOST_SCENES, 0) for lane in shown)
    if not any(lane.scenes for lane in shown):
        return " ".join(parts)
    if not with_scenes:
        parts.append(f"Scenes are left out; they are drawn for up to {MOST_APPS_WITH_SCENES} apps.")
        return " ".join(parts)
    parts.append("Thin lanes are the scenes of the app above.")
    if hidden:
        parts.append(f"{style.plural(hidden, 'scene')} beyond an app's first {MOST_SCENES} left out.")
    return " ".join(parts)


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_spans(axes: Axes, items: Spans, top: float, height: float) -> None:
    for state, colour in style.STATE_COLOURS.items():
        bars = [(start, end - start) for start, end, name in items if name == state]
        if bars:
            hatched = {"hatch": style.FROZEN_HATCH, "edgecolor": "white"} if state == "frozen" else {}
            axes.broken_barh(bars, (top, height), facecolors=colour, linewidth=0, **hatched)


def draw_lane(axes: Axes, lane: Lane, top: float, distance_s: float, with_scenes: bool, scale: float = 1.0) -> float:
    """Draws the lane downwards from `top`, in inches, and returns where it ends; `scale` is that of the marks of ends."""
    draw_spans(axes, lane.process, top, APP_IN)
    middle = top + APP_IN / 2
    looks = [(lane.frames, "o", FRAME_FILL, 2.6, FRAME_AT)]
    looks += [(lane.warned_at.get(level, []), "^", fill, 4.6, WARNED_AT) for level, fill in WARNING_FILLS.items()]
    for times, marker, fill, size, height in looks:
        shown = style.thin(sorted(times), distance_s)
        axes.plot(
            shown, [top + height * APP_IN] * len(shown), linestyle="none", marker=marker, markersize=size, markeredgewidth=0.5,
            markeredgecolor=style.INK, markerfacecolor=fill, clip_on=False, zorder=5,
        )  # fmt: skip
    for kind in style.END_LOOKS:
        shown = style.thin(sorted(lane.ended_as.get(kind, [])), distance_s)
        style.mark_ends(axes, [(time_s, middle) for time_s in shown], kind, scale)
    bottom = top + APP_IN
    if with_scenes:
        for scene in lane.scenes[:MOST_SCENES]:
            bottom += 0.018
            draw_spans(axes, scene, bottom, SCENE_IN)
            bottom += SCENE_IN
    return bottom


def marks_of(lanes: list[Lane]) -> tuple[list[Any], list[str]]:
    """The marks that occur, and what they mean."""
    from matplotlib.lines import Line2D

    def mark(marker: str, size: float, fill: str) -> Line2D:
        return Line2D([], [], linestyle="none", markeredgecolor=style.INK, marker=marker, markersize=size, markerfacecolor=fill,
                      markeredgewidth=0.6)  # fmt: skip

    marks: list[Any] = []
    names: list[str] = []
    if any(lane.frames for lane in lanes):
        marks, names = [mark("o", 3.5, FRAME_FILL)], ["first frame"]
    for level, fill in reversed(WARNING_FILLS.items()):
        if any(level in lane.warned_at for lane in lanes):
            marks.append(mark("^", 5, fill))
            names.append(WARNING_NAMES[level])
    for kind in reversed(style.END_LOOKS):
        if any(kind in lane.ended_as for lane in lanes):
            marks.append(style.end_handle(kind))
            names.append(style.END_NAMES[kind])
    return marks, names


def draw_legend(
    figure: Figure, marks: list[Any], names: list[str], found: set[str], height_in: float, top_in: float = 0.3
) -> None:
    """Under the title, so far below the upper edge: the states, the rare ones among them if they are found, and the marks in one line or two."""
    from matplotlib.patches import Patch

    shown = {state: colour for state, colour in style.STATE_COLOURS.items() if state in found or state not in style.RARE_STATES}
    states = [Patch(facecolor=colour, label=state) for state, colour in shown.items()]
    if "frozen" in shown:
        states[list(shown).index("frozen")].set(hatch=style.FROZEN_HATCH, edgecolor="white", linewidth=0)
    rows = [(states, list(shown))]
    rows += [(marks[at : at + MOST_MARKS], names[at : at + MOST_MARKS]) for at in range(0, len(marks), MOST_MARKS)]
    for place, (handles, texts) in enumerate(rows):
        figure.legend(
            handles, texts, loc="upper left", bbox_to_anchor=(0.012, 1 - (top_in + LEGEND_ROW_IN * place) / height_in), ncols=8,
            borderaxespad=0, handlelength=1.1, handletextpad=0.4, columnspacing=1.1, borderpad=0.2, fontsize=7,
        )  # fmt: skip


def lane_height_in(lane: Lane, with_scenes: bool) -> float:
    scenes = min(len(lane.scenes), MOST_SCENES) if with_scenes else 0
    return APP_IN + scenes * (SCENE_IN + 0.018) + GAP_IN


def draw(run: Run) -> Figure | None:
    """The picture, or None when nothing ever ran."""
    import matplotlib.pyplot as plt

    lanes = lanes_of(run)
    if not lanes:
        return None
    shown = chosen(lanes)
    with_scenes = len(shown) <= MOST_APPS_WITH_SCENES
    end_s = max(run.end_s, 1e-3)

    note = caption(lanes, shown, with_scenes)
    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    listed = ended_elsewhere(lanes, shown)
    notes = [note] * bool(note) + (style.wrapped(figure, listed, 7, (style.WIDTH_IN - LEFT_IN - 0.1) * style.DPI) if listed else [])
    bottom_in = 0.46 + (0.03 + 0.13 * len(notes) if notes else 0)
    lanes_in = sum(lane_height_in(lane, with_scenes) for lane in shown) + GAP_IN
    marks, names = marks_of(shown)
    height_in = TOP_IN + LEGEND_ROW_IN * -(-len(marks) // MOST_MARKS) + lanes_in + bottom_in
    figure.set_size_inches(style.WIDTH_IN, height_in)
    width_in = style.WIDTH_IN - LEFT_IN - RIGHT_IN
    axes = figure.add_axes(
        (LEFT_IN / style.WIDTH_IN, bottom_in / height_in, width_in / style.WIDTH_IN, lanes_in / height_in)
    )
    axes.set_ylim(lanes_in, 0)
    style.time_axis(axes, end_s)

    top, ticks = GAP_IN, []
    for lane in shown:
        ticks.append(top + APP_IN / 2)
        bottom = draw_lane(axes, lane, top, MARKED_PX * end_s / (width_in * style.DPI), with_scenes)
        top = bottom + GAP_IN
        axes.axhline(top - GAP_IN / 2, color=style.RULE, linewidth=0.4, zorder=0)
    axes.set_yticks(ticks, [style.label(lane.app, 20) for lane in shown], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.RULE, linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)
    style.bare(axes, "bottom")

    left = LEFT_IN / style.WIDTH_IN
    style.title(figure, f"States of {run.title}")
    draw_legend(figure, marks, names, {state for lane in lanes for _, _, state in lane.process}, height_in)
    figure.text(left, 0.08 / height_in, "\n".join(notes), fontsize=7, color=style.QUIET, va="bottom")
    return figure
