"""A run directory, read with forgiveness: what is missing or half-written is noted, and the rest is drawn."""

from __future__ import annotations

import csv
import functools
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from plimsoll_tools.command_line import read_json, visible
from plimsoll_tools.plotting import metrics

CLASSES = {
    "user_interactive": "what the user waits for", "user_initiated": "the rest on screen", "default": "without a class of its own",
    "utility": "put off by apps on screen", "background": "off screen",
}  # fmt: skip
"""The classes of service, the most urgent first, and the work that has them."""

# What we read of each file. More columns may be there; they are not even parsed.
TEXT_COLUMNS: dict[str, tuple[str, ...]] = {
    "samples": ("pressure_level",),
    "apps": ("app", "pid", "state"),
    "events": ("event", "app", "pid", "scene", "detail", "reason", "state", "level", "action", "exit_reason", "cause", "measure"),
    "launches": ("app", "kind", "outcome"),
    "decisions": ("decision", "action", "app", "pid", "chosen", "reason", "demand", "measure", "outcome"),
    "summary": ("scenario", "policy", "seed"),
    "cores": (),
    "pages": (),
    "freezer": (),
    "terminations": ("app", "pid", "band", "exit_reason", "cause", "demand", "measure", "beneficiary", "need",
                     "was_foreground", "was_perceived", "why", "in_short", "standing"),
}  # fmt: skip
NUMBER_COLUMNS: dict[str, tuple[str, ...]] = {
    "samples": ("time_s", "ceiling_bytes", "resident_bytes", "available_bytes", "peak_resident_bytes"),
    "apps": ("time_s", "footprint_bytes"),
    "events": ("time_s", "threshold"),
    "decisions": ("time_s", "rank", "observed", "threshold"),
    "launches": ("tapped_s", "ready_s", "latency_ms", "cpu_wait_ms"),
    "summary": ("ceiling_bytes", "peak_resident_bytes"),
    "cores": ("time_s", *(f"{kind}_{name}_ms" for kind in ("given", "waited") for name in CLASSES)),
    "pages": ("time_s", "resident_bytes", "compressed_bytes", "pool_bytes", "free_bytes", "newly_compressed_bytes",
              "refaulted_bytes", "compress_ms", "decompress_ms", "file_backed_bytes", "file_read_bytes", "file_dropped_bytes"),
    "freezer": ("time_s", "swapped_bytes"),
    "terminations": ("time_s", "observed", "threshold", "taken_bytes", "footprint_bytes", "idle_s", "warned_s",
                     "wanted_after_s"),
}
FACTS = {"events": ("state", "level", "action", "exit_reason", "cause", "measure", "threshold"), "decisions": ("outcome",)}
"""Columns that say in words for programs what `detail` and `reason` say for people. Runs before them have none."""
LATER = {
    "decisions.measure", "samples.peak_resident_bytes", "summary.peak_resident_bytes", "launches.cpu_wait_ms", "cores",
    "pages", "pages.file_backed_bytes", "pages.file_read_bytes", "pages.file_dropped_bytes", "freezer", "terminations",
    "terminations.in_short", "terminations.standing",
} | {
    f"{name}.{column}" for name, columns in FACTS.items() for column in columns
}
"""Columns and tables that came later: a run without them is not incomplete."""
NEWEST_FORMAT = 1
"""Of run folders, as `format_version` in manifest.json counts. Columns that were added do not raise it; a newer one may mean
something else by the columns that we know."""
IN_ORDER = ("samples", "apps", "events", "decisions", "cores", "pages", "freezer", "terminations")
"""Tables whose rows stand in the order of their time, and of what happened within an instant."""
NOT_BY_THE_SYSTEM = ("normalApp", "userTerminated", "abnormal")
"""Exit reasons of the user, of an app that is done, and of a crash; every other one is a termination."""
UNKNOWN_ENDS = ("without rows of terminations.csv: for whom the terminations were, and whether the user felt them, is "
                "not known")  # fmt: skip
"""The note of a run that is older than that table, or was killed before it was written."""
NO_FACTS = ("datapackage.json says nothing of the run, as that of an older one: its levels' thresholds, cores and device are "
            "not known, and apps have their colours by name")  # fmt: skip
"""The note of a run without facts."""
STALLS = "psi_"
"""Columns of samples.csv that begin so are shares of time that was lost to waiting for memory."""


@dataclass(frozen=True)
class Facts:
    """What a run was, as its datapackage.json says from the start; of an older run nothing is known."""

    scenario: str = ""
    policy: str = ""
    seed: str = ""
    is_yardstick: bool = False
    """Whether its policy is only a measure for others."""
    device: str = ""
    """What people call it."""
    place: str = ""
    """The device and its scale in words that follow the scenario's name."""
    scale: float = 1.0
    """The model's size as a share of the device's. Tables have the sizes of the model, words those of the device."""
    apps: tuple[str, ...] = ()
    """In the scenario's order."""
    cores: int = 0
    has_priorities: bool = True
    thresholds: dict[str, float] = field(default_factory=dict)
    """Level -> the available bytes below which it begins."""
    expectations: tuple[str, ...] = ()
    setup: str = ""
    """The fingerprint of all that the run was made from but its seed."""


def facts_of(package: dict[str, Any]) -> Facts:
    """The facts in a datapackage.json."""
    try:
        run = package["run"]
        return Facts(
            str(run["scenario"]), str(run["policy"]), str(run["seed"]), run.get("isYardstick") is True, str(run.get("device", "")),
            str(run.get("place", "")), float(run.get("scale", 1.0)) or 1.0, tuple(map(str, run["apps"])),
            int(run["cores"]), run["hasPriorities"] is True,
            {str(level): float(available) for level, available in run["thresholds"].items()},
            tuple(map(str, run["expectations"])), str(run["setup"]),
        )  # fmt: skip
    except (LookupError, TypeError, ValueError, AttributeError):
        return Facts()


@dataclass
class Run:
    """The tables of one run, and what was wrong with them. A missing file is an empty table with all its columns."""

    directory: Path
    manifest: dict[str, Any] = field(default_factory=dict)
    """Empty if the run was killed."""
    package: dict[str, Any] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """Files (`samples`) and columns (`samples.time_s`) that are not there, or left out."""
    notes: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """Of the missing files, those that are there and cannot be used; a note says why."""
    older: set[str] = field(default_factory=set)
    """What came later (`LATER`) and is not there: tables, and columns of tables that are."""
    known: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was computed from the tables (`once_per_run`). Who changes a table empties it."""

    @property
    def samples(self) -> pd.DataFrame:
        return self.tables["samples"]

    @property
    def apps(self) -> pd.DataFrame:
        return self.tables["apps"]

    @property
    def events(self) -> pd.DataFrame:
        return self.tables["events"]

    @property
    def decisions(self) -> pd.DataFrame:
        return self.tables["decisions"]

    @property
    def launches(self) -> pd.DataFrame:
        return self.tables["launches"]

    @property
    def cores(self) -> pd.DataFrame:
        return self.tables["cores"]

    @property
    def terminations(self) -> pd.DataFrame:
        return self.tables["terminations"]

    def text_of(self, name: str) -> str:
        """A file of the run as it is written, with nothing hidden in it; empty when it cannot be read."""
        try:
            return visible((self.directory / name).read_text("utf-8", errors="replace"))
        except OSError:
            return ""

    @functools.cached_property
    def metrics(self) -> list[metrics.Metric]:
        """Those of its summary."""
        return metrics.of(self.directory, self.package)

    @property
    def absent(self) -> set[str]:
        """What is missing because it is not there at all; no note says so yet."""
        return self.missing - self.left_out

    def leave_out(self, name: str) -> None:
        """The file is there and cannot be used."""
        self.left_out.add(name)
        self.missing.add(name)

    def lacks(self, *needed: str) -> list[str]:
        """Which of the columns (`samples.time_s`) are not there, the file alone being named when it is absent."""
        absent = (name.split(".")[0] if name.split(".")[0] in self.missing else name for name in needed)
        return sorted({name for name in absent if name in self.missing})

    def events_named(self, name: str) -> pd.DataFrame:
        return self.events[self.events["event"] == name]

    @property
    def end_s(self) -> float:
        """When the run ended, as far as its tables know."""
        return latest_s(self)

    @property
    def is_dry(self) -> bool:
        """Whether the policy's decisions were written down, and none carried out."""
        return self.manifest.get("dry_run") is True

    @property
    def title(self) -> str:
        """Scenario, device, policy and seed, as far as they are known; without a scenario's name the directory's."""
        summary = self.tables["summary"]
        # A run that was killed has no row of summary.
        row = vars(self.facts) if summary.empty else dict(summary.iloc[0])
        where = (row["scenario"] or self.directory.resolve().name) + self.facts.place
        how = [f"{name} {row[name]}" for name in ("policy", "seed") if row[name]] + ["dry run"] * self.is_dry
        return (": " if self.facts.place and how else ", ").join(filter(None, (where, ", ".join(how))))


Known = TypeVar("Known")


def once_per_run(compute: Callable[[Run], Known]) -> Callable[[Run], Known]:
    """Computes something from a run's tables when it is first asked for: several pictures and the page need it. Nobody
    may change it."""

    @functools.wraps(compute)
    def look_up(run: Run) -> Known:
        if compute not in run.known:
            run.known[compute] = compute(run)
        found: Known = run.known[compute]
        return found

    return look_up


@once_per_run
def latest_s(run: Run) -> float:
    """The latest time in the tables; zero without any."""
    columns = [table["time_s"] for table in (run.samples, run.events, run.apps, run.terminations)]
    columns.append(run.launches["ready_s"])
    latest = [float(column.max()) for column in columns if column.notna().any()]
    return max(latest, default=0.0)


def reason_of(error: OSError) -> str:
    """Why a file cannot be read, in words."""
    return "it is a folder" if isinstance(error, IsADirectoryError) else error.strerror or str(error)


def complete_records(text: str) -> tuple[str, bool]:
    """The text without a half-written last record, and whether there was one.

    A run that was killed leaves half a row. Every record ends with a line break (RFC 4180 lets the last one go without,
    our writer does not), and a record's quotes are balanced.
    """
    end = len(text) if text.endswith("\n") else text.rfind("\n") + 1
    while end > 0 and text.count('"', 0, end) % 2 == 1:
        end = text.rfind("\n", 0, end - 1) + 1
    return text[:end], end < len(text)


def read_table(run: Run, name: str) -> pd.DataFrame:
    """One CSV as a table of the columns we know, text as text and numbers as numbers."""
    path = run.directory / f"{name}.csv"
    try:
        text = path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    except FileNotFoundError:
        (run.older if name in LATER else run.missing).add(name)
        text = ""
    except OSError as error:
        # A folder in its place, or no leave to read it.
        run.notes.append(f"{path.name} cannot be read and is left out: {reason_of(error)}")
        run.leave_out(name)
        text = ""
    if "\0" in text:
        # So a disk may give back what was not written before the power went.
        text = "\n".join(line for line in text.split("\n") if "\0" not in line)
        run.notes.append(f"{path.name}: rows with zero bytes are left out")
    text, was_cut = complete_records(visible(text))
    if was_cut:
        run.notes.append(f"{path.name}: the last row is half-written and left out")

    header = next(csv.reader(io.StringIO(text)), [])
    present = set(header)
    texts, numbers = TEXT_COLUMNS[name], NUMBER_COLUMNS[name]
    if name not in run.missing | run.older and present.isdisjoint(texts + numbers):
        run.notes.append(f"{path.name}: the first row names no column of it, and the table is left out")
        run.leave_out(name)
    if name == "samples":
        numbers += tuple(column for column in header if column.startswith(STALLS))
    if name not in run.missing | run.older:
        absent = {f"{name}.{column}" for column in texts + numbers if column not in present}
        run.missing.update(absent - LATER)
        run.older.update(absent & LATER)
    wanted = [column for column in texts + numbers if column in present]
    raw = cells_of(text, wanted, numbers) if wanted else pd.DataFrame()
    table = {column: raw.get(column, pd.Series("", index=raw.index, dtype=str)).fillna("") for column in texts}
    table |= {
        column: pd.to_numeric(raw.get(column, pd.Series(dtype=float, index=raw.index)), errors="coerce").astype(float)
        for column in numbers
    }
    return pd.DataFrame(table, index=raw.index)


def cells_of(text: str, wanted: list[str], numbers: tuple[str, ...]) -> pd.DataFrame:
    """The wanted columns: numbers as numbers, if each of their cells is one or empty; else every cell as text."""
    # A nan, NA or 007 in a name is a name.
    look: dict[str, Any] = {"usecols": wanted, "keep_default_na": False, "on_bad_lines": "skip", "index_col": False}
    kinds = {column: float if column in numbers else str for column in wanted}
    empty = {column: [""] for column in wanted if column in numbers}
    try:
        # "high" is how `to_numeric` reads a number, too.
        return pd.read_csv(io.StringIO(text), dtype=kinds, na_values=empty, float_precision="high", **look)
    except ValueError:
        return pd.read_csv(io.StringIO(text), dtype=str, **look)


def read_experiment(path: Path) -> pd.DataFrame:
    """The table of a comparison or a sweep, every cell as text. Raises ValueError when it cannot be read."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {reason_of(error)}") from error
    except ValueError as error:
        raise ValueError(f"{path} is no table: {str(error).splitlines()[0] if str(error) else 'it is empty'}") from error


def leave_out_disorder(run: Run) -> None:
    """Empties the tables whose rows are not in the run's order, as in one that was sorted by app.

    Sorting by time does not help: what comes first within an instant only the order of the rows tells.
    """
    for name in IN_ORDER:
        known = run.tables[name]["time_s"].dropna()
        earlier = known.index[known.diff() < 0]
        if earlier.empty:
            continue
        # As a spreadsheet counts: the header is row 1.
        run.notes.append(f"{name}.csv: row {earlier[0] + 2} is earlier than the row before it; "
                         "the rows are not in the run's order, and the table is left out")  # fmt: skip
        run.tables[name] = run.tables[name].iloc[:0]
        run.leave_out(name)


def fill_older(run: Run) -> None:
    """Gives a run that is older than the columns of facts what its `detail` and `chosen` say without a doubt.

    There `detail` was a state, a level, an action or an exit reason, as the kind of event had it. What only sentences say
    stays unknown: thresholds, whose allocation found no room, and what a limit refused.
    """
    if run.older.isdisjoint(f"{name}.{column}" for name, columns in FACTS.items() for column in columns):
        return
    events, decisions = run.events, run.decisions
    if "events.detail" in run.missing:
        run.missing.update(name for name in run.older if name.startswith("events."))
    for column, kinds in (("state", ("process_state", "scene_state")), ("level", ("pressure_level", "warning")),
                          ("action", ("action",)), ("exit_reason", ("exit",))):  # fmt: skip
        if f"events.{column}" in run.older:
            events[column] = events["detail"].where(events["event"].isin(kinds), "")
    if "events.level" in run.older:
        of_its_own = events["level"].isin(("limit", "near_limit"))
        events["cause"] = events["level"].where(of_its_own, "")
        events["level"] = events["level"].mask(of_its_own, "")
    if "decisions.outcome" in run.older:
        ranked = decisions["action"].map(lambda action: "ranked" if action else "spared")
        decisions["outcome"] = ranked.where(decisions["app"] != "", "").mask(decisions["chosen"] == "true", "chosen")
    run.notes.append("an older run, without columns of facts: the levels' thresholds, whose allocation found no room, and "
                     "what a limit refused are not shown")  # fmt: skip


def fill_terminations(run: Run) -> None:
    """Gives a run without rows of terminations.csv those that its events tell of, as far as they do.

    It is older, or it was killed: these rows are written at its end.
    """
    exits = run.events_named("exit")
    ends = exits[~exits["exit_reason"].isin(NOT_BY_THE_SYSTEM)]
    if exits.empty and "terminations" in run.missing | run.older:
        actions = run.events_named("action")
        # An early format has no exits. Who is asked to end and then made to is one termination.
        ends = actions[actions["action"].str.startswith("terminate")].drop_duplicates("pid", keep="last")
    if ends.empty or not run.terminations.empty:
        return
    rows: dict[str, Any] = dict.fromkeys(TEXT_COLUMNS["terminations"], "")
    rows |= dict.fromkeys(NUMBER_COLUMNS["terminations"], math.nan)
    rows |= {column: ends[column] for column in ("time_s", "app", "pid", "exit_reason", "measure", "threshold")}
    rows |= {"cause": ends["cause"].mask(ends["cause"] == "", ends["action"]), "why": ends["reason"]}
    run.tables["terminations"] = pd.DataFrame(rows).reset_index(drop=True)
    run.notes.append(UNKNOWN_ENDS)


def has_rows_of_changed(package: dict[str, Any]) -> bool:
    """Whether apps.csv has only the rows that differ from a process's last one, as datapackage.json says."""
    try:
        return any(table["name"] == "apps" and table.get("rowsOf") == "changed" for table in package["resources"])
    except (LookupError, TypeError, AttributeError):
        # Without a description, or with a broken one, the rows are taken as they are.
        return False


def app_peaks(directory: Path) -> dict[str, float]:
    """App -> the largest footprint of its processes at any moment, as app_summary.csv says; empty without that table."""
    try:
        with (directory / "app_summary.csv").open(encoding="utf-8", errors="replace", newline="") as file:
            rows = [(visible(row.get("app") or ""), row.get("peak_footprint_bytes") or "") for row in csv.DictReader(file)]
    except (OSError, csv.Error):
        return {}
    return {app: float(peak) for app, peak in rows if peak.isdigit()}


def filled(apps: pd.DataFrame, samples: pd.DataFrame, events: pd.DataFrame) -> pd.DataFrame:
    """A row per process and sample: a process without one is as it was, until it exits.

    A policy acts on a sample after its rows are written, so a process that a policy ends at that instant has a row there.
    So has one that ends after it at that instant, as an app's helper does.
    """
    times = pd.Index(samples["time_s"].unique())
    ends = events[events["event"] == "exit"]
    exits = ends.groupby("pid")["time_s"].max()
    policy_has_acted = (ends["detail"] == "memoryPressure").groupby(ends["time_s"]).cummax()
    after_rows = set(ends[policy_has_acted]["pid"])
    parts = []
    for pid, rows in apps.groupby("pid", sort=False):
        rows = rows.set_index("time_s")
        end = exits.get(pid, float("inf"))
        lived = times[(times >= rows.index[0]) & ((times < end) | (times == end) & (pid in after_rows))]
        parts.append(rows.reindex(rows.index.union(lived)).ffill().rename_axis("time_s").reset_index())
    return pd.concat(parts).sort_values("time_s", kind="stable").reset_index(drop=True) if parts else apps


def read_run(directory: Path) -> Run:
    """Reads what is there. Raises FileNotFoundError when there is no directory, or no CSV that we know in it."""
    if not directory.is_dir():
        raise FileNotFoundError(f"no run directory {directory}")
    manifest, package = (read_json(directory / name) for name in ("manifest.json", "datapackage.json"))
    version = manifest.get("format_version")
    if isinstance(version, int) and version > NEWEST_FORMAT:
        raise FileNotFoundError(f"{directory} is a run of format {version}, and these scripts read formats up to {NEWEST_FORMAT}")
    run = Run(directory, manifest, package, facts_of(package))
    tables, notes = run.tables, run.notes
    for name in TEXT_COLUMNS:
        tables[name] = read_table(run, name)
    if (run.absent | run.older).issuperset(TEXT_COLUMNS):
        raise FileNotFoundError(f"no CSV of a run in {directory}")
    leave_out_disorder(run)
    for name in IN_ORDER:
        # A row without its time has no place in a picture.
        tables[name] = tables[name].dropna(subset=["time_s"]).reset_index(drop=True)
    fill_older(run)
    fill_terminations(run)
    # Early formats wrote the last sample twice.
    tables["samples"] = tables["samples"].drop_duplicates("time_s", keep="last").reset_index(drop=True)
    tables["apps"] = tables["apps"].drop_duplicates(["time_s", "app", "pid"], keep="last").reset_index(drop=True)
    if "summary" not in run.missing and tables["summary"].empty:
        notes.append("summary.csv has no row: the run was killed, or is not over yet")
    if not run.facts.scenario:
        notes.append(NO_FACTS)
    if run.is_dry:
        notes.append("a dry run: the policy's decisions are on record, but none was carried out")
    if has_rows_of_changed(package):
        tables["apps"] = filled(tables["apps"], tables["samples"], tables["events"])
    return run
