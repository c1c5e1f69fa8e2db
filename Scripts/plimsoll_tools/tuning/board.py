"""The study as a board of slots that any number of workers fill together, each slot exactly once.

A study has as many slots as trials were asked for. A slot's trial waits, is claimed by one worker in one step of the
database, and is settled when it is complete or pruned. Whoever dies in mid-trial stops telling the storage that it
lives; the next worker marks that trial FAIL and puts the slot back, with its parameters and the rounds that were done.
Should two workers put the same slot back at once, the trial with the lower number has it and the other is marked.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import optuna
import sqlalchemy
from optuna.exceptions import DuplicatedStudyError, ExperimentalWarning, UpdateFinishedTrialError
from optuna.storages import RDBStorage, fail_stale_trials
from optuna.trial import FrozenTrial, TrialState

from plimsoll_tools.tuning.problem import Direction
from plimsoll_tools.tuning.program import Fault, rest

SETTLED = (TrialState.COMPLETE, TrialState.PRUNED)
LIVE = (TrialState.WAITING, TrialState.RUNNING, *SETTLED)
MOST_ATTEMPTS = 4
"""A slot whose workers died so often is given up, and said to be: something about it kills them."""
WORKER = f"{socket.gethostname()}:{os.getpid()}"
"""Who holds a trial, for people who look into the storage."""
BUILD = "build "
"""What a study knows of a build of the program that made runs for it goes by this and the build."""
UNKNOWN = "unknown"
"""The build that made runs of which the study does not say who made them."""
PATIENCE_S = 10.0
"""How long a worker that joins waits for the worker that opened the study before it fills slots itself."""

optuna.logging.set_verbosity(optuna.logging.ERROR)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Optuna calls the heartbeat experimental, each time, and a fixed parameter outside its range remarkable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


def write_ahead(storage: RDBStorage) -> None:
    """SQLite then survives whatever ends a process, and need not wait for the disk at every step."""

    def pragmas(connection: Any, _: object) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {pragma}").close()

    sqlalchemy.event.listen(storage.engine, "connect", pragmas)
    storage.engine.dispose()


def shown(url: str) -> str:
    """The address of a storage without its password."""
    return sqlalchemy.make_url(url).render_as_string(hide_password=True)


def open_storage(url: str, beat_s: int, grace_s: int) -> RDBStorage:
    """The storage, its tables made where they are missing."""
    try:
        address = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError as error:
        raise Fault(64, "--storage: expected postgresql://USER@HOST/DATABASE or sqlite:///FILE") from error
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
    if not address.drivername.startswith(("postgresql", "sqlite")):
        raise Fault(64, f"--storage {shown(url)}: postgresql:// and sqlite:/// are supported")
    is_file = address.drivername.startswith("sqlite")
    # A database without an encoding of its own (SQL_ASCII) would hand out bytes instead of text.
    connect = {"timeout": 60} if is_file else {"client_encoding": "utf8", "connect_timeout": 30}
    options: dict[str, Any] = {"connect_args": connect, "pool_pre_ping": not is_file}
    last: Exception | None = None
    for attempt in range(6):
        try:
            with quiet():
                storage = RDBStorage(
                    address.render_as_string(hide_password=False),
                    engine_kwargs=options,
                    heartbeat_interval=beat_s,
                    grace_period=grace_s,
                )
            if is_file:
                write_ahead(storage)
            return storage
        except (sqlalchemy.exc.SQLAlchemyError, RuntimeError) as error:
            # Two workers that make the tables at once hinder each other; the second attempt finds them made.
            last = error
            if isinstance(error, sqlalchemy.exc.OperationalError) and attempt >= 1:
                break
            time.sleep(0.2 * (attempt + 1))
    raise Fault(69, f"cannot reach the storage {shown(url)}: {reason(last)}") from last


def reason(error: Exception | None) -> str:
    """The database's own words, on one line."""
    origin = getattr(error, "orig", None) or error
    return " ".join(str(origin).split())[:200]


def studies_in(storage: RDBStorage) -> dict[str, dict[str, Any]]:
    """What the searches in a storage are about, by the study's name. A verdict's study says nothing of it."""
    studies = storage.get_all_studies()
    return {study.study_name: study.user_attrs["problem"] for study in studies if "problem" in study.user_attrs}


class Position:
    """Where a study stands, at one moment."""

    def __init__(self, trials: Sequence[FrozenTrial], slots: int) -> None:
        self.slots = slots
        self.owners: dict[int, FrozenTrial] = {}
        """The trial that counts, by slot: of the live ones the first."""
        self.failures: dict[int, list[FrozenTrial]] = {}
        """By slot, the trials whose worker died."""
        self.waiting: list[FrozenTrial] = []
        """By slot."""
        for trial in trials:
            slot = int(trial.user_attrs.get("slot", slots))
            if slot >= slots:
                continue  # Of a study that was once asked for more trials.
            if trial.state in LIVE:
                self.owners.setdefault(slot, trial)
            elif "duplicate" not in trial.user_attrs:
                self.failures.setdefault(slot, []).append(trial)
            if trial.state == TrialState.WAITING:
                self.waiting.append(trial)
        self.waiting.sort(key=lambda trial: int(trial.user_attrs["slot"]))

    @property
    def given_up(self) -> list[int]:
        return [
            slot for slot, failed in self.failures.items() if len(failed) >= MOST_ATTEMPTS and slot not in self.owners
        ]

    @property
    def empty(self) -> list[int]:
        return [
            slot
            for slot in range(self.slots)
            if slot not in self.owners and len(self.failures.get(slot, ())) < MOST_ATTEMPTS
        ]

    @property
    def settled(self) -> int:
        return sum(trial.state in SETTLED for trial in self.owners.values()) + len(self.given_up)

    @property
    def is_done(self) -> bool:
        return self.settled >= self.slots

    @property
    def completed(self) -> list[FrozenTrial]:
        """By slot."""
        return [self.owners[slot] for slot in sorted(self.owners) if self.owners[slot].state == TrialState.COMPLETE]


@dataclass(frozen=True)
class Claim:
    """A trial that is ours."""

    trial_id: int
    slot: int
    position: Position
    """Where the study stood then."""


class Board:
    def __init__(
        self, storage: RDBStorage, name: str, directions: Sequence[Direction], slots: Sequence[dict[str, Any]]
    ) -> None:
        self.storage = storage
        self.slots = slots
        """What each slot's parameters are fixed to; an empty one is the sampler's."""
        try:
            self.study = optuna.create_study(study_name=name, storage=storage, directions=list(directions))
            self.is_ours = True
        except DuplicatedStudyError:
            self.study = optuna.load_study(study_name=name, storage=storage)
            self.is_ours = False

    def register(self, record: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
        """Writes what the study is about, or reads what it was opened with."""
        until = time.monotonic() + PATIENCE_S
        while not self.is_ours and time.monotonic() < until:
            found = self.study.user_attrs.get("problem")
            if found is not None:
                return dict(found)
            rest(0.1, tick)
        self.study.set_user_attr("problem", record)
        return record

    def builds(self) -> list[str]:
        """The builds of the program that made the runs that are done, in the order in which they signed.

        The trials are read before the signatures: a worker signs before it books its first run, so each run that is seen
        has its build. The other way round, a worker that signs and books between the two readings would look like a build
        that nobody recorded. A signature counts as soon as there are runs: its worker may have died before it had any.
        """
        if not any(has_runs(trial) for trial in self.study.get_trials(deepcopy=False)):
            return []
        return self._signed() or [UNKNOWN]

    def _signed(self) -> list[str]:
        places = {key[len(BUILD) :]: value for key, value in self.study.user_attrs.items() if key.startswith(BUILD)}
        return sorted(places, key=lambda build: (places[build], build))

    def sign(self, build: str) -> None:
        """Says that this build made runs. Each has a key of its own, so that workers who sign at once both have."""
        # Runs without a signature are older than this worker's.
        before = self.builds() or self._signed()
        if build in before:
            return
        for place, one in enumerate([*before, build]):
            if one in (build, UNKNOWN):
                self.study.set_user_attr(BUILD + one, place)

    def fill(self, tick: Callable[[], None]) -> None:
        """Puts a trial on every slot that has none. A worker that joins gives the opener time to do it first."""
        until = time.monotonic() + PATIENCE_S
        least = len(self.slots)
        while not self.is_ours and (empty := self.read().empty) and time.monotonic() < until:
            if len(empty) < least:  # Another worker fills them.
                least, until = len(empty), time.monotonic() + PATIENCE_S
            rest(0.1, tick)
        self._put_back(self.read(), tick)

    def read(self) -> Position:
        """Where the study stands. Each call asks the storage."""
        return Position(self.study.get_trials(deepcopy=False), len(self.slots))

    def claim(self, tick: Callable[[], None]) -> Claim | None:
        """Takes one waiting trial, for us alone; None: nothing waits (others may still be at work)."""
        with quiet():
            fail_stale_trials(self.study)
        position = self.read()
        if position.empty:
            self._put_back(position, tick)
            position = self.read()
        for trial in position.waiting:
            slot = int(trial.user_attrs["slot"])
            owner = position.owners[slot].number
            # First the sign of life: a trial that runs without one would never be missed.
            self.storage.record_heartbeat(trial._trial_id)
            try:
                if not self.storage.set_trial_state_values(trial._trial_id, TrialState.RUNNING):
                    continue
                if owner == trial.number:
                    self.storage.set_trial_user_attr(trial._trial_id, "worker", WORKER)
                    return Claim(trial._trial_id, slot, position)
                self.storage.set_trial_user_attr(trial._trial_id, "duplicate", owner)
                self.storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
            except UpdateFinishedTrialError:
                continue
        return None

    def beat(self, claim: Claim) -> None:
        self.storage.record_heartbeat(claim.trial_id)

    def release(self, claim: Claim) -> None:
        """Gives the trial back unfinished: it waits again, with its parameters and what is done of it."""
        # Another worker took this one for dead and has put the slot back.
        with contextlib.suppress(UpdateFinishedTrialError):
            self.storage.set_trial_state_values(claim.trial_id, TrialState.WAITING)

    def _put_back(self, position: Position, tick: Callable[[], None]) -> None:
        for slot in position.empty:
            tick()
            before = position.failures.get(slot)
            if before:
                self.study.add_trial(_retry(before[-1]))
            else:
                self.study.enqueue_trial(dict(self.slots[slot]), user_attrs={"slot": slot})


def has_runs(trial: FrozenTrial) -> bool:
    """Whether any run of the trial is done: a round of the search, or a pair of the verdict."""
    return "round_0" in trial.user_attrs or "standard" in trial.user_attrs


def _retry(failed: FrozenTrial) -> FrozenTrial:
    """The same trial again: its parameters, and the rounds that its worker finished; no judgement of them.

    Without a run it draws all parameters anew: its worker may have died between two of them, and the sampler's next draws
    would go to others than they went to before.
    """
    is_drawn = has_runs(failed)
    kept = {key: value for key, value in failed.user_attrs.items() if key == "slot" or key.startswith("round_")}
    fixed = {key: value for key, value in failed.system_attrs.items() if key == "fixed_params"}
    return optuna.create_trial(
        state=TrialState.WAITING,
        params=failed.params if is_drawn else {},
        distributions=failed.distributions if is_drawn else {},
        user_attrs={**kept, "retry_of": failed.number},
        system_attrs=fixed,
    )
