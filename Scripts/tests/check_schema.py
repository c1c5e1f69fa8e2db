"""Holds scenario files against the JSON Schema that the program prints, as an editor would.

    plimsoll schema scenario | python Scripts/tests/check_schema.py SCENARIO...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml
from jsonschema.validators import validator_for


def main(scenarios: list[str]) -> int:
    schema = json.load(sys.stdin)
    kind = validator_for(schema)
    kind.check_schema(schema)
    validator = kind(schema)
    faults = 0
    for scenario in scenarios:
        content = yaml.safe_load(Path(scenario).read_text("utf-8"))
        for error in sorted(validator.iter_errors(content), key=lambda error: list(map(str, error.absolute_path))):
            faults += 1
            print(f"{scenario}: {error.json_path}: {error.message}", file=sys.stderr)
    print(f"{len(scenarios)} scenarios, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
