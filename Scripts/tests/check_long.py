"""Simulates whole days on real memory, and looks that the harness's own memory stays as it is after the first hour.

    .venv/bin/python -E -s Scripts/tests/check_long.py --program .build/release/plimsoll [--days 10]

Each day has a seed of its own: 26 apps, each wanted every nine minutes, on a device at a tenth of its size that is too
small for them, so that thousands end. It runs for one hour and for 24. What the harness holds besides the device's
memory at the end of both is compared: its heap, and the allocator's own metadata. The rows of terminations.csv and
launches.csv are known only when a run is over, so it keeps a record of each end and each launch; they are taken off.

Exit status: 0 flat, 1 not.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from plimsoll_tools.benchmarking import scenarios

MIB = 1 << 20
APPS = 26
END_BYTES = 2560
"""What an end takes at most: 1.2 KiB with its words, and more while the list of them moves to a larger place."""
LAUNCH_BYTES = 256
"""Likewise of a launch."""
SLACK = 2 * MIB
"""What a day may hold beyond that: more objects may be alive at once, and jemalloc's tree may have a node more."""


@dataclass(frozen=True)
class Held:
    """At the end of a run."""

    heap: int
    metadata: int
    ends: int
    launches: int

    def __str__(self) -> str:
        return f"{self.heap / MIB:.2f} + {self.metadata / MIB:.2f} MiB, {self.ends} ends, {self.launches} launches"


def held(program: str, folder: Path, backend: str, seed: int, hours: int) -> Held:
    path, out = folder / "day.yaml", folder / "run"
    kinds = scenarios.KINDS
    text = scenarios.head("day", f"{hours}h", "2GiB", backend, "jetsam", more="monitor: { interval: 1s }\n")
    text += "".join(f"  - {{ name: a{one}, like: {kinds[one % len(kinds)]} }}\n" for one in range(APPS))
    text += "user:\n" + "".join(f"  - {{ every: 9min, from: {one * 20}s, launch: a{one} }}\n" for one in range(APPS))
    path.write_text(text, encoding="utf-8")
    subprocess.run(
        [program, "run", path, "--seed", str(seed), "--scale", "0.1", "--verify", "--quiet", "--force", "--out", out],
        check=True, stdin=subprocess.DEVNULL)  # fmt: skip
    memory = json.loads((out / "manifest.json").read_text("utf-8"))["memory"]
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    launches = sum(int(row[f"launches_{kind}"]) for kind in ("hot", "warm", "cold"))
    metadata = int(memory["allocator_metadata_bytes"])
    return Held(int(memory["harness_heap_bytes"]), metadata, int(row["terminations"]), launches)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--days", type=int, default=10, help="default: 10")
    parser.add_argument("--hours", type=int, default=24, help="of a day (default: 24)")
    parser.add_argument("--backend", default="jemalloc", help="default: jemalloc")
    parser.add_argument("--jobs", type=int, default=2, help="days at a time (default: 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-long-") as scratch, ThreadPoolExecutor(options.jobs) as pool:

        def day(seed: int) -> tuple[Held, Held]:
            folder = Path(scratch, str(seed))
            folder.mkdir()
            first = held(options.program, folder, options.backend, seed, 1)
            return first, held(options.program, folder, options.backend, seed, options.hours)

        wrong = 0
        for number, (first, last) in enumerate(pool.map(day, range(1, options.days + 1)), 1):
            more = last.heap + last.metadata - first.heap - first.metadata
            most = SLACK + (last.ends - first.ends) * END_BYTES + (last.launches - first.launches) * LAUNCH_BYTES
            is_wrong = more > most
            wrong += is_wrong
            print(f"day {number}: heap and metadata after 1 h: {first}; after {options.hours} h: {last}", flush=True)
            print(f"  {more / MIB:.2f} MiB more, at most {most / MIB:.2f}{': NOT FLAT' if is_wrong else ''}", flush=True)
    print("flat" if not wrong else f"{wrong} of {options.days} days are not flat")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
