"""Plays three scenarios with other values of what is guessed, and holds the results against the page of guesses.

    python Scripts/tests/check_guesses.py PLIMSOLL FOLDER [SCENARIO … | --write]

FOLDER is made, and holds a run per scenario and what `plimsoll explain --guesses` says of it. The sections of Guesses.md must be
those of these runs, and its table of guesses must say what the program says. What `headline.yaml` expects must hold in every
run. All three scenarios take a quarter of an hour, so the tests name one. --write puts all sections there. Ends with 1 where
something does not hold.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from release import UNMET

from plimsoll_tools.checkout import ROOT

PAGE = ROOT / "Sources" / "plimsoll" / "plimsoll.docc" / "Guesses.md"
SCENARIOS = ("headline", "evening-on-iphone", "frozen-night")
ROBUST = ("headline",)
"""Scenarios whose expectations must hold whatever the guesses are."""
BEGIN, END = "<!-- check_guesses.py writes from here -->", "<!-- to here -->"

Document = dict[str, Any]
"""What `plimsoll explain --guesses --format json` prints."""


def explained(program: Path, folder: Path, scenario: str) -> Document:
    """The scenario's run, with other values of its guesses. What the run itself expects is looked at below."""
    run = ["run", f"Scenarios/{scenario}.yaml", "--quiet", "--backend", "accounting", "--out", str(folder / scenario)]
    played = subprocess.run([program, *run], cwd=ROOT)
    if played.returncode != UNMET:
        played.check_returncode()
    words = ["explain", str(folder / scenario), "--guesses", "--format", "json"]
    said = subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    (folder / f"{scenario}.json").write_text(said, "utf-8")
    document: Document = json.loads(said)
    return document


def series(guess: Document, texts: Iterable[str]) -> str:
    """A text for each value of a guess, the one of the run as it is in bold; a single one if all are the same."""
    listed = list(texts)
    if len(set(listed)) == 1:
        return f"{listed[0]} at each"
    return " · ".join(f"**{text}**" if value["is_own"] else text for value, text in zip(guess["values"], listed))


def table(document: Document) -> str:
    expected = len(document["expectations"])
    lines = [f"| guess | values | ends (felt) | expectations held, of {expected} |", "|---|---|---|---|"]
    for guess in document["guesses"]:
        columns = ("{text}", "{ends} ({felt})", "{expectations_held}")
        cells = [series(guess, (column.format_map(value) for value in guess["values"])) for column in columns]
        lines.append(f"| {guess['title']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def spread(document: Document) -> str:
    """What the draws of all guesses together make of the run."""
    draws, expected = document["draws"], len(document["expectations"])
    counts = [draw["ends"] for draw in draws]
    whole = sum(draw["expectations_held"] == expected for draw in draws)
    middle = f"{min(counts)} to {max(counts)} ends, with a median of {statistics.median(counts):g}"
    return f"{len(draws)} draws of all guesses: {middle}. All {expected} expectations hold in {whole} of them."


def exceptions(thing: Document) -> str:
    """The single values at which something is not so that is so in the run as it is."""
    if not thing["is_own"]:
        return "; not in the run as it is"
    by_guess: dict[str, list[str]] = {}
    for single in thing["unless"]:
        by_guess.setdefault(single["title"], []).append(single["text"])
    said = "; ".join(f"{title} {', '.join(texts)}" for title, texts in by_guess.items())
    return f"; not with {said}" if said else "; no guess alone changes it"


def by_reason(listed: list[Document], runs: int) -> list[str]:
    """Ends in words, a text for each reason, with the number of runs where it is not all."""
    names: dict[str, list[str]] = {}
    for end in listed:
        times = f" ({end['times']})" if end["times"] < runs else ""
        names.setdefault(end["reason"], []).append(end["app"] + times)
    return [f"by `{reason}`: {', '.join(apps)}" for reason, apps in names.items()]


def statements(document: Document) -> tuple[list[str], list[str]]:
    """What is true in every run, and what is not."""
    runs, own = document["runs"], [end for end in document["ends"] if end["is_own"]]
    others = [end for end in document["ends"] if not end["is_own"]]
    held = [f"`{expected['text']}`" for expected in document["expectations"] if expected["held"] >= runs]
    true = [", ".join(held)] if held else []
    true += [f"ends {text}" for text in by_reason([end for end in own if end["times"] >= runs], runs)]
    false = [f"`{expected['text']}`: in {expected['held']} of {runs} runs{exceptions(expected)}"
             for expected in document["expectations"] if expected["held"] < runs]  # fmt: skip
    false += [f"{end['app']} ends (`{end['reason']}`): in {end['times']} of {runs} runs{exceptions(end)}"
              for end in own if end["times"] < runs]  # fmt: skip
    false += [f"ends that the run as it is does not have, with the number of runs, {text}" for text in by_reason(others, runs)]
    return true or ["nothing"], false or ["nothing"]


def section(name: str, document: Document) -> str:
    """What the page says about a scenario."""
    lists = ["\n".join(textwrap.fill(f"- {item}", 120, subsequent_indent="  ", break_on_hyphens=False) for item in items)
             for items in statements(document)]  # fmt: skip
    parts = [f"### {name}", table(document), spread(document), f"True in all {document['runs']} runs:", lists[0],
             "Not true in all of them:", lists[1]]  # fmt: skip
    return "\n\n".join(parts)


def page_with(made: str, page: str) -> str:
    """The page with this text between its marks."""
    before, _, rest = page.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(f"{END}\n")
    return f"{before}{BEGIN}\n\n{made}\n\n{END}\n{after}"


def row(guess: Document) -> str:
    """What the page's table of guesses says of one; the program names a range and, behind a colon, its source."""
    span, _, source = guess["source"].partition(": ")
    return f"| {guess['title']} | `{guess['key']}` | {span} | {source} |"


def faults(documents: dict[str, Document], page: str) -> list[str]:
    found = []
    for name, document in documents.items():
        found += [f"{name}: `{one['text']}` holds in {one['held']} of {document['runs']} runs"
                  for one in document["expectations"] if name in ROBUST and one["held"] < document["runs"]]  # fmt: skip
        found += [f"{PAGE.name} lacks the row of a guess: {row(guess)}"
                  for guess in document["guesses"] if f"\n{row(guess)}\n" not in page]  # fmt: skip
        if f"\n\n{section(name, document)}\n\n" not in page:
            found.append(f"{name}: {PAGE.relative_to(ROOT)} says something else; {Path(__file__).name} --write puts this there")
    return found


def main(arguments: list[str]) -> int:
    words = [argument for argument in arguments if not argument.startswith("--")]
    program, folder = Path(words[0]).resolve(), Path(words[1]).resolve()
    folder.mkdir(parents=True)
    documents = {name: explained(program, folder, name) for name in words[2:] or SCENARIOS}
    made = "\n\n".join(section(name, document) for name, document in documents.items())
    print(made)
    if "--write" in arguments:
        PAGE.write_text(page_with(made, PAGE.read_text("utf-8")), "utf-8")
    found = faults(documents, PAGE.read_text("utf-8"))
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(documents)} scenarios, {len(found)} faults", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
