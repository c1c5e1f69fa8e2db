"""What the commands that draw have in common."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


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
