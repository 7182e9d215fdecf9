"""``python -m labs.similarity-index``, from the outside."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from functional.conftest import write_jsonl
from labs.similarity_index.published import FILES
from labs.tests.running import lab_here
from oracles.texts import versions

QUICK = ("--multipliers", 2, "--threads", 1)
HOSTILE = "<script>alert(1)</script> an unmistakable sentence that nobody else has"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def families(n: int, *, n_words: int) -> list[str]:
    """Three texts each, one family after another."""
    each = [versions(seed, n_bases=1, n_words=n_words, n_versions=2, max_edits=4) for seed in range(n)]
    return [text for family in each for text in family]


def files_of(folder: Path) -> Path:
    """Two families of three files, and two files of their own, one of bytes that are no text."""
    folder.mkdir()
    for i, text in enumerate(families(2, n_words=150)):
        (folder / f"{'ab'[i // 3]}{i % 3}.txt").write_text(text, encoding="utf-8")
    (folder / "hostile.txt").write_text(HOSTILE, encoding="utf-8")
    (folder / "code.class").write_bytes(bytes(range(256)) * 4)
    (folder / ".hidden").write_text("not read", encoding="utf-8")
    (folder / "inner").mkdir()
    return folder


ZONES = "file,zone,remark\na0.txt,A,\na1.txt,A,\na2.txt,A,\nb0.txt,B,\nb1.txt,B,\nb2.txt,B,\nhostile.txt,,in none\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("similarity-index")
    files_of(where / "files")
    (where / "zones.csv").write_text(ZONES, encoding="utf-8")
    texts = families(12, n_words=120)
    records = [{"text": text, "family": f"f{i // 3}", "kind": "text"} for i, text in enumerate(texts)]
    records += [{"text": HOSTILE, "family": "other", "kind": "text"}, {"text": "x", "family": "f0", "kind": "note"}]
    records += [{"text": "alone", "family": "f99", "kind": "text"}, {"text": " ", "family": "f1", "kind": "text"}]
    documents = write_jsonl(where / "documents.jsonl", records)
    ended = lab_here("similarity-index", where / "files", "--expected", where / "zones.csv", "--documents", documents,
        "--family", "family", "--only", "kind=text", "--leave-out", "other,none", *QUICK, "--out", where / "out",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    return where / "out"


def test_summary_counts_files_and_documents(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["folder"]["n_files"] == 8
    assert summary["runs"]["n_runs"] == 656
    assert summary["chance"]["n_runs"] == 608
    documents = summary["documents"]
    assert (documents["n_documents"], documents["n_left_out"], documents["n_without_text_or_family"]) == (37, 1, 1)
    assert (documents["n_families"], documents["largest_family"], documents["n_queries"]) == (13, 3, 37)
    assert documents["truths"][0] == {"name": "family", "n_pairs": 72, "n_queries_with_relatives": 36}


def test_tables_hold_every_run_and_column(out: Path) -> None:
    names = sorted(path.stem for path in (out / "tables").iterdir())
    assert names == [
        "best-runs", "chance-multipliers", "chance-runs", "columns", "figure-3-in-all-streams", "figure-3-methods",
        "matrices", "runs", "stop-lists", "table-1-files", "table-9", "walk",
    ]  # fmt: skip
    runs = rows_of(out / "tables/runs.csv")
    assert len(runs) == 656
    for row in runs:
        wrong = int(row["false_positives"]) + int(row["false_negatives"])
        assert float(row["score"]) == pytest.approx(int(row["correct"]) / max(1, wrong))
        assert int(row["as_expected"]) >= 64 - wrong - 2  # a file without a number does not find itself
    assert max(float(row["score"]) for row in runs) == float(rows_of(out / "tables/best-runs.csv")[0]["score"])
    lists = rows_of(out / "tables/stop-lists.csv")
    assert {row["words"] for row in lists} == {"1292", "174", "33"}
    scores = {(row["run"], row["k"]): row["score"] for row in runs}
    assert all(
        float(scores[row["run"], row["k"]]) == pytest.approx(float(row["score"]))
        for row in lists
        if row["stop_list"] == "stopwordsiso" and row["k"]
    )
    files = rows_of(out / "tables/table-1-files.csv")
    assert [row["file"] for row in files][-2:] == ["code.class", "hostile.txt"]
    assert {row["zone"] for row in files} == {"1", "2", "0"}
    found = {(row["column"], float(row["setting"])): row for row in rows_of(out / "tables/columns.csv")}
    assert float(found["words", 1.0]["recall_family"]) == 1
    assert float(found["minhash-12-columns", 1.0]["recall_family"]) > 0.9
    assert found["sha-256", 0.0]["rows"] == "0.0"


def test_page_is_one_file_without_network_script_or_text(out: Path) -> None:
    page = (out / "report.html").read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert "<script" not in page
    assert "unmistakable" not in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    for path in (out / "figures").iterdir():
        ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert page.count('class="nk-figure"') == 2 * len(list((out / "figures").iterdir())) == 20
    for anchor in re.findall(r'href="#(\w+)"', page):
        assert f'id="{anchor}"' in page
    assert ">nan<" not in page.lower()


@pytest.mark.soak
def test_files_with_the_names_of_the_paper_need_no_zones(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    texts = versions(6, n_bases=len(FILES), n_words=60, n_versions=1, max_edits=1)
    for i, file in enumerate(FILES):
        (folder / file.names[-1]).write_text(texts[i], encoding="utf-8")
    ended = lab_here("similarity-index", folder, *QUICK, "--out", tmp_path / "out")
    assert ended.code == 0, ended.err
    assert re.search(r"43B, k 40 .* \(3\.50\)", ended.out)
    files = rows_of(tmp_path / "out/tables/table-1-files.csv")
    assert [row["published_file"] for row in files] == [file.name for file in FILES]
    (folder / "usDOI-1.txt").write_text("twice", encoding="utf-8")
    ended = lab_here("similarity-index", folder, *QUICK, "--out", tmp_path / "other")
    assert (ended.code, "twice" in ended.err) == (3, True)


@pytest.mark.parametrize(
    ("zones", "message"),
    [
        (None, "give --expected a CSV file with the columns file,zone"),
        ("name,zone\na0.txt,A\n", "has no column file"),
        ("file,zone\na0.txt,A\nzz.txt,A\n", "line 3: the folder has no file 'zz.txt'"),
        ("file,zone\na0.txt,A\na0.txt,B\n", "is listed twice"),
        ("file,zone\na0.txt,A\na1.txt,B\n", "no zone has two files"),
        ("", "is empty"),
    ],
)
def test_bad_zones_are_refused_in_words(tmp_path: Path, zones: str | None, message: str) -> None:
    folder, options = files_of(tmp_path / "files"), []
    if zones is not None:
        (tmp_path / "zones.csv").write_text(zones, encoding="utf-8")
        options = ["--expected", tmp_path / "zones.csv"]
    ended = lab_here("similarity-index", folder, *options, "--out", tmp_path / "out")
    assert ended.code == 3
    assert message in ended.err
    assert not (tmp_path / "out/summary.json").exists()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--documents", "{}/d.jsonl"), 3, "Give both --documents and --family"),
        (("--documents", "{}/d.jsonl", "--family", "nothing"), 3, "has no column 'nothing'"),
        (("--documents", "{}/d.jsonl", "--family", "text"), 3, "no two documents have the same 'text'"),
        (("--documents", "{}/none.parquet", "--family", "f"), 3, "Cannot read"),
        (("--documents", "{}/zones.txt", "--family", "f"), 3, "accepts .parquet"),
        (("--documents", "{}/d.jsonl", "--family", "f", "--only", "kind"), 2, "COLUMN=VALUE"),
        (("--multipliers", "0"), 2, "multipliers"),
        (("--expected", "{}/absent.csv"), 3, "Cannot open"),
    ],
)
def test_bad_options_are_refused_in_words(tmp_path: Path, options: tuple[str, ...], code: int, message: str) -> None:
    folder = files_of(tmp_path / "files")
    (tmp_path / "zones.txt").write_text(ZONES, encoding="utf-8")
    write_jsonl(tmp_path / "d.jsonl", [{"text": "one", "f": "a"}, {"text": "two", "f": "a"}])
    given = [option.format(tmp_path) for option in options]
    zones = () if "--expected" in given else ("--expected", tmp_path / "zones.txt")
    ended = lab_here("similarity-index", folder, *zones, *given, "--out", tmp_path / "out")
    assert ended.code == code
    assert message in re.sub(r"[\s│]+", " ", ended.err)
    assert not (tmp_path / "out/summary.json").exists()


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    ended = lab_here("similarity-index", tmp_path / "file", "--out", tmp_path / "out")
    assert (ended.code, "is not a folder" in ended.err) == (3, True)
    (tmp_path / "empty").mkdir()
    ended = lab_here("similarity-index", tmp_path / "empty", "--out", tmp_path / "out")
    assert (ended.code, "a folder of 2 to 500 files" in ended.err) == (3, True)
