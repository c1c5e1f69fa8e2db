"""What is known about each termination: who, why, for whose demand, how large, how long idle, and whether the user felt it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import Run, once_per_run, scenario_text

NOT_BY_THE_SYSTEM = ("normalApp", "userTerminated", "abnormal")
"""Exit reasons of the user, of an app that is done, and of a crash; every other one is a termination, as the metric
`terminations` counts them."""
CRASHED = "abnormal"

FOREGROUND = ("active", "inactive")

NO_ROOM = ("no_room", "fragmented", "kept_back")
"""Causes of the end of a process whose own allocation found no room, when no process was left to reclaim."""
OWN, ANOTHER = "own", "another"
"""Whose allocation found no room when a process was ended for that; most are ended for the monitor's level or a limit."""

COLUMNS = ["time_s", "app", "pid", "cause", "why", "want", "demand", "band", "state", "footprint_bytes", "idle_s", "lead_s",
           "exit_reason", "measure", "observed", "threshold", "felt", "wanted_s", "demander", "growth_bytes"]  # fmt: skip

SEEN, MISSED = "seen", "missed"
"""How the user felt an end: the app vanished from the screen, or was wanted again soon after. Otherwise `felt` is empty."""

PREWARMED = "prewarmed"
"""The state of a process that no user has seen: its end is no loss."""

GROWTH_S = 10.0
"""Over this time before an end the growth of each app is measured: the one that grew most needed the room."""
LEAST_GROWTH = 1 << 20
LIMITS = {"background_processes": "background processes", "background_memory": "memory off screen"}
"""Demands that are about a limit, and what is limited."""


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


@once_per_run
def kills_of(run: Run) -> pd.DataFrame:
    """One row per termination. What the tables do not tell is empty or NaN."""
    by_pid = {pid: table for pid, table in run.events.groupby("pid", sort=False) if pid != ""}
    last_seen = last_rows(run.apps)
    decisions = decided(run)
    wishes, compared, growth = wishes_of(run), comparisons(run), Growth(run)
    within_s = perceived_within(run.directory)
    rows = []
    for row in terminations(run).itertuples(index=False):
        time_s, pid = row.time_s, row.pid
        events = by_pid.get(pid, run.events.iloc[:0])
        seen = last_seen.get(pid)
        # The decision knows the band at that very moment, the samples that of a moment before.
        band, cause, demand = decisions.get(pid, ("", "", ""))
        measure, observed, threshold = compared.get(pid, ("", math.nan, math.nan))
        wanted_s = wanted_after(wishes.get(row.app, []), time_s)
        state = state_at_end(events, time_s)
        is_seen = state in FOREGROUND
        is_missed = wanted_s <= within_s and state != PREWARMED and not was_quit(events)
        demander, grown = whose_demand(run, growth, row, demand)
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
                "exit_reason": row.exit_reason,
                "measure": row.measure or measure,
                "observed": observed,
                "threshold": row.threshold if row.threshold == row.threshold else threshold,
                "felt": SEEN if is_seen else MISSED if is_missed else "",
                "wanted_s": wanted_s,
                "demander": demander,
                "growth_bytes": grown,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def ends_of(run: Run, table: pd.DataFrame) -> list[tuple[float, str, str]]:
    """(time, app, kind of end) of every process that ended, in the order of time, given its terminations."""
    found = [(row.time_s, row.app, style.FELT if row.felt else style.UNFELT) for row in table.itertuples(index=False)]
    others = run.events_named("exit")
    others = others[others["exit_reason"].isin(NOT_BY_THE_SYSTEM)]
    found += [(row.time_s, row.app, style.CRASHED if row.exit_reason == CRASHED else style.LEFT)
              for row in others.itertuples(index=False)]  # fmt: skip
    return sorted(found, key=lambda end: end[0])


# --- Whether the user felt it -------------------------------------------------------------------------------------------


def perceived_within(directory: Path) -> float:
    """Within how many seconds an app must be wanted again for its end to count as felt: `metrics.perceived_within`."""
    match = re.search(r"^metrics:.*?perceived_within:\s*([0-9.]+)\s*(us|ms|s|min|h)\b", scenario_text(directory), re.MULTILINE | re.DOTALL)
    seconds = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
    return float(match[1]) * seconds[match[2]] if match else 1800.0


def wishes_of(run: Run) -> dict[str, list[tuple[float, float]]]:
    """App -> (when it counted, when the user tapped) of each time that the user wanted it, in order.

    A tap on a process that is being ended counts when that process is gone: when the next one is launched or, if the user
    has gone on by then, at the end itself.
    """
    launched = run.events_named("launch").drop_duplicates("pid").set_index("pid")["time_s"].to_dict()
    exits = {app: table["time_s"].tolist() for app, table in run.events_named("exit").groupby("app", sort=False)}
    found: dict[str, list[tuple[float, float]]] = {}
    for app, kind, pid, tapped_s in run.launches[["app", "kind", "pid", "tapped_s"]].itertuples(index=False):
        counted_s = tapped_s
        if kind == "cold" and pid == "":
            counted_s = next((time_s for time_s in exits.get(app, []) if time_s >= tapped_s), tapped_s)
        elif kind == "cold":
            counted_s = max(tapped_s, launched.get(pid, tapped_s))
        found.setdefault(app, []).append((counted_s, tapped_s))
    return {app: sorted(wishes) for app, wishes in found.items()}


def wanted_after(wishes: list[tuple[float, float]], time_s: float) -> float:
    """How long after the end the user wanted the app again; infinity if never."""
    return next((max(tapped_s - time_s, 0.0) for counted_s, tapped_s in wishes if counted_s >= time_s), math.inf)


def states_until(events: pd.DataFrame, time_s: float) -> pd.DataFrame:
    """The states that the process entered before it was gone. An app with scenes reads that it is in the background while it
    is launched to the foreground; for the user it is in front, as for the system."""
    states = events[(events["event"] == "process_state") & (events["time_s"] <= time_s) & (events["state"] != "notRunning")]
    if not states.empty and states["state"].iloc[0] == "background" and (events["event"] == "launch_screen").any():
        states = states.assign(state=["inactive", *states["state"].iloc[1:]])
    return states


def state_at_end(events: pd.DataFrame, time_s: float) -> str:
    """The last state that the process entered before it was gone."""
    states = states_until(events, time_s)
    return "" if states.empty else str(states["state"].iloc[-1])


def was_quit(events: pd.DataFrame) -> bool:
    """Whether the user had swiped the process away: its end is then no loss."""
    return bool(((events["event"] == "user") & (events["detail"] == "quit")).any())


# --- For whose demand ---------------------------------------------------------------------------------------------------


def comparisons(run: Run) -> dict[str, tuple[str, float, float]]:
    """Process number of a termination that was decided -> what was compared: measure, observed, threshold."""
    known = terminating(run)[["pid", "measure", "observed", "threshold"]]
    return {pid: (measure, observed, threshold) for pid, measure, observed, threshold in known.itertuples(index=False)}


class Growth:
    """Which app grew most before a moment."""

    def __init__(self, run: Run) -> None:
        known = run.apps.dropna(subset=["footprint_bytes"])
        table = known.pivot_table(index="time_s", columns="app", values="footprint_bytes", aggfunc="sum", sort=False)
        self.table = table.reindex(sorted(set(table.index) | set(run.samples["time_s"]))).fillna(0.0)
        self.times_s = self.table.index.to_numpy(dtype=float)

    def largest(self, time_s: float, besides: str) -> tuple[str, float]:
        """The other app that grew most in GROWTH_S up to this moment, and by how many bytes; empty if none grew."""
        after = int(np.searchsorted(self.times_s, time_s, side="right"))
        if after == 0 or self.table.shape[1] == 0:
            return "", math.nan
        first = max(int(np.searchsorted(self.times_s, time_s - GROWTH_S, side="left")), 0)
        window = self.table.iloc[min(first, after - 1) : after]
        grown = (window.iloc[-1] - window.iloc[0]).drop(index=besides, errors="ignore")
        if grown.empty or grown.max() < LEAST_GROWTH:
            return "", math.nan
        return str(grown.idxmax()), float(grown.max())


def whose_demand(run: Run, growth: Growth, row: Any, demand: str) -> tuple[str, float]:
    """The app whose demand an end served: that whose allocation waits, or the one that grew most, with its growth.

    An end for the process's own size serves no other, one for a limit of the device no app, and one for another rule than
    those about memory gives room to none.
    """
    if demand in LIMITS:
        return "", math.nan
    if row.cause in NO_ROOM or row.exit_reason == "memoryResourceLimit":
        return row.app, math.nan
    if row.exit_reason not in ("memoryPressure", ""):
        return "", math.nan
    if demand == "allocation":
        stalls = run.events_named("stall")
        waiting = stalls.loc[(stalls["time_s"] <= row.time_s) & (stalls["pid"] != row.pid), "app"]
        if len(waiting):
            return str(waiting.iloc[-1]), math.nan
    return growth.largest(row.time_s, row.app)


# --- What the tables say of the process ---------------------------------------------------------------------------------


def last_rows(apps: pd.DataFrame) -> dict[str, Any]:
    """Process number -> the last that the samples saw of it: at most one sample before its end."""
    known = apps[apps["pid"] != ""].drop_duplicates("pid", keep="last")
    return {row.pid: row for row in known.itertuples(index=False)}


def idle_time(events: pd.DataFrame, time_s: float) -> float:
    """Since when it was off screen. Zero in the foreground; since its start if it never was there."""
    states = states_until(events, time_s)
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
