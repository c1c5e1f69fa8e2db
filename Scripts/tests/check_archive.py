"""Tries an archive of Scripts/package where there is no Swift: in trees of other distributions, and on this machine.

    python Scripts/tests/check_archive.py ARCHIVE [--tree FOLDER]... [--quick] [--certificates FILE]

A tree is what `debootstrap --variant=minbase bookworm FOLDER` makes (jammy and noble with Ubuntu's mirror and
--components=main,universe); root alone can enter it. What the program itself promises is tried in the tree as it is: it
starts, runs scenarios to the same bytes everywhere, compares, explains, names what is misspelt, and its doctor finds
jemalloc. Then packages are installed into the tree (Python with venv, zsh, fish, man) and the rest is tried: completions in
each shell, manual pages, setup-python as the program advises it, plot, report, and a search of five trials. Without --tree
all of it is tried on this machine, with an empty environment and, where that is allowed, with the Swift toolchain out of
sight; what needs a program that is not installed here is skipped. --quick leaves out what needs packages. --certificates
names what pip should trust, where a proxy needs it (PIP_CERT, if that is set).

Prints a line for each trial with its seconds. Exit status: 0 all held, 1 some did not.
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import hashlib
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PACKAGES = ["python3", "python3-venv", "zsh", "fish", "man-db"]

USAGE = """timestamp,user,app,event
2026-11-23 08:00:00,ann,Chat,opened
2026-11-23 08:05:00,ann,Chat,closed
2026-11-23 08:05:01,ann,Maps,opened
2026-11-23 08:09:00,ann,Maps,closed
"""

LICENCES = {
    "ICU.txt", "LibYAML.txt", "Swift.txt", "Yams.txt", "jemalloc.txt", "lz4.txt", "swift-argument-parser.txt",
    "swift-collections.txt", "zlib.txt",
}  # fmt: skip
"""Of the code that is linked into the program."""

COMPLETED = {
    "plimsoll compa\t": "plimsoll compare",
    "plimsoll run --jets\t": "run --jetsam-events",
    "plimsoll run --backend acc\t": "--backend accounting",
    "plimsoll run da\t": "run day.yaml",
    "plimsoll explain evening-commute-a\t": "explain evening-commute-accounting",
    "plimsoll plot quickstart-j\t": "plot quickstart-jemalloc",
    "plimsoll run --policy lmkd-m\t": "--policy lmkd-minfree",
    "plimsoll explain quickstart-accounting --app wea\t": "--app weather",
    "plimsoll compare --metric terminations_perc\t": "--metric terminations_perceived",
    "plimsoll tune day.yaml --policy cheap\t": "--policy cheapest-relaunch",
    # More follows at once.
    "plimsoll run day.yaml --set device.ceil\t7": "--set device.ceiling=7",
}  # fmt: skip
"""What is typed, and what then stands on the command line: each sort of word that a shell completes."""

PACKAGED = """
import json
from importlib.metadata import distributions
print(json.dumps({one.metadata["Name"]: one.metadata["License-Expression"] or one.metadata["License"] or " ".join(
    line for line in one.metadata.get_all("Classifier", []) if line.startswith("License")) for one in distributions()}))
"""
"""Prints the licence of each Python package."""

ENTER = """
set -e
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" /usr/bin/env -i "$@"
"""
"""Enters a tree, in a mount namespace of its own."""

HIDE = """
set -e
mount -t tmpfs -o size=4k tmpfs "$1"; shift
exec /usr/bin/env -i "$@"
"""
"""Starts a command without a folder in sight."""


class Fault(Exception):
    """Something that an archive promises does not hold."""


class Place:
    """Where the archive is tried: a tree of another distribution, or this machine."""

    def __init__(self, tree: Path | None, certificates: Path | None) -> None:
        self.tree = tree
        self.certificates = certificates
        self.name = tree.name if tree else "here"
        self.hidden = None if tree else self.toolchain()
        self.outside = Path(tempfile.mkdtemp(prefix="plimsoll archive ", dir=(tree / "tmp") if tree else None))
        self.outside.chmod(0o755)

    @staticmethod
    def toolchain() -> Path | None:
        """The folder of the Swift toolchain if it can be hidden; a toolchain among the system's own files cannot be."""
        swift = shutil.which("swift")
        if swift is None:
            return None
        folder = Path(swift).resolve().parents[2]
        if folder == Path("/") or os.geteuid() != 0:
            print(f"here: skipped: the toolchain in {folder} stays in sight: machine: root alone can hide it")
            return None
        return folder

    @property
    def inside(self) -> Path:
        """The scratch folder, as commands see it."""
        return Path("/") / self.outside.relative_to(self.tree) if self.tree else self.outside

    @property
    def prefix(self) -> Path:
        return self.inside / "p"

    def command(self, words: Sequence[object]) -> list[str]:
        """The command, with nothing of this machine's environment."""
        environment = ["HOME=" + str(self.inside), "LANG=C.UTF-8", "TERM=xterm", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        if self.certificates:
            environment += [f"PIP_CERT={self.inside}/certificates"]
        inner = [*environment, "sh", "-c", 'cd "$1"; shift; exec "$@"', "sh", str(self.inside), *map(str, words)]
        unshare = ["unshare", "-m", "--propagation", "private", "bash", "-c"]
        if self.tree:
            return [*unshare, ENTER, "enter", str(self.tree), *inner]
        if self.hidden:
            return [*unshare, HIDE, "hide", str(self.hidden), *inner]
        return ["/usr/bin/env", "-i", *inner]

    def call(self, *words: object, status: int = 0) -> tuple[str, str]:
        """What the command prints on stdout and on stderr."""
        result = subprocess.run(self.command(words), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if result.returncode != status:
            said = " / ".join((result.stderr or result.stdout).strip().splitlines()[-4:])
            raise Fault(f"{Path(str(words[0])).name} {' '.join(map(str, words[1:4]))}: status {result.returncode}: {said}")
        return result.stdout, result.stderr

    def run(self, *words: object, status: int = 0) -> str:
        """What the command prints."""
        return self.call(*words, status=status)[0]

    def plimsoll(self, *words: object, status: int = 0) -> str:
        return self.run(self.prefix / "bin" / "plimsoll", *words, status=status)

    def complaint(self, *words: object, status: int) -> str:
        """What the program prints on stderr when it refuses."""
        return self.call(self.prefix / "bin" / "plimsoll", *words, status=status)[1]

    def has(self, *words: object) -> bool:
        """Whether a command is there and ends well."""
        try:
            self.call(*words)
        except Fault:
            return False
        return True

    def scenario(self, name: str) -> Path:
        return self.prefix / "share" / "plimsoll" / "Scenarios" / f"{name}.yaml"

    def typed(self, shell: Sequence[object], lines: Sequence[str], keys: str, wanted: str) -> None:
        """Types `keys` into a shell on a terminal, when it has done `lines`; it has to show what is wanted."""
        process, terminal = pty.fork()
        if process == 0:
            command = self.command(shell)
            os.execvp(command[0], command)
        try:
            # Wide enough that no line is broken.
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 250, 0, 0))
            converse(terminal, lines, keys, wanted)
        finally:
            os.close(terminal)
            os.kill(process, 9)
            os.waitpid(process, 0)

    def clear(self) -> None:
        shutil.rmtree(self.outside, ignore_errors=True)


def converse(terminal: int, lines: Sequence[str], keys: str, wanted: str) -> None:
    """Types the lines, waits for the end of each, types the keys, and waits for what is wanted."""
    for number, line in enumerate(lines):
        os.write(terminal, f"{line}; echo done''-{number}\n".encode())
        wait_for(terminal, f"done-{number}", 240)
    os.write(terminal, keys.encode())
    wait_for(terminal, wanted, 240)


def wait_for(terminal: int, wanted: str, seconds: float) -> None:
    """Waits until the terminal shows the text."""
    written, shown, deadline = b"", "", time.monotonic() + seconds
    while wanted not in shown:
        if time.monotonic() > deadline:
            raise Fault(f"a shell on a terminal does not come to '{wanted}': {shown[-300:]!r}")
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                written += os.read(terminal, 65536)
            except OSError as error:
                raise Fault(f"a shell on a terminal ended: {shown[-300:]!r}") from error
        # Without colours and cursor movements.
        shown = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[=>]|\][^\a]*\a)", "", written.decode("utf-8", "replace"))


class Trials:
    """Each trial prints a line; a fault does not keep the others from being tried."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.failed = 0
        self.digests: dict[str, str] = {}

    def trial(self, name: str, body: Callable[[], str | None]) -> None:
        start = time.monotonic()
        try:
            said = body() or ""
        except Fault as fault:
            self.failed += 1
            print(f"{self.place.name}: {name}: FAILED: {fault}", flush=True)
        else:
            print(f"{self.place.name}: {name}: {time.monotonic() - start:.2f} s {said}".rstrip(), flush=True)

    def digest(self, folder: str) -> str:
        """Of all tables of a run."""
        found = hashlib.sha256()
        tables = sorted((self.place.outside / folder).glob("*.csv"))
        if len(tables) < 6:
            raise Fault(f"{folder} has {len(tables)} tables")
        for table in tables:
            found.update(table.read_bytes())
        return found.hexdigest()[:16]

    # --- What the program promises ------------------------------------------------------------------------------------

    def starts(self) -> str:
        best = 9.0
        for _ in range(5):
            start = time.monotonic()
            version = self.place.plimsoll("--version").strip()
            best = min(best, time.monotonic() - start)
        # Entering the tree takes time, too.
        start = time.monotonic()
        self.place.run("true")
        return f"version {version}; {1000 * best:.0f} ms, of which {1000 * (time.monotonic() - start):.0f} ms to get there"

    def has_all_libraries(self) -> str:
        shown = self.place.run("ldd", self.place.prefix / "bin" / "plimsoll")
        needed = re.findall(r"^\s*(\S+) => (.*?) \(", shown, re.MULTILINE)
        if not needed or any("not found" in path for _, path in needed):
            raise Fault(f"libraries: {needed}")
        return " ".join(sorted(name for name, _ in needed))

    def runs(self, scenario: str, backend: str) -> str:
        name = f"{scenario}-{backend}"
        out = self.place.plimsoll("run", self.place.scenario(scenario), "--backend", backend, "--out", name)
        held = re.search(r"expectations\s+(\d+) of (\d+) held", out)
        if not held or held[1] != held[2]:
            raise Fault(out)
        self.digests[name] = self.digest(name)
        return f"{held[0]}; tables {self.digests[name]}"

    def doctor(self) -> str:
        found = re.search(r"jemalloc\s+(5\.3\.0\S*)", self.place.plimsoll("doctor", self.place.scenario("quickstart")))
        if not found:
            raise Fault("no jemalloc 5.3.0")
        return found[0]

    def compares(self) -> None:
        self.place.plimsoll(
            "compare", self.place.scenario("quickstart"), "--policy", "ladder", "--policy", "lru", "--seeds", "1..2",
            "--backend", "accounting", "--quiet", "--out", "compared",
        )  # fmt: skip

    def imports(self) -> None:
        """Dates need a calendar, and a minimal system has no table of time zones."""
        (self.place.outside / "usage.csv").write_text(USAGE, "utf-8")
        self.place.plimsoll("import", "app-usage", "usage.csv", "--out", "day.yaml")
        self.place.plimsoll("validate", "day.yaml")

    def refuses_bad_options(self) -> None:
        """The library reads its options before anything else, as it does when it is a library."""
        self.place.run("env", "MALLOC_CONF=abort_conf:true,nonsense:1", self.place.prefix / "bin/plimsoll", "doctor", status=71)

    def has_licences(self) -> str:
        """Of everything that is linked into the program, and of the program."""
        folder = self.place.outside / "p/share/doc/plimsoll"
        texts = [folder / "LICENSE", *(folder / "licences").iterdir()]
        if {path.name for path in texts} != {"LICENSE", *LICENCES} or any(path.stat().st_size < 1000 for path in texts):
            raise Fault(f"licences: {[(path.name, path.stat().st_size) for path in texts]}")
        return f"{len(texts)} texts"

    def suggests(self) -> str:
        """What is near a misspelt command and a misspelt option."""
        for words, wanted in ((["rn"], "did you mean 'run'?"), (["run", "--sed", "1"], "--seed"), (["swep"], "'sweep'")):
            said = self.place.complaint(*words, status=64)
            if wanted not in said:
                raise Fault(said)
        return "run, --seed, sweep"

    def advice(self, name: str) -> str:
        """What the program says has to be typed before `plimsoll NAME` works."""
        found = re.fullmatch(
            rf"plimsoll: {name} needs Python packages that are not installed; install them with: ([^\n]+)\n",
            self.place.complaint(name, "quickstart-jemalloc", status=71),
        )
        if not found or f"{self.place.prefix}/lib/plimsoll/setup-python" not in found[1]:
            raise Fault(self.place.complaint(name, "quickstart-jemalloc", status=71))
        return found[1]

    def says_what_to_install(self) -> str:
        return ", ".join(self.advice(name).rpartition("/")[2] for name in ("plot", "report", "tune"))

    def program(self) -> None:
        self.trial("licences", self.has_licences)
        self.trial("starts", self.starts)
        self.trial("libraries", self.has_all_libraries)
        for backend in ("jemalloc", "accounting"):
            for scenario in ("quickstart", "evening-commute"):
                self.trial(f"run {scenario}, {backend}", lambda s=scenario, b=backend: self.runs(s, b))  # type: ignore[misc]
        self.trial("doctor", self.doctor)
        self.trial("MALLOC_CONF", self.refuses_bad_options)
        self.trial("compare", self.compares)
        self.trial("import", self.imports)
        self.trial("explain", lambda: self.place.plimsoll("explain", "evening-commute-accounting").split("\n")[0])
        self.trial("misspelt words", self.suggests)
        self.trial("without the Python part", self.says_what_to_install)

    # --- What needs packages ------------------------------------------------------------------------------------------

    def installs(self) -> None:
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        self.place.run(*apt, "update")
        self.place.run(*apt, "install", "-y", "--no-install-recommends", *PACKAGES)

    def completes(self, shell: Sequence[object], lines: Sequence[str]) -> str:
        """On a terminal, in the folder with the runs and the scenario that the trials before have made."""
        path = f"export PATH='{self.place.prefix}/bin':$PATH"
        for keys, wanted in COMPLETED.items():
            self.place.typed(shell, [path, *lines], keys, wanted)
        return f"{len(COMPLETED)} words"

    def has_manual_pages(self) -> str:
        man = self.place.prefix / "share" / "man"
        pages = sorted(path.stem for path in (self.place.outside / "p/share/man/man1").iterdir())
        for page in pages:
            text, said = self.place.call("env", "MANPAGER=cat", "MANWIDTH=80", "man", "--warnings", "-M", man, page)
            if "NAME" not in text or "SYNOPSIS" not in text or "warning" in said:
                raise Fault(f"{page}: {said[:200]}{text[:200]}")
        return f"{len(pages)} pages"

    def sets_python_up(self) -> str:
        """With the line that the program advises, copied into a shell."""
        self.place.run("sh", "-c", self.advice("tune"))
        size = sum(path.stat().st_size for path in (self.place.outside / "p/lib").rglob("*") if path.is_file())
        return f"{size / 1e6:.0f} MB"

    def packages_have_licences(self) -> str:
        found = json.loads(self.place.run(self.place.prefix / "lib/plimsoll/venv/bin/python", "-I", "-c", PACKAGED))
        nameless = [name for name, licence in found.items() if not licence]
        if nameless:
            raise Fault(f"no licence is named by {', '.join(nameless)}")
        return ", ".join(f"{name}: {licence.splitlines()[0][:40]}" for name, licence in sorted(found.items()))

    def plots(self) -> str:
        self.place.plimsoll("plot", "quickstart-jemalloc")
        pictures = list((self.place.outside / "quickstart-jemalloc" / "plots").iterdir())
        if not pictures:
            raise Fault("no pictures")
        return f"{len(pictures)} pictures"

    def reports(self) -> str:
        self.place.plimsoll("report", "quickstart-jemalloc")
        return f"{(self.place.outside / 'quickstart-jemalloc' / 'report.html').stat().st_size} bytes"

    def tunes(self) -> str:
        self.place.plimsoll(
            "tune", "--scenarios", self.place.scenario("quickstart"), "--held-out", self.place.scenario("burst"),
            "--policy", "ladder", "--trials", 5, "--seeds", "1..2", "--held-out-seeds", "101..105", "--out", "tuned",
        )  # fmt: skip
        return " ".join(sorted(path.name for path in (self.place.outside / "tuned").iterdir()))

    def trial_with(self, command: Sequence[object], name: str, body: Callable[[], str | None]) -> None:
        """A trial that needs another program; it is skipped on a machine without it."""
        if self.place.tree or self.place.has(*command):
            self.trial(name, body)
        else:
            print(f"{self.place.name}: skipped: {name}: {command[0]} is not installed, or not whole", flush=True)

    def rest(self) -> None:
        share = self.place.prefix / "share"
        if self.place.tree:
            self.trial("packages", self.installs)
        shells: list[tuple[str, list[object], list[str]]] = [
            ("bash", ["bash", "--norc", "-i"], [f". '{share}/bash-completion/completions/plimsoll'"]),
            ("zsh", ["zsh", "-f", "-i"], [f"fpath=('{share}/zsh/site-functions' $fpath)", "autoload -U compinit; compinit -u"]),
            ("fish", ["fish", "--no-config", "-i"], [f"source '{share}/fish/vendor_completions.d/plimsoll.fish'"]),
        ]
        for name, shell, lines in shells:
            completes = functools.partial(self.completes, shell, lines)
            self.trial_with([name, "--version"], f"completions in {name}", completes)
        self.trial_with(["man", "--version"], "manual pages", self.has_manual_pages)
        python = ["python3", "-c", "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))"]
        for name, body in {
            "setup-python": self.sets_python_up, "licences of Python packages": self.packages_have_licences,
            "plot": self.plots, "report": self.reports, "tune, five trials": self.tunes,
        }.items():  # fmt: skip
            self.trial_with(python, name, body)


def tried(archive: Path, tree: Path | None, quick: bool, certificates: Path | None) -> Trials:
    """The archive, unpacked and tried in one place."""
    place = Place(tree, certificates)
    try:
        subprocess.run(["tar", "-C", str(place.outside), "-xf", str(archive)], check=True)
        (unpacked,) = place.outside.iterdir()
        unpacked.rename(place.outside / "p")
        if certificates:
            shutil.copy(certificates, place.outside / "certificates")
        trials = Trials(place)
        trials.program()
        if not quick:
            trials.rest()
        return trials
    finally:
        place.clear()


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries an archive of Scripts/package.")
    parser.add_argument("archive", type=Path)
    parser.add_argument("--tree", type=Path, action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--certificates", type=Path, default=os.environ.get("PIP_CERT"))
    options = parser.parse_args()
    print(f"{options.archive.name}: {options.archive.stat().st_size / 1e6:.1f} MB")
    places = options.tree or [None]
    found = [tried(options.archive, tree, options.quick, options.certificates) for tree in places]
    failed = sum(trials.failed for trials in found)
    if any(trials.digests != found[0].digests for trials in found):
        failed += 1
        print("the tables differ from one place to another")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
