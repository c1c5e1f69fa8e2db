"""Pictures of made-up comparisons and sweeps."""

from __future__ import annotations

import json
import math
from pathlib import Path

from synthetic_run import package_of, write_package
from test_plots import RunDirectoryCase

from plimsoll_tools.plotting import comparison, style, sweep
from plimsoll_tools.plotting.metrics import metrics_of

KNOWN = metrics_of(package_of())

METRICS = ("launch_latency_p95_ms", "hot_launch_ratio", "terminations", "bytes_reclaimed")


def write_comparison(directory: Path, scenarios: list[str], policies: list[str], scale: float = 1.0) -> None:
    lines = [",".join(comparison.NEEDS)]
    for scenario in [*scenarios, *([""] if len(scenarios) > 1 else [])]:
        for metric in METRICS:
            for index, policy in enumerate(policies):
                scope = "scenario" if scenario else "pooled"
                role = "baseline" if index == 0 else "yardstick" if policy == "none" else "candidate"
                verdict = ("baseline", "better", "not_shown", "worse")[min(index, 3)]
                figures = ["", "", ""] if index == 0 else [f"{index * scale - 2 + by}" for by in (0, -0.7, 0.9)]
                lines.append(
                    ",".join([scope, scenario, policy, role, metric, "lower", "120.5", "20", *figures, verdict])
                )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "comparison.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_package(directory)


def write_sweep(directory: Path, settings: dict[str, list[str]], seeds: int = 3) -> None:
    metrics_drawn = [one.name for one in KNOWN if one.is_drawn]
    head = ["case", "scenario_file", "policy_label", *settings, "scenario", "policy", "seed", *metrics_drawn]
    lines = [",".join(head)]
    number = 0
    for policy in ("lru", ""):
        for row in range(max((len(values) for values in settings.values()), default=1)):
            for seed in range(seeds):
                number += 1
                values = [values[row % len(values)] for values in settings.values()]
                figures = [f"{900 + 40 * row + seed}", "0.5", f"{row}", "", "3.5"]
                lines.append(",".join([f"{number}", "a.yaml", policy, *values, "a", "ladder", f"{seed}", *figures]))
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "sweep.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_package(directory)


class Experiments(RunDirectoryCase):
    def test_an_empty_path_is_not_the_current_folder(self) -> None:
        write_comparison(self.directory / "c", ["commute"], ["ladder", "jetsam"])
        status, err = self.plot(str(self.directory / "c"), "--out", "")
        self.assertEqual(status, 64)
        self.assertIn("--out: is empty", err)

    def test_one_scenario_has_one_picture_and_the_same_bytes_each_time(self) -> None:
        folder = self.directory / "c"
        write_comparison(folder, ["commute"], ["ladder", "jetsam", "lru", "none"])
        for out in ("a", "b"):
            status, err = self.plot(str(folder), "--out", str(self.directory / out))
            self.assertEqual((status, err), (0, ""))
        for name in ("comparison.png", "comparison.svg"):
            self.assertEqual((self.directory / "a" / name).read_bytes(), (self.directory / "b" / name).read_bytes())

    def test_several_scenarios_have_a_picture_each_and_one_together(self) -> None:
        write_comparison(self.directory / "c", ["a", "b $x$_"], ["ladder", "jetsam"])
        status, err = self.plot(str(self.directory / "c"), "--format", "png")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(sorted(path.name for path in (self.directory / "c" / "plots").iterdir()),
                         ["comparison-1.png", "comparison-2.png", "comparison.png"])  # fmt: skip

    def test_a_yardstick_far_away_is_an_arrow_and_moves_the_axis_little(self) -> None:
        write_comparison(self.directory / "c", ["a"], ["ladder", "jetsam", "none"], scale=1.0)
        table = comparison.read(self.directory / "c")
        rows = table[table["metric"] == "terminations"].copy()
        near = comparison.limits(rows)
        rows.loc[rows["policy"] == "none", ["difference", "difference_low", "difference_high"]] = [9e6, 8e6, 9.5e6]
        far = comparison.limits(rows)
        self.assertLess(far[1] - far[0], 3 * (near[1] - near[0]))
        self.assertLessEqual(far[0], -1.7)

    def test_figures_are_in_their_units(self) -> None:
        for value, unit, text in [(0.05, "1", "+5 pp"), (-1500, "ms", "-1.5 s"), (0, "s", "0"), (0.0012, "s", "+1.2 ms"),
                                  (-3, "", "-3"), (2 << 20, "byte", "+2 MiB")]:  # fmt: skip
            self.assertEqual(comparison.number_text(value, unit), text)
        self.assertEqual(comparison.number_text(0.375, "1", signed=False), "37.5%")

    def test_unknown_values_are_said(self) -> None:
        write_comparison(self.directory / "c", ["a"], ["ladder", "jetsam"])
        table = comparison.read(self.directory / "c")
        table[["mean", "difference", "difference_low", "difference_high"]] = math.nan
        figure = comparison.draw(table, "a", KNOWN)
        words = [text.get_text() for axes in figure.axes for text in axes.texts]
        self.assertEqual(words.count("unknown"), 2 * len(METRICS))

    def test_a_damaged_file_is_one_line_and_66(self) -> None:
        for name in ("comparison.csv", "sweep.csv"):
            for content in ("a,b\n1,2\n", "scope\n"):
                folder = self.directory / f"{name}-{len(content)}"
                folder.mkdir()
                (folder / name).write_text(content, encoding="utf-8")
                status, err = self.plot(str(folder))
                self.assertEqual(status, 66, content)
                self.assertEqual(err.count("\n"), 1, err)

    def test_sweeps_over_sizes_words_and_wide_ranges_are_drawn(self) -> None:
        wide = {
            "device.ceiling_bytes": [str(1 << (20 + 2 * step)) for step in range(6)],
            "policy.parameters.mode": ["a", "b", "on $x$"],
            "device.cores": ["1", "2", "4"],
        }
        write_sweep(self.directory / "s", wide)
        table, settings, known = sweep.read(self.directory / "s")
        self.assertEqual(settings, list(wide))
        figure = sweep.draw(table, settings, known)
        assert figure is not None
        # A metric that no run has is left out, and one that is the same in every run is a line of text.
        self.assertEqual(len(figure.axes), 2 * 3)
        self.assertEqual([text.get_text().endswith(" in every run") for text in figure.texts].count(True), 2)
        self.assertEqual([axes.get_xscale() for axes in figure.axes[:3]], ["log", "linear", "linear"])
        style.prepare()
        status, err = self.plot(str(self.directory / "s"), "--format", "png")
        self.assertEqual((status, err), (0, ""))

    def test_what_decides_is_drawn_first_and_the_yardstick_is_no_setting(self) -> None:
        folder = self.directory / "s"
        write_sweep(folder, {"device.cores": ["1", "2"]})
        decider = next(one for one in KNOWN if not one.is_drawn)
        lines = (folder / "sweep.csv").read_text("utf-8").splitlines()
        told = [line + ("," + (decider.name if number == 0 else str(number))) for number, line in enumerate(lines)]
        (folder / "sweep.csv").write_text("\n".join(told) + "\n", "utf-8")
        package = package_of() | {"decider": decider.name, "yardstick": "lru"}
        (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
        table, _, shown = sweep.read(folder)
        self.assertNotIn("lru", set(table["policy_label"]))
        self.assertEqual(len(table), (len(lines) - 1) // 2)
        self.assertEqual(shown, [decider, *(one for one in KNOWN if one.is_drawn)])

    def test_a_sweep_of_seeds_alone_has_no_picture_and_says_so(self) -> None:
        write_sweep(self.directory / "s", {})
        status, err = self.plot(str(self.directory / "s"))
        self.assertEqual(status, 0)
        self.assertIn("no setting was varied", err)
