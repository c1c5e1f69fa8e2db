"""What the engine's accounting backend does for each object, in plain Python: jemalloc's arithmetic without its memory.

An app's heap has jemalloc's size classes and slabs, the oldest slab with room first, dirty runs that are used again and
go back after a while, and books of everything. It is near jemalloc, not the same to the page: runs have no addresses,
so freed ones are not joined with their neighbours.
"""

from bisect import insort
from collections import deque
from heapq import heappop, heappush
from math import exp, lcm, log

PAGE = 4096
MEDIAN, SIGMA, HIGHEST = 2048, 1.4, 1 << 20
MU = log(MEDIAN)


def size_classes(highest):
    """8, the multiples of 16 up to 64, and from there on four to each doubling."""
    sizes = [8, 16, 32, 48, 64]
    while sizes[-1] < highest:
        step = sizes[-1] // 4
        sizes += [sizes[-1] + step * number for number in range(1, 5)]
    return sizes


#: Objects below 16 KiB lie in slabs: as many pages as hold a whole number of objects.
SMALL = [size for size in size_classes(16 << 10) if size < 16 << 10]
LARGEST_SMALL = SMALL[-1]
SLAB_PAGES = [lcm(size, PAGE) // PAGE for size in SMALL]
SLAB_OBJECTS = [lcm(size, PAGE) // size for size in SMALL]
#: The class of a small size, by the size in units of 8 bytes: half as dear as a search.
BIN_OF_UNITS = [next(bin for bin, size in enumerate(SMALL) if size >= units * 8)
                for units in range(LARGEST_SMALL // 8 + 1)]
#: Where the slab of a small class has its number, an object with pages of its own has this one.
LARGE = len(SMALL)
#: Serials are further apart than a run is long, so that its parts have room between them.
SERIAL_STEP = 1 << 10


class NoRoom(Exception):
    """The device has no pages left."""


class Device:
    """Counts pages, up to the ceiling."""

    __slots__ = ("ceiling", "pages", "peak", "changed")

    def __init__(self, ceiling):
        self.ceiling = ceiling // PAGE
        self.pages = 0
        self.peak = 0
        #: The heaps whose books have changed since the last sample.
        self.changed = []

    def take(self, pages):
        total = self.pages + pages
        if total > self.ceiling:
            raise NoRoom(f"{pages} pages wanted, {self.ceiling - self.pages} free")
        self.pages = total
        if total > self.peak:
            self.peak = total


class Slab:
    """Pages with objects of one class; or one large object, for which there is never room."""

    __slots__ = ("key", "bin", "pages", "size", "objects", "room")

    def __init__(self, key, bin, pages, size, objects):
        #: The order of age: the serial of the pages, and how far in them it begins.
        self.key = key
        self.bin = bin
        self.pages = pages
        self.size = size
        self.objects = objects
        #: How many more objects fit; none when the slab is gone.
        self.room = objects

    def __lt__(self, other):
        """Asked of two of one age alone: all but one of them are gone, and passed over wherever they stand."""
        return False


#: Stands for the current slab where there is none.
NO_SLAB = Slab(-1, LARGE, 0, 0, 0)


class Pool:
    """Objects in the order of their making: their sizes, and where they lie. Apart, for pairs would cost more."""

    __slots__ = ("sizes", "slabs", "requested")

    def __init__(self):
        self.sizes = deque()
        self.slabs = deque()
        self.requested = 0


class Heap:
    """What one app holds."""

    __slots__ = ("device", "gauss", "pages", "active", "requested", "usable", "objects", "serial", "current",
                 "with_room", "dirty", "is_changed")

    def __init__(self, device, random):
        self.device = device
        self.gauss = random.gauss
        self.pages = self.active = 0
        self.requested = self.usable = self.objects = 0
        self.serial = 0
        #: For each class the slab that objects are taken from; large objects have none.
        self.current = [NO_SLAB] * (LARGE + 1)
        #: For each class the others with room, the oldest first. Who is gone since has no room and is passed over.
        self.with_room = [[] for _ in SMALL]
        #: Unused runs as (key, pages), the oldest first.
        self.dirty = []
        self.is_changed = False

    # Objects

    def allocate(self, count, pool):
        """Makes objects that together ask for `count` bytes; the last size is cut."""
        gauss, current = self.gauss, self.current
        append_size, append_slab = pool.sizes.append, pool.slabs.append
        before, usable, left = len(pool.sizes), 0, count
        while left > 0:
            size = int(exp(gauss(MU, SIGMA))) or 1
            if size > HIGHEST:
                size = HIGHEST
            if size > left:
                size = left
            left -= size
            if size <= LARGEST_SMALL:
                bin = BIN_OF_UNITS[(size + 7) >> 3]
                slab = current[bin]
                if not slab.room:
                    slab = self.change_slab(bin)
                slab.room -= 1
            else:
                slab = self.large(size)
            usable += slab.size
            append_size(size)
            append_slab(slab)
        self.objects += len(pool.sizes) - before
        self.usable += usable
        self.requested += count
        pool.requested += count
        if not self.is_changed:
            self.change()

    def release(self, count, pool):
        """Frees whole objects, the oldest first, until `count` bytes of the pool are gone."""
        current, pop_size, pop_slab = self.current, pool.sizes.popleft, pool.slabs.popleft
        before, usable, requested = len(pool.sizes), 0, pool.requested
        goal = max(0, requested - count)
        while requested > goal:
            requested -= pop_size()
            slab = pop_slab()
            usable += slab.size
            slab.room = room = slab.room + 1
            if room == slab.objects:
                self.give_up(slab)
            elif room == 1 and current[slab.bin] is not slab:
                self.offer(slab)
        self.objects -= before - len(pool.sizes)
        self.usable -= usable
        self.requested -= pool.requested - requested
        pool.requested = requested
        if not self.is_changed:
            self.change()

    def change(self):
        """A sample will look at this heap."""
        self.is_changed = True
        self.device.changed.append(self)

    # Slabs

    def change_slab(self, bin):
        """The full current slab gives way to the oldest with room, or to a new one."""
        others = self.with_room[bin]
        while others:
            slab = heappop(others)[1]
            if slab.room:
                break
        else:
            pages = SLAB_PAGES[bin]
            slab = Slab(self.take(pages), bin, pages, SMALL[bin], SLAB_OBJECTS[bin])
        self.current[bin] = slab
        return slab

    def offer(self, slab):
        """A full slab has room again: it waits, or takes the place of a younger current one."""
        bin = slab.bin
        current = self.current[bin]
        if current.key < slab.key:
            heappush(self.with_room[bin], (slab.key, slab))
            return
        if current.room:
            heappush(self.with_room[bin], (current.key, current))
        self.current[bin] = slab

    def large(self, size):
        """An object with pages of its own: a size class, and one page more for its colour (`cache_oblivious`)."""
        step = max(PAGE, 1 << (size - 1).bit_length() - 3)
        usable = -(-size // step) * step
        pages = usable // PAGE + 1
        slab = Slab(self.take(pages), LARGE, pages, usable, 1)
        slab.room = 0
        return slab

    def give_up(self, slab):
        """Nothing is left in the slab: its pages may be used for another."""
        bin = slab.bin
        if self.current[bin] is slab:
            self.current[bin] = NO_SLAB
        slab.room = 0
        self.active -= slab.pages
        insort(self.dirty, (slab.key, slab.pages))

    # Pages

    def take(self, pages):
        """The oldest dirty run that is long enough, or a new one; answers its key."""
        dirty = self.dirty
        for index, (key, length) in enumerate(dirty):
            if length >= pages:
                if length == pages:
                    del dirty[index]
                else:
                    dirty[index] = (key + pages, length - pages)
                break
        else:
            self.device.take(pages)
            self.pages += pages
            key = self.serial
            self.serial += SERIAL_STEP
        self.active += pages
        return key

    def purge(self):
        """Gives the dirty runs back."""
        self.device.pages -= self.pages - self.active
        self.pages = self.active
        self.dirty.clear()
        if not self.is_changed:
            self.change()

    # Books

    def audit(self, pools):
        """Compares the books with what lies in the pools; AssertionError where they differ."""
        live = {}
        for pool in pools:
            assert pool.requested == sum(pool.sizes), "bytes of a pool"
            assert len(pool.sizes) == len(pool.slabs), "objects of a pool"
            for size, slab in zip(pool.sizes, pool.slabs):
                assert 0 < size <= slab.size, "an object that does not fit"
                live[slab] = live.get(slab, 0) + 1
        assert all(slab.objects - slab.room == count for slab, count in live.items()), "objects of a slab"
        assert self.objects == sum(live.values()), "objects"
        assert self.requested == sum(pool.requested for pool in pools), "bytes"
        assert self.usable == sum(slab.size * count for slab, count in live.items()), "usable bytes"
        assert self.active == sum(slab.pages for slab in live), "active pages"
        assert self.pages - self.active == sum(length for _, length in self.dirty), "dirty pages"
        assert self.dirty == sorted(self.dirty) and all(length > 0 for _, length in self.dirty), "dirty runs"
        assert self.pages >= self.active >= 0 and self.requested >= 0, "less than nothing"
        runs = sorted([(slab.key, slab.pages) for slab in live] + self.dirty)
        assert all(a + length <= b for (a, length), (b, _) in zip(runs, runs[1:])), "pages that two hold"
        for bin, slab in enumerate(self.current):
            assert slab is NO_SLAB or slab.bin == bin and slab in live, "a current slab that is gone"
        waiting = [{slab for _, slab in others if slab.room} for others in self.with_room]
        for slab in live:
            is_offered = slab.room > 0 and slab is not self.current[slab.bin]
            assert is_offered == (slab.bin != LARGE and slab in waiting[slab.bin]), "a slab with room"
