"""Messages about a damaged database file: the same words as for all other damage."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from nearkin.collection.collection import Collection
from nearkin.errors import CollectionError
from nearkin.store.damage import BACKUP, FSCK
from nearkin.store.failures import busy, database_errors, reason_of
from nearkin.store.place import FILE, Place


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    with Collection.open(tmp_path / "matter", create=True):
        pass
    for beside in tmp_path.joinpath("matter").glob(f"{FILE}*"):
        beside.write_bytes(b"no database" * 1000)
    with pytest.raises(CollectionError) as refused, Collection.open(tmp_path / "matter") as collection:
        collection.info()
    said = str(refused.value)
    assert f"{tmp_path / 'matter'} is damaged: SQLite reports: file is not a database. {BACKUP} To recover" in said


def test_a_value_that_is_not_utf8(tmp_path: Path) -> None:
    place = Place.parse(tmp_path)
    with sqlite3.connect(":memory:") as connection, pytest.raises(CollectionError) as refused, database_errors(place):
        connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()
    said = str(refused.value)
    assert said.startswith(f"{tmp_path} is damaged: Could not decode to UTF-8 column")
    assert said.endswith(FSCK)


def test_a_read_only_database_is_named_with_the_option_to_only_read(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / FILE).execute("CREATE TABLE a (b)")
    with (
        sqlite3.connect(f"file:{tmp_path / FILE}?mode=ro", uri=True) as connection,
        pytest.raises(CollectionError) as refused,
        database_errors(Place.parse(tmp_path), is_writing=True),
    ):
        connection.execute("INSERT INTO a VALUES (1)")
    error, stored = refused.value, "Nothing of this command was stored; the collection is unchanged."
    assert str(error).endswith(f"check without --store), add --read-only. {stored}")


def test_an_error_that_says_what_is_stored_keeps_its_notes(tmp_path: Path) -> None:
    error = CollectionError("The disk is full.")
    error.add_note("Delete something.")
    with pytest.raises(CollectionError) as refused, database_errors(Place.parse(tmp_path), is_writing=True):
        raise error from OSError()
    assert str(refused.value) == "The disk is full. Nothing of this command was stored; the collection is unchanged."
    assert refused.value.__notes__ == ["Delete something."]


def test_a_busy_store_is_a_reason_without_advice(tmp_path: Path) -> None:
    place = Place.parse(tmp_path)
    assert str(busy(place)) == f"Another process is writing to {place}."
    assert reason_of(busy(place)) == f"Another process is writing to {place}"
