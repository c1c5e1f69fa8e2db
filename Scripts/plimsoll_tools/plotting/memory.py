"""memory: resident memory by app under the ceiling, with pressure, warnings and terminations.

On a device with a compressor, footprints count compressed pages as well, and add up to more than fits. There, and where files
fill memory, the layers are footprints, and a second panel has what is in RAM, under the ceiling. Where a freezer moves pages to flash, a line upon the
footprints says how much of them is there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import kills, ram, style
from plimsoll_tools.plotting.run_directory import Run, app_peaks, once_per_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = ("samples.time_s", "samples.resident_bytes", "samples.ceiling_bytes", "samples.pressure_level",
         "apps.time_s", "apps.app", "apps.footprint_bytes", "events.event")  # fmt: skip

MOST_LAYERS = len(style.APP_COLOURS)
"""Apps with a layer of their own, those that were ended aside: these have one each, as far as MOST_ENDED_LAYERS goes."""
MOST_ENDED_LAYERS = 32
COLUMNS = 1200
"""Samples drawn at most: about one per pixel of the picture."""

LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.96, 2.34, 0.52, 0.46
STACK_IN = 3.5
RAM_IN, RAM_GAP_IN = 1.5, 0.3
"""The panel of what is in RAM, on a device with a compressor."""
FOOTPRINTS_IN = 2.9
"""Then the layers have less height."""
LANE_IN = 0.17
MOST_NAME_ROWS = 6
MOST_WARNED_ROWS = 4
NAME_PT = 6.5
CLUSTER_PX = 22
"""Ends that are nearer than this are one mark with a number, where there is no room for all names."""
LEGEND_ROW_IN = 0.16
LEGEND_COLUMNS_IN = {"peak": 1.58, "warned": 1.82, "ended": 2.16}
"""Where the legend's figures end, from its left edge."""
LIST_LINE_IN = 0.13
KEY_IN = 0.16
LEAST_SEEN = 0.002
"""Of the whole height; a thinner layer is no more than a line."""
TOP_PT = 7.5
"""The names of the ceiling and the peak."""

@dataclass(frozen=True)
class Layer:
    name: str
    colour: str
    bytes: np.ndarray
    hatch: str | None = None
    apps: tuple[str, ...] = ()
    """The apps whose memory it is."""


@dataclass(frozen=True)
class Stack:
    """What lies upon what, from the bottom up, at the ascending times."""

    times_s: np.ndarray
    layers: list[Layer]
    ram: list[Layer] = field(default_factory=list)
    """On a device with a compressor: what is in RAM. The layers are then footprints, compressed pages included."""
    flash: np.ndarray | None = None
    """On a device with a freezer: the part of the footprints that is on flash."""

    @property
    def top(self) -> float:
        return float(np.sum([layer.bytes for layer in self.layers], axis=0).max(initial=0.0))


# --- What is drawn ------------------------------------------------------------------------------------------------------


def footprints(apps: pd.DataFrame) -> pd.DataFrame:
    """Bytes per app, one row per sampled time, one column per app in the order of first appearance."""
    known = apps.dropna(subset=["footprint_bytes"])
    if known.empty:
        return pd.DataFrame(dtype=float)
    table = known.groupby(["time_s", "app"], sort=False, observed=True)["footprint_bytes"].sum().unstack().fillna(0.0)
    return table.sort_index()[list(dict.fromkeys(known["app"]))]


def at_times(table: pd.DataFrame, times_s: np.ndarray) -> pd.DataFrame:
    """The table at the given times. A row holds until the next one is due, and no longer: when no process lives, there
    is no row, and that means zero."""
    if len(table) < 2:
        return table.reindex(times_s, fill_value=0.0)
    interval = float(np.median(np.diff(table.index)))
    return table.reindex(times_s, method="ffill", tolerance=0.999 * interval).fillna(0.0)


def peaks(samples: pd.DataFrame, end_s: float) -> pd.DataFrame:
    """At most COLUMNS samples, of each stretch of time the one with the most resident memory: no peak is lost."""
    if len(samples) <= COLUMNS:
        return samples
    stretch = (samples["time_s"] / max(end_s, 1e-9) * COLUMNS).astype(int)
    chosen = samples.groupby(stretch)["resident_bytes"].idxmax().dropna().astype(int)
    return samples.loc[sorted({samples.index[0], *chosen, samples.index[-1]})]


@once_per_run
def colours_of(run: Run) -> dict[str, str]:
    """Each app's colour, by its place in the scenario: the same in all runs of one scenario, whatever happens there.

    Apps that the scenario does not name come after those, by name.
    """
    named = run.facts.apps
    others = sorted(set(run.apps["app"]) - set(named))
    return {name: style.app_colour(place) for place, name in enumerate([*named, *others])}


def stack_of(run: Run) -> Stack:
    """The layers: what belongs to no app at the bottom, then the apps, the largest first, then the others as one."""
    table = footprints(run.apps)
    samples = run.samples.dropna(subset=["resident_bytes"])
    if samples.empty:
        times_s, resident = table.index.to_numpy(dtype=float), None
    else:
        samples = peaks(samples, run.end_s)
        times_s, resident = samples["time_s"].to_numpy(), samples["resident_bytes"].to_numpy()
    table = at_times(table, times_s) if len(table.columns) else table

    largest = table.mean().sort_values(ascending=False, kind="stable").index.tolist()
    shown = shown_apps(largest, {*kills.kills_of(run)["app"], *kills.crashes(run)["app"]})
    colours = colours_of(run)
    layers = [Layer(style.label(name), colours[name], table[name].to_numpy(), apps=(name,)) for name in shown]
    if len(shown) < len(largest):
        rest = table[[name for name in largest if name not in set(shown)]]
        bytes_ = rest.sum(axis=1).to_numpy()
        known = run.facts.apps
        are_apps = not known or set(rest.columns) <= set(known)
        name = style.plural(rest.shape[1], "other app") if are_apps else f"{rest.shape[1]:,} others"
        layers.append(Layer(name, style.OTHER_COLOUR, bytes_, apps=tuple(rest.columns)))
    if parts := ram.parts_of(run, times_s, resident):
        in_ram = [Layer(part.name, part.colour, part.bytes, part.hatch) for part in parts]
        return Stack(times_s, layers, in_ram, ram.on_flash(run, times_s))
    if resident is not None:
        of_apps = table.sum(axis=1).to_numpy() if layers else 0.0
        name = "system" if layers else "resident"
        layers.insert(0, Layer(name, style.SYSTEM_COLOUR, np.maximum(resident - of_apps, 0.0), "////"))
    return Stack(times_s, layers)


def shown_apps(largest: list[str], ended: set[str]) -> list[str]:
    """Of the apps, the largest first, those with a layer of their own: every one that was ended, then the largest."""
    if len(largest) <= MOST_LAYERS:
        return largest
    first = [name for name in largest if name in ended][:MOST_ENDED_LAYERS]
    others = [name for name in largest if name not in ended]
    kept = {*first, *others[: max(MOST_LAYERS - 1 - len(first), 0)]}
    return [name for name in largest if name in kept]


@dataclass(frozen=True)
class Peak:
    """The most memory in use at any moment, and when."""

    bytes: float
    time_s: float
    """The sample at which it was known first; NaN where only the whole run is known."""
    sampled_bytes: float
    """What that sample itself found."""

    @property
    def is_between_samples(self) -> bool:
        return not self.bytes <= self.sampled_bytes


def peak_of(run: Run) -> Peak | None:
    """The true peak, which the program tracks at every hand-out of pages; from older runs the largest sample."""
    samples = run.samples.dropna(subset=["resident_bytes"])
    if samples.empty:
        return None
    tracked = samples["peak_resident_bytes"].max()
    highest = run.tables["summary"]["peak_resident_bytes"].max()
    most = float(np.nanmax([samples["resident_bytes"].max(), tracked, highest]))
    for column in ("resident_bytes", "peak_resident_bytes"):
        if float(samples[column].max()) == most:
            row = samples.loc[samples[column].idxmax()]
            return Peak(most, float(row["time_s"]), float(row["resident_bytes"]))
    return Peak(most, math.nan, float(samples["resident_bytes"].max()))


@dataclass(frozen=True)
class OwnLimit:
    """The limit of its own at which a process died, and where its line runs in the picture."""

    app: str
    bytes: float
    times_s: np.ndarray
    heights: np.ndarray


def own_limits(run: Run, stack: Stack, ended: pd.DataFrame) -> list[OwnLimit]:
    """For every process that died at a limit of its own: that limit above the bottom of the app's layer."""
    bottoms: dict[str, np.ndarray] = {}
    base = np.zeros(len(stack.times_s))
    for layer in stack.layers:
        if len(layer.apps) == 1:
            bottoms[layer.apps[0]] = base
        base = base + layer.bytes
    found = []
    for row in ended[(ended["measure"] == "footprint_bytes") & ended["threshold"].notna()].itertuples(index=False):
        lived = run.apps.loc[run.apps["pid"] == row.pid, "time_s"]
        if row.app not in bottoms or lived.empty:
            continue
        chosen = (stack.times_s >= lived.min()) & (stack.times_s <= row.time_s)
        times_s = np.append(stack.times_s[chosen], row.time_s)
        heights = bottoms[row.app][chosen] + row.threshold
        if len(heights):
            found.append(OwnLimit(row.app, row.threshold, times_s, np.append(heights, heights[-1])))
    return found


@once_per_run
def level_spans(run: Run) -> list[tuple[float, float, str]]:
    """(start, end, level) in order, from the samples."""
    levels = run.samples[run.samples["pressure_level"] != ""]
    if levels.empty:
        return []
    changed = levels["pressure_level"].ne(levels["pressure_level"].shift())
    starts = levels.loc[changed, "time_s"].tolist()
    return list(zip(starts, starts[1:] + [run.end_s], levels.loc[changed, "pressure_level"].tolist()))


def thresholds(run: Run) -> dict[str, float]:
    """Level -> the resident bytes from which it counts; none where the monitor looks at something else than available
    memory. Those that were crossed come first: the others are drawn upon them."""
    ceiling = float(run.samples["ceiling_bytes"].max())
    found = {level: ceiling - run.facts.thresholds.get(level, ceiling) for level in crossed(run) | style.LEVEL_COLOURS}
    return {level: resident for level, resident in found.items() if 0 < resident < ceiling}


def crossed(run: Run) -> dict[str, None]:
    """The levels that were reached, in the order in which they were."""
    return dict.fromkeys(level for *_, level in level_spans(run))


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_stack(axes: Axes, stack: Stack, end_s: float) -> None:
    # The last sample holds until the end.
    times_s = np.append(stack.times_s, max(end_s, stack.times_s[-1]))
    base = np.zeros(len(times_s))
    for layer in stack.layers:
        top = base + np.append(layer.bytes, layer.bytes[-1])
        # An edge in white would hide a layer that is there for a moment; a hatch has the colour of the edge.
        axes.fill_between(
            times_s, base, top, step="post", facecolor=layer.colour, edgecolor="white", linewidth=0.25 if layer.hatch else 0,
            hatch=layer.hatch,
        )  # fmt: skip
        draw_tops(axes, times_s, top, stack.top)
        base = top


def draw_flash(axes: Axes, stack: Stack, end_s: float) -> None:
    """How much of the footprints is on flash, as a line from zero: whose memory it is, no table says."""
    from matplotlib.patheffects import withStroke

    if stack.flash is None:
        return
    times_s = np.append(stack.times_s, max(end_s, stack.times_s[-1]))
    (line,) = axes.step(times_s, np.append(stack.flash, stack.flash[-1]), where="post", color=style.FLASH_COLOUR, linewidth=1.3,
                        zorder=5, gid="on-flash")  # fmt: skip
    line.set_path_effects([withStroke(linewidth=2.8, foreground="white")])


def draw_tops(axes: Axes, times_s: np.ndarray, heights: np.ndarray, highest: float) -> None:
    """A white line on a layer that leaves out the jumps: upright, it would cover a peak of a single sample."""
    jumps = np.flatnonzero(np.abs(np.diff(heights)) > 0.01 * highest) + 1
    # Up to a jump the height before it holds, as `step` draws; then nothing is drawn.
    xs = np.insert(times_s, np.repeat(jumps, 2), np.repeat(times_s[jumps], 2))
    ys = np.insert(heights, np.repeat(jumps, 2), np.column_stack([heights[jumps - 1], np.full(len(jumps), np.nan)]).ravel())
    axes.step(xs, ys, where="post", color="white", linewidth=0.35, zorder=1.5, gid="layer-top")


def peak_side(at: float, wide: float, taken: float) -> tuple[str, bool]:
    """On which side of its mark the peak's name stands, and whether the ceiling's stands on the left, both in a row.

    The moment, the name's width and that of the ceiling's name are shares of the axis. A name with no room on either
    side is centred over its mark.
    """
    for is_left in (False, True):
        first, last = (taken, 1.0) if is_left else (0.0, 1 - taken)
        if at >= first and at + wide <= last:
            return "left", is_left
        if at - wide >= first and at <= last:
            return "right", is_left
    return "center", at > 0.5


def draw_top(axes: Axes, run: Run, peak: Peak | None, levels: dict[str, float], end_s: float) -> None:
    """The ceiling and the peak with their names: the peak's at its mark, above the ceiling where both are near."""
    from matplotlib.patheffects import withStroke

    samples = run.samples.dropna(subset=["ceiling_bytes"])
    last = math.nan
    if not samples.empty:
        axes.step(samples["time_s"], samples["ceiling_bytes"], where="post", color=style.INK, linewidth=1.4, zorder=5)
        last = float(samples["ceiling_bytes"].iloc[-1])
    at_s = draw_peak(axes, peak) if peak else math.nan
    look: dict[str, Any] = {"textcoords": "offset points", "va": "bottom", "fontsize": TOP_PT, "zorder": 9}
    texts, taken, is_left = [], 0.0, False
    frame = axes.get_window_extent()
    points = frame.height / (axes.get_ylim()[1] - axes.get_ylim()[0]) * 72 / style.DPI
    if not math.isnan(last):
        taken = style.text_width_px(axes.figure, f"ceiling {style.bytes_text(last)}", TOP_PT, "bold") / frame.width + 0.03
    if peak:
        name = peak_text(peak, end_s)
        lift = lift_of([(level - peak.bytes) * points for level in levels.values()], 2.5)
        is_high = math.isnan(at_s) or (last - peak.bytes) * points < lift + TOP_PT + 5
        wide = style.text_width_px(axes.figure, name, TOP_PT) / frame.width
        at = 0.5 if math.isnan(at_s) else at_s / end_s
        side, is_left = peak_side(at, wide + 0.012, taken if is_high else 0.0)
        if side == "center":
            at = min(max(at, wide / 2), 1 - wide / 2)
            lift += 3
        height = last if is_high and not math.isnan(last) else peak.bytes
        texts.append(axes.annotate(
            name, (at, height), xycoords=("axes fraction", "data"), ha=side,
            xytext=({"left": 5, "right": -5, "center": 0}[side], 2.5 if is_high and side != "center" else lift), **look,
        ))  # fmt: skip
        is_left = is_left and is_high
    if not math.isnan(last):
        texts.append(axes.annotate(
            f"ceiling {style.bytes_text(last)}", (0 if is_left else 1, last), xycoords=("axes fraction", "data"),
            xytext=(3 if is_left else -3, 2.5), ha="left" if is_left else "right", fontweight="bold", **look,
        ))  # fmt: skip
    for text in texts:
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])


def lift_of(lines: list[float], lift: float) -> float:
    """How far above the peak its name stands, in points, when lines run at these heights above the peak: clear of them."""
    for line in sorted(lines):
        if lift - 2 < line < lift + TOP_PT + 2:
            lift = line + 2.5
    return lift


def shade_levels(axes: Axes, spans: list[tuple[float, float, str]]) -> None:
    """Shades the background while a level is in force."""
    style.shade(axes, [(start, end, style.LEVEL_SHADES[level]) for start, end, level in spans if level in style.LEVEL_SHADES], zorder=0)


def draw_levels(panels: list[Axes], strip: Axes, spans: list[tuple[float, float, str]]) -> None:
    """Shades the background of the panels, and fills the strip above them, where nothing can hide the colours."""
    for axes in panels:
        shade_levels(axes, spans)
    style.shade(strip, [(start, end, style.LEVEL_COLOURS.get(level, style.RULE)) for start, end, level in spans])


def warned_names(figure: Figure, warnings: pd.DataFrame, px_per_second: float, width_px: float) -> Names | None:
    """Which apps were warned at each moment, two of them by name; None when there is no room for that."""
    wanted: list[tuple[float, list[str]]] = []
    for time_s, app in warnings[["time_s", "app"]].sort_values("time_s", kind="stable").itertuples(index=False):
        if not wanted or (time_s - wanted[-1][0]) * px_per_second > 4:
            wanted.append((time_s, []))
        if app not in wanted[-1][1]:
            wanted[-1][1].append(app)
    texts = []
    for time_s, apps in wanted:
        more = f" +{len(apps) - 2}" if len(apps) > 3 else ""
        texts.append((time_s, ", ".join(style.label(app, 14) for app in apps[: 2 if more else 3]) + more, False))
    return place_names(figure, texts, px_per_second, width_px, MOST_WARNED_ROWS)


def draw_warnings(lane: Axes, warnings: pd.DataFrame, seconds_per_px: float, names: Names | None = None) -> None:
    """Every warning: in its level's colour, the worst on top; those of an app near its own limit in grey."""
    colours = [style.LEVEL_COLOURS.get(level, style.SYSTEM_COLOUR) for level in warnings["level"]]
    rows = max((name.row for name in names or []), default=0) + 1
    lane.set_ylim(rows, 0)
    for colour in (style.SYSTEM_COLOUR, style.LEVEL_COLOURS["warning"], style.LEVEL_COLOURS["critical"]):
        times = sorted(time_s for time_s, own in zip(warnings["time_s"], colours) if own == colour)
        shown = style.thin(times, 3 * seconds_per_px)
        heights = [height_of(names, time_s, seconds_per_px) for time_s in shown]
        lane.plot(
            shown, heights, linestyle="none", marker="^", markersize=3.6, markeredgewidth=0, color=colour
        )
    for name in names or []:
        write_name(lane, name, style.INK)


def height_of(names: Names | None, time_s: float, seconds_per_px: float) -> float:
    """The middle of the row in which the mark's name stands."""
    near = [name for name in names or [] if name.time_s <= time_s + 1e-9 and time_s - name.time_s <= 5 * seconds_per_px]
    return near[-1].row + 0.5 if near else 0.5


@dataclass(frozen=True)
class Name:
    """A name beside its mark in a lane."""

    time_s: float
    text: str
    is_bold: bool
    row: int
    is_right: bool
    """Whether it stands to the right of its mark."""


Names = list[Name]


def place_names(
    figure: Figure, texts: list[tuple[float, str, bool]], px_per_second: float, width_px: float, most_rows: int
) -> Names | None:
    """Puts (time, text, whether it is bold) into rows; None when there is no room for all."""
    mark_px = 5 * style.DPI / 72
    wanted = []
    for time_s, text, is_bold in texts:
        text_px = style.text_width_px(figure, text, NAME_PT) * (1.12 if is_bold else 1)
        at_px = time_s * px_per_second
        right = at_px + mark_px + text_px <= width_px
        span = (at_px - mark_px, at_px + mark_px + text_px) if right else (at_px - mark_px - text_px, at_px + mark_px)
        wanted.append((span, time_s, text, is_bold, right))
    wanted.sort(key=lambda item: item[0])
    rows = style.pack([item[0] for item in wanted], most_rows, gap=4)
    if rows is None:
        return None
    return [Name(time_s, text, is_bold, row, right) for (_, time_s, text, is_bold, right), row in zip(wanted, rows)]


def write_name(lane: Axes, name: Name, colour: str) -> None:
    lane.annotate(
        name.text, (name.time_s, name.row + 0.5), xytext=(5 if name.is_right else -5, -0.3), textcoords="offset points",
        ha="left" if name.is_right else "right", va="center", fontsize=NAME_PT, annotation_clip=False, color=colour,
        fontweight="bold" if name.is_bold else "normal",
    )  # fmt: skip


Ends = list[tuple[float, str, str]]
"""Time, app, and kind of end."""


def clusters(ends: Ends, px_per_second: float) -> list[Ends]:
    """Ends that are too near to each other for marks of their own."""
    found: list[Ends] = []
    for end in ends:
        if found and (end[0] - found[-1][0][0]) * px_per_second < CLUSTER_PX:
            found[-1].append(end)
        else:
            found.append([end])
    return found


def draw_ends(lane: Axes, axes: Axes, ends: Ends, names: Names | None, px_per_second: float) -> None:
    """A mark and a name for every end; where there is no room for all, a mark with a number for those near each other."""
    marks: dict[str, list[tuple[float, float]]] = {kind: [] for kind in style.END_LOOKS}
    if names is None:
        lane.set_ylim(1, 0)
        for cluster in clusters(ends, px_per_second):
            kind = next(kind for kind in reversed(marks) if any(own == kind for _, _, own in cluster))
            marks[kind].append((cluster[0][0], 0.66))
            if len(cluster) > 1:
                lane.text(cluster[0][0], 0.02, f"{len(cluster)}", fontsize=5.5, ha="center", va="center", clip_on=False)
    else:
        lane.set_ylim(max((name.row for name in names), default=0) + 1, 0)
        kinds = {(time_s, end_text(app, kind)): kind for time_s, app, kind in ends}
        for name in names:
            kind = kinds[name.time_s, name.text]
            marks[kind].append((name.time_s, name.row + 0.5))
            write_name(lane, name, style.INK if kind != style.UNFELT else style.QUIET)
    for kind, at in marks.items():
        style.mark_ends(lane, at, kind)
    # Lines for very many ends would hide the layers.
    if names is not None:
        draw_end_lines(axes, ends)


def draw_end_lines(axes: Axes, ends: Ends) -> None:
    for time_s, _, kind in ends:
        is_felt = kind == style.FELT
        axes.axvline(time_s, color=style.INK if is_felt else style.HARMLESS, linewidth=0.8 if is_felt else 0.5,
                     linestyle=(0, (1, 1)) if is_felt else (0, (1, 3)), zorder=4)  # fmt: skip


def end_text(app: str, kind: str) -> str:
    return style.label(app, 20) + (" (crash)" if kind == style.CRASHED else "")


def draw_peak(axes: Axes, peak: Peak) -> float:
    """The true peak as a tip above the layers. Returns where the axis has its name."""
    if not math.isnan(peak.time_s):
        if peak.is_between_samples:
            axes.vlines(peak.time_s, peak.sampled_bytes, peak.bytes, color=style.INK, linewidth=1.0, zorder=5)
        axes.plot([peak.time_s], [peak.bytes], marker="v", markersize=5.5, color=style.INK, markeredgecolor="white",
                  markeredgewidth=0.5, zorder=8, gid="peak", clip_on=False)  # fmt: skip
    return peak.time_s


def peak_text(peak: Peak, end_s: float) -> str:
    text = f"peak {style.bytes_text(peak.bytes)}"
    if not math.isnan(peak.time_s):
        text += f" at {style.moment_text(peak.time_s, end_s)}"
    return text + (", between samples" if peak.is_between_samples else "")


OWN_LIMIT_LINE: Any = (0, (4, 1, 1, 1))


def draw_own_limits(axes: Axes, limits: list[OwnLimit], end_s: float) -> None:
    """The limits as lines above their layers; `draw_limits_legend` names them."""
    from matplotlib.patheffects import withStroke

    for limit in limits:
        last = limit.times_s[-1]
        times_s = np.append(min(limit.times_s[0], last - 0.012 * end_s), limit.times_s)
        heights = np.append(limit.heights[0], limit.heights)
        (line,) = axes.step(times_s, heights, where="post", color=style.INK, linewidth=1.1, linestyle=OWN_LIMIT_LINE, zorder=6,
                            gid="own-limit")  # fmt: skip
        line.set_path_effects([withStroke(linewidth=2.6, foreground="white")])


def limit_names(limits: list[OwnLimit]) -> list[str]:
    """What the lines of limits mean, each once."""
    return list(dict.fromkeys(f"{style.label(limit.app)}'s own limit {style.exact_bytes_text(limit.bytes)}" for limit in limits))


def draw_limits_legend(figure: Figure, axes: Axes, names: list[str], above: int) -> None:
    """Beside the picture, below so many rows of layers: a name upon the layers would cover them."""
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    left_in, top_in = axes.get_position().x1 * width + 0.1, axes.get_position().y1 * height - 0.02
    for place, name in enumerate(names, start=above + 1):
        y = (top_in - LEGEND_ROW_IN * place) / height
        figure.add_artist(Line2D([left_in / width, (left_in + 0.19) / width], [y, y], color=style.INK, linewidth=1.1,
                                 linestyle=OWN_LIMIT_LINE))  # fmt: skip
        shown = style.fitted(figure, name, (RIGHT_IN - 0.1 - 0.23 - 0.04) * style.DPI, NAME_PT)
        figure.text((left_in + 0.23) / width, y, shown, va="center", fontsize=NAME_PT)


def draw_thresholds(axes: Axes, limits: dict[str, float]) -> None:
    from matplotlib.patheffects import withStroke

    for level, resident in limits.items():
        line = axes.axhline(resident, color=style.LEVEL_COLOURS[level], linewidth=1.1, linestyle=(0, (5, 2)), zorder=4.5)
        # A white edge: the line must be seen upon an app of its own colour.
        line.set_path_effects([withStroke(linewidth=2.4, foreground="white")])


@dataclass(frozen=True)
class LegendRow:
    """What the legend says of a layer."""

    layer: Layer
    peak: float
    warned: int
    ended: int
    felt: int
    is_line: bool = False
    """Whether it is drawn as a line upon the layers, and is part of them."""


def legend_rows(run: Run, stack: Stack, warnings: pd.DataFrame, ends: Ends) -> list[LegendRow]:
    """The layers from the top down, with how often their apps were warned and ended."""
    known = run.apps.dropna(subset=["footprint_bytes"])
    peaks = known.groupby("app", sort=False)["footprint_bytes"].max().to_dict()
    # What was between the samples only the program knows.
    peaks |= {app: max(peaks.get(app, 0.0), peak) for app, peak in app_peaks(run.directory).items()}
    warned = warnings["app"].value_counts().to_dict()
    rows = []
    for layer in reversed(stack.layers):
        # The system's layer, where nothing of it is seen.
        if not layer.apps and layer.bytes.max(initial=0.0) < LEAST_SEEN * stack.top:
            continue
        own = [kind for _, app, kind in ends if app in layer.apps]
        rows.append(LegendRow(
            layer, peaks.get(layer.apps[0], math.nan) if len(layer.apps) == 1 else math.nan,
            sum(warned.get(app, 0) for app in layer.apps), len(own), own.count(style.FELT),
        ))  # fmt: skip
    if stack.flash is not None:
        most = float(run.tables["freezer"]["swapped_bytes"].max())
        rows.append(LegendRow(Layer("on flash", style.FLASH_COLOUR, stack.flash), most, 0, 0, 0, is_line=True))
    return rows


def draw_layers_legend(figure: Figure, axes: Axes, rows: list[LegendRow], head: str = "memory of") -> None:
    """Beside the picture, in the order in which the layers lie: the name, the peak, and how often warned and ended."""
    from matplotlib.patches import Rectangle

    width, height = figure.get_size_inches()
    left_in, top_in = axes.get_position().x1 * width + 0.1, axes.get_position().y1 * height
    has_warned, has_ended = any(row.warned for row in rows), any(row.ended for row in rows)

    def write(x_in: float, y_in: float, text: str, **look: object) -> None:
        figure.text((left_in + x_in) / width, y_in / height, text, va="center", **({"fontsize": 7} | look))  # type: ignore[arg-type]

    write(0, top_in - 0.02, head, fontsize=7.5, fontweight="bold")
    heads = {"peak": "peak", "warned": "▲" if has_warned else "", "ended": "ended" if has_ended else ""}
    for name, title in heads.items():
        write(LEGEND_COLUMNS_IN[name], top_in - 0.02, title, ha="right", fontsize=6.3, color=style.QUIET)
    for place, row in enumerate(rows, start=1):
        y_in = top_in - 0.02 - LEGEND_ROW_IN * place
        tall_in = 0.018 if row.is_line else 0.09
        figure.add_artist(Rectangle(
            (left_in / width, (y_in - tall_in / 2) / height), 0.17 / width, tall_in / height, transform=figure.transFigure,
            facecolor=row.layer.colour, edgecolor="white" if row.layer.hatch else style.QUIET, hatch=row.layer.hatch,
            linewidth=0 if row.is_line else 0.3,
        ))  # fmt: skip
        write(0.23, y_in, style.label(row.layer.name, 15))
        if row.peak == row.peak:
            write(LEGEND_COLUMNS_IN["peak"], y_in, style.bytes_text(row.peak), ha="right", fontsize=6.3)
        if row.warned:
            write(LEGEND_COLUMNS_IN["warned"], y_in, f"{row.warned:,}", ha="right", fontsize=6.3)
        if row.ended:
            write(LEGEND_COLUMNS_IN["ended"], y_in, f"{row.ended:,}", ha="right", fontsize=6.3,
                  fontweight="bold" if row.felt else "normal", color=style.INK if row.felt else style.QUIET)  # fmt: skip


def draw_levels_legend(figure: Figure, axes: Axes, levels: list[str], limits: dict[str, float], top: float) -> None:
    from matplotlib.patches import Patch

    names = [f"{level}, from {style.bytes_text(limits[level])}" if level in limits else level for level in levels]
    if names:
        figure.legend(
            [Patch(facecolor=style.LEVEL_COLOURS[level], linewidth=0) for level in levels], names,
            loc="upper left", bbox_to_anchor=(axes.get_position().x1 + 0.0125, top), title="pressure",
            alignment="left", title_fontproperties={"size": 7.5, "weight": "bold"}, borderaxespad=0, borderpad=0,
            handlelength=1.2, labelspacing=0.2, fontsize=7,
        )  # fmt: skip


def draw_key(figure: Figure, ends: Ends, warnings: pd.DataFrame, height_in: float) -> None:
    """Under the title: what the marks mean that occur."""
    from matplotlib.lines import Line2D

    marks = {kind: style.end_handle(kind) for kind in reversed(style.END_LOOKS) if any(own == kind for *_, own in ends)}
    handles: list[Any] = list(marks.values())
    names = [style.END_NAMES[kind] for kind in marks]
    if len(warnings):
        handles.append(Line2D([], [], linestyle="none", marker="^", markersize=4, markeredgewidth=0, color=style.QUIET))
        near = (warnings["level"] == "").any()
        names.append("warned, in the level's colour" + ("; grey: near its own limit" if near else ""))
    if handles:
        figure.legend(
            handles, names, loc="upper left", bbox_to_anchor=(0.012, 1 - 0.27 / height_in), ncols=5, borderaxespad=0,
            borderpad=0.1, handletextpad=0.1, columnspacing=1.0, fontsize=7,
        )  # fmt: skip


def ended_list(ends: Ends) -> str:
    """Every ended app by name, with its ends and how many of them were felt: the most felt first."""
    found: dict[str, list[str]] = {}
    for _, app, kind in ends:
        found.setdefault(app, []).append(kind)
    ranked = sorted(found.items(), key=lambda item: (-item[1].count(style.FELT), -len(item[1])))
    parts = []
    for app, kinds in ranked:
        felt = kinds.count(style.FELT)
        parts.append(f"{style.label(app)}" + (f" {len(kinds)}" if len(kinds) > 1 else "") + (f" ({felt} felt)" if felt else ""))
    return "Ended: " + ", ".join(parts)


SIDES = (LEFT_IN, RIGHT_IN)


def add_axes(
    figure: Figure, bottom_in: float, height_in: float, share: Axes | None = None, sides: tuple[float, float] = SIDES
) -> Axes:
    """A panel as wide as the picture without its sides."""
    width, height = figure.get_size_inches()
    left_in, right_in = sides
    return figure.add_axes(
        (left_in / width, bottom_in / height, (width - left_in - right_in) / width, height_in / height), sharex=share
    )


def add_lane(
    figure: Figure, bottom_in: float, height_in: float, share: Axes, name: str, sides: tuple[float, float] = SIDES
) -> Axes:
    """A narrow strip above the picture, named on its left."""
    lane = add_axes(figure, bottom_in, height_in, share, sides)
    style.bare(lane)
    lane.set_ylim(0, 1)
    lane.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    lane.set_zorder(6)
    lane.patch.set_visible(False)
    size = 7.5 if len(name) <= 14 else 6.3
    lane.text(-0.012, 0.5, name, transform=lane.transAxes, ha="right", va="center", fontsize=size, linespacing=0.95)
    return lane


def finish_panels(axes: Axes, under: Axes, top: float, end_s: float) -> None:
    """The axes of the two panels of a device with a compressor, the upper one without the labels of the time."""
    axes.set_ylabel(axes.get_ylabel().replace("memory", "footprints"))
    axes.set_xlabel("")
    axes.tick_params(labelbottom=False)
    style.memory_axis(under, top)
    under.set_ylabel(under.get_ylabel().replace("memory", "in RAM"))
    style.time_axis(under, end_s)
    style.bare(under, "left", "bottom")


def draw_ram_legend(figure: Figure, axes: Axes, run: Run, stack: Stack) -> None:
    """Beside the lower panel: what is in RAM, the largest size of each part, and how much the compressor keeps."""
    rows = [LegendRow(part, float(part.bytes.max(initial=0.0)), 0, 0, 0) for part in reversed(stack.ram)]
    draw_layers_legend(figure, axes, rows, "in RAM")
    width, height = figure.get_size_inches()
    most = float(ram.pages_of(run)["compressed_bytes"].max())
    if not most > 0:
        return
    count = "which count as footprint" if stack.flash is None else "which count as footprint,\nas those on flash do"
    figure.text(
        axes.get_position().x1 + 0.1 / width, axes.get_position().y1 - (0.02 + LEGEND_ROW_IN * (len(rows) + 1) + 0.06) / height,
        f"the pool keeps at most\n{style.bytes_text(most)} of compressed pages,\n{count}", fontsize=6.3, va="top",
        color=style.QUIET, linespacing=1.3,
    )  # fmt: skip


def draw(run: Run) -> Figure | None:
    """The picture, or None when there is neither a sample nor a footprint."""
    import matplotlib.pyplot as plt

    stack = stack_of(run)
    if not stack.layers or len(stack.times_s) == 0:
        return None
    end_s = max(run.end_s, 1e-3)
    spans = level_spans(run)
    limits_set = thresholds(run)
    levels = [level for level in style.LEVEL_COLOURS if level in limits_set or any(level == span[2] for span in spans)]
    warnings, table, crashed = run.events_named("warning"), kills.kills_of(run), kills.crashes(run)
    # A crash is marked like an end, and is not counted as one that the system brought about.
    ends = [end for end in kills.ends_of(run) if end[2] != style.LEFT]
    rows = legend_rows(run, stack, warnings, ends)
    limits = own_limits(run, stack, table)
    named_limits = limit_names(limits)

    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    width_px = (style.WIDTH_IN - LEFT_IN - RIGHT_IN) * style.DPI
    px_per_second = width_px / end_s
    texts = [(time_s, end_text(app, kind), kind == style.FELT) for time_s, app, kind in ends]
    names = place_names(figure, texts, px_per_second, width_px, MOST_NAME_ROWS)
    warned = warned_names(figure, warnings, px_per_second, width_px)
    listed = [] if names is not None else style.wrapped(figure, ended_list(ends), NAME_PT, (style.WIDTH_IN - 0.4) * style.DPI)

    heights = [LANE_IN * (1 + max((name.row for name in placed or []), default=0)) for placed in (names, warned)] + [0.11]
    stack_in = max(FOOTPRINTS_IN if stack.ram else STACK_IN, LEGEND_ROW_IN * (len(rows) + len(named_limits) + 1))
    list_in = BOTTOM_IN + LIST_LINE_IN * (len(listed) + 0.6 if listed else 0)
    bottom_in = list_in + (RAM_IN + RAM_GAP_IN if stack.ram else 0)
    # Without marks there is no key below the title.
    height_in = bottom_in + stack_in + sum(heights) + 4 * 0.05 + (TOP_IN if ends or len(warnings) else TOP_IN - KEY_IN)
    figure.set_size_inches(style.WIDTH_IN, height_in)

    axes = add_axes(figure, bottom_in, stack_in)
    under = add_axes(figure, list_in, RAM_IN, axes) if stack.ram else axes
    figure.text(0.2 / style.WIDTH_IN, 0.08 / height_in, "\n".join(listed), fontsize=NAME_PT, va="bottom", linespacing=1.35)
    bottom_in += stack_in + 0.05
    name = f"{len(table):,} terminated" + (f"\n{len(crashed):,} crashed" if len(crashed) else "")
    ended_lane = add_lane(figure, bottom_in, heights[0], axes, name)
    bottom_in += heights[0] + 0.05
    warned_lane = add_lane(figure, bottom_in, heights[1], axes, f"{len(warnings):,} warned")
    bottom_in += heights[1] + 0.05
    level_lane = add_lane(figure, bottom_in, heights[2], axes, "pressure")

    draw_levels([axes, under] if stack.ram else [axes], level_lane, spans)
    draw_stack(axes, stack, end_s)
    draw_flash(axes, stack, end_s)
    draw_own_limits(axes, limits, end_s)
    draw_warnings(warned_lane, warnings, end_s / width_px, warned)
    draw_ends(ended_lane, axes, ends, names, px_per_second)
    if stack.ram:
        draw_stack(under, Stack(stack.times_s, stack.ram), end_s)
        if names is not None:
            draw_end_lines(under, ends)
    draw_thresholds(under, limits_set)

    ceiling = run.samples["ceiling_bytes"].max()
    peak = peak_of(run)
    top = max(0.0 if np.isnan(ceiling) else float(ceiling), peak.bytes if peak else 0.0)
    style.memory_axis(axes, stack.top if stack.ram else max(stack.top, top))
    style.time_axis(axes, end_s)
    style.bare(axes, "left", "bottom")
    if stack.ram:
        finish_panels(axes, under, top, end_s)
        draw_ram_legend(figure, under, run, stack)
    draw_top(under, run, peak, limits_set, end_s)
    draw_layers_legend(figure, axes, rows, "footprint of" if stack.ram else "memory of")
    draw_limits_legend(figure, axes, named_limits, len(rows))
    draw_levels_legend(figure, axes, levels, limits_set, (bottom_in + heights[2]) / height_in)
    draw_key(figure, ends, warnings, height_in)
    style.title(figure, f"Memory of {run.title}")
    return figure
