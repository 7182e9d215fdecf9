"""Damage of every table of a collection: commands answer as before, or say that the collection is damaged."""

from __future__ import annotations

import functools
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from contract.damaged_collections import ERASED, FIRST, FORM, SECOND, TABLES, copy_filled, decide, sql, with_origin
from contract.test_changed_rows import run
from extracted_documents import add_extracted
from nearkin.errors import CollectionError
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
    "groups since": ["groups", "COLLECTION", "--gamma", "0.2", "--since", "first"],
    "similar": ["similar", "COLLECTION", "b", "--gamma", "0.2"],
    "versions": ["versions", "COLLECTION", "b"],
    "check": ["check", "COLLECTION", "OUT"],  # the file has the text of "a"
    "groups": ["groups", "COLLECTION", "--gamma", "0.2"],  # the last, because it writes
}
OF_LISTS = ("list", "list of a wave", "list of a tag", "show")
NOT_NOTICED: dict[tuple[str, str], tuple[str, ...]] = {
    # the number of similarity indexes is that of the rows, which nearkin fsck makes again
    ("profiles", "similarity_index"): ("info",),
    # which origins have no document, or are those of another one, only a comparison of all origins would show
    ("origins", "row"): (*OF_LISTS, "info"),
    # a note that names another document, or is no note: only a comparison of all decisions would show it
    **{("decisions", column): ("show",) for column in ("kind", "subject", "other")},
    # lists count documents, and compare only the rows that they show
    ("documents", "content"): ("info", "show"),
    ("documents", "doc_id"): ("list of a tag",),
    ("documents", "removed_at"): ("info",),
    ("documents", "row"): ("groups since",),  # it counts the documents that came later
    # a tag of another field: only a comparison of all tags would show it
    ("tags", "field"): ("list of a tag",),
}
"""Columns, and the commands whose answers use a value that was changed there; nearkin fsck notices all of them."""
NAMES = [table.name for table in TABLES]
VALUES = ["NULL", "'zz'", "X'00ff'", "0", "1", "77"]


def fill(place: SomePlace) -> None:
    """The waves, decisions and check-ins of `damaged_collections.fill`, with groups after each wave."""
    with place.open() as collection:
        add_extracted(collection, [*(with_origin(*one) for one in FIRST), with_origin("h", None)], wave="first")
        collection.groups(gamma=0.2)
        collection.add([*SECOND, ("p", ERASED)], wave="second")
        collection.remove(["e", "h"])
        collection.groups(gamma=0.2)
        collection.check(FORM)
        decide(collection)


@functools.cache
def undamaged() -> dict[str, tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder:
        place = SomePlace.new(Path(folder), None)
        copy_filled(place, fill)
        found = {name: answered(place, name) for name in COMMANDS}
    assert {name: code for name, (code, _) in found.items() if code} == {"check": 10}
    assert "added: f, g" in found["groups since"][1]
    assert "1 decision made or undone" in found["groups since"][1]
    return found


def answered(place: SomePlace, name: str) -> tuple[int, str]:
    file = Path(place.address).parent / "out"
    file.write_text(FORM)
    ended = run(place, COMMANDS[name], file)
    ended.assert_clean()
    said = " ".join(ended.out.replace(place.address, "PLACE").replace(str(file), "FILE").split())
    return ended.code, re.sub(r"[\d.,]+ m?s\b", "TIME", said)


def with_wrong_answers(folder: Path, statement: str) -> dict[str, tuple[int, str]]:
    """Damage a new copy; return the answers of commands that neither report it nor answer as before."""
    right = undamaged()
    place = SomePlace.new(folder, None)
    copy_filled(place, fill)
    with closing(sqlite3.connect(place.file)) as connection:
        try:
            connection.execute(statement)
        except sqlite3.IntegrityError:
            return {}  # the database refuses it
        connection.commit()
    answers = {name: answered(place, name) for name in right}
    return {name: found for name, found in answers.items() if found[0] != 7 and found != right[name]}


@pytest.mark.parametrize("table", NAMES)
@pytest.mark.parametrize("which", ["a row", "all rows"])
def test_no_command_answers_without_rows_that_were_deleted(tmp_path, table, which) -> None:
    middle = f"WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET (SELECT count(*) / 2 FROM {table}))"
    if table == "check_keys":  # it has no rowid
        middle = "WHERE key = (SELECT max(key) FROM check_keys)"
    wrong = with_wrong_answers(tmp_path, f"DELETE FROM {table} {middle if which == 'a row' else ''}")
    expected = {"profiles": {"info"}}  # see `NOT_NOTICED`
    assert set(wrong) <= expected.get(table, set()), wrong


COLUMNS = [
    pytest.param(table.name, column.name, marks=[] if (table.name, column.name) in NOT_NOTICED else [pytest.mark.soak])
    for table in TABLES
    for column in table.columns
]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_no_command_uses_a_value_that_was_changed(tmp_path, table, column) -> None:
    """Apart from those that are listed, and these do: the list fails if a column becomes noticed."""
    middle = f"rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET (SELECT count(*) / 2 FROM {table}))"
    if table == "check_keys":
        middle = "key = (SELECT max(key) FROM check_keys)"
    wrong = dict[str, list[tuple[str, tuple[int, str]]]]()
    for value in VALUES:
        statement = f"UPDATE {table} SET {column} = {value} WHERE {middle}"
        for name, found in with_wrong_answers(tmp_path, statement).items():
            wrong.setdefault(name, []).append((statement, found))
    assert set(wrong) == set(NOT_NOTICED.get((table, column), ())), wrong


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM facts WHERE name = 'decisions of groups at range, gamma 0.2'", "facts: 1 of "),
        ("DELETE FROM changes WHERE kind = 'never-group'", "changes: 1 of "),
        ("UPDATE changes SET kind = 'tag' WHERE kind = 'never-group'", "the row of change "),
    ],
)
def test_changes_of_groups_do_not_count_decisions_by_changed_rows(tmp_path, statement, told) -> None:
    place = SomePlace.new(tmp_path, None)
    copy_filled(place, fill)
    with closing(sqlite3.connect(place.file)) as connection:
        assert connection.execute(statement).rowcount == 1
        connection.commit()
    with place.open(create=False) as collection, pytest.raises(CollectionError, match=f"is damaged: {told}"):
        collection.groups_since("first", gamma=0.2)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE waves SET name = 'forged' WHERE name = 'second'", "the row of wave 2, named 'forged'"),
        ("UPDATE loads SET wave = (SELECT min(wave) FROM loads)", "the row of load 2 was changed"),
    ],
)
def test_a_check_names_no_wave_by_a_changed_row(place, statement, told) -> None:
    copy_filled(place, fill)
    sql(place, statement)
    with place.open(create=False) as collection, pytest.raises(CollectionError, match=f"is damaged: {told}"):
        collection.check(FORM)


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
