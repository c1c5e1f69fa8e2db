"""Manual pages from the help that plimsoll prints about itself; `Scripts/package` packs them. Needs only Python itself.

Usage: python3 -m plimsoll_tools.manual --version VERSION --date YYYY-MM-DD FOLDER <HELP.json

HELP.json is what `plimsoll --experimental-dump-help` prints. FOLDER gets a page for each command: plimsoll.1,
plimsoll-run.1, plimsoll-import-app-usage.1, … Exit status: 0 done, 64 usage, 65 no such help, 73 FOLDER cannot be written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plimsoll_tools.command_line import Parser, end_in_order

Command = dict[str, Any]

HEADING = re.compile(r"[A-Z][A-Z ]+")
"""A line of the help that stands over others, such as EXAMPLES."""

ESCAPES = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"})


def plain(text: str) -> str:
    """The text as roff shows it: nothing in it is a request, a quote stays the quote that a shell takes, and a character that
    is not of ASCII is spelt out, for not every roff reads UTF-8.
    """
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text.translate(ESCAPES))
    return f"\\&{text}" if text.startswith(".") else text


def bold(text: str) -> str:
    return f"\\fB{plain(text)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{plain(text)}\\fR"


def dashed(name: dict[str, str]) -> str:
    """A name of an option as it is typed."""
    return f"-{name['name']}" if name["kind"] in ("short", "longWithSingleDash") else f"--{name['name']}"


def value(argument: Command) -> str:
    return f"<{argument.get('valueName', 'value')}>"


def synopsis(path: list[str], command: Command) -> str:
    words = [bold(" ".join(path))]
    arguments = shown(command.get("arguments", []))
    if any(argument["kind"] != "positional" for argument in arguments):
        words.append("[" + italic("options") + "]")
    for argument in arguments:
        if argument["kind"] == "positional":
            word = italic(value(argument)) + (" ..." if argument["isRepeating"] else "")
            words.append(f"[{word}]" if argument["isOptional"] else word)
    if shown(command.get("subcommands", [])):
        words.append(italic("<command>") if "defaultSubcommand" not in command else "[" + italic("<command>") + "]")
    return " ".join(words)


def shown(entries: list[Command]) -> list[Command]:
    """The entries that the help shows; its own help command has no page."""
    return [entry for entry in entries if entry.get("shouldDisplay", True) and entry.get("commandName") != "help"]


def entry(argument: Command) -> Iterator[str]:
    """An argument or option, and what it means."""
    yield ".TP"
    if argument["kind"] == "positional":
        yield italic(value(argument))
    else:
        names = sorted((dashed(name) for name in argument["names"]), key=len)
        after = f" {italic(value(argument))}" if argument["kind"] == "option" else ""
        yield ", ".join(bold(name) + after for name in names)
    notes = []
    if argument.get("allValues"):
        notes.append("values: " + ", ".join(argument["allValues"]))
    if argument.get("defaultValue"):
        notes.append("default: " + argument["defaultValue"])
    text = " ".join(part for part in (argument.get("abstract", ""), f"({'; '.join(notes)})" if notes else "") if part)
    yield from paragraph(text or "\\&")
    for line in argument.get("discussion", "").split("\n"):
        if line.strip():
            yield from (".sp", *paragraph(line.strip()))


def paragraph(text: str) -> list[str]:
    return [plain(text)] if text != "\\&" else [text]


def discussion(text: str) -> Iterator[tuple[str | None, list[str]]]:
    """The sections of the help's text: a heading, or none for the first, and its lines."""
    heading: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        if HEADING.fullmatch(line):
            yield heading, lines
            heading, lines = line, []
        else:
            lines.append(line)
    yield heading, lines


def body(lines: list[str]) -> Iterator[str]:
    """Lines that begin with a space are shown as they are, for they are commands and tables; others are filled."""
    verbatim = False
    for number, line in enumerate(lines):
        indented = line.startswith(" ")
        if indented != verbatim and line.strip():
            # A heading is above the first line, or a paragraph's beginning.
            yield from ((*([".PP"] if number else []), ".nf", ".RS 4") if indented else (".RE", ".fi", ".PP"))
            verbatim = indented
        if line.strip():
            yield plain(line.removeprefix("  "))
        else:
            yield "" if verbatim else ".PP"
    if verbatim:
        yield from (".RE", ".fi")


def tidied(lines: list[str]) -> list[str]:
    """Without empty lines at both ends."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def page(path: list[str], command: Command, related: list[str], version: str, date: str) -> str:
    """One command's page."""
    name = "-".join(path)
    summary = command.get("abstract", "").rstrip(".")
    lines = [
        f".TH {name.upper()} 1 {date} \"plimsoll {version}\" \"Plimsoll\"",
        ".nh", ".ad l", ".SH NAME", f"{plain(name)} \\- {plain(summary)}", ".SH SYNOPSIS", synopsis(path, command),
    ]  # fmt: skip
    sections = [(heading, tidied(text)) for heading, text in discussion(command.get("discussion", ""))]
    described = [text for heading, text in sections if heading is None and text]
    lines += [".SH DESCRIPTION", plain(command.get("abstract", "")) or "\\&"]
    for text in described:
        lines += [".PP", *body(text)]
    arguments = shown(command.get("arguments", []))
    for title, wanted in (("ARGUMENTS", True), ("OPTIONS", False)):
        chosen = [argument for argument in arguments if (argument["kind"] == "positional") == wanted]
        if chosen:
            lines.append(f".SH {title}")
            for argument in chosen:
                lines += entry(argument)
    commands = shown(command.get("subcommands", []))
    if commands:
        lines.append(".SH COMMANDS")
        for each in commands:
            lines += [".TP", bold(each["commandName"]), plain(each.get("abstract", ""))]
    for heading, text in sections:
        if heading is not None and text:
            lines += [f".SH {heading}", *body(text)]
    if related:
        lines += [".SH SEE ALSO", ", ".join(f"{bold(other)}(1)" for other in related)]
    return "\n".join(lines) + "\n"


def pages(command: Command, version: str, date: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The name and text of the page of each command that the help shows."""
    path = [*above, command["commandName"]]
    commands = shown(command.get("subcommands", []))
    related = ["-".join(above)] if above else []
    related += ["-".join([*path, each["commandName"]]) for each in commands]
    yield "-".join(path) + ".1", page(path, command, related, version, date)
    for each in commands:
        yield from pages(each, version, date, tuple(path))


def main() -> int:
    parser = Parser(prog="manual", description="Writes manual pages from plimsoll's help.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True)
    options = parser.parse_args()
    try:
        written = list(pages(json.load(sys.stdin)["command"], options.version, options.date))
    except (ValueError, KeyError, TypeError) as error:
        print(f"manual: standard input is not the help of a program: {error!r}", file=sys.stderr)
        return 65
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        for name, text in written:
            (options.folder / name).write_text(text, "utf-8")
    except OSError as error:
        print(f"manual: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 73
    return 0


if __name__ == "__main__":
    end_in_order("manual", main)
