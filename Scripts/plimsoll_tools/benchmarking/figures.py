"""The figures: what the engine does, what the anchor does, and how the two are compared."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from plimsoll_tools.benchmarking import scenarios
from plimsoll_tools.benchmarking import trace as traces
from plimsoll_tools.benchmarking.measure import Figure, Side, Usage, run

Size = TypeVar("Size")


@dataclass(frozen=True)
class Bench:
    """Where everything is, and how long the inputs are."""

    plimsoll: str
    root: Path
    scratch: Path
    anchors: Path
    python: str
    trace: Path
    quick: bool

    def scenario(self, name: str, text: str) -> str:
        path = self.scratch / f"{name}.yaml"
        path.write_text(text)
        return str(path)

    def run(self, scenario: str, *options: str) -> tuple[Usage, dict[str, Any]]:
        """Runs a scenario from start to exit; the usage and the manifest."""
        out = self.scratch / "run"
        shutil.rmtree(out, ignore_errors=True)
        usage = run([self.plimsoll, "run", scenario, "--quiet", "--ignore-host", "--out", str(out), *options])
        return usage, json.loads((out / "manifest.json").read_text())

    def anchor(self, name: str, *arguments: object) -> Usage:
        return run([str(self.anchors / name), *map(str, arguments)])

    def simpy(self, *arguments: object) -> Usage:
        return run([self.python, str(self.root / "Benchmarks/Anchors/queue.py"), *map(str, arguments)])

    def sized(self, whole: Size, quick: Size) -> Size:
        return quick if self.quick else whole


#: Operations of a trace per second of virtual time, and operations between two purges (10 s).
PACE, PURGE_EVERY = 20_000, 200_000


def lines_of(trace: Path) -> int:
    with trace.open("rb") as file:
        return sum(1 for _ in file)


def further_rounds(bench: Bench, trace: Path, name: str) -> Figure:
    """What it costs to play a trace once more, of which the differences of two long runs and of two loops tell."""
    lines, rounds = lines_of(trace), bench.sized(20, 2)
    seconds = -(-lines // PACE) + 3
    # The extra time plays exactly `rounds` more rounds, to the operation.
    extra = lines * rounds / PACE
    shorter = bench.scenario(f"{trace.stem}-shorter", scenarios.replay(trace, seconds, PACE, "loop"))
    longer = bench.scenario(
        f"{trace.stem}-longer", scenarios.replay(trace, f"{(seconds + extra) * 1000:.0f}m", PACE, "loop"))

    def engine() -> float:
        return (bench.run(longer)[0].cpu - bench.run(shorter)[0].cpu) / rounds

    def loop() -> float:
        many = bench.anchor("replay", trace, rounds + 1, PURGE_EVERY).said["cpu_s"]
        return (many - bench.anchor("replay", trace, 1, PURGE_EVERY).said["cpu_s"]) / rounds

    return Figure(
        1, f"replay of {name}, each further round: engine / bare loop", Side("engine", engine, "s CPU"),
        Side("C loop", loop, "s CPU"), 1.20)


def replay(bench: Bench) -> Iterator[Figure]:
    yield further_rounds(bench, bench.trace, "a trace")
    for kind in traces.KINDS:
        trace = traces.of_kind(kind, bench.scratch, bench.sized(300_000, 20_000))
        yield further_rounds(bench, trace, f"'{kind}'")
    once = bench.scenario(
        "replay-once", scenarios.replay(bench.trace, -(-lines_of(bench.trace) // PACE) + 3, PACE, "hold"))
    yield Figure(
        1, "replay, start to exit: engine / C program that reads the trace",
        Side("engine", lambda: bench.run(once)[0].cpu, "s CPU"),
        Side("C program", lambda: bench.anchor("replay", bench.trace, 1, PURGE_EVERY).cpu, "s CPU"), 1.10)


def launches(bench: Bench) -> Iterator[Figure]:
    count, object_bytes = bench.sized(1000, 31), 16 << 10
    path = bench.scenario("launches", scenarios.launches(count, 10, 40, object_bytes))
    yield Figure(
        2, f"{count} launches of 10-40 MiB: engine / arenas by jemalloc's defaults",
        Side("engine", lambda: bench.run(path)[0].wall, "s"),
        Side("C loop", lambda: bench.anchor("launches", count, 10, 40, object_bytes).said["wall_s"], "s"), 0.25)


def samples(bench: Bench) -> Iterator[Figure]:
    count, running, seconds = bench.sized(1000, 50), 10, bench.sized(100, 30)

    def per_sample(rows: str, running: int) -> Callable[[], float]:
        def measure() -> float:
            def cpu(length: int) -> float:
                text = scenarios.sleepers(count, running, length, "jemalloc", rows=rows)
                return bench.run(bench.scenario(f"sample-{length}", text))[0].cpu
            return (cpu(10 + seconds) - cpu(10)) / (seconds * 10) * 1e6
        return measure

    def epoch() -> float:
        said = bench.anchor("epoch", count, bench.sized(20, 2)).said
        return said["cpu_s"] / said["amount"] * 1e6

    yield Figure(
        3, f"sample of {count} processes, {running} changed: engine / refreshed statistics",
        Side("engine", per_sample("all", running), "us CPU"), Side("epoch", epoch, "us CPU"), 0.01)


def events(bench: Bench) -> Iterator[Figure]:
    count, running, pushes, seconds = bench.sized(1000, 50), bench.sized(200, 10), 50, bench.sized(1500, 20)

    def rate() -> float:
        def measured(length: int) -> tuple[float, int]:
            text = scenarios.sleepers(count, running, length, "accounting", pushes, rows="changed")
            usage, manifest = bench.run(bench.scenario(f"events-{length}", text), "--summary-only")
            return usage.cpu, manifest["queue_events"]
        # After a round every sleeper has its line in the scenario: then both have the same start.
        settled = -(-(count - running) // pushes)
        (long, many), (short, few) = measured(settled + seconds), measured(settled)
        return (many - few) / (long - short)

    def simpy() -> float:
        said = bench.simpy("--objects", count, running, pushes, bench.sized(60, 2)).said
        return said["amount"] / said["cpu_s"]

    yield Figure(
        4, f"events of {count} apps, accounting: engine / SimPy", Side("engine", rate, "events/s CPU"),
        Side("SimPy", simpy, "events/s CPU"), 20, at_most=False)


def cpu_of(bench: Bench, path: str, *options: str) -> float:
    return bench.run(path, *options)[0].cpu


def day(bench: Bench) -> Iterator[Figure]:
    hours = bench.sized(24, 1)
    plain = bench.scenario("day-plain", scenarios.day(100, hours, "accounting", "changed"))
    # Apple's compressor; that of other systems is swap, and has rules of its own.
    compressor = ["--set", "device.compressor={}", "--set", "device.swap={zram: false}"]
    files = [*compressor, "--set", "device.file_cache={}"]
    kernel = [*compressor, "--set", "device.file_cache={system: 400MiB}", "--set", "device.kernel=11417",
              "--set", "device.freezer={}", "--set", "device.wired=[{at: 1h, size: 200MiB}, {at: 2h, size: 0B}]"]
    for name, options, most in (
        ("a compressor", compressor, 1.4), ("compressor and file cache", files, 1.4), ("an iPhone's memory", kernel, 2.0),
    ):
        yield Figure(
            5, f"{hours} h of 100 apps, accounting: with {name} / without",
            Side("with", functools.partial(cpu_of, bench, plain, *options), "s CPU"),
            Side("without", functools.partial(cpu_of, bench, plain), "s CPU"), most)
    real = bench.scenario("day-real", scenarios.day(100, hours, "jemalloc", "changed"))
    yield Figure(
        5, f"{hours} h of 100 apps, real memory at scale 0.25",
        Side("engine", lambda: bench.run(real, "--scale", "0.25")[0].wall, "s"), None, 60.0)
    for name, most, options in ("evening-commute", 0.45, []), ("evening-on-iphone", 0.6, ["--set", "scale=1"]):
        path = str(bench.root / f"Scenarios/{name}.yaml")
        options = [*options, "--set", "expect=[]", *bench.sized([], ["--set", "duration=1min", "--set", "user=[]"])]
        yield Figure(
            5, f"{name} on real memory: a line per page / every byte",
            Side("line", functools.partial(cpu_of, bench, path, *options), "s CPU"),
            Side("bytes", functools.partial(cpu_of, bench, path, "--set", "device.rewrite=bytes", *options), "s CPU"), most)


def growth(bench: Bench) -> Iterator[Figure]:
    seconds = bench.sized(3000, 20)

    def per_event(count: int, backend: str) -> Callable[[], float]:
        def measured(length: int) -> tuple[float, int]:
            # Five apps run, and every second another one is woken for two: so even ten apps have time to sleep.
            text = scenarios.sleepers(count, 5, length, backend, 1, rows="changed")
            usage, manifest = bench.run(bench.scenario(f"growth-{count}-{length}", text))
            return usage.cpu, manifest["queue_events"]
        def measure() -> float:
            # As above: one is woken every second.
            (long, many), (short, few) = measured(count + 5 * seconds), measured(count)
            return (long - short) / (many - few) * 1e9
        return measure

    few = 10
    for count in bench.sized((4000,), (100,)):
        yield Figure(
            6, f"cost per event, accounting: {count} apps / {few} apps",
            Side(f"{count} apps", per_event(count, "accounting"), "ns CPU"),
            Side(f"{few} apps", per_event(few, "accounting"), "ns CPU"), 1.5)
    # Forty seconds are for the launches.
    short, long = (
        bench.scenario(f"length-{length}", scenarios.sleepers(1000, 100, length - 40, "accounting", rows="changed"))
        for length in (seconds // 5, seconds * 2))
    yield Figure(
        6, "ten times the duration", Side("10x", lambda: bench.run(long)[0].cpu, "s CPU"),
        Side("1x", lambda: bench.run(short)[0].cpu, "s CPU"), 10.5)
    for backend in "jemalloc", "accounting":
        yield Figure(
            6, f"harness memory per idle app beyond jemalloc's, {backend}",
            Side("engine", functools.partial(idle_app, bench, backend), "KiB"), None, 16.0)


def idle_app(bench: Bench, backend: str) -> float:
    """KiB that each further idle app costs the harness: its peak without the device's pages and jemalloc's own."""
    most = bench.sized(1000, 100)

    def beyond(count: int) -> int:
        _, manifest = bench.run(bench.scenario(
            f"idle-{count}-{backend}", scenarios.sleepers(count, 0, 300, backend, rows="changed")))
        memory: dict[str, int] = manifest["memory"]
        return memory["kernel_peak_bytes"] - memory["region_touched_bytes"] - memory["allocator_metadata_bytes"]
    return (beyond(most) - beyond(10)) / (most - 10) / 1024


def startup(bench: Bench) -> Iterator[Figure]:
    commute = str(bench.root / "Scenarios/evening-commute.yaml")
    first = ["--set", "duration=1s", "--set", "user=[{at: 0s, launch: chat}]", "--set", "expect=[]"]

    def validate() -> float:
        return run([bench.plimsoll, "validate", commute]).wall * 1000

    def first_second() -> float:
        return bench.run(str(bench.root / "Scenarios/quickstart.yaml"), *first)[0].wall * 1000

    yield Figure(7, "validate of evening-commute, start to exit", Side("engine", validate, "ms"), None, 50.0)
    yield Figure(7, "first second of quickstart, start to exit", Side("engine", first_second, "ms"), None, 100.0)


def output(bench: Bench) -> Iterator[Figure]:
    cases = [("evening-commute", str(bench.root / "Scenarios/evening-commute.yaml"), ["--set", "expect=[]"])]
    hours = bench.sized(24, 1)
    cases.append((f"{hours} h of 100 apps, accounting, rows of changed",
                  bench.scenario("output-day", scenarios.day(100, hours, "accounting", "changed")), []))
    for name, path, options in cases:
        def extra(path: str = path, options: list[str] = options) -> float:
            without = bench.run(path, *options, "--summary-only")[0].cpu
            whole = bench.run(path, *options)[0].cpu
            return (whole - without) / whole
        yield Figure(8, f"CSV's share of a run: {name}", Side("engine", extra, "of the CPU time"), None, 0.10)


ALL = {1: replay, 2: launches, 3: samples, 4: events, 5: day, 6: growth, 7: startup, 8: output}
