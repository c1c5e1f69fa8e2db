"""ram: what fills the RAM of a device with a compressor or a file cache. Footprints say less: they count compressed pages, too,
and no pages of files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from plimsoll_tools.plotting import style
from plimsoll_tools.plotting.run_directory import Run

RESIDENT_COLOUR, POOL_COLOUR, FILE_COLOUR = "#C3C9D1", "#8F98A3", "#E6EAEE"
"""Greys: no app's layer is there, and the hatched system is darker."""


@dataclass(frozen=True)
class Part:
    """What a part of the RAM holds, at the times of the picture."""

    name: str
    colour: str
    hatch: str | None
    bytes: np.ndarray


def pages_of(run: Run) -> pd.DataFrame:
    """The rows of pages.csv by their time; none on a device with neither a compressor nor a file cache."""
    pages = run.tables["pages"].dropna(subset=["time_s", "resident_bytes", "pool_bytes", "compressed_bytes"])
    if not pages[["pool_bytes", "file_backed_bytes"]].max().max() > 0:
        return pages.iloc[:0]
    return pages.drop_duplicates("time_s", keep="last").set_index("time_s").sort_index()


def on_flash(run: Run, times_s: np.ndarray) -> np.ndarray | None:
    """The pages of processes whose contents are on flash, at these times; None if there never are any.

    They have no place in RAM, and count as footprint.
    """
    rows = run.tables["freezer"].dropna().drop_duplicates("time_s", keep="last").set_index("time_s").sort_index()
    swapped = rows["swapped_bytes"]
    return swapped.reindex(times_s, method="ffill").fillna(0.0).to_numpy() if swapped.max() > 0 else None


def parts_of(run: Run, times_s: np.ndarray, used: np.ndarray | None) -> list[Part]:
    """From the bottom up: the system, the compressor's pool, the pages of processes that have a place in RAM, and files.

    `used` is all memory in use at these times. Without it, or on a device with nothing of that, there are no parts.
    """
    pages = pages_of(run)
    if pages.empty or used is None:
        return []
    at = pages.reindex(times_s, method="ffill").fillna(0.0)
    resident, pool, files = (at[name].to_numpy() for name in ("resident_bytes", "pool_bytes", "file_backed_bytes"))
    parts = [
        Part("system", style.SYSTEM_COLOUR, "////", np.maximum(used - resident - pool - files, 0.0)),
        Part("compressor", POOL_COLOUR, "....", pool),
        Part("resident pages", RESIDENT_COLOUR, None, resident),
        Part("files", FILE_COLOUR, None, files),
    ]
    return [part for part in parts if part.bytes.max(initial=0.0) > 0]
