"""memory: resident memory by app under the ceiling, with pressure, warnings and terminations."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from plimsoll_tools.plotting import kills, style
from plimsoll_tools.plotting.run_directory import Run, app_names

NEEDS = ("samples.time_s", "samples.resident_bytes", "samples.ceiling_bytes", "samples.pressure_level",
         "apps.time_s", "apps.app", "apps.footprint_bytes", "events.event")  # fmt: skip

MOST_LAYERS = len(style.APP_COLOURS)
COLUMNS = 1200
"""Samples drawn at most: about one per pixel of the picture."""

LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.96, 1.82, 0.34, 0.46
STACK_IN = 3.5
LANE_IN = 0.17
MOST_NAME_ROWS = 6
NAME_PT = 6.5

@dataclass(frozen=True)
class Layer:
    name: str
    colour: str
    bytes: np.ndarray
    hatch: str | None = None


@dataclass(frozen=True)
class Stack:
    """What lies upon what, from the bottom up, at the ascending times."""

    times_s: np.ndarray
    layers: list[Layer]

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


def colours_of(run: Run) -> dict[str, str]:
    """Each app's colour, by its place in the scenario: the same in all runs of one scenario, whatever happens there.

    Apps that the scenario does not name come after those, by name.
    """
    named = app_names(run.directory)
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
    shown = largest if len(largest) <= MOST_LAYERS else largest[: MOST_LAYERS - 1]
    colours = colours_of(run)
    layers = [Layer(style.label(name), colours[name], table[name].to_numpy()) for name in shown]
    if len(shown) < len(largest):
        rest = table[largest[len(shown) :]]
        layers.append(Layer(f"{rest.shape[1]} other apps", style.OTHER_COLOUR, rest.sum(axis=1).to_numpy()))
    if resident is not None:
        of_apps = table.sum(axis=1).to_numpy() if layers else 0.0
        name = "system" if layers else "resident"
        layers.insert(0, Layer(name, style.SYSTEM_COLOUR, np.maximum(resident - of_apps, 0.0), "////"))
    return Stack(times_s, layers)


def level_spans(run: Run) -> list[tuple[float, float, str]]:
    """(start, end, level) in order, from the samples."""
    levels = run.samples[run.samples["pressure_level"] != ""]
    if levels.empty:
        return []
    changed = levels["pressure_level"].ne(levels["pressure_level"].shift())
    starts = levels.loc[changed, "time_s"].tolist()
    return list(zip(starts, starts[1:] + [run.end_s], levels.loc[changed, "pressure_level"].tolist()))


def thresholds(run: Run) -> dict[str, float]:
    """Level -> the resident bytes from which it counts, as the first rise to it tells; none where the monitor looks at
    something else than available memory. A fall names another threshold, at which the higher level is left.
    """
    ceiling = float(run.samples["ceiling_bytes"].max())
    ranks = list(style.LEVEL_COLOURS)
    found: dict[str, float] = {}
    before = "normal"
    changes = run.events_named("pressure_level")[["level", "measure", "threshold"]]
    for level, measure, available in changes.itertuples(index=False):
        if level not in ranks:
            continue
        rises, before = ranks.index(level) > ranks.index(before), level
        if rises and measure == "available_bytes" and 0 < available < ceiling:
            found.setdefault(level, ceiling - available)
    return found


# --- Drawing ------------------------------------------------------------------------------------------------------------


def draw_stack(axes: Axes, stack: Stack, end_s: float) -> None:
    # The last sample holds until the end.
    times_s = np.append(stack.times_s, max(end_s, stack.times_s[-1]))
    base = np.zeros(len(times_s))
    for layer in stack.layers:
        top = base + np.append(layer.bytes, layer.bytes[-1])
        axes.fill_between(
            times_s, base, top, step="post", facecolor=layer.colour, edgecolor="white", linewidth=0.25, hatch=layer.hatch
        )
        base = top


def draw_ceiling(axes: Axes, run: Run) -> None:
    samples = run.samples.dropna(subset=["ceiling_bytes"])
    if samples.empty:
        return
    axes.step(samples["time_s"], samples["ceiling_bytes"], where="post", color=style.INK, linewidth=1.4, zorder=5)
    last = float(samples["ceiling_bytes"].iloc[-1])
    axes.annotate(
        f"ceiling {style.bytes_text(last)}", (1, last), xycoords=("axes fraction", "data"), xytext=(-3, 2.5),
        textcoords="offset points", ha="right", va="bottom", fontsize=7.5, fontweight="bold",
    )  # fmt: skip


def draw_levels(axes: Axes, strip: Axes, spans: list[tuple[float, float, str]]) -> None:
    """Shades the background of the picture, and fills the strip above it, where nothing can hide the colours."""
    for start, end, level in spans:
        if level in style.LEVEL_SHADES:
            axes.axvspan(start, end, color=style.LEVEL_SHADES[level], linewidth=0, zorder=0)
        strip.axvspan(start, end, color=style.LEVEL_COLOURS.get(level, style.RULE), linewidth=0)


def draw_warnings(lane: Axes, warnings: pd.DataFrame, seconds_per_px: float) -> None:
    """Every warning: in its level's colour, the worst on top; those of an app near its own limit in grey."""
    colours = [style.LEVEL_COLOURS.get(level, style.SYSTEM_COLOUR) for level in warnings["level"]]
    for colour in (style.SYSTEM_COLOUR, style.LEVEL_COLOURS["warning"], style.LEVEL_COLOURS["critical"]):
        times = sorted(time_s for time_s, own in zip(warnings["time_s"], colours) if own == colour)
        shown = style.thin(times, 3 * seconds_per_px)
        lane.plot(
            shown, [0.5] * len(shown), linestyle="none", marker="^", markersize=3.6, markeredgewidth=0, color=colour
        )


def place_names(
    figure: Figure, ended: pd.DataFrame, px_per_second: float, width_px: float
) -> list[tuple[float, str, int, bool]] | None:
    """(time, name, row, whether the name stands to the right of its mark), or None when there is no room for all."""
    mark_px = 4.5 * style.DPI / 72
    wanted = []
    for time_s, app in zip(ended["time_s"], ended["app"]):
        name = style.label(app, 20)
        name_px = style.text_width_px(figure, name, NAME_PT)
        at_px = time_s * px_per_second
        right = at_px + mark_px + name_px <= width_px
        span = (at_px - mark_px, at_px + mark_px + name_px) if right else (at_px - mark_px - name_px, at_px + mark_px)
        wanted.append((span, time_s, name, right))
    wanted.sort(key=lambda item: item[0])
    rows = style.pack([item[0] for item in wanted], MOST_NAME_ROWS, gap=4)
    if rows is None:
        return None
    return [(time_s, name, row, right) for (_, time_s, name, right), row in zip(wanted, rows)]


def draw_terminations(
    lane: Axes, axes: Axes, ended: pd.DataFrame, names: list[tuple[float, str, int, bool]] | None
) -> None:
    if names is None:
        lane.vlines(ended["time_s"], 0.1, 0.9, color=style.INK, linewidth=0.6)
        return
    rows = max((row for _, _, row, _ in names), default=0) + 1
    lane.set_ylim(rows, 0)
    for time_s, name, row, right in names:
        lane.plot([time_s], [row + 0.5], marker="x", markersize=3.6, markeredgewidth=1.1, color=style.INK, clip_on=False)
        lane.annotate(
            name, (time_s, row + 0.5), xytext=(4 if right else -4, -0.3), textcoords="offset points",
            ha="left" if right else "right", va="center", fontsize=NAME_PT, annotation_clip=False,
        )  # fmt: skip
        axes.axvline(time_s, color=style.INK, linewidth=0.5, linestyle=(0, (1, 2)), zorder=4)


def draw_thresholds(axes: Axes, limits: dict[str, float]) -> None:
    for level, resident in limits.items():
        line = axes.axhline(resident, color=style.LEVEL_COLOURS[level], linewidth=1.1, linestyle=(0, (5, 2)), zorder=4.5)
        # A white edge: the line must be seen upon an app of its own colour.
        line.set_path_effects([withStroke(linewidth=2.4, foreground="white")])


def draw_legend(
    figure: Figure, axes: Axes, stack: Stack, levels: list[str], limits: dict[str, float], top: float
) -> None:
    """Two lists beside the picture: the layers in the order in which they lie, and the levels of pressure."""
    figure.legend(
        [
            Patch(facecolor=layer.colour, edgecolor="white" if layer.hatch else style.QUIET, hatch=layer.hatch, linewidth=0.3)
            for layer in reversed(stack.layers)
        ],
        [layer.name for layer in reversed(stack.layers)],
        loc="upper left", bbox_to_anchor=(axes.get_position().x1 + 0.012, axes.get_position().y1 + 0.01),
        title="memory of", alignment="left", title_fontproperties={"size": 7.5, "weight": "bold"}, borderaxespad=0,
    )  # fmt: skip
    if levels:
        names = [f"{level}, from {style.bytes_text(limits[level])}" if level in limits else level for level in levels]
        figure.legend(
            [Patch(facecolor=style.LEVEL_COLOURS[level], linewidth=0) for level in levels], names,
            loc="upper left", bbox_to_anchor=(axes.get_position().x1 + 0.012, top), title="pressure",
            alignment="left", title_fontproperties={"size": 7.5, "weight": "bold"}, borderaxespad=0,
            handlelength=1.2, labelspacing=0.25,
        )  # fmt: skip


def add_axes(figure: Figure, bottom_in: float, height_in: float, share: Axes | None = None) -> Axes:
    width, height = figure.get_size_inches()
    return figure.add_axes(
        (LEFT_IN / width, bottom_in / height, (width - LEFT_IN - RIGHT_IN) / width, height_in / height), sharex=share
    )


def add_lane(figure: Figure, bottom_in: float, height_in: float, share: Axes, name: str) -> Axes:
    """A narrow strip above the picture, named on its left."""
    lane = add_axes(figure, bottom_in, height_in, share)
    style.bare(lane)
    lane.set_ylim(0, 1)
    lane.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    lane.set_zorder(6)
    lane.patch.set_visible(False)
    size = 7.5 if len(name) <= 14 else 6.3
    lane.text(-0.012, 0.5, name, transform=lane.transAxes, ha="right", va="center", fontsize=size, linespacing=0.95)
    return lane


def draw(run: Run) -> Figure | None:
    """The picture, or None when there is neither a sample nor a footprint."""
    stack = stack_of(run)
    if not stack.layers or len(stack.times_s) == 0:
        return None
    end_s = max(run.end_s, 1e-3)
    spans = level_spans(run)
    levels = [level for level in style.LEVEL_COLOURS if any(level == span[2] for span in spans)]
    warnings, terminated, crashed = run.events_named("warning"), kills.terminations(run), kills.crashes(run)
    # A crash is marked like an end, and is not counted as one that the system brought about.
    ended = pd.concat([terminated, crashed.assign(app=crashed["app"] + " (crash)")]).sort_values("time_s", kind="stable")

    figure = plt.figure(figsize=(style.WIDTH_IN, 1))
    width_px = (style.WIDTH_IN - LEFT_IN - RIGHT_IN) * style.DPI
    names = place_names(figure, ended, width_px / end_s, width_px)
    name_rows = 1 if not names else max(row for _, _, row, _ in names) + 1

    heights = [LANE_IN * name_rows, LANE_IN, 0.11]  # terminations, warnings, pressure
    legend_in = 0.24 * len(stack.layers) * 0.66 + 0.3
    stack_in = max(STACK_IN, legend_in)
    height_in = BOTTOM_IN + stack_in + sum(heights) + 4 * 0.05 + TOP_IN
    figure.set_size_inches(style.WIDTH_IN, height_in)

    axes = add_axes(figure, BOTTOM_IN, stack_in)
    bottom_in = BOTTOM_IN + stack_in + 0.05
    name = f"{len(terminated):,} terminated" + (f"\n{len(crashed):,} crashed" if len(crashed) else "")
    ended_lane = add_lane(figure, bottom_in, heights[0], axes, name)
    bottom_in += heights[0] + 0.05
    warned_lane = add_lane(figure, bottom_in, heights[1], axes, f"{len(warnings):,} warned")
    bottom_in += heights[1] + 0.05
    level_lane = add_lane(figure, bottom_in, heights[2], axes, "pressure")

    draw_levels(axes, level_lane, spans)
    draw_stack(axes, stack, end_s)
    draw_ceiling(axes, run)
    limits = thresholds(run)
    draw_thresholds(axes, limits)
    draw_warnings(warned_lane, warnings, end_s / width_px)
    draw_terminations(ended_lane, axes, ended, names)

    ceiling = run.samples["ceiling_bytes"].max()
    top = max(stack.top, 0.0 if np.isnan(ceiling) else float(ceiling))
    axes.set_ylim(0, top * 1.07)
    style.memory_axis(axes, top)
    style.time_axis(axes, end_s)
    style.bare(axes, "left", "bottom")
    draw_legend(figure, axes, stack, levels, limits, (bottom_in + heights[2]) / height_in)
    figure.text(
        LEFT_IN / style.WIDTH_IN, 1 - 0.12 / height_in, f"Memory of {style.label(run.title, 80)}",
        fontsize=9, fontweight="bold", va="top",
    )  # fmt: skip
    return figure
