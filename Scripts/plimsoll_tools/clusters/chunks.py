"""Which cases go to a worker together, and what becomes of those that fail. No engine, no clock, no file."""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from plimsoll_tools.clusters.errand import Ended, Errand

FIRST = 4
"""Cases in a chunk before it is known how long one takes."""
MOST = 5_000
"""Cases in a chunk at most."""
CASES = ("./plimsoll", "cases", "--jobs")


@dataclass
class Case:
    """A case that is not finished."""

    index: int
    line: bytes
    """The program's own words for it: a line of JSON."""
    attempts: int = 0
    """How often it failed, or was under way when its worker failed."""
    avoid: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Failed:
    """Cases of a chunk that failed, to be said to people."""

    cases: int
    is_last: bool
    """Whether they are not tried again."""
    ended: Ended
    why: str


@dataclass
class Chunker:
    """Forms chunks from the cases that wait, and takes the ends of chunks apart.

    Chunks take about `seconds` each. Towards the end they become smaller, so that a slow worker does not hold up the rest.
    """

    runs: int
    """The number of all cases."""
    seconds: float = 30.0
    fixed: int | None = None
    """The size of all chunks, where it is given."""
    cores: int = 1
    attempts: int = 3
    say: Callable[[Failed], None] = lambda _: None
    waiting: deque[Case] = field(default_factory=deque)
    under_way: dict[int, list[Case]] = field(default_factory=dict)
    asked: int = 0
    """Cases that were asked for and have not come."""
    taken: int = 0
    """Cases that came."""
    done: int = 0
    cpu_s: float = 0.0
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def size(self, slots: int) -> int:
        """How many cases the next chunk holds, with so many places to run chunks."""
        if self.fixed:
            return self.fixed
        if not self.done:
            return FIRST * self.cores
        each = max(self.cpu_s / self.done, 1e-4)
        wanted = self.seconds / each * self.cores
        # Half of what an equal share would be: the last chunks of all workers end at about the same time.
        share = -(-self.left // (2 * max(1, slots)))
        return max(1, min(int(wanted), share, MOST))

    @property
    def left(self) -> int:
        """The cases that no worker has."""
        return self.runs - self.taken + len(self.waiting)

    def wanted(self, room: int, slots: int) -> int:
        """How many more cases to ask the program for, with room for so many chunks."""
        need = room * self.size(slots) - len(self.waiting) - self.asked
        count = max(0, min(need, self.runs - self.taken - self.asked))
        self.asked += count
        return count

    def take(self, line: bytes) -> Case:
        """A case that the program named; it is not waiting yet."""
        self.asked -= 1
        self.taken += 1
        return Case(int(json.loads(line)["index"]), line)

    def form(self, slots: int) -> Errand | None:
        """The next chunk; None: nothing waits."""
        if not self.waiting:
            return None
        first = self.waiting[0]
        # A case that failed goes alone: whatever is wrong with it then spoils no other one.
        size = 1 if first.attempts else self.size(slots)
        cases: list[Case] = []
        while self.waiting and len(cases) < size:
            if (self.waiting[0].avoid, bool(self.waiting[0].attempts)) != (first.avoid, bool(first.attempts)):
                break
            cases.append(self.waiting.popleft())
        number = next(self.numbers)
        self.under_way[number] = cases
        given = b"".join(case.line + b"\n" for case in cases)
        return Errand(number, (*CASES, str(self.cores)), given, avoid=first.avoid, cores=self.cores)

    def put_back(self, errand: Errand) -> None:
        """The engine did not take the chunk."""
        self.waiting.extendleft(reversed(self.under_way.pop(errand.number)))

    def end(self, ended: Ended) -> list[bytes]:
        """The program's answers: the ends of the runs that need no further attempt. Others wait again."""
        cases = {case.index: case for case in self.under_way.pop(ended.number, [])}
        answers: list[bytes] = []
        failed: dict[int, tuple[Case, bytes]] = {}
        for line in ended.output.split(b"\n"):
            found = ending_of(line)
            case = cases.pop(found["index"], None) if found else None
            if found is None or case is None:
                continue
            self.cpu_s += float(found["cpu_seconds"])
            if found["status"] == 0:
                self.done += 1
                answers.append(line)
            else:
                failed[case.index] = (case, line)
        answers += self._failed(failed, ended)
        answers += self._missing(list(cases.values()), ended)
        return answers

    def _failed(self, failed: dict[int, tuple[Case, bytes]], ended: Ended) -> list[bytes]:
        """Runs that ended badly are tried again elsewhere; the last attempt's end goes to the program."""
        answers = [line for case, line in failed.values() if self._is_last(case, ended)]
        for case, line in failed.values():
            status = ending_of(line) or {}
            self.say(Failed(1, case.attempts >= self.attempts, ended, f"status {status.get('status')}"))
        return answers

    def _missing(self, cases: list[Case], ended: Ended) -> list[bytes]:
        """Runs without an end. Those that were under way are suspected of the worker's end, the others are not."""
        if not cases:
            return []
        suspects, others = cases[: self.cores], cases[self.cores :]
        for case in reversed(others):
            case.avoid |= {ended.where} - {""}
            self.waiting.appendleft(case)
        why = ended.fault or "no result"
        answers = [lost(case, ended, why) for case in suspects if self._is_last(case, ended)]
        self.say(Failed(len(cases), False, ended, why))
        if answers:
            self.say(Failed(len(answers), True, ended, why))
        return answers

    def _is_last(self, case: Case, ended: Ended) -> bool:
        """Counts an attempt that failed, and puts the case back if it has another one."""
        case.attempts += 1
        case.avoid |= {ended.where} - {""}
        if case.attempts >= self.attempts:
            return True
        self.waiting.append(case)
        return False


def ending_of(line: bytes) -> dict[str, Any] | None:
    """The end of a run; None for a line that is no such thing, or not whole."""
    try:
        found = json.loads(line)
        return found if isinstance(found, dict) and {"index", "status", "cpu_seconds"} <= found.keys() else None
    except ValueError:
        return None


def lost(case: Case, ended: Ended, why: str) -> bytes:
    """The end of a run that no worker could finish, as the program reads it."""
    words = f"no worker finished this run, in {case.attempts} attempts; the last one, on {ended.where or 'no host'}: {why}"
    log = f"\n{ended.log}" if ended.log else ""
    found = {"index": case.index, "status": 71, "output": "", "errors": words + log, "cpu_seconds": 0.0, "peak_kibibytes": 0}
    return json.dumps(found).encode()
