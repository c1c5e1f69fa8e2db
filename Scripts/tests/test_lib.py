"""What the shell scripts share: options, and a build that speaks only when it fails."""

from __future__ import annotations

import subprocess
import unittest

from harness import SCRIPTS, FolderCase

SCRIPT = f"""set -euo pipefail
source "{SCRIPTS}/lib.sh"
usage() {{ echo how; }}
force=no out=. count=1
options force out=. 'count=^[1-9]$' -- "$@"
printf '%s|' "$force" "$out" "$count" ${{words[@]+"${{words[@]}}"}}
"""


class Library(FolderCase):
    def said(self, text: str, *arguments: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr of a script."""
        script = self.directory / "script.sh"
        script.write_text(text, "utf-8")
        done = subprocess.run(["bash", script, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_options_are_read_and_other_words_are_left(self) -> None:
        for arguments, read in {
            (): "no|.|1|", ("--force", "--out", "a b", "--count=2"): "yes|a b|2|",
            ("x", "--out=--force", "", "--other", "-9", "--"): "no|--force|1|x||--other|-9|--|",
            ("--out=a=b", "--out", "c"): "no|c|1|",
        }.items():  # fmt: skip
            self.assertEqual(self.said(SCRIPT, *arguments), (0, read, ""), arguments)

    def test_a_value_that_is_missing_or_wrong_is_64(self) -> None:
        for arguments in (("--out",), ("--out", ""), ("--out=",), ("--count", "0"), ("--count=12",), ("--force=yes",)):
            self.assertEqual(self.said(SCRIPT, *arguments), (64, "", "how\n"), arguments)

    def test_help_is_given_among_other_words(self) -> None:
        for arguments in (("-h",), ("--force", "x", "--help", "--count", "0")):
            self.assertEqual(self.said(SCRIPT, *arguments), (0, "how\n", ""), arguments)

    def test_a_build_speaks_only_when_it_fails(self) -> None:
        build = self.program('echo "$*"; [ "$1" != wrong ] || exit 3', "build")
        text = f'set -euo pipefail\nsource "{SCRIPTS}/lib.sh"\nfound=$(build soak "{build}" "$@")\necho "$found"\n'
        self.assertEqual(self.said(text, "right"), (0, "right --show-bin-path/soak\n", ""))
        self.assertEqual(self.said(text, "wrong"), (70, "", "wrong --product soak\nscript: the build failed\n"))


if __name__ == "__main__":
    unittest.main()
