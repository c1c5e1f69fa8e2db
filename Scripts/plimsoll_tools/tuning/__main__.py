"""Searches for better parameters of a policy, and says whether they are better on what the search never saw."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from plimsoll_tools.checkout import program as built
from plimsoll_tools.command_line import Parser, Status, as_called, end_in_order, output

STATUS = Status("tune")
"""What is being done."""

if __name__ == "__main__":
    # To load what follows takes seconds.
    STATUS.show("starting")

import sqlalchemy

from plimsoll_tools.tuning import outcome
from plimsoll_tools.tuning.ablation import Ablation, Resets, ablate
from plimsoll_tools.tuning.board import UNKNOWN, Board, open_storage, reason, shown, studies_in
from plimsoll_tools.tuning.problem import (
    OPTIONS,
    Problem,
    bounds_of,
    check_policy,
    check_program,
    constraints_of,
    objectives_of,
    policy_of,
    prices_of,
    scenarios_of,
    seeds_of,
    space_of,
)
from plimsoll_tools.tuning.program import Fault, Interrupted, Interruption, Program
from plimsoll_tools.tuning.search import Worker, choose
from plimsoll_tools.tuning.verdict import Confirmation, cells, pairs_of

EPILOG = """
EXAMPLES
  Scripts/tune Scenarios/evening-commute.yaml --policy jetsam --trials 40
  Scripts/tune --scenarios Scenarios/training --held-out Scenarios/held-out --policy ladder --out tunings/ladder
  Scripts/tune --scenarios Scenarios/training --policy lmkd --minimize bytes_reclaimed --maximize hot_launch_ratio
  Scripts/tune --scenarios Scenarios/training --policy jetsam --storage postgresql://me@db.example/tuning
                                        the same command on any number of machines: they share one study

One worker and one --seed give the same result, whatever --jobs says. Ctrl-C keeps what is done; --resume goes on.

EXIT STATUS
  0 done, better or not; 64 usage; 65 a scenario or policy is invalid, or the study is about something else;
  66 a file is missing; 69 the storage cannot be reached; 70 our own fault; 71 this machine refuses;
  73 the result directory exists or cannot be made; 74 it, or standard output, cannot be written; 129, 130, 143
  interrupted, what is done is kept.
"""


STORAGE = "PLIMSOLL_STORAGE"
"""The environment variable that stands for --storage: what is started elsewhere need not show an address with a password."""


def parse_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="Scripts/tune",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG.replace("Scripts/tune", as_called("tune")),
        description="Searches for better parameters of a policy on training seeds, and says on seeds (and scenarios)\n"
        "that the search never saw whether they are better than the default, and by how much.",
    )
    what = parser.add_argument_group("what is tuned")
    what.add_argument(
        "scenario", metavar="SCENARIO", type=Path, nargs="*", help="scenarios to train on, or folders of them"
    )
    what.add_argument(
        "--scenarios", metavar="DIR", type=Path, action="append", default=[], help="train on all in a folder"
    )
    what.add_argument(
        "--held-out",
        metavar="PATH",
        type=Path,
        action="append",
        default=[],
        help="a scenario, or a folder, for the verdict alone",
    )
    what.add_argument(
        "--policy", metavar="NAME|FILE", required=True, help="what is tuned, and what it is measured against"
    )
    what.add_argument(
        "--parameter", metavar="NAME", action="append", default=[], help="search only this one (repeatable)"
    )
    what.add_argument("--range", metavar="NAME=LOW..HIGH", action="append", default=[], help="search within this range")
    goals = parser.add_argument_group("what is better")
    goals.add_argument(
        "--minimize",
        metavar="METRIC",
        action="append",
        default=[],
        help="default: terminations_felt and seconds_lost, against unbounded under the same seed",
    )
    goals.add_argument("--maximize", metavar="METRIC", action="append", default=[], help="default: hot_launch_ratio")
    goals.add_argument(
        "--constraint",
        metavar="'METRIC <= N'",
        action="append",
        default=[],
        help="on the mean per run (default: terminations_foreground <= 0); none: no constraint",
    )
    for option, what_for in (("end", "an app that ends in front"), ("lost-launch", "a launch whose frame never comes")):
        goals.add_argument(f"--{option}-price", metavar="TIME", help=f"what {what_for} counts as in seconds_lost")
    how = parser.add_argument_group("how")
    how.add_argument("--trials", metavar="N", type=int, default=100, help="trials of the whole study (100)")
    how.add_argument("--seeds", metavar="LIST", default="1..6", help="training seeds, such as 1..8 or 1,2,5 (1..6)")
    how.add_argument(
        "--held-out-seeds", metavar="LIST", default="101..120", help="seeds for the verdict, 5 at least (101..120)"
    )
    how.add_argument("--seed", metavar="N", type=int, default=1, help="of the search itself (1)")
    how.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="runs at once (all cores)")
    how.add_argument(
        "--backend", choices=("accounting", "jemalloc"), default="accounting", help="of the search (accounting)"
    )
    how.add_argument(
        "--confirm", choices=("spot-check", "accounting", "jemalloc"), default="spot-check",
        help="of the verdict; spot-check: accounting, and the first held-out seed on real memory as well (spot-check)",
    )  # fmt: skip
    where = parser.add_argument_group("where")
    where.add_argument(
        "--out", metavar="DIR", type=output, help="result directory (tunings/POLICY, or the next free -2, -3, …)"
    )
    where.add_argument("--resume", action="store_true", help="go on with the study in --out")
    where.add_argument(
        "--storage", metavar="URL", default=os.environ.get(STORAGE) or None,
        help=f"postgresql://…, shared by any number of machines ({STORAGE}, or a file in --out)",
    )  # fmt: skip
    where.add_argument(
        "--study", metavar="NAME", help="its name in the storage (made from all that decides the result)"
    )
    where.add_argument(
        "--heartbeat",
        metavar="SECONDS",
        type=int,
        default=20,
        help="a worker that was silent three times as long is taken for dead (20)",
    )
    options = parser.parse_args()
    for name, least in (("trials", 2), ("jobs", 1), ("heartbeat", 1), ("seed", 0)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}")
    if not options.scenario and not options.scenarios:
        parser.error("name a scenario, or a folder with --scenarios")
    return options


def problem_of(options: argparse.Namespace, program: Program) -> Problem:
    tables, known = program.policies(), program.metrics()
    metrics = [one.name for one in known]
    scenarios = scenarios_of([*options.scenario, *options.scenarios], "to train on")
    held_out = scenarios_of(options.held_out, "held out")
    both = {one.digest for one in scenarios} & {one.digest for one in held_out}
    names = {one.name for one in scenarios} & {one.name for one in held_out}
    if both or names:
        raise Fault(64, "a scenario is both trained on and held out: " + ", ".join(sorted(names or both)))
    seeds = seeds_of(options.seeds, "--seeds")
    held_out_seeds = seeds_of(options.held_out_seeds, "--held-out-seeds")
    if set(seeds) & set(held_out_seeds):
        raise Fault(
            64, f"--held-out-seeds {options.held_out_seeds}: the search sees some of them (--seeds {options.seeds})"
        )
    if len(held_out_seeds) < 5:
        raise Fault(64, f"--held-out-seeds {options.held_out_seeds}: an interval needs at least 5 seeds")
    check_policy(options.policy, tables)
    check_program(program, [*scenarios, *held_out], options.policy)
    policy = policy_of(options.policy, tables)
    table = program.parameters_of(options.policy) if "rules" in policy else tables[str(policy["name"])]
    objectives = objectives_of(options.minimize, options.maximize, metrics)
    constraints = constraints_of(options.constraint, metrics)
    asked = [*(one.metric for one in objectives), *(one.metric for one in constraints)]
    return Problem(
        scenarios=scenarios,
        held_out=held_out,
        policy=policy,
        space=space_of(policy, table, options.parameter, options.range, bounds_of(scenarios)),
        objectives=objectives,
        constraints=constraints,
        seeds=seeds,
        held_out_seeds=held_out_seeds,
        seed=options.seed,
        backend=options.backend,
        confirm_backend=options.confirm,
        version=program.version(),
        known=tuple(known),
        prices=prices_of(options.end_price, options.lost_launch_price, asked),
    )


# --- Where the result goes --------------------------------------------------------------------------------------------


def result_directory(options: argparse.Namespace, policy: str) -> tuple[Path, list[Path]]:
    """Made here, so that two tunings at once get two; an existing one is touched only with --resume.

    Beside it which folders were made for it, itself first: to be taken away again where nothing comes of it.
    """
    base = options.out or Path("tunings") / policy
    missing = [parent for parent in base.parents if not parent.exists()]
    if options.resume:
        if not base.is_dir() or (options.storage is None and not (base / "study.db").is_file()):
            raise Fault(66, f"nothing to resume: no study in {base}; name its directory with --out")
        return base, []
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        if options.out is not None:
            if base.is_dir() and not any(base.iterdir()):
                return base, []
            base.mkdir()
            return base, [base, *missing]
        for number in range(1, 10_000):
            candidate = base if number == 1 else base.with_name(f"{base.name}-{number}")
            try:
                candidate.mkdir()
                return candidate, [candidate, *missing]
            except FileExistsError:
                continue
        raise Fault(73, f"no free name for a result directory beside {base}")
    except FileExistsError as error:
        raise Fault(73, f"{base} exists; go on with --resume, or name another --out") from error
    except OSError as error:
        raise Fault(73, f"cannot make {base}: {error.strerror}") from error


# --- Progress ---------------------------------------------------------------------------------------------------------


def tell(board: Board, what: str) -> None:
    """Says how far a study is, where a person looks: the storage is not asked for a log."""
    if sys.stderr.isatty():
        STATUS.show(f"{board.read().settled} of {len(board.slots)} done; {what}")


# --- The whole --------------------------------------------------------------------------------------------------------


def search(
    options: argparse.Namespace,
    problem: Problem,
    program: Program,
    folder: Path,
    check: Callable[[], None],
) -> Found:
    """All studies, filled: the search's, that of what carries the gain, and the verdict's."""
    url = options.storage or f"sqlite:///{(folder / 'study.db').resolve()}"
    storage = open_storage(url, options.heartbeat, 3 * options.heartbeat)
    is_own = options.resume and options.storage is None and options.study is None
    title = resumed(problem, studies_in(storage), folder) if is_own else options.study or problem.title
    # The starting policy goes first; all other slots are the sampler's.
    slots = [problem.standard, *({} for _ in range(options.trials - 1))]
    board = Board(storage, title, [goal.direction for goal in problem.objectives], slots)
    found = board.register(problem.identity(), check)
    differing = problem.differing(found)
    if differing:
        raise Fault(
            65, f"the study {title} in {shown(url)} is about something else: it differs in {', '.join(differing)}"
        )
    mixture = Mixture(program, folder)
    board.fill(check)
    mixture.look(board)
    Worker(problem, board, program, check, tell).work()
    trials = board.read().completed
    if not any(trial.user_attrs["slot"] == 0 for trial in trials):
        raise Fault(70, "the default policy's own trial was given up: there is nothing to compare with")
    chosen = choose(problem, trials)
    boards = [board]

    def side(name: str, slots: int) -> Board:
        """A study of its own beside the search's, with its own name per winner: more trials may find another one."""
        found = Board(storage, f"{title} {name}", ["minimize"], [{} for _ in range(slots)])
        found.fill(check)
        boards.append(found)
        mixture.look(*boards)
        return found

    number = chosen.user_attrs["slot"] + 1
    ablation = ablate(
        problem, chosen, options.jobs,
        lambda sets: side(f"trial {number} without {'one each' if len(sets) > 1 else ', '.join(sets[0])}", len(sets)),
        lambda found: Resets(problem, found, program, check, tell),
    )  # fmt: skip
    confirmation = side(f"verdict on trial {number}, {problem.confirm_backend}", len(cells(problem)))
    Confirmation(problem, confirmation, program, check, tell).work(ablation.values(chosen), options.jobs)
    # Other workers may have come with another build meanwhile.
    mixture.look(*boards)
    return Found(boards, ablation)


@dataclass(frozen=True)
class Found:
    """What a search filled."""

    boards: list[Board]
    """The studies: the search's first, the verdict's last."""
    ablation: Ablation


class Mixture:
    """Says so, once, where runs of several builds are in a study or will be: their results may differ."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.is_said = False

    def look(self, *boards: Board) -> None:
        own = [] if all(board.read().is_done for board in boards) else [self.program.build]
        builds = list(dict.fromkeys([*(build for board in boards for build in board.builds()), *own]))
        if self.is_said or (len(builds) < 2 and builds != [UNKNOWN]):
            return
        self.is_said = True
        makers = f"{len(builds)} builds" if len(builds) > 1 else "builds"
        shorts = ", ".join(("this one " if one == self.program.build else "") + one[:10] for one in builds)
        STATUS.say(
            f"warning: the runs in {self.folder} are made by {makers} of plimsoll {self.program.version()} "
            f"({shorts}); if results differ between them, the study mixes them"
        )


def resumed(problem: Problem, studies: dict[str, dict[str, Any]], folder: Path) -> str:
    """The name of the study to go on with; another search must not take the place of the one that is there."""
    differing = {name: problem.differing(about) for name, about in studies.items()}
    if not differing:
        return problem.title
    name = min(differing, key=lambda name: (len(differing[name]), name))
    if differing[name]:
        changed = "; ".join(OPTIONS[key] for key in differing[name])
        raise Fault(
            65,
            f"the study in {folder} is about something else, it differs in: {changed}. Go on with the command it was "
            "begun with, or name another --out without --resume",
        )
    return name


def tune(options: argparse.Namespace, command: Sequence[str], program: Program, interruption: Interruption) -> int:
    problem = problem_of(options, program)
    folder, made = result_directory(options, problem.name)
    try:
        found = search(options, problem, program, folder, interruption.check)
    except Interrupted as error:
        again = [*as_called("tune").split(), *command]
        again += [] if "--resume" in command else ["--resume"]
        again += [] if options.out else ["--out", str(folder)]
        STATUS.say(f"interrupted; what is done is kept. Go on with: {shlex.join(again)}")
        return error.status
    except BaseException:
        for each in made:
            if any(each.iterdir()):
                break
            each.rmdir()
        raise
    STATUS.show("writing the report")
    board, confirmation = found.boards[0], found.boards[-1]
    position = board.read()
    result = outcome.Result(choose(problem, position.completed), found.ablation, pairs_of(problem, confirmation))
    builds = dict.fromkeys(build for each in found.boards for build in each.builds())
    about = outcome.Study(board.study.study_name, list(builds))
    try:
        verdicts = outcome.write(problem, about, position, result, folder, command, program.judge)
    except OSError as error:
        raise Fault(74, f"cannot write {error.filename or folder}: {error.strerror}") from error
    STATUS.clear()
    for verdict in verdicts:
        print(verdict["sentence"])
    print(f"{folder / outcome.POLICY}: for plimsoll run --policy; {folder / 'report.md'}: the report")
    return 0


def hidden(command: Sequence[str]) -> list[str]:
    """The command as it may be shown: without a password."""
    words = []
    for word in command:
        name, equals, value = word.partition("=") if word.startswith("--storage=") else ("", "", word)
        if "://" in value and "@" in value:
            with contextlib.suppress(sqlalchemy.exc.ArgumentError):
                value = shown(value)
        words.append(f"{name}{equals}{value}")
    return words


def main() -> int:
    # What is wrong with the words, and help, stand on lines of their own.
    STATUS.clear()
    options = parse_arguments()
    STATUS.show("looking at the scenarios and the policy")
    interruption = Interruption()
    interruption.listen()
    program = Program(built(), options.jobs)
    try:
        return tune(options, hidden(sys.argv[1:]), program, interruption)
    except Fault as error:
        STATUS.say(str(error))
        return error.status
    except Interrupted as error:
        return error.status
    except sqlalchemy.exc.SQLAlchemyError as error:
        STATUS.say(f"the storage failed: {reason(error)}")
        return 69
    finally:
        STATUS.clear()
        program.close()


def command() -> NoReturn:
    end_in_order("tune", main)


if __name__ == "__main__":
    command()
