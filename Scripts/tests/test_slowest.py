"""The table of the slowest tests: what it reads, and what it adds up."""

from __future__ import annotations

import json
import unittest

import slowest
from harness import FolderCase, call_main


def event(kind: str, at: float, test: str, case: str = "") -> str:
    payload = {"kind": kind, "instant": {"absolute": at, "since1970": 0}, "testID": test, "_testCase": {"id": case}}
    return json.dumps({"kind": "event", "payload": payload, "version": 0})


def declared(test: str, title: str | None, kind: str = "function") -> str:
    payload = {"kind": kind, "id": test, "name": "f()", "sourceLocation": {"fileID": "ATests/OneTests.swift"}}
    return json.dumps({"kind": "test", "payload": payload | ({"displayName": title} if title else {}), "version": 0})


class Slowest(FolderCase):
    def test_the_time_of_a_test_in_swift_is_that_of_its_cases_however_they_overlap(self) -> None:
        lines = [
            declared("A", "a suite", "suite"), declared("A/f", "two cases"), declared("A/g", None), "",
            event("testStarted", 0, "A/f"), event("testCaseStarted", 10, "A/f", "1"), event("testCaseStarted", 11, "A/g"),
            event("testCaseStarted", 12, "A/f", "2"), event("testCaseEnded", 13, "A/f", "1"),
            event("testCaseEnded", 11.5, "A/g"), event("testCaseEnded", 16, "A/f", "2"), event("testEnded", 90, "A/f"),
            event("testCaseStarted", 20, "A/g"),
        ]  # fmt: skip
        found = slowest.swift_tests("\n".join(lines))
        self.assertEqual([(one.seconds, one.cpu_seconds, one.name) for one in found],
                         [(7, None, "OneTests: two cases"), (0.5, None, "OneTests: f()")])  # fmt: skip

    def test_the_slowest_of_both_languages_come_first_and_no_more_than_asked_for(self) -> None:
        events, times = self.directory / "events", self.directory / "times"
        events.write_text("\n".join([declared("A/f", "in Swift"), event("testCaseStarted", 1, "A/f"), event("testCaseEnded", 3, "A/f")]))
        lines = [slowest.line_of_time(seconds, cpu, name) for seconds, cpu, name in ((5, 4.25, "slow"), (1, 1, "quick\tone"))]
        times.write_text("\n".join(lines) + "\n", "utf-8")
        status, out, _ = call_main(slowest, "--most", 2, "--swift", events, "--times", times)
        self.assertEqual(status, 0)
        self.assertEqual([line.split(maxsplit=1) for line in out.splitlines()[1:3]],
                         [["5.0", "4.2  slow"], ["2.0", "OneTests: in Swift"]])  # fmt: skip
        self.assertIn("8.0", out.splitlines()[3])
        self.assertIn("all 3 tests", out.splitlines()[3])

    def test_what_was_not_run_has_no_tests(self) -> None:
        status, out, _ = call_main(slowest, "--swift", self.directory / "none", "--times", self.directory / "none")
        self.assertEqual((status, len(out.splitlines())), (0, 2))

    def test_a_line_that_a_crash_cut_off_hides_no_other(self) -> None:
        whole = [event("testCaseStarted", 1, "f"), event("testCaseEnded", 2, "f")]
        self.assertEqual(len(slowest.swift_tests("\n".join([*whole, event("testEnded", 3, "f")[:40]]))), 1)


if __name__ == "__main__":
    unittest.main()
