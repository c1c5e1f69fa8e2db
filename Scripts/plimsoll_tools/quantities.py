"""Sizes, times, shares and counts as people write them: in scenarios, policy files and on the command line."""

from __future__ import annotations

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
    """A size, a time, a share or a count as users write it, in bytes, seconds, share or 1. ValueError if it is none."""
    text = text.strip()
    # The patterns are stricter than Python, which takes `nan`, `inf`, `1_000` and `1e9` for numbers, too.
    if kind == "count":
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise ValueError(text)
        return float(int(text))
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
