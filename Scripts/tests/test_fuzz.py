"""Scripts/fuzz: what it says of a fuzzer that ends well, and of one that finds something; a stand-in is the fuzzer."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from plimsoll_tools.checkout import ROOT

FUZZER = """#!/usr/bin/env bash
for word in "$@"; do
    case $word in
        --words=*) echo '"word"'; exit 0 ;;
        --longest=*) echo 64; exit 0 ;;
        --subject=*) subject=${word#*=} ;;
        -artifact_prefix=*) prefix=${word#*=} ;;
    esac
done
echo '#2 INITED cov: 7 ft: 9 corp: 1/1b'
echo '#99 DONE cov: 12 ft: 34 corp: 5/60b lim: 4'
if [[ $subject == "$FOUND" ]]; then
    echo "finding: $subject: a claim is broken"
    echo "Test unit written to ${prefix}crash-1"
    touch "${prefix}crash-1"
    exit 77
fi
echo 'stat::number_of_executed_units: 99'
"""


class Fuzz(unittest.TestCase):
    def run_script(self, *words: str, found: str = "") -> tuple[int, str, list[str]]:
        """The status, the output, and the files that are kept."""
        with tempfile.TemporaryDirectory() as folder:
            fuzzer = Path(folder, "fuzz")
            fuzzer.write_text(FUZZER, "utf-8")
            fuzzer.chmod(0o755)
            keep = Path(folder, "keep")
            run = subprocess.run(
                [ROOT / "Scripts/fuzz", *words, *(["--keep", str(keep)] if words != ("--list",) else [])], capture_output=True,
                env={**os.environ, "FUZZ": str(fuzzer), "FOUND": found}, text=True,
            )  # fmt: skip
            kept = sorted(path.name for path in keep.glob("found-*")) if keep.exists() else []
            return run.returncode, run.stdout, kept

    def test_its_readers_are_those_that_have_a_corpus(self) -> None:
        status, out, _ = self.run_script("--list")
        self.assertEqual(status, 0)
        corpora = ROOT / "Tests/SubjectsTests/Corpora"
        self.assertEqual(sorted(out.split()), sorted(path.name for path in corpora.iterdir()))

    def test_a_line_for_each_reader_says_how_many_inputs_it_had_and_what_they_reached(self) -> None:
        status, out, kept = self.run_script("--seconds", "1")
        self.assertEqual((status, kept), (0, []))
        self.assertEqual(len(out.splitlines()), 8)
        for line in out.splitlines():
            self.assertRegex(line, r"^[a-z]+ +99 inputs, +12 edges, +34 features, +5 kept$")

    def test_a_finding_is_named_with_its_input_and_fails(self) -> None:
        status, out, kept = self.run_script("--only", "jetsam", found="jetsam")
        self.assertEqual((status, kept), (1, ["found-jetsam-crash-1"]))
        self.assertIn("5 kept: FOUND\n    finding: jetsam: a claim is broken\n", out)
        self.assertRegex(out, r"\n    again: \S+/fuzz --subject=jetsam FILE\n$")

    def test_the_canary_must_be_found(self) -> None:
        status, out, kept = self.run_script("--canary", found="canary")
        self.assertEqual((status, kept, out.splitlines()[-1]), (0, [], "the canary was found"))
        status, out, _ = self.run_script("--canary")
        self.assertEqual((status, out.splitlines()[-1]), (1, "the canary was not found"))

    def test_wrong_words_are_told(self) -> None:
        for words in (("--only", "nothing"), ("--seconds", "0"), ("jetsam",)):
            self.assertEqual(self.run_script(*words)[0], 64)
