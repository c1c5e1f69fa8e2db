"""A stand-in for the program: one policy whose parameters have known effects.

The scenario's name says what is true: `noise` (nothing matters, every run is luck), `written` (there is no luck: the
user is written down, event by event), `slow` (a run takes a while),
`endless` (five minutes, and it tells its process in a file), anything else: `keep` has its best at 20 s, far from the default; more `reserve` costs kills and saves latency; a
`greed` above one half kills in the foreground; `picky` and `keep` above 10 s together are refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import select
import statistics
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

TABLE: list[dict[str, Any]] = [
    {
        "parameter": "keep",
        "type": "time",
        "default": "2s",
        "default_value": 2.0,
        "minimum": "0s",
        "minimum_value": 0.0,
        "maximum": "1d",
        "maximum_value": 86400.0,
        "meaning": "how long something is kept",
    },
    {
        "parameter": "reserve",
        "type": "bytes",
        "default": "8MiB",
        "default_value": 8388608.0,
        "minimum": "4KiB",
        "minimum_value": 4096.0,
        "maximum": "1GiB",
        "maximum_value": 1073741824.0,
        "meaning": "what stays free",
    },
    {
        "parameter": "greed",
        "type": "ratio",
        "default": "40%",
        "default_value": 0.4,
        "minimum": "0%",
        "minimum_value": 0.0,
        "maximum": "100%",
        "maximum_value": 1.0,
        "meaning": "how much is taken",
    },
    {
        "parameter": "rounds",
        "type": "count",
        "default": "2",
        "default_value": 2.0,
        "minimum": "1",
        "minimum_value": 1.0,
        "maximum": "1000",
        "maximum_value": 1000.0,
        "meaning": "does nothing",
    },
    {"parameter": "picky", "type": "flag", "default": "false", "meaning": "refuses long keeps"},
    {"parameter": "make", "type": "choice", "default": "b", "choices": ["a", "b"], "meaning": "is not searched"},
    {"parameter": "friends", "type": "names", "default": "[]", "meaning": "is not searched"},
]
METRICS = (
    "terminations_perceived",
    "launch_latency_p95_ms",
    "terminations_foreground",
    "terminations",
    "duration_s",
    "launches_cold",
    "terminations_felt",
    "hot_launch_ratio",
)
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "%": 0.01}


def amount(text: str) -> float:
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzKMGTB%")
    return float(number) * UNITS.get(text[len(number) :], 1.0)


def luck(*parts: object) -> float:
    """Between 0 and 1, the same for the same parts."""
    return hashlib.sha256(repr(parts).encode()).digest()[0] / 255


def summary(scenario: str, seed: int, policy: dict[str, Any]) -> dict[str, str] | None:
    """The run's figures; None where the program refuses."""
    given = {entry["parameter"]: entry["default"] for entry in TABLE} | dict(policy.get("parameters") or {})
    keep, reserve = amount(str(given["keep"])), amount(str(given["reserve"]))
    greed = amount(str(given["greed"]))
    if given["picky"] is True and keep > 10:
        return None
    kills = 4 + 3 * abs(math.log10(max(keep, 1e-3) / 20)) + 0.4 * math.log2(reserve / 4096) + 4 * luck(scenario, seed)
    latency = 1500 - 20 * math.log2(reserve / 4096) + 100 * luck(seed, scenario)
    taps = 10 if "written" in scenario else 10 + round(20 * luck("taps", seed))
    if "written" in scenario:
        kills, latency = kills - 4 * luck(scenario, seed), latency - 100 * luck(seed, scenario)
    if "noise" in scenario:
        kills, latency = 5 + 4 * luck(seed, keep, reserve), 1500 + 100 * luck(reserve, keep, seed)
    killed = int(greed > 0.5)
    figures = (kills - 2 * killed, latency - 300 * killed, killed, kills, 60, taps, kills - 2 * killed, 0.5)
    return {"scenario": scenario, "policy": "fake", "seed": str(seed)} | {
        name: f"{value:.4f}" for name, value in zip(METRICS, figures)
    }


def seconds_lost(row: dict[str, str]) -> str:
    """Against a yardstick whose every launch takes a second."""
    return str(float(row["launch_latency_p95_ms"]) / 1000 - 1)


def row_of(metric: str, scenarios: list[dict[str, Any]]) -> dict[str, Any]:
    """A metric's difference, as if values were normal: its interval is wider than 95 % for the few that tests have."""
    pairs = [pair for one in scenarios for pair in one["pairs"]]
    standard, tuned = (statistics.fmean(pair[name][metric] for pair in pairs) for name in ("standard", "tuned"))
    gaps = [round(pair["tuned"][metric] - pair["standard"][metric], 9) for pair in pairs]
    row = {"metric": metric, "standard": standard, "tuned": tuned, "difference": tuned - standard, "confidence": 0.95,
           "pairs": len(pairs), "is_one_case_each": len(set(gaps)) == 1, "is_clear": False, "cells": list("abcde")}  # fmt: skip
    if len(set(gaps)) > 1:
        half = 2.6 * statistics.stdev(gaps) / math.sqrt(len(gaps))
        row |= {"low": tuned - standard - half, "high": tuned - standard + half, "is_clear": abs(tuned - standard) > half}
    return row


def judge(question: dict[str, Any]) -> list[dict[str, Any]]:
    """A verdict on each group, as simple as tests need it."""
    found = []
    for group in question["groups"]:
        rows = [row_of(goal["metric"], [one for one in question["scenarios"] if one["name"] in group["scenarios"]])
                for goal in question["goals"]]  # fmt: skip
        gains = {-row["difference"] > 0 for row in rows if row["is_clear"]}
        word = "not shown to be better" if not gains else "a trade" if len(gains) > 1 else "better" if True in gains else "worse"
        word = "nothing was held out" if all(row["is_one_case_each"] for row in rows) else word
        word = "not admissible" if group["broken"] else word
        sentence = f"On {group['place']}: {word} than the default. {rows[0]['metric']} {'; '.join(group['broken'])}."
        found.append({"place": group["place"], "word": word, "sentence": sentence, "rows": rows})
    return found


def answer(arguments: list[str]) -> str | None:
    """What the program prints for anything but a run; None: it is a run."""
    if arguments[:1] == ["--version"]:
        return "0.0-fake"
    if arguments[:1] == ["build-id"]:
        return os.environ.get("FAKE_BUILD", "f" * 40)
    if arguments[:1] == ["verdict"]:
        return json.dumps(judge(json.load(sys.stdin)))
    if arguments[:2] == ["list", "policies"]:
        return json.dumps({"policies": [{"policy": "fake", "parameters": TABLE}]})
    if arguments[:2] == ["list", "metrics"]:
        metric = {"better": "lower", "isDrawn": False}
        fields: list[dict[str, Any]] = [{"name": name, "type": "string"} for name in ("scenario", "policy", "seed")]
        fields += [{"name": name, "type": "number", "metric": metric} for name in (*METRICS, "seconds_lost")]
        return json.dumps({"metrics": fields})
    return None if arguments[:1] == ["case"] else ""


def faults(paths: list[str]) -> str:
    """What `validate` says: a file that holds the word `broken` is."""
    for path in paths:
        if Path(path).is_file() and "broken" in Path(path).read_text("utf-8"):
            return f"{path}:1:1: unknown key 'broken'"
    return ""


def serve() -> int:
    """Makes the runs that lines of stdin ask for."""
    status = 0
    while status != 143 and (line := sys.stdin.readline()):
        with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
            status = main(["case", *json.loads(line)])
        print(json.dumps({"status": status, "output": output.getvalue(), "errors": errors.getvalue()}), flush=True)
    return status


def main(arguments: list[str]) -> int:
    if arguments == ["serve"]:
        return serve()
    text = answer(arguments)
    if arguments[:1] == ["validate"]:
        words = faults(arguments[1:])
        if words:
            print(words, file=sys.stderr)
            return 65
    if text is not None:
        print(text)
        return 0
    settings = [word for word in arguments if word.startswith("policy=")]
    scenario = Path(arguments[1]).stem
    row = summary(scenario, int(arguments[arguments.index("--seed") + 1]), json.loads(settings[0][7:]))
    if row is None:
        print("plimsoll: picky refuses", file=sys.stderr)
        return 65
    if "endless" in scenario:
        Path(arguments[1]).with_suffix(".pid").write_text(str(os.getpid()), "utf-8")
    until = time.monotonic() + (300 if "endless" in scenario else 0.15 if "slow" in scenario else 0)
    while time.monotonic() < until:
        # As the program does: its standard input ends with the process that started it.
        if select.select([sys.stdin], [], [], 0.01)[0]:
            return 143
    print("0 0")
    print(",".join(row.values()) + ("\t0,0" if "--tell-waits" in arguments else ""))
    if "--lost-against" in arguments:
        print(seconds_lost(row))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
