"""pages: what is resident, compressed, of files, free and on flash on a device with a compressor or a file cache, and what
moves."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from plimsoll_tools.plotting import ram, style
from plimsoll_tools.plotting.run_directory import Run

COLUMNS = ("resident_bytes", "compressed_bytes", "pool_bytes", "free_bytes", "newly_compressed_bytes", "refaulted_bytes",
           "compress_ms", "decompress_ms")  # fmt: skip
FILES = ("file_backed_bytes", "file_read_bytes", "file_dropped_bytes")
"""Columns of pages of files; runs before them have none."""
NEEDS = ("pages.time_s", *(f"pages.{name}" for name in COLUMNS))

BINS = 400
"""Steps drawn at most, about three pixels each."""
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 0.75, 1.6, 0.5, 0.46
STACK_IN, RATE_IN, GAP_IN = 2.6, 1.2, 0.2
RESIDENT, POOL, FILE, FREE, HELD = "#0072B2", "#CC79A7", "#009E73", "#E8E8E8", "#000000"
MIB = float(1 << 20)


def in_steps(pages: pd.DataFrame, end_s: float) -> pd.DataFrame:
    """The mean of the levels and the sum of the flows, in steps of equal length."""
    step_s = end_s / BINS
    flows = ["newly_compressed_bytes", "refaulted_bytes", "compress_ms", "decompress_ms", *FILES[1:]]
    levels = [name for name in (*COLUMNS, FILES[0], "on_flash") if name not in flows]
    pages = pages.fillna({name: 0.0 for name in FILES})
    groups = pages.groupby((pages["time_s"] // step_s).clip(upper=BINS - 1).astype(int))
    table = groups[levels].mean().join(groups[flows].sum())
    table["time_s"] = table.index * step_s
    return table


def draw_stack(axes: Axes, table: pd.DataFrame, end_s: float) -> None:
    times_s = table["time_s"].to_numpy()
    kinds = [("resident_bytes", RESIDENT, "resident"), ("pool_bytes", POOL, "compressor's pool"),
             ("file_backed_bytes", FILE, "files"), ("free_bytes", FREE, "free")]  # fmt: skip
    # A kind that the device does not have needs no place in the legend.
    kinds = [kind for kind in kinds if kind[0] in ("resident_bytes", "free_bytes") or table[kind[0]].max() > 0]
    layers = [table[name].to_numpy() / MIB for name, _, _ in kinds]
    axes.stackplot(times_s, *layers, step="post", colors=[kind[1] for kind in kinds], linewidth=0,
                   labels=[kind[2] for kind in kinds])  # fmt: skip
    flash = table["on_flash"].to_numpy() / MIB
    held = (table["resident_bytes"] + table["compressed_bytes"]).to_numpy() / MIB + flash
    if max(table["compressed_bytes"].max(), flash.max()) > 0:
        parts = "resident,\ncompressed and\non flash" if flash.max() > 0 else "resident and\ncompressed"
        axes.step(times_s, held, where="post", color=HELD, linewidth=1.2, label=f"footprints:\n{parts}")
    if flash.max() > 0:
        (line,) = axes.step(times_s, flash, where="post", color=style.FLASH_COLOUR, linewidth=1.2, label="on flash")
        line.set_path_effects([withStroke(linewidth=2.6, foreground="white")])
    style.cover(axes, float(max(held.max(), np.sum(layers, axis=0).max())), 6)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_ylabel("MiB")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4, handlelength=1.2, fontsize=7.5)
    style.bare(axes, "left", "bottom")
    style.time_axis(axes, end_s)


def draw_flows(axes: Axes, table: pd.DataFrame, end_s: float) -> None:
    step_s = end_s / BINS
    flows = [("newly_compressed_bytes", "compressed", POOL), ("refaulted_bytes", "brought back", RESIDENT),
             ("file_read_bytes", "files read", FILE), ("file_dropped_bytes", "files dropped", HELD)]  # fmt: skip
    flows = [flow for flow in flows if table[flow[0]].max() > 0]
    for name, label, colour in flows:
        axes.step(table["time_s"], table[name] / MIB / step_s, where="post", color=colour, linewidth=1.1, label=label)
    top = float(max((table[flow[0]].max() for flow in flows), default=0.0)) / MIB / step_s
    style.cover(axes, max(top, 1.0), 4)
    axes.set_ylabel("MiB/s")
    if flows:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4, handlelength=1.2, fontsize=7.5)
    style.bare(axes, "left", "bottom")
    style.time_axis(axes, end_s)


def draw(run: Run) -> Figure | None:
    """The picture, or None when the device has neither a compressor nor a file cache."""
    pages = run.tables["pages"].dropna(subset=["time_s", "resident_bytes"])
    if pages.empty:
        return None
    end_s = max(run.end_s, 1e-3)
    flash = ram.on_flash(run, pages["time_s"].to_numpy())
    table = in_steps(pages.assign(on_flash=0.0 if flash is None else flash), end_s)
    height_in = TOP_IN + STACK_IN + GAP_IN + RATE_IN + BOTTOM_IN
    figure = plt.figure(figsize=(style.WIDTH_IN, height_in))
    wide = (style.WIDTH_IN - LEFT_IN - RIGHT_IN) / style.WIDTH_IN
    left = LEFT_IN / style.WIDTH_IN
    upper = figure.add_axes((left, (BOTTOM_IN + RATE_IN + GAP_IN) / height_in, wide, STACK_IN / height_in))
    draw_stack(upper, table, end_s)
    upper.set_xlabel("")
    upper.tick_params(labelbottom=False)
    lower = figure.add_axes((left, BOTTOM_IN / height_in, wide, RATE_IN / height_in))
    draw_flows(lower, table, end_s)
    spent = [float(pages[name].sum()) / 1000 for name in ("compress_ms", "decompress_ms")]
    if any(spent):
        words = f"CPU {spent[0]:.2f} s out, {spent[1]:.2f} s in"
        figure.text(1 - (RIGHT_IN - 0.1) / style.WIDTH_IN, 0.12 / height_in, words, fontsize=7.5, color=style.QUIET)
    style.title(figure, f"Pages of {run.title}")
    return figure
