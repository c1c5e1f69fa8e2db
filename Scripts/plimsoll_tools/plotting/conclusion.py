"""The verdict of a comparison in a headline: who is better, and on what. The whole sentence, with figures, is the program's,
and stands in datapackage.json."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from plimsoll_tools.plotting.metrics import Metric, named

SENSELESS = ("higher", "lower")
"""Verdicts on a metric of which neither end is better."""


class Finding(NamedTuple):
    """A metric of a policy against the baseline: its title and its verdict."""

    title: str
    verdict: str


def headlines(rows: pd.DataFrame, known: Sequence[Metric]) -> list[str]:
    """A headline per candidate."""
    baseline, candidates = sides(rows)
    return [headline(policy, baseline, findings_of(rows, policy, known)) for policy in candidates]


def sides(rows: pd.DataFrame) -> tuple[str, list[str]]:
    """The baseline, and the policies that were asked for beside it."""
    roles = dict(zip(rows["policy"], rows["role"]))
    return next(iter(roles)), [policy for policy, role in roles.items() if role == "candidate"]


def findings_of(rows: pd.DataFrame, policy: str, known: Sequence[Metric]) -> list[Finding]:
    own = rows.loc[rows["policy"] == policy, ["metric", "verdict"]]
    return [Finding(named(known, metric).title, verdict) for metric, verdict in own.itertuples(index=False)]


def headline(first: str, second: str, found: Sequence[Finding]) -> str:
    """What is shown to be better or worse."""
    better, worse = of(found, "better"), of(found, "worse")
    if not better and not worse:
        return nothing_is_shown(first, second, found)
    # The side that is better on more metrics is the subject; if neither is, the first one.
    is_first = len(better) >= len(worse)
    gains, costs = (better, worse) if is_first else (worse, better)
    subject, other = (first, second) if is_first else (second, first)
    gained = f"{subject} is better than {other} on {titles(gains)}"
    if costs:
        return f"{gained}; in return it is worse on {titles(costs)}"
    return f"{gained}, and is shown to be worse on nothing" if len(found) > len(gains) else gained


def nothing_is_shown(first: str, second: str, found: Sequence[Finding]) -> str:
    if all(one.verdict == "identical" for one in found):
        return f"{first} and {second} are identical on {titles(found)}: every pair of runs is equal"
    if of(found, "too_few", "same_under_every_seed"):
        return f"these runs allow no general conclusion about {first} and {second}"
    return f"no difference between {first} and {second} is shown" + (" to be better or worse" if of(found, *SENSELESS) else "")


def of(found: Sequence[Finding], *verdicts: str) -> list[Finding]:
    return [one for one in found if one.verdict in verdicts]


def titles(found: Sequence[Finding]) -> str:
    """`a`, `a and b` or `a, b and c`; of more only their number."""
    if len(found) > 3:
        return f"{len(found)} metrics"
    names = [one.title for one in found]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
