"""The pictures of a search: the front, what decides, and the verdict scenario by scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from optuna.trial import FrozenTrial

from plimsoll_tools.plotting import style
from plimsoll_tools.tuning.problem import Problem
from plimsoll_tools.tuning.search import front, is_feasible
from plimsoll_tools.tuning.verdict import Difference

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def draw_front(problem: Problem, trials: Sequence[FrozenTrial], chosen: FrozenTrial, folder: Path) -> list[Path]:
    """The first two objectives against each other; with one objective, the best so far."""
    figure, axes = plt.subplots(figsize=(style.WIDTH_IN * 0.75, 3.6), layout="constrained")
    able = [trial for trial in trials if is_feasible(trial)]
    if len(problem.objectives) == 1:
        slots = [trial.user_attrs["slot"] + 1 for trial in able]
        values = np.array([trial.values[0] for trial in able])
        best = np.minimum.accumulate(values) if problem.objectives[0].sign > 0 else np.maximum.accumulate(values)
        axes.plot(slots, values, "o", color=style.OTHER_COLOUR, markersize=3.5, label="complete trials")
        axes.step(slots, best, where="post", color=BLUE, linewidth=1.4, label="the best so far")
        axes.set_xlabel("trial")
        axes.set_ylabel(problem.objectives[0].metric)
    else:
        points = np.array([trial.values[:2] for trial in able]).reshape(-1, 2)
        edge = sorted(front(problem, trials), key=lambda trial: trial.values[0])
        line = np.array([trial.values[:2] for trial in edge]).reshape(-1, 2)
        axes.plot(points[:, 0], points[:, 1], "o", color=style.OTHER_COLOUR, markersize=3.5, label="complete trials")
        axes.plot(line[:, 0], line[:, 1], "o-", color=BLUE, markersize=4.5, linewidth=0.9, label="Pareto front")
        axes.set_xlabel(problem.objectives[0].metric)
        axes.set_ylabel(problem.objectives[1].metric)
        axes.annotate(
            "less is better" if problem.objectives[0].sign > 0 else "more is better",
            (0.99, 0.02),
            xycoords="axes fraction",
            ha="right",
            fontsize=7,
            color=style.QUIET,
        )
    standard = next(trial for trial in trials if trial.user_attrs["slot"] == 0)
    for trial, colour, mark, label in ((standard, ORANGE, "s", "the default"), (chosen, GREEN, "*", "chosen")):
        at = trial.values[:2] if len(problem.objectives) > 1 else (trial.user_attrs["slot"] + 1, trial.values[0])
        axes.plot(*at, mark, color=colour, markersize=11 if mark == "*" else 7, label=label, zorder=5)
    axes.set_title(f"{problem.name}: what the search found on the training seeds", loc="left")
    axes.legend(fontsize=7)
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
    figure, axes = plt.subplots(figsize=(style.WIDTH_IN * 0.75, 0.7 + 0.27 * max(len(names), 3)), layout="constrained")
    height = 0.8 / len(shares)
    for index, (metric, by_name) in enumerate(shares.items()):
        rows = np.arange(len(names)) + 0.4 - height * (index + 0.5)
        axes.barh(
            rows,
            [by_name.get(name, 0.0) for name in names],
            height=height * 0.92,
            color=(BLUE, ORANGE, GREEN)[index % 3],
            label=metric,
        )
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_xlabel("share of what decides whether a trial is among the best (PED-ANOVA)")
    axes.set_title(f"{problem.name}: which parameters matter", loc="left")
    axes.legend(loc="lower right", fontsize=7)
    style.bare(axes, "left", "bottom")
    paths = style.save(figure, folder / "importance", ("png",))
    plt.close(figure)
    return paths


def draw_verdict(problem: Problem, rows: dict[str, list[Difference]], folder: Path) -> list[Path]:
    """Per objective a panel; per scenario, and for all of a kind together, the difference with its interval."""
    goals = problem.objectives
    figure, panels = plt.subplots(
        1,
        len(goals),
        figsize=(style.WIDTH_IN, 0.9 + 0.24 * len(rows)),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, goal in zip(panels[0], goals):
        for row, (name, found) in enumerate(reversed(rows.items())):
            one = next(one for one in found if one.metric == goal.metric)
            is_good = one.mean * goal.sign < 0
            colour = style.QUIET if not one.is_clear else GREEN if is_good else ORANGE
            is_whole = name.startswith("all ")
            axes.plot([one.low, one.high], [row, row], color=colour, linewidth=2.6 if is_whole else 1.3)
            axes.plot(one.mean, row, "D" if is_whole else "o", color=colour, markersize=5 if is_whole else 4)
        axes.axvline(0, color=style.INK, linewidth=0.7)
        axes.set_yticks(range(len(rows)), list(reversed(rows)))
        axes.set_title(goal.metric, loc="left", fontsize=8)
        better = "left" if goal.sign > 0 else "right"
        axes.set_xlabel(f"tuned minus default (better: {better})", fontsize=7)
        style.bare(axes, "left", "bottom")
        axes.tick_params(axis="y", length=0)
    paths = style.save(figure, folder / "verdict", ("png",))
    plt.close(figure)
    return paths
