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
from typing import IO, Any
from unittest import mock

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
