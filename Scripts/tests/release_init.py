"""The first ten minutes: `plimsoll init` on a terminal, and the commands of the page of frequent questions."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import unittest

from release import SCENARIOS, ReleaseCase

from plimsoll_tools.checkout import ROOT

FAQ = (ROOT / "Sources/plimsoll/plimsoll.docc/FAQ.md").read_text("utf-8")
ANSWERS = ("iphone-31", "iphone-14", "", "30min", "", "nothing")
"""A wrong device, the right one, then the apps, the duration, the policy and the claims. An option answers the day."""


class Init(ReleaseCase):
    def test_on_a_terminal_it_asks_what_no_option_answers_and_asks_again_after_a_wrong_answer(self) -> None:
        terminal, end = pty.openpty()
        words = [self.plimsoll, "init", "asked", "--day", "commuter"]
        with subprocess.Popen(words, stdin=end, stderr=end, stdout=subprocess.PIPE, cwd=self.directory) as process:
            os.close(end)
            os.write(terminal, "".join(f"{answer}\n" for answer in ANSWERS).encode())
            told = process.communicate(timeout=60)[0].decode()
        asked = b""
        try:
            while part := os.read(terminal, 4096):
                asked += part
        except OSError:
            pass  # Linux says so at the end of what a terminal shows.
        finally:
            os.close(terminal)
        self.assertEqual(process.returncode, 0, asked.decode())
        self.assertTrue(told.startswith("asked.yaml: 13 apps, 30min, jetsam\n"), told)
        self.assertIn("unknown device 'iphone-31'", asked.decode())
        self.assertNotIn("What the user does", asked.decode())
        text = (self.directory / "asked.yaml").read_text("utf-8")
        for line in ("device: { like: iphone-14 }", "duration: 30min", "model: commuter", "expect: []"):
            self.assertIn(line, text)


class Questions(ReleaseCase):
    def test_every_command_of_the_page_of_frequent_questions_runs(self) -> None:
        (self.directory / "Scenarios").symlink_to(SCENARIOS)
        commands = [line.strip() for line in FAQ.splitlines() if line.startswith("    plimsoll ")]
        self.assertGreaterEqual(len(commands), 10)
        for command in commands:
            with self.subTest(command):
                self.ends(self.plimsoll, *shlex.split(command)[1:], folder=self.directory)
        mine, again = ((self.directory / "runs" / name / "events.csv").read_bytes() for name in ("mine", "again"))
        self.assertEqual(mine, again)


if __name__ == "__main__":
    unittest.main()
