"""`nearkin show`, `list`, `history` and `remove --from`, as a user gives them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import Ended, nearkin, nearkin_here, write_jsonl
from nearkin.workflows.collection.id_files import read_ids

RENT = "The rent of {} crowns is due on the first day of each month.\r\nSigned:\tAnn\u202eé\n"
FORMULA = "=1+1"


@pytest.fixture
def matter(tmp_path: Path) -> str:
    """A collection of two waves."""
    march = [{"id": "lease", "text": RENT.format(900)}, {"id": "copy", "text": RENT.format(900)}]
    april = [{"id": "lease", "text": RENT.format(950)}, {"id": FORMULA, "text": "Seven."}]
    place = str(tmp_path / "matter")
    assert run("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march").code == 0
    assert run("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april").code == 0
    return place


def run(*arguments: str | Path) -> Ended:
    ended = nearkin_here(*arguments)
    ended.assert_clean()
    return ended


def told(*arguments: str | Path) -> Any:
    ended = run(*arguments, "--json")
    assert ended.code == 0, ended.err
    assert ended.out.count("\n") == 1
    return json.loads(ended.out)


# -- show -------------------------------------------------------------------------------------------------------------


def test_the_text_alone_comes_unchanged(matter: str) -> None:
    done = nearkin_here("show", matter, "lease", "--text-only")
    assert (done.code, done.out, done.err) == (0, RENT.format(950), "")
    assert nearkin("show", matter, "lease", "--text-only", PYTHONIOENCODING="ascii").out == RENT.format(950)
    assert run("show", matter, "lease", "--text-only", "--version", "1").out == RENT.format(900)
    assert run("show", matter, "lease", "--text-only", "--json").code == 2


def test_show_for_programs(matter: str) -> None:
    found = told("show", matter, "copy")
    assert (found["doc_id"], found["text"], found["versions"], found["copies"]) == ("copy", RENT.format(900), [1], [])
    assert run("show", matter, "none").code == 3
    assert run("show", matter, "lease", "--version", "7").code == 3
    run("remove", matter, "copy")
    assert "removed" in run("show", matter, "copy", "--version", "1").out.splitlines()[0]


# -- list -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_a_list_is_written_whole_whatever_is_shown(matter: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"list{suffix}"
    ended = run("list", matter, "--limit", "1", "--out", out)
    assert (ended.code, "not shown  2  raise --limit" in ended.out) == (0, True)
    assert f"wrote 3 documents to {out}" in ended.err
    if suffix == ".parquet":
        rows = pq.read_table(out).to_pylist()
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    else:
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if suffix == ".tsv" else ","))
    first = f"'{FORMULA}" if suffix in (".csv", ".tsv") else FORMULA  # text, in a spreadsheet too
    assert [row["doc_id"] for row in rows] == [first, "copy", "lease"]
    assert [str(row["n_characters"]) for row in rows] == ["6", "77", "77"]
    assert run("list", matter, "--out", out).code == 5
    assert run("list", matter, "--out", out, "--overwrite").code == 0
    # what was listed can be removed
    assert told("remove", matter, "--from", out) == {"number": 1, "n_documents": 3, "n_unread": 0, "is_dry_run": False}


# -- history ----------------------------------------------------------------------------------------------------------


# -- remove -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("a.txt", "a, b\nc\n", None),
        ("a.csv", 'reason,Document ID\nx,"a, b"\ny,c\n', None),
        ("a.tsv", "key\treason\na, b\tx\nc\ty\n", "key"),
        ("a.csv", 'BEGDOC,ENDDOC\n"a, b",b\nc,c\n', None),
        ("a.txt", "\ufeffa, b\r\nc\r\n", None),
        ("a.jsonl", '{"n": 1, "doc_id": "a, b"}\n\n{"n": 2, "doc_id": "c"}\n', None),
    ],
)
def test_ids_are_read_from_lines_and_columns(tmp_path: Path, name: str, content: str, column: str | None) -> None:
    (tmp_path / name).write_text(content, "utf-8", newline="")
    assert read_ids(tmp_path / name, column=column) == ["a, b", "c"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.dictionary(pa.int32(), pa.string())])
def test_ids_are_read_from_parquet(tmp_path: Path, kind: pa.DataType) -> None:
    ids = pa.array([7, 8, 7]).cast(pa.string()) if kind != pa.int64() else pa.array([7, 8, 7])
    pq.write_table(pa.table({"label": ["x"] * 3, "doc_id": ids.cast(kind)}), tmp_path / "a.parquet")
    assert read_ids(tmp_path / "a.parquet") == ["7", "8"]
