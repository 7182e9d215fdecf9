"""Documents without a text in overlays: those of a collection say what those of a run say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from functional.conftest import nearkin_here

TEXTS = {
    "A-1": "The tenant pays the rent on the first day of each month to the landlord.",
    "A-2": "Something else is written here about the weather and the sea in winter.",
    "A-3": "", "A-4": "", "A-5": " \n", "A-6": "12 34 56", "A-7": "12 34 56", "A-8": "...", "A-9": None,
    "A-10": "Signed in private", "A-11": "Signed in private",
}  # fmt: skip
MORE = [(), ("--ignore-numbers",), ("--ignore", "ignore.txt"), ("--ignore-numbers", "--ignore", "ignore.txt")]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A load file with empty texts, numbers, a text that may be ignored, a missing text and a damaged record."""
    (tmp_path / "TEXT").mkdir()
    with (tmp_path / "load.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["BEGDOC", "TEXTPATH"])
        for control, text in TEXTS.items():
            writer.writerow([control, f"TEXT/{control}.txt"])
            if text is not None:
                (tmp_path / f"TEXT/{control}.txt").write_text(text, "utf-8")
        writer.writerow(["A-12", "one", "too many"])
    (tmp_path / "ignore.txt").write_text("Signed in private\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "load.csv"


def rows(path: Path) -> dict[str, list[str]]:
    _, *found = (line[1:-1].split("þ\x14þ") for line in path.read_text("utf-8-sig").splitlines())
    assert len(found) == len(dict.fromkeys(row[0] for row in found))
    return {row[0]: row[1:] for row in found}


@pytest.mark.parametrize("more", MORE, ids=" ".join)
@pytest.mark.parametrize("tool", ["relativity", "reveal"])
def test_an_overlay_of_a_collection_says_of_them_what_one_of_a_run_says(load: Path, more: tuple, tool: str) -> None:
    lax = (*more, "--max-unreadable", "0.5")
    nearkin_here("dedup", load, "--out", "run", "--overlay", tool, "--no-report", "-q", *lax).assert_done()
    nearkin_here("add", "matter", load, "-q", *lax).assert_done()
    nearkin_here("groups", "matter", "--overlay", tool, "--out", "g.dat", "-q").assert_done()
    of_run, of_collection = rows(Path("run/overlay.dat")), rows(Path("g.dat"))
    textless = ["A-3", "A-4", "A-5", "A-9"] + ["A-6", "A-7"] * ("--ignore-numbers" in more)
    textless += ["A-10", "A-11"] * ("--ignore" in more)
    assert {one: of_collection[one] for one in textless} == {one: of_run[one] for one in textless}
    assert of_collection.keys() == of_run.keys()
    assert "A-12" not in of_collection  # whose control number is unknown
    expected = {"empty", *("numbers only",) * ("--ignore-numbers" in more), *("ignored only",) * ("--ignore" in more)}
    told = {one.lower() for row in of_collection.values() for one in row}
    assert told & {"empty", "numbers only", "ignored only"} == expected
