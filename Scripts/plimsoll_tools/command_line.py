"""What the commands in Python have in common: faults of usage, and an orderly end when the output cannot be written."""

from __future__ import annotations

import argparse
import difflib
import io
import itertools
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn


def as_called(command: str) -> str:
    """How a person types the command: `plimsoll plot` if the program was asked for its tool, `Scripts/plot` otherwise."""
    return f"plimsoll {command}" if os.environ.get("PLIMSOLL_COMMAND") else f"Scripts/{command}"


class Parser(argparse.ArgumentParser):
    """Ends with 64 on a fault of usage, as the program does. Bears the name by which the program was asked for it."""

    def __init__(self, *, prog: str, **given: Any) -> None:
        super().__init__(prog=os.environ.get("PLIMSOLL_COMMAND") or prog, **given)
        #: The words that were last read.
        self.words: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{Path(self.prog).name}: {self.misspelt() or message}", file=sys.stderr)
        raise SystemExit(64)

    def misspelt(self) -> str | None:
        """What is said about the first long option among the words that there is not; None if there are all."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for word in itertools.takewhile(lambda word: word != "--", self.words):
            name = word.partition("=")[0]
            # The beginning of an option is enough; what contains a space is a value.
            if word.startswith("--") and " " not in word and not any(option.startswith(name) for option in known):
                near = difflib.get_close_matches(name, known, n=1)
                return f"there is no option '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")
        return None


def output(text: str) -> Path:
    """A path to write to. An empty one would be taken for the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; name what to write")
    return Path(text)


HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd"
    "\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters, and what shows nothing or changes the direction of writing (Unicode's Cc, Cf, Zl, Zp and default
ignorable code points); no line break and no tabulator."""


PLAIN = bytes(range(0x20, 0x7F)) + b"\t\n\r"
"""The characters of ASCII that are not hidden."""


def visible(text: str) -> str:
    """The text with its hidden characters spelt out, as the program spells them: `\\u{202E}`."""
    # Nearly every table is plain, and to see that takes a twentieth of the time.
    if text.isascii() and not text.encode("ascii").translate(None, PLAIN):
        return text
    return HIDDEN.sub(lambda found: f"\\u{{{ord(found[0]):X}}}", text)


def visible_all(value: Any) -> Any:
    """The value of a JSON document with hidden characters spelt out in all of its texts."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [visible_all(one) for one in value]
    return {key: visible_all(one) for key, one in value.items()} if isinstance(value, dict) else value


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file, with nothing hidden in it; empty if there is none that can be read."""
    try:
        found = visible_all(json.loads(path.read_text("utf-8", errors="replace")))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class OutputLost(Exception):
    """Standard output cannot be written. No OSError, which a command takes for a fault of one of its files."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror}")
        #: The reader closed the pipe: it has enough, and needs no message.
        self.is_unread = isinstance(error, BrokenPipeError)


class Output(io.FileIO):
    """Standard output, whose faults are told from those of files."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            raise OutputLost(error) from error


class Remarks(io.FileIO):
    """Standard error: what cannot be said there is not said, and changes no exit status."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


ERASE = re.compile(r"(\x1b\[2?K)")
"""What erases a line; progress is drawn with it."""


class Shown(io.TextIOWrapper):
    """Text for people, in which nothing is hidden but what draws a line anew."""

    def write(self, text: str) -> int:
        super().write("".join(part if ERASE.fullmatch(part) else visible(part) for part in ERASE.split(text)))
        return len(text)


BEAT_S = 0.5
"""How often a line about what is being done is drawn anew: a person who waits a second sees that the work goes on."""


class Status:
    """One line on standard error that says what is being done, drawn anew in place, and gone at the end.

    On a terminal only, where a person waits; a log would keep every one of them. A thread adds the seconds that the same
    work has taken, because a single step may take long.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown = ""
        self.since_s = 0.0
        self.lock = threading.Lock()
        self.beating: threading.Thread | None = None

    def show(self, text: str) -> None:
        if text == self.shown or not sys.stderr.isatty():
            return
        with self.lock:
            self.shown, self.since_s = text, time.monotonic()
            self.draw()
        if not self.beating:
            self.beating = threading.Thread(target=self.beat, daemon=True)
            self.beating.start()

    def draw(self) -> None:
        waited_s = int(time.monotonic() - self.since_s)
        text = f"{self.name}: {self.shown}" + (f" ({waited_s} s)" if waited_s else "")
        print(f"\r\x1b[2K{self.fitted(text)}", end="", file=sys.stderr, flush=True)

    def beat(self) -> None:
        while True:
            time.sleep(BEAT_S)
            with self.lock:
                if self.shown:
                    self.draw()

    @staticmethod
    def fitted(line: str) -> str:
        """As much of the line as the terminal shows in one row: what is broken into two cannot be erased."""
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return line[: (columns or 80) - 1]

    def clear(self) -> None:
        with self.lock:
            if self.shown:
                print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
            self.shown = ""

    def say(self, message: str) -> None:
        """A line that stays."""
        self.clear()
        print(f"{self.name}: {message}", file=sys.stderr)


def take_streams() -> None:
    """Puts our streams in the place of Python's."""
    for number, name, kind in ((1, "stdout", Output), (2, "stderr", Remarks)):
        given = getattr(sys, name)
        if given is None:
            # It is closed; the next file that is opened must not get its number.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        # A file's name that is not UTF-8 is said as it is.
        errors = "surrogateescape" if kind is Output else given.errors if given else None
        stream = (Shown if kind is Remarks else io.TextIOWrapper)(
            io.BufferedWriter(kind(number, "w", closefd=False)), encoding=given.encoding if given else "utf-8",
            errors=errors, line_buffering=given.line_buffering if given else True,
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


def positive(text: str) -> int:
    """An argument that is a whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number from 1 on")
    return int(text)
