"""The pictures of a run: which there are, and how as many processes draw them as there are cores."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import queue
import signal
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from plimsoll_tools.command_line import as_called
from plimsoll_tools.plotting import kills, memory, style
from plimsoll_tools.plotting.run_directory import Run
from plimsoll_tools.whole_file import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("story", "memory", "pages", "pressure", "cores", "states", "launches", "terminations")
"""In the order in which they are named; each has a module with `NEEDS` and `draw`."""

LONGEST_FIRST = ("story", "memory", "states", "terminations", "cores", "pressure", "launches", "pages")
"""In the order in which they are begun, so that no process waits long for another at the end."""

OF_ONE_TABLE = {"cores", "pages"}
"""Pictures of the table of that name alone: an older run without it has none."""


class Occupied(Exception):
    """Where a picture would go lies something that is none of ours."""


@dataclass(frozen=True)
class Picture:
    """A picture as the bytes of its files."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    """By format; empty when there is nothing to draw."""
    remarks: list[str] = field(default_factory=list)
    """What is missing in it."""


def prepare() -> None:
    """Sets matplotlib up."""
    # A letter that no font has is drawn as a box; that is not worth a page of warnings.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    style.prepare()


def picture_of(run: Run, name: str, kinds: Sequence[str]) -> Picture:
    """Draws one picture."""
    import matplotlib.pyplot as plt

    module = import_module(f"plimsoll_tools.plotting.{name}")
    absent = run.lacks(*module.NEEDS)
    remarks = [f"{name}: without {', '.join(absent)}"] if absent else []
    figure = module.draw(run)
    if figure is None:
        return Picture(name, remarks=[*remarks, f"{name}: nothing to draw"])
    files = {kind: style.rendered(figure, kind) for kind in kinds}
    plt.close(figure)
    return Picture(name, files, remarks)


class Drawing:
    """The pictures of a run while they are being drawn."""

    def __init__(self, run: Run, kinds: Sequence[str]) -> None:
        """Begins. With one core, and where no process can be had, `pictures` does it all."""
        self.run, self.kinds = run, kinds
        self.names = [name for name in LONGEST_FIRST if name not in run.older & OF_ONE_TABLE]
        self.found: dict[str, Picture] = {}
        self.arrived: queue.SimpleQueue[Picture | None] = queue.SimpleQueue()
        self.processes: list[int] = []
        cores = len(os.sched_getaffinity(0))
        if cores > 1 and len(self.names) > 1:
            # Several pictures need these; each process would compute them for itself.
            kills.kills_of(run)
            memory.level_spans(run)
            self.share_out(min(cores, len(self.names)))

    def share_out(self, count: int) -> None:
        """Starts so many processes. Each takes one place in the list after the other from a pipe, and ends when it is empty."""
        places, writer = os.pipe()
        os.write(writer, bytes(range(len(self.names))))
        os.close(writer)
        streams: list[IO[bytes]] = []
        for _ in range(count):
            source, sink = os.pipe()
            try:
                with warnings.catch_warnings():
                    # A library's idle threads are no danger: the process draws, and ends without them.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process = os.fork()
            except OSError:
                os.close(source)
                os.close(sink)
                break
            if process == 0:
                # Who asked is the only one to listen: when that one is gone, a process ends as it sends.
                for stream in streams:
                    stream.close()
                os.close(source)
                self.draw_for(places, sink)
            os.close(sink)
            self.processes.append(process)
            streams.append(os.fdopen(source, "rb"))
        os.close(places)
        for stream in streams:
            threading.Thread(target=self.listen, args=(stream,), daemon=True).start()

    def draw_for(self, places: int, sink: int) -> NoReturn:
        """The life of a process that draws for another. What fails here is drawn again, and said, there."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            with os.fdopen(sink, "wb") as file:
                while place := os.read(places, 1):
                    pickle.dump(picture_of(self.run, self.names[place[0]], self.kinds), file)
                    file.flush()
        finally:
            os._exit(0)

    def listen(self, stream: IO[bytes]) -> None:
        """Takes what a process sends; None says that it has ended."""
        with stream, contextlib.suppress(EOFError, pickle.UnpicklingError):
            while True:
                self.arrived.put(pickle.load(stream))
        self.arrived.put(None)

    def pictures(self, told: Callable[[int, int], None]) -> list[Picture]:
        """Waits for all of them, in the order of their names; `told` hears how many are done, of how many."""
        running = len(self.processes)
        while running:
            told(len(self.found), len(self.names))
            picture = self.arrived.get()
            if picture is None:
                running -= 1
            else:
                self.found[picture.name] = picture
        for name in self.names:
            if name not in self.found:
                told(len(self.found), len(self.names))
                self.found[name] = picture_of(self.run, name, self.kinds)
        return [self.found[name] for name in NAMES if name in self.found]

    def close(self) -> None:
        """Ends the processes that are still at work."""
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
        self.processes = []


def rendered(figures: Sequence[tuple[str, Figure]], kinds: Sequence[str]) -> list[Picture]:
    """Figures, each with the name of its file, as pictures."""
    return [Picture(name, {kind: style.rendered(figure, kind) for kind in kinds}) for name, figure in figures]


def refuse_occupied(paths: Sequence[Path]) -> None:
    """Raises Occupied when a file that is no picture of ours is at one of the places."""
    for path in paths:
        if path.exists() and not style.is_ours(path):
            raise Occupied(f"{path} exists and was not drawn by {as_called('plot')}; give another --out, or --force")


def write(pictures: Sequence[Picture], out: Path, force: bool) -> list[Path]:
    """Writes all of them, or none if one would overwrite a file that is no picture of ours."""
    files = {out / f"{picture.name}.{kind}": data for picture in pictures for kind, data in picture.files.items()}
    if not force:
        refuse_occupied(list(files))
    out.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        write_bytes(path, data)
    return list(files)
