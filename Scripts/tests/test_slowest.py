"""The table of the slowest tests, and what it is made from: the events of Swift Testing, and the parts that Swift tests run in."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

import run_swift_tests
import slowest
from harness import FolderCase, call_main


def event(kind: str, at: float, test: str) -> str:
    payload = {"kind": kind, "instant": {"absolute": at, "since1970": 0}, "testID": test}
    return json.dumps({"kind": "event", "payload": payload, "version": 0})


def declared(test: str, title: str | None, kind: str = "function") -> str:
    payload = {"kind": kind, "id": test, "name": "f()", "sourceLocation": {"fileID": "ATests/OneTests.swift"}}
    return json.dumps({"kind": "test", "payload": payload | ({"displayName": title} if title else {}), "version": 0})


class Slowest(FolderCase):
    def test_the_slowest_come_first_and_no_more_than_asked_for(self) -> None:
        times = self.directory / "times"
        lines = [slowest.line_of_time(*words) for words in (
            (2, None, "in Swift"), (5, 4.25, "slow"), (1, 1, "quick\tone"))]  # fmt: skip
        times.write_text("\n".join(lines) + "\n", "utf-8")
        status, out, _ = call_main(slowest, "--most", 2, times)
        self.assertEqual(status, 0)
        self.assertEqual([line.split(maxsplit=2) for line in out.splitlines()[1:3]],
                         [["5.0", "4.2", "slow"], ["2.0", "in", "Swift"]])  # fmt: skip
        self.assertIn("8.0", out.splitlines()[3])
        self.assertIn("all 3 tests", out.splitlines()[3])

    def test_what_was_not_run_has_no_tests(self) -> None:
        status, out, _ = call_main(slowest, self.directory / "none")
        self.assertEqual((status, len(out.splitlines())), (0, 2))


class SwiftTests(FolderCase):
    EVENTS = (declared("A", "a suite", "suite"), declared("A/f()", "one"), declared("A/g()", None), "",
              event("testStarted", 0, "A"), event("testStarted", 10, "A/f()"), event("testEnded", 13, "A/f()"),
              event("testStarted", 20, "A/g()"))  # fmt: skip

    def bundle(self, script: str) -> Path:
        """A build that lists a suite of two tests, and does this when it runs them."""
        return self.program(f'case "$*" in *--list*) printf "T.A/f()\\nT.A/g()\\n"; exit;; esac\n'
                            f'for word; do events=$word; done\n{script}', "tests.xctest")  # fmt: skip

    def run_bundle(self, *lines: str, status: int = 0) -> tuple[int, str]:
        stream = self.directory / "stream"
        stream.write_text("\n".join(lines) + "\n", "utf-8")
        bundle = self.bundle(f'echo "a line"; cat "{stream}" >"$events"; exit {status}\n')
        ended, out, _ = call_main(run_swift_tests, bundle, "--times", self.directory / "times", "--skips", self.directory / "skips")
        return ended, out

    def test_a_test_has_its_own_time_and_one_that_crashed_has_none(self) -> None:
        self.assertEqual(run_swift_tests.times("\n".join([*self.EVENTS, event("testEnded", 30, "A/g()")[:40]])), {"OneTests: one": 3})

    def test_every_test_that_the_build_lists_must_have_run(self) -> None:
        status, out = self.run_bundle(*self.EVENTS)
        self.assertEqual(status, 1, out)
        self.assertIn("1 of 2 tests ran", out)
        status, out = self.run_bundle(*self.EVENTS, event("testEnded", 21, "A/g()"))
        self.assertEqual(status, 0, out)
        self.assertIn("1 passed, 0 failed", out)
        self.assertNotIn("a line", out)

    def test_a_failure_shows_what_was_said_and_a_skip_has_its_reason(self) -> None:
        skipped = event("testSkipped", 21, "A/g()")
        status, out = self.run_bundle(*self.EVENTS, skipped, status=1)
        self.assertEqual(status, 1)
        self.assertIn("a line", out)
        text = 'x Test "g" skipped: "data: none"\nx Test "f" passed after 3 seconds.\n'
        self.assertEqual(run_swift_tests.SKIPPED.findall(text), [('"g"', "data: none")])

    def test_each_suite_runs_in_one_process_and_a_long_one_begins_early(self) -> None:
        tests = [f"ATests.S{number}/f()" for number in range(7)] + ["SurvivalTests.StudyTests/f()", "BTests.S/f()", "ATests.S1/g()"]
        found = run_swift_tests.parts(tests)
        self.assertEqual(found[0], ["SurvivalTests.StudyTests"])
        self.assertEqual(sorted(suite for part in found for suite in part), sorted({test.partition("/")[0] for test in tests}))
        self.assertTrue(all(len({suite.partition(".")[0] for suite in part}) == 1 for part in found))
        self.assertEqual(run_swift_tests.filter_of(["A.B", "A.C"]), r"^(A\.B|A\.C)/")

    def test_a_missing_build_is_66(self) -> None:
        status, _, err = call_main(run_swift_tests, self.directory / "none")
        self.assertEqual((status, err.count("\n")), (66, 1))


if __name__ == "__main__":
    unittest.main()
