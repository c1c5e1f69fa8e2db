"""Runs whole processes and reads the host's own accounting of them."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field


class BenchFailure(Exception):
    """A run that should have worked did not; the message is for the user."""


@dataclass(frozen=True)
class Usage:
    """One process from start to exit: seconds, and the kernel's peak of its memory in bytes."""

    wall: float
    cpu: float
    peak: int
    #: What an anchor printed; empty for the engine.
    said: dict[str, float] = field(default_factory=dict)


def run(command: Sequence[str], accepted: Collection[int] = (0,)) -> Usage:
    """Runs a command to its end; raises BenchFailure if its exit status is none of `accepted`."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # An anchor prints one line and the engine none: neither can fill a pipe.
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    out, err = child.communicate()
    if child.returncode not in accepted:
        raise BenchFailure(f"{' '.join(command)}: exit status {child.returncode}\n{err}")
    said = json.loads(out) if out.startswith("{") else {}
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, said)


@dataclass(frozen=True)
class Side:
    """One of two things that are compared: how it is measured, in which unit."""

    name: str
    measure: Callable[[], float]
    unit: str


@dataclass(frozen=True)
class Figure:
    """A claim: the engine's value, the anchor's, and the limit of engine / anchor (or of the engine's value alone)."""

    number: int
    name: str
    engine: Side
    anchor: Side | None
    limit: float
    #: Whether the ratio must be at most the limit; otherwise at least.
    at_most: bool = True


@dataclass(frozen=True)
class Result:
    figure: Figure
    engine: float
    anchor: float | None
    ratio: float
    lowest: float
    highest: float

    @property
    def holds(self) -> bool:
        return self.ratio <= self.figure.limit if self.figure.at_most else self.ratio >= self.figure.limit


def compare(figure: Figure, repeat: int) -> Result:
    """Engine and anchor in turn, so that a slower minute of the machine is slower for both."""
    engine: list[float] = []
    anchor: list[float] = []
    for number in range(repeat):
        say(f"figure {figure.number}: {figure.name}: {number + 1} of {repeat}")
        engine.append(figure.engine.measure())
        if figure.anchor:
            anchor.append(figure.anchor.measure())
    ratios = [a / b for a, b in zip(engine, anchor)] if anchor else engine
    return Result(
        figure, statistics.median(engine), statistics.median(anchor) if anchor else None,
        statistics.median(ratios), min(ratios), max(ratios))


def say(text: str) -> None:
    """Progress, on a terminal alone."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def say_nothing() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
