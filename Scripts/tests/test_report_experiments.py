"""The page about a comparison, a sweep, a survival or a tuning, each made up."""

from __future__ import annotations

import json
import re
import unittest
from pathlib import Path

import pandas as pd
import test_survival
from harness import FolderCase, call_main, load_main
from synthetic_run import package_of
from test_experiments import write_comparison, write_sweep

from plimsoll_tools.plotting import comparison, conclusion, metrics, sweep

PIXEL = b"\x89PNG\r\n\x1a\n"


def write_tuning(folder: Path) -> None:
    folder.mkdir()
    problem = {"policy": {"name": "ladder"}, "space": [["grace", "0s to 1min"], ["below", "0% to 100%"]],
               "scenarios": {"commute": "1"}, "held out seeds": [101, 102]}  # fmt: skip
    facts = {"problem": problem, "command": ["a file.yaml", "--trials", "2"], "chosen_trial": 2, "verdicts": {}}
    (folder / "tuning.json").write_text(json.dumps(facts), "utf-8")
    (folder / "policy.yaml").write_text('plimsoll: 1\ndescription: "On 2 seeds: better."\nname: ladder\n', "utf-8")
    (folder / "trials.csv").write_text("trial,grace,below\n1,1s,100%\n2,9s,100%\n", "utf-8")
    (folder / "verdict.csv").write_text(
        "scenario,metric,default_mean,tuned_mean,difference,low,high\ncommute,terminations,4,3,-1,-2,-0.5\n", "utf-8"
    )
    (folder / "front.png").write_bytes(PIXEL)


class Verdicts(unittest.TestCase):
    def said(self, *found: tuple[str, str]) -> str:
        return conclusion.headline("jetsam", "lru", [conclusion.Finding(*one) for one in found])

    def test_a_gain_has_its_price(self) -> None:
        self.assertEqual(
            self.said(("latency", "better"), ("ends", "worse"), ("waits", "not_shown")),
            "jetsam is better than lru on latency; in return it is worse on ends",
        )

    def test_the_side_that_is_better_on_more_metrics_leads(self) -> None:
        self.assertEqual(
            self.said(("latency", "better"), ("ends", "worse"), ("waits", "worse")),
            "lru is better than jetsam on ends and waits; in return it is worse on latency",
        )

    def test_what_is_only_worse_makes_the_baseline_the_better_one(self) -> None:
        self.assertEqual(
            self.said(("ends", "worse"), ("frames", "identical")),
            "lru is better than jetsam on ends, and is shown to be worse on nothing",
        )

    def test_equal_runs_and_too_few_of_them_are_no_gain(self) -> None:
        self.assertEqual(self.said(("frames", "identical")), "jetsam and lru are identical on frames: every pair of runs is equal")
        self.assertEqual(self.said(("frames", "too_few")), "these runs allow no general conclusion about jetsam and lru")
        self.assertEqual(self.said(("frames", "higher")), "no difference between jetsam and lru is shown to be better or worse")

    def test_of_many_metrics_only_the_number_is_said(self) -> None:
        self.assertIn("on 4 metrics", self.said(*((name, "better") for name in "abcd")))


class Pages(FolderCase):
    def page(self, folder: Path, *more: object) -> str:
        status, out, said = call_main(load_main("reporting"), folder, *more)
        self.assertEqual((status, said), (0, ""))
        return Path(out.strip()).read_text("utf-8")

    def test_a_comparison_has_its_verdict_a_row_per_policy_and_its_picture(self) -> None:
        folder = self.directory / "c"
        write_comparison(folder, ["commute"], ["ladder", "jetsam <b>", "none"])
        (folder / "manifest.json").write_text(json.dumps({"command_line": ["/x/plimsoll", "compare", "a b.yaml"]}), "utf-8")
        self.assertIn('<p class="sentence">jetsam &lt;b&gt; is better than ladder on', self.page(folder))
        package = package_of() | {"description": "Over 20 seeds, x <b> is better.\nAnd so on."}
        (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
        text = self.page(folder)
        self.assertIn('<p class="sentence">Over 20 seeds, x &lt;b&gt; is better.</p>\n<p>And so on.</p>', text)
        self.assertEqual(text.count('<tr class="quiet">'), 1, "the yardstick alone is grey")
        self.assertEqual(text.count('class="num better"'), 4)
        self.assertEqual(text.count("data:image/png;base64,iVBOR"), 1)
        self.assertIn("plimsoll compare &#x27;a b.yaml&#x27;", re.sub("</?span>", "", text))
        self.assertNotIn("http", text.partition("<body")[2])
        self.assertEqual(text, self.page(folder), "a page takes the place of a page, with the same bytes")

    def test_links_lead_from_the_page_to_the_folder(self) -> None:
        folder = self.directory / "a survival"
        test_survival.write(folder)
        (folder / "datapackage.json").write_text(json.dumps({"resources": [
            {"path": "ends.csv", "description": "the ends"}, {"path": "absent.csv", "description": ""}]}), "utf-8")  # fmt: skip
        self.assertIn('href="./ends.csv"', self.page(folder))
        (self.directory / "out").mkdir()
        text = self.page(folder, "--out", self.directory / "out" / "page.html")
        self.assertIn('href="../a%20survival/ends.csv"', text)
        self.assertNotIn("absent.csv", text)

    def test_a_survival_opens_with_its_answer_and_shows_what_was_tried(self) -> None:
        folder = self.directory / "s"
        test_survival.write(folder)
        self.assertIn(
            "survives in 29 of 40 runs: 73%; 95% interval 57% to 84%, less than the 90% asked for.", self.page(folder)
        )
        (folder / "answer.txt").write_text("No: it survives in 29 of\n40 runs. It never leaves.\n", "utf-8")
        text = self.page(folder)
        self.assertIn('<p class="sentence">No: it survives in 29 of 40 runs.</p>\n<p>It never leaves.</p>', text)
        self.assertIn("+12 (+2 to +25)", text)
        self.assertIn("below +11", text)

    def test_a_sweep_opens_with_its_sentence_and_an_older_one_with_its_best_and_worst_means(self) -> None:
        folder = self.directory / "s"
        write_sweep(folder, {"device.cores": ["1", "2", "4"]})
        text = self.page(folder)
        self.assertIn(" has its best mean, ", text.partition('<p class="sentence">')[2].partition("</p>")[0])
        self.assertEqual(text.count("<tr class"), 6)
        package = package_of() | {"description": "Over 2 seeds, x <b> is best.", "decider": "launch_latency_p95_ms"}
        (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")
        text = self.page(folder)
        self.assertIn('<p class="sentence">Over 2 seeds, x &lt;b&gt; is best.</p>', text)
        means = pd.read_csv(folder / "sweep.csv").groupby(["policy_label", "device.cores"])["launch_latency_p95_ms"].mean()
        self.assertIn("".join(f'<td class="">{cell}</td>' for cell in means.idxmin()), text.partition("<tbody>")[2].partition("</tr>")[0])

    def test_the_best_setting_stands_first_and_scenarios_weigh_alike(self) -> None:
        rows = [("1", "a", 4), ("1", "a", 4), ("1", "b", 0), ("2", "a", 1), ("2", "b", 1)]
        table = pd.DataFrame(rows, columns=["cores", "scenario", "terminations"]).assign(policy="lru", policy_label="")
        means = sweep.settings_means(table, ["cores"], metrics.metrics_of(package_of()), "terminations")
        self.assertEqual(means[["cores", "terminations", "runs"]].to_numpy().tolist(), [["2", 1.0, 2], ["1", 2.0, 3]])

    def test_a_tuning_has_its_verdict_and_the_settings_that_changed(self) -> None:
        folder = self.directory / "t"
        write_tuning(folder)
        text = self.page(folder)
        self.assertIn('<p class="sentence">On 2 seeds: better.</p>', text)
        self.assertIn("grace", text)
        self.assertIn("1 of 2 searched parameters keep their defaults", text)
        self.assertIn("Scripts/tune &#x27;a file.yaml&#x27; --trials 2", re.sub("</?span>", "", text))
        self.assertEqual(text.count("data:image/png;base64,"), 1)

    def test_a_damaged_or_unfinished_experiment_is_one_line_and_66(self) -> None:
        for name in ("comparison.csv", "sweep.csv", "survival.csv", "tuning.json", "plan.json", "study.db"):
            folder = self.directory / name.replace(".", "-")
            folder.mkdir()
            (folder / name).write_text("a,b\n1,2\n", "utf-8")
            status, _, said = call_main(load_main("reporting"), folder)
            self.assertEqual((status, said.count("\n")), (66, 1), said)
        self.assertIn("not complete", said)


class Headlines(FolderCase):
    def test_the_verdict_is_the_headline_and_only_yardsticks_are_grey(self) -> None:
        write_comparison(self.directory / "c", ["a"], ["ladder", "jetsam", "none"])
        table = comparison.read(self.directory / "c")
        figure = comparison.draw(table, "a", metrics.metrics_of(package_of()), "seeds 1 to 20")
        words = [text.get_text() for text in figure.texts]
        self.assertIn("jetsam is better than ladder on 4 metrics", words)
        self.assertIn("a; seeds 1 to 20", words)
        dots = [line for line in figure.axes[0].lines if line.get_marker() in ("o", "<", ">")]
        self.assertEqual([line.get_color() for line in dots], [comparison.COLOURS["better"], "#A6A6A6"])
