"""Collections that are filled once, copied, and damaged by hand."""

from __future__ import annotations

import functools
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from extracted_documents import HEADERS, add_extracted, origin, unread
from made_up_prose import Prose
from nearkin.collection.integrity import IntegrityReport
from places import SomePlace

prose = Prose(23)
FORM = prose.text(30)
FIRST = [("a", FORM), ("b", prose.altered(FORM, 1)), ("c", prose.text(20)), ("d", "No."), ("e", prose.text(25))]
SECOND = [("f", prose.altered(FORM, 2)), ("c", prose.text(90)), ("g", FORM)]
TEXTS = {doc_id: text for doc_id, text in [*FIRST, *SECOND] if doc_id != "e"}
"""The current documents and their texts."""
ERASED = prose.text(25)


def filled(place: SomePlace) -> None:
    """Two waves, a new version, a removed document, a problem, groups, keys of check-ins, decisions, an erased text."""
    copy_filled(place, fill)


def copy_filled(place: SomePlace, fill: Callable[[SomePlace], None]) -> None:
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


def fill(place: SomePlace) -> None:
    with place.open() as collection:
        add_extracted(collection, [*(with_origin(*one) for one in FIRST), with_origin("h", None)], wave="first")
        collection.add([*SECOND, ("p", ERASED)], wave="second")
        collection.remove(["e", "h"])
        collection.groups(gamma=0.2)
        collection.check(FORM)
        collection.tag(["a", "b", "c"], "responsive", "yes", by="ada")
        collection.decide(never_group=("a", "c"), by="ada")
        collection.undo(2, by="bo")
        collection.purge(["p"], by="bo")
        collection.check(FORM)
        collection.search("lease")


def with_origin(doc_id: str, text: str | None):
    """A document with its origin and its parent; "h" is a file that gave no text."""
    found = {
        "a": origin("a", kind="eml", warnings="no charset", family="a", mail=HEADERS),
        "b": origin("b", declared_kind="doc", warnings="no charset", n_pages=3, family="a", position=1),
        "h": unread("d", sentence="no text", warnings="slow"),
    }
    return doc_id, text, found.get(doc_id), "a" if doc_id == "b" else None


def connection_of(place: SomePlace):
    """A connection that does not mind what refers to what."""
    if place.server is None:
        return sqlite3.connect(place.file)
    connection = place.server.connection()
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SET search_path TO {place.schema}; SET session_replication_role = replica")
    return connection


def sql(place: SomePlace, *statements: str) -> None:
    with closing(connection_of(place)) as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)
        connection.commit()


def damage_text(place: SomePlace, column: str = "text", content: int = 0) -> None:
    """Change one byte of the text of "a" and "g", or of another content or column."""
    one = "x'10'" if place.server is None else "'\\x10'::bytea"
    start = f"substr({column}, 1, length({column}) - 1)"
    sql(place, f"UPDATE contents SET {column} = CAST({start} || {one} AS {blob(place)}) WHERE content = {content}")


def blob(place: SomePlace) -> str:
    return "BLOB" if place.server is None else "BYTEA"


def is_silent(report: IntegrityReport) -> bool:
    return report.is_whole and not report.rebuilt
