"""What the commands in Python have in common: faults of usage, and an end in order when nobody takes the output."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Ends with 64 on a fault of usage, as the program does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        print(f"{Path(self.prog).name}: {message}", file=sys.stderr)
        raise SystemExit(64)


def output(text: str) -> Path:
    """A path to write to. An empty one would be taken for the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; name what to write")
    return Path(text)


class OutputLost(Exception):
    """Standard output cannot be written. No OSError, which a command takes for a fault of one of its files."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror}")
        #: Whoever read the output has enough of it, and needs no word about it.
        self.is_unread = isinstance(error, BrokenPipeError)


class Output(io.FileIO):
    """Standard output, whose faults are told from those of files."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type, return-value]
        except OSError as error:
            raise OutputLost(error) from error


class Remarks(io.FileIO):
    """Standard error: what cannot be said there is not said, and changes no exit status."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type, return-value]
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


def take_streams() -> None:
    """Puts our streams in the place of Python's."""
    for number, name, kind in ((1, "stdout", Output), (2, "stderr", Remarks)):
        given = getattr(sys, name)
        if given is None:
            # It is closed, and nobody wants it; what is opened next must not get its number.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        stream = io.TextIOWrapper(
            io.BufferedWriter(kind(number, "w", closefd=False)), encoding=given.encoding if given else "utf-8",
            errors=given.errors if given else None, line_buffering=given.line_buffering if given else True,
            write_through=given.write_through if given else False,
        )  # fmt: skip
        setattr(sys, name, stream)


def end_in_order(name: str, main: Callable[[], int]) -> NoReturn:
    """Calls a command and ends with its exit status, or with 74 when its output cannot be written."""
    take_streams()
    try:
        try:
            status: object = main()
        except SystemExit as ending:
            status = ending.code
        sys.stdout.flush()
    except OutputLost as error:
        # What is still in the buffer is written once more at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not error.is_unread:
            print(f"{name}: {error}", file=sys.stderr)
        status = 74
    raise SystemExit(status)
