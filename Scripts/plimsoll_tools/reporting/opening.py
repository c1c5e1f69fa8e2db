"""The sentence with which the page about a run opens."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from plimsoll_tools.plotting import kills, style, terminations
from plimsoll_tools.plotting.run_directory import Run
from plimsoll_tools.quantities import span_text

MOST_NAMES = 4
"""A sentence with more names is read by few."""


def sentence_of(run: Run) -> str:
    """How many processes the system ended, in what time, and which of them the user missed. Empty if no table tells of ends."""
    table = kills.kills_of(run)
    if "events" in run.missing and table.empty:
        return ""
    count = len(table)
    text = f"{terminations.ended_text(count)} in {span_text(run.end_s, is_short=True)}"
    text += f"; {missed_text(table)}." if count else "."
    crashed = kills.crashes(run)["app"]
    if len(crashed):
        text += f" {len(crashed):,} {'more ' if count else ''}crashed: {names_text(crashed)}."
    return text


def missed_text(table: pd.DataFrame) -> str:
    """What the user missed of the ended processes, as a clause."""
    if not terminations.is_known(table):
        return "whether the user missed any is not known"
    felt = table.loc[table["felt"] != "", "app"]
    if len(table) == 1:
        return f"the user missed it: {names_text(felt)}" if len(felt) else "the user did not miss it"
    return f"the user missed {len(felt):,}: {names_text(felt)}" if len(felt) else "the user missed none of them"


def names_text(apps: Iterable[str]) -> str:
    """The apps in the order of their first ends, each once and with the number of its ends if there are several."""
    counts: dict[str, int] = {}
    for app in apps:
        counts[app] = counts.get(app, 0) + 1
    names = [style.label(app).strip() + (f" ({count} times)" if count > 1 else "") for app, count in counts.items()]
    left = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {style.plural(left, 'other app')}" if left > 0 else "")
