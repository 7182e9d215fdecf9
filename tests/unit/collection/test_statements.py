"""Statements of a load, of the log and of a purge: they go by an index, and are few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import nearkin
from nearkin.collection.check_in.results import CheckOptions


@contextmanager
def listed() -> Iterator[list[tuple[str, object]]]:
    """Statements that are executed meanwhile, with their parameters."""
    told = list[tuple[str, object]]()

    def listen(_connection, _cursor, statement, parameters, *_) -> None:
        told.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield told
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[nearkin.Collection]:
    with nearkin.Collection.open(tmp_path / "matter", create=True) as opened:
        opened.add([(f"d{i:03}", f"Letter {i} of this correspondence, about the matter {i * i}.") for i in range(60)])
        yield opened


def test_the_log_of_a_document_is_found_by_indexes(collection) -> None:
    collection.tag([f"d{i:03}" for i in range(60)], "batch", "7")
    collection.decide(never_group=("d002", "d001"))
    collection.decide(same_group=("d003", "d004"))
    for number in (2, 4, 1):  # the decision, its undo, and the tags
        collection.undo(number)
    collection.decide(note=("d002", "paper copy"))
    with listed() as told:
        assert [one.number for one in collection.log(of="d002")] == [1, 2, 4, 5, 6, 7]
    assert [one.number for one in collection.log(of="d001")] == [1, 2, 4, 5, 6]
    assert [one.number for one in collection.log(of="d004")] == [1, 3, 6]
    of_changes = [one for one in told if "FROM changes" in one[0] and "count(*)" not in one[0]]  # rows are counted
    assert len(of_changes) == 3
    with collection.opened.store.reading() as connection:
        for statement, parameters in of_changes:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            assert not any(row[-1].startswith("SCAN changes") for row in plan), plan


def test_a_purge_takes_as_many_statements_for_many_documents_as_for_one(collection) -> None:
    with listed() as of_one:
        collection.purge(["d000"])
    with listed() as of_many:
        collection.purge([f"d{i:03}" for i in range(1, 50)])
    assert len(of_many) <= len(of_one) + 5


def test_a_load_updates_no_key(collection) -> None:
    """SQLite would look through all documents for one that refers to the old key."""
    with listed() as told:
        collection.add([("new", "A letter that nobody has written before."), ("d001", "Another version of this one.")])
    updates = [statement for statement, _ in told if statement.startswith("UPDATE loads")]
    assert len(updates) == 1
    assert "SET end_content=" in updates[0]
    assert "load=?" not in updates[0].partition("WHERE")[0]


def test_a_truncated_answer_without_an_equal_text_asks_for_no_document_of_the_id(collection) -> None:
    words = " ".join(f"word{i}" for i in range(300))
    collection.add([(f"long {i}", f"{words} and number {i}") for i in range(3)])
    collection.check_many([("own", words)])  # makes the keys
    counts = []
    for limit in (10, 1):
        with listed() as told:
            (answer,) = collection.check_many([("own", words)], options=CheckOptions(limit=limit))
        assert (answer.checked.verdict, answer.checked.is_truncated) == ("near", limit == 1)
        alone = collection.check(words, options=CheckOptions(limit=limit))
        assert answer.checked.expected_recall_of_parts == alone.expected_recall_of_parts is not None
        counts.append(len(told))
    assert counts[0] == counts[1]
