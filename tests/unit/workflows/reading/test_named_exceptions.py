from __future__ import annotations

import pyarrow as pa

from nearkin.stages.documents.ids import IdKind
from nearkin.workflows.reading.exceptions import ExceptionRow, exception_row, named_as_in
from nearkin.workflows.reading.texts import with_distinct_names


def exception(doc_id: str, line: int | None, given_id: str | None, source: int = 0) -> ExceptionRow:
    return exception_row({}, None, "empty", doc_id=doc_id, given_id=given_id, parent=None, place=(source, line))


def test_exceptions_have_the_ids_and_names_of_the_tables() -> None:
    """A collection has all of its documents in one line; a document that is in no table keeps its id."""
    names = ["7", "7", "a.jsonl:3", "x", "y"]
    table = pa.table({
        "name": pa.array(names, pa.large_string()), "has_id": [True, True, False, True, True],
        "line": pa.array([1, 2, 3, 1, 1], pa.int64()), "problem": pa.nulls(5, pa.large_string()),
        "source": pa.array([*["a.jsonl"] * 3, *["matter"] * 2], pa.large_string()),
    })  # fmt: skip
    documents = with_distinct_names(table, IdKind.STRINGS)
    found = [
        exception("7", 2, "7"),
        exception("a.jsonl:3", 3, None),
        exception("y", 1, "y", 1),
        exception("z", None, "z", 1),
    ]

    named = named_as_in(documents, found, ["a.jsonl", "matter"])

    assert [(one.given_id, one.doc_id) for one in named] == [
        ("7", "7 (a.jsonl:2)"), (None, "a.jsonl:3"), ("y", "y"), ("z", "z"),
    ]  # fmt: skip
    without_ids = with_distinct_names(table.set_column(1, "has_id", [[False] * 5]), IdKind.NONE)
    assert named_as_in(without_ids, found[1:2], ["a.jsonl"])[0].given_id == "a.jsonl:3"
