"""The metrics of runs as a datapackage.json declares them: what people call them, which end is better, and their units."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll_tools import checkout
from plimsoll_tools.command_line import read_json

BETTER = {"lower": "less is better", "higher": "more is better"}


@dataclass(frozen=True)
class Metric:
    """A column of summary.csv."""

    name: str
    title: str
    better: str = "neither"
    """`lower`, `higher` or `neither`."""
    unit: str = ""
    place: int = 0
    """Among the metrics that a page shows of several runs; 0: it is not."""
    is_drawn: bool = False
    """Whether pictures of several runs show it."""
    leaves_out: str = ""
    """The metric that counts what this one leaves out: who leaves out more is not the best here."""
    is_number: bool = True

    @property
    def hint(self) -> str:
        """Which end is better, in words."""
        return BETTER.get(self.better, "")


def metrics_of(package: Any) -> list[Metric]:
    """The metrics that a datapackage declares, those that are shown first; none from an older or a broken one."""
    try:
        fields = [(field, field["metric"]) for table in package["resources"] for field in table["schema"]["fields"] if "metric" in field]
        found = {
            str(field["name"]): Metric(
                str(field["name"]), str(field.get("title", field["name"])), str(metric["better"]), str(field.get("unit", "")),
                int(metric.get("place", 0)), metric["isDrawn"] is True, str(metric.get("leavesOut", "")),
                field["type"] != "string",
            )
            for field, metric in fields
        }  # fmt: skip
    except (LookupError, TypeError, ValueError, AttributeError):
        return []
    return sorted(found.values(), key=lambda one: (one.place == 0, one.place))


@functools.lru_cache
def of_program(program: Path) -> list[Metric]:
    """The metrics of this program; none if it does not say."""
    try:
        said = subprocess.run([program, "schema", "csv"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
        return metrics_of({"resources": json.loads(said.stdout)})
    except (OSError, ValueError, subprocess.CalledProcessError):
        return []


def of(directory: Path, package: dict[str, Any] | None = None) -> list[Metric]:
    """The metrics of a run or an experiment, whose datapackage.json may be read already. What an older one does not say
    of them, the program does, if it is here."""
    found = metrics_of(read_json(directory / "datapackage.json") if package is None else package)
    return found or of_program(checkout.program())


def of_sweep(directory: Path) -> tuple[list[Metric], str]:
    """What is shown of a sweep, what decides first, whatever it is; and the label of the policy that is no setting,
    because runs are measured against it, empty without one."""
    package = read_json(directory / "datapackage.json")
    known = of(directory, package)
    decider = [one for one in known if one.name == package.get("decider") and not one.is_drawn]
    return decider + [one for one in known if one.is_drawn], str(package.get("yardstick", ""))


def named(metrics: Sequence[Metric], name: str) -> Metric:
    """The metric of that name; of an unknown one the name tells the unit."""
    unit = "ms" if name.endswith("_ms") else "byte" if name.endswith("_bytes") else ""
    return next((one for one in metrics if one.name == name), Metric(name, name, unit=unit))
