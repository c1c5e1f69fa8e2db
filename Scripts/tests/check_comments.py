"""Whether the figures in the comments of scenarios are those of their runs.

Usage: check_comments.py PLIMSOLL FOLDER; the folder is made, and holds the runs. Ends with 1 where a comment is wrong.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[2] / "Scenarios"
SEEDS = 8


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Runs:
    def __init__(self, plimsoll: str, folder: Path) -> None:
        self.plimsoll = plimsoll
        self.folder = folder

    def call(self, *arguments: object) -> None:
        subprocess.run([self.plimsoll, *map(str, arguments), "--backend", "accounting", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip

    def one(self, scenario: str, table: str) -> list[dict[str, str]]:
        """A table of the scenario's run with its own seed."""
        out = self.folder / scenario
        if not out.exists():
            self.call("run", SCENARIOS / f"{scenario}.yaml", "--out", out)
        return rows(out / f"{table}.csv")

    def seeds(self, scenario: str, *policies: str) -> dict[str, list[dict[str, str]]]:
        """The summaries of seeds 1 to 8 by policy."""
        out = self.folder / f"{scenario}-seeds"
        named = [word for policy in policies for word in ("--policy", policy)]
        self.call("compare", SCENARIOS / f"{scenario}.yaml", *named, "--seeds", f"1..{SEEDS}", "--out", out)
        table = rows(out / "runs.csv")
        return {policy: [row for row in table if row["policy_label"] == policy] for policy in policies}


def total(summaries: list[dict[str, str]], *metrics: str) -> float:
    return sum(float(row[metric]) for row in summaries for metric in metrics)


LAUNCHES = ("launches_hot", "launches_warm", "launches_cold")


def falls(table: list[dict[str, str]], column: str = "active_bytes") -> list[float]:
    """When what is in use has fallen by more than 32 MiB since the sample before."""
    pairs = zip(table, table[1:])
    return [float(b["time_s"]) for a, b in pairs if int(a[column]) - int(b[column]) > 32 << 20]


def claims(runs: Runs) -> dict[str, bool]:
    """What the comments say, and whether it is so."""
    phone = runs.seeds("training/small-phone", "ladder", "jetsam")
    errands = runs.seeds("training/errands", "ladder")["ladder"]
    photographer = runs.seeds("training/photographer", "ladder", "jetsam", "none")

    def launches_to_an_end(policy: str) -> int:
        return round(total(phone[policy], *LAUNCHES) / total(phone[policy], "terminations"))

    def mean(policy: str, metric: str) -> float:
        return total(photographer[policy], metric) / SEEDS

    quick = runs.one("quickstart", "events")
    first = next(row for row in quick if row["event"] == "warning")
    shop = {row["event"]: float(row["time_s"]) for row in quick if row["app"] == "shop"}
    burst = runs.one("burst", "apps")
    climbs = [float(a["time_s"]) for a, b in zip(burst, burst[1:])
              if int(b["active_bytes"]) - int(a["active_bytes"]) > 8 << 20]
    frame = next(float(row["time_s"]) for row in runs.one("burst", "events") if row["event"] == "first_frame")
    greedy = runs.one("one-greedy-neighbour", "events")
    fall = next(row for row in greedy if row["event"] == "exit")
    levels = [row for row in greedy if row["event"] == "pressure_level"]
    critical = next(float(row["time_s"]) for row in levels if row["level"] == "critical")
    leak = next(float(row["time_s"]) for row in runs.one("leak", "events") if row["event"] == "exit")
    ends = [row["app"] for row in quick if row["event"] == "exit"]
    taken = {row["action"] for row in quick if row["event"] == "action" and row["app"] == "music"}
    told = {row["app"] for row in runs.one("life-cycle-4-duties", "events") if row["event"] == "warning"}
    drawn = sorted(float(row["declared_ms"]) for row in runs.one("spread-of-launches", "launches") if row["app"] == "chat")
    evening = [row for row in runs.one("evening-on-iphone", "events") if row["event"] == "exit"]
    reaped = [(row["app"], int(float(row["time_s"]))) for row in evening if row["cause"] == "long-idle-exit"]
    taps = runs.one("evening-on-iphone", "launches")
    returns = [float(row["latency_ms"]) for row in taps
               if row["kind"] == "cold" and float(row["tapped_s"]) > dict(reaped).get(row["app"], 1800)]
    frames = runs.one("evening-on-iphone", "pages")
    held = max(int(row["resident_bytes"]) + int(row["compressed_bytes"]) for row in frames)
    room = max(int(row["resident_bytes"]) + int(row["pool_bytes"]) + int(row["free_bytes"])
               + int(row["file_backed_bytes"]) for row in frames)
    near = {row["app"] for row in runs.one("evening-on-iphone", "events") if row["event"] == "warning"}
    front = [row for row in runs.one("headline", "terminations")]
    lost = [(row["app"], row["cause"], int(float(row["time_s"]))) for row in front]
    windows = [float(row["time_s"]) for row in runs.one("headline", "events")
               if row["event"] == "scene_state" and row["state"] == "unattached" and row["reason"] == "disconnect"]
    warm = [row["app"] for row in runs.one("headline", "launches") if (row["kind"], row["resumed_from"]) == ("warm", "frozen")]
    night = [row for row in runs.one("frozen-night", "launches") if row["resumed_from"] == "frozen"]
    people = {row["seed"]: row["terminations"] for row in runs.seeds("seeded-commuter", "ladder")["ladder"]}
    return {
        "one-greedy-neighbour: critical at 25.7 s, and reader is ended then, by the policy":
            (critical, float(fall["time_s"]), fall["app"], fall["exit_reason"]) == (25.7, 25.7, "reader", "memoryPressure"),
        "leak: ends after 41 s": round(leak) == 41,
        "quickstart: music gives its scene and its unused pages, and weather is ended":
            ends == ["weather"] and taken == {"disconnect_scene", "purge"},
        "headline: the editor because memory is critical, one at its own limit, one that is too many":
            lost == [("editor", "jettisoned", 511), ("chat-notify", "per-process-limit", 553), ("game", "jettisoned", 630)]
            and [row["demand"] for row in front] == ["pressure", "", "background_processes"],
        "headline: six scenes go within a second at 4 min 52 s, and nobody ends before 8 min":
            sum(292 < at < 293.1 for at in windows) == 6 and float(front[0]["time_s"]) > 480,
        "headline: the user wants the editor at 10 min 30 s, and five apps come back from flash, warm":
            warm == ["chat", "mail", "browser", "feed", "weather"] and float(front[0]["wanted_after_s"]) < 120,
        "evening-on-iphone: the reaper ends weather, mail, feed, web-content and browser for photos, within 200 ms":
            reaped == [(app, 1022) for app in ("weather", "mail", "feed", "web-content", "browser")]
            and [row["app"] for row in evening if row["exit_reason"] == "memoryResourceLimit"] == ["chat-notify"]
            and ("photos", "1000") in {(row["app"], row["tapped_s"]) for row in taps},
        "evening-on-iphone: the four returns wait 1.3 to 1.5 s":
            len(returns) == 4 and min(returns) >= 1250 and max(returns) < 1550,
        "evening-on-iphone: footprints are 1.5 times the RAM for apps": 1.45 <= held / room < 1.6,
        "evening-on-iphone: no app is told to free memory": near == {"keyboard", "chat-notify"},
        "frozen-night: eight come back from flash within 0.2 s, and nobody ends":
            [row["kind"] for row in night] == ["hot"] * 8 and max(float(row["latency_ms"]) for row in night) < 200
            and not runs.one("frozen-night", "terminations"),
        "life-cycle-4-duties: observant and careless are told, who is suspended is not":
            told == {"observant", "careless", "tide"},
        "seeded-commuter: 3 ends with seed 1, 28 with seed 6": (people["1"], people["6"]) == ("3", "28"),
        "small-phone: one launch in eight under the ladder": launches_to_an_end("ladder") == 8,
        "small-phone: one in five under jetsam": launches_to_an_end("jetsam") == 5,
        "small-phone: seed 1 has no end": total(phone["ladder"][:1], "terminations") == 0,
        "errands: every 45 s": 42.5 <= SEEDS * 1200 / total(errands, *LAUNCHES) <= 47.5,
        "errands: seed 1 has 10 launches and no end":
            (total(errands[:1], *LAUNCHES), total(errands[:1], "terminations")) == (10, 0),
        "photographer: some twenty seconds of waiting without a reserve": 15 <= mean("none", "stall_time_s") <= 25,
        "photographer: next to nothing under the ladder": mean("ladder", "stall_time_s") < 0.1,
        "photographer: one or two ends under the ladder": 1 <= mean("ladder", "terminations") <= 2,
        "photographer: eight or nine under jetsam": 8 <= mean("jetsam", "terminations") <= 9,
        "quickstart: the first warning is at 35 s, while shop is launched":
            int(float(first["time_s"])) == 35 and shop["launch"] < float(first["time_s"]) < shop["first_frame"],
        "saw-tooth: five falls": falls(runs.one("saw-tooth", "apps")) == [11.5, 21.5, 31.5, 41.5, 51.5],
        "spread-of-launches: p90 is 1.57 times the median, as far as fifty draws show": 1.28 < drawn[44] / drawn[24] < 1.92,
        "burst: climbs at 11.5 s and 31.5 s": [time for time in climbs[1:] if time in (11.5, 31.5)] == [11.5, 31.5],
        "burst: which is 10 s after the first frame": abs(frame + 10 - 11.5) < 0.1,
        "burst: held for 6 s and 12 s": falls(burst) == [18.0, 44.0],
        "burst: plateaus of 7 s and 13 s": falls(burst, "footprint_bytes") == [19.0, 45.0],
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    found = claims(Runs(arguments[0], Path(arguments[1])))
    for claim, holds in found.items():
        print(f"{'holds' if holds else 'IS WRONG'}: {claim}")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
