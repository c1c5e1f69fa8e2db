"""What Scripts/run says, with stand-ins for the installation, the compiler and the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from harness import SCRIPTS, FolderCase

SWIFT = """#!/bin/sh
bin="$(dirname "$0")/../.build/x/release"
case "$*" in
*--show-bin-path*) echo "$bin" ;;
*) echo 'Compiling'; [ -z "$BROKEN" ] || exit 1 ;;
esac
"""
PROGRAM = """#!/bin/sh
echo "called as $0 $*"
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
mkdir -p "$out" && : > "$out/samples.csv"
exit "${ENDING:-0}"
"""
TOOL = """#!/bin/sh
[ -z "$UNDRAWN" ] || { echo 'no ink' >&2; exit 73; }
asked="$*"
while [ $# -gt 1 ]; do shift; done
mkdir -p "$1/plots" && : > "$1/report.html" && echo "$asked" > "$1/asked"
for name in a b c d e f g h i j k; do echo "$1/plots/$name.png"; done
"""


class RunScript(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.directory / "project"
        (self.root / ".build/x/release").mkdir(parents=True)
        for path, text in {"Scripts/setup.sh": "#!/bin/sh\nexit 0\n", "Scripts/plot": TOOL, "Scripts/report": TOOL,
                           "bin/swift": SWIFT, ".build/x/release/plimsoll": PROGRAM}.items():  # fmt: skip
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)
        for name in ("run", "lib.sh"):
            shutil.copy(SCRIPTS / name, self.root / "Scripts" / name)
        (self.root / "a.yaml").touch()

    def built(self) -> None:
        (self.root / ".build/release").symlink_to("x/release")

    def said(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr."""
        result = subprocess.run(
            [self.root / "Scripts/run", *arguments], cwd=self.directory, text=True, capture_output=True, timeout=600,
            env={**os.environ, "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", **variables},
        )  # fmt: skip
        return result.returncode, result.stdout, result.stderr

    def test_it_names_the_page_to_open_in_place_of_every_picture(self) -> None:
        self.built()
        status, out, error = self.said("a.yaml")
        self.assertEqual(status, 0)
        program = self.root / ".build/release/plimsoll"
        scenario = self.root / "a.yaml"
        self.assertEqual(out, f"called as {program} run {scenario} --out runs/a --report-follows\n")
        self.assertEqual(error, "  to open       runs/a/report.html; pictures are in runs/a/plots\n")

    def test_a_folder_is_named_as_a_shell_takes_it(self) -> None:
        self.built()
        status, _, error = self.said("a.yaml", "--out", "two words", ENDING="99")
        self.assertEqual((status, error), (99, r"  to open       two\ words/report.html; pictures are in two\ words/plots" + "\n"))
        self.assertTrue(Path(self.directory / "two words/report.html").is_file())

    def test_the_first_build_is_announced_with_its_time(self) -> None:
        _, _, error = self.said("a.yaml")
        self.assertEqual(error.splitlines()[0], "run: building; the first time takes about three minutes")
        self.assertRegex(error.splitlines()[1], r"^run: built in \d+ s$")

    def test_what_fails_is_said(self) -> None:
        self.built()
        status, _, error = self.said("a.yaml", BROKEN="yes")
        self.assertEqual((status, error), (70, "Compiling\nrun: the build failed\n"))
        status, _, error = self.said("a.yaml", UNDRAWN="yes")
        lost = "run: the run is complete in runs/a, but its pictures or its report failed"
        self.assertEqual((status, error.splitlines()), (0, ["no ink", lost]))

    def test_one_call_makes_pictures_and_page(self) -> None:
        self.built()
        (self.root / "Scripts/plot").unlink()
        self.assertEqual(self.said("a.yaml")[0], 0)
        self.assertEqual((self.directory / "runs/a/asked").read_text("utf-8"), "--pictures runs/a\n")


if __name__ == "__main__":
    unittest.main()
