"""Writes one self-contained page about one or several runs, or about an experiment."""

from __future__ import annotations

import argparse
import contextlib
import html
import json
import os
import string
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

# What takes long to load is loaded below, when the first line about the progress is there.
from plimsoll_tools.command_line import Parser, Status, end_in_order, output
from plimsoll_tools.plotting import several
from plimsoll_tools.reporting import experiment, explanations
from plimsoll_tools.whole_file import write_text

if TYPE_CHECKING:
    from plimsoll_tools.plotting.metrics import Metric
    from plimsoll_tools.plotting.pictures import Drawing
    from plimsoll_tools.plotting.run_directory import Run

TEMPLATES = files("plimsoll_tools.reporting")
"""Where page.html, page.css and the scripts are."""

SCRIPTS = ("basics.js", "view.js", "time.js", "figures.js", "tables.js", "opening.js", "several.js", "page.js")
"""The parts of the page's script, in their order."""

MOST_BYTES = 8_000_000
"""A page must open quickly, and pass through a mail."""


STATUS = Status("report")
"""What is being done."""


def parse_arguments() -> argparse.Namespace:
    parser = Parser(
        prog="Scripts/report",
        description="Writes one page that needs nothing else, not even a network: a card for each lost app, figures, pictures linked by "
        "time, expectations, decisions, scenario and manifest. Several runs, or a directory of runs, are compared. Of what compare, "
        "sweep, survive or tune wrote, the page has the verdict, the figures and the pictures. What would "
        "have saved an ended process, and who would have paid for it, the page has from plimsoll explain if the program is "
        "there.",
        epilog="Exit status: 0 written, 64 usage, 66 no such directory, no CSV in it or an experiment that is incomplete, 73 cannot write, "
        "or --out is there and is no report, 74 standard output cannot be written.",
    )
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a run directory, a directory of runs, or one that compare, sweep, survive or tune wrote")
    parser.add_argument("--out", metavar="FILE", type=output,
                        help="the page (default: report.html in the RUN; of several runs, comparison.html in the current "
                        "folder)")  # fmt: skip
    parser.add_argument("--explain", metavar="COUNT", type=count, help="of which terminations plimsoll explain says what would "
                        f"have saved the process: of the first COUNT, or '{explanations.FELT}', of all that the user felt "
                        f"(default, of one RUN: {explanations.FELT}, or the first {explanations.USUAL} if the user felt none)")  # fmt: skip
    # For Scripts/run, which wants both: the tables are read once, and the program explains while pictures are drawn.
    parser.add_argument("--pictures", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def count(text: str) -> int | str:
    if text == explanations.FELT:
        return text
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, or '{explanations.FELT}'")
    return int(text)


def is_report(path: Path) -> bool:
    """Whether the file begins as our pages do; nothing else is overwritten."""
    beginning = (TEMPLATES / "page.html").read_text("utf-8").split("@", 1)[0].encode()
    try:
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning
    except OSError:
        return False


class Page(string.Template):
    """The document with places for `@{DATA}` and others."""

    delimiter = "@"


def page(runs: list[dict[str, Any]], metrics: list[Metric]) -> str:
    """The whole document."""
    from plimsoll_tools.reporting.payload import orders, varied

    different = varied(runs)
    title = str(runs[0]["title"]) if len(runs) == 1 else f"{len(runs)} runs"
    data = {
        "title": title,
        "subtitle": "A Plimsoll run; times are virtual." if len(runs) == 1 else "Plimsoll runs; times are virtual.",
        "runs": runs, "metrics": [[one.name, one.title, one.better if one.hint else "", one.unit] for one in metrics],
        "ofLaunchesThatCame": [one.name for one in metrics if one.leaves_out], "varied": different,
        "orders": orders(runs, different),
    }  # fmt: skip
    # "<" cannot end the script element, and U+2028 is no line break here: ensure_ascii writes neither.
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    # In one pass: a scenario may well contain the words @{DATA}.
    return Page((TEMPLATES / "page.html").read_text("utf-8")).substitute(
        TITLE=html.escape(title), STYLE=(TEMPLATES / "page.css").read_text("utf-8"),
        SCRIPT="\n".join((TEMPLATES / name).read_text("utf-8") for name in SCRIPTS), DATA=text,
    )  # fmt: skip


def experiment_page(directory: Path, kind: str, out: Path) -> str:
    """The whole document about an experiment. Raises ValueError for a table that is none of ours."""
    STATUS.show("reading the tables")
    account = experiment.account_of(directory, kind)
    from plimsoll_tools.plotting.__main__ import draw_experiment

    STATUS.show("drawing")
    pictures = experiment.pictures_of(directory, kind, draw_experiment)
    folder = os.path.relpath(directory.resolve(), out.resolve().parent)
    # One head for all pages: what is written over is known by it.
    head = (TEMPLATES / "page.html").read_text("utf-8").partition("<body>")[0]
    return Page(head + (TEMPLATES / "experiment.html").read_text("utf-8")).substitute(
        TITLE=html.escape(account.title), SUBTITLE=html.escape(account.subtitle), MAIN=experiment.body_of(account, pictures, folder),
        STYLE=(TEMPLATES / "page.css").read_text("utf-8"), SCRIPT=(TEMPLATES / "experiment.js").read_text("utf-8"),
    )  # fmt: skip


def report_experiment(directory: Path, kind: str, options: argparse.Namespace) -> int:
    """Makes the page about an experiment; the exit status."""
    out: Path = options.out or directory / "report.html"
    if out.is_file() and not is_report(out):
        STATUS.say(f"{out} exists and is no report; give another --out")
        return 73
    try:
        return put(out, experiment_page(directory, kind, out))
    except (FileNotFoundError, ValueError) as error:
        STATUS.say(str(error))
        return 66


def put(out: Path, document: str) -> int:
    """Writes the page and names it; the exit status."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, document)
    except OSError as error:
        STATUS.say(f"cannot write {out}: {error.strerror or error}")
        return 73
    STATUS.clear()
    print(out)
    return 0


def told(run: Run, label: str, question: explanations.Question) -> dict[str, Any]:
    """A run for the page, with the program's explanations."""
    from plimsoll_tools.reporting.payload import payload_of

    with contextlib.closing(question):
        shown = payload_of(run, label)
        answer = question.answer(lambda: STATUS.show(question.progress))
        if question.is_cut_short:
            STATUS.say(answer.note)
    shown["explained"] = explanations.explained(answer, run.directory, shown["kills"])
    return shown


def document_of(tables: list[Run], names: list[str], first: explanations.Question | None, most: int | str | None) -> str:
    """The page about these runs. `first` is the question about the first of them if it is asked already."""
    from plimsoll_tools.reporting.payload import slim

    asked = most if len(tables) == 1 or most is not None else 0
    runs = []
    for place, (run, label) in enumerate(zip(tables, names)):
        for note in run.notes + [f"{name} is missing" for name in sorted(run.absent)]:
            STATUS.say(note if len(tables) == 1 else f"{label}: {note}")
        STATUS.show("making the page" + (f": {place} of {len(tables)} runs" if len(tables) > 1 else ""))
        runs.append(told(run, label, first if first and place == 0 else explanations.of_tables(run, asked)))
    metrics = [one for one in next(filter(None, (run.metrics for run in tables)), []) if one.place]
    document = page(runs, metrics)
    for one in reversed(runs[1:]):
        if len(document.encode()) <= MOST_BYTES:
            break
        slim(one)
        document = page(runs, metrics)
    return document


def read(directories: list[Path]) -> list[Run]:
    """Reads the tables of all runs, and says how far it is."""
    STATUS.show("reading the tables")
    from plimsoll_tools.plotting.run_directory import read_run

    tables = []
    for place, directory in enumerate(directories):
        STATUS.show("reading the tables" + (f": {place} of {len(directories)} runs" if len(directories) > 1 else ""))
        tables.append(read_run(directory))
    return tables


def begin_pictures(run: Run) -> Drawing:
    """Lets other processes draw the run's pictures."""
    from plimsoll_tools.plotting import pictures

    pictures.prepare()
    return pictures.Drawing(run, ("png", "svg"))


def write_pictures(work: Drawing) -> int:
    """Writes the pictures to where `plot` does; the exit status."""
    from plimsoll_tools.plotting import pictures

    out = work.run.directory / "plots"
    try:
        found = work.pictures(lambda done, every: STATUS.show(f"drawing: {done} of {every} pictures"))
        for picture in found:
            for remark in picture.remarks:
                STATUS.say(remark)
        pictures.write(found, out, force=False)
    except pictures.Occupied as error:
        STATUS.say(str(error))
        return 73
    except OSError as error:
        STATUS.say(f"cannot write to {out}: {error.strerror or error}")
        return 73
    return 0


def report(options: argparse.Namespace, open_ends: contextlib.ExitStack) -> int:
    """Makes the page; the exit status. Whoever helps to make it ends with `open_ends`."""
    if len(options.runs) == 1 and (kind := experiment.kind_of(options.runs[0])):
        return report_experiment(options.runs[0], kind, options)
    try:
        directories = several.expand(options.runs)
        # A page about several runs is none of theirs.
        out: Path = options.out or (directories[0] / "report.html" if len(directories) == 1 else Path("comparison.html"))
        if out.is_file() and not is_report(out):
            STATUS.say(f"{out} exists and is no report; give another --out")
            return 73
        first = explanations.early(directories[0], options.explain) if len(directories) == 1 else None
        if first:
            open_ends.callback(first.close)
        tables = read(directories)
    except FileNotFoundError as error:
        STATUS.say(str(error))
        return 66
    work = open_ends.enter_context(contextlib.closing(begin_pictures(tables[0]))) if options.pictures and len(tables) == 1 else None
    names = several.labels(directories, [several.summary_of(directory) for directory in directories])
    document = document_of(tables, names, first, options.explain)
    status = write_pictures(work) if work else 0
    return put(out, document) or status


def main() -> int:
    options = parse_arguments()
    STATUS.show("starting")
    try:
        with contextlib.ExitStack() as open_ends:
            return report(options, open_ends)
    finally:
        STATUS.clear()


def command() -> NoReturn:
    end_in_order("report", main)


if __name__ == "__main__":
    command()
