"""Draws the pictures of a run from its CSV files."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

# What takes long to load is loaded below, when the first line about the progress is there.
from plimsoll_tools.command_line import Parser, Status, end_in_order, output
from plimsoll_tools.plotting import several

if TYPE_CHECKING:
    from plimsoll_tools.plotting.pictures import Picture

EXPERIMENTS = ("comparison.csv", "sweep.csv", "survival.csv")
COMPARED = ("launches.latency_ms", "events.event", "samples.pressure_level", "summary.policy")

STATUS = Status("plot")
"""What is being done."""


def formats(text: str) -> list[str]:
    """`png,svg` as a list, without doubles."""
    chosen = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [part for part in chosen if part not in ("png", "svg")]
    if unknown or not chosen:
        raise argparse.ArgumentTypeError(f"'{text}': choose from png, svg, or both as png,svg")
    return chosen


def parse_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="Scripts/plot",
        description="Draws the pictures of a run: story, memory, pressure, cores, states, launches, terminations. What is missing in the run "
        "directory is said on stderr, and the rest is drawn.",
        epilog="Exit status: 0 drawn, 64 usage, 66 no such directory or no CSV in it, 73 cannot write, or "
        "a file is in the place of a picture and was not drawn here, 74 standard output cannot be written.",
    )
    parser.add_argument(
        "run", metavar="RUN-DIRECTORY", type=Path, nargs="?",
        help="where `plimsoll run`, `compare`, `sweep` or `survive` put its CSV files",
    )  # fmt: skip
    parser.add_argument(
        "--compare", metavar="RUN", type=Path, nargs="+",
        help="one picture of several runs, or of directories of runs, instead; those that differ in the seed alone are put together",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="DIR", type=output,
        help="where the pictures go (default: RUN-DIRECTORY/plots; with --compare the current folder)",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="also where files that are no pictures of ours would go")
    parser.add_argument("--format", metavar="LIST", type=formats, default="png,svg", help="png, svg, or both (default)")
    options = parser.parse_args()
    if (options.run is None) == (options.compare is None):
        parser.error("either a RUN-DIRECTORY or --compare RUN RUN ...")
    return options


def draw_run(directory: Path, kinds: list[str]) -> list[Picture]:
    """Draws every picture for which there is data. Raises FileNotFoundError where there is no run."""
    STATUS.show("reading the tables")
    from plimsoll_tools.plotting import pictures
    from plimsoll_tools.plotting.run_directory import read_run

    run = read_run(directory)
    for note in run.notes:
        STATUS.say(note)
    STATUS.show("drawing")
    pictures.prepare()
    with contextlib.closing(pictures.Drawing(run, kinds)) as work:
        found = work.pictures(lambda done, count: STATUS.show(f"drawing: {done} of {count} pictures"))
    for picture in found:
        for remark in picture.remarks:
            STATUS.say(remark)
    return found


def draw_comparison(paths: list[Path], kinds: list[str]) -> list[Picture]:
    """One picture of all runs, and one more if each is of another device by name. Raises FileNotFoundError where there is
    no run."""
    directories = several.expand(paths)
    STATUS.show("reading the tables")
    from plimsoll_tools.plotting import compare, devices, pictures
    from plimsoll_tools.plotting.run_directory import read_run

    runs = []
    for place, directory in enumerate(directories):
        STATUS.show(f"reading the tables: {place} of {len(directories)} runs")
        runs.append(read_run(directory))
    labels = several.labels(directories, [several.summary_of(directory) for directory in directories])
    for run, label in zip(runs, labels):
        for note in run.notes + [f"{name} is missing" for name in run.lacks(*COMPARED) if name in run.absent]:
            STATUS.say(f"{label}: {note}")
    STATUS.show("drawing")
    pictures.prepare()
    figures = [("compare", compare.draw(runs, labels))]
    names = [run.facts.device for run in runs]
    if devices.are_devices(names):
        figures.append(("devices", devices.draw(runs, names)))
    return pictures.rendered(figures, kinds)


def draw_experiment(directory: Path, kinds: list[str]) -> list[Picture]:
    """The pictures of what `plimsoll compare`, `sweep` or `survive` wrote."""
    STATUS.show("drawing")
    from plimsoll_tools.plotting import comparison, metrics, pictures, survival, sweep

    pictures.prepare()
    figures = []
    if comparison.is_comparison(directory):
        table, seeds, known = comparison.read(directory), comparison.seeds(directory), metrics.of(directory)
        for stem, title, rows in comparison.scopes(table):
            names = list(dict.fromkeys(table["scenario"])) if (rows["scope"] == "pooled").all() else []
            figures.append((stem, comparison.draw(rows, title, known, seeds, ", ".join(filter(None, names)))))
    if sweep.is_sweep(directory):
        drawn = sweep.figures(*sweep.read(directory))
        if not drawn:
            STATUS.say("sweep: no setting was varied; nothing to draw")
        figures += drawn
    if survival.is_survival(directory):
        figures.append(("survival", survival.draw(survival.read(directory))))
    return pictures.rendered(figures, kinds)


def is_experiment(directory: Path | None) -> bool:
    return directory is not None and any((directory / name).exists() for name in EXPERIMENTS)


def draw(options: argparse.Namespace) -> list[Picture]:
    """Draws what was asked for. Raises FileNotFoundError where there is nothing of ours, ValueError for a broken table."""
    if options.compare:
        return draw_comparison(options.compare, options.format)
    if is_experiment(options.run):
        return draw_experiment(options.run, options.format)
    return draw_run(options.run, options.format)


def save(found: list[Picture], out: Path, force: bool) -> int:
    """Writes the pictures and names them; the exit status."""
    from plimsoll_tools.plotting import pictures

    try:
        paths = pictures.write(found, out, force)
    except pictures.Occupied as error:
        STATUS.say(str(error))
        return 73
    except OSError as error:
        STATUS.say(f"cannot write to {out}: {error.strerror or error}")
        return 73
    STATUS.clear()
    for path in paths:
        print(path)
    return 0


def main() -> int:
    options = parse_arguments()
    STATUS.show("starting")
    try:
        found = draw(options)
        return save(found, options.out or (Path() if options.compare else options.run / "plots"), options.force)
    except (FileNotFoundError, ValueError) as error:
        STATUS.say(str(error))
        return 66
    finally:
        STATUS.clear()


def command() -> NoReturn:
    end_in_order("plot", main)


if __name__ == "__main__":
    command()
