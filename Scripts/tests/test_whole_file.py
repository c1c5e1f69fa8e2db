"""What cannot be written to its end leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

from harness import FolderCase, call_main, load_main
from synthetic_run import write_run

from plimsoll_tools.tuning import outcome
from plimsoll_tools.whole_file import write_text, writing

FULL = ("bash", "-c", 'ulimit -f 20; exec "$0" "$@"', sys.executable)
"""Starts Python where no file becomes longer than 20 KiB: as on a full disk, writing fails halfway."""

NOBODY = 65534
"""The user without rights that every Unix has."""


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """Root may write every file: it becomes another user for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


class WholeFiles(FolderCase):
    def content(self) -> dict[str, str]:
        return {path.name: path.read_text("utf-8") for path in self.directory.iterdir()}

    def test_a_file_is_written_and_takes_an_earlier_ones_place_and_rights(self) -> None:
        path = self.directory / ("n" * 255)
        write_text(path, "1\n")
        path.chmod(0o640)
        write_text(path, "zwölf\n")
        self.assertEqual(self.content(), {path.name: "zwölf\n"})
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)

    def test_what_fails_leaves_the_earlier_file_and_nothing_else(self) -> None:
        path = self.directory / "a.txt"
        for before in ({}, {"a.txt": "whole"}):
            for name, text in before.items():
                (self.directory / name).write_text(text, "utf-8")
            for fault in (OSError, KeyboardInterrupt):
                with self.assertRaises(fault), writing(path) as beside:
                    beside.write_text("half", "utf-8")
                    raise fault
                self.assertEqual(self.content(), before)

    def test_a_link_stays_a_link_and_a_device_a_device(self) -> None:
        target, link = self.directory / "target", self.directory / "link"
        for before in (False, True):
            link.unlink(missing_ok=True)
            link.symlink_to("target")
            write_text(link, f"new {before}")
            self.assertTrue(link.is_symlink())
            self.assertEqual(target.read_text("utf-8"), f"new {before}")
        write_text(Path("/dev/null"), "nothing")
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_a_write_protected_file_is_left_alone(self) -> None:
        path = self.directory / "mine"
        path.write_text("mine", "utf-8")
        path.chmod(0o444)
        self.directory.chmod(0o777)
        with without_rights(), self.assertRaises(PermissionError):
            write_text(path, "yours")
        self.assertEqual(self.content(), {"mine": "mine"})


class Commands(FolderCase):
    def test_pages_and_pictures_stay_whole_on_a_full_disk(self) -> None:
        run = self.directory / "run"
        write_run(run, apps=3, minutes=2.0)

        def content() -> dict[Path, bytes]:
            return {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

        for script in ("reporting", "plotting"):
            # With nothing there from before, and with whole files.
            for _ in range(2):
                before = content()
                result = self.call(script, run, start=FULL)
                self.assertEqual(result.returncode, 73, result.stderr)
                self.assertIn("File too large", result.stderr)
                self.assertEqual(content(), before)
                self.assertEqual(call_main(load_main(script), run)[0], 0)

    def test_tables_of_a_search_and_of_a_measurement_stay_whole(self) -> None:
        path = self.directory / "table.csv"
        path.write_text("whole", "utf-8")
        with self.assertRaises(ZeroDivisionError):
            outcome.write_table(path, ["a"], ([1 / number] for number in (1, 0)))
        with self.assertRaises(AttributeError):
            load_main("benchmarking").write_csv(path, [None], True)
        self.assertEqual([(one.name, one.read_text("utf-8")) for one in self.directory.iterdir()], [("table.csv", "whole")])


if __name__ == "__main__":
    unittest.main()
