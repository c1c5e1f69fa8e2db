"""reasons: why each process was ended, in the few words that the program has written, and for which other app."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from plimsoll_tools.plotting import kills, memory, style, terminations
from plimsoll_tools.plotting.run_directory import Run

BECAME = {"critical": "memory became critical", "warning": "pressure rose to warning"}
"""What came of a shortage, by the level of pressure."""


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
    levels = memory.level_spans(run)
    found = [Victim(row.time_s, row.app, style.CRASHED, "crashed") for row in kills.crashes(run).itertuples(index=False)]
    for row in kills.kills_of(run).itertuples(index=False):
        whose = row.beneficiary if row.need == "level" and row.beneficiary != row.app else ""
        course = course_of(row, terminations.level_at(levels, row.time_s), run.facts.scale)
        # Older runs have only the kernel's word.
        found.append(Victim(row.time_s, row.app, row.mark, row.in_short or row.cause, row.standing, whose, course))
    return sorted(found, key=lambda victim: victim.time_s)


def course_of(row: Any, level: str, scale: float = 1.0) -> str:
    """What another app did, what came of it, and that this one went; empty where it was for no other app."""
    if row.beneficiary in ("", row.app):
        return ""
    if row.need == "allocation":
        return f"{row.beneficiary} needed memory and {terminations.FOUND_NO_ROOM}, and {row.app} went."
    amount = "most" if math.isnan(row.taken_bytes) else style.bytes_text(row.taken_bytes / scale)
    came = BECAME.get(level, "memory ran short")
    return f"{row.beneficiary} took {amount} of the free memory, {came}, and {row.app} went."
