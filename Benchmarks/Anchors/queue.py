"""The model of the engine's queue in SimPy: apps whose memory moves, apps that are woken and sleep again, a monitor.

Usage: queue.py [--objects] [--check] APPS RUNNING PUSHES_PER_SECOND SECONDS

Without an option, what an event does is as little as the model needs: a tick draws its sizes, and the figures of an app
and of the device change. With --objects each object is placed and freed as the engine's accounting backend does it
(see objects.py), unused pages go back after a while, and a sample looks at whoever has changed. Nothing is written.

--check compares the books with the objects at each sample, and frees everything at the end: slow, and fails loudly.
"""

import json
import random
import resource
import sys
import time

import simpy

from objects import PAGE, Device, Heap, Pool

TICK = 0.1
TICKS_PER_SECOND = 10
SAMPLE = 0.1
CORES = 4
EVENT_COST = 0.005
EVENT_WORK = 2.0
DECAY = 10.0
CHURN = 64 * 1024
BASE = 64 * 1024
SCENE = 16 * 1024
CEILING = 16 << 30
WARNING = CEILING // 4


class App:
    """Adds up pages and places no object."""

    def __init__(self, env, device, cores, seed):
        self.env, self.device, self.cores = env, device, cores
        self.random = random.Random(seed)
        self.pages = 0
        self.state = "suspended"
        self.transient = []

    def churn(self):
        """Allocates what a tick allocates, and frees what is a second old."""
        left, pages = int(CHURN * TICK), 0
        while left > 0:
            size = min(left, max(1, int(self.random.lognormvariate(7.6, 1.4))))
            left -= size
            pages += size
        pages = -(-pages // PAGE)
        self.transient.append(pages)
        self.device.take(pages)
        self.pages += pages
        if len(self.transient) > 10:
            gone = self.transient.pop(0)
            self.device.take(-gone)
            self.pages -= gone

    def run(self):
        self.state = "background"
        while True:
            yield self.env.timeout(TICK)
            self.churn()

    def wake(self):
        """Resumed, called back on a core, at work for two seconds, suspended again; unused pages decay."""
        self.state = "background"
        with self.cores.request() as core:
            yield core
            yield self.env.timeout(EVENT_COST)
        yield self.env.timeout(EVENT_WORK)
        self.state = "suspended"
        yield self.env.timeout(DECAY)


class PlacingApp(App):
    """Places every object, and is launched with those of its base and its scene."""

    def __init__(self, env, device, cores, seed):
        super().__init__(env, device, cores, seed)
        self.heap = Heap(device, self.random)
        self.base, self.scene, self.transient = Pool(), Pool(), Pool()
        self.heap.allocate(BASE, self.base)
        self.heap.allocate(SCENE, self.scene)
        self.ticks = 0
        #: What the transient objects ask for, and how much that may be.
        self.held = 0
        self.decays = False

    @property
    def pools(self):
        return self.base, self.scene, self.transient

    def churn(self):
        ticks = self.ticks = self.ticks + 1
        heap = self.heap
        fresh = CHURN * ticks // TICKS_PER_SECOND - CHURN * (ticks - 1) // TICKS_PER_SECOND
        heap.allocate(fresh, self.transient)
        old = self.held + fresh - CHURN
        if old > 0:
            heap.release(old, self.transient)
            fresh -= old
        self.held += fresh
        if not self.decays and heap.pages > heap.active:
            self.decays = True
            self.env.process(self.decay())

    def decay(self):
        yield self.env.timeout(DECAY)
        self.decays = False
        self.heap.purge()

    def end(self):
        """Frees everything."""
        for pool in self.pools:
            self.heap.release(pool.requested, pool)
        self.heap.purge()


class Pages:
    """The device of apps that only add up pages."""

    def __init__(self):
        self.pages = 0
        self.peak = 0

    def take(self, pages):
        self.pages += pages
        self.peak = max(self.peak, self.pages)


def pushes(env, apps, rate):
    number = 0
    while True:
        yield env.timeout(1 / rate)
        env.process(apps[number % len(apps)].wake())
        number += 1


class Monitor:
    """Looks at the device, and at the footprint of whoever has changed since."""

    def __init__(self, env, device):
        self.env, self.device = env, device
        self.levels = {"normal": 0, "warning": 0}
        #: Of all rows of all samples.
        self.rows, self.footprints = 0, 0

    def run(self):
        while True:
            yield self.env.timeout(SAMPLE)
            self.levels["warning" if self.device.pages > WARNING // PAGE else "normal"] += 1

    def run_over_changes(self):
        device = self.device
        while True:
            yield self.env.timeout(SAMPLE)
            self.levels["warning" if device.pages > WARNING // PAGE else "normal"] += 1
            changed, device.changed = device.changed, []
            for heap in changed:
                heap.is_changed = False
                self.footprints += heap.pages * PAGE
            self.rows += len(changed)


def checks(env, device, apps):
    """Compares the books of all apps and the device's at each sample."""
    while True:
        yield env.timeout(SAMPLE)
        audit(device, apps)


def audit(device, apps):
    for app in apps:
        app.heap.audit(app.pools)
    assert device.pages == sum(app.heap.pages for app in apps), "pages of the device"
    assert 0 <= device.pages <= device.peak <= device.ceiling, "the ceiling"


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    if len(words) != 4 or options - {"--objects", "--check"} or options == {"--check"}:
        sys.exit("usage: queue.py [--objects] [--check] APPS RUNNING PUSHES_PER_SECOND SECONDS")
    count, running, rate, seconds = map(int, words)
    places = "--objects" in options
    env = simpy.Environment()
    device = Device(CEILING) if places else Pages()
    cores = simpy.Resource(env, CORES)
    apps = [(PlacingApp if places else App)(env, device, cores, seed) for seed in range(count)]
    monitor = Monitor(env, device)
    for app in apps[:running]:
        env.process(app.run())
    env.process(pushes(env, apps[running:], rate))
    env.process(monitor.run_over_changes() if places else monitor.run())
    if "--check" in options:
        env.process(checks(env, device, apps))

    before = cpu()
    # Looking whether one event is over costs less than asking each time when the next is. It is none of the model's.
    step, end, events = env.step, env.timeout(seconds), -1
    wall, start = time.perf_counter(), cpu()
    while end.callbacks is not None:
        step()
        events += 1
    said = {"wall_s": time.perf_counter() - wall, "cpu_s": cpu() - start, "before_cpu_s": before, "amount": events}
    if places:
        said |= {"footprint_mean_bytes": round(monitor.footprints / max(1, monitor.rows)), "peak_pages": device.peak}
    if "--check" in options:
        for app in apps:
            app.end()
        audit(device, apps)
        assert device.pages == 0, "pages after the end"
        said["checked"] = True
    print(json.dumps(said))


if __name__ == "__main__":
    main()
