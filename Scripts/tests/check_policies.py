"""Holds one evening under every policy against what the yardsticks promise.

    python Scripts/tests/check_policies.py RUN-DIRECTORY... [--table]

Every directory is a run of the same scenario with the same seed under another policy. `unbounded` and `foresight` are
never beaten on what they bound: terminations that the user feels. `none` is never better than all others.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

YARDSTICKS = {"unbounded", "foresight", "none"}
COLUMNS = [
    ("ended", "terminations"),
    ("felt", "terminations_felt"),
    ("in front", "terminations_foreground"),
    ("perceived", "terminations_perceived"),
    ("lost launches", "launches_unfinished"),
    ("hot share", "hot_launch_ratio"),
    ("p95 ms", "launch_latency_p95_ms"),
    ("waited s", "stall_time_s"),
]


def summary(directory: str) -> dict[str, str]:
    with (Path(directory) / "summary.csv").open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))


def number(row: dict[str, str], column: str) -> float:
    return float(row[column] or "nan")


def table(rows: list[dict[str, str]]) -> str:
    lines = ["| policy | " + " | ".join(title for title, _ in COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        cells = [f"{number(row, column):.3g}" if "." in row[column] else row[column] for _, column in COLUMNS]
        cells[6] = f"{number(row, 'launch_latency_p95_ms'):.0f}"
        lines.append(f"| {row['policy']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def faults(rows: list[dict[str, str]]) -> list[str]:
    by_name = {row["policy"]: row for row in rows}
    found = [f"there is no run under {name}" for name in sorted(YARDSTICKS) if name not in by_name]
    if found:
        return found
    felt = {name: number(row, "terminations_felt") for name, row in by_name.items()}
    others = [name for name in by_name if name not in YARDSTICKS]
    for bound in ("unbounded", "foresight"):
        for name in [*others, "none"]:
            if felt[name] < felt[bound]:
                found.append(f"{name} ({felt[name]:.0f} felt) beats {bound} ({felt[bound]:.0f})")
    if felt["unbounded"] != 0:
        found.append(f"unbounded ended {felt['unbounded']:.0f} apps in a way that is felt")
    if all(felt["none"] < felt[name] for name in others):
        found.append(f"none ({felt['none']:.0f} felt) is better than all others")
    if len({row["seed"] for row in rows}) != 1 or len({row["scenario"] for row in rows}) != 1:
        found.append("the runs differ in more than their policy")
    return found


def main(arguments: list[str]) -> int:
    rows = [summary(argument) for argument in arguments if not argument.startswith("--")]
    if "--table" in arguments:
        print(table(rows))
    found = faults(rows)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(rows)} policies, {len(found)} faults", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
