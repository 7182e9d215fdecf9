from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from nearkin.runs.progress import Meter, Silent
from nearkin.stages.documents.ids import IdKind
from nearkin.stages.documents.sources import resolve_sources
from nearkin.workflows.reading.exceptions import ExceptionRow, exception_row, lines_with_digests, named_as_in
from nearkin.workflows.reading.identity import records_of, with_digests
from nearkin.workflows.reading.texts import with_distinct_names
from nearkin.workflows.resources import Resources


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


@pytest.mark.parametrize(
    ("places", "found"),
    [
        pytest.param(
            [(i // 60, i % 60 + 1) for i in range(3_600)],
            [exception(f"{61 * i}", i + 1, None, i) for i in range(60)],
            id="another line of each source",
        ),
        pytest.param([(0, 1)] * 3_600, [exception("7", 1, None)], id="a collection"),
    ],
)
def test_only_documents_with_exceptions_become_objects(places, found) -> None:
    """Three numbers of 8 bytes for each of 3,600 documents fit into the limit; an object for each does not."""
    names = pa.array(map(str, range(3_600)), pa.large_string())
    lines, sources = pa.array([line for _, line in places]), pa.array([f"s{source}" for source, _ in places])
    documents = pa.table({"id": names, "name": names, "line": lines, "source": sources.cast(pa.large_string())})
    asked = documents, found, [f"s{source}" for source in range(60)]
    named_as_in(*asked)  # imports
    tracemalloc.start()
    try:
        named = named_as_in(*asked)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(one.given_id, one.doc_id) for one in named] == [(one.doc_id, one.doc_id) for one in found]
    assert peak < 300_000


def test_files_whose_digests_are_known_are_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    sources, meter = resolve_sources([str(tmp_path)]).sources, Meter(Silent())
    found = [exception("a", 1, None), replace(exception("b", 1, None), is_extracted=True, kind="pdf")]
    given = found, ["a.txt"], sources, Resources(1)
    described = [one.file for one in with_digests(records_of(sources), Resources(1), meter)]
    expected = lines_with_digests(*given, meter)
    assert [one.name for one in meter.costs] == ["digest inputs"] * 2
    assert lines_with_digests(*given, meter, described) == expected
    assert len(meter.costs) == 2
