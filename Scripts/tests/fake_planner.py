"""A stand-in for the program's two sides of a spread experiment: `sweep … --hand-out R,W --runs N` and `cases`.

A run's result is the square of its number. In the folder FAKE_PLANNER, a file `crash-I` or `fail-I` makes run I end its
worker, or end with status 65, as often as the file has bytes; `ran` gets a line for every run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

NOTES = Path(os.environ["FAKE_PLANNER"])


def is_cursed(kind: str, index: int) -> bool:
    path = NOTES / f"{kind}-{index}"
    left = path.read_bytes() if path.exists() else b""
    if left:
        path.write_bytes(left[1:])
    return bool(left)


def cases() -> int:
    for line in sys.stdin.read().splitlines():
        index = json.loads(line)["index"]
        with (NOTES / "ran").open("a") as file:
            file.write(f"{index}\n")
        if is_cursed("crash", index):
            return 9
        status = 65 if is_cursed("fail", index) else 0
        found = {"index": index, "status": status, "output": f"{index * index}", "errors": "cursed" if status else "",
                 "cpu_seconds": 0.01, "peak_kibibytes": 100}  # fmt: skip
        print(json.dumps(found), flush=True)
    return 0


def sweep(words: list[str]) -> int:
    reading, writing = map(int, words[words.index("--hand-out") + 1].split(","))
    runs, out = int(words[words.index("--runs") + 1]), Path(words[words.index("--out") + 1])
    answers, requests = os.fdopen(reading, "rb"), os.fdopen(writing, "w")
    files = [{"source": str(NOTES / "scenario.yaml"), "place": "files/scenario.yaml"}]
    head = {"plan": "0123456789abcdef", "runs": runs, "program": os.environ["PLIMSOLL"], "build": "b" * 64, "needed_bytes": 1,
            "files": files}  # fmt: skip
    print(json.dumps(head), file=requests, flush=True)
    rows: dict[int, str] = {}
    failed, most, handed = 0, 0, 0
    while len(rows) + failed < runs:
        line = answers.readline()
        if not line:
            return 71
        found = json.loads(line)
        if "want" in found:
            for index in range(handed, handed + found["want"]):
                print(json.dumps({"index": index, "arguments": ["--seed", str(index)]}), file=requests)
            handed += found["want"]
            requests.flush()
        elif found["status"]:
            failed += 1
            print(f"case {found['index']}: {found['status']}: {found['errors']}", file=sys.stderr)
        else:
            rows[found["index"]] = found["output"]
        most = max(most, handed - len(rows) - failed)
    out.mkdir(exist_ok=True)
    (out / "sweep.csv").write_text("".join(f"{index},{rows.get(index)}\n" for index in range(runs)))
    (NOTES / "most").write_text(f"{most}")
    return 65 if failed else 0


if __name__ == "__main__":
    sys.exit(cases() if sys.argv[1] == "cases" else sweep(sys.argv[1:]))
