"""Spreads a sweep, a comparison or a search over the machines of a scheduler."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from plimsoll_tools.checkout import program as built
from plimsoll_tools.clusters import experiment
from plimsoll_tools.clusters.engine import Engine, Local, News
from plimsoll_tools.command_line import Parser, end_in_order
from plimsoll_tools.tuning.program import Fault, Interrupted, Interruption

COMMANDS = ("sweep", "compare", "tune")

EPILOG = """
EXAMPLES
  Scripts/sweep-on slurm sweep Scenarios/seeded-commuter.yaml --backend accounting \\
    --vary limits.background_processes=4..12:2 --seeds 1..200 --out sweeps/a
  Scripts/sweep-on slurm --sbatch=--partition=short --sbatch=--time=30 compare \\
    Scenarios/seeded-commuter.yaml --policy ladder --policy jetsam --seeds 1..200 --out runs/a
  Scripts/sweep-on dask --scheduler tcp://head:8786 sweep Scenarios/quickstart.yaml \\
    --vary device.cores=1..8 --out sweeps/b
  Scripts/sweep-on slurm --workers 8 tune --scenarios Scenarios/training --policy jetsam \\
    --storage postgresql://me@db.example/tuning --out tunings/jetsam
  Scripts/sweep-on local sweep Scenarios/quickstart.yaml --vary device.cores=1,2 --out sweeps/c

The results are those of the same command without sweep-on, byte for byte; a search's trials depend on the order in which
its workers finish. Ctrl-C keeps what is finished, and the same command goes on. While it runs, DIR.work holds what travels to
the workers, the logs, and what was not gathered yet; Slurm's nodes must see that folder.

EXIT STATUS
  that of plimsoll or Scripts/tune; 64 usage, 66 a file is missing, 69 the scheduler cannot be reached or refuses, 71 this
  machine refuses, 73 the folder cannot be used or is in use; 129, 130, 143 interrupted, what is finished is kept.
"""


def parse_arguments(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our own options, and the words from `sweep`, `compare` or `tune` on."""
    place = next((place for place, word in enumerate(words) if place and word in COMMANDS), len(words))
    parser = Parser(
        prog="Scripts/sweep-on",
        usage="Scripts/sweep-on slurm|dask|local [options] sweep|compare|tune ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG,
        description="Runs a sweep, a comparison or a search on the machines of a scheduler, and writes the result here.\n"
        "From the word sweep, compare or tune on, the arguments are those of `plimsoll sweep run`,\n"
        "`plimsoll compare` or `Scripts/tune`; sweep and compare need --out.",
    )
    parser.add_argument("engine", choices=("slurm", "dask", "local"), help="who runs the cases; local: this machine")
    how = parser.add_argument_group("how")
    how.add_argument("--workers", metavar="N", type=int, help="at most N chunks, or searchers, at a time (all that fit)")
    how.add_argument("--cores", metavar="N", type=int, default=1, help="processors of a chunk, one case on each (1)")
    how.add_argument(
        "--chunk-seconds", metavar="S", type=float, default=30.0, help="about how long a chunk of cases takes (30)"
    )
    how.add_argument("--chunk", metavar="N", type=int, help="cases in a chunk, in place of --chunk-seconds")
    how.add_argument("--attempts", metavar="N", type=int, default=3, help="how often a case is tried (3)")
    slurm = parser.add_argument_group("slurm")
    slurm.add_argument(
        "--sbatch", metavar="OPTION", action="append", default=[], help="for sbatch, as --sbatch=--partition=short"
    )
    slurm.add_argument(
        "--python", metavar="FILE", default=sys.executable, help="on the nodes, with the packages of `tune` (this one)"
    )
    dask = parser.add_argument_group("dask")
    dask.add_argument("--scheduler", metavar="ADDRESS", help="such as tcp://head:8786 (DASK_SCHEDULER_ADDRESS)")
    dask.add_argument("--scheduler-file", metavar="FILE", type=Path, help="that dask-scheduler wrote")
    options = parser.parse_args(list(words[:place]))
    command = list(words[place:])
    for name in ("workers", "cores", "chunk", "attempts"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} must be at least 1")
    if not options.chunk_seconds > 0:
        parser.error("--chunk-seconds must be above 0")
    if not command:
        parser.error("say what to run: sweep, compare or tune, with its arguments")
    check(parser, options, command)
    return options, command


def check(parser: Parser, options: argparse.Namespace, command: list[str]) -> None:
    """Refuses what cannot go together."""
    if options.engine == "dask":
        options.scheduler = options.scheduler or os.environ.get("DASK_SCHEDULER_ADDRESS")
        if not options.scheduler and not options.scheduler_file:
            parser.error("name Dask's scheduler with --scheduler or --scheduler-file")
    if command[0] == "tune" or any(word in ("-h", "--help") for word in command):
        return
    if any(word == "--jobs" or word.startswith("--jobs=") for word in command):
        parser.error("--jobs is for one machine; use --workers and --cores")
    if any(word == "--shard" or word.startswith("--shard=") for word in command):
        parser.error("--shard: sweep-on spreads the cases by itself")
    if out_of(command) is None and "--dry-run" not in command:
        parser.error("name the folder to write with --out DIR")


def out_of(command: Sequence[str]) -> Path | None:
    """The folder of --out, the last one if there are several, as the program reads it."""
    found = None
    for word, after in zip(command, [*command[1:], ""]):
        if word == "--out":
            found = after
        elif word.startswith("--out="):
            found = word.removeprefix("--out=")
    return Path(found) if found else None


def engine_maker(options: argparse.Namespace) -> Callable[[News, Path], Engine]:
    """The engine's own library is loaded only if it is asked for."""

    def make(news: News, run: Path) -> Engine:
        if options.engine == "slurm":
            from plimsoll_tools.clusters.slurm import Slurm

            return Slurm(news, run, options.sbatch, options.cores, options.python)
        if options.engine == "dask":
            try:
                from plimsoll_tools.clusters.dask import Dask
            except ImportError as error:
                raise Fault(71, f"no Dask here ({error}): Scripts/setup.sh clusters installs it") from error
            return Dask(news, options.scheduler, options.scheduler_file)
        return Local(news, options.workers or os.cpu_count() or 1)

    return make


def perform(words: Sequence[str], interruption: Interruption) -> int:
    options, command = parse_arguments(words)
    program = Path(os.environ.get("PLIMSOLL") or built())
    make = engine_maker(options)
    if any(word in ("-h", "--help", "--dry-run") for word in command):
        os.execv(program, [str(program), *command])
    if command[0] == "tune":
        from plimsoll_tools.clusters import study

        folder = out_of(command) or Path("tunings") / "tune"
        work = folder.with_name(folder.name + ".work").resolve()
        return study.perform(
            command, program, make, options.workers, options.cores, options.attempts, work, interruption
        )  # fmt: skip
    out = out_of(command)
    assert out is not None
    settings = experiment.Settings(
        options.chunk_seconds, options.chunk, options.cores, options.attempts, options.workers
    )
    return experiment.perform(command, out, program, make, settings, interruption)


def main() -> int:
    interruption = Interruption()
    words = sys.argv[1:]
    try:
        interruption.listen()
        return perform(words, interruption)
    except Fault as error:
        experiment.say(str(error))
        return error.status
    except Interrupted as error:
        experiment.say(f"interrupted; what is done is kept. Go on with: {shlex.join(['Scripts/sweep-on', *words])}")
        return error.status


def command() -> NoReturn:
    end_in_order("sweep-on", main)


if __name__ == "__main__":
    command()
