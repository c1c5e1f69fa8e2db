"""How far two ways of running a scenario agree: the accounting backend with jemalloc, or other scales with scale 1.

    Scripts/agreement backends SCENARIO... [--seeds 20] [--catalogue-seeds 20] [--jobs 2]
    Scripts/agreement scales SCENARIO [--scales 0.25,4] [--backend accounting] [--policy NAME]...

Needs a release build (`swift build -c release`). Prints one table and the list of differences; ends with status 1 when
a bound of `backends` does not hold: footprints within 3 % per app and sample, the same warnings and the same victims
in at least 95 % of decisions; or when at another scale a warning or an exit is missing, added or out of order. Each of
these is printed with its reason and with what both runs held at the sample before. "same bytes" counts the runs whose
tables are equal in every cell but `metadata_bytes`, jemalloc's bookkeeping, which the accounting backend computes by a
formula.

Exit status: 0 all bounds hold, 1 one does not, 64 usage (also: nothing to compare), 66 a scenario or the program is
missing, 74 standard output cannot be written; when a run fails, its own status.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import difflib
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from plimsoll_tools.checkout import RELEASE_BUILD
from plimsoll_tools.command_line import Parser

PROGRAM = Path(os.environ.get("PLIMSOLL", RELEASE_BUILD))

Act = tuple[str, str, str, str, str]
"""What happened: its kind, the app, the detail, the time and the reason."""
Agreement = tuple[int, int, list[tuple[list[Act], list[Act]]]]
"""How many acts two runs have in common, of how many, and what differs."""
Footprints = tuple[tuple[float, "tuple[str, str, str] | None"], int, int, int]
"""The worst difference and where it is, how many samples are beyond 3 %, of how many, and how many only one run has."""
Job = tuple["str | Path", int]
"""A scenario and a seed."""


class Failure(Exception):
    """A line for the user, and the exit status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def run(scenario: str | Path, folder: str, *options: str) -> Path:
    """The run's tables as lists of rows; a failed expectation is no failure here."""
    command = [PROGRAM, "run", scenario, "--out", folder, "--quiet", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode not in (0, 99):
        status = result.returncode if result.returncode > 0 else 128 - result.returncode
        raise Failure(status, f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return Path(folder)


def rows(folder: Path, table: str) -> Iterator[dict[str, str]]:
    with open(folder / f"{table}.csv", newline="") as file:
        yield from csv.DictReader(file)


def acts(folder: Path) -> Iterator[Act]:
    """The warnings, the policy's actions and the exits in order, with the apps that they concern."""
    for row in rows(folder, "events"):
        if row["event"] == "warning":
            yield ("warning", row["app"], row["level"] or row["cause"], row["time_s"], row["reason"])
        elif row["event"] == "action":
            yield ("action", row["app"], row["action"], row["time_s"], row["reason"])
        elif row["event"] == "exit":
            yield ("exit", row["app"], row["exit_reason"], row["time_s"], row["reason"])


def agreement(left: Iterable[Act], right: Iterable[Act], kinds: Collection[str]) -> Agreement:
    """The share of acts of the kinds that both have in the same order, and what differs."""
    a = [act for act in left if act[0] in kinds]
    b = [act for act in right if act[0] in kinds]
    if [act[:3] for act in a] == [act[:3] for act in b]:
        return len(a), len(a), []
    matcher = difflib.SequenceMatcher(None, [act[:3] for act in a], [act[:3] for act in b], autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    differences = []
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            differences.append((a[first:last], b[start:end]))
    return same, max(len(a), len(b)), differences


def footprints(left: Path, right: Path) -> Footprints:
    """The largest relative difference of a process's footprint at a sample; how many samples, how many beyond 3 %."""
    mine = {(row["time_s"], row["pid"], row["app"]): int(row["footprint_bytes"]) for row in rows(left, "apps")}
    worst: tuple[float, tuple[str, str, str] | None] = (0.0, None)
    beyond, samples, alone = 0, 0, 0
    for row in rows(right, "apps"):
        key = (row["time_s"], row["pid"], row["app"])
        if key not in mine:
            alone += 1
            continue
        samples += 1
        here, there = mine[key], int(row["footprint_bytes"])
        if max(here, there) == 0:
            continue
        share = abs(here - there) / max(here, there)
        beyond += share > 0.03
        if share > worst[0]:
            worst = (share, key)
    return worst, beyond, samples, alone


def is_same(left: Path, right: Path) -> bool:
    """Whether all tables are equal in every cell but the bookkeeping's size."""
    for table in ("samples", "apps", "events", "launches", "decisions", "summary", "app_summary", "exits", "cores", "pages",
                  "limits", "freezer", "terminations"):  # fmt: skip
        if table in ("pages", "limits", "freezer") and not (left / f"{table}.csv").exists():
            continue
        for here, there in itertools.zip_longest(rows(left, table), rows(right, table)):
            if here is None or there is None:
                return False
            here["metadata_bytes"] = there["metadata_bytes"] = ""
            if here != there:
                return False
    return True


def compare(job: Job) -> tuple[str | Path, int, Footprints, Agreement, Agreement, bool]:
    """One scenario with one seed on both backends."""
    scenario, seed = job
    with tempfile.TemporaryDirectory() as folder:
        pair = [run(scenario, f"{folder}/{backend}", "--seed", str(seed), "--backend", backend)
                for backend in ("jemalloc", "accounting")]
        left, right = ([*acts(one)] for one in pair)
        return (scenario, seed, footprints(*pair), agreement(left, right, {"warning"}),
                agreement(left, right, {"action", "exit"}), is_same(*pair))


def catalogue(folder: str) -> Path:
    """One scenario in which every archetype is launched, used, left and used again, with room for about half."""
    listing = subprocess.run([PROGRAM, "list", "apps"], capture_output=True, text=True, check=True).stdout
    # Notes for people follow the table after an empty line.
    names = [line.split()[0] for line in listing.split("\n\n")[0].splitlines()[1:]]
    lines = ["plimsoll: 1", "name: catalogue", f"duration: {len(names) * 2 * 20}s",
             "device: { ceiling: 1GiB, reserved: 96MiB }", "apps:"]
    lines += [f"  - {{ name: {name}, like: {name} }}" for name in names]
    lines.append("user:")
    lines += [f"  - {{ at: {20 * index}s, launch: {name} }}" for index, name in enumerate(names + names[::-1])]
    path = Path(folder) / "catalogue.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def say(text: str = "") -> None:
    print(text, flush=True)


def name(acts_: Sequence[Act]) -> str:
    return "; ".join(f"{kind} {detail} {app} at {time} s" for kind, app, detail, time, _ in acts_[:3]) or "nothing"


def backends(options: argparse.Namespace) -> bool:
    """jemalloc against accounting, over scenarios and seeds."""
    failed = False
    say(f"{'scenario':18} {'seed':>4} {'samples':>8} {'worst':>8} {'>3 %':>5} {'warnings':>12} {'actions':>12}  "
        "same bytes")
    totals: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work: list[Job] = [(scenario, seed) for scenario in options.scenarios for seed in range(1, options.seeds + 1)]
        if options.catalogue_seeds:
            everything = catalogue(folder)
            work += [(everything, seed) for seed in range(1, options.catalogue_seeds + 1)]
        for scenario, seed, ((worst, where), beyond, samples, alone), warned, acted, same in pool.map(compare, work):
            total = totals.setdefault(Path(scenario).stem, [0] * 8)
            for index, value in enumerate((samples, beyond, *warned[:2], *acted[:2], same, 1)):
                total[index] += value
            say(f"{Path(scenario).stem:18} {seed:>4} {samples:>8} {worst:>8.3%} {beyond:>5} "
                f"{warned[0]:>5} of {warned[1]:>3} {acted[0]:>5} of {acted[1]:>3}  {'yes' if same else 'no'}")
            if alone or worst > 0.03:
                say(f"    worst at {where}; {alone} samples of processes that only one of them has")
            for here, there in (warned[2] + acted[2])[:options.show]:
                say(f"    jemalloc: {name(here)} | accounting: {name(there)}")
    say()
    for stem, (samples, beyond, w, ws, a, as_, equal, runs) in totals.items():
        warnings, actions = (w / ws if ws else 1), (a / as_ if as_ else 1)
        held = beyond == 0 and warnings >= 0.95 and actions >= 0.95
        failed |= not held
        say(f"{stem}: {samples - beyond} of {samples} footprints within 3 %, {warnings:.1%} of {ws} warnings and "
            f"{actions:.1%} of {as_} actions and exits the same; {equal} of {runs} runs the same to the byte: "
            f"{'holds' if held else 'DOES NOT HOLD'}")
    return failed


def holdings(base: Path, other: Path, scale: float) -> str:
    """By how much the same processes hold more at another scale, over the samples before the first exit that differs.

    At another scale objects with pages of their own are page runs, so requested and usable bytes differ; pages do not.
    """
    exits = [[(act[1], act[3]) for act in acts(run_) if act[0] == "exit"] for run_ in (base, other)]
    until = min([float(here[1]) for here, there in zip(*exits) if here[0] != there[0]], default=float("inf"))
    columns = ("requested_bytes", "usable_bytes", "active_bytes", "dirty_bytes")
    here = {(row["time_s"], row["app"]): row for row in rows(base, "apps") if float(row["time_s"]) < until}
    sums, count = dict.fromkeys(columns, 0.0), 0
    whole = dict.fromkeys(columns, 0)
    for row in rows(other, "apps"):
        match = here.get((row["time_s"], row["app"]))
        if match is None:
            continue
        count += 1
        for column in columns:
            sums[column] += int(row[column]) / scale
            whole[column] += int(match[column])
    footprint = whole["active_bytes"] + whole["dirty_bytes"]
    text = []
    for column in columns:
        difference = sums[column] - whole[column]
        text.append(f"{column.removesuffix('_bytes')} {difference / count / 1024 * scale:+.0f} KiB "
                    f"({difference / footprint:+.2%} of the footprint)")
    return "; ".join(text)


def at_sample(folder: Path, act: Act, scale: float) -> str:
    """What a run held at the last sample before an act: free on the device, and the process's footprint, at scale 1."""
    time, found = float(act[3]), {}
    for table, column, app in (("samples", "available_bytes", None), ("apps", "footprint_bytes", act[1])):
        for row in rows(folder, table):
            if float(row["time_s"]) > time:
                break
            if app is None or row["app"] == app:
                found[column] = f"{int(row[column]) / scale / 2**20:.2f} MiB"
    return f"{found.get('available_bytes')} available, {act[1]} holds {found.get('footprint_bytes', 'nothing')}"


def explain(act: Act, whole: Path, scaled: Path, scale: str) -> None:
    """One act that only one of two runs has: its reason, and how near the other run was."""
    say(f"      {name([act])}: {act[4]}")
    say(f"          scale 1: {at_sample(whole, act, 1)} | scale {scale}: {at_sample(scaled, act, float(scale))}")


def scales(options: argparse.Namespace) -> bool:
    """The order of warnings and terminations at other scales against scale 1."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for scenario, policy in itertools.product(options.scenarios, options.policies or [None]):
            chosen = ["--backend", options.backend, *(["--policy", policy] if policy else [])]
            chosen += [word for each in options.sets for word in ("--set", each)]
            whole = run(scenario, f"{folder}/1", "--force", *chosen)
            base = [*acts(whole)]
            say(f"{Path(scenario).stem}, {policy or 'its own policy'}, {options.backend}: at scale 1 "
                f"{sum(a[0] == 'warning' for a in base)} warnings, {sum(a[0] == 'exit' for a in base)} exits")
            for scale in options.scales.split(","):
                scaled = run(scenario, f"{folder}/s", "--force", *chosen, "--scale", scale)
                other = [*acts(scaled)]
                say(f"  scale {scale}: a process holds on average, against {scale} times what it holds at scale 1: "
                    f"{holdings(whole, scaled, float(scale))}")
                for kinds, title in (({"warning"}, "warnings"), ({"exit"}, "exits"), ({"action"}, "actions")):
                    same, most, differences = agreement(base, other, kinds)
                    say(f"  scale {scale}: {same} of {most} {title} in the same order")
                    failed |= bool(differences) and kinds != {"action"}
                    for here, there in differences[:options.show]:
                        say(f"      scale 1: {name(here)} | scale {scale}: {name(there)}")
                        for act in [*here, *there][:options.show]:
                            explain(act, whole, scaled, scale)
    return failed


def arguments() -> argparse.Namespace:
    parser = Parser(prog="Scripts/agreement", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["backends", "scales"])
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--catalogue-seeds", type=int, default=0, help="also every archetype in one run, so often")
    parser.add_argument("--jobs", type=int, default=1, help="how many comparisons run at the same time")
    parser.add_argument("--scales", default="0.25,4")
    parser.add_argument("--backend", default="accounting")
    parser.add_argument("--policy", dest="policies", action="append", help="of scales; may be repeated")
    parser.add_argument("--set", dest="sets", action="append", default=[], help="of scales, as plimsoll run has it")
    parser.add_argument("--show", type=int, default=8, help="how many differences are printed per run")
    options = parser.parse_args()
    for option, least in (("seeds", 0), ("catalogue_seeds", 0), ("jobs", 1), ("show", 0)):
        if getattr(options, option) < least:
            parser.error(f"--{option.replace('_', '-')} must be at least {least}")
    pairs = len(options.scenarios) * (options.seeds if options.what == "backends" else 1)
    if pairs + (options.catalogue_seeds if options.what == "backends" else 0) == 0:
        parser.error("there is nothing to compare: name a scenario"
                     + (", and --seeds or --catalogue-seeds of at least 1" if options.what == "backends" else ""))
    return options


def main() -> int:
    options = arguments()
    try:
        for path in [PROGRAM, *map(Path, options.scenarios)]:
            if not path.is_file():
                advice = ": swift build -c release" if path == PROGRAM else ""
                raise Failure(66, f"there is no file {path}{advice}")
        failed = backends(options) if options.what == "backends" else scales(options)
    except Failure as failure:
        print(f"agreement: {failure}", file=sys.stderr)
        return failure.status
    return 1 if failed else 0
