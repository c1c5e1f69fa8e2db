"""Chromium without a screen, driven by its DevTools protocol: what a test sees, hovers, taps and pinches."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LONGEST_S = 300.0

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--proxy-server=http://127.0.0.1:9", "--disable-default-apps",
    "--disable-extensions", "--hide-scrollbars",
)  # fmt: skip
"""A browser that asks nobody for anything."""

IN_PLACE = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execvp(sys.argv[3], sys.argv[3:])"
"""Chromium reads commands from descriptor 3 and answers on 4; ours are above 10, so that nothing is in the way."""

DESKTOP = {"width": 1600, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


class Browser:
    """One process. Its pipe is used by one caller at a time."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="plimsoll-browser.", ignore_cleanup_errors=True)
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        source, sink = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out))

        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", IN_PLACE, str(source), str(sink), str(BROWSER), *QUIET, f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(source, sink),
        )  # fmt: skip
        for end in (theirs_in, theirs_out, source, sink):
            os.close(end)
        self.ours_in, self.ours_out = ours_in, ours_out
        self.received = b""
        self.number = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        for end in (self.ours_out, self.ours_in):
            os.close(end)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.received:
            if not select.select([self.ours_in], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.ours_in, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.received += part
        text, self.received = self.received.split(b"\0", 1)
        found: dict[str, Any] = json.loads(text)
        return found

    def ask(self, method: str, session: str = "", **parameters: object) -> dict[str, Any]:
        """Sends a command and waits for its answer; events that come first are kept."""
        self.number += 1
        asked: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if session:
            asked["sessionId"] = session
        os.write(self.ours_out, json.dumps(asked).encode() + b"\0")
        until = time.monotonic() + LONGEST_S
        while True:
            said = self.message(until)
            if said.get("id") != self.number:
                self.events.append(said)
                continue
            if "error" in said:
                raise RuntimeError(f"{method}: {said['error']['message']}")
            result: dict[str, Any] = said["result"]
            return result

    def tab(self, address: str, screen: dict[str, Any] = DESKTOP, dark: bool = False) -> Tab:
        """A page that is loaded, on a screen of that size; a mobile one is touched."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        tab = Tab(self, target, self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.ask(f"{domain}.enable")
        tab.ask("Emulation.setDeviceMetricsOverride", **screen)
        tab.ask("Emulation.setTouchEmulationEnabled", enabled=screen["mobile"], maxTouchPoints=5 if screen["mobile"] else 1)
        tab.prefer(dark)
        tab.go(address)
        return tab


class Tab:
    """One page in the browser."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self.browser, self.target, self.session = browser, target, session

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        return self.browser.ask(method, self.session, **parameters)

    def close(self) -> None:
        self.browser.ask("Target.closeTarget", targetId=self.target)

    def prefer(self, dark: bool) -> None:
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])  # fmt: skip

    def go(self, address: str) -> None:
        self.ask("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && document.documentElement.dataset.ready !== undefined")

    def says(self, expression: str) -> Any:
        """The value of an expression in the page."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails'].get('exception', {}).get('description', '')}")
        return done["result"].get("value")

    def until(self, expression: str) -> None:
        """Waits for the expression to be true."""
        end = time.monotonic() + LONGEST_S
        while not self.says(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"in vain: {expression}")
            time.sleep(0.05)

    def frame(self) -> None:
        """Waits until what was done is drawn."""
        self.says("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def place(self, selector: str, number: int = 0) -> tuple[float, float]:
        """The middle of an element in the window, which is scrolled to show it."""
        x, y = self.says(f"""(() => {{ const node = document.querySelectorAll({json.dumps(selector)})[{number}];
            let box = node.getBoundingClientRect();
            if (box.top < 90 || box.bottom > innerHeight - 10) scrollBy(0, box.top - innerHeight / 3);
            box = node.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        self.frame()
        return x, y

    def select(self, selector: str, value: str) -> None:
        """Chooses an option."""
        self.says(f"""(() => {{ const select = document.querySelector({json.dumps(selector)});
            select.value = {json.dumps(value)};
            select.dispatchEvent(new Event("change")); }})()""")
        self.frame()

    def mouse(self, kind: str, at: tuple[float, float], pressed: bool = False) -> None:
        self.ask("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left" if pressed else "none",
                 buttons=int(pressed and kind != "mouseReleased"), clickCount=int(pressed))  # fmt: skip

    def hover(self, at: tuple[float, float]) -> None:
        self.mouse("mouseMoved", at)
        self.frame()

    def click(self, at: tuple[float, float]) -> None:
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at, True)
        self.mouse("mouseReleased", at, True)
        self.frame()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse("mouseMoved", start)
        self.mouse("mousePressed", start, True)
        self.mouse("mouseMoved", ((start[0] + end[0]) / 2, end[1]), True)
        self.mouse("mouseMoved", end, True)
        self.mouse("mouseReleased", end, True)
        self.frame()

    def fingers(self, kind: str, *at: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(at)]
        self.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def tap(self, at: tuple[float, float]) -> None:
        self.fingers("touchStart", at)
        self.fingers("touchEnd")
        self.frame()

    def move(self, *paths: tuple[tuple[float, float], tuple[float, float]]) -> None:
        """Fingers that go down together, each from its start to its end, and leave."""
        self.fingers("touchStart", *(start for start, _ in paths))
        for step in range(1, 9):
            self.fingers("touchMove", *((a[0] + (b[0] - a[0]) * step / 8, a[1] + (b[1] - a[1]) * step / 8) for a, b in paths))
            self.frame()
        self.fingers("touchEnd")
        self.frame()

    def picture(self, path: Path, whole: bool = False) -> None:
        """Writes what is on the screen, or the whole page, as PNG."""
        done = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(done["data"]))

    def faults(self) -> list[str]:
        """What went wrong in the page, and what it asked of a network."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(what["exceptionDetails"].get("exception", {}).get("description", what["exceptionDetails"]["text"])))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] == "error":
                found.append(str(what["entry"]["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(str(what["args"]))
            elif event["method"] == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append(f"asked for {what['request']['url']}")
        return found
