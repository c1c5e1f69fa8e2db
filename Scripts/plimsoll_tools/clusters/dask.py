"""Dask: each chunk is a task of its own, and everything travels over the network. The workers need no common disk.

A worker that dies is Dask's matter: the scheduler gives its tasks to others, three times. A task that fails all the same
comes back here, and is submitted again for other hosts.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import distributed
from distributed.diagnostics.plugin import WorkerPlugin

from plimsoll_tools.clusters import errand as errands
from plimsoll_tools.clusters.engine import Engine, News
from plimsoll_tools.clusters.errand import Desk, Ended, Errand, by_host
from plimsoll_tools.clusters.parcel import Parcel
from plimsoll_tools.tuning.program import Fault

CONNECT_S = 30
PATIENCE_S = 5.0
"""How long what the scheduler said of its workers holds."""


class Unpacked(WorkerPlugin):  # type: ignore[misc]
    """Unpacks the parcel on every worker, also on one that joins later."""

    def __init__(self, name: str, packed: bytes) -> None:
        self.name = name
        self.packed = packed
        self.desk: Desk | None = None

    def setup(self, worker: Any) -> None:
        folder = Path(worker.local_directory) / self.name / worker.id.replace("/", "-")
        if not folder.exists():
            errands.unpack(self.packed, folder)
        self.desk = Desk(folder, worker.address.partition("://")[2].rpartition(":")[0] or worker.address)

    def teardown(self, worker: Any) -> None:
        if self.desk:
            self.desk.close()


Plain = tuple[Any, ...]
"""Values of Python's own types: what travels alone must mean the same where this package is not installed."""


def run_on_worker(name: str, plain: Plain) -> Plain:
    ended = distributed.get_worker().plugins[name].desk.run(Errand(*plain))
    return (ended.number, ended.output, ended.where, ended.fault, ended.log)


class Dask(Engine):
    def __init__(self, news: News, scheduler: str | None, scheduler_file: Path | None) -> None:
        super().__init__(news)
        # The workers need not have this package: what they call travels with the task.
        cloudpickle.register_pickle_by_value(errands)
        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        address = f"file {scheduler_file}" if scheduler_file else scheduler
        try:
            self.client = distributed.Client(
                address=scheduler, scheduler_file=str(scheduler_file) if scheduler_file else None, timeout=CONNECT_S,
                set_as_default=False, name="plimsoll",
            )  # fmt: skip
        except (OSError, ValueError, TimeoutError) as error:
            raise Fault(69, f"cannot reach Dask's scheduler ({address}): {error}") from error
        self.futures: dict[int, Any] = {}
        self.lock = threading.Lock()
        self.name = ""
        self.hosts: dict[str, list[str]] = {}
        self.threads = 1
        self.asked = 0.0

    def open(self, parcel: Parcel, needed: int) -> None:
        self.name = f"plimsoll-{parcel.digest[:16]}"
        try:
            self.client.register_plugin(Unpacked(self.name, parcel.packed()), name=self.name)
        except Exception as error:
            raise Fault(69, f"a worker of Dask cannot unpack the program: {error}") from error

    def _look(self) -> None:
        """Asks for the workers, seldom."""
        if time.monotonic() - self.asked < PATIENCE_S:
            return
        self.asked = time.monotonic()
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        self.threads = sum(int(worker["nthreads"]) for worker in workers.values())
        self.hosts = {}
        for address, worker in workers.items():
            self.hosts.setdefault(str(worker["host"]), []).append(address)

    def slots(self) -> int:
        self._look()
        return max(1, self.threads)

    def submit(self, batch: Sequence[Errand]) -> list[Errand]:
        self._look()
        for errand in batch:
            places = by_host(errand.avoid, self.hosts) if errand.avoid else None
            plain = (errand.number, errand.words, errand.given, dict(errand.env))
            # Dask sends a function of a module by its name, and one without a name as it is, with all that it uses.
            future = self.client.submit(
                lambda name, plain: run_on_worker(name, plain), self.name, plain, key=f"{self.name}-{time.time_ns()}-{errand.number}", pure=False,
                workers=places, allow_other_workers=bool(places),
            )  # fmt: skip
            with self.lock:
                self.futures[errand.number] = future
            future.add_done_callback(lambda ended, number=errand.number: self._ended(number, ended))
        return []

    def _ended(self, number: int, future: Any) -> None:
        with self.lock:
            if self.futures.pop(number, None) is None:
                return  # Cancelled by us.
        try:
            self.news.put(Ended(*future.result(timeout=CONNECT_S)))
        except Exception as error:  # noqa: BLE001  Whatever a task raised is how it ended.
            self.news.put(Ended(number, b"", "", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"))
        future.release()

    def close(self) -> None:
        with self.lock:
            futures, self.futures = list(self.futures.values()), {}
        with contextlib.suppress(Exception):
            self.client.cancel(futures, force=True)
            if futures:
                # What runs already is ended by the plugin's teardown.
                self.client.unregister_worker_plugin(self.name)
        self.client.close(timeout=10)
