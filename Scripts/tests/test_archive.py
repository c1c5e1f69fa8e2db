"""The archive that Scripts/package makes, from a small program in place of Plimsoll's; and the manual pages in it.

check_archive.py runs a whole archive in other distributions.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path
from unittest import mock

from harness import SCRIPTS, FolderCase

import plimsoll_tools
from plimsoll_tools import checkout

VERSION = plimsoll_tools.__version__
MACHINE = os.uname().machine
NAME = f"plimsoll-{VERSION}-linux-{MACHINE}"

HELP = {
    "serializationVersion": 0,
    "command": {
        "commandName": "plimsoll",
        "abstract": "Shows what a policy does.",
        "discussion": "Text - with a dash.\n\nEXAMPLES\n  plimsoll run a.yaml \\\n    --set 'expect=[]'\n\nEXIT STATUS\n  0   done",
        "subcommands": [
            {
                "commandName": "run",
                "abstract": "Runs it.",
                "arguments": [
                    {"kind": "positional", "valueName": "scenario", "isOptional": False, "isRepeating": False,
                     "abstract": ".yaml or - for standard input."},
                    {"kind": "option", "valueName": "format", "isOptional": True, "isRepeating": False,
                     "names": [{"kind": "long", "name": "format"}, {"kind": "short", "name": "f"}],
                     "abstract": "How.", "allValues": ["text", "json"], "defaultValue": "text"},
                    {"kind": "flag", "isOptional": True, "isRepeating": False, "shouldDisplay": False,
                     "names": [{"kind": "long", "name": "secret"}]},
                ],
            },
            {"commandName": "build-id", "shouldDisplay": False},
            {"commandName": "help"},
        ],
    },
}  # fmt: skip

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
void *malloc(size_t size) { return __libc_malloc(size); }
void free(void *object) { __libc_free(object); }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void *realloc(void *object, size_t size) { return NULL; }
void *memalign(size_t alignment, size_t size) { return NULL; }
size_t MALLOC_LAST(void *object) { return 0; }
int main(int count, char **words) {
    const char *first = count > 1 ? words[1] : "";
    if (strcmp(first, "--version") == 0) puts(VERSION);
    else if (strcmp(first, "completions") == 0) printf("# completions for %s\nset -ql \"_flag_$(string trim $name)\"\n", words[2]);
    else if (strcmp(first, "--experimental-dump-help") == 0) puts(HELP);
    else return 64;
    return 0;
}
"""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Packing(FolderCase):
    def package(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """Calls Scripts/package in the test's folder, without a terminal."""
        return subprocess.run(
            [str(SCRIPTS / "package"), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.directory,
            stdin=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", **environment},
        )  # fmt: skip

    def compiled(self, *words: str, version: str = VERSION, whole: bool = True) -> Path:
        """A small program that answers what the packing asks, with an allocator of its own: whole, or not."""
        compiler = shutil.which("cc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("no C compiler (Scripts/setup.sh bench)")
        source, program = self.directory / "fake.c", self.directory / "fake"
        source.write_text(PROGRAM, "utf-8")
        last = "malloc_usable_size" if whole else "malloc_of_another_name"
        macros = [f"-DMALLOC_LAST={last}", f"-DVERSION={json.dumps(version)}", f"-DHELP={json.dumps(json.dumps(HELP))}"]
        subprocess.run([compiler, *macros, "-rdynamic", "-o", str(program), str(source), *words], check=True)
        return program

    def refused(self, status: int, message: str, *arguments: object, **environment: str) -> None:
        """One line, a status, and nothing left."""
        result = self.package("--out", "out", *arguments, **environment)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertIn(message, result.stderr.splitlines()[-1])
        self.assertEqual(list((self.directory / "out").iterdir()), [])

    def test_the_archive_holds_everything_in_one_folder_and_in_order(self) -> None:
        program = self.compiled()
        result = self.package("--program", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        path = self.directory / f"{NAME}.tar.gz"
        self.assertEqual(result.stdout, f"{path}\n")
        with tarfile.open(path) as archive:
            members = archive.getmembers()
            names = [member.name for member in members]
            fish = archive.extractfile(f"{NAME}/share/fish/vendor_completions.d/plimsoll.fish")
            assert fish
            # Ubuntu 22.04 has fish 3.3, which does not know "$(…)".
            self.assertEqual(
                fish.read(), b"# completions for fish\nset -ql _flag_(string trim $name | string collect)\n"
            )
            licences = {Path(name).name for name in names if "/licences/" in name}
            runnable = {member.name for member in members if member.isfile() and member.mode & 0o111}
            page = archive.extractfile(f"{NAME}/share/man/man1/plimsoll-run.1")
            assert page
            self.assertIn(f'2023-11-14 "plimsoll {VERSION}"', page.read().decode())
        self.assertEqual(names, sorted(names, key=lambda name: name.split("/")))
        self.assertEqual({name.split("/")[0] for name in names}, {NAME})
        self.assertEqual({(member.uid, member.gid, member.mtime) for member in members}, {(0, 0, 1700000000)})
        self.assertEqual({member.mode for member in members} - {0o755, 0o644}, set())
        for wanted in (
            "bin/plimsoll", "lib/plimsoll/setup-python", "share/plimsoll/Scenarios/quickstart.yaml",
            "share/plimsoll/Scenarios/policies/oomd-default.yaml", "share/plimsoll/python/pyproject.toml",
            "share/plimsoll/python/constraints.txt", "share/plimsoll/python/plimsoll_tools/reporting/page.js",
            "share/man/man1/plimsoll.1", "share/bash-completion/completions/plimsoll", "share/zsh/site-functions/_plimsoll",
            "share/fish/vendor_completions.d/plimsoll.fish", "share/doc/plimsoll/README.md", "share/doc/plimsoll/LICENSE",
            "share/doc/plimsoll/CHANGELOG.md",
        ):  # fmt: skip
            self.assertIn(f"{NAME}/{wanted}", names)
        self.assertEqual(licences, {"ICU.txt", "LibYAML.txt", "Swift.txt", "Yams.txt", "jemalloc.txt", "lz4.txt",
                                    "swift-argument-parser.txt", "swift-collections.txt", "zlib.txt"})  # fmt: skip
        self.assertLessEqual({f"{NAME}/bin/plimsoll", f"{NAME}/lib/plimsoll/setup-python"}, runnable)
        self.assertEqual([name for name in names if "__pycache__" in name or "/Invalid" in name], [])

    def test_the_same_program_gives_the_same_bytes_under_any_umask(self) -> None:
        program = self.compiled()
        digests = set()
        for number, mask in enumerate((0o022, 0o077)):
            out = self.directory / f"out-{number}"
            before = os.umask(mask)
            try:
                self.assertEqual(self.package("--program", program, "--out", out).returncode, 0)
            finally:
                os.umask(before)
            digests.add(digest(out / f"{NAME}.tar.gz"))
        self.assertEqual(len(digests), 1)

    def test_an_archive_is_replaced_only_by_force(self) -> None:
        program = self.compiled()
        path = self.directory / f"{NAME}.tar.gz"
        path.write_text("mine", "utf-8")
        result = self.package("--program", program)
        self.assertEqual(result.returncode, 73)
        self.assertIn("--force replaces it", result.stderr)
        self.assertEqual(path.read_text("utf-8"), "mine")
        self.assertEqual(self.package("--program", program, "--force").returncode, 0)
        self.assertTrue(gzip.decompress(path.read_bytes()))
        self.assertEqual([file.name for file in self.directory.iterdir() if file.name.startswith(".")], [])

    def test_what_does_not_run_elsewhere_is_refused(self) -> None:
        (self.directory / "out").mkdir()
        self.refused(70, "needs libz.so.1; it should be linked in", "--program", self.compiled("-Wl,--no-as-needed", "-l:libz.so.1"))
        self.refused(70, "has no malloc_usable_size of its own", "--program", self.compiled(whole=False))
        self.refused(70, "has the version 9.9.9, and", "--program", self.compiled(version="9.9.9"))
        self.refused(70, "has the version 'many'", "--program", self.compiled(version="many"))
        self.refused(70, "is no ELF program", "--program", self.program("exit 0\n", "script"))
        self.refused(66, "no program", "--program", self.directory / "none")
        self.refused(64, "SOURCE_DATE_EPOCH must be", "--program", self.compiled(), SOURCE_DATE_EPOCH="today")

    def test_wrong_usage_is_64_and_help_is_not(self) -> None:
        for words in (["--nonsense"], ["--out"], ["--program", ""], ["more"]):
            self.assertEqual(self.package(*words).returncode, 64, words)
        result = self.package("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Usage: Scripts/package", result.stdout)
        (self.directory / "file").write_text("", "utf-8")
        self.assertEqual(self.package("--out", "file").returncode, 73)


class Manual(FolderCase):
    def written(self, text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-m", "plimsoll_tools.manual", "--version", "1.2.3", "--date", "2026-11-23", "man"],
            input=text, capture_output=True, text=True, check=False, cwd=self.directory,
        )  # fmt: skip

    def rendered(self, name: str) -> str:
        """A page as `man` shows it, without a warning."""
        tool = shutil.which("man")
        if tool is None:
            self.skipTest("man is not installed")
        result = subprocess.run(
            [tool, "--warnings", "-E", "UTF-8", "-l", str(self.directory / "man" / name)], capture_output=True, text=True,
            check=True, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": ""},
        )  # fmt: skip
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_each_command_that_the_help_shows_has_a_page(self) -> None:
        self.assertEqual(self.written(json.dumps(HELP)).returncode, 0)
        self.assertEqual({path.name for path in (self.directory / "man").iterdir()}, {"plimsoll.1", "plimsoll-run.1"})

    def test_a_page_shows_examples_as_they_are_typed(self) -> None:
        self.written(json.dumps(HELP))
        page = self.rendered("plimsoll.1")
        self.assertIn("plimsoll run a.yaml \\\n             --set 'expect=[]'\n", page)
        self.assertIn("EXIT STATUS\n", page)
        self.assertIn("plimsoll-run(1)", page)

    def test_a_page_shows_options_with_their_values_and_default_and_no_hidden_ones(self) -> None:
        self.written(json.dumps(HELP))
        page = self.rendered("plimsoll-run.1")
        self.assertIn("-f <format>, --format <format>\n              How. (values: text, json; default: text)", page)
        self.assertIn("       .yaml or - for standard input.\n", page)
        self.assertNotIn("secret", page)

    def test_a_page_needs_no_roff_that_reads_utf_8(self) -> None:
        other = json.loads(json.dumps(HELP))
        other["command"]["abstract"] = "Says … of 16 → 🜁 \\[u2026] -- é."
        self.written(json.dumps(other))
        self.assertTrue((self.directory / "man" / "plimsoll.1").read_bytes().isascii())
        self.assertIn("Says … of 16 → 🜁 \\[u2026] -- é", self.rendered("plimsoll.1"))

    def test_what_is_no_help_is_65(self) -> None:
        for text in ("", "[]", '{"command": {}}', '{"command": {"commandName": 3}}'):
            self.assertEqual(self.written(text).returncode, 65, text)
            self.assertFalse((self.directory / "man").exists())


class Installed(unittest.TestCase):
    def test_the_environment_of_an_archive_finds_the_program_beside_it(self) -> None:
        with mock.patch.object(checkout, "ROOT", Path("/nowhere")), mock.patch.object(sys, "prefix", "/opt/p/lib/plimsoll/venv"):
            self.assertEqual(checkout.program(), Path("/opt/p/bin/plimsoll"))


class SetupPython(FolderCase):
    def call_setup(self, *words: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
        """The archive's setup-python, in a folder laid out as an archive."""
        folder = self.directory / "lib" / "plimsoll"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(SCRIPTS / "archive" / "setup-python", folder)
        return subprocess.run(
            [str(folder / "setup-python"), *words], capture_output=True, text=True, check=False, cwd="/",
            env={"PATH": path, "HOME": str(self.directory)},
        )  # fmt: skip

    def test_faults_are_one_line_and_leave_no_environment(self) -> None:
        self.assertEqual(self.call_setup("--help").returncode, 0)
        for words in (("nonsense",), ("plot", "tune"), ("",)):
            self.assertEqual(self.call_setup(*words).returncode, 64, words)
        result = self.call_setup()
        self.assertEqual(result.returncode, 71)
        self.assertRegex(result.stderr, r"^setup-python: no share/plimsoll/python beside [^\n]+; unpack the archive again\n$")
        (self.directory / "share" / "plimsoll" / "python").mkdir(parents=True)
        result = self.call_setup()
        self.assertEqual(result.returncode, 71)
        self.assertIn("setup-python: pip could not install the Python packages", result.stderr)
        self.assertFalse((self.directory / "lib" / "plimsoll" / "venv").exists())


if __name__ == "__main__":
    unittest.main()
