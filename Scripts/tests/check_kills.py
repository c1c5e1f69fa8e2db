"""Kills runs, sweeps, surveys and searches at random moments (SIGKILL), and looks at what is left.

What a killed run leaves is a beginning of what the whole run writes, in whole rows, and claims to be complete only if it is;
pictures of some are drawn. A sweep, a survey (`plimsoll survive`) and a search with one worker (`Scripts/tune`) go on with
--resume to the bytes of those that nobody killed, and a run is begun anew. Only what ended by the signal counts.

  .venv/bin/python -E -s Scripts/tests/check_kills.py --program .build/release/plimsoll

The moments are drawn from --seed. Exit status: 0 everything held, 1 something did not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = (sys.executable, "-E", "-s")
QUICKSTART, COMMUTER = (ROOT / "Scenarios" / f"{name}.yaml" for name in ("quickstart", "seeded-commuter"))
LATE = 4
"""An attempt that ended by itself does not count; so many times as many attempts are made at most."""
DRAWN = 5
"""Of so many killed runs the pictures are drawn."""
NOTHING = " to resume"
ANSWER = ("answer.txt", "survival.csv", "background.csv", "ends.csv", "settings.csv", "runs.csv", "stays.csv")
FOUND = ("trials.csv", "front.csv", "verdict.csv", "held-out.csv", "policy.yaml")


def whole_rows(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


@dataclass
class Kind:
    """A kind of command that is killed: its words without --out and --resume, and the files that must be as they were."""

    name: str
    words: tuple[object, ...]
    files: tuple[str, ...]
    environment: dict[str, str]

    def command(self, out: Path, *more: object) -> list[str]:
        return [str(word) for word in (*self.words, "--out", out, *more)]


class Kills:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.wrong: list[str] = []

    def run(self, command: list[str], environment: dict[str, str], *, allowed: str = "") -> float | None:
        """Runs a command to its end, and returns the seconds that it took; None if it ended with the allowed words."""
        began = time.monotonic()
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **environment}
        )
        if result.returncode != 0:
            if allowed and allowed in result.stderr:
                return None
            self.wrong.append(f"{' '.join(command)} ended with {result.returncode}: {result.stderr.strip()[-300:]}")
        return time.monotonic() - began

    def go_on(self, kind: Kind, out: Path, hit: int) -> bool:
        """Goes on after a kill; false if a run is not begun anew, which is done for one in ten."""
        if kind.name == "run":
            if hit % 10 == 1:
                self.run(kind.command(out, "--force"), kind.environment)
            return hit % 10 == 1
        # Killed before there was anything to go on from, it is begun.
        if self.run(kind.command(out, "--resume"), kind.environment, allowed=NOTHING) is None:
            shutil.rmtree(out, ignore_errors=True)
            self.run(kind.command(out), kind.environment)
        return True

    def is_killed(self, kind: Kind, out: Path, seconds: float) -> bool:
        """Begins the command and kills it after a random part of these seconds; false if it had ended before."""
        process = subprocess.Popen(
            kind.command(out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT,
            env={**os.environ, **kind.environment},
        )  # fmt: skip
        try:
            process.wait(self.random.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def series(self, kind: Kind, count: int) -> None:
        if count == 0:
            return
        began = time.monotonic()
        whole = self.folder / f"whole-{kind.name}"
        self.run(kind.command(whole), kind.environment)
        seconds = self.run(kind.command(self.folder / f"timed-{kind.name}"), kind.environment) or 0
        hit = attempts = drawn = empty = 0
        while hit < count and attempts < LATE * count and not self.wrong:
            attempts += 1
            out = self.folder / kind.name
            if self.is_killed(kind, out, seconds):
                hit += 1
                empty += not out.is_dir()
                if kind.name == "run":
                    drawn += self.look_at_run(out, whole, draws=drawn < DRAWN)
                if self.go_on(kind, out, hit):
                    self.compare(kind, out, whole)
            shutil.rmtree(out, ignore_errors=True)
        if hit < count:
            self.wrong.append(f"{kind.name}: only {hit} of {attempts} were hit")
        took = time.monotonic() - began
        pictures = f", {drawn} drawn" if kind.name == "run" else ""
        print(
            f"{kind.name}: {hit} killed of {attempts} begun, {empty} before they had a folder{pictures}; {took:.0f} s",
            flush=True,
        )

    def compare(self, kind: Kind, out: Path, whole: Path) -> None:
        for name in kind.files:
            if not (out / name).is_file() or (out / name).read_bytes() != (whole / name).read_bytes():
                self.wrong.append(f"{kind.name}: {name} is not that of one that nobody killed")

    def look_at_run(self, out: Path, whole: Path, *, draws: bool) -> bool:
        """Whether pictures of it were drawn."""
        manifest = out / "manifest.json"
        claims = manifest.is_file() and json.loads(manifest.read_text("utf-8")).get("ending") == "completed"
        for table in out.glob("*.csv"):
            left, right = table.read_bytes(), (whole / table.name).read_bytes()
            if not right.startswith(whole_rows(left)) or (claims and left != right):
                self.wrong.append(f"run: {table.name} is no beginning of the whole run's, or is said to be complete")
        events = out / "events.csv"
        if not draws or not events.is_file() or events.read_bytes().count(b"\n") < 20:
            return False
        self.run([*PYTHON, "-m", "plimsoll_tools.plotting", str(out)], {"PYTHONPATH": str(ROOT / "Scripts")})
        return any((out / "plots").glob("*.png"))


def kinds(program: str) -> dict[str, Kind]:
    tables = ("samples.csv", "apps.csv", "events.csv", "decisions.csv", "launches.csv", "terminations.csv", "summary.csv")
    tune = (
        *PYTHON, "-m", "plimsoll_tools.tuning", QUICKSTART, "--policy", "ladder", "--trials", 3, "--seeds", "1..2",
        "--held-out-seeds", "101..105", "--confirm", "accounting", "--jobs", 1,
    )  # fmt: skip
    return {
        "run": Kind("run", (program, "run", QUICKSTART, "--set", "expect=[]", "--scale", "25%", "--quiet"), tables, {}),
        "sweep": Kind(
            "sweep",
            (program, "sweep", QUICKSTART, "--seeds", "1..3", "--vary", "device.ceiling=400MiB,512MiB", "--backend", "accounting"),
            ("sweep.csv",), {},
        ),
        "tune": Kind("tune", tune, FOUND, {"PLIMSOLL": program, "PYTHONPATH": str(ROOT / "Scripts")}),
        "survive": Kind(
            "survive", (program, "survive", COMMUTER, "--app", "photos", "--seeds", "1..4", "--share-only", "--quiet"), ANSWER, {}
        ),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    for name, count in (("run", 300), ("sweep", 60), ("tune", 60), ("survive", 30)):
        parser.add_argument(f"--{name}", type=int, default=count, metavar="N", help=f"({count})")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-kills.") as folder:
        kills = Kills(Path(folder), given.seed)
        for name, kind in kinds(str(Path(given.program).resolve())).items():
            kills.series(kind, getattr(given, name))
    for wrong in kills.wrong:
        print(f"wrong: {wrong}")
    return 1 if kills.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
