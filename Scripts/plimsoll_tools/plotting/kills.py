"""What is known about each termination: who, why, from which band, how large, how long idle, how long after a warning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from plimsoll_tools.plotting.run_directory import Run

NOT_BY_THE_SYSTEM = ("normalApp", "userTerminated", "abnormal")
"""Exit reasons of the user, of an app that is done, and of a crash; every other one is a termination, as the metric
`terminations` counts them."""
CRASHED = "abnormal"

FOREGROUND = ("active", "inactive")

NO_ROOM = ("no_room", "fragmented", "kept_back")
"""Causes of the end of a process whose own allocation found no room, when no process was left to reclaim."""
OWN, ANOTHER = "own", "another"
"""Whose allocation found no room when a process was ended for that; most are ended for the monitor's level or a limit."""

COLUMNS = ["time_s", "app", "pid", "cause", "why", "want", "demand", "band", "state", "footprint_bytes", "idle_s", "lead_s"]


def terminations(run: Run) -> pd.DataFrame:
    """The ends that the system brought about; from a run without exits, the actions that ended an app."""
    exits = run.events_named("exit")
    if exits.empty:
        actions = run.events_named("action")
        # Who is asked to end and then made to is one termination.
        return actions[actions["action"].str.startswith("terminate")].drop_duplicates("pid", keep="last")
    return exits[~exits["exit_reason"].isin(NOT_BY_THE_SYSTEM)]


def crashes(run: Run) -> pd.DataFrame:
    """The exits by which apps ended themselves: losses, too, but no terminations."""
    exits = run.events_named("exit")
    return exits[exits["exit_reason"] == CRASHED]


def kills_of(run: Run) -> pd.DataFrame:
    """One row per termination. What the tables do not tell is empty or NaN."""
    by_pid = {pid: table for pid, table in run.events.groupby("pid", sort=False) if pid != ""}
    last_seen = last_rows(run.apps)
    decisions = decided(run)
    rows = []
    for row in terminations(run).itertuples(index=False):
        time_s, pid = row.time_s, row.pid
        events = by_pid.get(pid, run.events.iloc[:0])
        seen = last_seen.get(pid)
        # The decision knows the band at that very moment, the samples that of a moment before.
        band, cause, demand = decisions.get(pid, ("", "", ""))
        rows.append(
            {
                "time_s": time_s,
                "app": row.app,
                "pid": pid,
                "cause": cause or row.exit_reason or row.action,
                "why": row.reason,
                "want": OWN if row.cause in NO_ROOM else ANOTHER if demand == "allocation" else "",
                "demand": demand,
                "band": band or ("" if seen is None else seen.band),
                "state": "" if seen is None else seen.state,
                "footprint_bytes": math.nan if seen is None else seen.footprint_bytes,
                "idle_s": idle_time(events, time_s),
                "lead_s": lead_time(events, time_s),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def last_rows(apps: pd.DataFrame) -> dict[str, Any]:
    """Process number -> the last that the samples saw of it: at most one sample before its end."""
    known = apps[apps["pid"] != ""].drop_duplicates("pid", keep="last")
    return {row.pid: row for row in known.itertuples(index=False)}


def idle_time(events: pd.DataFrame, time_s: float) -> float:
    """Since when it was off screen. Zero in the foreground; since its start if it never was there."""
    states = events[(events["event"] == "process_state") & (events["time_s"] <= time_s)]
    states = states[states["state"] != "notRunning"]
    if states.empty:
        return math.nan
    shown = states["state"].isin(FOREGROUND).to_numpy()
    if shown[-1]:
        return 0.0
    left = np.flatnonzero(shown)
    first_off_screen = left[-1] + 1 if len(left) else 0
    return float(time_s - states["time_s"].to_numpy()[first_off_screen])


def lead_time(events: pd.DataFrame, time_s: float) -> float:
    """From the last warning that this process was given to its end; NaN when it was never warned."""
    warned = events.loc[(events["event"] == "warning") & (events["time_s"] <= time_s), "time_s"]
    return float(time_s - warned.max()) if len(warned) else math.nan


def terminating(run: Run) -> pd.DataFrame:
    """The decisions that ended a process."""
    decisions = run.decisions
    return decisions[(decisions["chosen"] == "true") & decisions["action"].str.startswith("terminate")]


def decided(run: Run) -> dict[str, tuple[str, str, str]]:
    """Process number of a termination that was decided -> the band, the cause in the kernel's words, and the demand.

    Not by the time, too: who is asked to end goes later, and may be decided on twice. The last decision counts.
    """
    known = terminating(run)[["pid", "band", "cause", "demand"]]
    return {pid: (band, cause, demand) for pid, band, cause, demand in known.itertuples(index=False)}


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
