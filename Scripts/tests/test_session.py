"""The picture of a session on a terminal: its texts, their place and look."""

from __future__ import annotations

import os
import re
import unittest
from unittest import mock
from xml.etree import ElementTree

from harness import FolderCase, call_main

from plimsoll_tools import session

SVG = "{http://www.w3.org/2000/svg}"

SAYS = r"""
test -t 1 || exit 3
test "$1" = run || { echo "$2 <&> \"why\""; exit 0; }
printf 'working\r\033[K\033[1mheadline\033[0m: 15:00 of virtual time in %s s\n' "${SECONDS_TAKEN:-5.2}"
printf '  all      \033[32m8 of 8\033[0m held, \033[31m0\033[0m failed\n'
echo 'a warning' >&2
"""
COMMANDS = ("plimsoll run Scenarios/headline.yaml", "plimsoll explain 'runs/a b'")


class Session(FolderCase):
    def picture(self, text: str = SAYS, commands: tuple[str, ...] = COMMANDS) -> str:
        return session.drawn(session.recorded(commands, self.program(text)), "Two commands & more")

    def test_each_command_stands_above_what_it_says_and_no_warning_does(self) -> None:
        self.assertEqual(session.texts(self.picture()), [
            "$ plimsoll run Scenarios/headline.yaml", "headline", ": 15:00 of virtual time in …", "all", "8 of 8", "held,", "0", "failed",
            "$ plimsoll explain 'runs/a b'", 'runs/a b <&> "why"',
        ])  # fmt: skip

    def test_every_text_is_as_wide_as_its_letters_and_stands_in_its_column(self) -> None:
        root = ElementTree.fromstring(self.picture())
        right = float(root.get("width", "0")) - session.MARGIN
        found = {text.text: text for text in root.iter(f"{SVG}text")}
        for words, text in found.items():
            x, length = float(text.get("x", "")), float(text.get("textLength", ""))
            self.assertAlmostEqual(length, len(words or "") * session.ADVANCE, places=1)
            self.assertLessEqual(x + length, right + 1)
        self.assertAlmostEqual(float(found["8 of 8"].get("x", "")), session.MARGIN + 11 * session.ADVANCE, places=1)
        self.assertEqual(found["headline"].get("font-weight"), "bold")
        self.assertEqual([found[words].get("fill") for words in ("all", "8 of 8", "0")], [None, session.COLOURS["green"], session.COLOURS["red"]])
        rows = sorted({int(text.get("y", "")) for text in found.values()})
        self.assertEqual([below - above for above, below in zip(rows, rows[1:])], [18, 18, 36, 18])

    def test_the_picture_is_small_and_asks_for_nothing(self) -> None:
        picture = self.picture()
        self.assertLess(len(picture), 60_000)
        self.assertEqual(re.findall(r"https?://[^\"]*", picture), ["http://www.w3.org/2000/svg"])
        self.assertNotIn("script", picture)
        self.assertIn("<title id=\"title\">Two commands &amp; more</title>", picture)

    def test_the_duration_of_the_run_alone_may_differ(self) -> None:
        first = self.picture()
        with_other = SAYS.replace(":-5.2", ":-61.0")
        self.assertNotEqual(first, self.picture(with_other))
        self.assertEqual(session.texts(first), session.texts(self.picture(with_other)))
        self.assertNotEqual(session.texts(first), session.texts(self.picture(SAYS.replace("8 of 8", "7 of 8"))))

    def test_a_command_that_fails_leaves_no_picture(self) -> None:
        out = self.directory / "a.svg"
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(self.program("echo so; exit 66"))}):
            status, _, said = call_main(session, out)
        self.assertEqual((status, out.exists()), (70, False))
        self.assertIn("plimsoll run Scenarios/headline.yaml ended with 66", said)
        self.assertIn("so", said)

    def test_a_picture_that_cannot_be_written_is_said(self) -> None:
        with mock.patch.dict(os.environ, {"PLIMSOLL": str(self.program(SAYS))}):
            self.assertEqual(call_main(session, self.directory / "no" / "a.svg")[0], 73)
            self.assertEqual(call_main(session, self.directory / "a.svg")[0], 0)
        self.assertIn("plimsoll explain", (self.directory / "a.svg").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
