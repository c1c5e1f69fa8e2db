"""Scripts/test as a whole, in a small project with stand-ins for Swift, the environment and the installation."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import SCRIPTS, FolderCase
from run_tests import Job, Outcome, run_all, within

SETUP = '#!/bin/sh\necho "setup $*" >&2; exit "${REFUSES:-0}"\n'
SWIFT = '#!/bin/sh\necho "swift $*"; case "$*" in *"$BROKEN"*) exit 3;; esac\n'
PYTHON = """#!/bin/sh
echo "python $*"
case "$*" in *"$BROKEN"*) exit 1;; *"$SLOW"*) sleep 30;; esac
while [ $# -gt 1 ]; do
    case $1 in --skips) skips=$2;; --times) printf '1.000\\t\\ta test\\n' >>"$2";; esac
    shift
done
[ -z "$SKIPS" ] || echo "a test: $SKIPS" >>"$skips"
"""
FILES = ("test", "lib.sh", "tests/run_all.py", "tests/stages.py", "tests/slowest.py", "tests/check_container.py", "plimsoll_tools/__init__.py",
         "plimsoll_tools/checkout.py", "plimsoll_tools/command_line.py")  # fmt: skip
QUICK = ["shell scripts", "build with checks", "format (beside others)", "Python: ruff and mypy (beside others)",
         "Swift tests", "Python tests (beside others)"]  # fmt: skip


class WholeTest(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.directory / "a project"
        for name in FILES:
            (self.root / "Scripts" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SCRIPTS / name, self.root / "Scripts" / name)
        made = {"Scripts/setup.sh": SETUP, "bin/swift": SWIFT, "bin/shellcheck": SWIFT, ".venv/bin/python": PYTHON,
                ".venv/bin/ruff": SWIFT, ".venv/bin/mypy": SWIFT, "Scripts/archive/x": "", ".ci/run": "", "bin/podman": SWIFT,
                "bin/docker": SWIFT}  # fmt: skip
        for name, text in made.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            file.chmod(0o755)
        none = {name: "nothing of that kind" for name in ("BROKEN", "SLOW")}
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, **none, "PATH": path, "TMPDIR": str(self.directory)}

    def said(self, *arguments: str, **variables: str) -> tuple[int, str, str]:
        """Exit status, stdout and stderr; from another folder and without a terminal."""
        done = subprocess.run(
            [self.root / "Scripts/test", *arguments], cwd="/", env={**self.environment, **variables},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def summary(out: str) -> list[list[str]]:
        """What came of each stage, and its name."""
        lines = out.partition("=== summary")[2].partition("\n\n")[0].splitlines()[1:]
        return [[line[:8].strip(), line[18:]] for line in lines]

    def test_twice_in_a_row_all_stages_pass(self) -> None:
        for _ in range(2):
            status, out, error = self.said("--quick")
            self.assertEqual((status, error), (0, "setup build python bench tests\n"), out)
            self.assertEqual(self.summary(out), [["passed", name] for name in QUICK])
            self.assertIn("a test\n", out)
            self.assertEqual(out.splitlines()[-1], "6 passed, 0 failed")
        self.assertEqual(list(self.directory.iterdir()), [self.root])

    def test_all_has_the_shipping_build_too(self) -> None:
        status, out, _ = self.said("--all", "--package", "--sanitize", "address", "--no-install")
        names = [name for _, name in self.summary(out)]
        self.assertEqual(set(names) - set(QUICK), {
            "Swift tests, address sanitizer", "tests of the program", "shipping build (beside others)",
            "long tests of the shipping program", "tests of the shipping program", "archive", "container"})  # fmt: skip
        self.assertIn("-c release -debug-info-format none --product plimsoll\n", out)
        # There is no Scripts/package here.
        self.assertEqual((status, out.splitlines()[-1]), (1, "12 passed, 1 failed"))
        for extent in ("--checked", "--long"):
            self.assertIn(extent, out)
        self.assertNotIn("--short", out)
        self.assertIn("--short", self.said()[1])

    def test_what_has_not_begun_in_time_is_skipped_and_named(self) -> None:
        self.assertNotIn("--within", self.said("--all", "--no-install")[1])
        out = self.said("--all", "--no-install", "--within", "1000")[1]
        told = re.findall(r"^python .*--(shipped|long).* --within (\d+)", out, re.MULTILINE)
        self.assertEqual({name for name, _ in told}, {"shipped", "long"}, out)
        for _, seconds in told:
            self.assertTrue(900 < int(seconds) <= 1000, seconds)
        jobs = [Job(name, "x.py", is_one_test=True) for name in ("early", "late")]

        def run(job: Job, _: Path) -> Outcome:
            time.sleep(1.1)
            return Outcome(0, 1.1, 0, "", "", "", "")

        ends = [(job.name, outcome.skips) for job, outcome in run_all(jobs, 1, self.directory, within(1, run))]
        self.assertEqual(ends, [("early", ""), ("late", "late: machine: not begun within 1 s\n")])

    def test_without_an_engine_no_container_is_tried(self) -> None:
        _, out, _ = self.said("--quick", "--package", "--no-install", BROKEN="info")
        self.assertNotIn("container", [name for _, name in self.summary(out)])
        self.assertIn("\nskipped tests:\n  container: machine: neither podman nor docker works here\n", out)

    def test_what_needs_a_broken_build_is_skipped(self) -> None:
        status, out, _ = self.said(BROKEN="build --product plimsoll")
        self.assertEqual((status, out.splitlines()[-1]), (1, "4 passed, 1 failed"))
        self.assertIn("skipped           Swift tests (needs: build with checks)\n", out)
        self.assertIn("skipped           tests of the program (needs: build with checks)\n", out)
        self.assertNotIn("--product soak", out)

    def test_what_fails_beside_others_is_shown_with_what_it_said(self) -> None:
        status, out, _ = self.said("--quick", BROKEN="--parallel")
        self.assertEqual((status, out.splitlines()[-1]), (1, "5 passed, 1 failed"))
        self.assertRegex(out, r"=== format\nswift format lint .*\n--- FAILED +0 s  format \(beside others\)\n")

    def test_a_skipped_test_fails_where_it_could_have_run(self) -> None:
        for reason, status in (("machine: too small", 0), ("no browser", 1)):
            ended, out, _ = self.said("--quick", "--fail-on-skip", SKIPS=reason)
            self.assertEqual(ended, status, reason)
            self.assertIn(f"\nskipped tests:\n  a test: {reason}\n", out)

    def test_without_an_installation_what_is_missing_is_named(self) -> None:
        shutil.rmtree(self.root / ".venv")
        status, out, error = self.said("--quick", "--no-install")
        self.assertEqual((status, out.splitlines()[-1]), (1, "4 passed, 2 failed"))
        self.assertIn("  ruff: ruff is not installed\n  mypy: mypy is not installed\n", out)
        self.assertIn("No such file or directory", error)

    def test_a_machine_that_refuses_is_71_and_wrong_usage_64(self) -> None:
        self.assertEqual(self.said("--quick", REFUSES="71")[:2], (71, ""))
        for arguments in (("--quick", "--all"), ("--sanitize", "thread")):
            status, out, error = self.said(*arguments)
            self.assertEqual((status, out), (64, ""), arguments)
            self.assertNotIn("setup", error)

    def is_running(self) -> bool:
        """Whether a process has this project's folder among its words."""
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.root).encode() in place.read_bytes():
                    return True
        return False

    def test_what_runs_beside_the_stages_ends_with_them(self) -> None:
        environment = {**self.environment, "SLOW": "run_tests.py"}
        whole = subprocess.Popen([self.root / "Scripts/test", "--quick"], env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
        assert whole.stdout
        while whole.stdout.readline() != "=== Python tests\n":
            self.assertIsNone(whole.poll())
        began = time.monotonic()
        self.assertTrue(self.is_running())
        whole.send_signal(signal.SIGTERM)
        self.assertEqual(whole.wait(), 128 + signal.SIGTERM)
        whole.stdout.close()
        while self.is_running():
            self.assertLess(time.monotonic() - began, 10)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
