"""Applies what `plimsoll explain` says would have saved an app, and looks whether it does, and at that price.

    python Scripts/tests/check_explain.py PLIMSOLL RUN-DIRECTORY SCRATCH
    python Scripts/tests/check_explain.py PLIMSOLL --kills 20 --seed 1 SCENARIO... SCRATCH

The first form checks what is said of the first ends of a run. The second draws ends at random from runs of the scenarios
under several policies and seeds, and also demands that most of them have advice: a change that saves the app for good and
makes the run no worse.

Every change that is named is applied to the run's own scenario.yaml. The app must then live as long as is said. The price
is computed anew from the tables of both runs: each end that only the second run has, each launch that is slower or comes
to no first frame, and waiting for memory must have been said, and every end that was said must come.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

POLICIES = ("ladder", "jetsam")
SEEDS = (1, 2, 3)
# The share of the drawn ends that must have advice.
ADVISED = 0.75

HEAD = re.compile(r"^(?P<app>\S.*?) was (?:ended|asked to end) by .*?, (?P<clock>[\d. hmins]+) into the run")
CLOCK = re.compile(r"(?:(\d+) h )?(?:(\d+) min )?([\d.]+) s")
OPTION = re.compile(r"(--set .*)$")
LONGER = re.compile(r"it lives .*? longer, until .*? ([\d. hmins]+?) into the run")
ENDS = re.compile(r"([\w-]+)(?:, in the FOREGROUND|, perceived)?: it ends ([\d. hmins]+?) into the run")
PERCEIVED = re.compile(r"([\w-]+), perceived: it ends ([\d. hmins]+?) into the run, and the user wants it again ([^.]*\.\d s)")
LAUNCH = re.compile(r"([\w-]+), (?:slower|in the FOREGROUND): its launch ([\d. hmins]+?) into the run")
SOONER = re.compile(r"([\w-]+) \(([\d. hmins]+?), by ")
MORE = re.compile(r"and \d+ more: ((?:[\w-]+ \(\d+\)(?:, )?)+)")
WHOLE = re.compile(r"On the whole: (?:worse|better|the same figures): (\d+) terminations?.*?, (\d+) in the foreground")
SYSTEM = {
    "appWatchdog", "cpuResourceLimit", "memoryResourceLimit", "memoryPressure", "suspendedWithLockedFile",
    "backgroundTaskAssertionTimeout",
}  # fmt: skip
SURVIVAL = 10.0
NOTICED = 0.1


def seconds(clock: str) -> float:
    found = CLOCK.search(clock)
    if not found:
        raise SystemExit(f"'{clock}' is no time")
    return 3600 * int(found[1] or 0) + 60 * int(found[2] or 0) + float(found[3])


def is_same(said: float, real: float) -> bool:
    """Whether a time with one decimal, the rest cut off, is this one. A sum of two such times lacks a tenth more."""
    return -0.001 <= real - said < 0.201


@dataclass
class Advice:
    """One change that explain names, with what it says of it."""

    option: str
    text: str
    # Nothing that was tried saves the app.
    is_hopeless: bool
    # It saves the app for good and makes the run no worse.
    is_fair: bool
    # When the process ends with the change; nothing if it is still there at the end of the run.
    until: float | None


@dataclass
class Explanation:
    app: str
    at: float
    advices: list[Advice] = field(default_factory=list)


@dataclass
class Run:
    """The tables of a run, as far as they are compared."""

    exits: list[tuple[str, float, bool]]
    launches: dict[tuple[str, float], float | None]
    summary: dict[str, str]
    # Seconds of waiting for memory outside launches.
    waiting: float


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read(folder: Path) -> Run:
    exits = [
        (row["app"], float(row["time_s"]), row["exit_reason"] in SYSTEM)
        for row in rows(folder / "events.csv")
        if row["event"] == "exit"
    ]
    launches = rows(folder / "launches.csv")
    summary = rows(folder / "summary.csv")[0]
    in_launches = sum(float(row["memory_wait_ms"] or 0) for row in launches if row["latency_ms"])
    return Run(
        exits,
        {(row["app"], float(row["tapped_s"])): float(row["latency_ms"]) if row["latency_ms"] else None for row in launches},
        summary,
        float(summary["stall_time_s"]) - in_launches / 1000,
    )


def explanations(text: str) -> list[Explanation]:
    found = []
    for paragraph in text.strip().split("\n\n"):
        head = HEAD.match(" ".join(paragraph.split()))
        if not head:
            raise SystemExit(f"this explains nothing:\n{paragraph}")
        explanation = Explanation(head["app"], seconds(head["clock"]))
        first: float | None = None
        for part in re.split(r"\n  (?=What saves it:|Or:|In vain:)", paragraph)[1:]:
            lines = [line for line in part.splitlines() if "--set " in line]
            option = OPTION.search(lines[0]) if lines else None
            if not option:
                continue
            flat = " ".join(part.split())
            life = flat[: flat.index("plimsoll run ")]
            longer = LONGER.search(life)
            until = seconds(longer[1]) if longer else None
            if not explanation.advices:
                first = until
            elif not longer and "still there" not in life:
                # A change that says nothing of its own about the process's life is like the first one.
                until = first
            hopeless = flat.startswith("What saves it: nothing that was tried")
            is_fair = "nothing" not in life and "before the user wants it again" not in life and "whole: worse" not in flat
            explanation.advices.append(Advice(option[1], flat, hopeless, is_fair, until))
        found.append(explanation)
    return found


def wrong_life(run: Run, app: str, at: float, advice: Advice) -> list[str]:
    """What is not true of what is said about the life of the process."""
    later = sorted(time for name, time, _ in run.exits if name == app and time > at - 0.001)
    if advice.is_hopeless:
        isthere = not any(at - 1 <= time <= at + SURVIVAL for time in later)
        return [f"{advice.option} saves it, and nothing is said to"] if isthere else []
    if advice.until is None:
        return [f"it ends at {later[0]} s with {advice.option}"] if later else []
    if not later or not is_same(advice.until, later[0]):
        return [f"it ends at {later[:1]}, not at {advice.until} s, with {advice.option}"]
    return []


def wrong_price(without: Run, run: Run, text: str) -> list[str]:
    """What happens in the changed run and was not said, and what was said and does not happen."""
    ends = [(app, seconds(clock)) for app, clock in ENDS.findall(text)]
    sooner = [(app, seconds(clock)) for app, clock in SOONER.findall(text)]
    more = Counter({app: int(count) for part in MORE.findall(text) for app, count in re.findall(r"([\w-]+) \((\d+)\)", part)})
    wrong = [
        f"{app} does not end at {at} s"
        for app, at in ends + sooner
        if not any(name == app and is_same(at, time) for name, time, _ in run.exits)
    ]
    # An end that is only counted may stand for the slower launch after it, too.
    wrong += unsaid_ends(without, run, ends, Counter(more)) + unsaid_launches(without, run, text, Counter(more))
    # Waits are told app by app, in front and off screen, and each short one is not noticed.
    hidden = 2 * NOTICED * len({app for app, _ in run.launches})
    if run.waiting - without.waiting >= hidden and "for memory instead of" not in text:
        wrong.append(f"apps wait {run.waiting - without.waiting:.1f} s longer")
    whole = WHOLE.search(text)
    real = (int(run.summary["terminations"]), int(run.summary["terminations_foreground"]))
    if whole and (int(whole[1]), int(whole[2])) != real:
        wrong.append(f"{real} terminations and in the foreground, not {whole[0]}")
    return wrong


def unsaid_ends(without: Run, run: Run, said: list[tuple[str, float]], more: Counter[str]) -> list[str]:
    """Ends between two taps on an app that only the changed run has and that were not said."""
    wrong = []
    for app in sorted({name for name, _, _ in run.exits}):
        taps = sorted({tap for one in (without, run) for name, tap in one.launches if name == app})

        def place(time: float, taps: list[float] = taps) -> int:
            return sum(tap <= time for tap in taps)

        def count(one: Run, app: str = app) -> Counter[int]:
            return Counter(place(time) for name, time, by_system in one.exits if name == app and by_system)

        told = Counter(place(time) for name, time in said if name == app)
        now, then = count(run), count(without)
        for window in now:
            extra = now[window] - then[window] - told[window]
            if extra > 0:
                more[app] -= extra
                if more[app] < 0:
                    wrong.append(f"{app} ends {now[window]} times after tap {window} instead of {then[window]}, unsaid")
    return wrong


def unsaid_launches(without: Run, run: Run, text: str, more: Counter[str]) -> list[str]:
    """Launches that are slower or never done in the changed run only, and were not said."""
    said = [(app, seconds(clock)) for app, clock in LAUNCH.findall(text)]
    said += [(app, seconds(at) + seconds(after)) for app, at, after in PERCEIVED.findall(text)]
    wrong = []
    for (app, tap), latency in run.launches.items():
        before = without.launches.get((app, tap), 0.0)
        if before is None:
            continue
        is_loss = latency is None or latency - before >= NOTICED * 1000
        if is_loss and not any(name == app and is_same(at, tap) for name, at in said):
            more[app] -= 1
            if more[app] < 0:
                wrong.append(f"{app}'s launch at {tap} s takes {latency} ms instead of {before} ms, unsaid")
    return wrong


def check(plimsoll: str, folder: Path, scratch: Path, options: list[str]) -> tuple[list[Explanation], int]:
    """What explain says of a run, and the number of its changes that are not what they are said to be."""
    result = subprocess.run([plimsoll, "explain", str(folder), "--all", *options], capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"explain {folder} {options}: status {result.returncode}\n{result.stderr}")
    without = read(folder)
    found = explanations(result.stdout)
    faults = 0
    for explanation in found:
        app, at = explanation.app, explanation.at
        if not any(name == app and is_same(at, time) or abs(time - at) < 1 for name, time, _ in without.exits):
            raise SystemExit(f"the run did not end {app} at {at} s")
        for advice in explanation.advices:
            command = [plimsoll, "run", str(folder / "scenario.yaml"), *shlex.split(advice.option), "--set", "expect=[]"]
            subprocess.run([*command, "--quiet", "--force", "--out", str(scratch)], check=True)
            run = read(scratch)
            wrong = wrong_life(run, app, at, advice)
            wrong += [] if advice.is_hopeless else wrong_price(without, run, advice.text)
            faults += bool(wrong)
            print(f"{app} at {at} s, {advice.option[:100]}: {'WRONG: ' + '; '.join(wrong) if wrong else 'as said'}", flush=True)
    return found, faults


def check_run(plimsoll: str, folder: Path, scratch: Path) -> int:
    found, faults = check(plimsoll, folder, scratch, [])
    return 1 if faults or not any(explanation.advices for explanation in found) else 0


def draw(plimsoll: str, scenarios: list[str], scratch: Path, count: int, seed: int) -> list[tuple[Path, str, str]]:
    """Ends by the system from runs of the scenarios, at random: the run's folder, the app, the instant."""
    ends = []
    for scenario in scenarios:
        for policy in POLICIES:
            for run_seed in SEEDS:
                folder = scratch / f"{Path(scenario).stem}-{policy}-{run_seed}"
                command = [plimsoll, "run", scenario, "--policy", policy, "--seed", str(run_seed), "--quiet"]
                command += ["--backend", "accounting", "--set", "expect=[]", "--force", "--out", str(folder)]
                subprocess.run(command, check=True)
                ends += [
                    (folder, row["app"], row["time_s"])
                    for row in rows(folder / "events.csv")
                    if row["event"] == "exit" and row["exit_reason"] in SYSTEM
                ]
    print(f"{len(ends)} ends; {count} of them, drawn with seed {seed}", flush=True)
    return random.Random(seed).sample(ends, count)


def check_kills(plimsoll: str, scenarios: list[str], scratch: Path, count: int, seed: int) -> int:
    faults, advised = 0, 0
    for number, (folder, app, at) in enumerate(draw(plimsoll, scenarios, scratch, count, seed), start=1):
        print(f"{number}. {folder.name}: {app} at {at} s", flush=True)
        found, wrong = check(plimsoll, folder, scratch / "saved", ["--app", app, "--at", f"{at}s"])
        faults += wrong
        advised += any(advice.is_fair for explanation in found for advice in explanation.advices)
    print(f"{advised} of {count} ends have advice (seed {seed}); {faults} changes are not what they are said to be")
    return 1 if faults or advised < ADVISED * count else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("plimsoll")
    parser.add_argument("inputs", nargs="+", help="a run's directory, or scenarios; then a folder for files")
    parser.add_argument("--kills", type=int, default=0, help="how many ends to draw from runs of the scenarios")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    *inputs, scratch = arguments.inputs
    Path(scratch).mkdir(parents=True, exist_ok=True)
    if arguments.kills:
        return check_kills(arguments.plimsoll, inputs, Path(scratch), arguments.kills, arguments.seed)
    return check_run(arguments.plimsoll, Path(inputs[0]), Path(scratch) / "saved")


if __name__ == "__main__":
    sys.exit(main())
