"""Plays one evening under every policy, and holds it against what the yardsticks promise and what the page says.

    python Scripts/tests/check_policies.py PLIMSOLL FOLDER [--write]

FOLDER is made, and holds a run per policy. The scenario's limits on background processes and background memory are off: most
ends would be for them, whatever the policy. `unbounded` is never beaten on what it bounds: terminations that the user feels.
`foresight`, a reference and no bound, is beaten by one at most; a policy that does better here is played under other seeds, for
a single evening may be luck. `none` is never better than all others. The rows in Policies.md must be those of the runs; a policy
that has no row yet is named. --write puts the whole table there. Ends with 1 where something does not hold.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from plimsoll_tools.checkout import ROOT
from plimsoll_tools.plotting import kills
from plimsoll_tools.plotting.run_directory import Run, read_run

PAGE = ROOT / "Sources" / "Simulation" / "Simulation.docc" / "Policies.md"
SCENARIO = "Scenarios/evening-commute.yaml"
FILES = ("Scenarios/policies/oomd-default.yaml",)
"""Policies of rules that are in the table beside those of the catalogue."""
SETTINGS = ("limits.background_processes=none", "limits.background_memory=none", "expect=[]")
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

DEMANDS = {"pressure": "pressure", "allocation": "allocation", "nothing": "own look"}
"""What a policy was asked for -> the column; any other demand is one of the limits."""
CAUSES = ("pressure", "allocation", "own look", "no room", "watchdog", "limits")


OTHER_SEEDS = (1, 2, 3, 4)
"""For a policy that does better than `foresight` under the scenario's own seed."""


def play(program: Path, policy: str, out: Path, *more: str) -> Path:
    """One run under a policy."""
    sets = [word for setting in SETTINGS for word in ("--set", setting)]
    command = ["run", SCENARIO, "--quiet", "--backend", "accounting", *sets, "--policy", policy, "--out", str(out)]
    subprocess.run([program, *command, *more], check=True, cwd=ROOT)
    return out


def run_all(program: Path, folder: Path) -> list[Path]:
    """One run per policy, in the order of the catalogue."""
    listed = subprocess.run(
        [program, "list", "policies", "--format", "json"], check=True, capture_output=True, text=True
    ).stdout
    policies = [policy["policy"] for policy in json.loads(listed)["policies"]] + list(FILES)
    folder.mkdir(parents=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda policy: play(program, policy, folder / Path(policy).stem), policies))


def gains_over_foresight(program: Path, folder: Path, policy: str) -> list[float]:
    """By how much the policy does better under each of the other seeds, in terminations that are felt."""

    def felt(policy: str, seed: int) -> float:
        out = folder / f"{Path(policy).stem}-{seed}"
        if not out.exists():
            play(program, policy, out, "--seed", str(seed))
        return number(summary(out), "terminations_felt")

    return [felt("foresight", seed) - felt(policy, seed) for seed in OTHER_SEEDS]


def summary(directory: Path) -> dict[str, str]:
    with (directory / "summary.csv").open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))


def number(row: dict[str, str], column: str) -> float:
    return float(row[column] or "nan")


def causes(run: Run) -> dict[str, int]:
    """What the run's terminations were for: what the policy was asked for, or what ended the process without it."""
    counts = dict.fromkeys(CAUSES, 0)
    for cause, demand, reason in run.terminations[["cause", "demand", "exit_reason"]].itertuples(index=False):
        if cause in kills.NO_ROOM:
            column = "no room"
        elif demand:
            column = DEMANDS.get(demand, "limits")
        else:
            column = "watchdog" if reason == "appWatchdog" else "limits"
        counts[column] += 1
    return counts


def table(rows: list[dict[str, str]], counts: list[dict[str, int]]) -> str:
    titles = [title for title, _ in COLUMNS] + list(CAUSES)
    lines = ["| policy | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    for row, count in zip(rows, counts):
        cells = [f"{number(row, column):.3g}" if "." in row[column] else row[column] for _, column in COLUMNS]
        cells[6] = f"{number(row, 'launch_latency_p95_ms'):.0f}"
        cells += [str(count[name]) for name in CAUSES]
        lines.append(f"| {row['policy']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page_with(table_: str, page: str) -> str:
    """The page with this table in place of its own, which is the first after the heading."""
    lines = page.split("\n")
    heading = lines.index("### One evening under every policy")
    first = next(index for index in range(heading, len(lines)) if lines[index].startswith("| policy |"))
    last = next(index for index in range(first, len(lines)) if not lines[index].startswith("|"))
    return "\n".join([*lines[:first], table_, *lines[last:]])


def missing_rows(made: str, page: str) -> list[str]:
    """The policies that the page's table does not have yet."""
    own = {line.split("|")[1] for line in page.split("\n") if line.startswith("| ")}
    return [row for row in made.split("\n")[2:] if row.split("|")[1] not in own]


def faults(
    rows: list[dict[str, str]], counts: list[dict[str, int]], gains: Callable[[str], list[float]]
) -> list[str]:
    by_name = {row["policy"]: row for row in rows}
    found = [f"there is no run under {name}" for name in sorted(YARDSTICKS) if name not in by_name]
    if found:
        return found
    felt = {name: number(row, "terminations_felt") for name, row in by_name.items()}
    others = [name for name in by_name if name not in YARDSTICKS]
    for bound, forgiven in (("unbounded", 0), ("foresight", 1)):
        for name in [*others, "none"]:
            if felt[name] + forgiven >= felt[bound]:
                continue
            if bound == "unbounded" or sum(gain > forgiven for gain in gains(name)) * 2 > len(OTHER_SEEDS):
                found.append(f"{name} ({felt[name]:.0f} felt) beats {bound} ({felt[bound]:.0f})")
    if felt["unbounded"] != 0:
        found.append(f"unbounded ended {felt['unbounded']:.0f} apps in a way that is felt")
    if all(felt["none"] < felt[name] for name in others):
        found.append(f"none ({felt['none']:.0f} felt) is better than all others")
    if len({row["seed"] for row in rows}) != 1 or len({row["scenario"] for row in rows}) != 1:
        found.append("the runs differ in more than their policy")
    for row, count in zip(rows, counts):
        if sum(count.values()) != number(row, "terminations"):
            found.append(f"{row['policy']}: {sum(count.values())} causes of {row['terminations']} ends")
    return found


def main(arguments: list[str]) -> int:
    program, folder = [Path(argument).resolve() for argument in arguments if not argument.startswith("--")]
    directories = run_all(program, folder)
    rows = [summary(directory) for directory in directories]
    counts = [causes(read_run(directory)) for directory in directories]
    found = faults(rows, counts, lambda policy: gains_over_foresight(program, folder, policy))
    made = table(rows, counts)
    print(made)
    page = PAGE.read_text("utf-8")
    if "--write" in arguments:
        PAGE.write_text(page_with(made, page), "utf-8")
        page = PAGE.read_text("utf-8")
    missing = missing_rows(made, page)
    known = "\n".join(line for line in made.split("\n") if line not in missing)
    for row in missing:
        print(f"not yet in {PAGE.name}: {row.split('|')[1].strip()}; --write puts it there", file=sys.stderr)
    if page_with(known, page) != page:
        found.append(f"the table in {PAGE.relative_to(ROOT)} is another one; {Path(__file__).name} --write makes it anew")
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(rows)} policies, {len(found)} faults", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
