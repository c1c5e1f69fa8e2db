"""The search: one worker asks for a trial, runs it case by case, stops what is hopeless, tells, and asks again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import numpy as np
import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import TPESampler
from optuna.trial import FrozenTrial, Trial, TrialState

from plimsoll_tools.tuning.board import Claim
from plimsoll_tools.tuning.part import Part
from plimsoll_tools.tuning.problem import Problem, value_of
from plimsoll_tools.tuning.program import SECONDS_LOST, Interrupted, Refused, Summary, gather, rest

REST = "rest"
"""The key of the cases after the last whole round of a trial that was stopped."""

FEWEST_TRIALS = 8
"""Of fewer trials nobody can tell which parameter decides."""

LEAST_CASES = 2
"""A trial gets this many cases (a scenario and a seed each) before it is compared, and a quarter of all."""
RACE = 3
"""It is compared again after this many further cases, and after each seed."""
SURE = 2.0
"""How many standard errors a trial must be worse by."""
SLACK = 0.005
"""A chosen trial may be worse by this share of the starting policy's figure: a millisecond of latency must not decide."""
STARTUP = 12
"""Random trials before the model of the sampler is trusted."""

Round = list[list[float]]
"""By scenario, the problem's metrics of one seed."""


def sampler_of(problem: Problem, slot: int) -> TPESampler:
    """Each trial draws from a stream of its own: a search that was interrupted goes on as if it had not been."""
    return TPESampler(
        seed=(problem.seed * 1_000_003 + slot) % (1 << 32),
        multivariate=True,
        constant_liar=True,
        n_startup_trials=STARTUP,
    )


def values_of(problem: Problem, row: Summary) -> list[float]:
    """The problem's metrics of one run."""
    goals = {goal.metric: goal.direction for goal in problem.objectives}
    return [value_of(metric, row, goals.get(metric, "minimize")) for metric in problem.metrics]


def rounds_of(trial: FrozenTrial, most: int) -> list[Round]:
    """The rounds that are done, in order and without a gap."""
    found: list[Round] = []
    while len(found) < most and f"round_{len(found)}" in trial.user_attrs:
        found.append(trial.user_attrs[f"round_{len(found)}"])
    return found


def cases_of(trial: FrozenTrial, most: int) -> list[list[float]]:
    """All cases that were run, in order, with those of a round that was cut short."""
    return [*chain.from_iterable(rounds_of(trial, most)), *trial.user_attrs.get(REST, [])]


def means(problem: Problem, cases: Sequence[list[float]]) -> dict[str, float]:
    """Each metric's mean over scenarios and seeds."""
    values = np.mean(np.array(cases, dtype=float), axis=0)
    return dict(zip(problem.metrics, (float(value) for value in values)))


def is_feasible(trial: FrozenTrial) -> bool:
    return all(violation <= 0 for violation in trial.constraints.values())


def is_worse(problem: Problem, mine: Sequence[list[float]], other: Sequence[list[float]]) -> bool:
    """Whether the cases that both have leave no hope: on no objective better, on one worse beyond doubt.

    Runs of one seed and scenario are compared with each other, so what the day itself costs cancels out.
    """
    count = min(len(mine), len(other))
    columns = [problem.metrics.index(goal.metric) for goal in problem.objectives]
    signs = np.array([goal.sign for goal in problem.objectives])
    left, right = (np.array(cases[:count], dtype=float)[:, columns] for cases in (mine, other))
    differences = (left - right) * signs
    mean = differences.mean(axis=0)
    if (mean < 0).any():
        return False
    error = differences.std(axis=0, ddof=1) / math.sqrt(len(differences)) if len(differences) > 1 else mean
    return bool(((mean > 0) & (mean > SURE * error)).any())


class Worker(Part):
    """One process's part in the search."""

    def work(self) -> None:
        """Until every slot is settled, by us or by others."""
        while True:
            self.check()
            claim = self.board.claim(self.check)
            if claim is None:
                if self.board.read().is_done:
                    return
                self.show(self.board, "waiting for trials of other workers")
                rest(1.0, self.check)
                continue
            self.claims = [claim]
            try:
                self.trial(claim)
            except UpdateFinishedTrialError:
                pass  # Taken for dead; another worker has the slot, and nothing is counted twice.
            except (Interrupted, Exception):
                self.release()
                raise
            self.claims.clear()

    def trial(self, claim: Claim) -> None:
        problem, study = self.problem, self.board.study
        study.sampler = sampler_of(problem, claim.slot)
        trial = Trial(study, claim.trial_id)
        chosen = {one.name: one.suggest(trial) for one in problem.space}
        frozen = self.board.storage.get_trial(claim.trial_id)
        rounds = rounds_of(frozen, len(problem.seeds))
        # All runs are handed out at once, and taken back where the trial is stopped: no worker of the pool idles.
        # The first slot is the policy as it was given, unrounded.
        settings = problem.settings(chosen if claim.slot else {})
        futures = [self.submit(seed, settings) for seed in problem.seeds[len(rounds) :]]
        try:
            # Whoever died after a round may have died before it could stop the trial for it.
            done = list(chain.from_iterable(rounds))
            if rounds and (why := self._hopeless(claim, done)) is not None:
                return self._prune(trial, done, why)
            for pending in futures:
                cases = list(chain.from_iterable(rounds))
                for start in range(0, len(pending), RACE):
                    cases += [values_of(problem, row) for row in gather(pending[start : start + RACE], self.tick)]
                    self.sign()
                    self.show(self.board, f"trial {claim.slot + 1}, run {len(cases)} of {problem.cases}")
                    why = self._hopeless(claim, cases)
                    if len(cases) == len(pending) * (len(rounds) + 1):
                        rounds.append(cases[-len(pending) :])
                        trial.set_user_attr(f"round_{len(rounds) - 1}", rounds[-1])
                        self._report(trial, cases, len(rounds))
                    if why is not None:
                        trial.set_user_attr(REST, cases[len(rounds) * len(pending) :])
                        return self._prune(trial, cases, why)
        except Refused as fault:
            if claim.slot == 0:
                raise
            # The program does not take these values together: no policy, and the sampler is told to keep away.
            trial.set_constraint("refused", 1.0)
            return self._prune(trial, [], f"refused: {fault}")
        finally:
            for pending in futures:
                for future in pending:
                    future.cancel()
        self._complete(trial, list(chain.from_iterable(rounds)))

    def _report(self, trial: Trial, cases: Sequence[list[float]], rounds: int) -> None:
        """Optuna takes intermediate values of studies with one objective only; the rounds hold them for all."""
        if len(self.problem.objectives) == 1:
            trial.report(means(self.problem, cases)[self.problem.objectives[0].metric], step=rounds - 1)

    def _hopeless(self, claim: Claim, cases: Sequence[list[float]]) -> str | None:
        """Why no further run is spent on this trial; None: go on."""
        problem = self.problem
        if claim.slot == 0:
            return None  # What everything is measured against is measured whole.
        for goal in problem.constraints:
            column = problem.metrics.index(goal.metric)
            total = sum(values[column] for values in cases)
            if goal.is_lost(total, problem.cases):
                return f"breaks {goal.text}"
        if not max(LEAST_CASES, problem.cases // 4) <= len(cases) < problem.cases:
            return None
        for other in claim.position.completed:
            if is_feasible(other) and is_worse(problem, cases, cases_of(other, len(problem.seeds))):
                return f"worse than trial {other.user_attrs['slot'] + 1}"
        return None

    def _constrain(self, trial: Trial, cases: Sequence[list[float]]) -> None:
        mean = means(self.problem, cases)
        for goal in self.problem.constraints:
            trial.set_constraint(goal.text, goal.violation(mean[goal.metric]))

    def _prune(self, trial: Trial, cases: Sequence[list[float]], why: str) -> None:
        if cases:
            self._constrain(trial, cases)
        trial.set_user_attr("stopped", why)
        self._tell(trial, None, TrialState.PRUNED)

    def _complete(self, trial: Trial, cases: Sequence[list[float]]) -> None:
        mean = means(self.problem, cases)
        self._constrain(trial, cases)
        self._tell(trial, [mean[goal.metric] for goal in self.problem.objectives], TrialState.COMPLETE)

    def _tell(self, trial: Trial, values: list[float] | None, state: TrialState) -> None:
        try:
            self.board.study.tell(trial, values, state)
        except ValueError as error:
            # Optuna says so of a trial that another worker has marked meanwhile.
            if "Cannot tell" not in str(error):
                raise
            raise UpdateFinishedTrialError(str(error)) from error


# --- What the search found --------------------------------------------------------------------------------------------


def costs(problem: Problem, trial: FrozenTrial) -> np.ndarray:
    """The objectives, turned so that less is better."""
    return np.array([goal.sign * value for goal, value in zip(problem.objectives, trial.values)])


def front(problem: Problem, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The feasible trials that no other beats on every objective; of equals the first."""
    able = [trial for trial in trials if is_feasible(trial)]
    kept: list[FrozenTrial] = []
    for trial in able:
        mine = costs(problem, trial)
        beaten = any((costs(problem, other) <= mine).all() and (costs(problem, other) < mine).any() for other in able)
        if not beaten and not any((costs(problem, other) == mine).all() for other in kept):
            kept.append(trial)
    return kept


def gain(problem: Problem, mine: np.ndarray, base: np.ndarray) -> float:
    """The relative gains of costs over others, summed over the objectives."""
    # A loss of no seconds is no measure of a gain: half a second more or less of nothing is not much.
    least = [1.0 if goal.metric == SECONDS_LOST else 1e-9 for goal in problem.objectives]
    return float(sum((b - a) / max(abs(b), floor) for a, b, floor in zip(mine, base, least)))


def choose(problem: Problem, trials: Sequence[FrozenTrial]) -> FrozenTrial:
    """The trial that goes to the verdict, by a rule that is fixed before the search.

    Of the front's trials that are on no objective worse than the starting policy (but for `SLACK`), the one with the
    largest sum of relative gains; the starting policy itself where there is none.
    """
    standard = next(trial for trial in trials if trial.user_attrs["slot"] == 0)
    base = costs(problem, standard)
    able = [trial for trial in front(problem, trials) if (costs(problem, trial) <= base + SLACK * abs(base)).all()]
    if not is_feasible(standard):
        # A starting point that breaks a constraint is no bound: whatever keeps it is an answer.
        able = front(problem, trials)
    if not able:
        return standard
    return max(able, key=lambda trial: (gain(problem, costs(problem, trial), base), -trial.user_attrs["slot"]))


def importance(problem: Problem, complete: Sequence[FrozenTrial]) -> dict[str, dict[str, float]]:
    """How much each parameter decides whether a trial is among the good ones (PED-ANOVA), for each objective."""
    trials = [trial for trial in complete if is_feasible(trial)]
    found: dict[str, dict[str, float]] = {}
    if len(trials) < FEWEST_TRIALS:
        return found
    for index, goal in enumerate(problem.objectives):
        # In a study of the completed trials alone: those that were stopped have no values.
        local = optuna.create_study(direction=goal.direction)
        for trial in trials:
            local.add_trial(
                optuna.create_trial(params=trial.params, distributions=trial.distributions, value=trial.values[index])
            )
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        try:
            found[goal.metric] = optuna.importance.get_param_importances(local, evaluator=evaluator)
        except (ValueError, RuntimeError, FloatingPointError):
            continue  # All trials are equal on this objective: nothing decides it.
    return found
