"""Collections with a byte changed or a row lost, and what can be read of them."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import BigInteger, Boolean, Integer, LargeBinary

from extracted_documents import HEADERS, add_extracted, origin, unread
from made_up_prose import Prose
from nearkin.collection.collection import Collection
from nearkin.collection.integrity.fsck import IntegrityReport
from nearkin.collection.stored.group_history import HISTORY
from nearkin.errors import CollectionError, UnknownDocumentError
from nearkin.store import schema
from places import SomePlace

prose = Prose(23)
FORM = prose.text(30)
FIRST = [("a", FORM), ("b", prose.altered(FORM, 1)), ("c", prose.text(20)), ("d", "No."), ("e", prose.text(25))]
SECOND = [("f", prose.altered(FORM, 2)), ("c", prose.text(90)), ("g", FORM)]
TEXTS = dict(FIRST) | dict(SECOND)
LONG = prose.text(120)
NEAR = prose.altered(LONG, 1)
ERASED = prose.text(25)
TABLES = [*schema.metadata.sorted_tables, schema.check_keys, HISTORY]


def filled(place) -> None:
    """Two waves, a new version, a removed document, a problem, groups, keys of check-ins, decisions, an erased text."""
    copy_filled(place, fill)


def copy_filled(place, fill: Callable[[SomePlace], None]) -> None:
    """Make a place a copy of one that was filled this way, which happens once in a process."""
    original, dump, _ = _filled_once(place.server, fill)
    place.copy_of(original, dump)


@functools.cache
def _filled_once(server, fill: Callable[[SomePlace], None]) -> tuple[SomePlace, Path, tempfile.TemporaryDirectory[str]]:
    """A filled place, to be copied; its files go away with the process."""
    folder = tempfile.TemporaryDirectory()
    original = SomePlace.new(Path(folder.name), server)
    fill(original)
    return original, original.copy_store(), folder


def fill(place, *, has_decisions: bool = True) -> None:
    with place.open() as collection:
        add_extracted(collection, [*(with_origin(*one) for one in FIRST), with_origin("h", None)], wave="first")
        collection.add([*SECOND, ("p", ERASED)], wave="second")
        collection.remove(["e", "h"])
        collection.groups(gamma=0.2)
        collection.check(FORM)
        if has_decisions:
            decide(collection)


def with_origin(doc_id: str, text: str | None):
    """A document with its origin and its parent; "h" is a file that gave no text."""
    found = {
        "a": origin("a", kind="eml", warnings="no charset", family="a", mail=HEADERS),
        "b": origin("b", declared_kind="doc", warnings="no charset", n_pages=3, family="a", position=1),
        "d": origin("c", exception="image only", sentence="a page is an image", warnings="slow", is_partial=True),
        "h": unread("d", sentence="no text", warnings="slow"),
    }
    return doc_id, text, found.get(doc_id), "a" if doc_id == "b" else None


def decide(collection: Collection) -> None:
    collection.tag(["a", "b", "c"], "responsive", "yes", by="ada")
    collection.tag(["b", "d"], "privileged", "full", by="ada")
    collection.decide(never_group=("a", "c"), by="ada")
    collection.decide(note=("b", "signed copy on paper"), by="ada")
    collection.decide(principal="b", by="ada")
    collection.undo(2, by="bo")
    collection.purge(["p"], by="bo")
    collection.check(FORM)


def changed(value: object, kind: object) -> object:
    """A value with one byte changed, of which no other row has the same."""
    if isinstance(kind, Boolean):
        return not value
    if isinstance(kind, BigInteger | Integer):
        return int(value) ^ 0x40
    if isinstance(kind, LargeBinary):
        data = bytearray(value)
        data[len(data) // 2] ^= 0x10
        return bytes(data)
    return value[:-1] + ("x" if value[-1] != "x" else "y") if value else "x"


def damage(place, table, name: str, only: str = "") -> None:
    """Change one byte of a row, of those that are meant the one in the middle."""
    keys = [column.name for column in (table.primary_key.columns or table.columns)]
    order = ", ".join(keys)
    with closing(connection_of(place)) as connection, closing(connection.cursor()) as cursor:
        mark = "?" if place.server is None else "%s"
        cursor.execute(f"SELECT {order}, {name} FROM {table.name} WHERE {name} IS NOT NULL {only} ORDER BY {order}")
        rows = cursor.fetchall()
        *where, value = rows[len(rows) // 2]
        is_it = " AND ".join(f"{key} = {mark}" for key in keys)
        new = changed(value, table.c[name].type)
        cursor.execute(f"UPDATE {table.name} SET {name} = {mark} WHERE {is_it}", (new, *where))
        connection.commit()


def connection_of(place):
    """A connection that does not mind what refers to what."""
    if place.server is None:
        return sqlite3.connect(place.file)
    connection = place.server.connection()
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SET search_path TO {place.schema}; SET session_replication_role = replica")
    return connection


def readable(collection: Collection) -> dict[str, str]:
    """The documents that are read; whatever is not is told."""
    read = {}
    codes = set[int]()
    for doc_id, text in TEXTS.items():
        if doc_id == "e":
            continue
        try:
            read[doc_id] = collection.text(doc_id)
            assert read[doc_id] == text
        except CollectionError as error:
            codes.add(error.exit_code)
    assert codes <= {7}
    with pytest.raises(CollectionError, match=r"removed|damaged|was changed") as caught:
        collection.text("e")
    assert isinstance(caught.value, UnknownDocumentError) or caught.value.exit_code == 7
    return read


def is_silent(told: IntegrityReport) -> bool:
    return told.is_whole and not (told.mended_texts or told.mended_rows or told.remade_segments)


def damage_text(place, column: str = "text", content: int = 0) -> None:
    damage(place, schema.contents, column, f"AND content = {content}")


def sql(place, *statements: str) -> None:
    with closing(connection_of(place)) as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def faults(place) -> str:
    with place.open(create=False) as collection:
        told = collection.fsck()
    assert not told.is_whole
    return "; ".join([*told.faults, *told.group_faults, *told.damaged_documents])
