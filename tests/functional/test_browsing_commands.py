"""`nearkin show`, `list`, `history` and `remove --from`, as a user gives them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functional.conftest import nearkin, nearkin_done, nearkin_here, write_jsonl
from nearkin.workflows.collection.id_files import read_ids

RENT = "The rent of {} crowns is due on the first day of each month.\r\nSigned:\tAnn\u202eé\n"
FORMULA = "=1+1"


@pytest.fixture
def matter(tmp_path: Path) -> str:
    """A collection of two waves."""
    march = [{"id": "lease", "text": RENT.format(900)}, {"id": "copy", "text": RENT.format(900)}]
    april = [{"id": "lease", "text": RENT.format(950)}, {"id": FORMULA, "text": "Seven."}]
    place = str(tmp_path / "matter")
    nearkin_done("add", place, write_jsonl(tmp_path / "march.jsonl", march), "--wave", "march")
    nearkin_done("add", place, write_jsonl(tmp_path / "april.jsonl", april), "--wave", "april")
    return place


# -- show -------------------------------------------------------------------------------------------------------------


def test_the_text_alone_comes_unchanged(matter: str) -> None:
    done = nearkin_here("show", matter, "lease", "--text-only")
    assert (done.code, done.out, done.err) == (0, RENT.format(950), "")
    assert nearkin("show", matter, "lease", "--text-only", PYTHONIOENCODING="ascii").out == RENT.format(950)
    assert nearkin_here("show", matter, "lease", "--text-only", "--version", "1").out == RENT.format(900)
    nearkin_done("show", matter, "lease", "--text-only", "--json", code=2)


# -- list -------------------------------------------------------------------------------------------------------------


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
