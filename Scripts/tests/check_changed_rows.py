"""Reads a run with rows of changed processes as the pictures do: every app must be there as in the run with all rows.

    python Scripts/tests/check_changed_rows.py RUN-DIRECTORY RUN-DIRECTORY-WITH-ROWS-OF-CHANGED
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from plimsoll_tools.plotting.run_directory import read_run


def main(whole: Path, thin: Path) -> int:
    rows = len(pd.read_csv(thin / "apps.csv"))
    expected, got = (
        read_run(folder).apps.sort_values(["time_s", "pid"]).reset_index(drop=True) for folder in (whole, thin)
    )
    if rows >= len(expected):
        print(f"{thin}: {rows} rows are not fewer than {len(expected)}", file=sys.stderr)
        return 1
    try:
        pd.testing.assert_frame_equal(got, expected, check_dtype=False, check_like=True)
    except AssertionError as fault:
        print(f"{thin}: its {rows} rows are read as {len(got)}, not as {len(expected)}: {fault}", file=sys.stderr)
        return 1
    print(f"{rows} rows of changed processes are read as {len(got)}, as in the run with all of them")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
