"""Containerfile, as far as it can be judged without an engine; check_container.py builds it and runs the image."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import unittest
from collections.abc import Iterator

from dockerfile_parse import DockerfileParser
from harness import SCRIPTS

from plimsoll_tools.checkout import ROOT

TEXT = (ROOT / "Containerfile").read_text("utf-8")

KNOWN = {"FROM", "ARG", "ENV", "WORKDIR", "COPY", "RUN", "ENTRYPOINT", "CMD", "COMMENT"}
"""The instructions that it needs; COMMENT is the parser's word."""

EXACT = re.compile(r"docker\.io/library/[a-z]+:\d+\.\d+(\.\d+)?(-[a-z]+)?")
"""An image by its registry, with an exact version."""


def instructions(text: str) -> list[tuple[str, str]]:
    found = DockerfileParser(fileobj=io.BytesIO(text.encode())).structure
    return [(one["instruction"], one["value"]) for one in found if one["instruction"] != "COMMENT"]


def copied(text: str) -> Iterator[str]:
    """What is copied from the checkout."""
    for name, value in instructions(text):
        if name == "COPY" and not value.startswith("--from="):
            yield from shlex.split(value)[:-1]


def faults(text: str) -> list[str]:
    """What is wrong with a Containerfile."""
    found: list[str] = []
    stages: list[str] = []
    for name, value in instructions(text):
        words = value.split()
        if name not in KNOWN:
            found.append(f"{name} is no instruction that is needed")
        elif name == "FROM":
            if words[0] not in stages and not EXACT.fullmatch(words[0]):
                found.append(f"{words[0]} has no exact version")
            stages += words[2:] if len(words) == 3 and words[1] == "AS" else [""]
        elif name == "COPY" and (stage := re.match(r"--from=(\S+)", value)) and stage[1] not in stages:
            found.append(f"there is no stage {stage[1]}")
        elif name in ("ENTRYPOINT", "CMD") and not isinstance(json.loads(value), list):
            found.append(f"{name} is no list of words")
        elif name == "RUN" and subprocess.run(["sh", "-n", "-c", value], capture_output=True).returncode:
            found.append(f"the shell does not understand: {value}")
    return found + [f"there is no {path}" for path in copied(text) if not (ROOT / path).exists()]


class Containerfile(unittest.TestCase):
    def test_an_engine_can_follow_it(self) -> None:
        self.assertEqual(faults(TEXT), [])

    def test_what_is_wrong_is_found(self) -> None:
        for right, wrong, fault in (
            ("swift:6.2.3-bookworm", "swift:latest", "docker.io/library/swift:latest has no exact version"),
            ("COPY Sources", "COPY Source", "there is no Source"),
            ("--from=build", "--from=builder", "there is no stage builder"),
            ("WORKDIR /work", "WORKDIRECTORY /work", "WORKDIRECTORY is no instruction that is needed"),
            ("\n    && mkdir", "\n    && && mkdir", "the shell does not understand"),
        ):
            with self.subTest(wrong):
                self.assertIn(right, TEXT)
                self.assertTrue(any(one.startswith(fault) for one in faults(TEXT.replace(right, wrong))), faults(TEXT.replace(right, wrong)))

    def test_the_last_stage_runs_the_program(self) -> None:
        names = [(name, value) for name, value in instructions(TEXT) if name in ("FROM", "ENTRYPOINT")]
        self.assertEqual(names[-1], ("FROM", "program"))
        self.assertIn(("ENTRYPOINT", '["plimsoll"]'), names)

    def test_the_build_has_all_that_is_built_and_packed(self) -> None:
        packed = re.findall(r'^(?:copy|put) "?(?:\$root/)?([A-Z]\w+[\w./]*)', (SCRIPTS / "package").read_text("utf-8"), re.MULTILINE)
        self.assertIn("Scenarios", packed)
        targets = re.findall(r'path: "(\w+)', (ROOT / "Package.swift").read_text("utf-8"))
        wanted = {"Package.swift", "Sources", "Tests", "Scripts"} | {path.split("/")[0] for path in (*packed, *targets)}
        self.assertEqual(wanted - set(copied(TEXT)), set())

    def test_its_packages_are_those_that_the_scripts_name(self) -> None:
        known = (SCRIPTS / "package").read_text("utf-8") + (SCRIPTS / "archive/setup-python").read_text("utf-8")
        # The one library of `check_program` in Scripts/package that a small Debian lacks.
        self.assertIn("libstdc++.so.6", known)
        for packages in re.findall(r"apt-get -qq install -y --no-install-recommends ([^\\\n]*)", TEXT):
            for package in packages.split():
                if package != "libstdc++6":
                    self.assertRegex(known, rf"apt-get install[^\n]*\b{re.escape(package)}\b")

    def test_the_toolchain_can_build_the_package(self) -> None:
        needed = re.match(r"// swift-tools-version: (\d+)\.(\d+)", (ROOT / "Package.swift").read_text("utf-8"))
        has = re.search(r"library/swift:(\d+)\.(\d+)", TEXT)
        assert needed and has
        self.assertGreaterEqual([int(has[1]), int(has[2])], [int(needed[1]), int(needed[2])])


if __name__ == "__main__":
    unittest.main()
