"""Ids keep the type of their column, in every table and for every reader, whatever single rows hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from functional.conftest import FAST, nearkin_here, write_jsonl

BIG = 2**53 + 1
"""The first integer that no 64-bit floating point number holds."""
TEXTS = [FAST, f"{FAST} again", FAST.upper(), "something else about a lease of a house in the old town"]
RECORDS = [{"id": BIG + 2 * i, "text": text} for i, text in enumerate(TEXTS)]
IDS = [record["id"] for record in RECORDS]
LINES = {
    "jsonl": [json.dumps(record) for record in RECORDS],
    "csv": ["id,text", *(f"{record['id']},{record['text']}" for record in RECORDS)],
    "tsv": [f"{record['id']}\t{record['text']}" for record in RECORDS],
}
BROKEN = {"jsonl": '{"id": 4, "te', "csv": "4,a,b,c", "tsv": "no tab here"}
WITHOUT_ID = {"jsonl": json.dumps({"text": FAST}), "csv": f",{FAST}", "tsv": f"\t{FAST}"}


def written(folder: Path, suffix: str, more: Sequence[str] = (), *, is_first: bool = False) -> Path:
    path = folder / f"in.{suffix}"
    head, rows = (LINES[suffix][:1], LINES[suffix][1:]) if suffix == "csv" else ([], LINES[suffix])
    path.write_text("\n".join([*head, *more, *rows] if is_first else [*head, *rows, *more]) + "\n")
    return path


def documents_of(*arguments: str | Path) -> pa.Table:
    out = Path(arguments[0]).parent / "out"
    ended = nearkin_here("dedup", *arguments, "--out", out, "-q", "--no-report", "--threshold", "0.5")
    ended.assert_quiet("exceptions: ", "repeated ids: ", "without an id: ")
    return pq.read_table(out / "documents.parquet")


@pytest.mark.parametrize("suffix", LINES)
def test_a_repeated_id_stays_what_it_is(tmp_path, suffix):
    path = written(tmp_path, suffix, [LINES[suffix][-1]])
    documents = documents_of(path)
    assert documents["id"].to_pylist() == [*IDS, IDS[-1]]
    line = len(LINES[suffix]) + 1
    assert documents["name"].to_pylist() == [*map(str, IDS), f"{IDS[-1]} ({path}:{line})"]
    last = documents.slice(len(IDS)).to_pylist()[0]
    assert (last["copy_of"], last["copy_of_row"]) == (IDS[-1], 3)
    assert f"this document is called {last['name']}" in last["problem"]


UNREADABLE = {
    "repeated, later": [{"id": 6, "text": FAST}, {"id": 7, "text": TEXTS[3]}, {"id": 6, "text": None}],
    "repeated, first": [{"id": 6, "text": None}, {"id": 6, "text": FAST}, {"id": 6, "text": None}],
    "without an id": [{"id": 6, "text": FAST}, {"text": None}, {"text": TEXTS[3]}],
    "of another set": [{"id": 6, "text": FAST}],
    "nothing else": [{"id": 6, "text": FAST}, {"text": None}],
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_ids_of_all_rows_are_counted(tmp_path, name):
    """An unreadable document has a row in the table, so a join by its id finds it."""
    theirs = write_jsonl(tmp_path / "theirs.jsonl", [{"id": 6, "text": None}, {"id": 7, "text": FAST}])
    against = ["--against", theirs] if name == "of another set" else []
    out = tmp_path / "out"
    ended = nearkin_here(
        "dedup",
        write_jsonl(tmp_path / "in.jsonl", UNREADABLE[name]),
        *against,
        "--out",
        out,
        "--max-unreadable",
        "100%",
    )
    documents = pq.read_table(out / "documents.parquet")
    ids = documents["id"].drop_null().to_pylist()
    readable = documents.filter(pc.field("reason") != "unreadable")
    n_repeated, n_without = len(ids) - len(set(ids)), readable["id"].null_count
    told = " ".join(ended.out.split())
    assert (f"repeated ids {n_repeated} " in told, f"without an id {n_without} " in told) == (
        bool(n_repeated),
        bool(n_without),
    )
    named = [row["name"] for row in documents.to_pylist() if "was already used at" in (row["problem"] or "")]
    assert len(named) == n_repeated
    assert json.loads((out / "manifest.json").read_text())["problems"].get("id repeated", 0) == n_repeated
    assert (f"repeated ids: <bdi>{n_repeated}<" in (out / "report.html").read_text("utf-8")) == bool(n_repeated)


def test_each_column_against_another_collection_has_the_type_of_what_it_holds(tmp_path):
    other = write_jsonl(tmp_path / "other.jsonl", [{"id": "x", "text": FAST}, {"text": TEXTS[3]}, {"text": TEXTS[3]}])
    documents = documents_of(written(tmp_path, "jsonl"), "--against", other)
    assert documents["id"].to_pylist() == IDS
    assert documents["copy_of"].to_pylist() == ["x", None, "x", None]
    assert documents["copy_of_row"].to_pylist() == [4, None, 4, 5]
    pairs = pq.read_table(tmp_path / "out/pairs.parquet").to_pylist()
    assert {(pair["id_a"], pair["row_a"]) for pair in pairs} == set(zip(IDS, range(4)))
    assert {(pair["id_b"], pair["row_b"], pair["name_b"]) for pair in pairs} == {
        ("x", 4, "x"), (None, 5, f"{other}:2"),
    }  # fmt: skip


# -- pandas -----------------------------------------------------------------------------------------------------------

ID_COLUMNS = {"id", "group", "copy_of", "id_a", "id_b", "principal", "left_id"}
IDS_OF = {
    "documents.parquet": ("id", "group", "copy_of", "group_row", "copy_of_row"),
    "pairs.parquet": ("id_a", "id_b", "row_a", "row_b"),
    "groups.parquet": ("group", "principal", "group_row"),
    "problems.parquet": ("id", "line"),
    "families.parquet": ("id", "principal", "row", "n_differences", "line_principal", "line_member"),
}


@pytest.fixture
def numbered(tmp_path) -> Path:
    """Integers that floating point does not hold, and rows without an id."""
    return written(tmp_path, "jsonl", [BROKEN["jsonl"], WITHOUT_ID["jsonl"]])


def assert_integers(table: pandas.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        assert pandas.api.types.is_integer_dtype(table[column].dtype), column
        if column in ID_COLUMNS:
            assert {int(one) for one in table[column].dropna()} <= set(IDS), column


def test_pandas_reads_integers_from_the_tables_of_a_run(tmp_path, numbered):
    nearkin_here("families", numbered, "--out", tmp_path / "out", "--threshold", "0.5", "-q").assert_done()
    for name, columns in IDS_OF.items():
        assert_integers(pandas.read_parquet(tmp_path / "out" / name), columns)
        assert_integers(pq.read_table(tmp_path / "out" / name).to_pandas(), columns)
    documents = pandas.read_parquet(tmp_path / "out/documents.parquet")
    assert documents["group"].tolist()[:3] == [BIG + 2] * 3
    assert documents["copy_of"].isna().tolist() == [True, True, False, True, True, False]
    nearkin_here(
        "regroup", tmp_path / "out", "--threshold", "0.6", "--out", tmp_path / "again", "-q", "--no-report"
    ).assert_done()
    for name in ("documents.parquet", "pairs.parquet", "groups.parquet"):
        assert_integers(pandas.read_parquet(tmp_path / "again" / name), IDS_OF[name])
