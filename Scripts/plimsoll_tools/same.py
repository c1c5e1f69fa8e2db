"""Whether two builds of plimsoll give the same tables: over the shipped scenarios, and over worlds drawn at random.

    Scripts/same BUILD-A BUILD-B [--worlds 1..300] [--scenarios] [--policies all] [--backend accounting] [--jobs N]
        [--besides COLUMN]...

A build is a plimsoll program, or a revision of this repository, which is built into .build/same. Without --worlds and
--scenarios both are compared: worlds 1..300, and every scenario under three policies (--policies all: every policy of
the first build) and two seeds. Of each run that differs it says which table differs first in virtual time, in which
row and column, with both values and what both rows are about; then from when on the other tables differ. Worlds are
those of this checkout (Scripts/soak).

Exit status: 0 all the same, 1 some differ, 64 usage, 66 a program is missing, 70 a build fails, 74 standard output
cannot be written.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO

from plimsoll_tools.checkout import ROOT
from plimsoll_tools.command_line import Parser

TABLES = ("samples", "apps", "events", "launches", "decisions", "summary", "app_summary", "exits", "cores", "pages",
          "limits", "freezer", "terminations")
#: Earlier builds do not write these; they are compared if both builds do.
LATER = ("app_summary", "exits", "cores", "pages", "limits", "freezer", "terminations")
#: Beside a scenario's own, unless all are asked for.
POLICIES = ("jetsam", "lmkd")
OTHER_SEED = 4711

Case = tuple[str, list["str | Path"], Path]
"""A run: its name, the program's words, and the folder it runs in."""
Row = dict[str, str]


class Failure(Exception):
    """A line for the user, and the exit status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def say(text: str = "") -> None:
    print(text, flush=True)


# --- Builds -----------------------------------------------------------------------------------------------------------


def call(*command: object, stdin: IO[bytes] | None = None) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=stdin)
    if result.returncode:
        lines = (result.stderr.strip() or result.stdout.strip()).splitlines()
        raise Failure(70, f"{' '.join(map(str, command))}: {lines[-1] if lines else result.returncode}")
    return result.stdout


def swift_build(product: str, *where: object) -> Path:
    call("swift", "build", "-c", "release", "--product", product, *where)
    return Path(call("swift", "build", "-c", "release", *where, "--show-bin-path").strip()) / product


def program(build: str) -> Path:
    """The program of that path; else that of the revision, built if it is not there yet."""
    path = Path(build)
    if path.is_file() and os.access(path, os.X_OK):
        return path.resolve()
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", f"{build}^{{commit}}"],
                           capture_output=True, text=True)
    if found.returncode:
        raise Failure(66, f"{build} is neither a program nor a revision of {ROOT}")
    revision = found.stdout.strip()
    built = ROOT / ".build" / "same" / revision
    if not (built / "plimsoll").is_file():
        print(f"same: building {build} ({revision[:12]})", file=sys.stderr, flush=True)
        source = built / "source"
        if source.exists():
            shutil.rmtree(source)
        source.mkdir(parents=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", revision], stdout=subprocess.PIPE)
        call("tar", "-x", "-C", source, stdin=archive.stdout)
        archive.wait()
        # The dependencies that this checkout has, without asking the network for them.
        for name in ("checkouts", "repositories", "workspace-state.json"):
            kept = ROOT / ".build" / name
            if kept.is_dir():
                shutil.copytree(kept, source / ".build" / name, symlinks=True)
            elif kept.is_file():
                (source / ".build").mkdir(exist_ok=True)
                shutil.copy(kept, source / ".build" / name)
        if (ROOT / "Package.resolved").is_file():
            shutil.copy(ROOT / "Package.resolved", source)
        shutil.copy(swift_build("plimsoll", "--package-path", source), built / "plimsoll")
        shutil.rmtree(source)
    return built / "plimsoll"


# --- What is run ------------------------------------------------------------------------------------------------------


def policies_of(build: Path) -> list[str]:
    """Every policy that the build has; one of today must run in both."""
    listed = json.loads(call(build, "list", "policies", "--format", "json"))
    return [policy["policy"] for policy in listed["policies"]]


def scenario_cases(backend: str, policies: Sequence[str]) -> Iterator[Case]:
    """Every shipped scenario, under its own policy and these, with its own seed and another."""
    files = [path for folder in (".", "training", "held-out")
             for path in sorted((ROOT / "Scenarios" / folder).glob("*.yaml"))]
    for path in files:
        for policy in (None, *policies):
            for seed in (None, OTHER_SEED):
                words: list[str | Path] = ["run", path, "--set", "expect=[]", "--backend", backend]
                words += ["--policy", policy] if policy else []
                words += ["--seed", str(seed)] if seed is not None else []
                name = (path.stem, policy or "its own policy", "its own seed" if seed is None else f"seed {seed}")
                yield ", ".join(name), words, ROOT


def world_cases(seeds: str, backend: str, folder: str) -> Iterator[Case]:
    """Worlds as Scripts/soak draws them."""
    soak = Path(os.environ.get("SOAK") or swift_build("soak", "--package-path", ROOT))
    call(soak, "--program", "none", "--work", folder, "--seeds", seeds, "--write", folder, "--backend", backend)
    first, last = map(int, seeds.split(".."))
    for seed in range(first, last + 1):
        place = Path(folder) / str(seed)
        words = (place / "arguments.txt").read_text("utf-8").split("\n")
        kept: list[str | Path] = []
        while words:
            word = words.pop(0)
            if word in ("--out", "--trace"):
                words.pop(0)
            elif word not in ("--quiet", "--verify", "--jetsam-events"):
                kept.append(word)
        yield f"world {seed}", kept, place


def run(build: Path, words: Sequence[str | Path], where: Path, out: Path) -> str:
    """How a run ended; 99 says only what a scenario expects."""
    result = subprocess.run([build, *words, "--quiet", "--out", out], cwd=where, capture_output=True, text=True)
    if result.returncode in (0, 99):
        return "done"
    return f"status {result.returncode}: {(result.stderr.strip().splitlines() or [''])[0]}"


# --- What differs -----------------------------------------------------------------------------------------------------


def rows(path: Path) -> Iterator[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.reader(file)


def time_of(row: Row) -> float:
    """The virtual time of a row, as far as it says one."""
    for column in ("time_s", "tapped_s"):
        if row.get(column):
            return float(row[column])
    return float("inf")


def difference(table: str, one: Path, other: Path, besides: Collection[str]) -> tuple[float, str] | None:
    """The first cell that differs as (time, text); nil when only columns differ that do not matter."""
    (here, there) = (rows(one), rows(other))
    (names, others) = (next(here, []), next(there, []))
    besides = {name.removeprefix(f"{table}.") for name in besides}
    both = [name for name in names if name in others and name not in besides]
    strange = [name for name in [*names, *others] if (name in names) != (name in others) and name not in besides]
    if strange:
        where = "A" if strange[0] in names else "B"
        return float("-inf"), f"{table}.csv: the column {strange[0]} is in {where} alone"
    for number in range(1, sys.maxsize):
        (a, b) = (next(here, None), next(there, None))
        if a is None and b is None:
            return None
        left, right = (dict(zip(columns, row or [])) for columns, row in ((names, a), (others, b)))
        if a is None or b is None:
            row = left or right
            about = ", ".join(f"{name} {row[name]}" for name in both[:6] if row.get(name))
            return time_of(row), f"{table}.csv, row {number}: {'B' if a is None else 'A'} alone has it ({about})"
        for name in both:
            if left[name] != right[name]:
                about = ", ".join(f"{each} {left[each]}" for each in both[:6] if left.get(each) and each != name)
                values = f"{left[name] or 'nothing'} in A, {right[name] or 'nothing'} in B"
                text = f"{table}.csv, row {number}, {name}: {values} ({about})"
                return min(time_of(left), time_of(right)), text
    return None


def compare(
    numbered: tuple[int, Case], builds: Sequence[Path], besides: Collection[str], folder: str
) -> tuple[str, list[str]]:
    """What differs between the two runs, as lines; none when nothing does."""
    number, (name, words, where) = numbered
    outs = [Path(folder) / f"{number}-{letter}" for letter in "ab"]
    try:
        endings = [run(build, words, where, out) for build, out in zip(builds, outs)]
        if endings[0] != endings[1]:
            return name, [f"A: {endings[0]}", f"B: {endings[1]}"]
        if endings[0] != "done":
            return name, []
        found: list[tuple[float, str, str]] = []
        for table in TABLES:
            one, other = (out / f"{table}.csv" for out in outs)
            if table in LATER and not (one.exists() and other.exists()):
                continue
            if one.read_bytes() != other.read_bytes():
                what = difference(table, one, other, besides)
                found += [(*what, table)] if what else []
        found.sort(key=lambda each: each[0])
        lines = [found[0][1]] if found else []
        if len(found) > 1:
            lines.append("then " + ", ".join(
                f"{table}.csv" + (f" from {time:g} s on" if abs(time) < float("inf") else "")
                for time, _, table in found[1:]))
        return name, lines
    finally:
        for out in outs:
            shutil.rmtree(out, ignore_errors=True)


def arguments() -> argparse.Namespace:
    parser = Parser(prog="Scripts/same", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="BUILD-A")
    parser.add_argument("b", metavar="BUILD-B")
    parser.add_argument("--worlds", metavar="A..B", help="worlds of these seeds")
    parser.add_argument("--scenarios", action="store_true", help="the shipped scenarios")
    parser.add_argument("--policies", choices=["three", "all"], default="three",
                        help="under which policies the scenarios run")
    parser.add_argument("--backend", choices=["accounting", "jemalloc"], default="accounting")
    parser.add_argument("--besides", action="append", default=[], metavar="COLUMN", help="it may differ; TABLE.COLUMN: in that table alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many runs at the same time")
    parser.add_argument("--show", type=int, default=20, help="how many runs that differ are described")
    options = parser.parse_args()
    if not options.worlds and not options.scenarios:
        options.worlds, options.scenarios = "1..300", True
    ends = re.fullmatch(r"([0-9]+)(?:\.\.([0-9]+))?", options.worlds or "1..1")
    if not ends or int(ends[2] or ends[1]) < int(ends[1]):
        parser.error(f"--worlds: expected seeds such as 1..300, not {options.worlds!r}")
    if options.worlds:
        options.worlds = f"{ends[1]}..{ends[2] or ends[1]}"
    for option, least in (("jobs", 1), ("show", 0)):
        if getattr(options, option) < least:
            parser.error(f"--{option} must be at least {least}")
    return options


def main() -> int:
    options = arguments()
    differ, count = 0, 0
    try:
        builds = [program(options.a), program(options.b)]
        with tempfile.TemporaryDirectory(prefix="plimsoll-same.") as folder, \
                concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            policies = policies_of(builds[0]) if options.policies == "all" else POLICIES
            cases = [*scenario_cases(options.backend, policies)] if options.scenarios else []
            if options.worlds:
                cases += world_cases(options.worlds, options.backend, folder)
            work = [pool.submit(compare, case, builds, options.besides, folder) for case in enumerate(cases)]
            for name, lines in (each.result() for each in work):
                count += 1
                differ += bool(lines)
                if lines and differ <= options.show:
                    say(f"{name}:")
                    for line in lines:
                        say(f"  {line}")
    except Failure as failure:
        print(f"same: {failure}", file=sys.stderr)
        return failure.status
    say(f"{count - differ} of {count} runs are the same" + (f"; {differ} differ" if differ else ""))
    return 1 if differ else 0
