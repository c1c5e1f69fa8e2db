"""A terminal session as a picture: runs commands on a terminal of their own, and draws the last screen as SVG.

Usage: .venv/bin/python -m plimsoll_tools.session Sources/plimsoll/plimsoll.docc/session.svg

The session is README's: the run of Scenarios/headline.yaml, and why its editor was ended. As in README, warnings are left
out: some of them have figures of this machine. The program is that of the checkout's release build, or the one that PLIMSOLL
names. Exit status: 0 drawn, 64 usage, 70 a command of the session failed,
73 the picture cannot be written.
"""

from __future__ import annotations

import fcntl
import html
import itertools
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plimsoll_tools.checkout import ROOT, program
from plimsoll_tools.command_line import Parser, end_in_order, output
from plimsoll_tools.whole_file import write_text

SESSION = ("plimsoll run Scenarios/headline.yaml", "plimsoll explain runs/headline --app editor")

COLUMNS, ROWS = 100, 200
"""Of the terminal. No session is longer than so many rows; the picture ends with the last row that is not empty."""

ADVANCE, LEADING, MARGIN = 8.4, 18, 14
"""In pixels: the width of a letter, the height of a row, and what surrounds the text."""

PAPER, INK = "#1b1f24", "#e6edf3"
COLOURS = {"default": INK, "green": "#7ee787", "red": "#ff7b72", "brown": "#e3b341"}
"""Of the picture, by the terminal's names. The picture has its own paper: it looks the same on a light and a dark page."""

DURATION = re.compile("(?<= of virtual time in ).*")
"""How long the run took: the one text of a session that differs from one recording to the next."""


class Failed(Exception):
    """A command of the session did not end as it should."""


def on_terminal(
    words: Sequence[str], heard: Callable[[int, bytes], None], *, folder: Path, environment: Mapping[str, str],
    errors: int | None = None,
) -> int:  # fmt: skip
    """Runs a command with a terminal as its stdout and, unless `errors` takes it, its stderr; the exit status.

    The command leads a session of processes of its own. `heard` gets the command's process, and what is written, as it comes.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs if errors is None else errors, cwd=folder, env=environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            while part := os.read(ours, 1 << 16):
                heard(process.pid, part)
        except OSError:
            pass  # So Linux says that every process has closed the terminal.
        finally:
            os.close(ours)
    return process.returncode


def recorded(commands: Sequence[str], plimsoll: Path, more: Sequence[str] = ()) -> Any:
    """The screen after these commands, each below its line as it is typed. `more` are words that `plimsoll run` gets besides,
    and that the picture does not show. Raises Failed.
    """
    import pyte

    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    with tempfile.TemporaryDirectory(prefix="plimsoll-session.") as place:
        folder = Path(place)
        (folder / "Scenarios").symlink_to(ROOT / "Scenarios")
        (folder / "bin").mkdir()
        (folder / "bin" / "plimsoll").symlink_to(plimsoll.resolve())
        environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}", "HOME": place,
            "LANG": "C.UTF-8", "TERM": "xterm-256color",
        }  # fmt: skip
        for number, command in enumerate(commands):
            above = "\r\n" if number else ""
            stream.feed(f"{above}\x1b[1m$ {command}\x1b[0m\r\n".encode())
            words = shlex.split(command)
            words += more if words[1] == "run" else []
            status = on_terminal(
                words, lambda _, part: stream.feed(part), folder=folder, environment=environment, errors=subprocess.DEVNULL
            )
            if status:
                raise Failed(f"{command} ended with {status}:\n" + "\n".join(rows_of(screen)))
    return screen


def rows_of(screen: Any) -> list[str]:
    """The screen's text, up to its last row."""
    rows = [row.rstrip() for row in screen.display]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def spans(screen: Any, row: int) -> Iterator[tuple[int, str, str]]:
    """What stands in a row: the column in which a text begins, the text, and its look as attributes of SVG."""
    cells = [screen.buffer[row][column] for column in range(COLUMNS)]
    column = 0
    for (colour, is_bold), run in itertools.groupby(cells, lambda cell: (cell.fg, cell.bold)):
        text = "".join(cell.data for cell in run)
        found = text.strip()
        if found:
            weight = ' font-weight="bold"' if is_bold else ""
            fill = COLOURS.get(colour, INK)
            yield column + text.index(found[0]), found, weight + (f' fill="{fill}"' if fill != INK else "")
        column += len(text)


def drawn(screen: Any, title: str) -> str:
    """The screen as SVG. Every text has the width of its letters, whatever font it is shown in."""
    rows = rows_of(screen)
    width, height = COLUMNS * ADVANCE + 2 * MARGIN, len(rows) * LEADING + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        'role="img" aria-labelledby="title">',
        f'<title id="title">{html.escape(title)}</title>',
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14" '
        f'fill="{INK}" style="white-space: pre">',
    ]
    for row in range(len(rows)):
        y = MARGIN + row * LEADING + 13
        for column, text, look in spans(screen, row):
            x, length = MARGIN + column * ADVANCE, len(text) * ADVANCE
            lines.append(
                f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
                f'xml:space="preserve"{look}>{html.escape(text, quote=False)}</text>'
            )
    return "\n".join([*lines, "</g>", "</svg>", ""])


def texts(picture: str) -> list[str]:
    """What a picture says, a text of one look after the other, with no duration of a run."""
    found = re.findall(r"<text [^>]*>([^<]*)</text>", picture)
    return [DURATION.sub("…", html.unescape(text)) for text in found]


def main() -> int:
    parser = Parser(prog="session", description="Draws README's session on a terminal as SVG.")
    parser.add_argument("picture", metavar="FILE.svg", type=output)
    options = parser.parse_args()
    try:
        screen = recorded(SESSION, program())
    except (Failed, OSError) as error:
        print(f"session: {error}", file=sys.stderr)
        return 70
    try:
        write_text(options.picture, drawn(screen, "A terminal: " + ", then ".join(SESSION)))
    except OSError as error:
        print(f"session: cannot write {options.picture}: {error.strerror}", file=sys.stderr)
        return 73
    return 0


if __name__ == "__main__":
    end_in_order("session", main)
