"""Damage of every table of a collection: commands answer as before, or say that the collection is damaged."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from contract.damaged_collections import FORM, TABLES, copy_filled, fill
from contract.test_changed_rows import run
from places import SomePlace

COMMANDS = {
    "list": ["list", "COLLECTION"],
    "list of a wave": ["list", "COLLECTION", "--wave", "first"],
    "list of a tag": ["list", "COLLECTION", "--tag", "privileged"],
    "show": ["show", "COLLECTION", "b"],
    "tags": ["tags", "COLLECTION"],
    "log": ["log", "COLLECTION"],
    "exceptions": ["exceptions", "COLLECTION"],
    "info": ["info", "COLLECTION"],
    "waves": ["waves", "COLLECTION"],
    "groups": ["groups", "COLLECTION", "--gamma", "0.2"],
}
DERIVED = {("profiles", "info"): "the number of similarity indexes is that of the rows, which nearkin fsck makes again"}
NOT_NOTICED = {
    **DERIVED,
    ("origins", "exceptions"): "an origin without its exception is noticed only by nearkin fsck",
    ("origins", "info"): "as its exceptions",
    ("origins", "list"): "an origin of no document, or of another one, is noticed only by nearkin fsck",
    **{("origins", name): "as its list" for name in ("show", "list of a wave", "list of a tag")},
    ("decisions", "show"): "a note on another document is noticed only by nearkin fsck",
    **{
        ("documents", name): "lists count the rows, and compare only those that they show"
        for name in ("list", "list of a wave", "list of a tag", "show", "info", "waves", "exceptions")
    },
    ("tags", "list of a tag"): "a tag of another field is noticed only by nearkin fsck",
    ("tags", "show"): "a tag of another document is noticed only by nearkin fsck",
    ("facts", "groups"): "pairs left uncompared are counted again by the next nearkin groups",
}
NAMES = [table.name for table in TABLES]
VALUES = ["NULL", "'zz'", "X'00ff'", "0", "1", "77"]


@functools.cache
def undamaged() -> dict[str, tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        place = SomePlace.new(Path(folder), None)
        copy_filled(place, fill)
        found = {name: answered(place, name) for name in COMMANDS}
    assert {code for code, _ in found.values()} == {0}
    return found


def answered(place: SomePlace, name: str) -> tuple[int, str]:
    ended = run(place, COMMANDS[name], Path(place.address).parent / "out")
    ended.assert_clean()
    return ended.code, " ".join(ended.out.replace(place.address, "PLACE").split())


def assert_answers(folder: Path, statement: str, table: str, but: dict[tuple[str, str], str]) -> None:
    """Damage a new copy, and compare the answers of all commands with those of an undamaged one."""
    right = undamaged()
    place = SomePlace.new(folder, None)
    copy_filled(place, fill)
    with closing(sqlite3.connect(place.file)) as connection:
        try:
            connection.execute(statement)
        except sqlite3.IntegrityError:
            return  # the database refuses it
        connection.commit()
    for name, (code, out) in right.items():
        if (table, name) in but:
            continue
        found = answered(place, name)
        assert found[0] == 7 or found == (code, out), (statement, name, found, out)


@pytest.mark.parametrize("table", NAMES)
@pytest.mark.parametrize("which", ["a row", "all rows"])
def test_no_command_answers_without_rows_that_were_deleted(tmp_path, table, which) -> None:
    middle = f"WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET (SELECT count(*) / 2 FROM {table}))"
    if table == "check_keys":  # it has no rowid
        middle = "WHERE key = (SELECT max(key) FROM check_keys)"
    assert_answers(tmp_path, f"DELETE FROM {table} {middle if which == 'a row' else ''}", table, DERIVED)


@pytest.mark.soak
@pytest.mark.parametrize(("table", "column"), [(one.name, column.name) for one in TABLES for column in one.columns])
@pytest.mark.parametrize("value", VALUES)
def test_no_command_uses_a_value_that_was_changed(tmp_path, table, column, value) -> None:
    middle = f"rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET (SELECT count(*) / 2 FROM {table}))"
    if table == "check_keys":
        middle = "key = (SELECT max(key) FROM check_keys)"
    assert_answers(tmp_path, f"UPDATE {table} SET {column} = {value} WHERE {middle}", table, NOT_NOTICED)


def test_what_is_not_noticed_is_noticed_by_fsck(tmp_path) -> None:
    place = SomePlace.new(tmp_path, None)
    copy_filled(place, fill)
    with closing(sqlite3.connect(place.file)) as connection:
        connection.execute("UPDATE origins SET exception = NULL WHERE doc_id = 'd'")
        connection.execute("UPDATE tags SET field = 'other' WHERE doc_id = 'b'")
        connection.commit()
    with place.open(create=False) as collection:
        told = collection.fsck()
        assert collection.check(FORM).documents
    assert told.mended_rows == ("the current tags and decisions, from the activity log",)
    assert "row of the origin of document 'd'" in "; ".join(told.faults)
