"""What `plimsoll explain` says of a run: what would have saved an ended process, and who would have paid for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll_tools import checkout
from plimsoll_tools.command_line import as_called, visible
from plimsoll_tools.plotting.run_directory import Run

USUAL = 3
"""Of how many terminations a page tells this unless it is asked for another number; `plimsoll explain` says as many."""

LONGEST_RUN_S = 20.0
"""An explanation repeats the run many times over. Of runs that computed for longer, it is given on request only."""

LONGEST_WAIT_S = 30.0
"""How long a page that nobody asked for explanations waits for them."""

HEAD_TIME = re.compile(r"(?:(\d+) h )?(?:(\d+) min )?(\d+(?:\.\d+)?) s\b")
HEAD_DECISION = re.compile(r"\bdecision (\d+)\b")
LABEL = re.compile(r"  (\S[^:]{0,30}):\s+(.*)")
TENTH_S = 0.11
"""The heads' times are cut after the tenth of a second."""


@dataclass(frozen=True)
class Answer:
    """What the program said; a note, in a sentence, if it said nothing, or something on stderr."""

    text: str = ""
    note: str = ""


class Question:
    """`plimsoll explain`, which works while the page is being made."""

    def __init__(self, directory: Path, most: int | None) -> None:
        """Asks about the first `most` terminations; `None` leaves the choice to the program and to the run's length."""
        self.process: subprocess.Popen[str] | None = None
        self.note = ""
        self.wait_s = LONGEST_WAIT_S if most is None else None
        program = Path(os.environ.get("PLIMSOLL") or checkout.program())
        if most == 0:
            return
        if most is None and (took := cpu_s(directory)) is not None and took > LONGEST_RUN_S:
            self.note = (f"The run computed for {took:.0f} s, and an explanation repeats it many times over: "
                         f"`{as_called('report')} RUN --explain {USUAL}` asks for what would have saved the ended processes.")  # fmt: skip
            return
        if not program.is_file():
            self.note = "What would have saved an ended process is not on this page: the program plimsoll is not here."
            return
        self.start([str(program), "explain", "--most", str(most or USUAL), "--", str(directory)])

    def start(self, command: list[str]) -> None:
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        except OSError as error:
            self.note = f"What would have saved an ended process is not on this page: {error.strerror or error}."

    def answer(self) -> Answer:
        """Waits for the program to end."""
        if self.process is None:
            return Answer(note=self.note)
        try:
            said, complaints = self.process.communicate(timeout=self.wait_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            # What it had said by then is whole: it speaks of one termination at a time.
            said, _ = self.process.communicate()
            return Answer(visible(said), f"`plimsoll explain` needs more than {LONGEST_WAIT_S:.0f} s for this run; "
                                         f"`{as_called('report')} RUN --explain {USUAL}` waits for it.")  # fmt: skip
        complaint = next((visible(line.strip()) for line in complaints.splitlines() if line.strip()), "")
        complaint = complaint.removeprefix("plimsoll: ")
        if self.process.returncode:
            return Answer(note="What would have saved an ended process is not on this page: "
                               f"{complaint or f'plimsoll explain ended with {self.process.returncode}'}")  # fmt: skip
        return Answer(visible(said), complaint and f"plimsoll explain: {complaint}")

    def close(self) -> None:
        """Ends the program if it is still at work."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def cpu_s(directory: Path) -> float | None:
    """How long the run computed, whatever else its host had to do."""
    try:
        return float(json.loads((directory / "manifest.json").read_text("utf-8"))["cpu_s"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def facts_of(lines: list[str]) -> list[list[Any]]:
    """The indented lines below a head, as labels with their sentences. Broken lines are joined, commands stay lines."""
    facts: list[list[Any]] = []
    for line in lines:
        label = LABEL.match(line)
        if label or not facts:
            facts.append([label[1] if label else "", []])
        text = label[2] if label else line.strip()
        said = facts[-1][1]
        if said and not text.startswith("plimsoll ") and not said[-1].startswith("plimsoll ") and said[-1][-1:] not in ".:":
            said[-1] += f" {text}"
        else:
            said.append(text)
    return facts


def blocks_of(text: str) -> list[dict[str, Any]]:
    """A block for each termination: a head and the facts below it. Text without that form is a head alone."""
    blocks = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        head, *below = part.splitlines() or [""]
        while below and not below[0].startswith(" "):
            head += f" {below.pop(0)}"
        if head:
            blocks.append({"head": head, "facts": facts_of(below), "kill": None})
    return blocks


def seconds_of(head: str) -> float | None:
    found = HEAD_TIME.search(head)
    return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + float(found[3]) if found else None


def kill_of(head: str, run: Run, kills: list[dict[str, Any]], taken: set[int]) -> int | None:
    """Which of the page's kills a head is about: that of its decision, else one of its app at its time."""
    free = [place for place in range(len(kills)) if place not in taken and head.startswith(f"{kills[place]['app']} ")]
    if decision := HEAD_DECISION.search(head):
        table = run.decisions
        chosen = set(table.loc[(table["decision"] == decision[1]) & (table["outcome"] == "chosen"), "pid"])
        for place in free:
            if kills[place]["pid"] in chosen:
                return place
    at = seconds_of(head)
    near = [(abs(kills[place]["t"] - at), place) for place in free] if at is not None else []
    return next((place for distance, place in sorted(near) if distance < TENTH_S), None)


def explained(answer: Answer, run: Run, kills: list[dict[str, Any]]) -> dict[str, Any]:
    """For the page: the blocks, each with the place of its kill, and the note."""
    blocks = blocks_of(answer.text)
    taken: set[int] = set()
    for block in blocks:
        block["kill"] = kill_of(block["head"], run, kills, taken)
        if block["kill"] is not None:
            taken.add(block["kill"])
    return {"folder": str(run.directory), "blocks": blocks, "note": answer.note}
