"""Compares what `plimsoll explain` says of two evenings with what it said before its words were made from a value.

    python Scripts/tests/check_explained.py PLIMSOLL RUN-DIRECTORY [explain options]

`explained-before.json` holds, for each end of Scenarios/evening-on-iphone.yaml and Scenarios/evening-commute.yaml, every
remedy: its words, its assignments and its price, and what it tried in vain, as the program printed them that first named
sizes beyond which every tried one saves, and contents that compress better.
The ends that the options choose (all of them without options) must have the same remedies, in the same order, at the same
prices. All ends take a minute or two. With PLIMSOLL_RECORD=1 and no options they are written there.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

BEFORE = Path(__file__).with_name("explained-before.json")
NO_CLAIMS = "expect=[]"
"""What a command sets beside its change where a claim of the scenario does not hold with the change."""


def remedies_of(explanation: dict[str, Any], scenario: str) -> list[list[Any]]:
    """Each remedy as in the fixture, from the words of the whole explanation and from the remedies' own fields."""
    found: list[list[Any]] = []
    for paragraph in explanation["words"]:
        label, sentences = paragraph["label"], paragraph["sentences"]
        if label in ("What saves it", "Or"):
            words, command = sentences
            found.append([words, [word for word in shlex.split(command)[4::2] if word != NO_CLAIMS], {}])
        elif label in ("Who pays", "Before that", "Saved as well", "On the whole"):
            found[-1][2][label] = " ".join(sentences)
    # What saves nothing is no remedy, though protection by name is said with its command.
    if not explanation["remedies"]:
        return found
    for remedy, (words, assignments, prices) in zip(explanation["remedies"], found, strict=True):
        options = [word for each in assignments for word in ("--set", each)]
        told = shlex.split(remedy["command"])
        same(told[:-2] if told[-1] == NO_CLAIMS else told, ["plimsoll", "run", scenario, *options])
        same(remedy["assignments"], assignments)
        same({each["label"]: " ".join(each["sentences"]) for each in remedy["price"]["words"]}, prices)
        if remedy["words"] not in words:
            raise SystemExit(f"'{remedy['words']}' is not in '{words}'")
        demand_figures(remedy["price"], prices)
    return found


def same(now: object, then: object) -> None:
    if now != then:
        raise SystemExit(f"now:  {now}\nthen: {then}")


def demand_figures(price: dict[str, Any], said: dict[str, str]) -> None:
    """The figures of a price say the same as its words."""
    figures, whole = price["with"], said["On the whole"]
    count = figures["terminations"]
    parts = [f": {count} termination{'' if count == 1 else 's'}", f" {figures['foreground']} in the foreground",
             f" {figures['perceived']} perceived"]  # fmt: skip
    if price["verdict"] == "same":
        parts.append("the same figures: ")
    else:
        parts.append(f"{price['verdict']}: ")
    for part in parts:
        if part not in whole:
            raise SystemExit(f"'{part}' is not in '{whole}'")
    for label, is_before in (("Who pays", False), ("Before that", True)):
        text = said.get(label, "")
        losses = [loss for loss in price["losses"] if loss["is_before"] == is_before and loss["kind"] != "ends-sooner"]
        if " more: " not in text and not all(loss["words"] in text for loss in losses):
            raise SystemExit(f"'{text}' does not say all of {losses}")


def check(plimsoll: str, folder: Path, options: list[str]) -> int:
    """Compares the ends, and returns their number."""
    words = [plimsoll, "explain", str(folder), "--all", "--format", "json", *(options or ("--most", "100"))]
    document = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    scenario = next(line for line in (folder / "scenario.yaml").read_text("utf-8").splitlines() if line.startswith("name: "))
    kept = json.loads(BEFORE.read_text("utf-8"))
    now = {
        explanation["head"]: {
            "remedies": remedies_of(explanation, document["scenario"]),
            "in_vain": "; ".join(explanation["in_vain"]) + "." if explanation["in_vain"] else [],
        } for explanation in document["explanations"]
    }  # fmt: skip
    if os.environ.get("PLIMSOLL_RECORD"):
        kept[scenario.removeprefix("name: ")] = now
        BEFORE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    before = kept[scenario.removeprefix("name: ")]
    for head, said in now.items():
        same(said["remedies"], before[head]["remedies"])
        same(said["in_vain"], before[head]["in_vain"])
    if not options:
        same(len(document["explanations"]), len(before))
    return len(document["explanations"])


def main() -> int:
    count = check(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
    print(f"{count} end{'' if count == 1 else 's'} with the same remedies and prices as before")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
