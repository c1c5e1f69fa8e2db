"""Holds scenario files against the JSON Schema that the program prints, as editors would: with two validators.

    plimsoll schema scenario | python Scripts/tests/check_schema.py SCENARIO... [--invalid SCENARIO...]

Both validators accept every scenario. Of those behind --invalid each one gets the same verdict from both; most have a fault
that a schema can see, and a hundred of them at least are refused. Files that are not YAML are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from jsonschema.validators import validator_for

LEAST = 100
"""How many invalid scenarios the schema refuses. All others compare two keys, or bound a number by its unit."""


class Reader(yaml.SafeLoader):
    """Reads YAML 1.2, as editors and the program do: `off` is a text. PyYAML itself reads it as false (YAML 1.1)."""


Reader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or letter in "tTfF"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path: str) -> Any:
    """The content of a file; PyYAML refuses more kinds of keys than JSON has."""
    return yaml.load(Path(path).read_text("utf-8"), Reader)


class Validators:
    """jsonschema, in Python, and jsonschema-rs, another implementation, in Rust."""

    def __init__(self, schema: Any) -> None:
        kind = validator_for(schema)
        kind.check_schema(schema)
        self.first = kind(schema)
        self.second = jsonschema_rs.validator_for(schema)

    def complaints(self, path: str) -> list[str]:
        """What is wrong with a file that both should accept."""
        content = read(path)
        errors = sorted(self.first.iter_errors(content), key=lambda error: list(map(str, error.absolute_path)))
        said = [f"{error.json_path}: {error.message}" for error in errors]
        return said + [f"jsonschema-rs: {error.message}" for error in self.second.iter_errors(content)]

    def verdict(self, path: str) -> bool | None:
        """Whether both accept the file; nothing if they differ."""
        content = read(path)
        verdicts = {bool(self.first.is_valid(content)), self.second.is_valid(content)}
        return verdicts.pop() if len(verdicts) == 1 else None


def check_invalid(validators: Validators, paths: list[str]) -> int:
    """The number of faults among the verdicts on invalid scenarios."""
    refused = faults = read_well = 0
    for path in paths:
        try:
            verdict = validators.verdict(path)
        except (yaml.YAMLError, UnicodeDecodeError):
            continue
        read_well += 1
        refused += verdict is False
        if verdict is None:
            faults += 1
            print(f"{path}: one validator accepts it, the other one does not", file=sys.stderr)
    if refused < LEAST:
        faults += 1
        print(f"only {refused} invalid scenarios are refused, not {LEAST}", file=sys.stderr)
    print(f"{read_well} invalid scenarios, {refused} refused")
    return faults


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="+")
    parser.add_argument("--invalid", metavar="SCENARIO", nargs="+", default=[])
    given = parser.parse_args(words)
    validators = Validators(json.load(sys.stdin))
    faults = 0
    for scenario in given.scenarios:
        for complaint in validators.complaints(scenario):
            faults += 1
            print(f"{scenario}: {complaint}", file=sys.stderr)
    print(f"{len(given.scenarios)} scenarios, {faults} faults")
    if given.invalid:
        faults += check_invalid(validators, given.invalid)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
