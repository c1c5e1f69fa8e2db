"""What the tests share: a folder of each test's own, and the commands, as processes or within this one."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    # Most tests draw nothing.
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SCRIPTS = Path(__file__).resolve().parents[1]

FAKE = f'exec "{sys.executable}" -I -S "{SCRIPTS / "tests" / "fake_plimsoll.py"}" "$@"\n'
"""A program's text that makes it fake_plimsoll.py."""


def load_main(name: str) -> Any:
    """The program behind a command, as a module."""
    return import_module(f"plimsoll_tools.{name}.__main__")


def program_of(script: str) -> list[str]:
    """What Python takes to start a command: a module of the package if its program is a shell script, else the file."""
    if (SCRIPTS / "plimsoll_tools" / script).is_dir():
        return ["-I", "-m", f"plimsoll_tools.{script}"]
    return [str(SCRIPTS / script)]


def call_main(module: Any, *arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command within this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", [module.__name__, *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            status = module.main()
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()


class FolderCase(unittest.TestCase):
    """A folder of its own for every test, which is gone afterwards."""

    def setUp(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="plimsoll-test."))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def program(self, text: str, name: str = "plimsoll") -> Path:
        """A shell script in the test's folder that can be called."""
        path = self.directory / name
        path.write_text(f"#!/bin/sh\n{text}", "utf-8")
        path.chmod(0o755)
        return path

    def call(
        self, script: str, *arguments: object, start: tuple[str, ...] = (sys.executable,), plimsoll: object = "/bin/false",
        out: IO[bytes] | int = subprocess.PIPE, err: IO[bytes] | int = subprocess.PIPE, encoded: str = "strict",
    ) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Runs a command of Scripts/ in the test's folder; in Python, unless it starts by itself."""
        return subprocess.run(
            [*start, *program_of(script), *map(str, arguments)], stdout=out, stderr=err, encoding="utf-8", errors=encoded,
            check=False, cwd=self.directory, env={**os.environ, "PLIMSOLL": str(plimsoll)},
        )  # fmt: skip


class PictureCase(FolderCase):
    """Looks at the texts of a picture."""

    def assert_legible(self, figure: Figure | None) -> None:
        """No text overlaps another, and none leaves the picture."""
        from matplotlib.text import Text

        assert figure is not None
        figure.canvas.draw()
        width, height = figure.canvas.get_width_height()
        invisible = self.ticks_out_of_sight(figure)
        texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text not in invisible]
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_visible()]
        drawn = [(name, box) for name, box in boxes if name.strip() and box.width > 0]
        for name, box in drawn:
            self.assertTrue(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, f"clipped: {name}")
        for index, (name, box) in enumerate(drawn):
            for other, its_box in drawn[index + 1 :]:
                apart = min(box.x1, its_box.x1) - max(box.x0, its_box.x0) <= 1 or (
                    min(box.y1, its_box.y1) - max(box.y0, its_box.y0) <= 2
                )
                self.assertTrue(apart, f"'{name}' overlaps '{other}'")

    @staticmethod
    def ticks_out_of_sight(figure: Figure) -> set[Text]:
        """Labels of ticks beyond the limits: they exist as objects, but are not drawn."""
        labels: set[Text] = set()
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                for tick in axis.get_major_ticks():
                    if not low <= tick.get_loc() <= high:
                        labels |= {tick.label1, tick.label2}
        return labels
