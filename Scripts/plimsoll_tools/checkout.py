"""The checkout that this package is a part of."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Its top folder. A package that was copied elsewhere (`pip install` without --editable) has none around it."""

RELEASE_BUILD = ROOT / ".build" / "release" / "plimsoll"
"""Where `swift build -c release` puts the program."""


def program() -> Path:
    """The program that PLIMSOLL names, or that of this checkout; without both, the one of this archive or on PATH."""
    if named := os.environ.get("PLIMSOLL"):
        return Path(named)
    if (ROOT / "Package.swift").is_file():
        return RELEASE_BUILD
    prefix = Path(sys.prefix)
    # Where an archive's setup-python makes the environment.
    if prefix.parts[-3:] == ("lib", "plimsoll", "venv"):
        return prefix.parents[2] / "bin" / "plimsoll"
    return Path(shutil.which("plimsoll") or RELEASE_BUILD)
