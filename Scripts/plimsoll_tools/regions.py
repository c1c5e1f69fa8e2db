"""Which regions of the engine and the policies random worlds reach, and which functions they never enter.

    Scripts/regions [--seeds 1..300] [--more] [--folder NAME]... [ARGUMENT...]

Builds the program so that it counts what it runs, in a folder of its own below .build, runs worlds with it
(Scripts/soak), and prints for each folder of Sources how many of its regions were reached: a region is a stretch of code
without a branch, as llvm-cov has it. Then it names each function that no world has entered.

  --seeds A..B    these worlds (default 1..300)
  --more          count on from the worlds of the last call
  --folder NAME   a folder of Sources; may be repeated (default: Simulation, Reclaim, Pressure, Memory, Lifecycle)
  ARGUMENT        handed on to Scripts/soak, such as --far, --relations, --minutes 10, --backend accounting

Exit status: that of Scripts/soak; 64 usage, 70 the build failed, 71 a tool is missing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll_tools.checkout import ROOT
from plimsoll_tools.command_line import Parser

FOLDERS = ("Simulation", "Reclaim", "Pressure", "Memory", "Lifecycle")
PLACE = ROOT / ".build/regions"
PROFILES = PLACE / "profiles"
BUILD = ["swift", "build", "--package-path", str(ROOT), "--scratch-path", str(PLACE), "-c", "release",
         "-debug-info-format", "none", "-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"]  # fmt: skip
PAUSE_S = 5
"""Between two times at which the counts of runs are added up."""
CODE = 0
"""The kind of a region that is code, in the export; others are gaps and what a macro expands to."""


class Failure(Exception):
    """A line for the user, and the exit status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Function:
    """A function of the source. A generic one, or one that several modules inline, has several records, whose counts add up."""

    file: str
    line: int
    name: str
    entered: bool = False
    #: Where each region is, and whether it was reached.
    regions: dict[tuple[int, ...], bool] = field(default_factory=dict)

    @property
    def reached(self) -> int:
        return sum(self.regions.values())


def functions(export: dict[str, Any], sources: Path) -> list[Function]:
    """The functions of llvm-cov's export, by file and line. Files are named as below the folder of sources."""
    found: dict[tuple[str, int, int], Function] = {}
    for record in export["data"][0]["functions"]:
        regions = [region for region in record["regions"] if region[7] == CODE]
        path = Path(record["filenames"][0])
        if not regions or not path.is_relative_to(sources):
            continue
        file = str(path.relative_to(sources))
        line, column = regions[0][:2]
        function = found.setdefault((file, line, column), Function(file, line, record["name"]))
        function.entered = function.entered or record["count"] > 0
        for region in regions:
            key = tuple(region[:4])
            function.regions[key] = function.regions.get(key, False) or region[4] > 0
    return [found[key] for key in sorted(found)]


def told(found: Sequence[Function], names: dict[str, str]) -> list[str]:
    """What is printed: a line for each folder, then the functions that were never entered."""
    lines = []
    folders = sorted({function.file.split("/")[0] for function in found})
    for folder in [*folders, ""]:
        inside = [function for function in found if function.file.startswith(folder)]
        regions = sum(len(function.regions) for function in inside)
        reached = sum(function.reached for function in inside)
        entered = sum(function.entered for function in inside)
        lines.append(f"{folder or 'all':<12} {reached:>6} of {regions:>6} regions ({reached / max(1, regions):.1%}), "
                     f"{entered:>5} of {len(inside):>5} functions")  # fmt: skip
    missed = [(function, names.get(function.name.rpartition(":")[2], function.name)) for function in found if not function.entered]
    # The message of a check, or the right side of an operator, has a function of its own.
    named = [(function, name) for function, name in missed if not name.startswith("implicit closure ")]
    if missed:
        lines += ["", f"never entered: {len(named)} functions, and {len(missed) - len(named)} messages of checks and right sides "
                  "of operators"]  # fmt: skip
    return lines + [f"  {function.file}:{function.line}  {name}" for function, name in named]


def stretches(found: Sequence[Function]) -> list[str]:
    """The first line of each region that no world reached, in the functions that worlds entered, a file each line."""
    by_file: dict[str, set[int]] = {}
    for function in found:
        if function.entered:
            by_file.setdefault(function.file, set()).update(key[0] for key, reached in function.regions.items() if not reached)
    return [f"  {file}: {', '.join(map(str, sorted(lines)))}" for file, lines in sorted(by_file.items()) if lines]


def tool(name: str) -> str:
    """A tool of LLVM: that of Swift's own toolchain, whose format of profiles it reads, or any."""
    swift = shutil.which("swift")
    beside = Path(swift).resolve().parent / name if swift else None
    found = str(beside) if beside and beside.exists() else shutil.which(name)
    if found is None:
        raise Failure(71, f"there is no {name} in Swift's toolchain")
    return found


def build() -> Path:
    """The program that counts what it runs."""
    made = subprocess.run([*BUILD, "--product", "plimsoll"], capture_output=True, text=True, check=False)
    if made.returncode:
        sys.stderr.write(made.stdout + made.stderr)
        raise Failure(70, "the build failed")
    place = subprocess.run([*BUILD, "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
    return Path(place, "plimsoll")


def gather(merge: str, profile: Path, before: float) -> None:
    """Adds to the profile what runs have written until then, and removes it."""
    done = [path for path in sorted(PROFILES.glob("*.profraw")) if path.stat().st_mtime < before]
    if not done:
        return
    known = [profile] if profile.exists() else []
    added = profile.with_suffix(".new")
    # A run that was killed may leave a file without an end.
    words = [merge, "merge", "-sparse", "--failure-mode=all", "-o", str(added), *map(str, [*known, *done])]
    if subprocess.run(words, capture_output=True, check=False).returncode == 0:
        added.replace(profile)
    for path in done:
        path.unlink()


def plain_names(found: Sequence[Function]) -> dict[str, str]:
    """The names of functions as the source has them."""
    mangled = sorted({function.name.rpartition(":")[2] for function in found if not function.entered})
    said = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(mangled) + "\n",
                          capture_output=True, text=True, check=False).stdout.splitlines()  # fmt: skip
    return dict(zip(mangled, said, strict=False)) if len(said) == len(mangled) else {}


def main() -> int:
    options, soak = arguments(sys.argv[1:])
    try:
        return measure(options, soak)
    except Failure as failure:
        print(f"regions: {failure}", file=sys.stderr)
        return failure.status


def arguments(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    assert __doc__
    parser = Parser(prog="Scripts/regions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                    allow_abbrev=False)  # fmt: skip
    parser.add_argument("--seeds", default="1..300", help=argparse.SUPPRESS)
    parser.add_argument("--more", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", action="append", choices=sorted(path.name for path in (ROOT / "Sources").iterdir()),
                        help=argparse.SUPPRESS)  # fmt: skip
    options, soak = parser.parse_known_args(words)
    return options, soak


def measure(options: argparse.Namespace, soak: Sequence[str]) -> int:
    merge, show = tool("llvm-profdata"), tool("llvm-cov")
    program = build()
    if not options.more:
        shutil.rmtree(PROFILES, ignore_errors=True)
    PROFILES.mkdir(parents=True, exist_ok=True)
    # A file each run: what several runs merge into one file by themselves is damaged after some hundreds of them.
    environment = os.environ | {"LLVM_PROFILE_FILE": str(PROFILES / "%p.profraw")}
    words = [str(ROOT / "Scripts/soak"), "--program", str(program), "--seeds", options.seeds, *soak]
    profile = PROFILES / "all.profdata"
    with subprocess.Popen(words, env=environment) as worlds:
        while worlds.poll() is None:
            time.sleep(PAUSE_S)
            gather(merge, profile, time.time() - PAUSE_S)
    gather(merge, profile, math.inf)
    status = worlds.returncode
    folders = [str(ROOT / "Sources" / folder) for folder in options.folder or FOLDERS]
    export = subprocess.run([show, "export", str(program), f"-instr-profile={profile}", *folders], capture_output=True,
                            text=True, check=True).stdout  # fmt: skip
    found = functions(json.loads(export), ROOT / "Sources")
    found = [function for function in found if function.file.split("/")[0] in (options.folder or FOLDERS)]
    for line in told(found, plain_names(found)):
        print(line)
    if lines := stretches(found):
        print("\nlines of other functions with a region that was never reached:", *lines, sep="\n")
    return status
