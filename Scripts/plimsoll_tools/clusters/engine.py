"""What all engines do: they run errands somewhere, and tell of their ends in a queue."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from plimsoll_tools.clusters.errand import Desk, Ended, Errand
from plimsoll_tools.clusters.parcel import Parcel

News = queue.SimpleQueue[object]
"""What happens: the ends of errands, and what others put in."""


class Engine(ABC):
    """A scheduler that runs errands."""

    def __init__(self, news: News) -> None:
        self.news = news

    @abstractmethod
    def open(self, parcel: Parcel, needed: int) -> None:
        """Brings the parcel to the workers. `needed` is how many bytes of memory one run needs."""

    @abstractmethod
    def slots(self) -> int:
        """How many errands run at once, as far as that is known."""

    @abstractmethod
    def submit(self, batch: Sequence[Errand]) -> list[Errand]:
        """Takes errands; returns those that it cannot take now."""

    @abstractmethod
    def close(self) -> None:
        """Cancels what has not ended."""


class Local(Engine):
    """This machine: for a trial of what would run elsewhere."""

    def __init__(self, news: News, workers: int) -> None:
        super().__init__(news)
        self.workers = workers
        self.pool = ThreadPoolExecutor(workers)
        self.desk: Desk | None = None

    def open(self, parcel: Parcel, needed: int) -> None:
        self.desk = Desk(parcel.folder, "this machine")

    def slots(self) -> int:
        return self.workers

    def submit(self, batch: Sequence[Errand]) -> list[Errand]:
        for errand in batch:
            self.pool.submit(self._run, errand)
        return []

    def _run(self, errand: Errand) -> None:
        assert self.desk
        try:
            ended = self.desk.run(errand)
        except Exception as error:  # noqa: BLE001  Whatever happened is how it ended.
            ended = Ended(errand.number, b"", self.desk.where, f"{type(error).__name__}: {error}")
        self.news.put(ended)

    def close(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)
        if self.desk:
            self.desk.close()
        self.pool.shutdown(wait=True)
