"""Several runs at once: which directories are runs, how each is called beside the others, and what is compared."""

from __future__ import annotations

import csv
from pathlib import Path

from plimsoll_tools.command_line import as_called, visible

RUN_FILES = ("samples.csv", "apps.csv", "events.csv", "launches.csv", "decisions.csv", "summary.csv")


def is_run(directory: Path) -> bool:
    return any((directory / name).is_file() for name in RUN_FILES[:5])


def expand(paths: list[Path]) -> list[Path]:
    """Run directories as they are; a directory of runs as the runs within it, by name."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise FileNotFoundError(f"no run directory {path}")
        if is_run(path):
            found.append(path)
            continue
        within = sorted({file.parent for name in RUN_FILES[:5] for file in path.rglob(name)}, key=natural)
        if not within:
            for kind, table in (("sweep", "sweep.csv"), ("comparison", "comparison.csv"), ("survival", "survival.csv"), ("tuning", "tuning.json")):
                if (path / table).is_file():
                    raise FileNotFoundError(f"{path} holds a {kind}'s tables and no runs; {as_called('report')} {path}, alone, shows it")
            if any((path / begun).is_file() for begun in ("plan.json", "study.db")):
                raise FileNotFoundError(f"{path} holds an experiment that is not complete; go on with it, or give another folder")
            raise FileNotFoundError(f"no CSV of a run in {path}")
        found += within
    return list(dict.fromkeys(found))


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Sorts seed-9 before seed-10."""
    key: list[tuple[int, int, str]] = []
    for letter in str(path):
        if letter.isdigit():
            if key and key[-1][0] == 0:
                key[-1] = (0, key[-1][1] * 10 + int(letter), "")
            else:
                key.append((0, int(letter), ""))
        else:
            key.append((1, 0, letter))
    return key


def summary_of(directory: Path) -> dict[str, str]:
    """The one row of summary.csv; empty when it is missing."""
    try:
        with (directory / "summary.csv").open(encoding="utf-8", errors="replace", newline="") as file:
            return {name: visible(value or "") for name, value in next(csv.DictReader(file), {}).items() if name}
    except OSError:
        return {}


def number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def scenario_settings(text: str) -> dict[str, str]:
    """The leaves of a scenario as `device.ceiling: 1GiB`, as far as they are scalars; apps by name, no user events.
    Nothing if it was damaged after the run."""
    try:
        import yaml

        # The parser in C is ten times as fast, and not in every build of PyYAML.
        tree = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Exception:  # noqa: BLE001  A report must not fail for such a scenario.
        return {}
    found: dict[str, str] = {}

    def walk(node: object, path: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                walk(value, f"{path}.{key}" if path else str(key))
        elif isinstance(node, list):
            for item in node:
                if isinstance(item, dict) and "name" in item:
                    walk(item, f"{path}.{item['name']}")
        else:
            found[path] = str(node)

    if isinstance(tree, dict):
        walk({key: value for key, value in tree.items() if key not in ("user", "expect")}, "")
    return found


def names_text(names: list[str], noun: str, most: int = 3) -> str:
    """The names; where they are too many, how many they are."""
    return ", ".join(names) if len(names) <= most else f"{len(names)} {noun}"


def seeds_text(seeds: list[str]) -> str:
    """`seed 7`, `seeds 1 to 8` or `seeds 1, 3, 9`; empty where no seed is known."""
    numbers = sorted({int(seed) for seed in seeds if seed.isdigit()})
    if len(numbers) < 2:
        return f"seed {numbers[0]}" if numbers else ""
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"seeds {numbers[0]} to {numbers[-1]}"
    return f"seeds {', '.join(map(str, numbers))}" if len(numbers) <= 6 else f"{len(numbers)} seeds"


def described(scenarios: list[str], policies: list[str], seeds: list[str]) -> str:
    """Scenario, policy and seed of several runs, for a title."""
    policy = names_text(list(dict.fromkeys(filter(None, policies))), "policies")
    parts = [names_text(list(dict.fromkeys(filter(None, scenarios))), "scenarios"), policy and f"policy {policy}".replace(
        "policy ", "policies " if ", " in policy else "" if policy.endswith(" policies") else "policy ", 1), seeds_text(seeds)]  # fmt: skip
    return ", ".join(part for part in parts if part)


def labels(directories: list[Path], summaries: list[dict[str, str]]) -> list[str]:
    """What tells the runs apart: of scenario, policy and seed those that differ; else the directories' names."""
    keys = [key for key in ("scenario", "policy", "seed") if len({row.get(key) for row in summaries}) > 1]
    names = [", ".join(f"seed {row[key]}" if key == "seed" else row[key] for key in keys if row.get(key))
             for row in summaries]  # fmt: skip
    if all(names) and len(set(names)) == len(names):
        return names
    return folders(directories)


def folders(directories: list[Path]) -> list[str]:
    """The directories' names, with those of the folders around them where they need it."""
    names = [directory.resolve().name for directory in directories]
    if len(set(names)) == len(names):
        return names
    return [f"{directory.resolve().parent.name}/{name}" for directory, name in zip(directories, names)]
