"""What is known about each termination: who, why, for whom, how large, how long idle, and whether the user felt it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import NOT_BY_THE_SYSTEM, Run, once_per_run

CRASHED = "abnormal"
"""The exit reason of an app that ended itself by a fault."""

NO_ROOM = ("no_room", "fragmented", "kept_back")
"""Causes of the end of a process whose own allocation found no room, when no process was left to reclaim."""
OWN, ANOTHER = "own", "another"
"""Whose allocation found no room when a process was ended for that; most are ended for the monitor's level or a limit."""

SEEN, MISSED = "seen", "missed"
"""How the user felt an end: the app vanished from the screen, or was wanted again soon after. Otherwise `felt` is empty."""

LIMITS = {"background_processes": "background processes", "background_memory": "memory off screen"}
"""Demands that are about a limit, and what is limited."""


@once_per_run
def kills_of(run: Run) -> pd.DataFrame:
    """One row per termination, as terminations.csv has it, with a cause in every row, and with `want`, `felt` and
    `mark`, the kind of end. Who is never wanted again is wanted after an infinite time."""
    table = run.terminations
    cause, seen = table["cause"], table["was_foreground"]
    is_own = (table["need"] == "own_allocation") | cause.isin(NO_ROOM)
    felt = np.select([seen == "true", table["was_perceived"] == "true"], [SEEN, MISSED], "")
    return table.assign(
        cause=cause.mask(cause.isin(("", *NO_ROOM)), table["exit_reason"]),
        want=np.select([is_own, table["need"] == "allocation"], [OWN, ANOTHER], ""),
        felt=felt,
        mark=np.select([seen == "", felt != ""], [style.ENDED, style.FELT], style.UNFELT),
        wanted_after_s=table["wanted_after_s"].fillna(math.inf),
    )


def crashes(run: Run) -> pd.DataFrame:
    """The exits by which apps ended themselves: losses, too, but no terminations."""
    exits = run.events_named("exit")
    return exits[exits["exit_reason"] == CRASHED]


def ends_of(run: Run) -> list[tuple[float, str, str]]:
    """(time, app, kind of end) of every process that ended, in the order of time."""
    found = list(kills_of(run)[["time_s", "app", "mark"]].itertuples(index=False, name=None))
    exits = run.events_named("exit")
    others = exits[exits["exit_reason"].isin(NOT_BY_THE_SYSTEM)]
    found += [(row.time_s, row.app, style.CRASHED if row.exit_reason == CRASHED else style.LEFT)
              for row in others.itertuples(index=False)]  # fmt: skip
    return sorted(found, key=lambda end: end[0])


def terminating(run: Run) -> pd.DataFrame:
    """The decisions that ended a process."""
    decisions = run.decisions
    return decisions[(decisions["chosen"] == "true") & decisions["action"].str.startswith("terminate")]


def spared(run: Run) -> dict[str, list[tuple[str, str]]]:
    """Process number of a termination that was decided -> the others of that decision, and why each was left alone."""
    decisions = run.decisions
    chosen = terminating(run)
    groups = decisions[decisions["decision"].isin(chosen["decision"])].groupby("decision", sort=False)
    others = {number: spared_in(group) for number, group in groups}
    return {pid: others[number] for pid, number in chosen[["pid", "decision"]].itertuples(index=False)}


def spared_in(decision: pd.DataFrame) -> list[tuple[str, str]]:
    """Why each other process of a decision was left alone, in the order of its rows.

    The reason of a ranked candidate says why it was ranked. It was spared because another one came before it, or because
    a limit refused it.
    """
    victims = set(decision.loc[decision["chosen"] == "true", "pid"])
    best: dict[str, tuple[int, str, str]] = {}
    for row in decision.itertuples(index=False):
        if row.app == "" or row.pid in victims:
            continue
        choice = f"choice {row.rank:.0f}" if row.rank == row.rank else "no choice"
        if row.action == "":
            weight, why = 2, row.reason
        elif row.outcome == "refused":
            weight, why = 3 if row.action.startswith("terminate") else 1, row.reason
        elif row.action.startswith("terminate"):
            weight, why = 3, f"its turn was later ({choice})"
        else:
            weight, why = 0, f"{row.action} was all that was considered for it, and its turn was later ({choice})"
        # One reason for each process: what is said of its end counts most.
        if row.pid not in best or weight > best[row.pid][0]:
            best[row.pid] = (weight, row.app, why)
    return [(app, why) for _, app, why in best.values()]
