"""The search space of a policy: one dimension per parameter of its own table, in its own unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from optuna.trial import Trial

from plimsoll_tools.quantities import UNITS, quantity
from plimsoll_tools.tuning.program import Fault

FLOORS = {"time": 1.0, "bytes": 4 * UNITS["MiB"], "ratio": 0.001}
"""Where a logarithmic scale begins when the range begins at zero: 1 s, 4 MiB, 0.1 %. Its lowest step is zero."""

PLAUSIBLE = 16
"""Without a range of the user's own, the search goes from this part of a default to this multiple of it: what a policy's
table takes is what it can be given, and most of that is no policy that anybody would run."""

SHARE_LOG_BELOW = 0.25
"""A share whose default is below a quarter of its range is searched logarithmically: thresholds are small shares."""

TABLE = "table"
"""What the reproduced system's own table says. The search holds it as a zero."""


@dataclass(frozen=True)
class Dimension:
    """One parameter that is searched."""

    name: str
    kind: str
    low: float
    high: float
    standard: float
    is_log: bool
    zero_below: float
    """Values below it are zero; 0 where the range has no zero or the scale is linear."""
    meaning: str
    may_be_table: bool = False
    """Whether `table` stands where a zero would: what the reproduced system's own table says."""
    ends: tuple[str, str] = ("", "")
    """The least and the greatest value that the program takes, as it writes them; empty: whatever the text says."""

    def suggest(self, trial: Trial) -> Any:
        if self.kind == "flag":
            return trial.suggest_categorical(self.name, [False, True])
        if self.kind == "count":
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.is_log)
        return trial.suggest_float(self.name, self.low, self.high, log=self.is_log)

    def clamped(self, value: float) -> Any:
        """The value as the study holds it: a zero stands at the lowest step of a logarithmic scale."""
        if self.kind == "flag":
            return bool(value)
        within = min(max(value, self.low), self.high)
        return int(within) if self.kind == "count" else within

    def text(self, value: Any) -> str:
        """As scenarios, policy files and `--set` take it, rounded to three figures."""
        text = self.within(self.number_text(value))
        return TABLE if self.may_be_table and not quantity(text, self.kind) else text

    def within(self, text: str) -> str:
        """A text that was rounded beyond an end of the range is that end."""
        least, greatest = self.ends
        if least and quantity(text, self.kind) < quantity(least, self.kind):
            return least
        return greatest if greatest and quantity(text, self.kind) > quantity(greatest, self.kind) else text

    def number_text(self, value: Any) -> str:
        if self.kind == "flag":
            return "true" if value else "false"
        if self.kind == "count":
            return str(int(value))
        if self.kind == "number":
            return plain(value)
        if value < self.zero_below:
            value = 0.0
        if self.kind == "time":
            return time_text(value)
        return bytes_text(value) if self.kind == "bytes" else share_text(value)

    @property
    def standard_text(self) -> str:
        """The value before the search, as a policy that the search wrote would have it."""
        return self.text(self.clamped(self.standard))

    @property
    def range_text(self) -> str:
        if self.kind == "flag":
            return "false, true"
        scale = ", logarithmic" if self.is_log else ""
        return f"{self.text(self.low)} to {self.text(self.high)}{scale}"


def rounded(value: float, figures: int = 3) -> float:
    if value == 0:
        return 0.0
    return round(value, figures - 1 - math.floor(math.log10(abs(value))))


def time_text(seconds: float) -> str:
    milliseconds = round(rounded(seconds) * 1000)
    if milliseconds and milliseconds % 60_000 == 0:
        return f"{milliseconds // 60_000}min"
    return f"{milliseconds / 1000:g}s" if milliseconds >= 1000 or not milliseconds else f"{milliseconds}ms"


def plain(number: float) -> str:
    """Without an exponent, and to a millionth, as the program has it."""
    text = f"{rounded(number):.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def bytes_text(count: float) -> str:
    # Pages are 4 KiB: a finer size has no meaning.
    if count >= 16 * UNITS["MiB"] or count and count % UNITS["MiB"] == 0:
        return f"{rounded(count / UNITS['MiB'], 4 if count >= 1000 * UNITS['MiB'] else 3):g}MiB"
    return f"{max(round(rounded(count / 1024) / 4) * 4, 4)}KiB" if count else "0B"


def share_text(share: float) -> str:
    return f"{round(rounded(share * 100), 2):g}%"


def dimension(entry: dict[str, Any], most: dict[str, float], is_declared: bool = False) -> Dimension | None:
    """The dimension of one row of the table; None for what has no range. `most` bounds what the scenarios can use.

    A range that a file declares for its rules is meant to be searched, so the search does not stay near the default.
    """
    kind, name = str(entry["type"]), str(entry["parameter"])
    meaning = str(entry["meaning"])
    if kind == "flag":
        standard = float(entry["default"] == "true")
        return Dimension(name, kind, 0, 1, standard, False, 0, meaning)
    if entry.get("minimum_value") is None or kind not in ("time", "bytes", "ratio", "count", "number"):
        return None
    low, high = range_of(entry)
    standard = 0.0 if entry["default"] == TABLE else float(entry["default_value"])
    usable = (low, min(high, max(most.get(kind, high), standard)))
    is_even = str(entry.get("scale")) == "even"
    found = fitted(name, kind, usable, standard, meaning, is_even)
    if found.is_log and standard > 0 and not is_declared:
        near = (max(low, standard / PLAUSIBLE), min(usable[1], standard * PLAUSIBLE))
        near = (math.ceil(near[0]), math.floor(near[1])) if kind == "count" else near
        found = fitted(name, kind, near, standard, meaning)
    ends = ("", "") if entry.get("may_be_table") else (str(entry.get("minimum") or ""), str(entry.get("maximum") or ""))
    return replace(found, may_be_table=bool(entry.get("may_be_table")), ends=ends)


def range_of(entry: dict[str, Any]) -> tuple[float, float]:
    """The least and the greatest value; zero is the table's."""
    return 0.0 if entry.get("may_be_table") else float(entry["minimum_value"]), float(entry["maximum_value"])


def fitted(
    name: str, kind: str, ends: tuple[float, float], standard: float, meaning: str, is_even: bool = False
) -> Dimension:
    """Chooses the scale: logarithmic where the range spans more than two powers of ten, unless the table says even."""
    low, high = ends
    if is_even or kind == "number":
        return Dimension(name, kind, low, high, standard, False, 0, meaning)
    if kind == "count":
        return Dimension(name, kind, low, high, standard, low >= 1 and high / low >= 100, 0, meaning)
    floor = low if low > 0 else min(FLOORS[kind], high / 100)
    is_log = high / floor >= 100 and (kind != "ratio" or standard < SHARE_LOG_BELOW * high)
    if not is_log:
        return Dimension(name, kind, low, high, standard, False, 0, meaning)
    zero_below = floor * 1.25 if low == 0 else 0.0
    return Dimension(name, kind, floor, high, standard, True, zero_below, meaning)


def narrowed(found: Dimension, text: str, entry: dict[str, Any]) -> Dimension:
    """The dimension within a range that the user gave: `LOW..HIGH`, within that of the table."""
    low_text, dots, high_text = text.partition("..")
    try:
        if not dots or found.kind == "flag":
            raise ValueError(text)
        starts_at_table = found.may_be_table and low_text.strip() == TABLE
        low, high = 0.0 if starts_at_table else quantity(low_text, found.kind), quantity(high_text, found.kind)
    except ValueError as error:
        raise Fault(64, f"--range {found.name}={text}: expected LOW..HIGH, such as {example(found)}") from error
    if low >= high:
        raise Fault(64, f"--range {found.name}={text}: the range is empty")
    least, greatest = range_of(entry)
    if low < least or high > greatest:
        allowed = f"{entry['minimum']}..{entry['maximum']}"
        raise Fault(64, f"--range {found.name}={text}: the policy takes {allowed}")
    is_even = str(entry.get("scale")) == "even"
    narrow = fitted(found.name, found.kind, (low, high), found.standard, found.meaning, is_even)
    return replace(narrow, may_be_table=found.may_be_table, ends=found.ends)


def example(found: Dimension) -> str:
    if found.kind == "flag":
        return "nothing: a flag has no range"
    return f"{found.text(found.low)}..{found.text(found.high)}"
