"""The anchor of Scripts/bench that places objects: jemalloc's classes, and books that add up."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[2] / "Benchmarks"
PYTHON = BENCHMARKS / ".venv" / "bin" / "python"
MIB = 1 << 20


def load() -> ModuleType:
    """By its path: beside it lies a `queue.py`, which must not take the place of Python's own."""
    spec = importlib.util.spec_from_file_location("anchor_objects", BENCHMARKS / "Anchors" / "objects.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OBJECTS = load()


class Sizes:
    """Stands for a generator: the sizes that were given, one after the other."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = list(sizes)

    def gauss(self, mu: float, sigma: float) -> float:
        # A bit more than its logarithm, so that cutting it to whole bytes gives the size.
        from math import log

        return log(self.sizes.pop(0) + 0.5)


class Classes(unittest.TestCase):
    def test_small_classes_and_slabs_are_jemallocs(self) -> None:
        # `arenas.bin.*` of jemalloc 5.3.0 with pages of 4 KiB: size, pages of a slab, objects in it.
        table = list(zip(OBJECTS.SMALL, OBJECTS.SLAB_PAGES, OBJECTS.SLAB_OBJECTS))
        self.assertEqual(len(table), 36)
        for row in [
            (8, 1, 512), (16, 1, 256), (48, 3, 256), (80, 5, 256), (112, 7, 256), (128, 1, 32), (160, 5, 128),
            (320, 5, 64), (448, 7, 64), (1024, 1, 4), (1792, 7, 16), (2560, 5, 8), (4096, 1, 1), (5120, 5, 4),
            (8192, 2, 1), (10240, 5, 2), (12288, 3, 1), (14336, 7, 2),
        ]:  # fmt: skip
            self.assertIn(row, table)

    def test_a_size_gets_the_least_class_that_holds_it(self) -> None:
        for size in range(1, OBJECTS.LARGEST_SMALL + 1):
            bin = OBJECTS.BIN_OF_UNITS[(size + 7) >> 3]
            self.assertGreaterEqual(OBJECTS.SMALL[bin], size)
            self.assertTrue(bin == 0 or OBJECTS.SMALL[bin - 1] < size, size)

    def test_a_large_object_gets_four_classes_to_a_doubling_and_a_page(self) -> None:
        heap = OBJECTS.Heap(OBJECTS.Device(64 * MIB), random.Random(1))
        for size, usable in ((14337, 16 << 10), (16385, 20 << 10), (32 << 10, 32 << 10), (32769, 40 << 10),
                             (MIB - 1, MIB), (MIB + 1, MIB + (256 << 10))):  # fmt: skip
            slab = heap.large(size)
            self.assertEqual((slab.size, slab.pages), (usable, usable // 4096 + 1), size)


class Books(unittest.TestCase):
    def heap(self, *sizes: int, ceiling: int = 64 * MIB) -> tuple[Any, Any]:
        return OBJECTS.Heap(OBJECTS.Device(ceiling), Sizes(*sizes)), OBJECTS.Pool()

    def test_whatever_comes_and_goes_the_books_add_up_and_nothing_is_left(self) -> None:
        for seed in range(20):
            draw = random.Random(seed)
            device = OBJECTS.Device(256 * MIB)
            heaps = [OBJECTS.Heap(device, random.Random(seed + number)) for number in range(2)]
            pools = [[OBJECTS.Pool() for _ in range(3)] for _ in heaps]
            for _ in range(150):
                which = draw.randrange(2)
                heap, pool = heaps[which], draw.choice(pools[which])
                kind = draw.random()
                if kind < 0.5:
                    heap.allocate(draw.randrange(1, 40_000), pool)
                elif kind < 0.95:
                    heap.release(draw.randrange(60_000), pool)
                else:
                    heap.purge()
                heap.audit(pools[which])
                self.assertEqual(device.pages, sum(heap.pages for heap in heaps))
            for heap, mine in zip(heaps, pools):
                for pool in mine:
                    heap.release(pool.requested, pool)
                heap.audit(mine)
                self.assertEqual((heap.objects, heap.requested, heap.usable, heap.active), (0, 0, 0, 0))
                heap.purge()
            self.assertEqual(device.pages, 0)
            self.assertGreater(device.peak, 0)

    def test_an_audit_finds_every_book_that_is_wrong(self) -> None:
        for book in ("pages", "active", "requested", "usable", "objects"):
            heap, pool = OBJECTS.Heap(OBJECTS.Device(64 * MIB), random.Random(1)), OBJECTS.Pool()
            heap.allocate(100_000, pool)
            heap.release(30_000, pool)
            heap.audit([pool])
            setattr(heap, book, getattr(heap, book) + 1)
            with self.assertRaises(AssertionError, msg=book):
                heap.audit([pool])
        heap, pool = OBJECTS.Heap(OBJECTS.Device(64 * MIB), random.Random(1)), OBJECTS.Pool()
        heap.allocate(100_000, pool)
        pool.slabs[0].room += 1
        with self.assertRaises(AssertionError):
            heap.audit([pool])

    def test_the_last_size_is_cut_and_whole_objects_go_oldest_first(self) -> None:
        heap, pool = self.heap(100, 200, 5000)
        heap.allocate(400, pool)
        self.assertEqual(list(pool.sizes), [100, 200, 100])
        heap.release(101, pool)
        self.assertEqual((list(pool.sizes), heap.requested, heap.usable), ([100], 100, 112))
        self.assertEqual(len(heap.device.changed), 1)

    def test_the_oldest_slab_with_room_is_next(self) -> None:
        # Two objects of 2 KiB fill a slab of one page.
        heap, pool = self.heap(*[2048] * 8)
        heap.allocate(6 * 2048, pool)
        slabs = list(pool.slabs)
        self.assertEqual([slabs.index(slab) for slab in slabs], [0, 0, 2, 2, 4, 4])
        # An object of the second slab goes, then one of the first: the first is filled up before the second.
        for index in (2, 0):
            later = OBJECTS.Pool()
            later.sizes.append(pool.sizes[index])
            later.slabs.append(slabs[index])
            later.requested = 2048
            heap.release(2048, later)
        heap.allocate(4096, pool)
        self.assertEqual(list(pool.slabs)[-2:], [slabs[0], slabs[2]])

    def test_the_oldest_dirty_run_that_is_long_enough_is_used_again_and_the_rest_stays(self) -> None:
        heap, pool = self.heap(20_000, 40_000, 16_000)
        heap.allocate(60_000, pool)
        first = pool.slabs[0]
        heap.release(60_000, pool)
        # 20 KiB and 40 KiB with a page each.
        self.assertEqual((heap.active, heap.pages, [length for _, length in heap.dirty]), (0, 17, [6, 11]))
        heap.allocate(16_000, pool)
        self.assertEqual((heap.active, heap.pages, pool.slabs[0].key), (5, 17, first.key))
        self.assertEqual([length for _, length in heap.dirty], [1, 11])
        heap.purge()
        self.assertEqual((heap.active, heap.pages, heap.dirty, heap.device.pages), (5, 5, [], 5))

    def test_nobody_gets_more_than_the_ceiling(self) -> None:
        heap, pool = self.heap(16_384, 16_384, ceiling=9 * 4096)
        heap.allocate(16_384, pool)
        with self.assertRaises(OBJECTS.NoRoom):
            heap.allocate(16_384, pool)
        self.assertEqual((heap.device.pages, heap.device.peak), (5, 5))


@unittest.skipUnless(PYTHON.exists(), "Scripts/setup.sh bench has not been called; Scripts/test does the same")
class Model(unittest.TestCase):
    def call(self, *arguments: object) -> dict[str, Any]:
        command: list[str | Path] = [PYTHON, "-E", "-s", BENCHMARKS / "Anchors" / "queue.py", *map(str, arguments)]
        said: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return said

    def test_the_books_of_a_whole_simulation_add_up(self) -> None:
        said = self.call("--objects", "--check", 20, 5, 5, 25)
        self.assertIs(said["checked"], True)
        self.assertGreater(said["footprint_mean_bytes"], 256 << 10)

    def test_both_models_have_the_same_ticks_wakes_and_samples(self) -> None:
        # Before anything decays, which is an event of the one alone, what differs is that the waits for it begin.
        alone, placing = (self.call(*options, 50, 10, 5, 9)["amount"] for options in ((), ("--objects",)))
        self.assertEqual(placing - alone, 10)

    def test_wrong_usage_is_said(self) -> None:
        for arguments in ((), ("--check", 1, 1, 1, 1), ("--nonsense", 1, 1, 1, 1)):
            command: list[str | Path] = [PYTHON, BENCHMARKS / "Anchors" / "queue.py", *map(str, arguments)]
            result = subprocess.run(command, check=False, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("usage: queue.py [--objects]", result.stderr)


if __name__ == "__main__":
    unittest.main()
