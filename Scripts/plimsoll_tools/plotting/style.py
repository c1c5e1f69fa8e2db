"""What all pictures share: colours, fonts, axes, text packing, and files that are the same byte for byte."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from plimsoll_tools.whole_file import writing

MIB = 1 << 20
GIB = 1 << 30

WIDTH_IN = 8.0
"""At 200 dpi a picture is 1600 px wide, and still legible when a page shows it at 800."""
DPI = 200

INK = "#222222"
QUIET = "#6b6b6b"
RULE = "#d9d9d9"

# Chosen so that each differs from every other, from the levels' colours and from the marks' in OKLab, also as people
# without red or green cones see them (Machado, Oliveira and Fernandes, 2009), and so that neighbours differ in hue and
# lightness. Red and orange are not among them: they are the levels'.
APP_COLOURS = (
    "#0072B2",  # blue
    "#F0E442",  # yellow
    "#CC79A7",  # rose
    "#003F5C",  # navy
    "#A8DDB5",  # mint
    "#7B3FE4",  # violet
    "#6B8E23",  # olive
    "#56B4E9",  # sky
    "#AA4499",  # purple
    "#009E73",  # green
    "#332288",  # indigo
    "#86D0FF",  # pale blue
    "#9C6BFF",  # lilac
    "#5E3C99",  # plum
)
OTHER_COLOUR = "#BDBDBD"
SYSTEM_COLOUR = "#5F6670"

LEVEL_COLOURS = {"normal": "#E4E7EA", "warning": "#F5A300", "critical": "#B2182B"}
LEVEL_SHADES = {"warning": "#FDEFCF", "critical": "#F6CFCF"}

WANT_COLOUR = "#D6006C"
"""Of ends for want of memory: pink, which no band and no app has, and dark enough for a text."""

# Light is waiting, dark is working; orange is what runs unseen.
STATE_COLOURS = {
    "active": "#004C8C",
    "inactive": "#74B4E3",
    "background": "#E08A00",
    "suspended": "#D3D7DB",
}
SCENE_STATES = {
    "foregroundActive": "active",
    "foregroundInactive": "inactive",
    "background": "background",
    "suspended": "suspended",
}

TINTS = ((0.0, 0), (0.4, 255), (0.4, 0), (0.65, 255))
"""For apps beyond the palette, round by round: how much of which grey is mixed in, white or black."""


def app_colour(place: int) -> str:
    """The colour of the app at this place among the apps of its scenario."""
    turn, index = divmod(place, len(APP_COLOURS))
    share, grey = TINTS[turn % len(TINTS)]
    parts = (int(APP_COLOURS[index][at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part * (1 - share) + grey * share):02X}" for part in parts)


FALLBACK_FONTS = ("Noto Sans", "Noto Sans CJK JP", "Noto Sans Arabic", "Noto Emoji", "Unifont")


def prepare() -> None:
    """Sets matplotlib up from nothing: a user's own style must not change a picture."""
    matplotlib.rcdefaults()
    matplotlib.use("Agg")
    installed = set(font_manager.get_font_names())
    matplotlib.rcParams.update(
        {
            "figure.dpi": DPI,
            "savefig.dpi": DPI,
            "font.family": ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in installed)],
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.labelsize": 8,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "legend.fontsize": 7.5,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": QUIET,
            "xtick.color": QUIET,
            "ytick.color": QUIET,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "axes.linewidth": 0.6,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "legend.frameon": False,
            "hatch.linewidth": 0.4,
            # Names come from users: a dollar sign is a dollar sign.
            "text.parse_math": False,
            # The identifiers inside an SVG are random without it.
            "svg.hashsalt": "plimsoll",
        }
    )


MARK = "Plimsoll, Scripts/plot"
"""Every picture names who drew it: another drawing may take its place, and that of nothing else."""


def is_ours(path: Path) -> bool:
    """Whether the file is a picture that we drew."""
    try:
        with path.open("rb") as file:
            # Both formats have it before the first of the picture itself.
            return MARK.encode() in file.read(2048)
    except OSError:
        return False


def save(figure: Figure, stem: Path, formats: Iterable[str]) -> list[Path]:
    """Writes the figure once per format, without dates, versions and other traces of the moment."""
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": MARK}, "png": {"Software": MARK}
    }  # fmt: skip
    paths = []
    for kind in formats:
        path = stem.with_suffix(f".{kind}")
        with writing(path) as beside:
            figure.savefig(beside, format=kind, metadata=metadata[kind], facecolor="white")
        paths.append(path)
    return paths


def label(name: str, limit: int = 22) -> str:
    """A user's name as it may stand in a picture: one line, printable, not too long, and never hidden.

    matplotlib leaves out of a legend what begins with an underscore; a hair of space before it prevents that.
    """
    printable = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in name).strip()
    if len(printable) > limit:
        printable = printable[: limit - 1].rstrip() + "…"
    if not printable:
        return "(no name)"
    return f" {printable}" if printable.startswith("_") else printable


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


# --- Axes ---------------------------------------------------------------------------------------------------------------


def time_unit(end_s: float) -> tuple[str, float]:
    """The unit in which a run of this length reads well, and how many seconds it has."""
    if end_s <= 180:
        return "s", 1.0
    return ("min", 60.0) if end_s <= 4 * 3600 else ("h", 3600.0)


def time_axis(axes: Axes, end_s: float) -> None:
    """Labels the axis, whose data are seconds, in seconds, minutes or hours with round ticks."""
    unit, seconds = time_unit(end_s)
    steps = (1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300) if unit != "h" else (0.5, 1, 2, 3, 4, 6, 12, 24)
    span = max(end_s, 1e-3) / seconds
    step = next((step for step in steps if span / step <= 10), span / 8)
    if span < 2:
        axes.xaxis.set_major_locator(MaxNLocator(6))
    else:
        axes.xaxis.set_major_locator(MultipleLocator(step * seconds))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / seconds:g}"))
    axes.set_xlim(0, max(end_s, 1e-3))
    axes.set_xlabel(f"time ({unit})")


def memory_axis(axes: Axes, top_bytes: float) -> None:
    """Labels the axis, whose data are bytes, in MiB or GiB with ticks that are round in powers of two."""
    unit, size = ("GiB", GIB) if top_bytes >= 2 * GIB else ("MiB", MIB)
    step = 2.0 ** math.ceil(math.log2(max(top_bytes, 1) / size / 8))
    axes.yaxis.set_major_locator(MultipleLocator(step * size))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / size:,g}"))
    axes.set_ylabel(f"memory ({unit})")


def number_text(value: float) -> str:
    """Four digits, more where the number is larger, and never a power of ten for what is not tiny."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def exact_bytes_text(count: float) -> str:
    """In the largest unit that divides it, as a person writes it."""
    for unit, size in (("GiB", GIB), ("MiB", MIB)):
        if count and count % size == 0:
            return f"{count / size:.0f} {unit}"
    return bytes_text(count)


def bytes_text(count: float) -> str:
    if count >= GIB:
        return f"{count / GIB:.3g} GiB"
    return f"{count / MIB:.0f} MiB" if count >= 100 * MIB else f"{count / MIB:.3g} MiB"


def bare(axes: Axes, *spines: str) -> None:
    """Only the named spines stay."""
    for name, spine in axes.spines.items():
        spine.set_visible(name in spines)


# --- Text that does not overlap -----------------------------------------------------------------------------------------


def text_width_px(figure: Figure | SubFigure, text: str, size_pt: float) -> float:
    """How wide the text is drawn."""
    probe = figure.text(0, 0, text, fontsize=size_pt)
    width = probe.get_window_extent(figure.canvas.get_renderer()).width  # type: ignore[attr-defined]
    probe.remove()
    return float(width)


def pack(spans: Sequence[tuple[float, float]], rows: int, gap: float) -> list[int] | None:
    """Puts the spans (start, end; sorted by start) into rows so that none overlap. None if they do not fit."""
    ends = [-math.inf] * rows
    placed = []
    for start, end in spans:
        row = next((row for row in range(rows) if ends[row] + gap <= start), None)
        if row is None:
            return None
        ends[row] = end
        placed.append(row)
    return placed


def thin(positions: Sequence[float], distance: float) -> list[float]:
    """Of the ascending positions, those at least a distance apart: a mark upon a mark says nothing new."""
    kept: list[float] = []
    for position in positions:
        if not kept or position - kept[-1] >= distance:
            kept.append(position)
    return kept
