"""Holds `foresight` against the other policies, in terminations that the user feels.

    python Scripts/tests/check_foresight.py COMPARISON/runs.csv

`foresight` is beaten where a policy that ends whole processes ends fewer, all seeds together, and fewer at most of the
seeds: in one scenario, or in all of them together. At a single seed a policy may be lucky: chance is not foreseen.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

# The bounds, and the policy that lets apps fail because there is no memory.
NO_RIVALS = {"foresight", "unbounded", "none"}
# These take scenes away, too, which foresight does not.
TAKE_MORE = {"ladder"}

Runs = dict[tuple[str, str], int]
"""By scenario and seed."""


def is_beaten(known: Runs, rival: Runs) -> bool:
    """Whether the rival is better on the whole, and not by luck at a few seeds."""
    gains = [known[run] - rival[run] for run in known]
    return sum(gains) > 0 and sum(gain > 0 for gain in gains) * 2 > len(gains)


def faults(rows: list[dict[str, str]]) -> list[str]:
    felt: defaultdict[str, Runs] = defaultdict(dict)
    for row in rows:
        felt[row["policy_label"] or row["policy"]][row["scenario"], row["seed"]] = int(row["terminations_felt"])
    found = []
    scenarios = sorted({row["scenario"] for row in rows})
    for policy, runs in sorted(felt.items()):
        print(f"{policy}: {sum(runs.values())} felt")
        for scope in ["", *scenarios]:
            known, rival = ({run: n for run, n in felt[name].items() if scope in ("", run[0])} for name in ("foresight", policy))
            if policy in NO_RIVALS or (scope and policy in TAKE_MORE) or not is_beaten(known, rival):
                continue
            counts = f"({sum(rival.values())} felt) beats foresight ({sum(known.values())})"
            found.append(f"{scope or 'all scenarios'}: {policy} {counts} at most of {len(known)} runs")
    return found


def main(arguments: list[str]) -> int:
    with Path(arguments[0]).open(encoding="utf-8", newline="") as file:
        found = faults(list(csv.DictReader(file)))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
