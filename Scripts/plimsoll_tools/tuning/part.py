"""One process's part in a study: what it has claimed, and the sign that it lives."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from plimsoll_tools.tuning.board import Board, Claim
from plimsoll_tools.tuning.problem import Problem
from plimsoll_tools.tuning.program import Interrupted, Job, Program, Summary, rest


@dataclass
class Part:
    problem: Problem
    board: Board
    program: Program
    check: Callable[[], None]
    """Raises where an interruption was asked for."""
    show: Callable[[Board, str], None]
    claims: list[Claim] = field(default_factory=list)
    told: int = 0
    """When the storage last heard of us."""
    is_signed: bool = False
    """Whether the study knows that our build makes runs for it."""

    def tick(self) -> None:
        """While runs go on: is there an interruption? And the storage hears that we live."""
        self.check()
        now = int(time.monotonic())
        if self.claims and now - self.told >= (self.board.storage.get_heartbeat_interval() or 1):
            self.told = now
            for claim in self.claims:
                self.board.beat(claim)

    def sign(self) -> None:
        """Before the first of our runs is booked the study knows by which build."""
        if not self.is_signed:
            self.board.sign(self.program.build)
            self.is_signed = True

    def submit(self, seed: int, settings: str) -> list[Future[Summary]]:
        """A policy's runs of one seed, a scenario each."""
        problem = self.problem
        return [
            self.program.submit(Job(one.path, seed, settings, problem.backend, problem.prices_of_runs))
            for one in problem.scenarios
        ]

    def settle(self, at_once: int, what: str, finish: Callable[[], None]) -> None:
        """Claims some slots at a time and has them finished, until every slot is settled, by us or by others."""
        while True:
            self.check()
            try:
                while len(self.claims) < at_once and (claim := self.board.claim(self.check)) is not None:
                    self.claims.append(claim)
                if not self.claims:
                    if self.board.read().is_done:
                        return
                    self.show(self.board, f"waiting for {what} of other workers")
                    rest(1.0, self.check)
                    continue
                finish()
            except (Interrupted, Exception):
                self.release()
                raise

    def release(self) -> None:
        """Gives back what is not done: it waits again."""
        for claim in self.claims:
            self.board.release(claim)
        self.claims.clear()
