"""What the summary and the report say of kept documents is true of the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearkin
from functional.conftest import nearkin_here, write_jsonl


def words(start: int, end: int) -> str:
    return " ".join(f"w{i}" for i in range(start, end))


def said(report: Path) -> str:
    """The text of a page, on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", report.read_text("utf-8")).split())


OVERLAPPING = {"A": words(0, 66), "B": words(10, 66), "C": words(16, 66)}


def kept_of(documents: dict[str, str], out: Path, *options: str) -> list[str]:
    source = write_jsonl(out.with_suffix(".jsonl"), [{"id": name, "text": text} for name, text in documents.items()])
    ended = nearkin_here("dedup", source, "--out", out, "--threshold", "0.8", *options)
    assert ended.code == 0, ended.err
    return pq.read_table(out / "documents.parquet", filters=[("keep", "=", True)])["id"].to_pylist()


def test_a_member_can_come_before_its_principal_and_the_report_says_so(tmp_path):
    out = tmp_path / "out"
    assert kept_of(OVERLAPPING, out) == ["A", "C"]
    rows = pq.read_table(out / "documents.parquet").to_pylist()
    assert [row["group"] for row in rows] == ["A", "C", "C"]  # B is longer than its principal
    text = said(out / "report.html")
    assert "the longest text of a group" not in text
    assert (
        "the longest text first (white space counts only to break a tie); a document that matches several principals"
        " joins the most similar one" in text
    )


GREEK = "Ο Γιάννης και ο αδελφός του πήγαν στον κήπο της πόλης για να δουν τους φίλους τους"


@pytest.mark.parametrize(
    ("text", "copy", "is_copy"),
    [
        ("ΟΔΟΣ", "οδοσ", True),
        ("ΟΔΟΣ", "οδος", False),
        ("İZMİR", "izmir", True),
        ("STRASSE", "straße", False),
        (GREEK, GREEK.upper(), False),
    ],
)
def test_the_glossary_says_what_case_does(text, copy, is_copy):
    reasons = nearkin.dedup([text, copy]).documents["reason"].to_pylist()
    assert ("exact copy" in reasons) == is_copy
    glossary = (Path(__file__).parents[2] / "docs/glossary.md").read_text("utf-8")
    assert text == GREEK or f"`{text}`" in glossary


def test_results_that_are_the_input_are_named_once(tmp_path):
    source = write_jsonl(tmp_path / "a.jsonl", [{"id": 1, "text": "a text"}])
    before = source.read_bytes()
    ended = nearkin_here("dedup", source, "--out", source, "--overwrite")
    assert (ended.code, source.read_bytes()) == (5, before)
    assert f"Cannot write {source}: it is a file, and --out must be a directory." in " ".join(ended.err.split())


def test_of_a_component_the_first_is_kept(tmp_path):
    assert kept_of(OVERLAPPING, tmp_path / "out", "--group", "component") == ["A"]
    page = said(tmp_path / "out/report.html")
    assert "is kept, in this order: the longest text first (white space counts only to break a tie)" in page


def test_a_run_against_another_set_says_that_duplicates_within_the_input_stay(tmp_path):
    mine = {"A": words(0, 66), "B": words(0, 66), "C": words(0, 60), "D": words(100, 160)}
    theirs = write_jsonl(tmp_path / "theirs.jsonl", [{"id": "x", "text": words(100, 160)}])
    source = write_jsonl(tmp_path / "mine.jsonl", [{"id": name, "text": text} for name, text in mine.items()])
    ended = nearkin_here("dedup", source, "--against", theirs, "--out", tmp_path / "new")
    assert "4 documents: 3 kept, 1 dropped" in ended.out
    summary = " ".join(ended.out.split())
    assert "unique no match in the other set" in summary
    assert "matches no other kept document" not in summary
    assert "Documents of INPUT were not compared with each other" in summary
    text = said(tmp_path / "new/report.html")
    assert "no match in the other set" in text
    assert "matches no other kept document" not in text
    assert "Documents of the input are not compared with each other" in text
    again = nearkin_here("dedup", tmp_path / "new", "--out", tmp_path / "clean")  # what the report advises
    assert "3 documents: 1 kept, 2 dropped" in again.out
    assert "matches no other kept document" in again.out
    of_results = said(tmp_path / "clean/report.html")
    assert "not compared with each other" not in again.out + of_results
    assert "1 earlier run; the digest is the SHA-256 of the run" in of_results
    assert "counts the rows of its documents.parquet, from 1" in of_results
    assert "1 file; the digest is the SHA-256 of the file." in text
    parameters = next(line for line in ended.err.splitlines() if "measure jaccard" in line)
    assert "group principal" not in parameters
    assert "keep longest" not in parameters, "they have no effect on documents that are not grouped"
    assert "group principal, keep longest" in again.err
    audited = " ".join(nearkin_here("audit", tmp_path / "new").out.split())
    assert "one in the input and one in the other set" in audited
    assert "sampled 4 all documents with a text;" in audited
    audited = " ".join(nearkin_here("audit", tmp_path / "clean").out.split())
    assert "sampled 2 all distinct texts;" in audited
