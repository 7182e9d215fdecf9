"""CSV and TSV: no text becomes a formula, and what is read back is what was written."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.formats.delimited import SheetWriter, as_it_was, safe, safe_column
from nearkin.workflows.collection.labels import read_labels
from nearkin.workflows.collection.tables import write_table

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "'=1", "''=1", '=cmd|"/c calc"!A1', "=1\n=2"]
PLAIN = ["a=1", "1-2", "'tis", "", "é", "a,b", 'a"b', "#", "'"]
texts = st.text(alphabet="=+-@'＝a1 \t\r\n,\";", max_size=6)


def runs(cell: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula, by the list of OWASP."""
    return cell.startswith(("\t", "\r", "\n")) or cell.lstrip().startswith(tuple("=+-@＝＋－＠"))


@given(st.lists(st.tuples(texts, texts), max_size=5), st.sampled_from([",", "\t", ";"]))
def test_what_is_written_is_read_back(rows, delimiter):
    file = io.StringIO(newline="")
    SheetWriter(file, delimiter=delimiter).write_all(rows)
    cells = list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter))
    assert not any(runs(cell) for row in cells for cell in row)
    assert [tuple(map(as_it_was, row)) for row in cells] == list(rows)
    column = pa.array([first for first, _ in rows], pa.large_string())
    assert safe_column(column).to_pylist() == [safe(first) for first, _ in rows]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text):
    assert safe(text) == f"'{text}"
    assert as_it_was(safe(text)) == text


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_stays(text):
    assert safe(text) == as_it_was(text) == text


def test_numbers_stay_numbers():
    file = io.StringIO()
    SheetWriter(file).write([-1.5, -3, None, True, "-3"])
    assert file.getvalue() == "-1.5,-3,,True,'-3\n"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_tables_of_results(tmp_path: Path, name: str):
    """What `groups --out`, `conflicts --out` and `audit --out` write; labels take it back."""
    table = pa.table({"id": FORMULAS, "label": [f"-{i}" for i in range(len(FORMULAS))], "n": [-1] * len(FORMULAS)})
    write_table(table, tmp_path / name)
    with open(tmp_path / name, newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if name == "t.tsv" else ","))
    assert not any(runs(cell) for row in rows[1:] for cell in row[:2])
    assert {row[2] for row in rows[1:]} == {"-1"}
    stripped = [one.strip() for one in FORMULAS]
    found = read_labels(tmp_path / name, doc_id="id", label="label").pairs
    assert [doc_id.strip() for doc_id, _ in found] == stripped
    assert [label for _, label in found] == table["label"].to_pylist()
