"""The page about a comparison, a sweep, a survival or a tuning: the verdict, the figures, the pictures and the files.

Every figure is one of the folder's tables; what follows from them alone, such as a mean, is computed where the pictures
do it.
"""

from __future__ import annotations

import base64
import html
import math
import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll_tools.command_line import as_called, read_json, visible

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll_tools.plotting.metrics import Metric
    from plimsoll_tools.plotting.pictures import Picture

TABLES = {"comparison": "comparison.csv", "sweep": "sweep.csv", "survival": "survival.csv", "tuning": "tuning.json"}
"""By kind of experiment, the file that only a complete one has."""

MOST_ROWS = 50
"""Of settings, or of cases, in a table of the page; the folder has all."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table on the page."""

    text: str
    note: str = ""
    kind: str = ""
    """`better`, `worse` or `best`; empty for all others."""


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell | str]
    is_quiet: bool = False


@dataclass(frozen=True)
class Table:
    title: str
    head: Sequence[Cell | str]
    rows: Sequence[Row]
    texts: int = 1
    """The first columns hold words, the others figures."""
    note: str = ""
    is_folded: bool = False


@dataclass
class Account:
    """What the page says of an experiment."""

    kind: str
    title: str
    subtitle: str
    sentences: list[str]
    """The verdict first."""
    tables: list[Table] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    """Name and meaning of each file in the folder that is worth a look."""
    command: str = ""
    text: tuple[str, str] | None = None
    """A file that the page shows whole: its name and what it holds."""


def kind_of(directory: Path) -> str:
    """What the folder holds; empty if it is no complete experiment."""
    return next((kind for kind, name in TABLES.items() if (directory / name).is_file()), "")


def account_of(directory: Path, kind: str) -> Account:
    """Reads the folder. Raises ValueError for a table that is none of ours."""
    accounts: dict[str, Callable[[Path], Account]] = {
        "comparison": comparison_of, "sweep": sweep_of, "survival": survival_of, "tuning": tuning_of,
    }  # fmt: skip
    found = accounts[kind](directory)
    package = read_json(directory / "datapackage.json")
    if not found.files:
        found.files = [(str(one.get("path", "")), str(one.get("description", ""))) for one in package.get("resources", [])]
    found.files = [(name, meaning) for name, meaning in found.files if (directory / name).is_file()]
    line = read_json(directory / "manifest.json").get("command_line")
    if not found.command and isinstance(line, list) and line:
        found.command = shlex.join([Path(str(line[0])).name, *map(str, line[1:])])
    return found


# --- A comparison -----------------------------------------------------------------------------------------------------


def comparison_of(directory: Path) -> Account:
    from plimsoll_tools.plotting import comparison, conclusion, metrics, several

    table, known = comparison.read(directory), metrics.of(directory)
    scenarios = list(dict.fromkeys(table.loc[table["scope"] == "scenario", "scenario"]))
    _, _, whole = comparison.scopes(table)[0]
    baseline, candidates = conclusion.sides(whole)
    against = f"{several.names_text(candidates, 'policies', 4)} against {baseline}" if candidates else baseline
    tables = [
        policies_table(rows, known, f"means, and differences from {baseline}: {title}", is_folded=place > 0)
        for place, (_, title, rows) in enumerate(comparison.scopes(table))
    ]
    # Folders of earlier versions lack the sentences.
    said = str(read_json(directory / "datapackage.json").get("description", "")).splitlines()
    return Account(
        "comparison", f"Comparison: {against}",
        "; ".join(filter(None, (several.names_text(scenarios, "scenarios", 6), comparison.seeds(directory)))),
        said or [f"{one}." for one in conclusion.headlines(whole, known)] or [f"{baseline} ran with the yardsticks only."], tables,
    )  # fmt: skip


def policies_table(rows: pd.DataFrame, known: Sequence[Metric], title: str, *, is_folded: bool) -> Table:
    """A row per policy, a column per metric."""
    from plimsoll_tools.plotting.metrics import named

    names = list(dict.fromkeys(rows["metric"]))
    found = []
    for policy, own in rows.groupby("policy", sort=False):
        cells = {row.metric: difference_cell(row, named(known, row.metric).unit) for row in own.itertuples()}
        role = own["role"].iloc[0]
        found.append(
            Row(
                [Cell(str(policy), role if role != "candidate" else ""), *(cells.get(name, "") for name in names)],
                role == "yardstick",
            )
        )
    note = "Green: shown to be better than the baseline; red: shown to be worse. In brackets the interval of the difference."
    return Table(title, ["policy", *heads(names, known)], found, note=note, is_folded=is_folded)


def heads(names: Iterable[str], known: Sequence[Metric]) -> list[Cell]:
    from plimsoll_tools.plotting.metrics import named

    return [Cell(one.title, one.hint) for one in (named(known, name) for name in names)]


def difference_cell(row: Any, unit: str) -> Cell:
    """The mean, and below it the difference with its interval."""
    from plimsoll_tools.plotting.comparison import number_text

    mean = "unknown" if math.isnan(row.mean) else number_text(row.mean, unit, signed=False)
    if math.isnan(row.difference):
        return Cell(mean)
    # A line may end between the two ends, but not between a number and its unit.
    low, high = (
        number_text(0.0 if math.isnan(end) else end, unit).replace(" ", "\N{NO-BREAK SPACE}")
        for end in (row.difference_low, row.difference_high)
    )
    ends = "" if math.isnan(row.difference_low) else f"\n[{low}, {high}]"
    is_said = row.verdict in ("better", "worse") and row.role == "candidate"
    return Cell(mean, number_text(row.difference, unit) + ends, row.verdict if is_said else "")


# --- A sweep ----------------------------------------------------------------------------------------------------------

def sweep_of(directory: Path) -> Account:
    from plimsoll_tools.plotting import several, sweep

    table, settings, known = sweep.read(directory)
    package = read_json(directory / "datapackage.json")
    # Folders of earlier versions lack both.
    said, decider = (str(package.get(name, "")) for name in ("description", "decider"))
    decider = decider or next((one.name for one in known), "")
    means = sweep.settings_means(table, settings, known, decider)
    scenarios = list(dict.fromkeys(table["scenario"]))
    subtitle = (
        several.names_text(scenarios, "scenarios", 6),
        several.seeds_text(table["seed"].tolist() if "seed" in table else []),
        f"{len(table):,} runs",
    )
    return Account(
        "sweep", f"Sweep of {several.names_text([sweep.plain(name) for name in settings], 'settings', 4) or 'seeds'}",
        "; ".join(filter(None, subtitle)),
        said.splitlines() or [sweep.best_of(means, settings, known, decider)],
        [settings_table(means, settings, known)],
    )  # fmt: skip


def settings_table(means: pd.DataFrame, settings: Sequence[str], known: Sequence[Metric]) -> Table:
    """A row per setting, the best first; the best figure of each column is marked."""
    from plimsoll_tools.plotting import compare, sweep

    names = [one for one in known if one.name in means and means[one.name].notna().any()]
    # Of equal ones none is the best.
    best = {
        one.name: means[one.name].max() if one.better == "higher" else means[one.name].min()
        for one in names if one.better and means[one.name].nunique() > 1
    }  # fmt: skip
    labels = ["policy"] if means["policy"].nunique() > 1 else []
    rows = []
    for row in means.head(MOST_ROWS).to_dict("records"):
        cells = [
            "" if math.isnan(row[one.name]) else
            Cell(compare.text_of(row[one.name], one.unit), kind="best" if row[one.name] == best.get(one.name) else "")
            for one in names
        ]  # fmt: skip
        rows.append(
            Row(
                [
                    *(row[name] for name in labels),
                    *(sweep.value_text(row[name], name) for name in settings),
                    f"{row['runs']}",
                    *cells,
                ]
            )
        )
    head: list[Cell | str] = [*labels, *(sweep.plain(name) for name in settings), "runs"]
    head += heads((one.name for one in names), known)
    left = len(means) - MOST_ROWS
    note = "The settings with the best mean first; the best of each column is marked, which is no verdict on other seeds."
    note += f" {left} more are in sweep.csv." if left > 0 else ""
    return Table("means by setting", head, rows, len(labels) + len(settings), note)


# --- A survival -------------------------------------------------------------------------------------------------------


def survival_of(directory: Path) -> Account:
    from plimsoll_tools.plotting import style, survival

    tables = survival.read(directory)
    answer = tables["survival"].iloc[0]
    said = answer_text(directory)
    ends = [
        Row([row["counter"] or row["exit_reason"], row["beneficiary"], "in front" if row["foreground"] == "true" else "", f"{row['count']:.0f}"])
        for row in tables["ends"].to_dict("records")
    ]  # fmt: skip
    figures = [
        Row(["survives", f"{int(answer['lived'])} of {int(answer['runs'])} runs, {survival.percent(float(answer['survival_ratio']))}"]),
        Row(["95% interval", f"{survival.percent(float(answer['survival_low']))} to {survival.percent(float(answer['survival_high']))}"]),
        Row(["asked for", survival.percent(float(answer["asked_ratio"]))]),
        Row(["footprint alone in front", style.bytes_text(float(answer["footprint_bytes"]))]),
        Row(["memory of the device", style.bytes_text(float(answer["ceiling_bytes"]))]),
    ]  # fmt: skip
    found = [Table("the answer", [], figures)]
    if ends:
        found.append(Table("how it ends, in all runs", ["counter", "for", "where", "ends"], ends, 3))
    found += tried(tables["settings"])
    name = str(answer["app"])
    return Account(
        "survival",
        f"Survival of {name}",
        f"scenario {answer['scenario']}",
        said or ["; ".join(survival.headline(answer)) + "."],
        found,
    )


def answer_text(directory: Path) -> list[str]:
    """The sentences of answer.txt."""
    try:
        text = visible(" ".join((directory / "answer.txt").read_text("utf-8", errors="replace").split()))
    except OSError:
        return []
    return [one for one in re.split(r"(?<=[.!?]) (?=[A-Z])", text) if one]


def tried(settings: pd.DataFrame) -> list[Table]:
    """A table of the sizes, of the devices and of the changes that were tried."""
    from plimsoll_tools.plotting import style, survival

    enough = {"true": Cell("yes", kind="better"), "false": Cell("no", kind="worse")}
    found = []
    for kind, title in (("footprint", "at which footprint it survives"), ("device", "on which device it survives")):
        rows = settings[settings["kind"] == kind]
        if rows.empty:
            continue
        cells = [
            Row([row["name"] if kind == "device" else style.bytes_text(row["footprint_bytes"]), enough.get(row["enough"], Cell("perhaps"))])
            for row in rows.to_dict("records")
        ]  # fmt: skip
        found.append(Table(title, [kind, "survives often enough"], cells, 2))
    changes = settings[settings["kind"] == "change"].sort_values("gain", ascending=False, kind="stable")
    rows = [
        Row([survival.CHANGE_NAMES.get(row["name"], row["name"]), survival.gain_text(row)])
        for row in changes.to_dict("records")
    ]  # fmt: skip
    if rows:
        found.append(Table("what changes of its behaviour gain", ["change", "percentage points of the runs"], rows))
    return found


# --- A tuning ---------------------------------------------------------------------------------------------------------


def tuning_of(directory: Path) -> Account:
    from plimsoll_tools.plotting import several
    from plimsoll_tools.plotting.run_directory import read_experiment

    facts = read_json(directory / "tuning.json")
    problem = facts.get("problem")
    if not isinstance(problem, dict) or not (directory / "verdict.csv").is_file():
        raise ValueError(f"{directory / 'tuning.json'}: no problem, or no verdict.csv beside it")
    policy_text = visible((directory / "policy.yaml").read_text("utf-8")) if (directory / "policy.yaml").is_file() else ""
    name = str(problem.get("policy", {}).get("name", "the policy"))
    verdict = read_experiment(directory / "verdict.csv")
    command = facts.get("command", [])
    seeds = [str(seed) for seed in problem.get("held out seeds", [])]
    return Account(
        "tuning", f"Tuning of {name}", f"{several.names_text(list(problem.get('scenarios', {})), 'scenarios', 6)}; verdict on {several.seeds_text(seeds)}",
        several.scenario_settings(policy_text).get("description", "").splitlines() or [verdict_words(facts)],
        [verdict_table(verdict), *changed(directory, facts, problem)],
        [(one, meaning) for one, meaning in TUNING_FILES.items()],
        shlex.join([*as_called("tune").split(), *map(str, command)]) if isinstance(command, list) else "",
        ("policy.yaml", policy_text) if policy_text else None,
    )  # fmt: skip


TUNING_FILES = {
    "policy.yaml": "the policy, for plimsoll run --policy", "report.md": "the report of the search, with the meaning of each parameter",
    "verdict.csv": "one row per scenario and metric: the tuned policy against the default",
    "held-out.csv": "one row per run of the verdict", "trials.csv": "one row per trial", "front.csv": "the Pareto front",
    "importance.csv": "which parameters decide", "tuning.json": "what was asked, and the command",
}  # fmt: skip


def verdict_words(facts: dict[str, Any]) -> str:
    verdicts = facts.get("verdicts")
    found = verdicts if isinstance(verdicts, dict) else {}
    return "; ".join(f"on {place}: {word}" for place, word in found.items()) or "There is no verdict."


def verdict_table(table: pd.DataFrame) -> Table:
    """The means of the default and of the tuned policy on what the search never saw."""
    missing = [
        name for name in ("scenario", "metric", "default_mean", "tuned_mean", "difference", "low", "high") if name not in table
    ]
    if missing:
        raise ValueError(f"verdict.csv: no column {', '.join(missing)}")
    rows = []
    for row in table.head(MOST_ROWS).to_dict("records"):
        ends = f" [{row['low']}, {row['high']}]" if row["low"] else ""
        rows.append(
            Row([row["scenario"], row["metric"], row["default_mean"], row["tuned_mean"], f"{row['difference']}{ends}"])
        )
    return Table("held-out verdict, by scenario", ["scenario", "metric", "default", "tuned", "tuned minus default"], rows, 2)


def changed(directory: Path, facts: dict[str, Any], problem: dict[str, Any]) -> list[Table]:
    """The parameters that the tuned policy sets to another value than the default, of those that were searched."""
    from plimsoll_tools.plotting.run_directory import read_experiment

    try:
        trials = read_experiment(directory / "trials.csv").set_index("trial")
        standard, chosen = (trials.loc[str(number)] for number in (1, facts.get("chosen_trial", 1)))
        space = [(str(name), str(searched)) for name, searched in problem["space"]]
        rows = [
            Row([name, standard[name], chosen[name], searched]) for name, searched in space if standard[name] != chosen[name]
        ]
    except (ValueError, KeyError, TypeError):
        return []
    left = len(space) - len(rows)
    note = f"{left} of {len(space)} searched parameters keep their defaults." if rows else "The policy is the default."
    return [Table("changed settings", ["parameter", "default", "tuned", "searched"], rows, 4, note)]


# --- The page ---------------------------------------------------------------------------------------------------------


def pictures_of(directory: Path, kind: str, draw: Callable[[Path, list[str]], list[Picture]]) -> list[tuple[str, bytes]]:
    """Name and PNG of each picture: of a tuning those in its folder, of others those that `plot` draws."""
    if kind == "tuning":
        names = ("verdict", "front", "importance")
        return [(name, (directory / f"{name}.png").read_bytes()) for name in names if (directory / f"{name}.png").is_file()]
    return [(one.name, one.files["png"]) for one in draw(directory, ["png"]) if "png" in one.files]


LONGEST_HEADING = 200
"""The most characters of a verdict that is set as a heading."""


def body_of(account: Account, pictures: Sequence[tuple[str, bytes]], folder: str) -> str:
    """The page between its header and its end. `folder` is the folder's path as a link from the page needs it."""
    first, *others = account.sentences
    kind = "sentence" if len(first) <= LONGEST_HEADING else "sentence long"
    parts = [f'<p class="{kind}">{told(first)}</p>', *(f"<p>{told(one)}</p>" for one in others)]
    parts += [table_text(one) for one in account.tables]
    parts += [
        f'<figure class="picture"><img alt="picture {told(name)}" src="data:image/png;base64,{base64.b64encode(data).decode()}"></figure>'
        for name, data in pictures
    ]
    if account.text:
        name, text = account.text
        parts.append(f"<details><summary>{told(name)}</summary><pre>{told(text)}</pre></details>")
    if account.files:
        links = (
            f'<li><a href="{told(link(folder, name))}">{told(name)}</a> {told(meaning)}</li>'
            for name, meaning in account.files
        )
        parts.append(f"<h2>Files</h2><ul>{''.join(links)}</ul>")
    if account.command:
        # A line ends between two words, not behind a hyphen.
        words = " ".join(f"<span>{told(word)}</span>" for word in account.command.split(" "))
        parts.append(f'<h2>Command</h2><pre class="command">{words}</pre>')
    return "\n".join(parts)


def link(folder: str, name: str) -> str:
    from urllib.parse import quote

    # A colon in the first part would be taken for a scheme.
    return quote(os.path.join(folder, name)) if folder != "." else "./" + quote(name)


def told(text: object) -> str:
    return html.escape(str(text))


def table_text(table: Table) -> str:
    def cell(place: int, one: Cell | str, element: str = "td") -> str:
        one = one if isinstance(one, Cell) else Cell(str(one))
        kinds = " ".join(filter(None, ("num" if place >= table.texts else "", one.kind)))
        note = f"<small>{told(one.note)}</small>" if one.note else ""
        return f'<{element} class="{kinds}">{told(one.text)}{note}</{element}>'

    head = "".join(cell(place, one, "th") for place, one in enumerate(table.head))
    rows = "".join(
        f'<tr class="{"quiet" if row.is_quiet else ""}">{"".join(cell(place, one) for place, one in enumerate(row.cells))}</tr>'
        for row in table.rows
    )
    note = f'<p class="note">{told(table.note)}</p>' if table.note else ""
    shown = f'<div class="scroll"><table>{f"<thead><tr>{head}</tr></thead>" if head else ""}<tbody>{rows}</tbody></table></div>{note}'
    title = told(table.title[:1].upper() + table.title[1:])
    if table.is_folded:
        return f"<details><summary>{title}</summary>{shown}</details>"
    return f"<h2>{title}</h2>{shown if table.rows else note}"
