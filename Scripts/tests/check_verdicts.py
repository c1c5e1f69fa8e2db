"""Asks the program and its JSON Schema about the same small scenarios: what one accepts the other must accept, too.

    python Scripts/tests/check_verdicts.py PLIMSOLL
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from jsonschema.validators import validator_for

LEAST = {"plimsoll": "1", "name": "q", "duration": "5s", "device": "{ ceiling: 512MiB }", "apps": "[{ name: a }]"}

RULE = "{ name: ladder, rules: [{ name: a, %s }] }"

CASES = (
    # A section whose lines are all commented out.
    *((key, "") for key in ("device", "monitor", "policy", "limits", "apps", "user", "expect", "metrics", "seed", "description")),
    *(("apps", "[{ name: a, %s: }]" % key) for key in (
        "like", "scenes", "background_modes", "memory", "costs", "background", "warnings", "disconnect", "limits", "features",
        "deferred", "observers", "cpu", "spread")),
    *(("device", "{ ceiling: 512MiB, cores: %s }" % cores) for cores in (
        "", "0", "3", "{}", "{ performance: 2, efficiency: 4 }", "{ priorities: maybe }",
        "{ further: [{ count: 1 }] }", "{ further: [{ count: 1, speed: 20% }] }", "[2]")),
    *(("apps", "[{ name: a, memory: { %s: } }]" % key) for key in ("base", "cache", "growth", "bursts", "objects", "trace")),
    ("monitor", "{ warning: }"), ("apps", "[]"), ("policy", "{ name: lru, parameters: }"),
    # A key that does not exist.
    ("nonsense", "1"), ("device", "{ ceiling: 512MiB, nonsense: 1 }"), ("apps", "[{ name: a, nonsense: 1 }]"),
    # Quoted, and written in other ways.
    ("plimsoll", '"1"'), ("plimsoll", "2"), ("seed", '"5"'), ("seed", '"five"'), ("seed", "5.5"), ("seed", "-1"),
    ("device", '{ ceiling: 512MiB, cores: "2" }'), ("device", "{ ceiling: 512MiB, cores: 2.5 }"),
    ("device", '{ ceiling: 512MiB, cores: "" }'), ("limits", '{ protect_audible: "true" }'),
    ("limits", "{ protect_audible: 1 }"), ("description", "2026"), ("description", "true"), ("name", "2026"),
    # Names that YAML takes for flags; "on" is one for this reader of YAML, and not for the program's.
    ("name", "true"), ("apps", "[{ name: on }]"), ("apps", "[{ name: false }]\nuser: [{ at: 0s, launch: false }]"),
    ("limits", '{ background_processes: "3", background_memory: none }'), ("limits", "{ background_memory: 3 }"),
    ("user", '[{ at: 0s, home: "true" }]'), ("user", "[{ at: 0s, home: }]"), ("user", "[{ at: 0s, home: false }]"),
    *(("apps", "[{ name: a, memory: { base: %s } }]" % size) for size in (
        "1MiB", "1.5MiB", "1.MiB", ".5MiB", "1", "1 MiB", "1mib")),
    *(("duration", time) for time in ("1.5s", "1.s", "1min30s", "5", "s")),
    *(("monitor", "{ warning: { enter: %s, leave: 90%% } }" % share) for share in ("20%", "0.2", "20.%", '"20%"', "150MB")),
    *(("apps", "[{ name: a, memory: { objects: { log_normal: { sigma: %s } } } }]" % sigma) for sigma in (
        "1.4", '"1.4"', "1", "x", "11")),
    # Nothing, where the program demands more than that; in all the ways of writing it.
    *(("duration", time) for time in ("0s", "0.0s", "00min0s", "1ms")),
    *(("monitor", "{ interval: %s }" % time) for time in ("0ms", "0min 0s", "1ms")),
    *(("device", "{ ceiling: 512MiB, %s }" % rest) for rest in (
        "fill_rate: 0MiB/s", "fill_rate: 1GiB/s", "scale: 0", "scale: 0%", "scale: 0.5", '"scale": "0"', "reserved: 0B")),
    ("device", "{ ceiling: 0B }"), ("apps", "[{ name: a, memory: { objects: { constant: 0KiB } } }]"),
    *(("user", "[{ at: 0s, lock: %s }]" % time) for time in ("0s", "1s")),
    *(("user", "[{ from: 0s, to: 5s, every: %s, launch: a }]" % time) for time in ("0s", "1s")),
    # More than the whole.
    ("monitor", "{ warning: { enter: 1.5, leave: 90% } }"),
    *(("policy", "{ parameters: { size_weight: %s } }" % share) for share in ("1", "1.5", "-0.5")),
    *(("policy", "{ name: jetsam, parameters: { kernel: %s } }" % kernel) for kernel in ("8792", "'11215'", "9", "[]")),
    *(("apps", "[{ name: a, limits: { active: 90MiB, %s } }]" % fatal) for fatal in (
        "fatal: none", "active_fatal: none", "active_fatal: false", 'active_fatal: "true"', "active_fatal: soft", "active_fatal:")),
    # Rules.
    *(("policy", policy) for policy in (
        "{ rules: [{ name: a }], parameters: { size_weight: 10% } }", "{ rules: [{ name: a }], parameters: {} }",
        "{ rules: [{ name: a }], parameters: }", "{ rules: , parameters: { size_weight: 10% } }", "{ name: lru, rules: }",
        "{ name: lru, rules: [{ name: a }] }", "{ rules: [] }", "{ rules: [{ name: a }], parameters: 5 }",
        "{ name: ladder, rules: }")),
    *(("policy", RULE % rule) for rule in (
        "when: available < 10%", "when: psi_full_avg10 > 60", "when: psi_full_avg10 > 60%", "when: []", "when: { any: [] }",
        "who: [[], state == suspended]", "when: available < 10%  for  5s", "when: level >= hot", "who: like == mesaging",
        "who: like == messaging", "until: []", "who: []", "who: oom_score > -900", "who: oom_score > -5000", "when: limit_share > 60",
        "when: limit_share > 60%", "when: thrashing > 2000%", "who: growth > 10", "who: demand == pressure", 'order: { footprint: "1" }',
        "order: { footprint: -1 }", "order: { footprint: x }", 'take: "2"', "take: 2", "take: 5%", "take: 0.5", "until: none")),
)  # fmt: skip


def main(program: str) -> int:
    schema = json.loads(subprocess.run([program, "schema", "scenario"], capture_output=True, check=True).stdout)
    validator = validator_for(schema)(schema)
    disagreements = 0
    with tempfile.TemporaryDirectory(prefix="plimsoll-verdicts.") as scratch:
        files = []
        for number, (key, value) in enumerate(CASES):
            text = "".join(f"{name}: {given}\n" for name, given in (LEAST | {key: value}).items())
            files.append(Path(scratch, f"{number}.yaml"))
            files[-1].write_text(text, "utf-8")
        said = subprocess.run([program, "validate", *map(str, files)], capture_output=True, text=True).stdout
        valid = {line.partition(":")[0] for line in said.splitlines()}
        for (key, value), file in zip(CASES, files):
            complaint = next((error.message for error in validator.iter_errors(yaml.safe_load(file.read_text("utf-8")))), "")
            if (str(file) in valid) == bool(complaint):
                disagreements += 1
                verdict = f"accepts it, the schema does not: {complaint[:200]}" if complaint else "refuses it, the schema does not"
                print(f"{key}: {value}: the program {verdict}", file=sys.stderr)
    print(f"{len(CASES)} scenarios, {disagreements} disagreements")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
