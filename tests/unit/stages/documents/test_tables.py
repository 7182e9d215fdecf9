from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from nearkin.records import DOCUMENTS_SCHEMA
from nearkin.stages.documents.tables import read_table

COLUMNS = {"key": [1, 2, 3], "n": [0.5, None, 2.0], "body": ["née", None, "x"]}
ROWS = [(1, "née".encode(), 1, None), (2, None, 2, "empty: the text is null"), (3, b"x", 3, None)]


def rows_of(table: object, **options: object) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for batch in read_table(table, **options):  # type: ignore[arg-type]
        assert batch.schema.set(0, DOCUMENTS_SCHEMA[0]) == DOCUMENTS_SCHEMA
        rows += zip(*(batch[name].to_pylist() for name in ("doc_id", "text", "line", "problem")), strict=True)
    return rows


@pytest.mark.parametrize("batch_rows", [1, 2, 1000])
@pytest.mark.parametrize(
    "table",
    [
        pa.table(COLUMNS),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=[7, 8, 9]),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS).to_pylist(),
        list(zip(COLUMNS["key"], COLUMNS["body"], strict=True)),
        pa.table({"key": COLUMNS["key"], "body": pa.array(COLUMNS["body"]).dictionary_encode()}),
    ],
    ids=["arrow", "pandas", "pandas index", "polars", "dicts", "pairs", "dictionary"],
)
def test_every_table_gives_the_same_rows(table: object, batch_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearkin.stages.documents.tables._BATCH_ROWS", batch_rows)
    assert rows_of(table) == ROWS


@pytest.mark.parametrize(
    "column",
    [pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]]), pd.Series(["a", "b"]), pl.Series(["a", "b"]),
     ["a", "b"], ("a", b"b"), iter(["a", "b"]), np.array(["a", "b"])],
    ids=lambda column: type(column).__module__.split(".")[0] + "." + type(column).__name__,
)  # fmt: skip
def test_a_column_of_texts_on_its_own(column: object) -> None:
    assert rows_of(column) == [(None, b"a", 1, None), (None, b"b", 2, None)]


def test_bad_records_are_rows_of_their_own() -> None:
    records = [
        "good",
        None,
        5,
        ("a", "b"),
        (1, 2, 3),
        {"text": "c"},
        {"text": 1},
        {"body": "d"},
        "\ud800",
        b"\xff",
        1.5,
    ]
    problems = [row[3] for row in rows_of(records)]
    assert problems == [
        None,
        "empty: the text is null",
        "not text: neither a string, a pair nor a dict but a number",
        None,
        "damaged: not an (id, text) pair but 3 values",
        None,
        "not text: the text is a number, not a string",
        "no such column: the dict has no key 'text'",
        "wrong encoding: unpaired surrogate (\\ud800 alone) at character 1",
        None,
        "not text: neither a string, a pair nor a dict but a number",
    ]
