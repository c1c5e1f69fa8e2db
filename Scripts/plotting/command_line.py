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
