"""What the tests of the program share: the program, and runs that several tests read.

run_tests.py --program starts each test in a process of its own, two at a time. It names the program in PLIMSOLL and a folder
that all tests share in PLIMSOLL_SHARED.
"""

from __future__ import annotations

import csv
import fcntl
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from harness import SCRIPTS, FolderCase

from plimsoll_tools.checkout import ROOT

Test = TypeVar("Test", bound=Callable[..., None])

KERNEL_REPORT = (ROOT / "Tests" / "plimsollTests" / "Golden" / "kern.log").read_text("utf-8")
"""A small OOM report of a Linux kernel."""

SCENARIOS = ROOT / "Scenarios"
SHIPPED = [path.stem for path in sorted(SCENARIOS.glob("*.yaml"))]
OTHERS = [f"{folder}/{path.stem}" for folder in ("training", "held-out")
          for path in sorted((SCENARIOS / folder).glob("*.yaml"))]  # fmt: skip
"""Scenarios by their path below Scenarios/, without the ending."""

UNMET = 99
"""The exit status of a run that is not what its scenario expects: what scenarios expect is tested elsewhere."""

PYTHON = (sys.executable, "-E", "-s")


def alone(test: Test) -> Test:
    """Marks a test that needs gigabytes, or compares times: no other one runs beside it."""
    vars(test)["is_alone"] = True
    return test


def early(test: Test) -> Test:
    """Marks a test that takes long: it begins before the others, so that no core waits for it at the end."""
    vars(test)["is_early"] = True
    return test


def long(test: Test) -> Test:
    """Marks a test that takes a minute and more of CPU: Scripts/test --all runs it, and so does .ci/run.

    It is about what the program says, so it gets the shipping build, which takes a quarter less of CPU.
    """
    vars(test)["is_long"] = True
    return early(test)


def long_with_checks(test: Test) -> Test:
    """Marks a long test that gets the build with checks, because it looks for faults that these find."""
    vars(test)["is_long_with_checks"] = True
    return early(test)


def part_of_long(test: Test) -> Test:
    """Marks a test that does a part of what a long one does: it is left out where all tests are run."""
    vars(test)["is_part_of_long"] = True
    return early(test)


def each(values: Sequence[str]) -> Callable[[Test], Test]:
    """Makes one test for each value, which becomes its argument and the end of its name."""

    def marked(test: Test) -> Test:
        vars(test)["values"] = values
        return test

    return marked


def with_value(test: Callable[..., None], value: str) -> Callable[..., None]:
    @functools.wraps(test)
    def made(self: object) -> None:
        test(self, value)

    return made


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class ReleaseCase(FolderCase):
    """A test of the program, with a folder of its own."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, test in list(vars(cls).items()):
            values = getattr(test, "values", None)
            if values is not None:
                delattr(cls, name)
                for value in values:
                    setattr(cls, f"{name}: {value}", with_value(test, value))

    def setUp(self) -> None:
        super().setUp()
        self.plimsoll = os.environ["PLIMSOLL"]

    def ends(self, *command: object, status: int | tuple[int, ...] = 0, given: str | None = None,
             folder: Path = ROOT) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Runs a command, in the checkout's top folder, that must end with this status, or one of these."""
        words = [str(word) for word in command]
        result = subprocess.run(words, cwd=folder, input=given, capture_output=True, text=True, check=False)
        promised = (status,) if isinstance(status, int) else status
        if result.returncode not in promised:
            said = result.stdout + result.stderr
            self.fail(f"{' '.join(words)}\nended with {result.returncode}, not {' or '.join(map(str, promised))}:\n{said}")
        return result

    def run_program(self, *words: object, **how: Any) -> subprocess.CompletedProcess[str]:
        """Runs the program; the arguments are those of `ends`."""
        return self.ends(self.plimsoll, *words, **how)

    def play(self, scenario: str, out: str | Path, *words: object, **how: Any) -> Path:
        """The folder of a run of this scenario, made within the test's own folder."""
        self.run_program("run", SCENARIOS / f"{scenario}.yaml", "--quiet", "--out", self.directory / out, *words, **how)
        return self.directory / out

    def run_of(self, scenario: str, backend: str = "jemalloc") -> Path:
        """The run of a scenario as it stands. The first test that asks makes it; all tests read it, and change nothing.

        A run on real memory is verified at every sample. One on the accounting backend has the same tables for a tenth of
        the time.
        """
        shared = Path(os.environ["PLIMSOLL_SHARED"])
        place = shared / f"{scenario.replace('/', '-')}-{backend}"
        words = ["--backend", backend] + (["--verify"] if backend == "jemalloc" else [])
        fault = shared / f"{place.name}.fault"
        with (shared / f"{place.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if fault.exists():
                self.fail(fault.read_text("utf-8"))
            if not place.exists():
                try:
                    self.play(scenario, "made", *words, status=(0, UNMET)).rename(place)
                except AssertionError as failure:
                    fault.write_text(str(failure), "utf-8")
                    raise
        return place

    def check(self, name: str, *words: object, **how: Any) -> str:
        """Runs a check of this folder, shows what it prints, and returns it."""
        said = self.ends(*PYTHON, SCRIPTS / "tests" / f"check_{name}.py", *words, **how).stdout
        print(said, end="")
        return said

    def script(self, name: str, *words: object) -> None:
        """Runs a program of Scripts/, which takes the program from PLIMSOLL, and shows what it prints."""
        print(self.ends(SCRIPTS / name, *words).stdout, end="")

    def assert_described(self, folder: Path) -> None:
        """The tables in a folder are what its data package says."""
        self.ends(*PYTHON, "-m", "frictionless", "validate", "datapackage.json", folder=folder)

    def assert_there(self, path: Path) -> None:
        self.assertTrue(path.is_file() and path.stat().st_size > 0, f"{path} is not there, or empty")
