"""The checkout that this package is a part of."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Its top folder. A package that was copied elsewhere (`pip install` without --editable) has none around it."""

RELEASE_BUILD = ROOT / ".build" / "release" / "plimsoll"
"""Where `swift build -c release` puts the program."""


def program() -> Path:
    """The program of this checkout; without a checkout, the one on PATH."""
    installed = None if (ROOT / "Package.swift").is_file() else shutil.which("plimsoll")
    return Path(installed) if installed else RELEASE_BUILD
