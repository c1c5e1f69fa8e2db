"""The verdict: the tuned policy against the one the search began with, on what the search never saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from plimsoll_tools.tuning.board import Board
from plimsoll_tools.tuning.part import Part
from plimsoll_tools.tuning.problem import Objective, Problem, Scenario, value_of
from plimsoll_tools.tuning.program import Interrupted, Job, Summary, gather, rest
from plimsoll_tools.tuning.search import rounds_of

MISTAKE = 0.05
"""The chance, over all objectives together, that an interval misses; shared out among them (Bonferroni)."""

SIDE_EFFECTS = (
    "terminations",
    "terminations_perceived",
    "terminations_foreground",
    "launch_latency_p50_ms",
    "launch_latency_p95_ms",
    "launch_latency_max_ms",
    "launches_hot",
    "launches_warm",
    "launches_cold",
    "launches_unfinished",
    "warnings",
    "scenes_disconnected",
    "stall_time_s",
    "bytes_reclaimed",
    "time_critical_s",
)
"""What else is shown beside the objectives: a gain that is paid for elsewhere must be seen."""

LAUNCHES = ("launches_hot", "launches_warm", "launches_cold", "launches_unfinished")
"""How often the user launched anything: another user seldom does so as often."""

FEWEST_CASES = 5
"""Fewer scenarios whose difference no seed changes give no interval: each of them is one case."""

NOTHING = "nothing was held out"


@dataclass(frozen=True)
class Pair:
    """One scenario and seed under both policies."""

    scenario: str
    seed: int
    standard: Summary
    tuned: Summary


@dataclass(frozen=True)
class Difference:
    """Tuned minus standard, the mean over scenarios of the mean over seeds, with its interval."""

    metric: str
    standard: float
    tuned: float
    mean: float
    low: float
    high: float
    runs: int
    confidence: float
    is_constant: bool = False
    """Every seed gave the same difference: the interval has no width, which is no certainty about other users."""
    cases: int = 0
    """Above zero: no seed changes the difference, and there are this many cases, one per scenario. `low` and `high` are
    NaN where so few cases give no interval."""
    is_seen: bool = True
    """The search was on these scenarios: of a case nothing was held out."""
    left_out: tuple[str, ...] = ()
    """Scenarios of the search whose difference no seed changes: of them nothing was held out, and they do not count."""

    @property
    def is_clear(self) -> bool:
        return self.low > 0 or self.high < 0


def cells(problem: Problem) -> list[tuple[Scenario, int]]:
    """What is run for the verdict, seed by seed."""
    scenarios = [*problem.scenarios, *problem.held_out]
    return [(scenario, seed) for seed in problem.held_out_seeds for scenario in scenarios]


class Confirmation(Part):
    """One worker's part in the held-out runs; they are slots of a study of their own, shared as the search is."""

    def work(self, chosen: dict[str, Any], at_once: int) -> None:
        """Until every held-out run is made, by us or by others."""
        while True:
            self.check()
            try:
                while len(self.claims) < at_once and (claim := self.board.claim(self.check)) is not None:
                    self.claims.append(claim)
                if not self.claims:
                    if self.board.read().is_done:
                        return
                    self.show(self.board, "waiting for held-out runs of other workers")
                    rest(1.0, self.check)
                    continue
                self._finish(chosen)
            except (Interrupted, Exception):
                self.release()
                raise

    def _finish(self, chosen: dict[str, Any]) -> None:
        """Runs all claims at once, and tells them in order."""
        problem, all_cells = self.problem, cells(self.problem)
        policies = [problem.settings({}), problem.settings(chosen)]
        futures = []
        for claim in self.claims:
            scenario, seed = all_cells[claim.slot]
            jobs = [Job(scenario.path, seed, policy, problem.confirm_backend) for policy in policies]
            futures.append([self.program.submit(job) for job in jobs])
        for pending in futures:
            standard, tuned = gather(pending, self.tick)
            claim = self.claims[0]
            self.sign()
            try:
                for name, row in (("standard", standard), ("tuned", tuned)):
                    self.board.storage.set_trial_user_attr(claim.trial_id, name, row)
                self.board.storage.set_trial_state_values(claim.trial_id, TrialState.COMPLETE, [0.0])
            except UpdateFinishedTrialError:
                pass  # Taken for dead; another worker makes these runs, with the same result.
            self.claims.pop(0)
            self.show(self.board, "held-out runs")


def pairs_of(problem: Problem, board: Board) -> list[Pair]:
    owners, all_cells = board.read().owners, cells(problem)
    found = []
    for slot, (scenario, seed) in enumerate(all_cells):
        trial = owners.get(slot)
        if trial is not None and trial.state == TrialState.COMPLETE:
            found.append(Pair(scenario.name, seed, trial.user_attrs["standard"], trial.user_attrs["tuned"]))
    return found


# --- Statistics -------------------------------------------------------------------------------------------------------


Ask = Callable[[Sequence[Sequence[float]], float, str], tuple[float, float]]
"""Asks the program for the interval of a mean of means: the strata, the confidence, and the name of the stream of chance."""


def changes(metric: str, within: Sequence[Pair], direction: str) -> np.ndarray:
    """Tuned minus standard, pair by pair; what differs in its last bits alone is the same."""
    standard, tuned = (
        np.array([value_of(metric, row, direction) for row in rows])
        for rows in ([pair.standard for pair in within], [pair.tuned for pair in within])
    )
    differences: np.ndarray = np.round(tuned - standard, 9)
    return differences


def is_case(metric: str, within: Sequence[Pair], direction: str) -> bool:
    """Whether the pairs of one scenario are one case: user and difference are the same under every seed."""
    users = {sum(float(pair.standard.get(name) or 0) for name in LAUNCHES) for pair in within}
    return len(within) > 1 and len(users) == 1 and len(set(changes(metric, within, direction))) == 1


def varied_in_training(problem: Problem, standard: FrozenTrial, chosen: FrozenTrial) -> set[tuple[str, str]]:
    """The scenarios and metrics for which the search itself saw that seeds change the difference."""
    count = len(problem.seeds)
    rounds = list(zip(rounds_of(standard, count), rounds_of(chosen, count)))
    if not rounds:
        return set()
    # By seed, scenario and metric.
    table = np.round([np.subtract(tuned, base) for base, tuned in rounds], 9)
    return {
        (scenario.name, metric)
        for row, scenario in enumerate(problem.scenarios)
        for column, metric in enumerate(problem.metrics)
        if len(set(table[:, row, column])) > 1
    }


def difference(
    metric: str,
    pairs: Sequence[Pair],
    seed: int,
    confidence: float,
    ask: Ask,
    direction: str = "minimize",
    seen: Collection[str] | None = None,
    varied: Collection[tuple[str, str]] = (),
) -> Difference:
    """Bootstrap over seeds within each scenario: the scenarios are those we have, the seeds are a sample of many.

    A scenario whose difference is identical under every seed, for the same user, is one case, not as many as there are
    seeds. Where the search was on it (`seen`; without it, on all), it saw that very case, and the case does not count.
    Where it was not, the case counts, without a spread. `varied` names the scenarios and metrics whose differences
    varied between training seeds.
    """
    by_name: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_name.setdefault(pair.scenario, []).append(pair)
    cases = [
        name for name, within in by_name.items() if (name, metric) not in varied and is_case(metric, within, direction)
    ]
    familiar = [name for name in cases if seen is None or name in seen]
    left_out = tuple(familiar) if len(familiar) < len(by_name) else ()
    names = [name for name in by_name if name not in left_out]
    base, mine, strata = [], [], []
    is_constant = bool(names)
    for name in names:
        within = by_name[name]
        base.append(np.mean([value_of(metric, pair.standard, direction) for pair in within]))
        mine.append(np.mean([value_of(metric, pair.tuned, direction) for pair in within]))
        gaps = changes(metric, within, direction)
        is_constant = is_constant and len(gaps) > 1 and len(set(gaps)) == 1
        # A case is one value: it counts, and adds no certainty.
        strata.append(gaps[:1] if name in cases else gaps)
    mean = float(np.mean(mine) - np.mean(base))
    count = len(names) if all(name in cases for name in names) else 0
    if count and (familiar or count < FEWEST_CASES):
        low = high = math.nan
    else:
        if count:
            strata, is_constant = [np.subtract(mine, base)], False
        low, high = ask([list(map(float, values)) for values in strata], confidence, f"{seed}")
    runs = sum(len(by_name[name]) for name in names)
    return Difference(
        metric, float(np.mean(base)), float(np.mean(mine)), mean, float(low), float(high), runs, confidence,
        is_constant, count, bool(familiar), left_out,
    )  # fmt: skip


def differences(
    problem: Problem, pairs: Sequence[Pair], ask: Ask, varied: Collection[tuple[str, str]] = ()
) -> list[Difference]:
    """The objectives, their intervals right together in 95 of 100 verdicts; then the side effects, one by one."""
    confidence = 1 - MISTAKE / len(problem.objectives)
    seen = {scenario.name for scenario in problem.scenarios}
    found = [
        difference(goal.metric, pairs, problem.seed, confidence, ask, goal.direction, seen, varied)
        for goal in problem.objectives
    ]
    known = {goal.metric for goal in problem.objectives}
    present = set(pairs[0].standard) if pairs else set()
    extra = [metric for metric in SIDE_EFFECTS if metric not in known and metric in present]
    return found + [
        difference(metric, pairs, problem.seed, 1 - MISTAKE, ask, seen=seen, varied=varied) for metric in extra
    ]


def breaches(problem: Problem, pairs: Sequence[Pair]) -> list[str]:
    """The constraints that the tuned policy breaks on what it never saw."""
    found = []
    for goal in problem.constraints:
        mean = float(np.mean([value_of(goal.metric, pair.tuned) for pair in pairs]))
        if goal.violation(mean) > 0:
            found.append(f"{goal.text}: {figure(mean)}")
    return found


def judgement(problem: Problem, found: Sequence[Difference], broken: Sequence[str]) -> str:
    """`better`, `worse`, `a trade`, `not shown to be better`, `nothing was held out`, or `not admissible`."""
    if broken:
        return "not admissible"
    signs = {goal.metric: goal.sign for goal in problem.objectives}
    goals = [one for one in found if one.metric in signs]
    if goals and all(one.cases and one.is_seen for one in goals):
        return NOTHING
    better = [one for one in goals if one.is_clear and one.mean * signs[one.metric] < 0]
    worse = [one for one in goals if one.is_clear and one.mean * signs[one.metric] > 0]
    # A gain in cases too few for an interval shows nothing; a loss there is a loss all the same.
    lost = [one for one in goals if math.isnan(one.low) and one.mean * signs[one.metric] > 0]
    if better and (worse or lost):
        return "a trade"
    return "better" if better else "worse" if worse else "not shown to be better"


def figure(value: float) -> str:
    """Three figures, and no exponent where a person reads."""
    if value == 0 or not math.isfinite(value):
        return f"{abs(value):g}"
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if abs(value) < 1000 else f"{value:,.0f}"


def clause(goal: Objective, one: Difference) -> str:
    """`terminations_perceived 9.1 -> 5.2: better by 3.9 [3.4, 4.4]`; without an interval where seeds change nothing."""
    gain = -one.mean * goal.sign
    left_out = f", without {', '.join(one.left_out)}: identical under every seed" if one.left_out else ""
    head = f"{goal.metric} {figure(one.standard)} -> {figure(one.tuned)}: "
    word = "no difference" if not gain else f"better by {figure(gain)}" if gain > 0 else f"WORSE by {figure(-gain)}"
    if math.isnan(one.low):
        cases = "1 case" if one.cases == 1 else f"{one.cases} cases"
        why = NOTHING if one.is_seen else f"{cases}, and no interval"
        return f"{head}{word}, identical under every seed: {why}"
    if one.is_constant:
        return f"{head}{word}{', the same amount under every seed' if gain else ' under any seed'}{left_out}"
    low, high = sorted((-one.low * goal.sign, -one.high * goal.sign))
    word = "no difference shown, gain" if not one.is_clear else "better by" if gain > 0 else "WORSE, gain"
    return f"{head}{word} {figure(gain)} [{figure(low)}, {figure(high)}]{left_out}"


def sentence(problem: Problem, where: str, found: Sequence[Difference], broken: Sequence[str]) -> str:
    """The verdict, in one sentence."""
    verdict = judgement(problem, found, broken)
    by_metric = {one.metric: one for one in found}
    clauses = "; ".join(clause(goal, by_metric[goal.metric]) for goal in problem.objectives)
    words = {
        "better": "better than the default",
        "worse": "worse than the default",
        "a trade": "neither better nor worse than the default, but a trade",
        "not shown to be better": "not shown to be better than the default",
        NOTHING: f"identical under every seed: {NOTHING}",
        "not admissible": f"not admissible, for it breaks {', '.join(broken)}",
    }[verdict]
    return f"On {where}: {words}. {clauses}."
