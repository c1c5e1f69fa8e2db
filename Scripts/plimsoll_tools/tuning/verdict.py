"""The verdict: the tuned policy against the one the search began with, on what the search never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from plimsoll_tools.tuning.board import Board
from plimsoll_tools.tuning.part import Part
from plimsoll_tools.tuning.problem import Problem, Scenario, value_of
from plimsoll_tools.tuning.program import Fault, Job, Summary, gather
from plimsoll_tools.tuning.search import rounds_of


@dataclass(frozen=True)
class Pair:
    """One scenario and seed under both policies."""

    scenario: str
    seed: int
    standard: Summary
    tuned: Summary


Verdict = dict[str, Any]
"""What `plimsoll verdict` says of one set of scenarios: `place`, `word`, `sentence`, and a row per metric, whose `cells`
are its figures as people read them. A difference without an interval has no `low` and no `high`."""


def cells(problem: Problem) -> list[tuple[Scenario, int]]:
    """What is run for the verdict, seed by seed."""
    scenarios = [*problem.scenarios, *problem.held_out]
    return [(scenario, seed) for seed in problem.held_out_seeds for scenario in scenarios]


class Confirmation(Part):
    """One worker's part in the held-out runs; they are slots of a study of their own, shared as the search is."""

    def work(self, chosen: dict[str, Any], at_once: int) -> None:
        """Until every held-out run is made, by us or by others."""
        self.settle(at_once, "held-out runs", lambda: self._finish(chosen))

    def _finish(self, chosen: dict[str, Any]) -> None:
        """Runs all claims at once, and tells them in order."""
        problem, all_cells = self.problem, cells(self.problem)
        policies = [problem.settings({}), problem.settings(chosen)]
        futures = []
        for claim in self.claims:
            scenario, seed = all_cells[claim.slot]
            # Seed by seed: the first cells are those of the first seed.
            is_checked = problem.is_spot_checked and claim.slot < len(all_cells) // len(problem.held_out_seeds)
            backends = [problem.verdict_backend, *(["jemalloc"] if is_checked else [])]
            jobs = [
                Job(scenario.path, seed, policy, backend, problem.prices_of_runs)
                for backend in backends
                for policy in policies
            ]
            futures.append([self.program.submit(job) for job in jobs])
        for pending in futures:
            standard, tuned, *real = gather(pending, self.tick)
            claim = self.claims[0]
            check_agreement(all_cells[claim.slot], [standard, tuned], real)
            self.sign()
            try:
                for name, row in (("standard", standard), ("tuned", tuned)):
                    self.board.storage.set_trial_user_attr(claim.trial_id, name, row)
                self.board.storage.set_trial_state_values(claim.trial_id, TrialState.COMPLETE, [0.0])
            except UpdateFinishedTrialError:
                pass  # Taken for dead; another worker makes these runs, with the same result.
            self.claims.pop(0)
            self.show(self.board, "held-out runs")


def check_agreement(cell: tuple[Scenario, int], computed: list[Summary], real: list[Summary]) -> None:
    """Ends the search where real memory gives other figures: a verdict on computed ones would be worth nothing."""
    for own, other in zip(computed, real):
        differing = [name for name in own if own[name] != other.get(name)]
        if differing:
            raise Fault(
                70,
                f"{cell[0].name}, seed {cell[1]}: on real memory {', '.join(differing[:3])} "
                f"{'is' if len(differing) == 1 else 'are'} not what the accounting backend computes; "
                "--confirm jemalloc makes the whole verdict on real memory",
            )


def pairs_of(problem: Problem, board: Board) -> list[Pair]:
    owners, all_cells = board.read().owners, cells(problem)
    found = []
    for slot, (scenario, seed) in enumerate(all_cells):
        trial = owners.get(slot)
        if trial is not None and trial.state == TrialState.COMPLETE:
            found.append(Pair(scenario.name, seed, trial.user_attrs["standard"], trial.user_attrs["tuned"]))
    return found


# --- What is asked of the program ---------------------------------------------------------------------------------------


def numbers_of(problem: Problem, row: Summary) -> dict[str, float]:
    """The metrics of a run that are numbers, as the search takes them."""
    directions = {goal.metric: goal.direction for goal in problem.objectives}
    names = [one.name for one in problem.known if one.is_number and one.name in row]
    return {name: value_of(name, row, directions.get(name, "minimize")) for name in names}


def training_of(problem: Problem, standard: FrozenTrial, chosen: FrozenTrial) -> list[list[dict[str, Any]]]:
    """By scenario of the search, the pairs of its own runs, as far as it kept their metrics."""
    rounds = list(zip(*(rounds_of(trial, len(problem.seeds)) for trial in (standard, chosen))))
    return [
        [
            {name: dict(zip(problem.metrics, row[place])) for name, row in zip(("standard", "tuned"), both)}
            for both in rounds
        ]
        for place in range(len(problem.scenarios))
    ]


def breaches(problem: Problem, pairs: Sequence[Pair]) -> list[str]:
    """The constraints that the tuned policy breaks on what it never saw, and breaks worse than the default does."""
    found = []
    for goal in problem.constraints:
        tuned = float(np.mean([value_of(goal.metric, pair.tuned) for pair in pairs]))
        standard = float(np.mean([value_of(goal.metric, pair.standard) for pair in pairs]))
        if goal.violation(tuned) > max(0.0, goal.violation(standard)):
            found.append(f"{goal.text}: {tuned:.3g}, and {standard:.3g} under the default")
    return found


def groups_of(problem: Problem) -> dict[str, list[str]]:
    """What is judged, and its scenarios: each one, all of a kind together, and last the verdicts themselves: on the
    training scenarios with seeds that the search never saw, and on scenarios that it never saw."""
    known, unknown = ([one.name for one in some] for some in (problem.scenarios, problem.held_out))
    count = len(problem.held_out_seeds)
    groups: dict[str, list[str]] = {}
    for names, label in ((known, "all training scenarios"), (unknown, "all held-out scenarios")):
        groups |= {name: [name] for name in names} | ({label: names} if len(names) > 1 else {})
    groups[f"{count} seeds it never saw"] = known
    if unknown:
        groups[f"scenarios it never saw ({', '.join(unknown)}; {count} seeds)"] = unknown
    return groups


def question(problem: Problem, pairs: Sequence[Pair], training: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """What `plimsoll verdict` reads."""
    within: dict[str, list[Pair]] = {}
    for pair in pairs:
        within.setdefault(pair.scenario, []).append(pair)
    trained = dict(zip((one.name for one in problem.scenarios), training))

    def told(pair: Pair) -> dict[str, Any]:
        return {"standard": numbers_of(problem, pair.standard), "tuned": numbers_of(problem, pair.tuned)}

    return {
        "goals": [{"metric": goal.metric, "is_maximized": goal.direction == "maximize"} for goal in problem.objectives],
        "stream": str(problem.seed),
        "scenarios": [
            {"name": name, "is_seen": name in trained, "training": trained.get(name, []), "pairs": list(map(told, own))}
            for name, own in within.items()
        ],
        "groups": [
            {"place": place, "scenarios": names, "broken": breaches(problem, [pair for name in names for pair in within[name]])}
            for place, names in groups_of(problem).items()
        ],
    }  # fmt: skip
