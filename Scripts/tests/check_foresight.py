"""Holds `foresight` against the other policies, in terminations that the user feels.

    python Scripts/tests/check_foresight.py COMPARISON/runs.csv

In no scenario does a policy that ends whole processes end fewer, all seeds together; nor does any policy in all scenarios
together. Of a single seed it may: chance is not foreseen.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

# The bounds, and who lets apps fail for want of memory.
NO_RIVALS = {"foresight", "unbounded", "none"}
# These take scenes away, too, which foresight does not.
TAKE_MORE = {"ladder"}


def faults(rows: list[dict[str, str]]) -> list[str]:
    felt: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for scope in (row["scenario"], ""):
            felt[scope, row["policy_label"] or row["policy"]] += int(row["terminations_felt"])
    found = []
    for (scope, policy), count in sorted(felt.items()):
        known = felt[scope, "foresight"]
        if scope == "":
            print(f"{policy}: {count} felt")
        if policy not in NO_RIVALS and not (scope and policy in TAKE_MORE) and count < known:
            found.append(f"{scope or 'all scenarios'}: {policy} ({count} felt) beats foresight ({known})")
    return found


def main(arguments: list[str]) -> int:
    with Path(arguments[0]).open(encoding="utf-8", newline="") as file:
        found = faults(list(csv.DictReader(file)))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
