"""Writes one self-contained page about one or several runs."""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from plimsoll_tools.command_line import Parser, end_in_order, output
from plimsoll_tools.plotting import kills, several, style
from plimsoll_tools.plotting.run_directory import Run, read_run
from plimsoll_tools.reporting import explanations
from plimsoll_tools.reporting.payload import orders, payload_of, slim, varied
from plimsoll_tools.whole_file import write_text

TEMPLATES = files("plimsoll_tools.reporting")
"""Where page.html, page.css and the scripts are."""

SCRIPTS = ("basics.js", "view.js", "time.js", "figures.js", "tables.js", "several.js", "page.js")
"""The parts of the page's script, in their order."""

MOST_BYTES = 8_000_000
"""A page must open quickly, and pass through a mail."""


def say(message: str) -> None:
    print(f"report: {message}", file=sys.stderr)


def parse_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="Scripts/report",
        description="Writes one page that needs nothing else, not even a network: headline figures, pictures linked by "
        "time, expectations, decisions, scenario and manifest. Several runs, or a directory of runs, are compared. What would "
        "have saved an ended process, and who would have paid for it, the page has from plimsoll explain if the program is "
        "there.",
        epilog="Exit status: 0 written, 64 usage, 66 no such directory or no CSV in it, 73 cannot write, "
        "or --out is there and is no report, 74 standard output cannot be written.",
    )
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a run directory, or a directory of runs")
    parser.add_argument("--out", metavar="FILE", type=output,
                        help="the page (default: report.html in the RUN; of several runs, comparison.html in the current "
                        "folder)")  # fmt: skip
    parser.add_argument("--explain", metavar="COUNT", type=count, help="of how many terminations plimsoll explain says what "
                        f"would have saved the process: 0 or more (default: {explanations.USUAL}, if there is one RUN "
                        f"and it computed for at most {explanations.LONGEST_RUN_S:.0f} s)")  # fmt: skip
    return parser.parse_args()


def count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError("expected a whole number from 0 on")
    return int(text)


def is_report(path: Path) -> bool:
    """Whether the file begins as our pages do; nothing else is overwritten."""
    beginning = (TEMPLATES / "page.html").read_text("utf-8").split("@", 1)[0].encode()
    try:
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning
    except OSError:
        return False


def page(runs: list[dict[str, Any]]) -> str:
    """The whole document."""
    different = varied(runs)
    title = str(runs[0]["title"]) if len(runs) == 1 else f"{len(runs)} runs"
    data = {
        "title": title,
        "subtitle": "A Plimsoll run; times are virtual." if len(runs) == 1 else "Plimsoll runs; times are virtual.",
        "runs": runs, "metrics": several.METRICS,
        "ofLaunchesThatCame": several.OF_LAUNCHES_THAT_CAME, "varied": different,
        "orders": orders(runs, different),
    }  # fmt: skip
    # "<" cannot end the script element, and U+2028 is no line break here: ensure_ascii writes neither.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {"@TITLE@": html.escape(title), "@STYLE@": (TEMPLATES / "page.css").read_text("utf-8"),
             "@SCRIPT@": "\n".join((TEMPLATES / name).read_text("utf-8") for name in SCRIPTS), "@DATA@": text}  # fmt: skip
    document = (TEMPLATES / "page.html").read_text("utf-8")
    # In one pass: a scenario may well contain the words @DATA@.
    return re.sub("@(?:TITLE|STYLE|DATA|SCRIPT)@", lambda mark: parts[mark[0]], document)


def told(run: Run, label: str, most: int | None) -> dict[str, Any]:
    """A run for the page, with the program's explanations of its first `most` terminations."""
    question = explanations.Question(run.directory, most if len(kills.kills_of(run)) else 0)
    try:
        shown = payload_of(run, label)
        if question.process and sys.stderr.isatty():
            say("asking plimsoll explain what would have saved the ended processes")
        shown["explained"] = explanations.explained(question.answer(), run, shown["kills"])
    finally:
        question.close()
    return shown


def main() -> int:
    options = parse_arguments()
    try:
        directories = several.expand(options.runs)
        # A page about several runs is none of theirs.
        out: Path = options.out or (directories[0] / "report.html" if len(directories) == 1 else Path("comparison.html"))
        if out.is_file() and not is_report(out):
            say(f"{out} exists and is no report; give another --out")
            return 73
        tables = [read_run(directory) for directory in directories]
    except FileNotFoundError as error:
        say(str(error))
        return 66
    names = several.labels(directories, [several.summary_of(directory) for directory in directories])
    style.prepare()
    asked = options.explain if len(tables) == 1 or options.explain is not None else 0
    runs = []
    for run, label in zip(tables, names):
        for note in run.notes + [f"{name} is missing" for name in sorted(run.absent)]:
            say(note if len(tables) == 1 else f"{label}: {note}")
        runs.append(told(run, label, asked))
    document = page(runs)
    for one in reversed(runs[1:]):
        if len(document.encode()) <= MOST_BYTES:
            break
        slim(one)
        document = page(runs)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, document)
    except OSError as error:
        say(f"cannot write {out}: {error.strerror or error}")
        return 73
    print(out)
    return 0


def command() -> NoReturn:
    end_in_order("report", main)


if __name__ == "__main__":
    command()
