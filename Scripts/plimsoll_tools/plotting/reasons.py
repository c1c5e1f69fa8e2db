"""reasons: why each process was ended, in a few words, from the figures and names of the tables and not from their sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from plimsoll_tools.plotting import kills, memory, style, terminations
from plimsoll_tools.plotting.run_directory import Run
from plimsoll_tools.quantities import span_text

IDLE_EXITS = ("idle-exit", "long-idle-exit")
"""Causes that mean that the process was not used for long, whatever its size."""
PLAIN_CAUSES = (*IDLE_EXITS, "jettisoned", "per-process-limit")
"""Causes of the kernel that say no more than the words here."""
BECAME = {"critical": "memory became critical", "warning": "pressure rose to warning"}
"""What came of a shortage, by the level of pressure."""
SMALL_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Victim:
    """A process that the system ended, or that crashed."""

    time_s: float
    app: str
    kind: str
    """As `style.END_LOOKS` has it."""
    cause: str
    """What was short, or which limit was crossed."""
    standing: str = ""
    """What made this process the one to end, where that is a question."""
    beneficiary: str = ""
    """The other app for whose sake it was, unless the cause names that one."""
    course: str = ""
    """What another app did, what came of it, and that this one went, in a sentence."""

    @property
    def text(self) -> str:
        whose = f", for {style.label(self.beneficiary, 14)}" if self.beneficiary else ""
        return f"{style.label(self.app, 20)}{whose}: {self.cause}" + (f", {self.standing}" if self.standing else "")


def victims_of(run: Run) -> list[Victim]:
    """Every termination and crash, in the order of time."""
    table, levels = kills.kills_of(run), memory.level_spans(run)
    found, ended = [], set()
    for row in table.itertuples(index=False):
        ended.add(row.pid)
        level = terminations.level_at(levels, row.time_s)
        cause, had_choice = cause_of(row, level, run.facts.scale)
        standing = standing_of(run, row, ended) if had_choice else ""
        whose = row.beneficiary if row.need == "level" and row.beneficiary != row.app else ""
        found.append(Victim(row.time_s, row.app, row.mark, cause, standing, whose, course_of(row, level, run.facts.scale)))
    found += [Victim(row.time_s, row.app, style.CRASHED, "crashed") for row in kills.crashes(run).itertuples(index=False)]
    return sorted(found, key=lambda victim: victim.time_s)


def cause_of(row: Any, level: str, scale: float = 1.0) -> tuple[str, bool]:
    """What was short or crossed, for a row of `kills_of`, and whether memory of another process would have done as well.
    Sizes are those of the device, of which the model has this share."""
    if row.want == kills.OWN:
        return f"its own allocation {terminations.FOUND_NO_ROOM}", False
    if row.demand == "background_processes":
        return too_many(row.observed, row.threshold), False
    if row.demand == "background_memory":
        return f"memory off screen above {terminations.size_text(row.threshold / scale)}", False
    if row.exit_reason == "memoryResourceLimit":
        known = not math.isnan(row.threshold)
        return "over its own limit" + (f" of {style.exact_bytes_text(row.threshold / scale)}" if known else ""), False
    if row.cause in terminations.BY_REASON:
        return terminations.BY_REASON[row.cause], False
    shortage = shortage_of(row, level, scale)
    if not shortage:
        return str(row.cause), False
    return shortage + ("" if row.cause in (*PLAIN_CAUSES, row.exit_reason) else f" ({row.cause})"), True


def shortage_of(row: Any, level: str, scale: float = 1.0) -> str:
    """What was short when it was ended; empty where the tables do not say."""
    if row.want == kills.ANOTHER:
        whose = f" of {style.label(row.beneficiary, 14)}" if row.beneficiary else ""
        return f"an allocation{whose} {terminations.FOUND_NO_ROOM}"
    if row.demand == "pressure":
        if level in ("", "normal"):
            return "pressure"
        return "memory was critical" if level == "critical" else f"pressure was at {level}"
    if row.measure == "available_bytes" and not math.isnan(row.threshold):
        bound = f"below {terminations.size_text(row.threshold / scale)} available"
        # A kernel that has begun to end idle processes ends all of them.
        return bound if row.observed < row.threshold else f"sweep that began {bound.removesuffix(' available')}"
    return ""


def course_of(row: Any, level: str, scale: float = 1.0) -> str:
    """What another app did, what came of it, and that this one went; empty where it was for no other app."""
    if row.beneficiary in ("", row.app):
        return ""
    if row.need == "allocation":
        return f"{row.beneficiary} needed memory and {terminations.FOUND_NO_ROOM}, and {row.app} went."
    amount = "most" if math.isnan(row.taken_bytes) else style.bytes_text(row.taken_bytes / scale)
    came = BECAME.get(level, "memory ran short")
    return f"{row.beneficiary} took {amount} of the free memory, {came}, and {row.app} went."


def too_many(observed: float, threshold: float) -> str:
    """By how many the background processes exceed what is allowed."""
    if math.isnan(observed - threshold):
        return "too many background processes"
    excess = round(observed - threshold)
    count = SMALL_NUMBERS[excess] if 0 < excess < len(SMALL_NUMBERS) else f"{excess:,}"
    return f"{count} background {'process' if excess == 1 else 'processes'} too many"


def standing_of(run: Run, row: Any, ended: set[str]) -> str:
    """How the process stood among those that were idle at its last sample; `ended` are gone by then.

    This compares facts. A policy may have had other grounds; `why` in terminations.csv has the policy's own words.
    """
    if row.was_foreground == "true":
        return "in front"
    idle = "" if math.isnan(row.idle_s) else f"idle for {span_text(row.idle_s)}"
    own = run.apps[(run.apps["pid"] == row.pid) & (run.apps["time_s"] <= row.time_s)]
    if row.cause in IDLE_EXITS or own.empty:
        return idle
    last = own.iloc[-1]
    if last["state"] != "suspended":
        return idle.replace("idle", "off screen")
    rows = run.apps[run.apps["time_s"] == last["time_s"]]
    others = rows.loc[(rows["state"] == "suspended") & ~rows["pid"].isin(ended), "footprint_bytes"].dropna()
    if others.empty:
        return "the only one idle"
    return "largest of the idle" if row.footprint_bytes >= others.max() else idle
