"""Applies what `plimsoll explain` says would have saved an app, and looks whether it does, and at that price.

    python Scripts/tests/check_explain.py PLIMSOLL RUN-DIRECTORY SCRATCH

Every explanation names a `--set`. It is applied to the run's own scenario.yaml; the app must then not end around the
instant at which it was ended, by whomever. Where nothing that was tried saves it, it must. Every end that is named as its
price must come, and the figures of the whole run must be those of its summary.
"""

from __future__ import annotations

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

ENDED = re.compile(r"^(?P<app>\S.*?) was (?:ended|asked to end) by the policy .*?, (?P<clock>[\d. hmins]+) into the run")
CLOCK = re.compile(r"(?:(\d+) h )?(?:(\d+) min )?([\d.]+) s")
OPTION = re.compile(r"(--set .*)$")
NOTHING = "What saves it: nothing that was tried"
PAID = re.compile(r"([\w-]+)(?:, in the FOREGROUND|, perceived)?: it ends ([\d. hmins]+?) into the run")
SOONER = re.compile(r"([\w-]+) \(([\d. hmins]+?), by ")
WHOLE = re.compile(r"On the whole: (?:worse|better|the same figures): (\d+) terminations?.*?, (\d+) in the foreground")
SURVIVAL = 10.0


def seconds(clock: str) -> float:
    found = CLOCK.search(clock)
    if not found:
        raise SystemExit(f"'{clock}' is no time")
    return 3600 * int(found[1] or 0) + 60 * int(found[2] or 0) + float(found[3])


def explanations(text: str) -> list[tuple[str, float, str, bool]]:
    """App, instant and option of every paragraph, and whether the option is said to save the app."""
    found = []
    for paragraph in text.strip().split("\n\n"):
        head = ENDED.match(paragraph)
        lines = [line for line in paragraph.splitlines() if "--set " in line]
        option = OPTION.search(lines[-1]) if lines else None
        if not head or not option:
            raise SystemExit(f"this explains nothing:\n{paragraph}")
        found.append((head["app"], seconds(head["clock"]), option[1], NOTHING not in paragraph))
    return found


def price(text: str) -> list[tuple[list[tuple[str, float]], tuple[int, int] | None]]:
    """Of every paragraph the ends that pay, and the terminations of the whole run and those in the foreground."""
    found = []
    for paragraph in text.strip().split("\n\n"):
        flat = " ".join(paragraph.split())
        whole = WHOLE.search(flat)
        found.append((
            [(app, seconds(clock)) for app, clock in PAID.findall(flat) + SOONER.findall(flat)],
            (int(whole[1]), int(whole[2])) if whole else None,
        ))  # fmt: skip
    return found


def wrong_price(directory: Path, paid: list[tuple[str, float]], whole: tuple[int, int] | None) -> list[str]:
    wrong = [f"{app} does not end at {at} s" for app, at in paid if not is_ended(directory, app, at, survival=1)]
    with (directory / "summary.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    real = (int(row["terminations"]), int(row["terminations_foreground"]))
    return wrong + ([f"{real} terminations and in the foreground, not {whole}"] if whole not in (None, real) else [])


def is_ended(directory: Path, app: str, at: float, survival: float = SURVIVAL) -> bool:
    with (directory / "events.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["app"] == app and row["event"] == "exit"]
    return any(at - 1 <= float(row["time_s"]) <= at + survival for row in rows)


def main(arguments: list[str]) -> int:
    plimsoll, run, scratch = arguments[0], Path(arguments[1]), Path(arguments[2])
    text = subprocess.run([plimsoll, "explain", str(run)], check=True, capture_output=True, text=True).stdout
    faults = 0
    for number, ((app, at, option, is_saved), said) in enumerate(zip(explanations(text), price(text))):
        if not is_ended(run, app, at):
            raise SystemExit(f"the run did not end {app} at {at} s")
        out = scratch / f"saved-{number}"
        command = [plimsoll, "run", str(run / "scenario.yaml"), *shlex.split(option), "--set", "expect=[]"]
        subprocess.run([*command, "--quiet", "--out", str(out)], check=True)
        saved = not is_ended(out, app, at)
        wrong = wrong_price(out, *said)
        faults += saved != is_saved or bool(wrong)
        for line in wrong:
            print(f"WRONG PRICE: {line}")
        print(f"{app} at {at} s, {option}: {'saved' if saved else 'not saved'}{'' if saved == is_saved else ', WRONG'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
