"""The report in a real browser: hovered at a desk, touched on a phone, in the dark, and found again by its address."""

from __future__ import annotations

import json
import os
import re
import unittest
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from browser import BROWSER, DESKTOP, PHONE, Browser, Tab
from harness import FolderCase, call_main, load_main
from synthetic_run import UNFELT, write_run, write_terminations
from test_report import answer, explanation

from plimsoll_tools.plotting import launches
from plimsoll_tools.quantities import span_text

WORDS = (
    ("What it was", ["suspended."]), ("Why then", ["critical."]), ("Spared", ["others."]),
    ("What saves it", ["size_weight = 71.3% instead of 0%; it is still there when the run ends:",
                       "plimsoll run scenario.yaml --set policy.parameters.size_weight=71.3%"]),
    ("Who pays", ["<b>chat</b>, perceived: it ends sooner.", "shop: it ends."]), ("In vain", ["chat down to 10%."]),
)  # fmt: skip
SHORT = (("Why", ["critical."]), ("It was", ["suspended."]), ("The app", ["nothing that was tried saves it."]),
         ("Outside it", ["256 MiB more of memory. Price: no other process loses anything.",
                         "plimsoll run scenario.yaml --set device.ceiling=2GiB"]))  # fmt: skip
"""What the program says of an end: everything, and what matters most."""

LIGHTNESS = """(colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((part) => part / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }"""
"""The relative luminance of a computed colour, as WCAG 2.1 defines it."""

FAINT = f"""(() => {{ const light = {LIGHTNESS}, found = [];
  for (const node of document.querySelectorAll("body *")) {{
    if (node.closest("[hidden], script, noscript, select, details:not([open])") || !node.getClientRects().length) continue;
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    let under = node;
    const behind = (one) => getComputedStyle(one).backgroundColor;
    while (under.parentElement && /^rgba\\(.*, 0\\)$/.test(behind(under))) under = under.parentElement;
    const ink = getComputedStyle(node)[node instanceof SVGElement ? "fill" : "color"];
    const [a, b] = [light(ink), light(behind(under))].sort((one, other) => other - one);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${{node.tagName}} ${{node.textContent.slice(0, 40)}}: ${{ink}} on ${{behind(under)}}`);
  }}
  return found; }})()"""
"""Texts with less contrast than 4.5 to 1."""

CLIPPED = """[...document.querySelectorAll("svg text")].filter((text) => { const own = text.getBoundingClientRect(),
  all = text.closest("svg").getBoundingClientRect();
  return own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 2 || own.bottom > all.bottom + 1;
}).map((text) => text.textContent)"""
"""Texts that are not whole within their picture."""

SHOWN = """(() => { const box = document.querySelector("#pinned .card").getBoundingClientRect();
  const top = document.elementFromPoint(box.left + 20, Math.max(box.top, 1) + 15);
  return box.top >= 0 && box.top + 60 < innerHeight && box.left >= 0 && box.right <= innerWidth && top.closest("#pinned") !== null; })()"""
"""Whether the card's beginning is on the screen with nothing upon it."""

TIP = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
CARD = "document.getElementById('pinned').textContent"
WINDOW = "document.getElementById('window').textContent"
SPAN = "[view.t0, view.t1]"
MODE = f"({LIGHTNESS})(getComputedStyle(document.body).backgroundColor) < 0.1 ? 'dark' : 'light'"


@unittest.skipUnless(BROWSER, "no Chromium is installed")
class BrowserCase(FolderCase):
    """Tests that share a browser."""

    browser: ClassVar[Browser]
    runs: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def make(self, name: str = "run", **options: object) -> Path:
        path = self.directory / name
        write_run(path, **{"apps": 14, "minutes": 30.0, **options})  # type: ignore[arg-type]
        return path

    def page(self, *arguments: object, program: str = "/nowhere/plimsoll") -> Path:
        out = self.directory / "page.html"
        with mock.patch.dict(os.environ, {"PLIMSOLL": program}):
            status, _, said = call_main(load_main("reporting"), *arguments, "--out", out)
        self.assertEqual(status, 0, said)
        return out

    def open(self, page: Path, screen: dict[str, Any] = DESKTOP, dark: bool = False, view: str = "") -> Tab:
        """The page in a tab of its own, which must end without a fault and with nothing asked of a network."""
        tab = self.browser.tab(page.as_uri() + (f"#{view}" if view else ""), screen, dark)
        self.addCleanup(tab.close)
        self.addCleanup(lambda: self.assertEqual(tab.faults(), []))
        return tab

    def remembered(self, tab: Tab) -> str:
        tab.says("rememberNow()")
        return str(tab.says("location.hash.slice(1)"))


class AtADesk(BrowserCase):
    def test_a_kill_speaks_when_hovered_and_its_card_comes_into_view_when_clicked(self) -> None:
        tab = self.open(self.page(self.make()))
        at = tab.place("g.kill path")
        tab.hover(at)
        self.assertRegex(tab.says(TIP), r"✕ .+ ended: memoryPressure.*Spared in this decision")
        tab.hover((at[0], 5.0))
        self.assertEqual(tab.says(TIP), "")
        tab.click(tab.place("g.kill path"))
        self.assertRegex(tab.says(CARD), r"✕ .+ ended: memoryPressure")
        self.assertTrue(tab.says(SHOWN))
        self.assertEqual(tab.says("document.documentElement.scrollWidth > innerWidth"), False)
        self.assertEqual(tab.says(CLIPPED), [])
        # The buttons of the card go through all kills, and close it.
        first = tab.says(CARD)
        tab.click(tab.place("#pinned button[aria-label='next termination']"))
        self.assertNotEqual(tab.says(CARD), first)
        tab.click(tab.place("#pinned .close"))
        self.assertEqual(tab.says(CARD), "")

    def test_in_a_low_window_the_page_scrolls_to_the_card(self) -> None:
        tab = self.open(self.page(self.make()), {**DESKTOP, "height": 480})
        tab.click(tab.place("g.kill path"))
        self.assertTrue(tab.says(SHOWN))

    def test_a_tooltip_dies_with_the_view_it_belongs_to(self) -> None:
        tab = self.open(self.page(self.make("run-1", minutes=10.0), self.make("run-2", minutes=10.0, seed=2)))
        leaving = {
            "a zoom": "zoom(10, 200)", "another run": "choose(1)", "another app": "chooseApp('maps')",
            "a new width": "(width = 0, dispatchEvent(new Event('resize')))",
            "an address": "location.hash = '#from=20&to=40'", "Escape": "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))",
            "scrolling": "scrollBy(0, 60)",
        }  # fmt: skip
        for what, act in leaving.items():
            with self.subTest(what):
                tab.says("zoom(0, run().end)")
                x, y = tab.place("#one svg[aria-label='memory by app']")
                tab.hover((x, y))
                self.assertIn("resident", tab.says(TIP))
                tab.says(f"void ({act})")
                tab.frame()
                self.assertEqual(tab.says(TIP), "")
                tab.hover((5, 5))

    def test_a_drag_zooms_and_a_double_click_shows_the_whole_run(self) -> None:
        tab = self.open(self.page(self.make()))
        x, y = tab.place("svg[aria-label='memory by app']")
        tab.drag((x - 100, y), (x + 100, y))
        start, end = tab.says(SPAN)
        self.assertTrue(300 < start < end < 1500 and 100 < end - start < 500, (start, end))
        self.assertEqual(tab.says(TIP), "")
        for name, expected in (("zoom in", 0.5), ("zoom out", 2.0)):
            before = tab.says(SPAN)
            tab.click(tab.place(f"button[aria-label='{name}']"))
            after = tab.says(SPAN)
            self.assertAlmostEqual((after[1] - after[0]) / (before[1] - before[0]), expected, places=6)
        tab.click(tab.place("button[aria-label='earlier']"))
        self.assertLess(tab.says(SPAN)[0], start)
        tab.click(tab.place("button[aria-label='the whole run']"))
        self.assertEqual(tab.says(SPAN)[0], 0)
        self.assertEqual(tab.says("view.t1 === run().end"), True)

    def test_an_app_is_chosen_in_the_legend_and_the_decisions_follow(self) -> None:
        tab = self.open(self.page(self.make()))
        app = tab.says("run().kills[0].app")
        button = f".legend button[data-app='{app}']"
        tab.click(tab.place(button))
        self.assertEqual(tab.says("[view.app, document.getElementById('app').value]"), [app, app])
        self.assertGreater(tab.says("document.querySelectorAll('svg .faded').length"), 3)
        self.assertEqual(tab.says("document.querySelector('input[type=search]').value"), app)
        rows = "document.querySelectorAll('#one table tbody')[0].rows.length"
        of_the_app = tab.says(rows)
        self.assertGreater(of_the_app, 0)
        tab.says("zoom(run().kills[0].t - 1, run().kills[0].t + 1)")
        self.assertEqual(tab.says(rows), of_the_app)
        tab.click(tab.place("#only"))
        within = "run().decisions.filter(([t, , , app]) => app === view.app && t >= view.t0 && t <= view.t1).length"
        self.assertEqual(tab.says(rows), tab.says(within))
        self.assertGreater(tab.says(rows), 0)
        tab.says("zoom(0, 1)")
        self.assertEqual(tab.says(rows), 0)
        tab.click(tab.place(button))
        self.assertEqual(tab.says("view.app + document.querySelectorAll('svg .faded').length"), "0")


class Extremes(BrowserCase):
    def test_the_cores_say_who_worked_who_waited_and_which_launch_it_was(self) -> None:
        run = self.make(minutes=60.0)
        (run / "launches.csv").write_text("app,kind,tapped_s,ready_s,latency_ms,pid,outcome,cpu_wait_ms\n"
                                          "maps,cold,100,1700,1600000,9,ready,5500\nfeed,cold,1800,,,9,abandoned,0\n", "utf-8")  # fmt: skip
        page = self.page(run)
        for screen in (DESKTOP, PHONE):
            tab = self.open(page, screen)
            tab.says("document.querySelector('svg[aria-label=cores]').scrollIntoView({ block: 'center' })")
            # A tooltip goes when the page scrolls, and the page says so a frame later.
            tab.frame()
            box = tab.says("(({ left, right, top }) => [left, right, top])(document.querySelector('svg[aria-label=cores]').getBoundingClientRect())")
            at = (box[0] + 0.4 * (box[1] - box[0]), box[2] + 60)
            if screen is PHONE:
                tab.tap(at)
            else:
                tab.hover(at)
            self.assertRegex(tab.says(TIP), r"[0-9.]+ of 4 cores busy \(mean of [0-9]+ s\)user-interactive: [0-9.]+%.*"
                             r"maps: cold launch, 26.7 min, waited 5.5 s for a core$")  # fmt: skip
            # No step is narrower than two points, and a closer look has the finest ones.
            self.assertLessEqual(tab.says("3600 / coreSteps(view.panels[2].frame).step"), (box[1] - box[0]) / 2)
            tab.says("zoom(100, 200)")
            self.assertEqual(tab.says("coreSteps(view.panels[2].frame).step"), 3)
            tab.says("zoom(0, 3600)")
            self.assertEqual(tab.says("[...document.querySelectorAll('svg .launch circle')].length"), 1)
            self.assertEqual(tab.says("[...document.querySelectorAll('svg .launch')].length"), 2)
            tab.says("chooseApp('feed')")
            self.assertEqual(tab.says("document.querySelectorAll('svg .launch.faded').length"), 1)
            self.assertEqual(tab.says(CLIPPED), [])
        (run / "cores.csv").unlink()
        self.assertEqual(self.open(self.page(run)).says("document.querySelectorAll('svg[aria-label=cores], svg .launch').length"), 0)

    def test_a_process_that_held_nothing_when_it_ended_is_drawn(self) -> None:
        run = self.make(minutes=5.0)
        (run / "events.csv").write_text(
            "time_s,event,app,pid,scene,detail,reason,state,level,action,exit_reason,cause,measure,observed,threshold\n"
            "10,process_state,slow,7,,active,,active,,,,,,,\n"
            "12,exit,slow,7,,appWatchdog,too late,,,,appWatchdog,,,,\n", "utf-8"
        )  # fmt: skip
        write_terminations(run, [{**UNFELT, "time_s": 12, "app": "slow", "pid": 7, "exit_reason": "appWatchdog",
                                  "footprint_bytes": 0, "idle_s": 0}])  # fmt: skip
        tab = self.open(self.page(run))
        self.assertEqual(tab.says("run().kills.map((kill) => kill.footprint)"), [0])
        self.assertEqual(tab.says("document.querySelectorAll('circle.kill').length"), 1)
        self.assertEqual(tab.says(CLIPPED), [])

    def test_what_an_older_run_does_not_tell_of_an_end_is_unknown(self) -> None:
        for older, never in ((True, "unknown"), (False, "never")):
            tab = self.open(self.page(self.make(f"run-{older}", older=older)))
            said = tab.says("killText(run().kills[0], 3, false).map((part) => part.textContent || part).join(' ')")
            self.assertIn(f"last warned {never}", said)

    def test_a_run_without_terminations_apps_or_samples_is_a_page_all_the_same(self) -> None:
        run = self.make(minutes=5.0)
        for name in ("events", "apps", "samples", "launches", "decisions", "terminations"):
            table = run / f"{name}.csv"
            table.write_text(table.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
            for screen in (DESKTOP, PHONE):
                tab = self.open(self.page(run), screen, view="from=1&to=2&kill=7&app=maps")
                self.assertEqual(tab.says(CLIPPED), [])
                self.assertEqual(tab.says("document.documentElement.scrollWidth > innerWidth"), False)


class OnAPhone(BrowserCase):
    def test_a_tapped_kill_s_card_comes_into_view(self) -> None:
        tab = self.open(self.page(self.make()), PHONE)
        self.assertEqual(tab.says("matchMedia('(pointer: coarse)').matches"), True)
        for selector in ("g.kill path", "path.kill", "circle.kill"):
            with self.subTest(selector):
                x, y = tab.place(selector)
                # A finger is not exact.
                tab.tap((x + 4, y + 5))
                self.assertRegex(tab.says(CARD), r"✕ .+ ended: memoryPressure")
                self.assertTrue(tab.says(SHOWN))
                self.assertEqual(tab.says(TIP), "")
                x, y = tab.says("(() => { const box = document.querySelector('#pinned .close').getBoundingClientRect(); "
                                "return [box.left + box.width / 2, box.top + box.height / 2]; })()")  # fmt: skip
                tab.tap((x, y))
                self.assertEqual(tab.says(CARD), "")

    def test_two_fingers_zoom_and_one_moves_the_window(self) -> None:
        tab = self.open(self.page(self.make()), PHONE)
        x, y = tab.place("svg[aria-label='memory by app']")
        at = tab.says(f"(() => {{ const panel = view.panels[0]; return placeIn(panel, {{ clientX: {x}, clientY: {y} }}).t; }})()")
        tab.move(((x - 30, y), (x - 90, y)), ((x + 30, y), (x + 90, y)))
        start, end = tab.says(SPAN)
        # Three times as far apart: a third of the time, and what was between the fingers still is.
        self.assertAlmostEqual(end - start, 600, delta=30)
        self.assertAlmostEqual((start + end) / 2, at, delta=60)
        self.assertEqual(tab.says(TIP), "")
        tab.move(((x, y), (x - 100, y)))
        moved = tab.says(SPAN)
        self.assertAlmostEqual(moved[1] - moved[0], end - start, places=6)
        self.assertGreater(moved[0], start + 60)
        tab.tap(tab.place("button[aria-label='the whole run']"))
        self.assertEqual(tab.says("view.t0 === 0 && view.t1 === run().end"), True)
        tab.tap(tab.place("button[aria-label='zoom in']"))
        self.assertAlmostEqual(float(tab.says("(view.t1 - view.t0) / run().end")), 0.5, places=6)

    def test_a_finger_that_moves_up_scrolls_the_page(self) -> None:
        tab = self.open(self.page(self.make()), PHONE)
        x, y = tab.place("svg[aria-label='memory by app']")
        before = tab.says("scrollY")
        tab.move(((x, y + 100), (x, y - 200)))
        tab.until(f"scrollY > {before} + 100")
        self.assertEqual(tab.says("[view.t0 === 0 && view.t1 === run().end, view.kills.length]"), [True, 0])
        self.assertEqual(tab.says(TIP), "")

    def test_a_tap_reads_the_place_until_the_page_is_left(self) -> None:
        tab = self.open(self.page(self.make()), PHONE)
        x, y = tab.place("svg[aria-label='memory by app']")
        tab.tap((x, y + 60))
        self.assertIn("resident", tab.says(TIP))
        box = tab.says("(() => { const box = tip.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })()")
        self.assertTrue(box[0] >= 0 and box[1] >= 0 and box[2] <= 390 and box[3] <= 844, box)
        # Not under the finger.
        self.assertTrue(box[3] < y + 60 or box[1] > y + 60, box)
        tab.tap(tab.place("h2"))
        self.assertEqual(tab.says(TIP), "")

    def test_names_are_whole_and_nothing_is_wider_than_the_screen(self) -> None:
        tab = self.open(self.page(self.make(apps=17)), PHONE)
        shown = tab.says("[...document.querySelectorAll('svg .lane')].map((text) => text.textContent)")
        self.assertEqual(shown, tab.says("run().lanes.map((lane) => lane.app)"))
        self.assertGreater(max(map(len, shown)), 40)
        for window in ((0, 1800), (10, 10.5)):
            tab.says(f"zoom({window[0]}, {window[1]})")
            self.assertEqual(tab.says(CLIPPED), [])
            self.assertEqual(tab.says("document.documentElement.scrollWidth > innerWidth"), False)


class InTheDark(BrowserCase):
    def test_the_page_follows_the_system_until_the_reader_chooses(self) -> None:
        page = self.page(self.make())
        for screen in (DESKTOP, PHONE):
            tab = self.open(page, screen, dark=True)
            self.assertEqual(tab.says(MODE), "dark")
            tab.prefer(False)
            tab.frame()
            self.assertEqual(tab.says(MODE), "light")
            tab.select("header select", "dark")
            self.assertEqual(tab.says(MODE), "dark")
            self.assertEqual(self.remembered(tab), "mode=dark")
            tab.prefer(True)
            tab.select("header select", "light")
            self.assertEqual(tab.says(MODE), "light")

    def test_texts_stand_out_from_what_is_behind_them_in_both_modes(self) -> None:
        runs = [self.make(f"run-{seed}", seed=seed, minutes=10.0) for seed in (1, 2)]
        (runs[0] / "manifest.json").write_text(json.dumps({"expectations": [
            {"expectation": "terminations == 0", "held": False, "observed": "4"}, {"expectation": "warnings >= 0", "held": True, "observed": "7"},
        ]}), "utf-8")  # fmt: skip
        page = self.page(*runs)
        for dark in (False, True):
            for screen in (DESKTOP, PHONE):
                with self.subTest(dark=dark, width=screen["width"]):
                    tab = self.open(page, screen, dark)
                    tab.says("pin([0], true)")
                    self.assertEqual(tab.says(FAINT), [])


class ByItsAddress(BrowserCase):
    def test_a_link_leads_to_the_same_view(self) -> None:
        page = self.page(self.make())
        tab = self.open(page)
        self.assertEqual(self.remembered(tab), "")
        tab.says("zoom(300, 900)")
        tab.says("pin([1], true)")
        tab.says("chooseApp(run().kills[1].app)")
        tab.says("view.mode = 'dark'")
        view = self.remembered(tab)
        self.assertRegex(view, r"^from=300&to=900&kill=\d+&app=[^&]+&mode=dark$")
        other = self.open(page, PHONE, view=view)
        for what in (SPAN, "view.kills", "view.app", CARD, WINDOW):
            self.assertEqual(other.says(what), tab.says(what))
        self.assertEqual(other.says(MODE), "dark")
        # An address that changes changes the page.
        other.says("location.hash = '#from=60&to=90'")
        other.until("view.t0 === 60 && view.t1 === 90 && view.app === '' && view.kills.length === 0")

    def test_an_address_that_fits_nothing_shows_the_whole_run(self) -> None:
        page = self.page(self.make())
        for view in ("from=9&to=3&kill=none&app=nobody&mode=pink&run=7", "from=1e9&to=2e9", "%%%&&==", "from=NaN&to=Infinity&run=-1"):
            with self.subTest(view):
                tab = self.open(page, view=view)
                self.assertEqual(tab.says("[view.run, view.t0, view.t1 === run().end, view.kills.length, view.app, view.mode]"),
                                 [0, 0, True, 0, "", ""])  # fmt: skip

    def test_a_comparison_remembers_the_run_and_its_map(self) -> None:
        runs = []
        for seed, (ceiling, interval) in enumerate((c, i) for c in ("512MiB", "1GiB", "2GiB") for i in ("250ms", "1s")):
            runs.append(self.make(f"runs/{ceiling}-{interval}", minutes=5.0, ceiling=512 << 20))
            (runs[-1] / "scenario.yaml").write_text(
                f"device: {{ ceiling: {ceiling}, cores: {seed + 2} }}\nmonitor: {{ interval: {interval} }}\n"
                f"policy: {{ name: lru, parameters: {{ mild: {'yes' if seed % 2 else 'no'} }} }}\n", "utf-8"
            )  # fmt: skip
        page = self.page(*runs)
        tab = self.open(page)
        chosen = "['rows', 'columns'].map((name) => document.querySelector(`select[aria-label='${name} of the map']`).value)"
        heads = "[...document.querySelectorAll('#map tr:first-child th')].slice(1).map((one) => one.textContent)"
        rows = "[...document.querySelectorAll('#map tr:not(:first-child) th')].map((one) => one.textContent)"
        # Numbers come first, in the order of what they stand for.
        self.assertEqual(tab.says(chosen), ["monitor.interval", "device.ceiling"])
        self.assertEqual((tab.says(rows), tab.says(heads)), (["250ms", "1s"], ["512MiB", "1GiB", "2GiB"]))
        tab.select("select[aria-label='rows of the map']", "device.cores")
        self.assertEqual(tab.says(rows), ["2", "3", "4", "5", "6", "7"])
        # One setting cannot be both: they change places.
        tab.select("select[aria-label='columns of the map']", "device.cores")
        self.assertEqual(tab.says(chosen), ["device.ceiling", "device.cores"])
        tab.says("choose(3)")
        view = self.remembered(tab)
        other = self.open(page, PHONE, view=view)
        self.assertEqual(other.says(chosen), ["device.ceiling", "device.cores"])
        self.assertEqual(other.says("view.run"), 3)
        self.assertEqual(other.says("document.documentElement.scrollWidth > innerWidth"), False)


class Explained(BrowserCase):
    def test_card_and_tooltip_say_what_saves_it_and_who_pays(self) -> None:
        run = self.make()
        page = self.page(run)
        tab = self.open(page)
        # Without the program the card names the command.
        tab.says("pin([0], true)")
        self.assertRegex(tab.says(CARD), r"What would have saved it: plimsoll explain \S+/run --app \S+ --at [0-9.]+s")
        kill = tab.says("run().kills[0]")
        told = explanation(kill["pid"], kill["t"], f"{kill['app']} was ended.", list(WORDS))
        told["short"] = [{"label": label, "sentences": sentences} for label, sentences in SHORT]
        program = self.program(f"cat <<'E'\n{answer(told)}\nE\n")
        tab = self.open(self.page(run, program=str(program)), PHONE)
        tab.tap(tab.place("g.kill path"))
        tab.says("pin([0], true)")
        # The card has the rest of the cause already. What matters most comes first, and everything is behind a fold.
        first = "[...document.querySelectorAll('#pinned .card > div > dl > *')].map((one) => one.textContent)"
        rest = "[...document.querySelectorAll('#pinned details:not([open]) > dl > *')].map((one) => one.textContent)"
        for shown, words in ((first, SHORT[2:]), (rest, WORDS)):
            self.assertEqual(tab.says(shown), [text for label, sentences in words for text in (label, *sentences)])
        self.assertEqual(tab.says("[...document.querySelectorAll('#pinned dd code')].map((one) => one.textContent)"),
                         [SHORT[3][1][1], WORDS[3][1][1]])  # fmt: skip
        self.assertIn("What saves it: size_weight = 71.3%", tab.says("killText(run().kills[0], 3).map((one) => one.textContent ?? one).join('')"))
        section = "document.querySelector('#one > details')"
        self.assertEqual(tab.says(f"[...{section}.querySelectorAll(':scope > dl > dt')].map((one) => one.textContent)"), [label for label, _ in SHORT])
        self.assertEqual(tab.says(f"[...{section}.querySelectorAll(':scope > details > dl > dt')].map((one) => one.textContent)"), [label for label, _ in WORDS])
        self.assertIn("Who pays", tab.says("document.querySelector('#one > details').textContent"))


class Opening(BrowserCase):
    """The cards of the lost apps, and what the choice of one does to the others."""

    def explained(self, run: Path) -> Path:
        """The page with an explanation of the last end that the user felt."""
        kills = self.open(self.page(run)).says("run().kills")
        kill = [one for one in kills if one["felt"]][-1]
        told = explanation(kill["pid"], kill["t"], f"{kill['app']} was ended.", list(WORDS))
        told["short"] = [{"label": label, "sentences": sentences} for label, sentences in SHORT]
        program = self.program(f"cat <<'E'\n{answer(told)}\nE\n")
        return self.page(run, program=str(program))

    def test_the_page_opens_with_the_sentence_and_a_card_for_each_lost_app_on_a_phone_too(self) -> None:
        page = self.explained(self.make())
        lost = "[...new Set(run().kills.filter((kill) => kill.felt).map((kill) => kill.app))].slice(0, MOST_CARDS)"
        for screen in (DESKTOP, PHONE):
            tab = self.open(page, screen)
            self.assertEqual(tab.says("document.querySelector('#one > :first-child > :first-child').textContent"), tab.says("run().sentence"))
            apps = tab.says("[...document.querySelectorAll('.opening > .losses > .loss .name')].map((one) => one.textContent)")
            self.assertEqual(apps, tab.says(lost))
            self.assertTrue(tab.says("document.querySelector('.loss').getBoundingClientRect().top < innerHeight / 2"))
            self.assertFalse(tab.says("document.querySelector('.figures').checkVisibility()"))
            self.assertEqual(tab.says("document.documentElement.scrollWidth > innerWidth"), False)
            # One line for each of the others, and a card has when, why, how much, and what would have saved it.
            self.assertEqual(tab.says("document.querySelectorAll('.rest li').length"), tab.says("run().kills.filter((kill) => !kill.felt).length"))
            card = tab.says("[...document.querySelectorAll('.loss')].map((one) => one.textContent).find((one) => one.includes('whole explanation'))")
            self.assertRegex(card, r"ended at [0-9:]+; the user .*Why.+It held[0-9.]+ MiBWhat would have saved itThe app: nothing that was tried saves it")
            other = tab.says("[...document.querySelectorAll('.loss')].map((one) => one.textContent).find((one) => !one.includes('whole explanation'))")
            self.assertRegex(other, r"this tells:plimsoll explain \S+ --app .* --at ")

    def test_a_card_leads_to_its_explanation_and_greys_the_other_apps(self) -> None:
        tab = self.open(self.explained(self.make()))
        courses = tab.says("[...document.querySelectorAll('.loss p')].map((one) => one.textContent)")
        self.assertTrue(courses and all(re.search(r" took .+ of the free memory, .+, and .+ went\.$", one) for one in courses), courses)
        self.assertNotIn("…", tab.says("document.querySelector('.losses').textContent"))
        tab.says("document.querySelector('details[data-explained]').open = false")
        tab.says("[...document.querySelectorAll('.loss button')].find((one) => one.textContent === 'whole explanation').click()")
        tab.frame()
        app = tab.says("run().kills[run().explained.blocks[0].kill].app")
        self.assertEqual(tab.says("view.app"), app)
        place = tab.says("(() => { const one = document.querySelector('details[data-explained]'); return [one.open, one.getBoundingClientRect().top]; })()")
        self.assertTrue(place[0] and -1 <= place[1] < 1000, place)
        self.assertEqual(tab.says("document.querySelectorAll('details[data-explained] > details:not([open])').length"), 0, "it is whole")
        self.assertEqual(tab.says("[...document.querySelectorAll('.loss:not(.pale)')].map((one) => one.dataset.app)"), [app])
        self.assertEqual(tab.says("[...document.querySelectorAll('svg .lane:not(.faded)')].map((one) => one.textContent)"), [app])
        self.assertEqual(tab.says("[...document.querySelectorAll('.legend button:not(.pale)')].map((one) => one.textContent)"), [app])
        # What lies below a pale layer does not shine through it.
        self.assertTrue(tab.says("""[...document.querySelectorAll("svg[aria-label='memory by app'] path.faded")]
            .every((one) => one.previousSibling.getAttribute("d") === one.getAttribute("d"))"""))
        tab.says("document.querySelector('.loss:not(.pale) .name').click()")
        self.assertEqual(tab.says("view.app + document.querySelectorAll('.pale, svg .faded').length"), "0")
        tab.says("[...document.querySelectorAll('.loss button')].find((one) => one.textContent === 'show it').click()")
        self.assertEqual(tab.says("[view.kills.length, view.app === run().kills[view.kills[0]].app]"), [1, True])
        # A link to a chosen app greys the others, too.
        self.assertGreater(self.open(self.page(self.make()), view=f"app={app}").says("document.querySelectorAll('.pale').length"), 2)

    def test_the_bar_covers_nothing_that_is_scrolled_to(self) -> None:
        page = self.explained(self.make())
        for screen in (DESKTOP, PHONE):
            tab = self.open(page, screen)
            tab.says("[...document.querySelectorAll('.loss button')].find((one) => one.textContent === 'whole explanation').click()")
            tab.frame()
            top, bar = tab.says("['details[data-explained] summary', '.bar'].map((one) => document.querySelector(one).getBoundingClientRect()).map((box, place) => place ? box.bottom : box.top)")
            self.assertGreaterEqual(top, bar - 1)

    def test_expectations_that_held_are_folded_and_what_failed_stands_first(self) -> None:
        run = self.make(minutes=5.0)
        claims = [{"expectation": f"warnings >= {bound}", "held": bound < 9, "observed": "8"} for bound in (1, 9, 2)]
        for kept, is_open, words in ((claims, True, "✗warnings >= 9"), (claims[::2], False, "✓warnings >= 1")):
            (run / "manifest.json").write_text(json.dumps({"expectations": kept}), "utf-8")
            tab = self.open(self.page(run))
            self.assertEqual(tab.says("document.querySelector('.claims').checkVisibility()"), is_open)
            self.assertIn(words, tab.says("document.querySelector('.claims li').textContent"))
        self.assertIn("Expectations: all 2 held", tab.says("document.querySelector('#one').textContent"))

    def test_lengths_of_time_read_as_in_the_pictures(self) -> None:
        tab = self.open(self.page(self.make(minutes=5.0)))
        times = [0.0625, 0.9, 1, 31.47, 60, 151.4, 3723.45, 40000.25]
        self.assertEqual(tab.says(f"{times}.map(span)"), [span_text(one) for one in times])
        self.assertEqual(tab.says(f"{times}.map(seconds)"), [launches.duration_text(1000 * one) for one in times])

    def test_marks_have_names_that_lie_upon_nothing(self) -> None:
        page = self.page(self.make(apps=17))
        upon = """[...document.querySelectorAll("svg")].flatMap((one) => { const texts = [...one.querySelectorAll("text")]
            .map((text) => [text.textContent, text.getBoundingClientRect()]);
            return texts.flatMap(([a, p], at) => texts.slice(at + 1).filter(([, q]) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
              && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 5).map(([b]) => [one.getAttribute("aria-label"), a, b]))
            .filter(([, a, b]) => [a, b].some((text) => [...one.querySelectorAll(".called")].some((name) => name.textContent === text))); })"""
        for screen in (DESKTOP, PHONE):
            tab = self.open(page, screen)
            for window in ("0, run().end", "run().kills[0].t - 20, run().kills[0].t + 20"):
                tab.says(f"zoom({window})")
                self.assertGreater(tab.says("document.querySelectorAll('g.kill .called').length"), 0)
                self.assertEqual(tab.says(upon), [])
                self.assertEqual(tab.says(CLIPPED), [])
            self.assertIn(tab.says("clip(run().kills[0].app, 24)"), tab.says("document.querySelector('g.kill .called').textContent"))

    def test_an_orderly_exit_is_a_stroke_and_a_crash_a_star(self) -> None:
        run = self.make()
        with (run / "events.csv").open("a", encoding="utf-8") as file:
            file.write("1800,exit,feed,98,,normalApp,done,,,,normalApp,,,,\n1800,exit,maps,99,,abnormal,crashed,,,,abnormal,,,,\n")
        tab = self.open(self.page(run))
        self.assertEqual(tab.says("[document.querySelectorAll('path.end-left').length > 0, document.querySelectorAll('text.end-crashed').length]"), [True, 1])
        self.assertEqual(tab.says("document.querySelectorAll('path.kill.end-left').length"), 0)
        self.assertIn("maps: crashed", tab.says("document.querySelector('.rest').textContent"))
        said = tab.says("[...document.querySelectorAll('.legend')].map((one) => one.textContent).find((one) => one.includes('thin lines'))")
        for words in ("| quit or done", "★ crashed", "missed by the user"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
