"""``python -m labs.signatures``, from the outside."""

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

HOSTILE = "<script>alert(1)</script> a text of its own that shares nothing with any other"


def corpus_of(path: Path, texts: list[str]) -> Path:
    return write_jsonl(path, [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("signatures")
    texts = versions(3, n_bases=12, n_words=80, n_versions=3, max_edits=3)
    corpus = corpus_of(where / "corpus.jsonl", [*texts, texts[0], "", HOSTILE, HOSTILE + "!"])
    ended = lab_here("signatures", corpus, "--out", where / "out")
    assert ended.code == 0, ended.err
    return where / "out"


def test_summary_has_every_part(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    corpus = summary["corpus"]
    assert (corpus["n_documents"], corpus["n_without_text"], corpus["n_distinct_texts"]) == (52, 1, 50)
    unique = {(row["method"], row["bits"]): row for row in summary["tables"]["figure-1-unique-signatures"]}
    assert unique["weighted-topsig", 1024]["unique_signatures"] == 50
    assert unique["simple-minhash", 16]["unique_signatures"] < 50
    for row in summary["tables"]["table-2-documents-per-signature"]:
        found = unique[row["method"], row["bits"]]["unique_signatures"]
        assert row["mean"] == pytest.approx(51 / found)
    assert summary["n_alike"]["characters"] > 0
    assert summary["advice"]["sentences"]
    assert summary["advice"]["bits"] in summary["parameters"]["bits"]


def page_of(folder: Path) -> str:
    return " ".join((folder / "report.html").read_text(encoding="utf-8").split())


def test_sentences_follow_from_what_was_measured(folder: Path) -> None:
    """What is recommended, and what the article finds compelling, beside what they reach."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    told = {
        (row["method"], row["bits"]): row["f1"]
        for row in summary["tables"]["precision-and-recall"]
        if row["truth"] == "characters" and row["which"] == "best"
    }
    advice, favourite = summary["advice"], told["weighted-topsig", 32]
    chosen = told[advice["method"], advice["bits"]]
    (said,) = [sentence for sentence in advice["sentences"] if "article's favourite" in sentence]
    assert ("results are about as good" in said) == (favourite >= chosen - 0.02)
    assert (f"an F1 of {favourite:.2f} instead of {chosen:.2f}" in said) == (favourite < chosen - 0.02)
    (said,) = [sentence for sentence in advice["sentences"] if "nearkin sign makes" in sentence]
    kinds = ("simhash", "simhash-fast", "topsig", "weighted-topsig", "minhash")
    assert max(f1 for (kind, _), f1 in told.items() if kind in kinds) <= chosen + 0.02


def test_paper_way_signs_as_we_do(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "tables/paper-way.csv").open(encoding="utf-8")))
    equal = {row["method"]: row["documents_with_equal_signatures"] for row in rows}
    assert equal == {"simhash": "3", "topsig": "", "weighted-topsig": "", "simple-minhash": "3"}
    assert "Of its 42 signatures of Simhash and of the simple Minhash 42 are bit for bit" in page_of(folder)


def test_neighbour_histograms_count_every_document(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "tables/figures-2-and-3-neighbours.csv").open(encoding="utf-8")))
    for row in rows:
        assert sum(int(n) for name, n in row.items() if name.startswith("with_")) == 51
        if row["distance"] == "1":
            assert int(row["with_0"]) <= 49  # two documents have one text


def test_tables_are_csv_with_headers(folder: Path) -> None:
    tables = sorted(path.stem for path in (folder / "tables").iterdir())
    assert tables == [
        "bits-apart", "claims", "confusions", "drift", "drift-online", "figure-1-unique-signatures",
        "figures-2-and-3-neighbours", "paper-way", "precision-and-recall", "precision-recall-curve-64-bits",
        "table-1-seconds", "table-2-documents-per-signature",
    ]  # fmt: skip
    for path in (folder / "tables").iterdir():
        rows = list(csv.reader(path.open(encoding="utf-8")))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 1, path


def test_page_is_one_file_without_network_or_script(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    for path in (folder / "figures").iterdir():
        ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert page.count('class="nk-figure"') == 2 * len(list((folder / "figures").iterdir()))
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert ">nan<" not in page.lower()


@pytest.mark.soak
def test_results_do_not_depend_on_threads(folder: Path, tmp_path: Path) -> None:
    corpus = folder.parent / "corpus.jsonl"
    ended = lab_here("signatures", corpus, "--out", tmp_path / "out", "--threads", 1)
    assert ended.code == 0, ended.err
    for path in (tmp_path / "out/tables").iterdir():
        if path.stem not in ("table-1-seconds", "paper-way"):
            assert path.read_bytes() == (folder / "tables" / path.name).read_bytes(), path.stem


def test_all_equal_texts_are_one_signature(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.jsonl", ["the same words in every document"] * 30)
    ended = lab_here("signatures", corpus, "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert "No two of these texts are similar" in ended.out.replace("\n", " ")
    summary = json.loads((tmp_path / "out/summary.json").read_text(encoding="utf-8"))
    assert {row["unique_signatures"] for row in summary["tables"]["figure-1-unique-signatures"]} == {1}
    assert summary["corpus"]["n_distinct_texts"] == 1
    assert {row["with_10_or_more"] for row in summary["tables"]["figures-2-and-3-neighbours"]} == {30}


def test_two_short_texts_are_enough(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c.jsonl", ["a", "b"])
    ended = lab_here("signatures", corpus, "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert "NaN" not in (tmp_path / "out/summary.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("texts", "options", "code", "message"),
    [
        (["alone"], (), 3, "at least 2 documents with a text"),
        (["", "  "], (), 3, "at least 2 documents with a text"),
        (["a", "b"], ("--documents", "1"), 2, "documents"),
        (["a", "b"], ("--text", "body"), 3, "body"),
    ],
)
def test_bad_input_is_refused_in_words(
    tmp_path: Path, texts: list[str], options: tuple[str, ...], code: int, message: str
) -> None:
    ended = lab_here("signatures", corpus_of(tmp_path / "c.jsonl", texts), "--out", tmp_path / "out", *options)
    assert ended.code == code
    assert message in ended.err
    assert not (tmp_path / "out/summary.json").exists()


def test_results_of_others_are_not_touched(folder: Path, tmp_path: Path) -> None:
    corpus = folder.parent / "corpus.jsonl"
    ended = lab_here("signatures", corpus, "--out", folder)
    assert ended.code == 5
    assert "is not empty" in ended.err
    (tmp_path / "notes.txt").write_text("mine")
    ended = lab_here("signatures", corpus, "--out", tmp_path)
    assert ended.code == 5
    assert (tmp_path / "notes.txt").read_text() == "mine"
