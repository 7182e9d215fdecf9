from __future__ import annotations

import pyarrow as pa

from nearkin.stages.documents.rows import IdKind
from nearkin.workflows.reading.texts import ExceptionRow, named, with_distinct_names


def exception(row: int | None, doc_id: str, given_id: str | None) -> ExceptionRow:
    return ExceptionRow(
        row=row, doc_id=doc_id, given_id=given_id, parent=None, exception="empty", is_partial=False, sentence="",
        kind=None, sha256=None, size_bytes=None, source=0, is_extracted=False,
    )  # fmt: skip


def test_exceptions_have_the_ids_and_names_of_the_tables() -> None:
    """An exception of a collection that is no document keeps its id."""
    names = ["7", "7", "a.jsonl:3"]
    table = pa.table({
        "name": pa.array(names, pa.large_string()), "has_id": [True, True, False],
        "line": pa.array([1, 2, 3], pa.int64()), "problem": pa.nulls(3, pa.large_string()),
        "source": pa.array(["a.jsonl"] * 3, pa.large_string()),
    })  # fmt: skip
    documents = with_distinct_names(table, IdKind.STRINGS)
    exceptions = [exception(1, "7", "7"), exception(2, "a.jsonl:3", None), exception(None, "z", "z")]
    assert [(one.given_id, one.doc_id) for one in named(exceptions, documents)] == [
        ("7", "7 (a.jsonl:2)"), (None, "a.jsonl:3"), ("z", "z"),
    ]  # fmt: skip
