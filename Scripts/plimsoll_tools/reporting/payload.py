"""What the page shows of a run, small enough to travel in it."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from plimsoll_tools.plotting import cores, kills, launches, memory, several, states, style, terminations
from plimsoll_tools.plotting.reasons import victims_of
from plimsoll_tools.plotting.run_directory import CLASSES, STALLS, Run
from plimsoll_tools.quantities import quantity
from plimsoll_tools.reporting import opening

MOST_LANES = 80
MOST_WARNINGS = 4000
MOST_SPARED = 60
MOST_DECISIONS = 4000
MOST_SCENARIO_LETTERS = 300_000

ACTIONS = ("terminate", "terminate_politely", "disconnect_scene", "suspend", "freeze", "thaw", "compress", "discard", "drop_files", "purge", "warn")
"""What matters most comes first, when not all decisions fit."""


class Reasons:
    """Sentences that occur again and again, once each."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self.places:
            self.places[text] = len(self.texts)
            self.texts.append(text)
        return self.places[text]


def plain(value: object) -> float | None:
    """A number as JSON has it: whole numbers whole, and what is not known null."""
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        return None
    return int(number) if number == int(number) else round(number, 6)


def numbers(values: object) -> list[float | None]:
    return [plain(value) for value in np.asarray(values, dtype=float)]


def samples_of(run: Run, times_s: np.ndarray) -> dict[str, list[float | None]]:
    """The device at the drawn times."""
    table = run.samples.set_index("time_s").reindex(times_s)
    ceiling, resident = table["ceiling_bytes"], table["resident_bytes"]
    available = table["available_bytes"].fillna(ceiling - resident)
    return {
        "t": numbers(times_s), "resident": numbers(resident.fillna(0)), "available": numbers(available.fillna(0)),
    }  # fmt: skip


def plain_layers(layers: list[memory.Layer]) -> list[dict[str, Any]]:
    return [{"name": layer.name, "colour": layer.colour, "bytes": numbers(layer.bytes)} for layer in layers]


def kills_of(run: Run, reasons: Reasons) -> list[dict[str, Any]]:
    spared = kills.spared(run)
    # Both are in the order of time.
    victims = [one for one in victims_of(run) if one.kind != style.CRASHED]
    rows = []
    for row, victim in zip(kills.kills_of(run).itertuples(index=False), victims, strict=True):
        others = spared.get(row.pid, [])
        rows.append(
            {
                "t": plain(row.time_s), "app": row.app, "pid": row.pid, "cause": row.cause, "why": row.why,
                "reason": ", ".join(filter(None, (victim.cause, victim.standing))), "course": victim.course,
                "mark": row.mark, "felt": row.felt, "after": plain(row.wanted_after_s),
                "group": terminations.cause_of(row.cause, row.want, row.demand), "want": row.want != "",
                "band": terminations.band_name(row.band) if row.band else "",
                "footprint": plain(row.footprint_bytes), "idle": plain(row.idle_s),
                # What is not known is left out; null says that it was never warned.
                **({} if row.mark == style.ENDED else {"lead": plain(row.warned_s), "for": row.beneficiary}),
                "spared": [[app, reasons.place(why)] for app, why in others[:MOST_SPARED]],
                "unlisted": max(0, len(others) - MOST_SPARED), "decided": row.pid in spared,
            }
        )  # fmt: skip
    return rows


def decisions_of(run: Run, reasons: Reasons) -> tuple[list[list[object]], int]:
    """What was chosen in each decision, in the order of time, and how many decisions are left out.

    Those that spared everybody are among the latter.
    """
    table = run.decisions
    others = table.groupby("decision", sort=False).size() - 1
    chosen = table[table["outcome"].isin(("chosen", "no_victim"))]
    ranks = chosen["action"].map({action: rank for rank, action in enumerate(ACTIONS)}).fillna(len(ACTIONS))
    kept = chosen.loc[ranks.sort_values(kind="stable").index[:MOST_DECISIONS]].sort_index()
    rows = [
        [plain(row.time_s), row.decision, row.action or "nothing", row.app, reasons.place(row.reason),
         plain(row.observed), plain(row.threshold), row.demand, int(others[row.decision]), row.measure]
        for row in kept.itertuples(index=False)
    ]  # fmt: skip
    return rows, len(others) - kept["decision"].nunique()


def lanes_of(run: Run) -> tuple[list[dict[str, Any]], int]:
    lanes = states.lanes_of(run)
    kept = lanes
    if len(lanes) > MOST_LANES:
        names = {lane.app for lane in sorted(lanes, key=lambda lane: -lane.eventfulness)[:MOST_LANES]}
        kept = [lane for lane in lanes if lane.app in names]

    def spans(items: states.Spans) -> list[list[object]]:
        return [[plain(start), plain(end), state] for start, end, state in items]

    rows: list[dict[str, Any]] = [
        {"app": lane.app, "spans": spans(lane.process), "scenes": [spans(scene) for scene in lane.scenes[:3]],
         "ends": sorted([plain(time_s), kind] for kind, times in lane.ended_as.items() for time_s in times),
         "warned": numbers(lane.warnings)}
        for lane in kept
    ]  # fmt: skip
    return rows, len(lanes) - len(kept)


def launches_of(run: Run) -> list[dict[str, Any]]:
    table = run.launches
    return [
        {"t": plain(row.tapped_s), "app": row.app, "kind": row.kind, "ms": plain(row.latency_ms), "wait": plain(row.cpu_wait_ms),
         "outcome": row.outcome or "no first frame"}
        for row in table.itertuples(index=False)
    ]  # fmt: skip


def cores_of(run: Run) -> dict[str, Any] | None:
    """The times of the cores in steps, the most urgent class first; None when nothing ran."""
    times = cores.times_of(run, memory.COLUMNS)
    if times is None:
        return None
    with_priorities = run.facts.has_priorities
    return {
        "count": times.count, "t": numbers(times.edges_s[:-1].round(6)), "step": plain(times.step_s),
        "classes": [
            {"name": name.replace("_", "-"), "meaning": CLASSES[name] if with_priorities else cores.ALL_WORK,
             "given": numbers(times.given[name].round(4)),
             "waiting": numbers(times.waiting[name].round(3)) if times.waited_s[name] > 0 else [],
             "givenAll": plain(times.given_s[name]), "waitedAll": plain(times.waited_s[name])}
            for name in times.given
        ],
    }  # fmt: skip


def headline_of(run: Run, summary: dict[str, str]) -> list[list[object]]:
    """What a reader asks first. From the summary; from the tables, as far as it is missing."""
    finished = np.sort(run.launches["latency_ms"].dropna().to_numpy())
    p95 = several.number(summary.get("launch_latency_p95_ms"))
    if p95 is None and len(finished):
        p95 = launches.percentile(finished, 0.95)
    lost = len(run.launches) - len(finished)
    ended = several.number(summary.get("terminations"))
    ended = float(len(kills.kills_of(run))) if ended is None else ended
    spans = memory.level_spans(run)
    tight = sum(end - start for start, end, level in spans if level != "normal") / max(run.end_s, 1e-9)
    ceiling, peak = run.samples["ceiling_bytes"].max(), run.samples["resident_bytes"].max()
    peak = several.number(summary.get("peak_resident_bytes")) or peak
    rows: list[list[object]] = [
        ["terminations", f"{ended:,.0f}", False],
        ["launch latency, p95", "none" if p95 is None else launches.duration_text(p95), False],
        ["launches", f"{len(run.launches):,}", False],
        ["of these lost: no first frame", f"{lost:,}", lost > 0],
        ["peak of the ceiling", f"{peak / ceiling:.1%}" if ceiling > 0 and peak == peak else "unknown", False],
        ["time under pressure", f"{tight:.1%}" if spans else "unknown", False],
        ["memory warnings", f"{len(run.events_named('warning')):,}", False],
    ]
    for name, text, is_bad in (
        ("terminations_foreground", "of these in the foreground", True),
        ("terminations_perceived", "of these wanted again soon", True),
        ("terminations_felt", "of these felt by the user", True),
        ("hot_launch_ratio", "hot launches", False),
        ("scenes_disconnected", "scenes disconnected", False),
    ):
        value = several.number(summary.get(name))
        if value is not None:
            shown = f"{value:.0%}" if name.endswith("_ratio") else f"{value:,.0f}"
            place = 1 if name.startswith("terminations") else len(rows)
            rows.insert(place, [text, shown, is_bad and value > 0])
    if crashed := len(kills.crashes(run)):
        rows.append(["crashed, which is no termination", f"{crashed:,}", True])
    return rows


def text_of(run: Run, name: str) -> str:
    text = run.text_of(name)
    if len(text) <= MOST_SCENARIO_LETTERS:
        return text
    return text[:MOST_SCENARIO_LETTERS] + f"\n# … {len(text) - MOST_SCENARIO_LETTERS:,} more letters in {name}\n"


def expectations_of(run: Run) -> list[list[object]]:
    """The scenario's claims about the run, each with whether it held, the value that was observed, and the app that it is about.

    The manifest has the outcomes. A run that was killed has none, and its claims stay open.
    """
    try:
        rows = [[str(one["expectation"]), one["held"] is True, str(one.get("observed", "")), str(one.get("app", ""))]
                for one in run.manifest["expectations"]]  # fmt: skip
    except (LookupError, TypeError, AttributeError):
        rows = []
    return rows or [[claim, None, "", ""] for claim in run.facts.expectations]


def payload_of(run: Run, label: str) -> dict[str, Any]:
    """One run, for the page."""
    reasons = Reasons()
    stack = memory.stack_of(run)
    ceiling = run.samples["ceiling_bytes"].max()
    summary = several.summary_of(run.directory)
    lanes, lanes_left_out = lanes_of(run)
    decisions, decisions_left_out = decisions_of(run, reasons)
    warnings = run.events_named("warning")
    by_time = run.samples.set_index("time_s").reindex(stack.times_s)
    absent = sorted(name for name in run.absent if "." not in name)
    scenario = text_of(run, "scenario.yaml")
    return {
        "label": label, "title": run.title, "scale": run.facts.scale, "sentence": opening.sentence_of(run), "expectations": expectations_of(run),
        "explained": {"folder": "", "blocks": [], "note": ""}, "end": plain(max(run.end_s, 1e-3)),
        "ceiling": plain(ceiling) if ceiling == ceiling else 0,
        "samples": samples_of(run, stack.times_s),
        "layers": plain_layers(stack.layers), "ram": plain_layers(stack.ram),
        "flash": [] if stack.flash is None else numbers(stack.flash),
        "levels": [[plain(start), plain(end), level] for start, end, level in memory.level_spans(run)],
        "thresholds": {level: at for level, at in memory.thresholds(run).items() if level in memory.crossed(run)},
        "stalls": [
            {"name": name.removeprefix(STALLS).removesuffix("_ratio"), "values": numbers(by_time[name].fillna(0))}
            for name in run.samples if name.startswith(STALLS)
        ],
        "cores": cores_of(run),
        "warnings": [
            [plain(time_s), app, level or cause]
            for time_s, app, level, cause in warnings[["time_s", "app", "level", "cause"]]
            .head(MOST_WARNINGS)
            .itertuples(index=False)
        ],
        "kills": kills_of(run, reasons),
        "crashes": [[plain(time_s), app] for time_s, app in kills.crashes(run)[["time_s", "app"]].itertuples(index=False)],
        "lanes": lanes, "lanesLeftOut": lanes_left_out,
        "launches": launches_of(run), "decisions": decisions, "decisionsLeftOut": decisions_left_out,
        "headline": headline_of(run, summary), "summary": [[name, value] for name, value in summary.items()],
        "values": {name: several.number(summary.get(name)) for name in (one.name for one in run.metrics if one.place)},
        "settings": several.scenario_settings(scenario) | {
            key: summary[key] for key in ("policy", "seed") if summary.get(key)
        },
        "reasons": reasons.texts, "scenario": scenario, "manifest": text_of(run, "manifest.json"),
        "notes": run.notes + [f"{name}.csv is missing" for name in absent],
    }  # fmt: skip


def varied(runs: list[dict[str, Any]]) -> list[str]:
    """The settings in which the runs differ; those that all have first, the seed last."""
    keys = {key for run in runs for key in run["settings"]}
    values = {key: {run["settings"].get(key) for run in runs} for key in keys}
    # The summary says these as policy and seed.
    keys -= {"policy.name", "name"}
    everywhere = {key for key in keys if None not in values[key]}
    found = [key for key in keys if len(values[key]) > 1]
    return sorted(found, key=lambda key: (key == "seed", key not in everywhere, len(values[key]), key != "policy", key))


def measured(text: str) -> float | None:
    """The number that a scenario's value stands for, in the smallest of its units: 1GiB, 25%, 1min30s, 1MiB/s, -900."""
    for kind in ("ratio", "bytes", "time"):
        with contextlib.suppress(ValueError):
            return quantity(text.removesuffix("/s") if kind == "bytes" else text, kind)
    number = several.number(text)
    return number if number is not None and math.isfinite(number) else None


def orders(runs: list[dict[str, Any]], keys: list[str]) -> dict[str, dict[str, Any]]:
    """Of each of these settings its values in their order, and whether they are numbers in all runs that have it."""
    found = {}
    for key in keys:
        values = {str(run["settings"][key]) for run in runs if key in run["settings"]}
        numbers = {value: measured(value) for value in values}
        numeric = None not in numbers.values()
        ranked = sorted(values, key=lambda value: (numbers[value] or 0.0 if numeric else 0.0, several.natural(Path(value))))
        found[key] = {"numeric": numeric, "values": ranked}
    return found


def slim(run: dict[str, Any]) -> None:
    """Of one run among very many: what the comparison needs, and the bare outline of the rest."""
    run["lanes"], run["lanesLeftOut"] = [], len(run["lanes"])
    run["decisionsLeftOut"] += len({number for _, number, *_ in run["decisions"]})
    run["decisions"] = []
    for kill in run["kills"]:
        kill["unlisted"] += len(kill["spared"])
        kill["spared"] = []
    run["explained"] |= {"blocks": [], "note": ""}
    run["warnings"], run["scenario"], run["manifest"] = [], "", ""
    run["samples"], run["layers"], run["ram"], run["stalls"] = {"t": [], "resident": [], "available": []}, [], [], []
    run["flash"] = []
    run["cores"] = None
    run["notes"] = [*run["notes"], "one of many runs: look into it with a report of its own"]

