"""``python -m labs.cross-lingual``, from the outside."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, write_jsonl
from labs.cross_lingual.documents import ParallelDocuments
from labs.tests.running import lab_here
from labs.tests.translated import table, translated

HOSTILE = "<script>alert(1)</script>"
SECRET = "unmistakable"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def records_of(documents: ParallelDocuments) -> list[dict[str, object]]:
    columns = (documents.ids.to_pylist(), documents.left.to_pylist(), documents.right.to_pylist())
    return [{"id": one, "de": left, "en": right} for one, left, right in zip(*columns, strict=True)]


def lab(folder: Path, *arguments: str | Path, out: str = "out") -> Ended:
    columns = ("--left-column", "de", "--right-column", "en")
    return lab_here("cross-lingual", *arguments, *columns, "--threads", 2, "--out", folder / out)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sets in two formats, a table, and the translation of a few documents."""
    where = tmp_path_factory.mktemp("cross-lingual")
    table().write(where / "de-en.table")
    records = records_of(translated(40, seed=1))
    records[5]["de"] = ""
    records[6]["en"] = None
    records[0]["id"] = HOSTILE
    records[1]["de"] = f"{records[1]['de']} {SECRET} {SECRET} &lt; <b>"
    pq.write_table(pa.Table.from_pylist(records), where / "news.parquet")
    write_jsonl(where / "few.jsonl", records_of(translated(10, seed=2)))
    known = [{"id": one["id"], "text": one["en"]} for one in records[10:30]]
    write_jsonl(where / "known.jsonl", known)
    return where


@pytest.fixture(scope="module")
def out(files: Path) -> Path:
    ended = lab(
        files, files / "news.parquet", files / "few.jsonl", "--table", files / "de-en.table", "--translated",
        files / "known.jsonl",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return files / "out"


def test_summary_counts_documents_and_what_was_found(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["experiment"] == "cross-lingual"
    first, second = summary["sets"]
    assert (first["name"], first["n_rows"], first["n_incomplete"], first["n_documents"]) == ("news", 40, 2, 38)
    assert (second["name"], second["n_documents"], second["n_compared"]) == ("few", 10, 10)
    assert first["table"] | {"fingerprint": ""} == {"source": "de", "target": "en", "n_pairs": 264, "fingerprint": ""}
    assert summary["largest"] == "news"
    assert summary["signatures"]["n_pairs"] == 38 * 38
    assert first["n_first"] >= 30
    assert [claim["effectiveness"] for claim in summary["windows"]["claims"]] == [0.93, 0.95, 0.98]


def test_tables_hold_every_way_and_setting(out: Path) -> None:
    names = sorted(path.stem for path in (out / "tables").iterdir())
    assert names == [
        "figure-1-cosines", "figure-5-lines", "figure-5-times", "figures-6-to-8-windows", "finding", "table-1-errors",
        "table-2-signatures", "table-3-examples", "thresholds",
    ]  # fmt: skip
    ways = {(row["set"], row["way"]): row for row in rows_of(out / "tables/finding.csv")}
    steps = ["projection", "no-agreement", "no-stems", "no-splits", "once", "gloss"]
    assert [way for one, way in ways if one == "news"] == [*steps, "translated"]
    assert [way for one, way in ways if one == "few"] == steps
    assert ways["news", "translated"]["compared"] == "20"
    assert float(ways["news", "translated"]["mean_cosine"]) > 0.9
    histogram = [row for row in rows_of(out / "tables/figure-1-cosines.csv") if row["way"] == "projection"]
    assert sum(int(row["documents"]) for row in histogram if row["set"] == "news") == 38
    at = [row for row in rows_of(out / "tables/thresholds.csv") if (row["set"], row["way"]) == ("news", "projection")]
    recalls = [float(row["recall"]) for row in at]
    assert recalls == sorted(recalls, reverse=True)
    assert len(rows_of(out / "tables/table-1-errors.csv")) == 9
    settings = rows_of(out / "tables/figures-6-to-8-windows.csv")
    assert {row["permutations"] for row in settings} == {"10", "20", "50", "100", "200", "300", "500", "1000"}
    assert all(0 <= float(row["recall"]) <= float(row["recall_with_cosines"]) <= 1 for row in settings)
    examples = rows_of(out / "tables/table-3-examples.csv")
    assert {row["place"] for row in examples} == {"1", "2", "3"}
    assert any(" = " in row["terms"] for row in examples)


def test_page_is_one_file_without_network_script_or_text(out: Path) -> None:
    page = (out / "report.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page  # the id of an example
    assert SECRET not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    figures = list((out / "figures").iterdir())
    for path in figures:
        ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert page.count('class="nk-figure"') == 2 * len(figures) == 14
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert ">nan<" not in page.lower()
    assert "the given translation" in page


@pytest.mark.soak
def test_the_terminal_tells_the_main_numbers(files: Path) -> None:
    ended = lab(files, files / "few.jsonl", "--table", files / "de-en.table", out="plain")
    assert ended.code == 0, ended.err
    assert re.search(r"few +projection +\d+ of 10 ", ended.out)
    assert "1,000 bits alone find" in ended.out
    assert "article: 0.76" in ended.out


@pytest.mark.soak
def test_of_a_longer_file_documents_at_equal_distances_are_taken(files: Path) -> None:
    ended = lab(files, files / "news.parquet", "--table", files / "de-en.table", "--documents", 9, out="fewer")
    assert ended.code == 0, ended.err
    assert json.loads((files / "fewer/summary.json").read_text("utf-8"))["sets"][0]["n_documents"] == 9


@pytest.mark.parametrize(
    ("documents", "options", "code", "message"),
    [
        ("none.parquet", (), 3, "none.parquet"),
        ("no-column.jsonl", (), 3, "there is no column 'en'"),
        ("twice.jsonl", (), 3, "the id 'a' occurs 2 times"),
        ("one.jsonl", (), 3, "1 of 2 rows has a text in both columns"),
        ("swapped.jsonl", (), 3, "If the sides are swapped"),
        ("few.jsonl", ("--id", "nothing"), 3, "there is no column 'nothing'"),
        ("few.jsonl", ("--documents", "1"), 2, "documents"),
        ("few.jsonl", ("--seed", "-1"), 2, "seed"),
        ("few.jsonl", ("--table", "{}/de-en.table", "--table", "{}/de-en.table"), 2, "Got 3 instead"),
        ("few.jsonl", ("--translated", "{}/strange.jsonl"), 3, "none of its 1 id occurs among the documents"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(
    files: Path, tmp_path: Path, documents: str, options: tuple[str, ...], code: int, message: str
) -> None:
    records = records_of(translated(6, seed=3))
    write_jsonl(tmp_path / "no-column.jsonl", [{"id": one["id"], "de": one["de"]} for one in records])
    write_jsonl(tmp_path / "twice.jsonl", [one | {"id": "a"} for one in records[:2]] + records[2:])
    write_jsonl(tmp_path / "one.jsonl", [records[0], records[1] | {"en": ""}])
    write_jsonl(tmp_path / "swapped.jsonl", [one | {"de": one["en"], "en": one["de"]} for one in records])
    write_jsonl(tmp_path / "strange.jsonl", [{"id": "x", "text": "nobody knows"}])
    write_jsonl(tmp_path / "few.jsonl", records)
    table().write(tmp_path / "de-en.table")
    given = [option.format(tmp_path) for option in options]
    ended = lab_here("cross-lingual", tmp_path / documents, "--left-column", "de", "--right-column", "en", "--table",
        tmp_path / "de-en.table", *given, "--out", tmp_path / "out",
    )  # fmt: skip
    assert ended.code == code, ended.err
    assert message in re.sub(r"[\s│]+", " ", ended.err)
    assert not (tmp_path / "out/summary.json").exists()


def test_one_column_for_both_languages_is_refused(files: Path, tmp_path: Path) -> None:
    table().write(tmp_path / "de-en.table")
    ended = lab_here("cross-lingual", files / "few.jsonl", "--left-column", "de", "--right-column", "de", "--table",
        tmp_path / "de-en.table", "--out", tmp_path / "out",
    )  # fmt: skip
    assert ended.code == 3, ended.err
    assert "both languages would be read from the column 'de'" in re.sub(r"[\s│]+", " ", ended.err)
    assert not (tmp_path / "out/summary.json").exists()


def test_a_table_of_the_other_direction_is_refused(files: Path, tmp_path: Path) -> None:
    table().turned().write(tmp_path / "en-de.table")
    ended = lab(tmp_path, files / "few.jsonl", "--table", tmp_path / "en-de.table")
    assert ended.code == 3
