"""The folder that travels to the workers: the program, the libraries that it needs, and the files that its runs read."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll_tools.clusters.errand import SUMS, faults_of
from plimsoll_tools.tuning.program import Fault

OF_THE_HOST = re.compile(r"(ld-linux|ld64|libc|libm|libdl|libpthread|librt|libresolv|libutil)[-.]")
"""The C library: it belongs to the host, whose kernel and loader it fits."""
LIBRARY = re.compile(r"^\s*(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$")
START = """#!/bin/sh
# Starts the program with the libraries of this folder.
here=${0%/*}
LD_LIBRARY_PATH=$here/lib exec "$here/bin/plimsoll" "$@"
"""
TUNE = """from plimsoll_tools.tuning.__main__ import command

command()
"""


@dataclass(frozen=True)
class Parcel:
    folder: Path
    digest: str
    """Of the hashes of all files."""

    def packed(self) -> bytes:
        """The folder as one compressed archive; the same files give the same bytes."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=3) as archive:
            for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
                archive.add(path, str(path.relative_to(self.folder)), filter=anonymous)
        return buffer.getvalue()


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def libraries_of(program: Path) -> dict[str, Path]:
    """The shared libraries that a program needs besides the C library, by the names it asks for."""
    try:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Fault(71, f"cannot start ldd: {error.strerror}") from error
    if told.returncode:
        # A script, or a program that was linked statically.
        return {}
    found, missing = {}, []
    for line in told.stdout.splitlines():
        match = LIBRARY.match(line)
        if match is None or OF_THE_HOST.match(match[1]):
            continue
        if match[2].startswith("/"):
            found[match[1]] = Path(match[2])
        else:
            missing.append(match[1])
    if missing:
        raise Fault(71, f"{program} lacks {', '.join(missing)} on this machine")
    return found


def build(folder: Path, program: Path, files: Mapping[str, Path], tools: Path | None = None) -> Parcel:
    """Makes the folder; one that is there and whole stays as it is.

    `files` are by their paths in the folder. `tools` is the folder of this package, for a worker that runs Scripts/tune.
    """
    if (folder / SUMS).is_file() and not faults_of(folder):
        return Parcel(folder, digest_of(folder))
    shutil.rmtree(folder, ignore_errors=True)
    draft = folder.with_name(folder.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    copies = {"bin/plimsoll": program}
    copies |= {f"lib/{name}": path for name, path in libraries_of(program).items()}
    copies |= files
    if tools is not None:
        copies |= {f"python/plimsoll_tools/{path.relative_to(tools)}": path for path in sources_of(tools)}
    for place, source in copies.items():
        copy(source, draft / place)
    texts = {"plimsoll": START} | ({} if tools is None else {"python/tune.py": TUNE})
    for place, text in texts.items():
        (draft / place).write_text(text, "utf-8")
    (draft / "plimsoll").chmod(0o755)
    lines = [f"{hashlib.sha256((draft / place).read_bytes()).hexdigest()}  {place}" for place in sorted([*copies, *texts])]
    (draft / SUMS).write_text("\n".join(lines) + "\n", "utf-8")
    draft.rename(folder)
    return Parcel(folder, digest_of(folder))


def sources_of(tools: Path) -> Iterable[Path]:
    return sorted(path for path in tools.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def copy(source: Path, place: Path) -> None:
    if os.path.normpath(place) != str(place):
        raise Fault(70, f"{place} leaves the folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        # The bytes and the right to execute; links are followed.
        shutil.copyfile(source, place)
        place.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    except OSError as error:
        raise Fault(66, f"cannot take {source} along: {error.strerror}") from error


def digest_of(folder: Path) -> str:
    return hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()
