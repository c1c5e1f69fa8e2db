"""The model of the engine's queue in SimPy: apps whose memory moves, apps that are woken and sleep again, a monitor.

Usage: queue.py APPS RUNNING PUSHES_PER_SECOND SECONDS

What an event does is as little as the model needs: the figures of an app and of the device change, nothing is written.
"""

import json
import random
import resource
import sys
import time

import simpy

TICK = 0.1
SAMPLE = 0.1
CORES = 4
EVENT_COST = 0.005
EVENT_WORK = 2.0
DECAY = 10.0
CHURN = 64 * 1024
PAGE = 4096


class Device:
    def __init__(self):
        self.pages = 0
        self.peak = 0

    def take(self, pages):
        self.pages += pages
        self.peak = max(self.peak, self.pages)


class App:
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


def pushes(env, apps, rate):
    number = 0
    while True:
        yield env.timeout(1 / rate)
        env.process(apps[number % len(apps)].wake())
        number += 1


def monitor(env, device, levels):
    while True:
        yield env.timeout(SAMPLE)
        levels["warning" if device.pages > 1 << 20 else "normal"] += 1


def main():
    count, running, rate, seconds = (int(text) for text in sys.argv[1:5])
    env = simpy.Environment()
    device = Device()
    cores = simpy.Resource(env, CORES)
    apps = [App(env, device, cores, seed) for seed in range(count)]
    for app in apps[:running]:
        env.process(app.run())
    env.process(pushes(env, apps[running:], rate))
    env.process(monitor(env, device, {"normal": 0, "warning": 0}))

    def cpu():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    before = cpu()
    wall, start, events = time.perf_counter(), cpu(), 0
    step = env.step
    while env.peek() < seconds:
        step()
        events += 1
    print(json.dumps({
        "wall_s": time.perf_counter() - wall, "cpu_s": cpu() - start, "before_cpu_s": before, "amount": events}))


main()
