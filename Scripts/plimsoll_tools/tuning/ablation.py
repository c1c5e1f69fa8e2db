"""What carries a gain: the chosen policy with one parameter at a time as it was before the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from plimsoll_tools.tuning.board import Board
from plimsoll_tools.tuning.part import Part
from plimsoll_tools.tuning.problem import Problem
from plimsoll_tools.tuning.program import Refused, gather
from plimsoll_tools.tuning.search import cases_of, means, values_of


def changed(problem: Problem, chosen: FrozenTrial) -> list[str]:
    """The parameters that have another value than before the search, in the table's order; none of the first policy."""
    if chosen.user_attrs["slot"] == 0:
        return []
    return [one.name for one in problem.space if one.text(chosen.params[one.name]) != one.standard_text]


@dataclass(frozen=True)
class Ablation:
    """What came of it."""

    kept: list[str] = field(default_factory=list)
    """The parameters that the policy keeps."""
    idle: list[str] = field(default_factory=list)
    """Those that change no figure of any run of the search, so they go back."""
    without: dict[str, dict[str, float]] = field(default_factory=dict)
    """By parameter, the metrics' means over the search's runs without it; none where the program refuses that policy."""

    def values(self, chosen: FrozenTrial) -> dict[str, Any]:
        """The parameters of the policy that goes to the verdict."""
        return {name: chosen.params[name] for name in self.kept}


class Resets(Part):
    """One worker's part in these runs: a slot for each set of parameters that are as they were before."""

    def work(self, values: dict[str, Any], sets: list[list[str]], at_once: int) -> None:
        self.settle(at_once, "runs without a parameter", lambda: self._finish(values, sets))

    def _finish(self, values: dict[str, Any], sets: list[list[str]]) -> None:
        problem = self.problem
        claimed = []
        for claim in self.claims:
            left = {name: value for name, value in values.items() if name not in sets[claim.slot]}
            claimed.append([self.submit(seed, problem.settings(left)) for seed in problem.seeds])
        for rounds in claimed:
            trial_id, storage = self.claims[0].trial_id, self.board.storage
            try:
                try:
                    for number, pending in enumerate(rounds):
                        found = [values_of(problem, row) for row in gather(pending, self.tick)]
                        self.sign()
                        storage.set_trial_user_attr(trial_id, f"round_{number}", found)
                    storage.set_trial_state_values(trial_id, TrialState.COMPLETE, [0.0])
                except Refused:
                    # Without it there is no such policy, so it stays.
                    storage.set_trial_state_values(trial_id, TrialState.PRUNED)
            except UpdateFinishedTrialError:
                pass  # Taken for dead; another worker makes these runs, with the same result.
            self.claims.pop(0)
            self.show(self.board, "runs without a parameter")


def ablate(
    problem: Problem, chosen: FrozenTrial, at_once: int, open_board: Callable[[list[list[str]]], Board],
    part: Callable[[Board], Resets],
) -> Ablation:  # fmt: skip
    """Makes the runs, as far as they are not made yet, and says what stays.

    What is idle alone need not be so together with others, so all that goes back is tried at once, too; if that changes
    a figure, everything stays.
    """
    names = changed(problem, chosen)
    values = {name: chosen.params[name] for name in names}
    own = cases_of(chosen, len(problem.seeds))

    def cases(sets: list[list[str]]) -> list[list[list[float]]]:
        board = open_board(sets)
        part(board).work(values, sets, at_once)
        owners = board.read().owners
        return [cases_of(owners[slot], len(problem.seeds)) if slot in owners else [] for slot in range(len(sets))]

    def are_same(found: list[list[float]]) -> bool:
        return len(found) == len(own) and bool(np.array_equal(np.array(found), np.array(own)))

    if not names:
        return Ablation()
    alone = dict(zip(names, cases([[name] for name in names])))
    idle = [name for name in names if are_same(alone[name])]
    if len(idle) > 1 and not are_same(cases([idle])[0]):
        idle = []
    without = {name: means(problem, found) for name, found in alone.items() if len(found) == len(own)}
    return Ablation([name for name in names if name not in idle], idle, without)
