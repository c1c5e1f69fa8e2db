"""What plot and report say while a person waits, what they load and read, and how processes share the pictures."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
from harness import FolderCase, call_main, load_main
from synthetic_run import write_run
from test_report import answer, explanation

from plimsoll_tools import command_line
from plimsoll_tools.command_line import PLAIN, Status, visible
from plimsoll_tools.plotting import pictures, run_directory
from plimsoll_tools.plotting.run_directory import cells_of, read_run

LINE = re.compile("\r\x1b\\[2K([^\r]*)")
"""What is drawn in place of the line before."""

SECONDS = re.compile(r" \(\d+ s\)$")


def steps(lines: list[str]) -> list[str]:
    """What was done in turn; a step that takes long is drawn again and again."""
    return list(dict.fromkeys(SECONDS.sub("", line) for line in lines))


class RunCase(FolderCase):
    def make(self, **options: object) -> Path:
        path = self.directory / "run"
        write_run(path, **{"apps": 3, "minutes": 2.0, **options})  # type: ignore[arg-type]
        return path


class OnATerminal(RunCase):
    def lines(self, module: str, *arguments: object, program: object = "/nowhere") -> list[str]:
        """What was on the line in turn; the last is what stays."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-I", "-m", f"plimsoll_tools.{module}", *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ, "PLIMSOLL": str(program)},
        ) as process:  # fmt: skip
            os.close(theirs)
            text = b""
            try:
                while part := os.read(ours, 1 << 16):
                    text += part
            except OSError:
                pass  # So Linux says that nobody writes any more.
            os.close(ours)
            self.assertEqual(process.wait(), 0)
        said = text.decode("utf-8")
        self.assertEqual(LINE.sub("", said), "", "there is more than the line")
        return LINE.findall(said)

    def test_a_plot_says_what_it_does_and_how_far_it_is(self) -> None:
        run = self.make()
        lines = self.lines("plotting", run)
        self.assertEqual(steps(lines)[:3], ["plot: starting", "plot: reading the tables", "plot: drawing"])
        self.assertRegex("\n".join(lines), r"plot: drawing: 0 of 7 pictures\n(.*\n)*plot: drawing: 6 of 7 pictures")
        self.assertEqual(lines[-1], "")

    def test_a_report_says_that_it_waits_for_explanations_and_how_long(self) -> None:
        run = self.make(apps=14, minutes=30.0)
        end = explanation(1, 1.0, "It was.")
        lines = self.lines("reporting", run, program=self.program(f"sleep 4\ncat <<'E'\n{answer(end)}\nE\n"))
        self.assertEqual(steps(lines)[:3], ["report: starting", "report: reading the tables", "report: making the page"])
        self.assertRegex("\n".join(lines), r"what would have saved the ended processes \(.*\d s\)")
        self.assertEqual(lines[-1], "")

    def test_a_call_for_both_tells_of_both(self) -> None:
        lines = "\n".join(self.lines("reporting", "--pictures", self.make()))
        self.assertRegex(lines, r"making the page\n(.*\n)*report: drawing: \d of 7 pictures")
        self.assertTrue(lines.endswith("\n"))

    def test_a_line_is_no_wider_than_the_terminal_and_gone_before_another_is_said(self) -> None:
        terminal = mock.Mock(wraps=io.StringIO(), isatty=lambda: True, fileno=lambda: 2)
        with mock.patch.object(sys, "stderr", terminal), mock.patch("os.get_terminal_size", return_value=os.terminal_size((20, 5))):
            status = Status("plot")
            status.show("a text that is much too long")
            status.show("a text that is much too long")
            status.say("something is missing")
            status.clear()
        written = "".join(call.args[0] for call in terminal.write.call_args_list)
        self.assertEqual(written, "\r\x1b[2Kplot: a text that i\r\x1b[2Kplot: something is missing\n")

    def test_a_step_that_takes_long_is_said_anew_with_its_seconds_until_the_line_is_gone(self) -> None:
        terminal = mock.Mock(wraps=io.StringIO(), isatty=lambda: True, fileno=lambda: 2)
        with mock.patch.object(sys, "stderr", terminal), mock.patch.object(command_line, "BEAT_S", 0.05):
            status = Status("plot")
            status.show("drawing")
            self.wait_for(lambda: terminal.write.call_count > 3)
            status.since_s -= 7
            self.wait_for(lambda: "plot: drawing (7 s)" in str(terminal.write.call_args_list))
            status.clear()
            gone = terminal.write.call_count
            time.sleep(0.3)
            self.assertEqual(terminal.write.call_count, gone)
            status.show("reading")
            self.wait_for(lambda: terminal.write.call_count > gone + 3)
            status.clear()
        written = [call.args[0] for call in terminal.write.call_args_list]
        self.assertEqual(set(written[gone:]), {"\r\x1b[2Kplot: reading", "", "\r\x1b[2K"})

    def wait_for(self, condition: Callable[[], bool]) -> None:
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def test_without_a_terminal_nothing_is_said(self) -> None:
        with mock.patch.object(sys, "stderr", io.StringIO()) as log:
            status = Status("plot")
            status.show("drawing")
            status.clear()
        self.assertEqual(log.getvalue(), "")


class Loaded(RunCase):
    """What takes long is loaded when it is needed, and when the line is there."""

    def loaded(self, program: str, *arguments: object) -> list[str]:
        large = "print([name for name in ('matplotlib', 'numpy', 'pandas', 'yaml') if name in sys.modules], file=sys.stderr)"
        done = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys\n{program}\n{large}", *map(str, arguments)], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, check=True, env={**os.environ, "PLIMSOLL": "/nowhere"},
        )  # fmt: skip
        found: list[str] = eval(done.stderr)
        return found

    def test_the_commands_load_nothing_large_before_the_first_line(self) -> None:
        for name in ("plotting", "reporting"):
            self.assertEqual(self.loaded(f"import plimsoll_tools.{name}.__main__"), [], name)

    def test_a_page_without_pictures_loads_no_matplotlib(self) -> None:
        run = self.make()
        program = "from plimsoll_tools.reporting.__main__ import main\nmain()"
        self.assertNotIn("matplotlib", self.loaded(program, run))
        self.assertIn("matplotlib", self.loaded(program, "--pictures", run))


class Tables(RunCase):
    def test_each_table_is_read_once_per_command(self) -> None:
        run = self.make()
        for name, arguments in (("plotting", [run]), ("reporting", [run]), ("reporting", ["--pictures", run])):
            with (
                self.subTest(name=name, arguments=arguments), mock.patch.dict(os.environ, {"PLIMSOLL": "/nowhere"}),
                mock.patch.object(run_directory, "read_table", wraps=run_directory.read_table) as read,
            ):  # fmt: skip
                self.assertEqual(call_main(load_main(name), *arguments)[0], 0)
                names = [call.args[1] for call in read.call_args_list]
                self.assertEqual(sorted(names), sorted(run_directory.TEXT_COLUMNS))

    def test_what_is_known_of_a_run_is_computed_once(self) -> None:
        calls: list[object] = []

        @run_directory.once_per_run
        def length(run: run_directory.Run) -> int:
            calls.append(run)
            return len(run.samples)

        runs = [read_run(self.make()) for _ in range(2)]
        self.assertEqual([length(run) for run in (*runs, *runs)], [121] * 4)
        self.assertEqual(len(calls), 2)

    def test_numbers_are_read_as_numbers_whether_or_not_all_cells_are_some(self) -> None:
        cells = ["1", "", "0.1", "1e-3", "12345678901234567", "0.30000000000000004", "-7", "  3"]
        for more in ([], ["x"], ["nan"], ["NA"], ["1_0"], ["0x1F"], ["inf", "-inf"], ["True"]):
            text = "\n".join(["a,b", *(f"{cell},{cell}" for cell in [*cells, *more]), ""])
            table = cells_of(text, ["a", "b"], ("b",))
            as_text = pd.Series([*cells, *more])
            with self.subTest(more):
                self.assertEqual(table["a"].fillna("").tolist(), as_text.tolist())
                got = pd.to_numeric(table["b"], errors="coerce")
                pd.testing.assert_series_equal(got, pd.to_numeric(as_text, errors="coerce"), check_names=False, check_exact=True)

    def test_a_character_is_hidden_whether_or_not_the_text_is_plain(self) -> None:
        for code in range(128):
            letter = chr(code)
            self.assertEqual(visible(f"a{letter}"), visible(f"ä{letter}").replace("ä", "a"), code)
            self.assertEqual(visible(letter) == letter, code in PLAIN, code)


@contextmanager
def cores(count: int) -> Iterator[None]:
    with mock.patch.object(os, "sched_getaffinity", return_value=set(range(count))):
        yield


class Shared(RunCase):
    """Pictures that several processes draw."""

    def drawn(self, run: Any, told: list[tuple[int, int]] | None = None) -> list[pictures.Picture]:
        pictures.prepare()
        work = pictures.Drawing(run, ("png", "svg"))
        self.addCleanup(work.close)
        self.begun = len(work.processes)
        return work.pictures(lambda done, count: (told if told is not None else []).append((done, count)))

    def test_pictures_are_the_same_however_many_processes_draw_them(self) -> None:
        run = read_run(self.make())
        with cores(1):
            alone = self.drawn(run)
        self.assertEqual(self.begun, 0)
        self.assertEqual([picture.name for picture in alone if picture.files], ["story", "memory", "pressure", "cores", "states", "launches", "terminations"])
        for count in (2, 3, 64):
            told: list[tuple[int, int]] = []
            with cores(count):
                self.assertEqual(self.drawn(run, told), alone)
            self.assertEqual(self.begun, min(count, 7))
            self.assertEqual(told[0], (0, 7))

    def test_where_no_process_can_be_had_one_core_draws_it_all(self) -> None:
        run = read_run(self.make())
        with cores(2), mock.patch.object(os, "fork", side_effect=OSError("no more")):
            self.assertEqual(len(self.drawn(run)), 7)
        self.assertEqual(self.begun, 0)

    def test_what_a_process_that_dies_has_not_drawn_is_drawn_by_the_first(self) -> None:
        run, own, draw = read_run(self.make()), os.getpid(), pictures.picture_of

        def dies(run: Any, name: str, kinds: Any) -> pictures.Picture:
            if os.getpid() != own and name != "memory":
                os._exit(1)
            return draw(run, name, kinds)

        with cores(2), mock.patch.object(pictures, "picture_of", dies):
            self.assertEqual(len(self.drawn(run)), 7)
        self.assertEqual(self.begun, 2)

    def test_a_fault_of_a_picture_is_raised_where_it_is_seen(self) -> None:
        run = read_run(self.make())
        with cores(2), mock.patch.object(pictures, "picture_of", side_effect=RuntimeError("no ink")), self.assertRaisesRegex(RuntimeError, "no ink"):
            self.drawn(run)

    def test_no_process_is_left_when_the_first_one_gives_up(self) -> None:
        run, own = read_run(self.make()), os.getpid()

        def waits(*_: Any) -> pictures.Picture:
            if os.getpid() != own:
                os.read(reader, 1)
            raise RuntimeError

        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, writer)
        with cores(2), mock.patch.object(pictures, "picture_of", waits):
            work = pictures.Drawing(run, ("png",))
            processes = list(work.processes)
            work.close()
        self.assertEqual(len(processes), 2)
        for process in processes:
            with self.assertRaises(ProcessLookupError):
                os.kill(process, 0)


if __name__ == "__main__":
    unittest.main()
