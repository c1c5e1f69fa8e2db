"""The result directory: policy file, tables, pictures and the report."""

from __future__ import annotations

import csv
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from optuna.trial import FrozenTrial, TrialState

from plimsoll_tools.command_line import as_called
from plimsoll_tools.plotting import style
from plimsoll_tools.tuning import charts
from plimsoll_tools.tuning.ablation import Ablation
from plimsoll_tools.tuning.board import Position
from plimsoll_tools.tuning.problem import Problem
from plimsoll_tools.tuning.search import FEWEST_TRIALS, cases_of, front, gain, importance, is_feasible, means
from plimsoll_tools.tuning.verdict import Pair, Verdict, question, training_of
from plimsoll_tools.whole_file import write_text, writing

POLICY = "policy.yaml"


@dataclass(frozen=True)
class Study:
    name: str
    builds: list[str]
    """Of the program, that made the runs."""


@dataclass(frozen=True)
class Result:
    """What the search chose, and what was run about it."""

    chosen: FrozenTrial
    ablation: Ablation
    pairs: list[Pair]

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of the policy that goes to the user."""
        return self.ablation.values(self.chosen)


# --- Tables -----------------------------------------------------------------------------------------------------------


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with writing(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)


def plain(value: float) -> str | None:
    """Six digits at most; None for what there is not."""
    if math.isnan(value):
        return None
    return f"{value:.6f}".rstrip("0").rstrip(".") if value else "0"


def write_trials(problem: Problem, position: Position, folder: Path) -> None:
    """`trials.csv`: one row per slot; `front.csv`: the Pareto front, in the same columns."""
    owners = position.owners
    trials = [owners[slot] for slot in sorted(owners) if owners[slot].state in (TrialState.COMPLETE, TrialState.PRUNED)]
    names = [one.name for one in problem.space]
    header = ["trial", "state", "cases", "feasible", "stopped", *problem.metrics, *names]

    def row(trial: FrozenTrial) -> list[Any]:
        cases = cases_of(trial, len(problem.seeds))
        mean = means(problem, cases) if cases else {}
        return [
            trial.user_attrs["slot"] + 1,
            trial.state.name.lower(),
            len(cases),
            str(is_feasible(trial)).lower(),
            trial.user_attrs.get("stopped"),
            *(plain(mean[metric]) if metric in mean else None for metric in problem.metrics),
            *(one.text(trial.params[one.name]) if one.name in trial.params else None for one in problem.space),
        ]

    write_table(folder / "trials.csv", header, map(row, trials))
    write_table(folder / "front.csv", header, map(row, front(problem, position.completed)))


def write_verdict(problem: Problem, pairs: Sequence[Pair], parts: Sequence[Verdict], folder: Path) -> None:
    """`verdict.csv`: one row per scenario and metric; `held-out.csv`: one row per run, as summary.csv."""
    known = {scenario.name for scenario in problem.scenarios} | {"all training scenarios"}
    numbers = {"default_mean": "standard", "tuned_mean": "tuned"} | {
        name: name for name in ("difference", "low", "high", "confidence")
    }
    write_table(
        folder / "verdict.csv",
        ["scenario", "held_out", "metric", *numbers, "pairs", "identical_under_every_seed"],
        (
            [part["place"], str(part["place"] not in known).lower(), one["metric"],
             *(plain(one.get(name, math.nan)) for name in numbers.values()), one["pairs"],
             str(one["is_one_case_each"]).lower()]
            for part in parts
            for one in part["rows"]
        ),
    )  # fmt: skip
    columns = list(pairs[0].standard) if pairs else []
    runs = [run for pair in pairs for run in (("default", pair.standard), ("tuned", pair.tuned))]
    write_table(folder / "held-out.csv", ["variant", *columns], ([name, *map(row.get, columns)] for name, row in runs))


PLAIN = re.compile(
    r"(?!(?i:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][A-Za-z0-9_-]*"
    r"|[0-9]+(?:\.[0-9]+)?(?:%|B|[KMG]i?B|us|ms|s|min|h|d)"
)
"""Words, and amounts with a unit: all readers of YAML take them for texts."""


class PlainDumper(yaml.SafeDumper):
    """Quotes every text that some version of YAML takes for a number, a date or a truth: readers differ in which."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if PLAIN.fullmatch(text) else '"')


PlainDumper.add_representer(str, _quoted)


def write_ablation(problem: Problem, result: Result, folder: Path) -> None:
    """`ablation.csv`: a row per parameter that the search changed, and objective: what its default in its place gives."""
    chosen = means(problem, cases_of(result.chosen, len(problem.seeds)))
    changed = [*result.ablation.kept, *result.ablation.idle]
    write_table(
        folder / "ablation.csv",
        ["parameter", "default", "tuned", "kept", "objective", "tuned_mean", "mean_without"],
        (
            [one.name, one.standard_text, one.text(result.chosen.params[one.name]), str(one.name in result.ablation.kept).lower(),
             goal.metric, plain(chosen[goal.metric]), plain(result.ablation.without.get(one.name, {}).get(goal.metric, math.nan))]
            for one in problem.space if one.name in changed for goal in problem.objectives
        ),
    )  # fmt: skip


def carried(problem: Problem, result: Result) -> list[str]:
    """The report's part on what carries the gain; the parameter without which most is lost comes first."""
    ablation, chosen = result.ablation, result.chosen
    lines: list[str] = []
    if ablation.idle:
        names = ", ".join(ablation.idle)
        lines += [f"What changes no figure of any run of the search has its default again: {names}.", ""]
    if not ablation.kept:
        return lines
    with_it = means(problem, cases_of(chosen, len(problem.seeds)))

    def signed(found: dict[str, float]) -> np.ndarray:
        return np.array([goal.sign * found[goal.metric] for goal in problem.objectives])

    def loss(name: str) -> float:
        without = ablation.without.get(name)
        return math.inf if without is None else gain(problem, signed(with_it), signed(without))

    def cells(name: str) -> list[str]:
        without = ablation.without.get(name)
        if without is None:
            return ["no such policy"] * len(problem.objectives)
        return [f"{without[goal.metric]:.4g}" for goal in problem.objectives]

    lines += ["## What carries the gain", "", "In the search's own runs, with one parameter at a time as it was before:", ""]
    lines += table(
        ["without", *(goal.metric for goal in problem.objectives)],
        [
            ["(the tuned policy)", *(f"{with_it[goal.metric]:.4g}" for goal in problem.objectives)],
            *([name, *cells(name)] for name in sorted(ablation.kept, key=loss, reverse=True)),
        ],
    )
    return [*lines, ""]


def policy_text(problem: Problem, values: dict[str, Any], verdicts: Sequence[Verdict]) -> str:
    """The policy file, with the verdict as its description."""
    policy = problem.with_parameters(values)
    label = f"{problem.name}-tuned"
    tree = {"plimsoll": 1, "description": "\n".join(one["sentence"] for one in verdicts), **policy, "label": label}
    tree = {key: tree[key] for key in ("plimsoll", "description", "name", "label") if key in tree} | tree
    count = len(problem.space)
    head = f"# Made by plimsoll tune: {problem.name} with {count} parameters searched; see report.md beside it.\n"
    return head + yaml.dump(tree, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=110)


# --- The report -------------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(header) + " |",
        "|" + "---|" * len(header),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def nothing_decides(position: Position) -> str:
    """Why no parameter is said to decide an objective."""
    able = sum(map(is_feasible, position.completed))
    if able < FEWEST_TRIALS:
        return f"{able} complete trials kept every constraint, and it takes {FEWEST_TRIALS} to tell what decides"
    return "all trials are equal on each objective"


def report(
    problem: Problem, position: Position, result: Result, verdicts: Sequence[Verdict], parts: Sequence[Verdict],
    shares: dict[str, dict[str, float]], command: Sequence[str],
) -> str:  # fmt: skip
    owners, chosen = list(position.owners.values()), result.chosen
    values = result.values
    complete = sum(trial.state == TrialState.COMPLETE for trial in owners)
    stopped = sum(trial.state == TrialState.PRUNED for trial in owners)
    lines = [f"# {problem.name}, tuned", ""]
    lines += [f"**{one['sentence']}**\n" for one in verdicts]
    lines += [
        f"The search: {complete + stopped} trials, {complete} complete, {stopped} stopped early; "
        f"{len(problem.scenarios)} scenarios, seeds {span(problem.seeds)}, {problem.backend} backend. "
        f"The verdict: seeds {span(problem.held_out_seeds)}, {problem.verdict_backend} backend"
        f"{', the first seed on real memory as well, with the same figures' if problem.is_spot_checked else ''}; "
        "paired differences; the objectives' intervals hold together with 95 %.",
        "",
        "    " + " ".join(map(shlex.quote, [*as_called("tune").split(), *command])),
        "",
    ]
    if chosen.user_attrs["slot"] == 0:
        lines += ["Nothing on the front was as good as the default on every objective: the policy is the default.", ""]
    kept = not problem.constraints or any(is_feasible(trial) for trial in position.completed)
    if not kept:
        lines += [f"No trial kept {' and '.join(goal.text for goal in problem.constraints)} in the search, nor did the default.", ""]
    lines += ["## The policy", ""]
    lines += table(
        ["parameter", "default", "tuned", "searched", "meaning"],
        [
            [
                one.name,
                one.standard_text,
                one.text(values[one.name]) if one.name in values else one.standard_text,
                one.range_text,
                one.meaning,
            ]
            for one in problem.space
        ],
    )
    lines += ["", *carried(problem, result)]
    lines += [f"`{POLICY}` is for `plimsoll run SCENARIO --policy {POLICY}`.", "", "## The verdict", ""]
    lines += ["![Differences by scenario](verdict.png)", ""]
    for one in verdicts:
        lines += [
            f"### On {one['place']}: {one['word']}",
            "",
            "The first rows are the objectives; the others show what else changed, each with an interval of its own.",
            "",
        ]
        lines += table(
            ["metric, mean per run", "default", "tuned", "difference", "interval", "clear"],
            [[row["metric"], *row["cells"]] for row in one["rows"]],
        )
        lines += [""]
    lines += ["### By scenario", ""]
    goals = [goal.metric for goal in problem.objectives]
    lines += table(
        ["scenario", *goals],
        [
            [part["place"], *("{0} to {1} {3}".format(*row["cells"]) for row in part["rows"] if row["metric"] in goals)]
            for part in parts
        ],
    )
    lines += ["", "## The search", "", "![The front](front.png)", ""]
    lines += ["![Importance](importance.png)", ""] if shares else [f"`importance.csv` is empty: {nothing_decides(position)}.", ""]
    lines += [
        "`front.csv` holds the front's parameters: another trade than ours may suit you better; "
        "`trials.csv` holds every trial, and why it was stopped.",
        "",
    ]
    if position.given_up:
        lines += [f"{len(position.given_up)} trials were given up, for their workers died again and again.", ""]
    return "\n".join(lines)


def span(seeds: Sequence[int]) -> str:
    is_run = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if is_run and len(seeds) > 1 else ", ".join(map(str, seeds))


def write(
    problem: Problem, study: Study, position: Position, result: Result, folder: Path,
    command: Sequence[str], judge: Callable[[dict[str, Any]], list[Verdict]],
) -> list[Verdict]:  # fmt: skip
    """Everything but the study itself. The same study gives the same files."""
    style.prepare()
    complete, chosen, pairs = position.completed, result.chosen, result.pairs
    training = training_of(problem, next(one for one in complete if one.user_attrs["slot"] == 0), chosen)
    judged = judge(question(problem, pairs, training))
    last = 2 if problem.held_out else 1
    parts, verdicts = judged[:-last], judged[-last:]
    shares = importance(problem, complete)
    write_trials(problem, position, folder)
    write_verdict(problem, pairs, parts, folder)
    write_ablation(problem, result, folder)
    names = [one.name for one in problem.space]
    write_table(
        folder / "importance.csv", ["objective", "parameter", "share"],
        ([metric, name, plain(by[name])] for metric, by in shares.items() for name in by if name in names),
    )  # fmt: skip
    write_text(folder / POLICY, policy_text(problem, result.values, verdicts))
    charts.draw_front(problem, complete, chosen, folder)
    charts.draw_importance(problem, shares, folder)
    charts.draw_verdict(problem, parts, folder)
    text = report(problem, position, result, verdicts, parts, shares, command)
    if len(study.builds) > 1:
        text += f"\nThe runs were made by {len(study.builds)} builds of plimsoll {problem.version} (`tuning.json` "
        text += "names them): if results differ between them, the figures here mix them.\n"
    write_text(folder / "report.md", text)
    facts = {
        "study": study.name,
        "builds": study.builds,
        "problem": problem.record(),
        "command": list(command),
        "chosen_trial": chosen.user_attrs["slot"] + 1,
        "changes_nothing": result.ablation.idle,
        # Of the processes that took part, not of the search: so no table has it.
        "retried_trials": sorted(slot + 1 for slot, trial in position.owners.items() if "retry_of" in trial.user_attrs),
        "verdicts": {one["place"]: one["word"] for one in verdicts},
    }
    write_text(folder / "tuning.json", json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    return verdicts
