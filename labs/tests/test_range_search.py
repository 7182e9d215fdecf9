"""``python -m labs.range-search``, from the outside."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from functional.conftest import write_jsonl
from labs.tests.running import lab_here
from oracles.texts import versions

HOSTILE = "<script>alert(1)</script> a text with an unmistakable sentence that nobody else has"
RUSSIAN = "Этот документ написан по-русски, и латинских букв в нём нет совсем, номер {}."
TIMES = ("mean_s", "median_s")


def corpus_of(path: Path, texts: list[str]) -> Path:
    return write_jsonl(path, [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("range-search")
    texts = versions(3, n_bases=12, n_words=80, n_versions=3, max_edits=2)
    others = ["too short", "", HOSTILE, HOSTILE + "!", RUSSIAN.format(1), RUSSIAN.format(2)]
    corpus = corpus_of(where / "corpus.jsonl", [*texts, texts[0], *others])
    ended = lab_here("range-search", corpus, "--out", where / "out", "--queries", 40)
    assert ended.code == 0, ended.err
    return where / "out"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_summary_counts_every_document(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    corpus = summary["corpus"]
    assert (corpus["n_documents"], corpus["n_without_text"]) == (55, 1)
    assert (corpus["n_counted"], corpus["n_few_letters"], corpus["n_other_letters"]) == (51, 1, 2)
    assert summary["parameters"]["queries"] == 40
    assert summary["parameters"]["tau"] == pytest.approx(7.6, abs=1e-3)
    for alike in summary["texts_compared"]:
        assert alike["n_drawn"] == alike["n_compared"] + alike["n_too_long"] > 0
    assert summary["texts_compared"][1]["n_matches"] >= summary["texts_compared"][0]["n_matches"]


def test_tables_hold_every_way(folder: Path) -> None:
    names = sorted(path.stem for path in (folder / "tables").iterdir())
    assert names == [
        "claims", "figure-1-edit-similarity", "figure-1-shares", "figure-2-projections", "least-similar-matches",
        "survivors", "table-1-seconds", "table-2-precision-and-recall", "taus",
    ]  # fmt: skip
    for path in (folder / "tables").iterdir():
        lines = list(csv.reader(path.open(encoding="utf-8")))
        assert len({len(line) for line in lines}) == 1
        assert len(lines) > 1, path
    found = {(row["gamma"], row["way"]): row for row in rows_of(folder / "tables/table-2-precision-and-recall.csv")}
    assert len(found) == 12
    for gamma in ("0.025", "0.05"):
        assert found[gamma, "range-index"]["recall"] == "1.0"
        assert float(found[gamma, "algorithm-2-filters"]["precision"]) >= float(
            found[gamma, "algorithm-2"]["precision"]
        )
        assert found[gamma, "flann-kd-tree"]["recall"] == ""
    assert found["0.025", "algorithm-2"]["published_precision"] == "0.912"
    for gamma in ("0.025", "0.05"):
        shares = [row for row in rows_of(folder / "tables/figure-1-edit-similarity.csv") if row["gamma"] == gamma]
        assert sum(float(row["share"]) for row in shares) == pytest.approx(1)


def test_page_is_one_file_without_network_script_or_text(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert "<script" not in page
    assert "unmistakable" not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    for path in (folder / "figures").iterdir():
        ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert page.count('class="nk-figure"') == 2 * len(list((folder / "figures").iterdir())) == 12
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert ">nan<" not in page.lower()


@pytest.mark.soak
def test_results_do_not_depend_on_threads(folder: Path, tmp_path: Path) -> None:
    corpus = folder.parent / "corpus.jsonl"
    options = ("--out", tmp_path / "out", "--queries", 40, "--threads", 1)
    ended = lab_here("range-search", corpus, *options)
    assert ended.code == 0, ended.err
    for path in (tmp_path / "out/tables").iterdir():
        here, there = rows_of(path), rows_of(folder / "tables" / path.name)
        for row in (*here, *there):
            for name in TIMES:
                row.pop(name, None)
        assert here == there, path.stem


@pytest.mark.soak
def test_other_scripts_are_counted_by_the_other_alphabet(folder: Path, tmp_path: Path) -> None:
    corpus = folder.parent / "corpus.jsonl"
    options = ("--alphabet", "universal", "--tau", "2", "--out", tmp_path / "out")
    ended = lab_here("range-search", corpus, *options)
    assert ended.code == 0, ended.err
    assert re.search(r"Nearkin's index +1\.000", ended.out)
    assert "Skipped: 1 with fewer than 20 letters, 1 without text." in ended.out.replace("\n", " ")
    summary = json.loads((tmp_path / "out/summary.json").read_text(encoding="utf-8"))
    assert (summary["parameters"]["dimensions"], summary["corpus"]["n_other_letters"]) == (126, 0)
    assert summary["parameters"]["half_width"] == pytest.approx(2 / 126**0.5)


def test_strangers_have_a_page_too(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.jsonl", ["a document about one thing only", "zzz yyy xxx www vvv uuu ttt sss rrr"])
    ended = lab_here("range-search", corpus, "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert "NaN" not in (tmp_path / "out/summary.json").read_text(encoding="utf-8")
    assert ">nan<" not in (tmp_path / "out/report.html").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("texts", "options", "code", "message"),
    [
        (["alone"], (), 3, "at least 2 documents with a text"),
        (["a", "b"], (), 3, "at least 20 letters or digits"),
        (["a", "b"], ("--documents", "1"), 2, "documents"),
        (["a", "b"], ("--alphabet", "greek"), 2, "alphabet"),
        (["a", "b"], ("--tau", "0"), 2, "tau"),
    ],
)
def test_bad_input_is_refused_in_words(
    tmp_path: Path, texts: list[str], options: tuple[str, ...], code: int, message: str
) -> None:
    ended = lab_here("range-search", corpus_of(tmp_path / "c.jsonl", texts), "--out", tmp_path / "out", *options)
    assert ended.code == code
    assert message in ended.err
    assert not (tmp_path / "out/summary.json").exists()


def test_results_of_others_are_not_touched(folder: Path, tmp_path: Path) -> None:
    corpus = folder.parent / "corpus.jsonl"
    ended = lab_here("range-search", corpus, "--out", folder)
    assert ended.code == 5
    assert "is not empty" in ended.err
    (tmp_path / "notes.txt").write_text("mine")
    ended = lab_here("range-search", corpus, "--out", tmp_path)
    assert ended.code == 5
    assert (tmp_path / "notes.txt").read_text() == "mine"
