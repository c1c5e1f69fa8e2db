"""Sizes, times, shares and counts as people write them: in scenarios, policy files, on the command line and on pages."""

from __future__ import annotations

import math
import re

UNITS = {
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "KB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
}
"""As the program knows them, `ByteCount.units`."""
TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def quantity(text: str, kind: str) -> float:
    """A size, a time, a share, a count or a number as users write it, in bytes, seconds, share or 1. ValueError if it is none."""
    text = text.strip()
    # The patterns are stricter than Python, which takes `nan`, `inf`, `1_000` and `1e9` for numbers, too.
    if kind == "count":
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise ValueError(text)
        return float(int(text))
    if kind == "number":
        if not re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]*)?", text):
            raise ValueError(text)
        return float(text)
    if kind == "ratio":
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?%?", text):
            raise ValueError(text)
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    table = UNITS if kind == "bytes" else TIMES
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?)([A-Za-z]+)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(text)
    if kind == "bytes" and len(parts) > 1:
        raise ValueError(text)
    try:
        return sum(float(number) * table[unit] for number, unit in parts)
    except KeyError as error:
        raise ValueError(text) from error


def span_text(seconds: float, is_short: bool = False) -> str:
    """A length of time as the program's words have it: `1 h 2 min 3.4 s`, cut to a tenth of a second, and below a second
    `62.5 ms`; empty if it is unknown. The short form has whole seconds from a minute on and whole minutes from an hour on,
    cut, too, and no zeros: `2 min 31 s`, `15 min`."""
    if not math.isfinite(seconds):
        return ""
    microseconds = round(seconds * 1e6)
    if microseconds < 1_000_000:
        return f"{microseconds // 100 / 10:g} ms" if microseconds else "0 s"
    whole, tenths = divmod(microseconds // 100_000, 10)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if is_short:
        parts = ((hours, "h"), (minutes, "min"), (0 if hours else rest, "s")) if whole >= 60 else ((whole + tenths / 10, "s"),)
        return " ".join(f"{count:g} {unit}" for count, unit in parts if count)
    return (f"{hours} h " if hours else "") + (f"{minutes} min " if whole >= 60 else "") + f"{rest}.{tenths} s"
