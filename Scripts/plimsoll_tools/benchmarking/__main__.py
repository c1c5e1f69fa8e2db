"""Measures the figures of the page "Performance" beside their anchors; see `Scripts/bench --help`."""

from __future__ import annotations

import argparse
import csv
import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from plimsoll_tools.benchmarking import figures
from plimsoll_tools.benchmarking import trace as traces
from plimsoll_tools.benchmarking.measure import BenchFailure, Result, compare, say_nothing
from plimsoll_tools.checkout import RELEASE_BUILD, ROOT
from plimsoll_tools.command_line import Parser, end_in_order, output
from plimsoll_tools.whole_file import writing

COMPILER = ["cc", "-O2"]


def arguments() -> argparse.Namespace:
    parser = Parser(prog="Scripts/bench")
    parser.add_argument("--only", type=int, action="append", choices=sorted(figures.ALL))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=output)
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--trace")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-build", dest="build", action="store_false")
    given = parser.parse_args()
    if given.repeat < 1:
        parser.error("--repeat: at least 1")
    return given


def build_anchors(folder: Path) -> None:
    """Compiles every anchor with the optimisation that packages of Debian are built with."""
    sources = ROOT / "Benchmarks" / "Anchors"
    for source in sorted(sources.glob("*.c")):
        command = [*COMPILER, "-o", str(folder / source.stem), str(source), "-ljemalloc"]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchFailure(f"{source.name} could not be compiled: {error}") from error


def number(value: float | None) -> str:
    if value is None:
        return ""
    digits = 0 if abs(value) >= 1000 else 2 if abs(value) >= 10 else 4
    return f"{value:,.{digits}f}"


HEADER = ["figure", "name", "engine", "anchor", "unit", "ratio", "lowest", "highest", "limit", "holds"]


def cells(result: Result) -> list[str]:
    figure = result.figure
    limit = ("<= " if figure.at_most else ">= ") + f"{figure.limit:g}"
    return [str(figure.number), figure.name, number(result.engine), number(result.anchor), figure.engine.unit,
            number(result.ratio), number(result.lowest), number(result.highest), limit,
            "yes" if result.holds else "NO"]


def line(values: Sequence[str], widths: Sequence[int]) -> str:
    """Texts to the left, numbers to the right."""
    return "  ".join(
        value.ljust(width) if index in (1, 4, 9) else value.rjust(width)
        for index, (value, width) in enumerate(zip(values, widths))).rstrip()


def print_table(results: Sequence[Result]) -> None:
    rows = [cells(result) for result in results]
    widths = [max(len(row[index]) for row in [HEADER, *rows]) for index in range(len(HEADER))]
    print(line(HEADER, widths))
    for row in rows:
        print(line(row, widths))


def complaint(path: Path, force: bool) -> str | None:
    """Why the table cannot be written there, or nothing: asked before the measuring, which takes long."""
    if path.is_dir():
        return f"{path} is a folder; give another --out"
    if path.exists() and not path.is_file():
        return f"{path} is no plain file; give another --out"
    if path.exists() and not force:
        return f"{path} exists already; give another --out, or --force to overwrite"
    if not os.access(path.parent, os.W_OK):
        return f"cannot create {path}: {path.parent} is no folder that can be written to"
    return None


def write_csv(path: Path, results: Sequence[Result], force: bool) -> None:
    if path.exists() and not force:
        # It came while the measuring went on.
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    with writing(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["figure", "name", "engine", "anchor", "unit", "ratio", "ratio_lowest", "ratio_highest",
                        "comparison", "limit", "holds"])
        for result in results:
            figure = result.figure
            table.writerow([
                figure.number, figure.name, result.engine, "" if result.anchor is None else result.anchor,
                figure.engine.unit, result.ratio, result.lowest, result.highest,
                "at_most" if figure.at_most else "at_least", figure.limit, str(result.holds).lower()])


def program(build: bool) -> str:
    """The release build, or without --build the program that PLIMSOLL names. Called once the arguments make sense."""
    if build:
        command = ["swift", "build", "--package-path", str(ROOT), "-c", "release", "--product", "plimsoll"]
        try:
            # The table alone goes to standard output.
            subprocess.run(command, check=True, stdout=sys.stderr)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchFailure(f"the release build failed: {error}") from error
    path = RELEASE_BUILD if build else Path(os.environ.get("PLIMSOLL") or RELEASE_BUILD)
    if not path.exists():
        raise BenchFailure(f"{path} is not there: call Scripts/bench without --no-build")
    return str(path)


def main() -> int:
    given = arguments()
    wrong = given.out and complaint(given.out, given.force)
    if wrong:
        print(f"bench: {wrong}", file=sys.stderr)
        return 73
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        scratch = Path(folder)
        try:
            trace, name = traces.find(given.trace, ROOT, scratch, 20_000 if given.quick else None)
        except FileNotFoundError:
            print(f"bench: no trace '{given.trace}'", file=sys.stderr)
            return 66
        anchors = scratch / "anchors"
        anchors.mkdir()
        try:
            build_anchors(anchors)
            bench = figures.Bench(program(given.build), ROOT, scratch, anchors, sys.executable, trace, given.quick)
            results: list[Result] = []
            for which in given.only or sorted(figures.ALL):
                results += [compare(figure, given.repeat) for figure in figures.ALL[which](bench)]
        except BenchFailure as failure:
            say_nothing()
            print(f"bench: {failure}", file=sys.stderr)
            return 70
    say_nothing()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}; {given.repeat} rounds in turn, medians; trace: {name}")
    print_table(results)
    if given.out:
        try:
            write_csv(given.out, results, given.force)
        except OSError as error:
            print(f"bench: cannot write {given.out}: {error.strerror}", file=sys.stderr)
            return 73 if isinstance(error, FileExistsError) else 74
    return 0


def command() -> NoReturn:
    end_in_order("bench", main)


if __name__ == "__main__":
    command()
