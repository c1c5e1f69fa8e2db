"""The scenarios of the figures, as text."""

from __future__ import annotations

from pathlib import Path

FREE = ("{ process: 0ms, launch: 0ms, first_launch: 0ms, connect: 0ms, enter_foreground: 0ms, activate: 0ms, "
        "event: 5ms }")


def head(
    name: str, duration: str, ceiling: str, backend: str = "jemalloc", policy: str = "none", cores: int = 4, more: str = "",
    reserved: str = "32MiB",
) -> str:
    return (f"plimsoll: 1\nname: {name}\nseed: 3\nduration: {duration}\nbackend: {backend}\n"
            f"device: {{ ceiling: {ceiling}, reserved: {reserved}, cores: {cores}, fill_rate: 64GiB/s }}\n"
            f"policy: {policy}\n{more}apps:\n")


def replay(trace: Path, seconds: int | str, pace: int, ends: str) -> str:
    return (head("replay", f"{seconds}s", "512MiB", reserved="1MiB")
            + "  - { name: ui, like: plain, memory: { base: 1MiB, scene: 1MiB, "
            + f"trace: {{ file: '{trace}', pace: {pace}/s, ends: {ends} }} }}, costs: {FREE} }}\n"
            + "user:\n  - { at: 0s, launch: ui }\n")


def launches(count: int, lowest: int, highest: int, object_bytes: int) -> str:
    """`count` launches of apps from `lowest` to `highest` MiB in turn; each is swiped away before the next comes."""
    text = head("launches", f"{count * 2 + 10}s", "256MiB", cores=1)
    for size in range(lowest, highest + 1):
        text += (f"  - {{ name: a{size}, like: plain, memory: {{ base: {size}MiB, scene: 0B, "
                 f"objects: {{ constant: {object_bytes}B }} }}, costs: {FREE} }}\n")
    text += "user:\n"
    for launch in range(count):
        size = lowest + launch % (highest - lowest + 1)
        text += f"  - {{ at: {launch * 2}s, launch: a{size} }}\n  - {{ at: {launch * 2 + 1}s, quit: a{size} }}\n"
    return text


def sleepers(
    count: int, running: int, seconds: int, backend: str, pushes: int = 0, rows: str | None = None, interval: str = "100ms",
) -> str:
    """`count` live apps of which `running` move their memory; `pushes` apps a second are woken in turn."""
    more = f"monitor: {{ interval: {interval} }}\n"
    if rows:
        more += f"metrics: {{ apps: {rows} }}\n"
    settled = settled_after(count)
    text = head("sleepers", f"{settled + seconds}s", "16GiB", backend, more=more)
    for number in range(count):
        modes, churn = "remote-notification", ""
        if number < running:
            modes, churn = "audio, remote-notification", ", churn: { rate: 64KiB/s }"
        text += (f"  - {{ name: a{number}, like: plain, background_modes: [{modes}], "
                 f"memory: {{ base: 64KiB, scene: 16KiB{churn} }}, background: {{ event_work: 2s, snapshot: 0B }}, "
                 f"costs: {FREE} }}\n")
    text += "user:\n"
    for number in range(count):
        text += f"  - {{ at: {number * 20}ms, launch: a{number} }}\n"
    text += f"  - {{ at: {count * 20}ms, home: true }}\n"
    if pushes:
        asleep = max(1, count - running)
        # A round wakes every sleeping app once; apps whose turn comes after the end are not woken.
        period = max(1000 // pushes, 1)
        for turn in range(min(asleep, seconds * pushes)):
            text += (f"  - {{ every: {asleep * period}ms, from: {settled * 1000 + turn * period}ms, "
                     f"push: a{running + turn if count > running else 0} }}\n")
    return text


def settled_after(count: int) -> int:
    """Seconds after which all apps of `sleepers` are launched and asleep."""
    return count * 20 // 1000 + 20


KINDS = ("messaging", "social-feed", "browser", "mail", "navigation", "music", "video", "weather", "shopping", "camera",
         "photo-editor", "document-editor", "podcast")


def day(apps: int, hours: int, backend: str, rows: str | None = None, model: str = "everyday") -> str:
    """A person's day with many apps, on Plimsoll's default monitor (a sample every 100 ms)."""
    text = head("day", f"{hours}h", "4GiB", backend, "jetsam", more=f"metrics: {{ apps: {rows} }}\n" if rows else "")
    for number in range(apps):
        text += f"  - {{ name: a{number}, like: {KINDS[number % len(KINDS)]} }}\n"
    return text + f"user:\n  - {{ from: 0s, to: {hours}h, model: {model} }}\n"
