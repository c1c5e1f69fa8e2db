"""Facts stand in columns of their own: whatever is written into `detail`, `reason` and `why` of a run, pictures stay
the same to the byte, and pages differ only where they quote them.

    python Scripts/tests/check_facts.py RUN-DIRECTORY SCRATCH-DIRECTORY
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from harness import call_main, load_main

from plimsoll_tools.plotting.run_directory import read_run
from plimsoll_tools.reporting import payload

PROSE = {"events": ("detail", "reason"), "decisions": ("reason",), "terminations": ("why",)}
"""Columns that are for people alone."""


def overwrite_prose(directory: Path) -> int:
    """Writes nonsense into every cell of prose, another one into each row, and returns how many cells it was.

    The nonsense looks like what a reader of sentences would fall for.
    """
    count = 0
    for name, columns in PROSE.items():
        path = directory / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        for number, row in enumerate(rows):
            for column in columns:
                sentences = ("no room for 5", "threshold 3 MiB", "refused by dice", "no victim", "terminate", "critical", "active")
                row[header.index(column)] = f"{sentences[number % len(sentences)]}: nonsense {number}"
                count += 1
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return count


def pictures_of(directory: Path, out: Path) -> dict[str, bytes]:
    status, _, said = call_main(load_main("plotting"), directory, "--format", "png", "--out", out)
    if status:
        raise ValueError(f"{directory}: plot ends with {status}: {said}")
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def page_of(directory: Path) -> dict[str, Any]:
    """What the page shows, without what it quotes: a kill's why, and the sentences of decisions."""
    page = payload.payload_of(read_run(directory), "run")
    for kill in page["kills"]:
        del kill["why"]
        kill["spared"] = [app for app, _ in kill["spared"]]
    page["decisions"] = [[*row[:4], *row[5:]] for row in page["decisions"]]
    del page["reasons"]
    shown: dict[str, Any] = json.loads(json.dumps(page))
    return shown


def differences(run: Path, scratch: Path) -> list[str]:
    """What differs between the run and a copy whose prose is nonsense."""
    copy = scratch / "nonsense"
    shutil.copytree(run, copy)
    count = overwrite_prose(copy)
    found = [] if count else [f"{run} has no prose"]
    here, there = (pictures_of(one, scratch / f"pictures-{one.name}") for one in (run, copy))
    found += [f"the picture {name}" for name in sorted(here.keys() | there.keys()) if here.get(name) != there.get(name)]
    one, other = page_of(run), page_of(copy)
    return found + [f"{key} of the page" for key in one if one[key] != other[key]]


def main(run: Path, scratch: Path) -> int:
    scratch.mkdir(parents=True, exist_ok=True)
    found = differences(run, scratch)
    for one in found:
        print(f"{run}: prose is read as a fact: {one} differs", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
