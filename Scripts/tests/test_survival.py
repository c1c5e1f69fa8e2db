"""Pictures of made-up answers of `plimsoll survive`."""

from __future__ import annotations

from pathlib import Path

from test_plots import RunDirectoryCase

from plimsoll_tools.plotting import survival

SURVIVAL = {"app": "editor $x$", "scenario": "commuter", "runs": "40", "lived": "29", "survival_ratio": "0.725",
            "survival_low": "0.57", "survival_high": "0.84", "asked_ratio": "0.9", "verdict": "no",
            "footprint_bytes": "314572800", "ceiling_bytes": "3221225472"}  # fmt: skip
SIZES = [(96, "true"), (160, "true"), (192, ""), (224, "false"), (288, "true"), (352, "false")]
CHANGES = [("half-the-cache", "0.12", "0.02", "0.25"), ("answers-warnings", "-0.05", "-0.15", "0.04"),
           ("saves-state", "", "", "0.1")]  # fmt: skip


def write_table(path: Path, rows: list[dict[str, str]], columns: list[str]) -> None:
    lines = [",".join(columns), *(",".join(row.get(name, "") for name in columns) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def settings() -> list[dict[str, str]]:
    rows = [{"kind": "own", "name": "as asked", "enough": "false", "runs": "40", "lived": "29"}]
    rows += [{"kind": "footprint", "name": f"{size}MiB", "footprint_bytes": str(size << 20), "enough": good, "runs": "36", "lived": "36"}
             for size, good in SIZES]  # fmt: skip
    rows += [{"kind": "device", "name": name, "ceiling_bytes": str(size << 30), "enough": good}
             for name, size, good in [("small", 2, "false"), ("large", 6, "true"), ("huge", 8, "")]]  # fmt: skip
    rows += [{"kind": "change", "name": name, "gain": gain, "gain_low": low, "gain_high": high}
             for name, gain, low, high in CHANGES]  # fmt: skip
    return rows


def write(directory: Path, empty: bool = False) -> None:
    directory.mkdir(parents=True)
    tables: dict[str, list[dict[str, str]]] = {
        "survival": [SURVIVAL],
        "stays": [] if empty else [{"length_s": str(length)} for length in (5, 60, 60, 900, 1800)],
        "background": [] if empty else [
            {"length_s": str(length), "at_risk": str(left), "ended": "1", "censored": "0", "survival_ratio": share,
             "survival_low": str(float(share) / 2), "survival_high": "1"}
            for length, left, share in [(0, 5, "1"), (60, 4, "0.8"), (900, 2, "0.5"), (1800, 1, "0.5")]
        ],
        "ends": [] if empty else [
            {"exit_reason": "memoryPressure", "foreground": str(place == 3).lower(), "beneficiary": f"app{place}",
             "counter": "cumulativeMemoryPressureExitCount", "count": str(count)}
            # The last row is of a kind that has a row already, for another need.
            for place, count in [*((place, 9 - place) for place in range(1, 9)), (0, 5), (0, 4)]
        ],
        "settings": settings()[:1] if empty else settings(),
    }  # fmt: skip
    for name, rows in tables.items():
        more = ["ceiling_bytes"] if name == "settings" else []
        write_table(directory / f"{name}.csv", rows, [*survival.FILES[name], *more])


class Survival(RunDirectoryCase):
    def words(self, directory: Path) -> list[str]:
        figure = survival.draw(survival.read(directory))
        found = [text.get_text() for axes in figure.axes for text in [*axes.texts, axes.title]]
        return [*found, *(axes.get_title(loc="left") for axes in figure.axes), *(text.get_text() for text in figure.texts)]

    def test_an_answer_has_one_picture_and_the_same_bytes_each_time(self) -> None:
        write(self.directory / "s")
        for out in ("a", "b"):
            status, err = self.plot(str(self.directory / "s"), "--out", str(self.directory / out))
            self.assertEqual((status, err), (0, ""))
        for name in ("survival.png", "survival.svg"):
            self.assertEqual((self.directory / "a" / name).read_bytes(), (self.directory / "b" / name).read_bytes())

    def test_it_shows_the_answer_the_ends_the_devices_and_the_gains(self) -> None:
        write(self.directory / "s")
        words = self.words(self.directory / "s")
        for text in ("editor $x$ survives in 29 of 40 runs: 73%", "9  MemoryPressure for app0", "+12", "-5",
                     "large  (6 GiB)", "as asked: 300 MiB", "half the cache"):  # fmt: skip
            self.assertIn(text, words)
        self.assertTrue(any("less than the 90% asked for" in text for text in words))
        # What seems to be enough is drawn, too; a change whose runs stopped has the most that it can gain.
        self.assertIn("huge  (8 GiB)", words)
        self.assertIn("<11", words)
        self.assertIn("on which device it survives in 90% of the runs (ring: it seems to)", words)
        # Nine kinds of ends have room for seven lines.
        self.assertIn("6  3 other kinds", words)

    def test_what_is_enough_what_is_not_and_what_only_seems_to_be_have_their_own_marks(self) -> None:
        write(self.directory / "s")
        figure = survival.draw(survival.read(self.directory / "s"))
        strip = next(axes for axes in figure.axes if axes.get_xlabel().startswith("footprint"))
        marks = [(line.get_marker(), line.get_markerfacecolor()) for line in strip.lines][: len(SIZES)]
        for (_, enough), (marker, inside) in zip(SIZES, marks, strict=True):
            self.assertEqual(marker, "x" if enough == "false" else "o")
            self.assertEqual(inside == "none", enough == "")

    def test_the_stays_that_last_so_long_stand_above_the_axis(self) -> None:
        write(self.directory / "s")
        figure = survival.draw(survival.read(self.directory / "s"))
        numbers = [text.get_text() for text in figure.axes[0].texts if text.get_text().isdigit()]
        self.assertEqual((numbers[0], numbers[-1]), ("5", "1"))

    def test_an_answer_without_stays_ends_and_searches_is_drawn(self) -> None:
        write(self.directory / "s", empty=True)
        words = self.words(self.directory / "s")
        for text in ("it never leaves the screen", "it is never ended", "not searched", "none was tried"):
            self.assertIn(text, words)

    def test_a_damaged_file_is_one_line_and_66(self) -> None:
        write(self.directory / "s")
        (self.directory / "s" / "background.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        status, err = self.plot(str(self.directory / "s"))
        self.assertEqual((status, err.count("\n")), (66, 1), err)
