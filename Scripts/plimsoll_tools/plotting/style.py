"""What all pictures share: colours, fonts, axes, text packing, and files that are the same byte for byte."""

from __future__ import annotations

import io
import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll_tools.whole_file import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

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

HARMLESS = "#7F858C"
"""Of ends that the user does not miss: a thin grey cross. A felt end is a black disc with a white one."""

FELT, UNFELT, ENDED, CRASHED, LEFT = "felt", "unfelt", "ended", "crashed", "left"
"""Kinds of ends: by the system, missed by the user, not missed, or not known to be; a crash, and any other."""
END_NAMES = {
    FELT: "ended, the user misses it", UNFELT: "ended, not missed", ENDED: "ended", CRASHED: "crashed",
    LEFT: "quit or done",
}  # fmt: skip
CROSS: tuple[dict[str, Any], ...] = (
    {"marker": "x", "markersize": 4.6, "markeredgewidth": 2.6, "color": "white"},
    {"marker": "x", "markersize": 3.9, "markeredgewidth": 1.1, "color": HARMLESS},
)
END_LOOKS: dict[str, tuple[dict[str, Any], ...]] = {
    # The white edge keeps these apart from the coloured bars of `states`.
    LEFT: (
        {"marker": "|", "markersize": 8, "markeredgewidth": 2.8, "color": "white"},
        {"marker": "|", "markersize": 7, "markeredgewidth": 1.2, "color": INK},
    ),
    UNFELT: CROSS,
    ENDED: CROSS,
    CRASHED: (
        {"marker": "*", "markersize": 6.5, "markeredgewidth": 0.6, "markerfacecolor": "white", "markeredgecolor": INK},
    ),
    FELT: (
        {"marker": "o", "markersize": 6.4, "markeredgewidth": 0.5, "color": INK, "markeredgecolor": "white"},
        {"marker": "x", "markersize": 2.9, "markeredgewidth": 1.0, "color": "white"},
    ),
}

# Light is waiting, dark is working; orange is what runs unseen.
STATE_COLOURS = {
    "active": "#004C8C",
    "inactive": "#74B4E3",
    "background": "#E08A00",
    "suspended": "#D3D7DB",
    "prewarmed": "#B9A5DB",
    "frozen": "#8ED1C6",
}
RARE_STATES = ("prewarmed", "frozen")
"""Legends have these only where they occur."""
FROZEN_HATCH = "//////"
"""In white: to eyes without green cones the colour alone is near that of a suspended process."""
FLASH_COLOUR = "#0B5D5A"
"""Of what is on flash, beside the apps' colours: a dark kind of the frozen state's."""
SCENE_STATES = {
    "foregroundActive": "active",
    "foregroundInactive": "inactive",
    "background": "background",
    "suspended": "suspended",
}

CLASS_COLOURS = {
    "user_interactive": "#004C8C",
    "user_initiated": "#74B4E3",
    "default": "#8A6BBE",
    "utility": "#C9D98B",
    "background": "#E08A00",
}
"""Of classes of service: what is on the screen has the blues of its states, and what runs unseen their orange."""

FIRST_FRAME: dict[str, Any] = {
    "linestyle": "none", "marker": "o", "markersize": 3.6, "markeredgewidth": 0.8, "markerfacecolor": "white",
    "markeredgecolor": INK,
}  # fmt: skip
LOST_LAUNCH: dict[str, Any] = {
    "linestyle": "none", "marker": "|", "markersize": 6, "markeredgewidth": 1.2, "color": HARMLESS
}  # fmt: skip
"""Of launches over time: a circle is a first frame, as in the states; a grey stroke a tap without one."""

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
    import matplotlib
    from matplotlib import font_manager

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


def rendered(figure: Figure, kind: str) -> bytes:
    """The picture as `png` or `svg`, without dates, versions and other traces of the moment."""
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": MARK}, "png": {"Software": MARK}
    }  # fmt: skip
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=metadata[kind], facecolor="white")
    return file.getvalue()


def save(figure: Figure, stem: Path, formats: Iterable[str]) -> list[Path]:
    """Writes the figure once per format."""
    paths = []
    for kind in formats:
        path = stem.with_suffix(f".{kind}")
        write_bytes(path, rendered(figure, kind))
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
    ending = "" if count == 1 else "es" if noun.endswith("sh") else "s"
    return f"{count:,} {noun}{ending}"


# --- Axes ---------------------------------------------------------------------------------------------------------------


def time_unit(end_s: float) -> tuple[str, float]:
    """The unit in which a run of this length reads well, and how many seconds it has."""
    if end_s <= 180:
        return "s", 1.0
    return ("min", 60.0) if end_s <= 4 * 3600 else ("h", 3600.0)


def moment_text(time_s: float, end_s: float) -> str:
    """A moment of a run of this length: minutes and seconds, or hours; tenths of a second in a short run."""
    if end_s <= 180:
        return f"{time_s:.1f} s"
    minutes, seconds = divmod(int(time_s), 60)
    return f"{minutes}:{seconds:02}" if end_s < 6000 else f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def time_axis(axes: Axes, end_s: float) -> None:
    """Labels the axis, whose data are seconds, in seconds, minutes or hours: round ticks, and one at the end."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    unit, seconds = time_unit(end_s)
    steps = (1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300) if unit != "h" else (0.5, 1, 2, 3, 4, 6, 12, 24)
    span = max(end_s, 1e-3) / seconds
    step = next((step for step in steps if span / step <= 10), span / 8)
    ticks = list(MaxNLocator(6).tick_values(0, span)) if span < 2 else [step * place for place in range(int(span / step) + 1)]
    step = ticks[1] - ticks[0] if len(ticks) > 1 else span
    # The last one covers the data; a round one too near to it gives way.
    ticks = [tick for tick in ticks if tick < span - 0.45 * step or abs(tick - span) < 1e-6 * span]
    if not ticks or span - ticks[-1] > 1e-6 * span:
        ticks.append(span)
    axes.xaxis.set_major_locator(FixedLocator([tick * seconds for tick in ticks]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / seconds:.4g}"))
    axes.set_xlim(0, max(end_s, 1e-3))
    axes.set_xlabel(f"time ({unit})")


def memory_axis(axes: Axes, top_bytes: float) -> None:
    """Labels the axis, whose data are bytes, in MiB or GiB with ticks that are round in powers of two, the last of them
    not below the data."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    unit, size = ("GiB", GIB) if top_bytes >= 2 * GIB else ("MiB", MIB)
    step = 2.0 ** math.ceil(math.log2(max(top_bytes, 1) / size / 8))
    axes.yaxis.set_major_locator(MultipleLocator(step * size))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / size:,g}"))
    axes.set_ylabel(f"memory ({unit})")
    axes.set_ylim(0, max(top_bytes * 1.07, math.ceil(top_bytes / size / step - 1e-9) * step * size))


def cover(axes: Axes, highest: float, ticks: int, at_least: float = 0.0, **steps: Any) -> None:
    """From zero to above the highest value, with round ticks, the last of which is not below it."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    places = [place for place in MaxNLocator(ticks, **steps).tick_values(0, max(highest, at_least) or 1.0) if place >= 0]
    top = next((place for place in places if place >= max(highest, at_least) * (1 - 1e-9)), places[-1])
    axes.set_ylim(0, max(top, highest * 1.04, at_least) or 1.0)
    axes.yaxis.set_major_locator(FixedLocator([place for place in places if place <= top * (1 + 1e-9)]))


def shade(axes: Axes, spans: Iterable[tuple[float, float, str]], zorder: float = 1) -> None:
    """Fills the axes from start to end with the colour, span by span.

    As `axvspan`, which fits the limits of the axes to each span and needs a hundred times as long; here they are set anyway.
    """
    from matplotlib.patches import Rectangle

    over = axes.get_xaxis_transform(which="grid")
    for start, end, colour in spans:
        axes.add_artist(Rectangle((start, 0), end - start, 1, transform=over, color=colour, linewidth=0, zorder=zorder))


def mark_ends(axes: Axes, at: Sequence[tuple[float, float]], kind: str, scale: float = 1.0) -> None:
    """Marks ends of a kind (`FELT`, `UNFELT`, …) at these places, larger by `scale` than elsewhere."""
    for look in END_LOOKS[kind] if at else ():
        look = look | {name: scale * look[name] for name in ("markersize", "markeredgewidth")}
        axes.plot([x for x, _ in at], [y for _, y in at], linestyle="none", clip_on=False, zorder=7, gid=f"ends-{kind}", **look)


def end_handle(kind: str) -> tuple[Line2D, ...]:
    """The mark of a kind of end, for a legend."""
    from matplotlib.lines import Line2D

    return tuple(Line2D([], [], linestyle="none", **look) for look in END_LOOKS[kind])


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
    # What rounds to 1024 MiB is a GiB.
    if count >= GIB - MIB / 2:
        return f"{count / GIB:.3g} GiB"
    return f"{count / MIB:.0f} MiB" if count >= 100 * MIB else f"{count / MIB:.3g} MiB"


def bare(axes: Axes, *spines: str) -> None:
    """Only the named spines stay."""
    for name, spine in axes.spines.items():
        spine.set_visible(name in spines)


LEAST_OF_A_CURVE = 5
"""Fewer points than this are no curve of shares: they are drawn themselves."""

# --- Text that does not overlap -----------------------------------------------------------------------------------------


def text_width_px(figure: Figure | SubFigure, text: str, size_pt: float, weight: str = "normal") -> float:
    """How wide the text is drawn."""
    probe = figure.text(0, 0, text, fontsize=size_pt, fontweight=weight)
    width = probe.get_window_extent(figure.canvas.get_renderer()).width  # type: ignore[attr-defined]
    probe.remove()
    return float(width)


def fitted(figure: Figure | SubFigure, text: str, width_px: float, size_pt: float, weight: str = "normal") -> str:
    """The text in one line, as far as it fits."""
    text = label(text, 400) if text else ""
    while text and text_width_px(figure, text, size_pt, weight) > width_px:
        text = text[:-2].rstrip() + "…"
    return text


def title(figure: Figure, text: str, size_pt: float = 9) -> None:
    """The picture's title, as far as it fits."""
    width, height = figure.get_size_inches()
    shown = fitted(figure, text, (width - 0.25) * DPI, size_pt, "bold")
    figure.text(0.12 / width, 1 - 0.12 / height, shown, fontsize=size_pt, fontweight="bold", va="top")


def name_points(axes: Axes, points: Sequence[tuple[float, float]], names: Sequence[str], size_pt: float) -> None:
    """Names the points, each beside, above or below it where that covers no point and no other name, or a little way off
    with a line to it. Points of one name upon each other have it once, with their number."""
    px = axes.transData.transform(points).tolist() if len(points) else []
    height, gap = 1.25 * size_pt * DPI / 72, 6.5 * DPI / 72
    around = MARK_PT * DPI / 72
    taken = [(x - around, y - around, x + around, y + around) for x, y in px]
    waiting = stacks_of(px, names, gap)
    for reach in (1.0, 1.8, 2.6, 3.4):
        unplaced = []
        for name, members in waiting:
            text = label(name, 14) + (f" {len(members)}" if len(members) > 1 else "")
            wide = text_width_px(axes.figure, text, size_pt)
            found = free_place(members, (wide, height), gap, reach, taken, axes.get_window_extent())
            if found is None:
                unplaced.append((name, members))
                continue
            x, y, side, box = found
            taken.append(box)
            near = min(members, key=lambda member: math.dist(member, (x, y)))
            to_data = axes.transData.inverted().transform
            at, away = to_data(near).tolist(), to_data((x, y)).tolist()
            if reach > 1:
                axes.plot([at[0], away[0]], [at[1], away[1]], color=QUIET, linewidth=0.4, zorder=1.8, gid="leader")
            axes.annotate(
                text, (at[0], at[1]), xytext=((x - near[0]) * 72 / DPI, (y - near[1]) * 72 / DPI), ha=side, va="center",
                textcoords="offset points", fontsize=size_pt, color=QUIET, annotation_clip=False,
            )  # fmt: skip
        waiting = unplaced


MARK_PT = 5.2
"""Half of what the mark of a point covers, its ring included."""
Pixel = Sequence[float]
Box = tuple[float, float, float, float]


def stacks_of(px: Sequence[Pixel], names: Sequence[str], gap: float) -> list[tuple[str, list[Pixel]]]:
    """The points of one name that lie upon each other, together."""
    found: list[tuple[str, list[Pixel]]] = []
    for name, point in zip(names, px):
        for own, members in found:
            if own == name and math.dist(members[0], point) < gap:
                members.append(point)
                break
        else:
            found.append((name, [point]))
    return found


def free_place(
    members: Sequence[Pixel], size: tuple[float, float], gap: float, reach: float, taken: Sequence[Box], frame: Any
) -> tuple[float, float, str, Box] | None:
    """Where a text beside these points covers nothing, its side that is at that place, and its box; all in pixels."""
    left, right = min(x for x, _ in members), max(x for x, _ in members)
    low, high = min(y for _, y in members), max(y for _, y in members)
    wide, height = size
    # Above and below, the name has to clear its own mark.
    out, rise = gap * reach, (MARK_PT * DPI / 72 + height / 2 + 1) * reach
    middle, level = (left + right) / 2, (low + high) / 2
    places = [(right + out, level, "left"), (left - out, level, "right"), (middle, high + rise, "center"), (middle, low - rise, "center")]
    places += [(x, y, side) for x, side in ((right + out / 2, "left"), (left - out / 2, "right")) for y in (high + rise, low - rise)]
    for x, y, side in places:
        start = x - {"left": 0, "right": wide, "center": wide / 2}[side]
        box = (start, y - height / 2, start + wide, y + height / 2)
        if box[0] < frame.x0 or box[2] > frame.x1 + 40 or box[1] < frame.y0 or box[3] > frame.y1:
            continue
        if any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken):
            continue
        if reach > 1 and crosses(min(members, key=lambda member: math.dist(member, (x, y))), (x, y), taken):
            continue
        return x, y, side, box
    return None


def crosses(start: Pixel, end: Pixel, taken: Sequence[Box]) -> bool:
    """Whether the line from a point to its name runs over something besides that point."""
    others = [box for box in taken if not (box[0] <= start[0] <= box[2] and box[1] <= start[1] <= box[3])]
    for part in (0.2, 0.35, 0.5, 0.65, 0.8, 1.0):
        x, y = (own + part * (other - own) for own, other in zip(start, end))
        if any(box[0] <= x <= box[2] and box[1] <= y <= box[3] for box in others):
            return True
    return False


def wrapped(figure: Figure, text: str, size_pt: float, width_px: float) -> list[str]:
    """The text in lines that are no wider than this, broken after commas."""
    parts = text.split(", ")
    lines: list[str] = []
    for index, part in enumerate(parts):
        part += "," if index + 1 < len(parts) else ""
        if lines and text_width_px(figure, f"{lines[-1]} {part}", size_pt) <= width_px:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


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
