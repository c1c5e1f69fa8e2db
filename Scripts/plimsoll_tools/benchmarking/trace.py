"""Finds the allocation trace, or makes one; and traces of different kinds."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from pathlib import Path

from plimsoll_tools.benchmarking.measure import BenchFailure


def find(given: str | None, root: Path, scratch: Path, operations: int | None) -> tuple[Path, str]:
    """The trace as plain text: the one that was named, the one beside the checkout, else a generated one."""
    beside = root.parent / "shared" / "data" / "memory_replay" / "systemui.zip"
    path = Path(given) if given else beside
    if given and not path.exists():
        raise FileNotFoundError(given)
    if not given and (operations or not path.exists()):
        return generated(scratch / "trace.txt", operations or 500_000), "generated"
    if path.suffix != ".zip":
        return path, path.name
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".txt")]
        if not names:
            raise BenchFailure(f"{path} holds no .txt")
        target = scratch / "trace.txt"
        target.write_bytes(archive.read(names[0]))
    return target, path.name


def generated(path: Path, operations: int) -> Path:
    """Sizes and lifetimes as in a phone's system process: most objects are small and die young."""
    draw = random.Random(1)
    live: list[int] = []
    lines: list[str] = []
    fresh = 0x10000000
    while len(lines) < operations:
        if live and draw.random() < 0.48:
            is_young = draw.random() < 0.9
            index = draw.randrange(max(0, len(live) - 64) if is_young else 0, len(live))
            live[index], live[-1] = live[-1], live[index]
            lines.append(f"1: free 0x{live.pop():x}")
        else:
            fresh += 16
            live.append(fresh)
            size = min(1 << 20, max(1, int(draw.lognormvariate(4.2, 1.3))))
            lines.append(f"1: malloc 0x{fresh:x} {size}")
    path.write_text("\n".join(lines) + "\n")
    return path


class Writer:
    """A trace that is being made, and its live objects: names and sizes, in the order in which they were made."""

    def __init__(self, operations: int) -> None:
        self.draw = random.Random(2)
        self.lines: list[str] = []
        self.live: list[tuple[int, int]] = []
        self.operations = operations
        self.names = 0x70000000

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= self.operations

    def name(self) -> int:
        self.names += 16
        return self.names

    def make(self, size: float, form: str = "malloc 0x{name:x} {size}") -> None:
        name, size = self.name(), max(1, min(300_000, int(size)))
        self.lines.append("1: " + form.format(name=name, size=size))
        self.live.append((name, size))

    def free(self, index: int = -1) -> None:
        self.lines.append(f"1: free 0x{self.live.pop(index)[0]:x}")

    def free_any(self) -> None:
        index = self.draw.randrange(len(self.live))
        self.live[index], self.live[-1] = self.live[-1], self.live[index]
        self.free()

    def has_room(self, least: int, most: int) -> bool:
        """Whether an object is made next: always below `least` live ones, never beyond `most`."""
        return len(self.live) < least or (self.draw.random() < 0.5 and len(self.live) < most)


def stack(trace: Writer) -> None:
    """A few small objects, the newest freed first: all in the first-level cache."""
    if trace.has_room(200, 2_000):
        trace.make(trace.draw.choice((8, 16, 24, 32, 48, 64)))
    else:
        trace.free()


def growing(trace: Writer) -> None:
    """Strings and lists that grow: mostly realloc."""
    choice = trace.draw.random()
    if len(trace.live) < 500 or choice < 0.2:
        trace.make(trace.draw.randrange(8, 200))
    elif choice < 0.8:
        index = trace.draw.randrange(len(trace.live))
        old, size = trace.live[index]
        size = 16 if size > 60_000 else int(size * trace.draw.choice((1.05, 1.3, 1.5, 2))) + 1
        name = trace.name() if choice < 0.56 else old
        trace.lines.append(f"1: realloc 0x{name:x} 0x{old:x} {size}")
        trace.live[index] = name, size
    else:
        trace.free_any()


def aligned(trace: Writer) -> None:
    """Buffers at multiples of 16 B to 4 KiB, and zeroed ones."""
    if trace.has_room(300, 3_000):
        alignment = 16 << trace.draw.randrange(9)
        form = f"memalign 0x{{name:x}} {alignment} {{size}}"
        trace.make(trace.draw.lognormvariate(6, 1.6), form if trace.draw.random() < 0.6 else "calloc 0x{name:x} 1 {size}")
    else:
        trace.free_any()


def scattered(trace: Writer) -> None:
    """Many live objects, freed in no order: none in a cache."""
    if trace.has_room(60_000, 120_000):
        trace.make(trace.draw.lognormvariate(4.2, 1.2))
    else:
        trace.free_any()


def generations(trace: Writer) -> None:
    """Some hundred objects at once, and nearly all of them freed at once."""
    count = trace.draw.randrange(200, 3_000)
    for _ in range(count):
        trace.make(trace.draw.choice((40, 56, 96, 160, 512)))
    born = trace.live[-count:]
    del trace.live[-count:]
    trace.draw.shuffle(born)
    kept = trace.draw.randrange(count // 20 + 1)
    trace.live += born[:kept]
    trace.lines += [f"1: free 0x{name:x}" for name, _ in born[kept:]]


KINDS: dict[str, Callable[[Writer], None]] = {
    "stack": stack, "growing": growing, "aligned": aligned, "scattered": scattered, "generations": generations,
}


def of_kind(kind: str, folder: Path, operations: int) -> Path:
    """A generated trace of one kind, always the same."""
    trace = Writer(operations)
    while not trace.is_full:
        KINDS[kind](trace)
    path = folder / f"trace-{kind}.txt"
    path.write_text("\n".join(trace.lines[:operations]) + "\n")
    return path
