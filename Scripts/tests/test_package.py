"""The package behind the programs: what its groups install, what it holds, and that nothing else takes its place."""

from __future__ import annotations

import contextlib
import re
import unittest
from importlib import metadata, resources

from harness import SCRIPTS, FolderCase

NAME = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")


def canonical(requirement: str) -> str:
    """The package that a requirement is about, as pip compares names."""
    found = NAME.match(requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def group(name: str) -> set[str]:
    """The packages that a group names, and those of the groups that it contains."""
    found: set[str] = set()
    for line in metadata.requires("plimsoll_tools") or []:
        requirement, _, condition = line.partition(";")
        if not re.search(rf"extra == ['\"]{name}['\"]", condition):
            continue
        if canonical(requirement) == "plimsoll-tools":
            inner = re.search(r"\[(\w+)\]", requirement)
            assert inner, requirement
            found |= group(inner[1])
        else:
            found.add(canonical(requirement))
    return found


class Groups(unittest.TestCase):
    def test_pictures_need_no_database_and_no_search(self) -> None:
        self.assertEqual(group("plot"), {"matplotlib", "numpy", "pandas", "pyyaml"})

    def test_the_search_contains_what_pictures_need_and_the_tests_all_of_it(self) -> None:
        self.assertLess(group("plot"), group("tune"))
        self.assertLess(group("tune"), group("test"))
        self.assertLessEqual({"optuna", "sqlalchemy", "psycopg"}, group("tune"))

    def test_without_a_group_nothing_is_needed(self) -> None:
        self.assertEqual([line for line in metadata.requires("plimsoll_tools") or [] if "extra ==" not in line], [])

    def test_what_is_asked_for_has_an_exact_version(self) -> None:
        lines = (SCRIPTS / "constraints.txt").read_text("utf-8").splitlines()
        pinned = {canonical(line) for line in lines if "==" in line and not line.startswith("#")}
        # pandas and matplotlib choose the version of NumPy that they work with.
        self.assertEqual((group("test") | group("lint")) - pinned, {"numpy"})

    def test_python_3_10_gets_a_version_that_it_can_run(self) -> None:
        lines = (SCRIPTS / "constraints.txt").read_text("utf-8").splitlines()
        pinned = [line for line in lines if "==" in line and not line.startswith("#")]
        for name in group("test") | group("lint"):
            versions = [line for line in pinned if canonical(line) == name]
            with contextlib.suppress(metadata.PackageNotFoundError):
                lowest = re.search(r">=\s*3\.(\d+)", metadata.metadata(name)["Requires-Python"] or "")
                if versions and lowest and int(lowest[1]) > 10:
                    self.assertTrue(any(f'python_version < "3.{lowest[1]}"' in line for line in versions), versions)


class Contents(FolderCase):
    def test_the_parts_of_a_page_are_in_the_package(self) -> None:
        for name in ("page.html", "page.css", "page.js"):
            self.assertTrue((resources.files("plimsoll_tools.reporting") / name).is_file(), name)

    def test_a_module_in_the_current_folder_takes_no_modules_place(self) -> None:
        for name in ("csv", "matplotlib", "plimsoll_tools"):
            (self.directory / f"{name}.py").write_text("raise SystemExit(9)\n", "utf-8")
        for script in ("plotting", "reporting", "tuning", "benchmarking", "same", "agreement"):
            self.assertEqual(self.call(script, "--help").returncode, 0, script)

    def test_the_programs_start_python_apart_from_the_users(self) -> None:
        modules = {"plot": "plotting", "report": "reporting", "tune": "tuning", "sweep-on": "clusters", "bench": "benchmarking"}
        for name, module in modules.items():
            self.assertRegex((SCRIPTS / name).read_text("utf-8"), rf'\nbecome_module "\S+/\.venv" {module} "\$@"\n$')
        self.assertIn('-I -m "plimsoll_tools.$2" "${@:3}"', (SCRIPTS / "lib.sh").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
