"""Draws the pictures of a run from its CSV files."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from pathlib import Path
from typing import NoReturn

from matplotlib.figure import Figure

from plimsoll_tools.command_line import Parser, as_called, end_in_order, output
from plimsoll_tools.plotting import several, style
from plimsoll_tools.plotting.run_directory import Run, read_run

EXPERIMENTS = ("comparison.csv", "sweep.csv", "survival.csv")
COMPARED = ("launches.latency_ms", "events.event", "samples.pressure_level", "summary.policy")


def say(message: str) -> None:
    print(f"plot: {message}", file=sys.stderr)


def formats(text: str) -> list[str]:
    """`png,svg` as a list, without doubles."""
    chosen = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [part for part in chosen if part not in ("png", "svg")]
    if unknown or not chosen:
        raise argparse.ArgumentTypeError(f"'{text}': choose from png, svg, or both as png,svg")
    return chosen


class Occupied(Exception):
    """Where a picture would go lies something that is none of ours."""


def parse_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="Scripts/plot",
        description="Draws the pictures of a run: memory, pressure, cores, states, launches, terminations. What is missing in the run "
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


Drawn = list[tuple[str, Figure]]
"""The pictures, each with the name of its file."""


def draw_all(run: Run) -> Drawn:
    """Draws every picture for which there is data."""
    from plimsoll_tools.plotting import cores, launches, memory, pages, pressure, states, terminations

    figures: Drawn = []
    for module in (memory, pages, pressure, cores, states, launches, terminations):
        name = module.__name__.rpartition(".")[2]
        if name in run.older:
            continue
        absent = run.lacks(*module.NEEDS)
        if absent:
            say(f"{name}: without {', '.join(absent)}")
        figure = module.draw(run)
        if figure is None:
            say(f"{name}: nothing to draw")
            continue
        figures.append((name, figure))
    return figures


def draw_comparison(directories: list[Path]) -> Drawn:
    """One picture of all runs, and one more if each is of another device by name."""
    from plimsoll_tools.plotting import compare, devices

    runs = [read_run(directory) for directory in directories]
    labels = several.labels(directories, [several.summary_of(directory) for directory in directories])
    for run, label in zip(runs, labels):
        for note in run.notes + [f"{name} is missing" for name in run.lacks(*COMPARED) if name in run.absent]:
            say(f"{label}: {note}")
    figures: Drawn = [("compare", compare.draw(runs, labels))]
    names = devices.names_of(runs)
    if devices.are_devices(names):
        figures.append(("devices", devices.draw(runs, names)))
    return figures


def draw_experiment(directory: Path) -> Drawn:
    """The pictures of what `plimsoll compare`, `sweep` or `survive` wrote."""
    from plimsoll_tools.plotting import comparison, survival, sweep

    figures: Drawn = []
    if comparison.is_comparison(directory):
        table, seeds = comparison.read(directory), comparison.seeds(directory)
        for stem, title, rows in comparison.scopes(table):
            names = list(dict.fromkeys(table["scenario"])) if (rows["scope"] == "pooled").all() else []
            figures.append((stem, comparison.draw(rows, title, seeds, ", ".join(filter(None, names)))))
    if sweep.is_sweep(directory):
        drawn = sweep.figures(*sweep.read(directory))
        if not drawn:
            say("sweep: no setting was varied; nothing to draw")
        figures += drawn
    if survival.is_survival(directory):
        figures.append(("survival", survival.draw(survival.read(directory))))
    return figures


def save(figures: Drawn, out: Path, kinds: list[str], force: bool) -> list[Path]:
    """Saves all of them, or none if one would overwrite a file that is no picture of ours."""
    import matplotlib.pyplot as plt

    for path in [] if force else [out / f"{stem}.{kind}" for stem, _ in figures for kind in kinds]:
        if path.exists() and not style.is_ours(path):
            raise Occupied(f"{path} exists and was not drawn by {as_called('plot')}; give another --out, or --force")
    out.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for stem, figure in figures:
        paths += style.save(figure, out / stem, kinds)
        plt.close(figure)
    return paths


def is_experiment(directory: Path | None) -> bool:
    return directory is not None and any((directory / name).exists() for name in EXPERIMENTS)


def main() -> int:
    options = parse_arguments()
    # A letter that no font has is drawn as a box; that is not worth a page of warnings.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    style.prepare()
    try:
        if options.compare:
            directories = several.expand(options.compare)
        elif not is_experiment(options.run):
            run = read_run(options.run)
            for note in run.notes:
                say(note)
    except FileNotFoundError as error:
        say(str(error))
        return 66

    out: Path = options.out or (Path() if options.compare else options.run / "plots")
    try:
        if options.compare:
            figures = draw_comparison(directories)
        elif is_experiment(options.run):
            figures = draw_experiment(options.run)
        else:
            figures = draw_all(run)
        for path in save(figures, out, options.format, options.force):
            print(path)
    except ValueError as error:
        say(str(error))
        return 66
    except Occupied as error:
        say(str(error))
        return 73
    except OSError as error:
        say(f"cannot write to {out}: {error.strerror or error}")
        return 73
    return 0


def command() -> NoReturn:
    end_in_order("plot", main)


if __name__ == "__main__":
    command()
