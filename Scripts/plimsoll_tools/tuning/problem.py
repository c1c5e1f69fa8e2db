"""What is asked: scenarios, the policy and its space, goals, seeds for the search, and what the search never sees."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from plimsoll_tools.plotting.metrics import Metric
from plimsoll_tools.quantities import quantity
from plimsoll_tools.tuning.program import SECONDS_LOST, Fault, Program, Summary
from plimsoll_tools.tuning.space import TABLE, Dimension, dimension, narrowed

GOAL = re.compile(r"^([a-z][a-z0-9_]*)\s*(<=|>=|==)\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)$")


OPTIONS = {
    "program": "another version of plimsoll",
    "policy": "--policy",
    "space": "--parameter, --range or what they are bounded by",
    "scenarios": "the scenarios to train on",
    "seeds": "--seeds",
    "objectives": "--minimize or --maximize",
    "constraints": "--constraint",
    "seed": "--seed",
    "backend": "--backend",
    "held out scenarios": "--held-out",
    "held out seeds": "--held-out-seeds",
    "prices": "--end-price or --lost-launch-price",
}
"""What the user changed, by the key of a problem's identity."""


class TextLoader(yaml.SafeLoader):
    """Every scalar as it is written, as the program reads it: to YAML 1.1 `010` is eight, and `1:30` is ninety."""

    yaml_implicit_resolvers = {  # noqa: RUF012  Of the class, as yaml.SafeLoader has it.
        first: [(tag, pattern) for tag, pattern in found if tag == "tag:yaml.org,2002:null"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def tree_of(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), TextLoader)


Direction = Literal["minimize", "maximize"]


@dataclass(frozen=True)
class Objective:
    """A metric of summary.csv, and which end is better."""

    metric: str
    direction: Direction

    @property
    def sign(self) -> float:
        return 1.0 if self.direction == "minimize" else -1.0


@dataclass(frozen=True)
class Constraint:
    """What the mean over the runs of a trial must hold."""

    metric: str
    sign: str
    bound: float

    @property
    def text(self) -> str:
        return f"{self.metric} {self.sign} {self.bound:g}"

    def violation(self, mean: float) -> float:
        """How far the mean is beyond the bound; 0 or less: it holds."""
        if self.sign == "==":
            return abs(mean - self.bound)
        return mean - self.bound if self.sign == "<=" else self.bound - mean

    def is_lost(self, total: float, runs: int) -> bool:
        """Whether no further run can mend it: most metrics are never negative, so a sum only grows."""
        return self.metric != SECONDS_LOST and self.sign != ">=" and total / runs > self.bound


@dataclass(frozen=True)
class Scenario:
    path: Path
    digest: str
    """Of its text: the same command on another machine must mean the same scenario."""

    @property
    def name(self) -> str:
        return self.path.stem


@dataclass(frozen=True)
class Problem:
    scenarios: tuple[Scenario, ...]
    held_out: tuple[Scenario, ...]
    policy: dict[str, Any]
    """A policy as a scenario's `policy:` holds it: where the search starts, and what it is measured against."""
    space: tuple[Dimension, ...]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    seeds: tuple[int, ...]
    held_out_seeds: tuple[int, ...]
    seed: int
    backend: str
    confirm_backend: str
    """`accounting`, `jemalloc` or `spot-check`."""
    version: str
    known: tuple[Metric, ...]
    """The columns of summary.csv."""
    prices: str = ""
    """What counts in `seconds_lost` for an end in front and for a lost launch: `END,LAUNCH`; what is left out is the
    program's own."""

    @property
    def name(self) -> str:
        return str(self.policy["name"])

    @property
    def cases(self) -> int:
        """The runs of a whole trial: each scenario under each seed."""
        return len(self.scenarios) * len(self.seeds)

    @property
    def prices_of_runs(self) -> str | None:
        """Of each run, if `unbounded` is run as well, once per scenario and seed; None: nobody asks what is lost."""
        return self.prices if SECONDS_LOST in self.metrics else None

    @property
    def is_spot_checked(self) -> bool:
        """Whether the verdict's first seed is run on real memory, too."""
        return self.confirm_backend == "spot-check"

    @property
    def verdict_backend(self) -> str:
        """On which the verdict's figures are made."""
        return "accounting" if self.is_spot_checked else self.confirm_backend

    @property
    def metrics(self) -> tuple[str, ...]:
        """What a trial keeps of each run."""
        objectives, constraints = ([one.metric for one in some] for some in (self.objectives, self.constraints))
        return tuple(dict.fromkeys(objectives + constraints))

    def with_parameters(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """The policy with the chosen values in place of its own."""
        texts = {one.name: one.text(chosen[one.name]) for one in self.space if one.name in chosen}
        own = dict(self.policy.get("parameters") or {})
        for name, text in texts.items():
            value = text == "true" if text in ("true", "false") else number(text)
            own[name] = {**own[name], "value": value} if "rules" in self.policy else value
        return {**self.policy, "parameters": own} if own else dict(self.policy)

    def settings(self, chosen: dict[str, Any]) -> str:
        """As `--set policy=` takes it. JSON is YAML."""
        return json.dumps(self.with_parameters(chosen), sort_keys=True)

    @property
    def standard(self) -> dict[str, Any]:
        """The starting policy's own values as the study holds them."""
        return {one.name: one.clamped(one.standard) for one in self.space}

    def record(self) -> dict[str, Any]:
        """All that decides the results. Names and digests, no paths."""
        return {**self.identity(), "confirmation backend": self.confirm_backend}

    def identity(self) -> dict[str, Any]:
        """What the search is about: a worker joins a study of the same identity only. The verdict may be made again."""
        return {
            "program": self.version,
            "policy": self.policy,
            "space": [[one.name, one.range_text] for one in self.space],
            "scenarios": {one.name: one.digest for one in self.scenarios},
            "seeds": list(self.seeds),
            "objectives": [[goal.metric, goal.direction] for goal in self.objectives],
            "constraints": [goal.text for goal in self.constraints],
            "seed": self.seed,
            "backend": self.backend,
            "held out scenarios": {one.name: one.digest for one in self.held_out},
            "held out seeds": list(self.held_out_seeds),
            # A study of an earlier version has none.
            **({"prices": self.prices} if self.prices else {}),
        }

    def differing(self, about: dict[str, Any]) -> list[str]:
        """In what a study is about something else."""
        mine = self.identity()
        return [key for key in OPTIONS if about.get(key) != mine.get(key)]

    @property
    def title(self) -> str:
        """The study's name: the same command gives the same name, on any machine."""
        digest = hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()
        return f"{self.name}-{digest[:12]}"


def number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def value_of(metric: str, summary: Summary, direction: str = "minimize") -> float:
    """The metric of one run. A latency that is empty, because no launch ended, counts as the whole run; else 0."""
    text = summary.get(metric) or ""
    if text:
        return float(text)
    if metric.endswith("_ms") and direction == "minimize":
        return float(summary.get("duration_s") or 0) * 1000
    return 0.0


# --- Reading what the user gave ---------------------------------------------------------------------------------------


def seeds_of(text: str, option: str) -> tuple[int, ...]:
    """`1..8`, `3`, `1,2,5..9`."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,19})\s*(?:\.\.\s*([0-9]{1,19})\s*)?", part)
        if match is None:
            raise Fault(64, f"{option} {text}: expected seeds such as 1..8 or 1,2,5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= 100_000:
            raise Fault(64, f"{option} {text}: {part.strip()} is no range of seeds")
        found += range(first, last + 1)
    if len(set(found)) != len(found):
        raise Fault(64, f"{option} {text}: a seed is there twice")
    return tuple(found)


def scenarios_of(paths: Sequence[Path], folder: str) -> tuple[Scenario, ...]:
    """The scenario files, and those in the folders, by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            within = sorted([*path.glob("*.yaml"), *path.glob("*.yml")])
            if not within:
                raise Fault(66, f"no scenario (*.yaml) in the folder {path}")
            files += within
        elif path.is_file():
            files.append(path)
        else:
            raise Fault(66, f"no scenario '{path}'")
    files = list(dict.fromkeys(files))
    names = [file.stem for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Fault(64, f"two scenarios {folder} are called {twice}: results could not tell them apart")
    return tuple(Scenario(file, hashlib.sha256(file.read_bytes()).hexdigest()[:16]) for file in files)


def bounds_of(scenarios: Sequence[Scenario]) -> dict[str, float]:
    """What a time or a size of a policy can mean at most: the longest scenario, the largest ceiling.

    The program has accepted the scenarios; a fact that one of them does not state bounds nothing.
    """
    most: dict[str, float] = {}
    for kind, keys in (("time", ("duration",)), ("bytes", ("device", "ceiling"))):
        try:
            most[kind] = max(quantity(str(stated(scenario, keys)), kind) for scenario in scenarios)
        except (KeyError, TypeError, ValueError, yaml.YAMLError):
            continue
    return most


def stated(scenario: Scenario, keys: Sequence[str]) -> Any:
    """The value at the keys of a scenario file."""
    found = tree_of(scenario.path)
    for key in keys:
        found = found[key]
    return found


def check_program(program: Program, scenarios: Sequence[Scenario], policy: str) -> None:
    """Every scenario is valid with the policy, before a single run is made: the program's own words otherwise."""
    program.ask("validate", *(str(one.path) for one in scenarios), "--policy", policy)


def check_policy(text: str, tables: dict[str, Any]) -> None:
    """A name that the program knows, or a file that is there."""
    if text in tables:
        return
    if not ("/" in text or text.endswith((".yaml", ".yml"))):
        raise Fault(65, f"unknown policy '{text}'; one of: {', '.join(tables)}")
    if not Path(text).is_file():
        raise Fault(66, f"no policy file '{text}'")


def policy_of(text: str, tables: dict[str, Any]) -> dict[str, Any]:
    """The policy by name, or from a file as `plimsoll run --policy` takes it: the program has found it valid."""
    if text in tables:
        return {"name": text}
    try:
        tree = tree_of(Path(text))
    except OSError as error:
        raise Fault(66, f"no policy file '{text}': {error.strerror}") from error
    except yaml.YAMLError as error:
        raise Fault(65, f"{text}: not YAML: {str(error).splitlines()[0]}") from error
    except UnicodeDecodeError as error:
        raise Fault(65, f"{text}: this is not UTF-8; a policy file is UTF-8 text") from error
    if not isinstance(tree, dict):
        raise Fault(65, f"{text}: expected a policy: a mapping")
    name, parameters = tree.get("name", "ladder"), tree.get("parameters")
    if not isinstance(name, str) or name not in tables:
        raise Fault(65, f"{text}: expected a policy with a name; one of: {', '.join(tables)}")
    if not isinstance(parameters, dict | None):
        raise Fault(65, f"{text}: parameters: expected a mapping, not '{parameters}'")
    if "rules" in tree:
        if not parameters:
            raise Fault(65, f"{text}: its rules have no parameters to search; `parameters` declares them")
        return {"name": name, "parameters": parameters, "rules": tree["rules"]}
    return {"name": name} | ({"parameters": parameters} if parameters else {})


def space_of(
    policy: dict[str, Any],
    table: list[dict[str, Any]],
    only: Sequence[str],
    ranges: Sequence[str],
    most: dict[str, float],
) -> tuple[Dimension, ...]:
    """One dimension per parameter that is searched."""
    # The table of a file with rules has the file's values.
    given = {} if "rules" in policy else policy.get("parameters") or {}
    names = [str(entry["parameter"]) for entry in table]
    wanted = dict(text.partition("=")[::2] for text in ranges)
    for name in (*only, *wanted):
        if name not in names:
            raise Fault(64, f"policy {policy['name']} has no parameter '{name}'; one of: {', '.join(names)}")
    space = []
    for entry in table:
        name = str(entry["parameter"])
        if only and name not in only:
            continue
        row = dict(entry)
        if name in given:
            row["default"] = given[name]
            if given[name] != TABLE and entry["type"] in ("time", "bytes", "ratio", "count"):
                try:
                    row["default_value"] = quantity(str(given[name]), str(entry["type"]))
                except ValueError as error:
                    raise Fault(65, f"parameters: {name}: '{given[name]}' is no {entry['type']}") from error
        found = dimension(row, most, is_declared="rules" in policy)
        if found is not None and name in wanted:
            found = narrowed(found, wanted[name], entry)
        if found is not None:
            space.append(found)
    if not space:
        raise Fault(65, f"policy {policy['name']} has no parameter that could be searched")
    return tuple(space)


def prices_of(end: str | None, launch: str | None, metrics: Sequence[str]) -> str:
    """As `Problem.prices`. The metrics are those of objectives and constraints."""
    for option, text in (("--end-price", end), ("--lost-launch-price", launch)):
        if text is None:
            continue
        if SECONDS_LOST not in metrics:
            raise Fault(64, f"{option} is a part of {SECONDS_LOST}, which is neither an objective nor in a constraint")
        try:
            seconds = quantity(text, "time")
        except ValueError as error:
            raise Fault(64, f"{option} {text}: expected a time, such as 10s") from error
        if seconds > 3600:
            raise Fault(64, f"{option} {text}: expected a time of at most 1h")
    return f"{end or ''},{launch or ''}" if end or launch else ""


def objectives_of(minimize: Sequence[str], maximize: Sequence[str], metrics: Sequence[str]) -> tuple[Objective, ...]:
    if not minimize and not maximize:
        minimize, maximize = ("terminations_felt", SECONDS_LOST), ("hot_launch_ratio",)
    goals = [Objective(name, "minimize") for name in minimize] + [Objective(name, "maximize") for name in maximize]
    for goal in goals:
        known(goal.metric, metrics)
    if len({goal.metric for goal in goals}) != len(goals):
        raise Fault(64, "an objective is there twice")
    return tuple(goals)


def constraints_of(texts: Sequence[str], metrics: Sequence[str]) -> tuple[Constraint, ...]:
    """`terminations_foreground <= 0`, unless others are given; `none` for none."""
    if list(texts) == ["none"]:
        return ()
    goals = []
    for text in texts or ("terminations_foreground <= 0",):
        match = GOAL.match(text.strip())
        if match is None:
            raise Fault(64, f"--constraint '{text}': expected METRIC <= NUMBER (or >=, ==), such as 'stalls <= 10'")
        known(match[1], metrics)
        goals.append(Constraint(match[1], match[2], float(match[3])))
    return tuple(goals)


def known(metric: str, metrics: Sequence[str]) -> None:
    if metric not in metrics:
        raise Fault(64, f"there is no metric '{metric}'; `plimsoll list metrics` names them")
