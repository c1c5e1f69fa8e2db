"""Holds scenario files against the JSON Schema that the program prints, as an editor would: it reads YAML 1.2.

    plimsoll schema scenario | python Scripts/tests/check_schema.py SCENARIO...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml
from jsonschema.validators import validator_for


class Reader(yaml.SafeLoader):
    """Takes `off` and `on` for texts, as editors and the program do. PyYAML reads YAML 1.1, where they are booleans."""


Reader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or letter in "tTfF"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def main(scenarios: list[str]) -> int:
    schema = json.load(sys.stdin)
    kind = validator_for(schema)
    kind.check_schema(schema)
    validator = kind(schema)
    faults = 0
    for scenario in scenarios:
        content = yaml.load(Path(scenario).read_text("utf-8"), Reader)
        for error in sorted(validator.iter_errors(content), key=lambda error: list(map(str, error.absolute_path))):
            faults += 1
            print(f"{scenario}: {error.json_path}: {error.message}", file=sys.stderr)
    print(f"{len(scenarios)} scenarios, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
