"""What `plimsoll explain` says of a run: what would have saved an ended process, and who would have paid for it."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll_tools import checkout
from plimsoll_tools.command_line import as_called, read_json, visible, visible_all
from plimsoll_tools.plotting import several

if TYPE_CHECKING:
    from plimsoll_tools.plotting.run_directory import Run

FELT = "felt"
"""Asks about every end that the user felt: in the foreground, or soon before the app was wanted."""

USUAL = 3
"""Of how many terminations a page tells this when the user felt none of them; `plimsoll explain` says as many."""

MOST_AT_ONCE = 8
"""More felt ends than this are asked about app by app: what is answered when the wait is over is kept."""

LEAST_WAIT_S, WAIT_OF_RUN = 240.0, 3.0
"""A page that nobody asked for explanations waits for them so long at most: four minutes, or three times as long as the run
computed, if that is more. The headline needs half a minute on an idle machine, and two on a busy one."""

TO_END_S = 20.0
"""How long the program may take to write what it has found when it is asked to end."""

STEP_S = 0.5
"""How often the wait is said anew."""

NEWEST_FORMAT = 1
"""Of the answer, as its `format` counts."""

MISSING = "What would have saved an ended process is not on this page: "


@dataclass(frozen=True)
class Answer:
    """What the program said of each end, and a note, in a sentence, if it left something out or complained."""

    explanations: list[dict[str, Any]]
    note: str = ""


class Refused(Exception):
    """The program gave no answer; the words say why."""


def words_of(most: int | str | None, ended: int, felt: list[str]) -> list[list[str]]:
    """The questions, as words for the program: about the first `most` terminations or, with `FELT`, about all that the
    user felt. None asks about these, too, and about the first few where there are none. `felt` has their apps.
    """
    if ended == 0 or most == 0 or (most == FELT and not felt):
        return []
    if most is None and not felt:
        most = USUAL
    if isinstance(most, int):
        return [["--most", str(most)]]
    if len(felt) <= MOST_AT_ONCE:
        return [["--felt"]]
    return [["--felt", f"--app={app}"] for app in dict.fromkeys(felt)]


def early(directory: Path, most: int | str | None) -> Question | None:
    """The question, as far as the run's summary tells that it is a single one: it is asked before the tables are read."""
    summary = several.summary_of(directory)
    ended, felt = (several.number(summary.get(name)) for name in ("terminations", "terminations_felt"))
    if ended is None or felt is None or felt > MOST_AT_ONCE or (most is None and apps_of_broken_claims(directory)):
        return None
    # Which apps it were does not matter here.
    return Question(directory, words_of(most, int(ended), ["?"] * int(felt)), most)


def apps_of_broken_claims(directory: Path) -> list[str]:
    """The apps that expectations are about that failed."""
    claims = read_json(directory / "manifest.json").get("expectations")
    broken = [one for one in claims if isinstance(one, dict) and one.get("held") is False] if isinstance(claims, list) else []
    return [str(one["app"]) for one in broken if one.get("app")]


def of_tables(run: Run, most: int | str | None) -> Question:
    """The question about a run whose tables are read."""
    from plimsoll_tools.plotting import kills, style

    table = kills.kills_of(run)
    # Where the tables do not tell which ends the user felt, the program does.
    felt = table.loc[table["mark"] != style.UNFELT, "app"].tolist()
    words = words_of(most, len(table), felt)
    if most is None:
        # An app that was expected to live has a card, too.
        ended = set(table["app"]) - set(felt)
        words = [["--most", "1", f"--app={app}"] for app in dict.fromkeys(apps_of_broken_claims(run.directory)) if app in ended] + words
    return Question(run.directory, words, most)


class Question:
    """`plimsoll explain`, which works while the page is being made."""

    def __init__(self, directory: Path, parts: list[list[str]], most: int | str | None) -> None:
        """Asks the first part. Whoever asked for explanations (`most`) gets them, however long that takes."""
        self.directory, self.parts = directory, parts
        self.count = len(parts)
        self.wait_s = longest_wait_s(directory) if most is None else None
        self.start_s = time.monotonic()
        self.process: subprocess.Popen[str] | None = None
        self.is_cut_short = False
        self.note = "" if parts or most != FELT else "The user felt none of the terminations."
        self.program = checkout.program()
        if parts and not self.program.is_file():
            self.parts, self.note = [], f"{MISSING}the program plimsoll is not here."
        self.begin()

    def begin(self) -> None:
        """Starts on the next part, if there is one."""
        self.process = None
        if not self.parts:
            return
        words = [str(self.program), "explain", *self.parts.pop(0), "--format", "json", "--", str(self.directory)]
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
            )
        except OSError as error:
            self.parts, self.note = [], f"{MISSING}{error.strerror or error}."

    @property
    def waited_s(self) -> float:
        return time.monotonic() - self.start_s

    @property
    def progress(self) -> str:
        """What is being done, for a status line."""
        part = f"part {self.count - len(self.parts)} of {self.count}, " if self.count > 1 else ""
        return f"asking plimsoll explain what would have saved the ended processes ({part}{self.waited_s:.0f} s)"

    def answer(self, told: Callable[[], None]) -> Answer:
        """Waits for the program to end; `told` is called again and again."""
        found: list[dict[str, Any]] = []
        notes = [self.note]
        while self.process:
            told()
            try:
                said, complaints = self.process.communicate(timeout=STEP_S)
                document = document_of(said, complaints, self.process.returncode)
            except subprocess.TimeoutExpired:
                if self.wait_s is None or self.waited_s < self.wait_s:
                    continue
                found += self.cut_short()
                notes.append(f"Some ends are not explained: `plimsoll explain` needs more than {self.wait_s:.0f} s for this run; "
                             f"`{as_called('report')} {shlex.quote(str(self.directory))} --explain {FELT}` waits for it.")  # fmt: skip
                self.is_cut_short = True
                break
            except Refused as error:
                notes.append(f"{MISSING}{error}" if not found else f"plimsoll explain: {error}")
                break
            found += document["explanations"]
            notes += [f"plimsoll explain: {warning}" for warning in document["warnings"]]
            notes.append(document["note"])
            self.begin()
        # Of several parts, each may say the same.
        return Answer(sorted(found, key=lambda one: float(one["at_s"])), " ".join(dict.fromkeys(filter(None, notes))))

    def cut_short(self) -> list[dict[str, Any]]:
        """Asks the program to end, and returns the explanations that it has found."""
        assert self.process
        self.process.terminate()
        try:
            said, complaints = self.process.communicate(timeout=TO_END_S)
            # Interrupted, it has written what it had.
            found = document_of(said, complaints, 0)["explanations"] if said else []
        except (subprocess.TimeoutExpired, Refused):
            found = []
        self.close()
        return found

    def close(self) -> None:
        """Ends the program if it is still at work."""
        if self.process:
            self.process.kill()
            # What it has started may still hold the other ends.
            for stream in filter(None, (self.process.stdout, self.process.stderr)):
                stream.close()
            self.process.wait()
        self.process = None


def longest_wait_s(directory: Path) -> float:
    """How long a page of this run waits for explanations that nobody asked for."""
    took = read_json(directory / "manifest.json").get("cpu_s")
    return max(LEAST_WAIT_S, WAIT_OF_RUN * took if isinstance(took, int | float) else 0.0)


def document_of(said: str, complaints: str, status: int) -> dict[str, Any]:
    """The program's answer, of which no text hides anything. Raises Refused when it is none."""
    if status:
        complaint = next((visible(line.strip()) for line in complaints.splitlines() if line.strip()), "")
        raise Refused(complaint.removeprefix("plimsoll: ") or f"plimsoll explain ended with {status}")
    try:
        document = visible_all(json.loads(said))
        if document["format"] > NEWEST_FORMAT:
            raise Refused(f"plimsoll explain answers in format {document['format']}, and this page takes {NEWEST_FORMAT}")
        return {
            "explanations": [
                {"pid": str(one["pid"]), "at_s": float(one["at_s"]), "head": str(one["head"]),
                 "short": paragraphs(one["short"]), "facts": paragraphs(one["words"])}
                for one in document["explanations"]
            ],
            "warnings": [str(warning) for warning in document["warnings"]], "note": str(document.get("note", "")),
        }  # fmt: skip
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Refused("plimsoll explain gave an answer of another form") from error


def paragraphs(given: list[dict[str, Any]]) -> list[list[Any]]:
    """Labelled sentences, as the page takes them."""
    return [[str(one["label"]), [str(sentence) for sentence in one["sentences"]]] for one in given]


def explained(answer: Answer, directory: Path, kills: list[dict[str, Any]]) -> dict[str, Any]:
    """For the page: each explanation with the place of its kill, and the note.

    A process ends once, at the moment of the decision or, if it is asked to end, some time later.
    """
    places = {kill["pid"]: place for place, kill in enumerate(kills)}
    blocks = []
    for one in answer.explanations:
        place = places.get(one["pid"])
        is_it = place is not None and one["at_s"] <= kills[place]["t"]
        blocks.append({"head": one["head"], "short": one["short"], "facts": one["facts"], "kill": place if is_it else None})
    return {"folder": str(directory), "blocks": blocks, "note": answer.note}
