"""What a worker does: it unpacks and checks the parcel, and runs commands in it.

This module travels to Dask's workers as it is, so it needs nothing but Python itself.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SUMS = "SHA256SUMS"
"""The parcel's list of files with their hashes, as sha256sum writes and reads it."""
PARCEL = "{the parcel}"
"""Stands in a command for the parcel's folder on the worker."""
SCRATCH = "{the scratch folder}"
"""Stands in a command for a folder that is removed afterwards."""
PYTHON = "{the Python}"
"""Stands in a command for the worker's Python."""
MOST_ERRORS = 20_000
"""The most characters of an errand's messages that come back."""


@dataclass(frozen=True)
class Errand:
    """A command for one worker."""

    number: int
    words: tuple[str, ...]
    given: bytes = b""
    """Its standard input."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its values may name the parcel, too."""
    avoid: frozenset[str] = frozenset()
    """Hosts that it failed on."""
    cores: int = 1


@dataclass(frozen=True)
class Ended:
    """The end of an errand."""

    number: int
    output: bytes
    """Standard output, as far as there is any."""
    where: str
    """The host that it ran on; empty if none is known."""
    fault: str = ""
    """Why it failed; empty if it ended well."""
    log: str = ""
    """The file with its messages, or the messages themselves."""


def filled(word: str, parcel: Path | str, scratch: Path | str, python: str) -> str:
    """A word of a command on this worker."""
    return word.replace(PARCEL, str(parcel)).replace(SCRATCH, str(scratch)).replace(PYTHON, python)


def faults_of(folder: Path) -> list[str]:
    """The files of a parcel that are missing or changed."""
    faults = []
    for line in (folder / SUMS).read_text("utf-8").splitlines():
        digest, _, name = line.partition("  ")
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            found = ""
        if found != digest:
            faults.append(name)
    return faults


def unpack(packed: bytes, folder: Path) -> None:
    """Unpacks a parcel into a new folder, and checks it."""
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # The filter exists since 3.10.12 and 3.11.4; the archive is our own, and its hashes are checked.
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    faults = faults_of(folder)
    if faults:
        raise RuntimeError(f"the parcel arrived damaged: {', '.join(faults[:5])}")


class Desk:
    """Runs commands in a parcel's folder, and ends them all when it is asked to."""

    def __init__(self, parcel: Path, where: str) -> None:
        self.parcel = parcel
        self.where = where
        self.running: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.is_closed = False

    def run(self, errand: Errand) -> Ended:
        with tempfile.TemporaryDirectory(prefix="plimsoll-errand.") as scratch:
            words = [filled(word, self.parcel, scratch, sys.executable) for word in errand.words]
            env = {name: filled(value, self.parcel, scratch, sys.executable) for name, value in errand.env.items()}
            try:
                process = self._start(words, env)
            except OSError as error:
                return Ended(errand.number, b"", self.where, f"cannot start {words[0]}: {error.strerror}")
            output, errors = process.communicate(errand.given)
            with self.lock:
                self.running.discard(process)
        said = errors.decode("utf-8", "replace").strip()[-MOST_ERRORS:]
        return Ended(errand.number, output, self.where, ending(process.returncode), said)

    def _start(self, words: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with self.lock:
            if self.is_closed:
                raise InterruptedError(0, "the work was given up")
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.parcel,
                env={**os.environ, **env},
            )  # fmt: skip
            self.running.add(process)
        return process

    def close(self) -> None:
        """Ends the commands that are running; none is started any more."""
        with self.lock:
            self.is_closed = True
            for process in self.running:
                process.terminate()


def ending(status: int) -> str:
    """Why a command with this status failed; empty if it did not."""
    if not status:
        return ""
    return f"signal {-status}" if status < 0 else f"status {status}"


def by_host(avoid: frozenset[str], hosts: Mapping[str, Sequence[str]]) -> list[str]:
    """The workers on hosts that need not be avoided; all of them if no other host is left."""
    kept = [worker for host in hosts if host not in avoid for worker in hosts[host]]
    return kept or [worker for workers in hosts.values() for worker in workers]
