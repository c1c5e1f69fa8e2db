"""Finds the allocation trace, or makes one."""

from __future__ import annotations

import random
import zipfile
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
