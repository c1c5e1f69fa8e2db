"""Everything that must hold, on a fresh machine too: installs, checks style, builds, tests, runs, compares, draws.

Installs what the build and the tests need (Scripts/setup.sh names it). One build serves the Swift tests and the tests
of the program: the debug build, in which the modules of a run are optimised, and all checks are on. With --all the
shipping build, without these checks, is built once more, and a few tests try it and compare its tables with those of
the other one.

Each stage prints its name and its seconds; stages whose build failed are skipped. At the end stand the stages, the
slowest twenty tests and every skipped test with its reason, and the last line counts the stages.

One test alone (--list in place of the words names the tests in Python):
  swift test --filter JetsamTests
  .venv/bin/python Scripts/tests/run_tests.py "words of its name"
  .venv/bin/python Scripts/tests/run_tests.py --program .build/debug/plimsoll "words of its name"
  .venv/bin/python Scripts/tests/run_tests.py --shipped .build/release/plimsoll "words of its name"

The archive alone:
  .venv/bin/python Scripts/tests/check_archive.py "$(Scripts/package --out /tmp --force)"

Exit status: 0 all passed, 1 some failed, 64 usage, 71 this machine refuses.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Before the installation, this runs in a Python that knows nothing of the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from check_container import engine
from slowest import MOST, table, timed
from stages import Command, Stages

from plimsoll_tools.checkout import ROOT
from plimsoll_tools.command_line import Parser, positive

BIN = ROOT / ".venv/bin"
PYTHON: Command = (BIN / "python", "-E", "-s")
CHECKED, SHIPPED = ROOT / ".build/debug", ROOT / ".build/release"
"""The folders of the builds."""

SWIFT = ("Package.swift", "Sources", "Tests", "Benchmarks")
BEGAN = time.monotonic()


def arguments() -> argparse.Namespace:
    parser = Parser(prog="Scripts/test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    extent = parser.add_mutually_exclusive_group()
    for group, name, text in (
        (extent, "quick", "without the tests of the program"),
        (extent, "all", "also the tests that take long, and the build that people get, as continuous integration does"),
        (parser, "no-install", "install nothing: tests that need what is missing are skipped"),
        (parser, "fail-on-skip", "fail if a test was skipped that this machine could have run"),
        (parser, "package", "also make the archive of Scripts/package and try it here, which needs a build of its own, and the image "
         "of Containerfile where podman or docker works"),
    ):
        group.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument("--within", metavar="SECONDS", type=positive,
                        help="with --all: begin no test of the shipping build later than this, but skip it")  # fmt: skip
    parser.add_argument("--sanitize", choices=("address",),
                        help="also run the Swift tests under this sanitizer, which is slow")  # fmt: skip
    return parser.parse_args()


def shell_scripts() -> list[Path]:
    """By their first line, so that a new script is checked without being listed here."""
    files = [path for place in ("Scripts", "Scripts/archive", ".ci") for path in sorted((ROOT / place).iterdir())]
    return [path for path in files if path.is_file() and re.match(rb"#!.*\bbash\n", path.read_bytes())]


class Everything:
    """The stages in their order, and what is known when they have ended."""

    def __init__(self, given: argparse.Namespace, scratch: Path) -> None:
        self.given, self.scratch, self.stages = given, scratch, Stages()
        self.skips, self.times = scratch / "skips.txt", scratch / "times.tsv"
        self.skips.touch()
        self.times.touch()

    def has(self, tool: Path | str, what: str) -> bool:
        """Whether the tool is there; what is left out without it is named at the end."""
        is_there = shutil.which(tool) is not None
        if not is_there:
            with self.skips.open("a", encoding="utf-8") as file:
                file.write(f"{what}: {Path(tool).name} is not installed\n")
        return is_there

    def has_engine(self) -> bool:
        """Whether containers can be built here."""
        is_there = engine() is not None
        if not is_there:
            with self.skips.open("a", encoding="utf-8") as file:
                file.write("container: machine: neither podman nor docker works here\n")
        return is_there

    def tests(self, runner: str, *words: object) -> Command:
        return (*PYTHON, f"Scripts/tests/{runner}.py", "--skips", self.skips, "--times", self.times, *words)

    def python_lint(self) -> list[Command]:
        """Style and types of the package and its tests; of the anchors in Python the style alone."""
        # What the configuration names is looked for from its own folder.
        lint = {"ruff": ("check", "--config", "pyproject.toml", ".", "../Benchmarks"), "mypy": ()}
        return [("-C", "Scripts", BIN / tool, *words) for tool, words in lint.items() if self.has(BIN / tool, tool)]

    def shell_lint(self) -> list[Command]:
        scripts = shell_scripts()
        lint: list[Command] = [("bash", "-n", "--", script) for script in scripts]
        if self.has("shellcheck", f"shellcheck of {len(scripts)} scripts"):
            lint.append(("shellcheck", "--external-sources", "--", *scripts))
        return lint

    def in_time(self) -> tuple[object, ...]:
        """The seconds that are left for tests to begin in."""
        return ("--within", max(1, round(self.given.within - (time.monotonic() - BEGAN)))) if self.given.within else ()

    def archive(self) -> list[Command]:
        """What others download, with nothing of this machine's environment; it is also tried in other distributions."""
        folder = self.scratch / "archive"
        check = (*PYTHON, "Scripts/tests/check_archive.py", *(["--quick"] if self.given.no_install else []))
        return [("Scripts/package", "--out", folder), ("sh", "-c", '"$@" "$0"/*.tar.gz', folder, *check)]

    def run(self) -> None:
        stages, built = self.stages, "build with checks"
        # What needs no build runs beside the builds. The Python tests, one file at a time, take what these leave idle.
        stages.begin("Python tests", self.tests("run_tests", "--jobs", 1))
        stages.begin("format", ("swift", "format", "lint", "--strict", "--recursive", "--parallel", *SWIFT))
        stages.begin("Python: ruff and mypy", *self.python_lint())
        stages.run("shell scripts", *self.shell_lint())
        # With what draws random worlds, which some tests of the program run. All products at once would also be what
        # people make documentation with.
        products = ("plimsollPackageTests", "plimsoll", "soak")
        stages.run(built, *(("swift", "build", "--product", product) for product in products))
        if self.given.all:
            stages.begin("shipping build", ("bash", "-c", '. Scripts/lib.sh; "${release_build[@]}" --product plimsoll'))
        stages.finish("format")
        stages.finish("Python: ruff and mypy")
        stages.run("Swift tests", self.tests("run_swift_tests", CHECKED / "plimsollPackageTests.xctest"), needs=built)
        stages.finish("Python tests")
        if self.given.sanitize:
            test = ("bash", "-c", ". Scripts/lib.sh; sanitized_tests")
            stages.run("Swift tests, address sanitizer", test, needs=built)
        program = ("--program", CHECKED / "plimsoll")
        if not self.given.quick:
            extent = "--checked" if self.given.all else "--short"
            stages.run("tests of the program", self.tests("run_tests", *program, extent), needs=built)
        if self.given.all:
            stages.finish("shipping build")
            for name, words in (
                ("tests of the shipping program", ("--shipped", SHIPPED / "plimsoll", *program)),
                ("long tests of the shipping program", ("--program", SHIPPED / "plimsoll", "--long")),
            ):
                stages.run(name, self.tests("run_tests", *words, *self.in_time()), needs="shipping build")
        if self.given.package:
            stages.run("archive", *self.archive())
            if self.has_engine():
                stages.run("container", (*PYTHON, "Scripts/tests/check_container.py"))

    def status(self) -> int:
        """The exit status. Prints what came of the stages."""
        print(f"\n=== summary, {time.monotonic() - BEGAN:.0f} s", *self.stages.lines, sep="\n")
        print("\nthe slowest tests:")
        print(table(timed(self.times.read_text("utf-8", "replace")), MOST))
        skips = self.skips.read_text("utf-8", "replace").splitlines()
        if skips:
            print("\nskipped tests:", *(f"  {line}" for line in skips), sep="\n")
        passed, failed = len(self.stages.passed), len(self.stages.failed)
        if self.given.fail_on_skip and not all(re.search(": (data|machine): ", line) for line in skips):
            print('test: this machine could have run what has neither "data:" nor "machine:" as its reason')
            failed += 1
        print(f"\n{passed} passed, {failed} failed")
        return 1 if failed else 0


def main() -> int:
    given = arguments()
    if not given.no_install:
        done = subprocess.run([ROOT / "Scripts/setup.sh", "build", "python", "bench", "tests"])
        if done.returncode:
            return done.returncode
    with tempfile.TemporaryDirectory(prefix="plimsoll-test.") as scratch:
        everything = Everything(given, Path(scratch))
        try:
            everything.run()
        finally:
            everything.stages.end()
        return everything.status()


if __name__ == "__main__":
    # As Ctrl-C: what runs beside the stages ends, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
