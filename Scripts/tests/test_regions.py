"""Scripts/regions: what it makes of llvm-cov's export, and its words."""

from __future__ import annotations

import contextlib
import io
import unittest
from pathlib import Path
from typing import Any

from plimsoll_tools import regions

SOURCES = Path("/house/Sources")


def record(name: str, file: str, count: int, *found: tuple[int, int, int]) -> dict[str, Any]:
    """A function of an export; of each region the first line, how often it ran, and its kind."""
    return {"name": name, "count": count, "filenames": [str(SOURCES / file)],
            "regions": [[line, 5, line + 1, 9, times, 0, 0, kind] for line, times, kind in found]}  # fmt: skip


def export(*records: dict[str, Any]) -> dict[str, Any]:
    return {"data": [{"functions": list(records)}]}


class Regions(unittest.TestCase):
    def test_records_of_one_function_add_up_and_gaps_do_not_count(self) -> None:
        first = record("module:a", "Reclaim/A.swift", 0, (3, 0, 0), (5, 0, 0), (6, 0, 3))
        other = record("b", "Reclaim/A.swift", 4, (3, 4, 0), (5, 0, 0))
        [function] = regions.functions(export(first, other), SOURCES)
        self.assertEqual((function.entered, function.reached, len(function.regions)), (True, 1, 2))

    def test_it_counts_by_folder_names_what_was_never_entered_and_the_lines_of_the_rest(self) -> None:
        found = regions.functions(
            export(
                record("file.swift:s1a", "Reclaim/A.swift", 0, (3, 0, 0)),
                record("s1d", "Reclaim/A.swift", 0, (4, 0, 0)),
                record("s1b", "Memory/B.swift", 2, (7, 2, 0), (9, 0, 0)),
                {**record("s1c", "C.swift", 1, (1, 1, 0)), "filenames": ["/elsewhere/C.swift"]},
            ),
            SOURCES,
        )
        lines = regions.told(found, {"s1a": "A.decide()", "s1d": "implicit closure #1 in A.decide()"})
        self.assertEqual(" ".join(lines[0].split()), "Memory 1 of 2 regions (50.0%), 1 of 1 functions")
        self.assertEqual(" ".join(lines[1].split()), "Reclaim 0 of 2 regions (0.0%), 0 of 2 functions")
        self.assertEqual(" ".join(lines[2].split()), "all 1 of 4 regions (25.0%), 1 of 3 functions")
        never = "never entered: 1 functions, and 1 messages of checks and right sides of operators"
        self.assertEqual(lines[3:], ["", never, "  Reclaim/A.swift:3  A.decide()"])
        self.assertEqual(regions.stretches(found), ["  Memory/B.swift: 9"])

    def test_words_of_soak_are_handed_on_and_a_folder_that_there_is_not_is_refused(self) -> None:
        options, rest = regions.arguments(["--seeds", "4..9", "--far", "--minutes", "2", "--folder", "Pressure"])
        self.assertEqual((options.seeds, options.folder, rest), ("4..9", ["Pressure"], ["--far", "--minutes", "2"]))
        said = io.StringIO()
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(said):
            regions.arguments(["--folder", "Nowhere"])
        self.assertEqual(ended.exception.code, 64)
        self.assertIn("Nowhere", said.getvalue())


if __name__ == "__main__":
    unittest.main()
