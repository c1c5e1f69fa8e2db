"""Builds the image of Containerfile, and runs Plimsoll in it as the file's first lines say.

    python Scripts/tests/check_container.py

Needs podman, or docker with a daemon, and the network. Exit status: 0 all held, 1 something did not, 71 no engine here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "plimsoll-check"
SCENARIO = "/opt/plimsoll/share/plimsoll/Scenarios/quickstart.yaml"


def engine() -> str | None:
    """The engine of this machine that works; docker's client alone does not."""
    for name in ("podman", "docker"):
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True).returncode == 0:
            return name
    return None


def tried(engine: str, folder: str) -> list[str]:
    """What did not hold."""
    build = [engine, "build", "--file", "Containerfile", "--tag", IMAGE, "."]
    if subprocess.run(build, cwd=ROOT).returncode:
        return ["the image cannot be built"]
    faults = []
    for words in (["--version"], ["doctor"], ["run", SCENARIO, "--quiet"], ["explain", "runs/quickstart"]):
        ran = [engine, "run", "--rm", "--volume", f"{folder}:/work", IMAGE, *words]
        if subprocess.run(ran).returncode:
            faults.append(f"plimsoll {' '.join(words)} fails in the container")
    if not Path(folder, "runs", "quickstart", "samples.csv").is_file():
        faults.append("the run is not in the folder outside")
    subprocess.run([engine, "rmi", "--force", IMAGE], stdout=subprocess.DEVNULL)
    return faults


def main() -> int:
    found = engine()
    if not found:
        print("check_container: neither podman nor docker works here", file=sys.stderr)
        return 71
    with tempfile.TemporaryDirectory(prefix="plimsoll-container.") as folder:
        faults = tried(found, folder)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
