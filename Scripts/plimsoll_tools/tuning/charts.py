"""The pictures of a search: the front, what decides, and the verdict scenario by scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from optuna.trial import FrozenTrial

from plimsoll_tools.plotting import launches, several, style
from plimsoll_tools.plotting.metrics import named
from plimsoll_tools.tuning.problem import Problem
from plimsoll_tools.tuning.search import front, is_feasible
from plimsoll_tools.tuning.verdict import Verdict

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def plain(problem: Problem, metric: str) -> str:
    """What people call the metric, with its unit."""
    found = named(problem.known, metric)
    return f"{found.title} (s)" if found.unit == "s" else found.title


def titled(problem: Problem, text: str) -> str:
    """The policy, what the picture shows, and on which scenarios and seeds."""
    return several.described([one.name for one in problem.scenarios], [problem.name], list(map(str, problem.seeds))) + f": {text}"


def cover(axes: Axes, metrics: Sequence[str]) -> None:
    """Round ticks, the outermost of which cover what is drawn; latencies in ms and s."""
    for axis, metric in zip((axes.xaxis, axes.yaxis), metrics):
        low, high = map(float, axes.dataLim.intervalx if axis is axes.xaxis else axes.dataLim.intervaly)
        if not np.isfinite([low, high]).all():
            # No trial kept the constraints.
            continue
        ticks = list(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
        edge = 0.03 * (ticks[-1] - ticks[0])
        (axes.set_xlim if axis is axes.xaxis else axes.set_ylim)(ticks[0] - edge, ticks[-1] + edge)
        axis.set_major_locator(FixedLocator(ticks))
        if metric.endswith("_ms"):
            digits = 4 if high - low < 0.1 * max(abs(high), 1) else 3
            axis.set_major_formatter(FuncFormatter(lambda value, _, digits=digits: latency_text(value, digits)))


def latency_text(milliseconds: float, digits: int) -> str:
    if abs(milliseconds) >= 1e6:
        return launches.duration_text(milliseconds)
    return f"{milliseconds / 1000:.{digits}g} s" if abs(milliseconds) >= 1000 else f"{milliseconds:.{digits}g} ms"


def staircase(axes: Axes, points: np.ndarray, signs: tuple[float, float]) -> None:
    """The front as what was reached: between two trials nothing better than the worse of both, on each axis.

    `points` ascend on the first axis; a sign is positive where less is better.
    """
    if not len(points):
        return
    axes.step(points[:, 0], points[:, 1], where="post" if signs[0] > 0 else "pre", color=BLUE, linewidth=1.1, gid="front")
    axes.plot(points[:, 0], points[:, 1], "o", color=BLUE, markersize=4.5)
    # Beyond its ends the front goes on to the edges of the picture, on the side of the worse.
    first, last = (points[0], points[-1]) if signs[0] > 0 else (points[-1], points[0])
    far_x = axes.get_xlim()[1 if signs[0] > 0 else 0]
    far_y = axes.get_ylim()[1 if signs[1] > 0 else 0]
    axes.plot([first[0], first[0]], [first[1], far_y], color=BLUE, linewidth=0.6, linestyle=":")
    axes.plot([last[0], far_x], [last[1], last[1]], color=BLUE, linewidth=0.6, linestyle=":")


def draw_front(problem: Problem, trials: Sequence[FrozenTrial], chosen: FrozenTrial, folder: Path) -> list[Path]:
    """The first two objectives against each other; with one objective, the best so far."""
    figure, axes = plt.subplots(figsize=(style.WIDTH_IN, 3.6), layout="constrained")
    able = [trial for trial in trials if is_feasible(trial)]
    if len(problem.objectives) == 1:
        slots = [trial.user_attrs["slot"] + 1 for trial in able]
        values = np.array([trial.values[0] for trial in able])
        best = np.minimum.accumulate(values) if problem.objectives[0].sign > 0 else np.maximum.accumulate(values)
        axes.plot(slots, values, "o", color=style.OTHER_COLOUR, markersize=3.5, label="complete trials")
        axes.step(slots, best, where="post", color=BLUE, linewidth=1.4, label="the best so far")
        axes.set_xlabel("trial")
        axes.set_ylabel(plain(problem, problem.objectives[0].metric))
        cover(axes, ("", problem.objectives[0].metric))
    else:
        points = np.array([trial.values[:2] for trial in able]).reshape(-1, 2)
        edge = sorted(front(problem, trials), key=lambda trial: trial.values[0])
        line = np.array([trial.values[:2] for trial in edge]).reshape(-1, 2)
        axes.plot(points[:, 0], points[:, 1], "o", color=style.OTHER_COLOUR, markersize=3.5, label="complete trials")
        goals = problem.objectives[:2]
        cover(axes, [goal.metric for goal in goals])
        staircase(axes, line, (goals[0].sign, goals[1].sign))
        axes.plot([], [], "o-", color=BLUE, markersize=4.5, linewidth=1.1, label="Pareto front")
        sense = ["less is better" if goal.sign > 0 else "more is better" for goal in goals]
        axes.set_xlabel(f"{plain(problem, goals[0].metric)} ({sense[0]})")
        axes.set_ylabel(f"{plain(problem, goals[1].metric)} ({sense[1]})")
    standard = next(trial for trial in trials if trial.user_attrs["slot"] == 0)
    for trial, colour, mark, label in ((standard, ORANGE, "s", "the default"), (chosen, GREEN, "*", "chosen")):
        at = trial.values[:2] if len(problem.objectives) > 1 else (trial.user_attrs["slot"] + 1, trial.values[0])
        axes.plot(*at, mark, color=colour, markersize=11 if mark == "*" else 7, label=label, zorder=5)
    axes.set_title(titled(problem, "what the search found"), loc="left")
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0)
    style.bare(axes, "left", "bottom")
    paths = style.save(figure, folder / "front", ("png",))
    plt.close(figure)
    return paths


def draw_importance(problem: Problem, shares: dict[str, dict[str, float]], folder: Path) -> list[Path]:
    """A group of bars per parameter, one bar per objective."""
    names = sorted(
        {name for by_name in shares.values() for name in by_name},
        key=lambda name: sum(by_name.get(name, 0.0) for by_name in shares.values()),
    )
    if not names:
        return []
    figure, axes = plt.subplots(figsize=(style.WIDTH_IN, 0.7 + 0.27 * max(len(names), 3)), layout="constrained")
    height = 0.8 / len(shares)
    for index, (metric, by_name) in enumerate(shares.items()):
        rows = np.arange(len(names)) + 0.4 - height * (index + 0.5)
        axes.barh(
            rows,
            [by_name.get(name, 0.0) for name in names],
            height=height * 0.92,
            color=(BLUE, ORANGE, GREEN)[index % 3],
            label=plain(problem, metric),
        )
    highest = max(share for by_name in shares.values() for share in by_name.values())
    ticks = [float(tick) for tick in MaxNLocator(5).tick_values(0, max(highest, 1e-6)) if tick >= 0]
    axes.set_xlim(0, ticks[-1])
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_xlabel("share of what decides whether a trial is among the best (PED-ANOVA)")
    axes.set_title(titled(problem, "which parameters matter"), loc="left")
    axes.legend(loc="lower right", fontsize=7)
    style.bare(axes, "left", "bottom")
    paths = style.save(figure, folder / "importance", ("png",))
    plt.close(figure)
    return paths


def draw_verdict(problem: Problem, parts: Sequence[Verdict], folder: Path) -> list[Path]:
    """Per objective a panel; per scenario, and for all of a kind together, the difference with its interval."""
    def of(metric: str) -> dict[str, dict[str, Any]]:
        return {part["place"]: next(one for one in part["rows"] if one["metric"] == metric) for part in parts}

    def is_same(metric: str) -> bool:
        return not any(one.get(name) for one in of(metric).values() for name in ("difference", "low", "high"))

    # A panel in which nothing differs is a line of text.
    same = [goal for goal in problem.objectives if is_same(goal.metric)]
    goals = [goal for goal in problem.objectives if not is_same(goal.metric)]
    height_in = 0.5 + 0.18 * len(same) + (0.75 + 0.24 * len(parts) if goals else 0)
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    below = 0.18 * len(same) / height_in
    layout = ConstrainedLayoutEngine(rect=(0, below, 1, 1 - 0.3 / height_in - below))
    figure.set_layout_engine(layout if goals else "none")
    held_out = several.seeds_text(list(map(str, problem.held_out_seeds)))
    style.title(figure, f"policy {problem.name}, tuned against default, {held_out}")
    for place, goal in enumerate(reversed(same)):
        text = f"{plain(problem, goal.metric)}: no difference in any scenario, under any seed"
        figure.text(0.015, (0.07 + 0.18 * place) / height_in, text, fontsize=8, color=style.QUIET)
    panels = figure.subplots(1, len(goals), sharey=True, squeeze=False)[0] if goals else []
    for axes, goal in zip(panels, goals):
        for row, (name, one) in enumerate(reversed(of(goal.metric).items())):
            is_good = one["difference"] * goal.sign < 0
            colour = style.QUIET if not one["is_clear"] else GREEN if is_good else ORANGE
            is_whole = name.startswith("all ")
            axes.plot([one.get(end, np.nan) for end in ("low", "high")], [row, row], color=colour, linewidth=2.6 if is_whole else 1.3)
            axes.plot(one["difference"], row, "D" if is_whole else "o", color=colour, markersize=5 if is_whole else 4)
        axes.axvline(0, color=style.INK, linewidth=0.7)
        axes.set_yticks(range(len(parts)), [part["place"] for part in reversed(parts)])
        axes.set_title(plain(problem, goal.metric), loc="left", fontsize=8)
        low, high = map(float, axes.dataLim.intervalx)
        ticks = list(MaxNLocator(5).tick_values(min(low, 0), max(high, 0)))
        axes.set_xlim(ticks[0], ticks[-1])
        axes.set_xticks(ticks, [f"{tick:.4g}" for tick in ticks])
        better = "left" if goal.sign > 0 else "right"
        unit = " in ms" if goal.metric.endswith("_ms") else ""
        axes.set_xlabel(f"tuned minus default{unit} (better: {better})", fontsize=7)
        style.bare(axes, "left", "bottom")
        axes.tick_params(axis="y", length=0)
    paths = style.save(figure, folder / "verdict", ("png",))
    plt.close(figure)
    return paths
