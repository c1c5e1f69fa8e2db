"""Runs scenarios in memory groups (cgroups) with a limit, and looks that the host comes to no harm.

    python Scripts/tests/check_host.py PLIMSOLL SCRATCH

Groups of 0.5 to 4 GiB, objects of 1 B to 64 KiB, both backends: the device has 60 % of its group on real memory, and
two and a half times as much on the accounting backend, which needs memory for its books alone; one app fills 85 % of
it. The two largest groups, which take the longest, have the smallest and the largest objects alone. No run may be killed:
each completes, or is refused with status 71 and one line before anything is made, and `doctor` says of the scenario what
`run` does. A refused run has to be refused for a reason: with --ignore-host it must fail in a group of 60 % of the size.
Of eight runs at least five must complete.

Prints the table. Where this user may make no memory groups, it says so and checks nothing.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MIB = 1 << 20
GROUPS = [512 * MIB, 1024 * MIB, 2048 * MIB, 4096 * MIB]
SIZES = ["1B", "16B", "256B", "4KiB", "64KiB"]
EXTREMES = {"1B", "64KiB"}
LARGE = 2048 * MIB
SHARE = {"jemalloc": 0.6, "accounting": 2.5}
JUST = 0.6
FEWEST = 0.625
REFUSED = 71

SCENARIO = """plimsoll: 1
name: host
duration: 12s
device: {{ ceiling: {ceiling}MiB, reserved: 16MiB }}
policy: none
apps:
  - name: a
    memory: {{ base: {base}MiB, scene: 0B, cache: {{ size: 0B }}, objects: {{ constant: {size} }} }}
    background: {{ snapshot: 0B }}
user:
  - {{ at: 0s, launch: a }}
"""


class NoGroups(Exception):
    """Memory groups cannot be made here."""


class Group:
    """A memory group with a limit; it is gone at the end."""

    numbers = itertools.count(1)

    def __init__(self, limit: int) -> None:
        self.first, parent = Group.parent()
        self.path = parent / f"plimsoll-check-{os.getpid()}-{next(Group.numbers)}"
        try:
            self.path.mkdir()
        except OSError as error:
            raise NoGroups(f"{self.path} cannot be made: {error.strerror}") from error
        try:
            (self.path / ("memory.limit_in_bytes" if self.first else "memory.max")).write_text(str(limit))
            swap = self.path / ("memory.memsw.limit_in_bytes" if self.first else "memory.swap.max")
            if swap.exists():
                swap.write_text(str(limit) if self.first else "0")
            if not self.peak_file.exists():
                raise NoGroups(f"{self.peak_file} is not there: the kernel does not say the peak of a group")
        except OSError as error:
            self.path.rmdir()
            raise NoGroups(f"{self.path} takes no limit: {error.strerror}") from error
        except NoGroups:
            self.path.rmdir()
            raise

    @staticmethod
    def parent() -> tuple[bool, Path]:
        """Whether the kernel's groups are of version 1, and the group below which new ones are made."""
        first = Path("/sys/fs/cgroup/memory")
        if (first / "memory.limit_in_bytes").exists():
            return True, first
        second = Path("/sys/fs/cgroup")
        try:
            if "memory" in (second / "cgroup.subtree_control").read_text().split():
                return False, second
        except OSError:
            pass
        raise NoGroups("no memory controller is mounted at /sys/fs/cgroup")

    @property
    def peak_file(self) -> Path:
        return self.path / ("memory.max_usage_in_bytes" if self.first else "memory.peak")

    def __enter__(self) -> Group:  # noqa: PYI034
        return self

    def __exit__(self, *_: object) -> None:
        for _attempt in range(600):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"{self.path} cannot be removed")

    def run(self, command: list[str]) -> tuple[int, str, str, int]:
        """The exit status, negative for a signal, what was said, and the group's peak."""
        procs = self.path / "cgroup.procs"
        shell = ["bash", "-c", f"echo $$ >'{procs}' && exec \"$@\"", "bash", *command]
        done = subprocess.run(shell, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr, int(self.peak_file.read_text())


def available() -> int:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    assert found
    return int(found[1]) << 10


def case(plimsoll: str, scratch: Path, limit: int, size: str, backend: str) -> tuple[str, str, list[str]]:
    """A row of the table, how the run ended, and what is wrong about it."""
    ceiling = int(limit * SHARE[backend]) // MIB
    scratch = scratch / f"{limit}-{size}-{backend}"
    scratch.mkdir()
    scenario, out = scratch / "host.yaml", scratch / "run"
    scenario.write_text(SCENARIO.format(ceiling=ceiling, base=ceiling * 85 // 100, size=size), encoding="ascii")
    run = [plimsoll, "run", str(scenario), "--backend", backend, "--quiet", "--out", str(out), "--force"]
    with Group(limit) as group:
        doctor, said, _, _ = group.run([plimsoll, "doctor", str(scenario), "--backend", backend])
    with Group(limit) as group:
        status, _, error, peak = group.run(run)
    need = re.search(r"may need ([\d.]+ \w+)", said)
    faults = [] if need else [f"doctor does not say what the run needs: {said}"]
    ending = {0: "completed", REFUSED: "refused"}.get(status, f"status {status}")
    if status not in (0, REFUSED):
        faults.append(f"ended with {status}: {error.strip()[-200:]}")
    if (doctor == REFUSED) != (status == REFUSED):
        faults.append(f"doctor says {doctor}, run {status}")
    if status == REFUSED:
        if len(error.splitlines()) != 1:
            faults.append(f"more than one line: {error}")
        with Group(int(limit * JUST)) as group:
            tried, _, _, peak = group.run([*run, "--ignore-host"])
        if tried == 0:
            faults.append(f"refused, but {peak >> 20} MiB are enough for it")
    used = f"{peak >> 20:6}" if status == 0 else f">{int(limit * JUST) >> 20:5}"
    row = f"{limit >> 20:6} {size:>6} {backend:<11} {ceiling:8} {need[1] if need else '?':>10} {used}  {ending}"
    return row, ending, faults


def main(arguments: list[str]) -> int:
    plimsoll, scratch = str(Path(arguments[0]).resolve()), Path(arguments[1])
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        with Group(64 * MIB):
            pass
    except NoGroups as reason:
        print(f"skipped: {reason}")
        return 0
    largest = available() - 1024 * MIB
    groups = [limit for limit in GROUPS if limit < largest]
    for limit in GROUPS[len(groups):]:
        print(f"skipped: groups of {limit >> 20} MiB, for this host has {largest >> 20} MiB to spare")
    faults, endings = [], []
    print(" group objects backend      ceiling   estimate   peak  ending (MiB)")
    cases = [one for one in itertools.product(groups, SIZES, SHARE) if one[0] < LARGE or one[1] in EXTREMES]
    # Two at once, where the host has the memory for both.
    workers = 2 if 2 * max(groups, default=0) < largest else 1
    with ThreadPoolExecutor(workers) as pool:
        for row, ending, wrong in pool.map(lambda one: case(plimsoll, scratch, *one), cases):
            print(row, *(f"  FAULT: {fault}" for fault in wrong), flush=True)
            faults += wrong
            endings.append(ending)
    completed = endings.count("completed")
    print(f"{len(endings)} runs: {completed} completed, {endings.count('refused')} refused, {len(faults)} faults")
    fewest = int(FEWEST * len(cases))
    if completed < fewest:
        print(f"at least {fewest} should complete")
    return 1 if faults or completed < fewest else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
