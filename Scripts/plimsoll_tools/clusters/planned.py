"""The program, which plans an experiment, hands out its cases, and writes the results."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll_tools.clusters.engine import News
from plimsoll_tools.tuning.program import Fault, Interruption


@dataclass(frozen=True)
class Head:
    """What the program says before the first case."""

    plan: str
    runs: int
    program: Path
    build: str
    needed_bytes: int
    files: dict[str, Path]
    """The files that runs read, by their paths in the parcel."""

    @staticmethod
    def read(line: bytes) -> Head:
        found: dict[str, Any] = json.loads(line)
        files = {file["place"]: Path(file["source"]) for file in found["files"]}
        return Head(
            found["plan"], found["runs"], Path(found["program"]), found["build"], found["needed_bytes"], files
        )  # fmt: skip


@dataclass(frozen=True)
class Named:
    """A case that the program hands out."""

    line: bytes


@dataclass(frozen=True)
class Gone:
    """The program has ended."""

    status: int


class Planned:
    """`plimsoll sweep` or `plimsoll compare`, as a process that hands out its cases."""

    def __init__(self, program: Path, words: Sequence[str], news: News, workers: int) -> None:
        self.news = news
        theirs_in, self.answers = os.pipe()
        cases, theirs_out = os.pipe()
        command = [str(program), *words, "--hand-out", f"{theirs_in},{theirs_out}", "--jobs", str(min(1024, workers))]
        try:
            # Ctrl-C is for us, who pass it on.
            self.process = subprocess.Popen(
                command, pass_fds=(theirs_in, theirs_out), start_new_session=True, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise Fault(71, f"cannot start {program}: {error.strerror or error}") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self.cases = os.fdopen(cases, "rb")

    def head(self, interruption: Interruption) -> Head | None:
        """None: it ended before it had a case, and has said why."""
        while not select.select([self.cases], [], [], 0.25)[0]:
            if interruption.number:
                self.signal(interruption.number)
        line = self.cases.readline()
        return Head.read(line) if line else None

    def begin(self) -> None:
        """From now on each case is news, and so is the program's end."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.cases:
            self.news.put(Named(line.rstrip(b"\n")))
        self.news.put(Gone(self.process.wait()))

    def want(self, count: int) -> None:
        if count:
            self.answer([json.dumps({"want": count}).encode()])

    def answer(self, lines: Sequence[bytes]) -> None:
        """Hands over the ends of runs. The program may be gone, which is news by itself."""
        rest = memoryview(b"".join(line + b"\n" for line in lines))
        with contextlib.suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self.answers, rest) :]

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def close(self) -> int:
        """Its exit status; one that still runs is asked to end."""
        if self.answers >= 0:
            os.close(self.answers)
            self.answers = -1
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
