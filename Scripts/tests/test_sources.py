"""Facts come from tables and JSON: which modules of the tools may look for patterns, and how they read a run's files."""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "plimsoll_tools"

PATTERNS = {
    "clusters/parcel.py": "what ldd prints",
    "clusters/slurm.py": "what Slurm prints",
    "command_line.py": "characters that hide something",
    "manual.py": "headings of the program's help",
    "quantities.py": "sizes and times on the command line and in scenarios",
    "reporting/experiment.py": "the sentences of an answer",
    "same.py": "the command line",
    "session.py": "what the program says on a terminal",
    "tuning/outcome.py": "texts that every reader of YAML takes for texts",
    "tuning/problem.py": "the command line",
}
"""The modules that import `re`, and the foreign text that each takes apart."""

READERS = {
    "scenario.yaml": {"plotting/compare.py", "reporting/payload.py"},
    "manifest.json": {"benchmarking/figures.py", "plotting/run_directory.py", "reporting/experiment.py", "reporting/explanations.py",
                      "reporting/payload.py"},
    "datapackage.json": {"plotting/metrics.py", "plotting/run_directory.py", "reporting/experiment.py"},
}  # fmt: skip
"""A run's files that are no tables, and the modules that name them. The page shows some of them as they are; what else is
made of them, a library reads."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def names(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def attributes(tree: ast.Module) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def texts(tree: ast.Module) -> set[str]:
    """The constant texts of a module; a sentence is not a file's name."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


class Sources(unittest.TestCase):
    def test_only_readers_of_foreign_text_look_for_patterns(self) -> None:
        self.assertEqual({name for name, tree in modules() if {"re", "regex"} & imported(tree)}, set(PATTERNS))

    def test_a_runs_documents_are_read_by_libraries_and_in_few_places(self) -> None:
        every = dict(modules())
        for file, readers in READERS.items():
            self.assertEqual({name for name, tree in every.items() if file in texts(tree)}, readers, file)
        for name in (READERS["manifest.json"] | READERS["datapackage.json"]) - {"reporting/payload.py"}:
            self.assertTrue({"read_json", "json"} & (names(every[name]) | imported(every[name])), name)
        for name in READERS["scenario.yaml"]:
            self.assertIn("scenario_settings", attributes(every[name]))
        self.assertIn("yaml", imported(every["plotting/several.py"]))

    def test_an_explanation_is_json(self) -> None:
        found = {name for name, tree in modules() if "explain" in texts(tree)}
        self.assertEqual(found, {"reporting/explanations.py"})
        self.assertIn("json", imported(dict(modules())["reporting/explanations.py"]))


if __name__ == "__main__":
    unittest.main()
