"""Files that are whole: a full disk or an interruption leaves what was there before."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Where to write what is to stand at `path`: a file beside it, which takes its place once all is written.

    Links are followed. A device or a pipe has no earlier content to keep, and is written to as it is.
    Raises OSError as writing to `path` would, for one that is write-protected, too.
    """
    place = Path(os.path.realpath(path))
    before = place.stat() if place.exists() else None
    if before and not stat.S_ISREG(before.st_mode):
        yield path
        return
    if before and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    # A name of its own length: the path's may be the longest that there can be.
    beside = place.with_name(f".writing-{os.getpid()}")
    try:
        yield beside
        if before:
            beside.chmod(stat.S_IMODE(before.st_mode))
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """`Path.write_bytes`, all of it or nothing."""
    with writing(path) as beside:
        beside.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """`Path.write_text` in UTF-8, all of it or nothing."""
    write_bytes(path, text.encode("utf-8"))
