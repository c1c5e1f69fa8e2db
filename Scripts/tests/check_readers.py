"""Opens a run's CSV files as people do, without any hint, and compares with what datapackage.json says.

    python Scripts/tests/check_readers.py RUN-DIRECTORY

Looks with pandas, and with polars and DuckDB where they are installed.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

Reader = Callable[[Path], tuple[dict[str, str], int]]
"""A file's columns with the kind that the tool guesses (text, integer, number, boolean, empty), and how many rows."""


def with_pandas(path: Path) -> tuple[dict[str, str], int]:
    import pandas as pd

    table = pd.read_csv(path)
    kinds = {"i": "integer", "f": "number", "b": "boolean", "O": "string"}
    return {name: kinds.get(column.dtype.kind, "?") if column.notna().any() else "empty" for name, column in table.items()}, len(table)


def with_polars(path: Path) -> tuple[dict[str, str], int]:
    import polars

    table = polars.read_csv(path, infer_schema_length=None)
    kinds = {"Int64": "integer", "Float64": "number", "Boolean": "boolean", "String": "string"}
    return {
        name: "empty" if table[name].null_count() == len(table) else kinds.get(str(kind), "?")
        for name, kind in table.schema.items()
    }, len(table)


def with_duckdb(path: Path) -> tuple[dict[str, str], int]:
    import duckdb

    table = duckdb.read_csv(str(path), sample_size=-1)
    kinds = {"BIGINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "VARCHAR": "string"}
    count = table.aggregate("count(*)").fetchall()[0][0]
    known = table.aggregate(", ".join(f'count("{name}")' for name in table.columns)).fetchall()[0]
    return {
        name: "empty" if not filled else kinds.get(str(kind), "?")
        for name, kind, filled in zip(table.columns, table.types, known)
    }, count


READERS: dict[str, Reader] = {"pandas": with_pandas, "polars": with_polars, "duckdb": with_duckdb}

FITS = {
    "string": {"string", "empty"},
    # Whole numbers with absent ones among them are floats in pandas; whole seconds are integers.
    "integer": {"integer", "number", "empty"},
    "number": {"integer", "number", "empty"},
    "boolean": {"boolean", "empty"},
}


def plain_rows(path: Path) -> tuple[int, list[str]]:
    """How many rows there are, and the cells of texts that a spreadsheet would run."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    found = [cell for row in rows[1:] for cell in row if cell.startswith(FORMULA) and not is_number(cell)]
    return len(rows) - 1, found


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def main(directory: Path) -> int:
    faults = 0
    package = json.loads((directory / "datapackage.json").read_text("utf-8"))
    tools = {name: reader for name, reader in READERS.items() if importlib.util.find_spec(name)}
    for resource in package["resources"]:
        path = directory / resource["path"]
        fields = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
        rows, formulas = plain_rows(path)
        for cell in formulas:
            faults += 1
            print(f"{path.name}: a spreadsheet would run {cell!r}", file=sys.stderr)
        for name, reader in tools.items():
            kinds, count = reader(path)
            if list(kinds) != list(fields) or count != rows:
                faults += 1
                print(f"{path.name}: {name} sees {count} rows of {list(kinds)}, not {rows} of {list(fields)}", file=sys.stderr)
            for column, kind in kinds.items():
                # A seed may look like a number, and a name like "true"; what is described as a number must be one.
                if kind not in FITS[fields.get(column, "string")] and fields.get(column) != "string":
                    faults += 1
                    print(f"{path.name}: {name} reads {column} as {kind}, not {fields.get(column)}", file=sys.stderr)
    print(f"{len(package['resources'])} tables with {', '.join(tools)}: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
