"""Stages: commands under a name, one stage after the other or beside those that follow, and a line for each of them."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO

from plimsoll_tools.checkout import ROOT

Command = Sequence[object]
"""The words of a command, which runs in the project's folder."""


class Stages:
    """Runs stages, and keeps what came of each."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: list[str] = []
        self.lines: list[str] = []
        self.begun: dict[str, tuple[IO[bytes], Future[tuple[int, float]]]] = {}
        self.running: list[subprocess.Popen[bytes]] = []
        self.pool = ThreadPoolExecutor()

    def run(self, name: str, *commands: Command, needs: str | None = None) -> None:
        """Runs the commands until one fails; none of them unless the stage passed that this one needs."""
        if needs and needs not in self.passed:
            self.lines.append(f"{'skipped':8} {'':5}    {name} (needs: {needs})")
            return
        print(f"\n=== {name}", flush=True)
        self.note(name, "", *self.outcome(commands, None))

    def begin(self, name: str, *commands: Command) -> None:
        """Begins a stage beside those that follow, which leave cores idle. `finish` shows what it said."""
        said = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun[name] = said, self.pool.submit(self.outcome, commands, said)

    def finish(self, name: str) -> None:
        print(f"\n=== {name}", flush=True)
        said, ended = self.begun.pop(name)
        status, seconds = ended.result()
        with said:
            said.seek(0)
            print(said.read().decode("utf-8", "replace"), end="")
        self.note(name, " (beside others)", status, seconds)

    def outcome(self, commands: Sequence[Command], said: IO[bytes] | None) -> tuple[int, float]:
        """The exit status, and the seconds that the commands took, not those that somebody waited for them."""
        status, began = 0, time.monotonic()
        for command in commands:
            # `env` says what is missing. What runs beside others has a session of its own, to be ended as a whole.
            words, errors = ["env", *map(str, command)], subprocess.STDOUT if said else None
            process = subprocess.Popen(words, cwd=ROOT, stdout=said, stderr=errors, start_new_session=bool(said))
            if said:
                self.running.append(process)
            status = process.wait()
            if status:
                break
        return status, time.monotonic() - began

    def note(self, name: str, where: str, status: int, seconds: float) -> None:
        if status < 0:
            print(f"test: it was killed by signal {-status}")
        (self.failed if status else self.passed).append(name)
        self.lines.append(f"{'FAILED' if status else 'passed':8} {seconds:5.0f} s  {name}{where}")
        print(f"--- {self.lines[-1]}", flush=True)

    def end(self) -> None:
        """Ends what still runs beside the stages."""
        for process in self.running:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
