"""Makes run directories without running anything: a crude phone, enough to draw pictures from.

    python Scripts/tests/synthetic_run.py DIRECTORY [--apps 14] [--minutes 30] [--seed 1]
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1 << 20

NAMES = (
    "maps", "feed", "big-game", "mail", "camera", "music", "browser", "chat", "photos", "notes", "weather", "banking",
    "podcasts", "price_$5_to_$9", "_hidden", "Übersetzer", "a name, with a comma and \"quotes\", far too long to print",
)  # fmt: skip

COLUMNS = {
    "samples": "time_s ceiling_bytes resident_bytes active_bytes dirty_bytes metadata_bytes available_bytes "
    "pressure_level processes scenes_connected apps_foreground apps_background apps_suspended reserved_bytes",
    "apps": "time_s app pid state band footprint_bytes active_bytes dirty_bytes",
    "events": "time_s event app pid scene detail reason state level action exit_reason cause measure observed threshold",
    "launches": "app kind tapped_s ready_s latency_ms pid outcome",
    "decisions": "time_s decision action app pid rank chosen reason observed threshold demand "
    "measure outcome",
    "summary": "scenario policy seed ceiling_bytes",
    "cores": "time_s busy_ratio " + " ".join(
        f"{kind}_{name}_ms" for kind in ("given", "waited")
        for name in ("user_interactive", "user_initiated", "default", "utility", "background")
    ),
    "terminations": "time_s app pid kind state band exit_reason cause decision demand measure observed threshold "
    "beneficiary need taken_bytes footprint_bytes idle_s warned_s was_foreground was_perceived wanted_after_s why in_short standing",
}
CORES = 4
PERCEIVED_WITHIN_S = 1800
UNFELT: dict[str, object] = {"exit_reason": "memoryPressure", "was_foreground": "false", "was_perceived": "false"}
"""Of a row of terminations.csv: the user does not feel it."""
OLDER = {"events": 7, "decisions": 11}
"""How many columns these tables had before those of facts were added."""

FACTS = {"process_state": "state", "scene_state": "state", "pressure_level": "level", "warning": "level",
         "action": "action", "exit": "exit_reason"}  # fmt: skip


METRICS = (
    ("launch_latency_p50_ms", "launch p50", "lower", "ms"), ("launch_latency_p95_ms", "launch p95", "lower", "ms"),
    ("launches_unfinished", "launches lost", "lower", ""), ("hot_launch_ratio", "hot launches", "higher", "1"),
    ("terminations", "terminations", "lower", ""), ("terminations_felt", "felt", "lower", ""),
    ("warnings", "warnings", "neither", ""), ("bytes_reclaimed", "reclaimed", "neither", "byte"),
    ("time_critical_s", "time critical", "lower", "s"),
)  # fmt: skip
"""Some of those that the program declares: name, what people call it, which end is better, unit."""
NOT_DRAWN = {"launch_latency_p50_ms", "warnings", "bytes_reclaimed"}


def package_of(rows_of: str = "all", **facts: object) -> dict[str, Any]:
    """A datapackage.json as far as the tools read it; `facts` of the run differ from those of a made-up one."""
    fields = [
        {"name": name, "title": title, "type": "number", **({"unit": unit} if unit else {}), "metric": {
            "better": better, "place": place, "isDrawn": name not in NOT_DRAWN,
            **({"leavesOut": "launches_unfinished"} if unit == "ms" else {}),
        }}
        for place, (name, title, better, unit) in enumerate(METRICS, start=1)
    ]  # fmt: skip
    return {
        "resources": [{"name": "apps", "rowsOf": rows_of, "schema": {"fields": []}}, {"name": "summary", "schema": {"fields": fields}}],
        "run": {"scenario": "synthetic", "policy": "lru", "seed": 1, "apps": [], "cores": CORES, "hasPriorities": True,
                "thresholds": {}, "expectations": [], "setup": "", **facts},
    }  # fmt: skip


def write_package(directory: Path, rows_of: str = "all", **facts: object) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "datapackage.json").write_text(json.dumps(package_of(rows_of, **facts)), "utf-8")


@dataclass
class App:
    name: str
    base: int
    growth: int
    scenes: int
    pid: int = 0
    state: str = "notRunning"
    footprint: int = 0
    used_s: float = -1.0
    left_s: float = 0.0
    warned_s: float | None = None
    suspend_at_s: float = 0.0
    scene_states: dict[int, str] = field(default_factory=dict)
    missed: list[dict[str, object]] = field(default_factory=list)
    """Its terminations since the user last wanted it."""


class Phone:
    """One foreground app at a time; the others go to the background, then sleep, and die longest idle first."""

    def __init__(self, apps: int, minutes: float, seed: int, ceiling: int) -> None:
        self.random = random.Random(seed)
        self.end_s = minutes * 60
        self.ceiling = ceiling
        self.reserved = 160 * MIB
        share = (ceiling - self.reserved) / MIB
        self.apps = [
            App(
                NAMES[index] if index < len(NAMES) else f"app-{index:03}",
                int(self.random.uniform(0.05, 0.16) * share * MIB),
                int(self.random.uniform(0.1, 2.0) * MIB),
                self.random.choice((1, 1, 1, 2, 3)),
            )
            for index in range(apps)
        ]
        self.rows: dict[str, list[list[object]]] = {name: [] for name in COLUMNS}
        self.terminations: list[dict[str, object]] = []
        self.level = "normal"
        self.foreground: App | None = None
        self.next_pid = 100
        self.decisions = 0
        self.seed = seed
        # Of its own, so that the rest of the story is the same with cores and without.
        self.use = random.Random(seed + 1000)

    # What happens

    def event(self, time_s: float, event: str, app: App | None, detail: str, reason: str = "", scene: object = "",
              compared: tuple[object, ...] = ("", "", "")) -> None:
        name, pid = (app.name, app.pid) if app else ("", "")
        facts = [detail if FACTS.get(event) == column else "" for column in ("state", "level", "action", "exit_reason")]
        cause = "level" if event == "warning" else ""
        row = [f"{time_s:.6f}", event, name, pid, scene, detail, reason, *facts, cause, *compared]
        self.rows["events"].append(row)

    def enter(self, time_s: float, app: App, state: str) -> None:
        app.state = state
        self.event(time_s, "process_state", app, state)
        scene_state = {
            "active": "foregroundActive", "inactive": "foregroundInactive", "notRunning": "unattached"
        }.get(state, state)  # fmt: skip
        for scene in list(app.scene_states):
            off_screen = scene > 0 and state in ("active", "inactive")
            self.event(time_s, "scene_state", app, "background" if off_screen else scene_state, scene=scene)

    def leave(self, time_s: float) -> None:
        if self.foreground:
            self.enter(time_s, self.foreground, "background")
            self.foreground.left_s = time_s
            self.foreground.suspend_at_s = time_s + self.random.uniform(4, 30)
            self.foreground = None

    def show(self, time_s: float, app: App) -> None:
        self.leave(time_s)
        self.event(time_s, "user", app, "switch")
        self.want(time_s, app)
        cold = app.state == "notRunning"
        kind = "cold" if cold else self.random.choice(("hot", "hot", "warm"))
        if cold:
            app.pid, self.next_pid = self.next_pid, self.next_pid + 1
            app.footprint, app.warned_s = app.base, None
            app.scene_states = {number: "background" for number in range(app.scenes)}
        self.enter(time_s, app, "inactive")
        middle, spread = {"cold": (900, 0.5), "warm": (320, 0.4), "hot": (70, 0.6)}[kind]
        latency_s = self.random.lognormvariate(0, spread) * middle / 1000
        self.enter(time_s + latency_s, app, "active")
        self.event(time_s + latency_s, "first_frame", app, kind)
        self.rows["launches"].append(
            [app.name, kind, f"{time_s:.6f}", f"{time_s + latency_s:.6f}", f"{latency_s * 1000:.3f}", app.pid, "ready"]
        )
        app.used_s = time_s
        self.foreground = app

    def want(self, time_s: float, app: App) -> None:
        """The user wants the app, and misses what was ended of it."""
        for fact in app.missed:
            after_s = time_s - float(str(fact["time_s"]))
            fact["wanted_after_s"] = f"{after_s:.6f}"
            fact["was_perceived"] = "true" if after_s <= PERCEIVED_WITHIN_S else "false"
        app.missed = []

    def kill(self, time_s: float, app: App, why: str) -> None:
        taken = self.foreground.footprint - self.foreground.base if self.foreground else 0
        fact: dict[str, object] = {
            **UNFELT, "time_s": f"{time_s:.6f}", "app": app.name, "pid": app.pid, "kind": "app", "state": app.state,
            "band": 0, "decision": self.decisions, "demand": "pressure", "measure": "available_bytes",
            "observed": self.ceiling - self.resident(), "threshold": self.ceiling // 20,
            "footprint_bytes": app.footprint, "idle_s": f"{time_s - app.left_s:.6f}", "why": why,
            "in_short": "memory was critical",
        }  # fmt: skip
        if app.warned_s is not None:
            fact["warned_s"] = f"{time_s - app.warned_s:.6f}"
        if self.foreground and taken >= MIB:
            fact |= {"beneficiary": self.foreground.name, "need": "level", "taken_bytes": taken}
        self.terminations.append(fact)
        app.missed.append(fact)
        self.event(time_s, "action", app, "terminate", why)
        self.event(time_s, "exit", app, "memoryPressure", why)
        self.enter(time_s, app, "notRunning")
        app.footprint = 0

    def decide(self, time_s: float, victim: App) -> None:
        self.decisions += 1
        alive = sorted((app for app in self.apps if app.footprint), key=lambda app: app is not victim)
        for rank, app in enumerate(alive, start=1):
            spared = app is self.foreground
            self.rows["decisions"].append(
                [f"{time_s:.6f}", self.decisions, "" if spared else "terminate", app.name, app.pid, "" if spared else rank,
                 "true" if app is victim else "false", "in the foreground" if spared else "idle longest",
                 self.ceiling - self.resident(), self.ceiling // 20, "pressure", "available_bytes",
                 "spared" if spared else "chosen" if app is victim else "ranked"]
            )  # fmt: skip

    def resident(self) -> int:
        return self.reserved + sum(app.footprint for app in self.apps)

    def grow(self, time_s: float, step_s: float) -> None:
        for app in self.apps:
            if app.state == "active" and app.footprint < 3 * app.base:
                app.footprint += int(app.growth * step_s * self.random.uniform(0.2, 1.8))
            elif app.state == "background" and time_s >= app.suspend_at_s:
                app.footprint = int(app.footprint * 0.9)
                self.enter(time_s, app, "suspended")

    def relieve(self, time_s: float) -> None:
        while self.resident() > 0.95 * self.ceiling:
            sleeping = [app for app in self.apps if app.footprint and app is not self.foreground]
            if not sleeping:
                if self.foreground:
                    self.foreground.footprint -= self.resident() - int(0.95 * self.ceiling)
                break
            victim = min(sleeping, key=lambda app: app.used_s)
            self.decide(time_s, victim)
            self.kill(time_s, victim, f"available {self.ceiling - self.resident()} bytes < 5%")

    def measure(self, time_s: float) -> None:
        used = self.resident() / self.ceiling
        level = "critical" if used > 0.92 else "warning" if used > 0.82 else "normal"
        if level != self.level:
            self.level = level
            self.event(time_s, "pressure_level", None, level, f"available {1 - used:.1%}, threshold {8 if level == 'critical' else 18}%",
                       compared=("available_bytes", self.ceiling - self.resident(),
                                 self.ceiling * (8 if level == "critical" else 18) // 100))
            if level != "normal":
                for app in self.apps:
                    if app.state in ("active", "background"):
                        self.event(time_s, "warning", app, level)
                        app.warned_s = time_s
                        app.footprint = int(app.footprint * 0.95)

    def sample(self, time_s: float) -> None:
        resident = self.resident()
        alive = [app for app in self.apps if app.footprint]
        counts = [sum(app.state in states for app in alive) for states in (("active", "inactive"), ("background",), ("suspended",))]
        self.rows["samples"].append(
            [f"{time_s:g}", self.ceiling, resident, int(resident * 0.9), int(resident * 0.1), len(alive) * 134 * 1024,
             self.ceiling - resident, self.level, len(alive), sum(len(app.scene_states) for app in alive), *counts,
             self.reserved]
        )  # fmt: skip
        for app in alive:
            self.rows["apps"].append(
                [f"{time_s:g}", app.name, app.pid, app.state, 100 if app.state == "active" else 0, app.footprint,
                 int(app.footprint * 0.9), int(app.footprint * 0.1)]
            )  # fmt: skip

    def work(self, time_s: float, step_s: float) -> None:
        """What the cores did in the step before: the screen first, then what runs unseen. A device asleep has no row."""
        if time_s == 0 or int(time_s / 60) % 7 == 6:
            return
        on_screen = round(1000 * step_s * self.use.uniform(0.1, 0.9)) if self.foreground else 0
        unseen = 2.2 * sum(app.state == "background" for app in self.apps)
        rest = round(1000 * step_s * min(unseen, CORES - 1))
        waited = round(1000 * step_s * (unseen - min(unseen, CORES - 1)))
        put_off = on_screen // 10
        busy = (on_screen + put_off + rest) / (CORES * 1000 * step_s)
        self.rows["cores"].append([f"{time_s:g}", f"{busy:.6f}", on_screen, 0, 0, put_off, rest, 0, 0, 0, 0, waited])

    def run(self, step_s: float) -> None:
        next_use_s = 0.0
        favourites = [1 / (1 + index) ** 0.7 for index in range(len(self.apps))]
        for step in range(int(self.end_s / step_s) + 1):
            time_s = step * step_s
            if time_s >= next_use_s:
                self.show(time_s, self.random.choices(self.apps, favourites)[0])
                next_use_s = time_s + max(5, self.random.uniform(0.1, 1.9) * self.end_s / max(45, 1.5 * len(self.apps)))
            self.grow(time_s, step_s)
            self.relieve(time_s)
            self.measure(time_s)
            self.sample(time_s)
            self.work(time_s, step_s)
        self.rows["launches"].append([self.apps[0].name, "cold", f"{self.end_s:.6f}", "", "", "", "abandoned"])
        self.want(self.end_s, self.apps[0])
        self.rows["events"].sort(key=lambda row: float(str(row[0])))
        self.rows["summary"].append(["synthetic", "lru", self.seed, self.ceiling])


def write_terminations(directory: Path, facts: Sequence[dict[str, object]]) -> None:
    """Writes terminations.csv; what a row does not say is empty."""
    with (directory / "terminations.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS["terminations"].split(), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(facts)


def write_run(
    directory: Path, apps: int = 14, minutes: float = 30, seed: int = 1, ceiling: int = 1 << 30, step_s: float = 1.0,
    older: bool = False,
) -> None:
    """Writes the CSVs of one made-up run; an older one has no facts, no cores, and no terminations."""
    phone = Phone(apps, minutes, seed, ceiling)
    phone.run(step_s)
    directory.mkdir(parents=True, exist_ok=True)
    if not older:
        write_terminations(directory, phone.terminations)
        write_package(directory, seed=seed, thresholds={"warning": ceiling * 18 // 100, "critical": ceiling * 8 // 100})
    for name, columns in COLUMNS.items():
        if name == "terminations" or older and name == "cores":
            continue
        with (directory / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            most = OLDER.get(name) if older else None
            writer.writerow(columns.split()[:most])
            writer.writerows(row[:most] for row in phone.rows[name])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--apps", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ceiling-mib", type=int, default=1024)
    parser.add_argument("--step-s", type=float, default=1.0)
    options = parser.parse_args()
    write_run(
        options.directory, options.apps, options.minutes, options.seed, options.ceiling_mib * MIB, options.step_s
    )
