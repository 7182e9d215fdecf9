"""Creation of a collection, undone if its first load fails and nobody else has used it."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, literal_column, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import DropSchema

from nearkin.errors import CollectionBusyError
from nearkin.store import schema
from nearkin.store.connections import lock, transaction
from nearkin.store.place import FILE, Place

_IS_UNUSED = "0"
"""Generation of a collection that no other store has opened to add documents; see `note_use`."""
_LOCK_MS = 1_000


@dataclass(frozen=True, slots=True)
class Made:
    """Parts that a store made when it was opened.

    Parameters
    ----------
    settings, tables, folder : bool
        Facts; the tables that hold them; and the schema or directory around these.
    """

    settings: bool = False
    tables: bool = False
    folder: bool = False


def is_bare(connection: Connection) -> bool:
    """Whether the tables are empty, as after ``nearkin sql schema`` or a first load that failed."""
    return _are_empty(connection, schema.facts) and is_empty(connection)


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever added."""
    return _are_empty(connection, schema.waves, schema.contents, schema.documents)


def note_use(engine: Engine) -> None:
    """Note in an empty collection in PostgreSQL, which another process may be filling, that this one may fill it too.

    SQLite needs no note: `undo` finds out whether its file is open.
    """
    used = text("UPDATE facts SET value = '1' WHERE name = 'generation' AND value = :unused")
    with (
        contextlib.suppress(DBAPIError),  # not permitted, or `undo` was faster
        transaction(engine, is_writing=True) as connection,  # without the lock, which a first load holds
    ):
        connection.execute(used, {"unused": _IS_UNUSED})


def undo(engine: Engine, place: Place, made: Made, collection: str) -> bool:
    """Remove a collection that this process made, unless it has documents or another one has opened it.

    Returns
    -------
    bool
        Whether there is no empty collection now: it was removed, or it has documents.
    """
    try:
        if place.directory is not None:
            engine.dispose()
            return _is_deleted(place.directory, made, collection)
        with transaction(engine, is_writing=True) as connection:
            return _is_dropped(connection, place, made, collection)
    except (DBAPIError, sqlite3.Error, OSError, CollectionBusyError):  # somebody reads or writes, or keeps things in it
        return False


def _is_dropped(connection: Connection, place: Place, made: Made, collection: str) -> bool:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_MS}")
    lock(connection, place, 0)
    connection.exec_driver_sql("LOCK TABLE facts IN ACCESS EXCLUSIVE MODE")
    if not is_empty(connection):
        return True
    if not _is_unused(connection, collection):
        return False
    if not made.tables:  # whoever made them has granted permissions on them
        connection.execute(schema.facts.delete())
        return True
    connection.exec_driver_sql("DROP VIEW indexed_documents")
    connection.exec_driver_sql("DROP TABLE check_keys")
    schema.metadata.drop_all(connection, checkfirst=False)
    if made.folder and place.schema is not None:
        connection.execute(DropSchema(place.schema))
    return True


def _is_unused(connection: Connection, collection: str) -> bool:
    facts = schema.facts.c
    asked = select(facts.name, facts.value).where(facts.name.in_(("collection", "generation")))
    found = {one.name: one.value for one in connection.execute(asked)}
    return found == {"collection": collection, "generation": _IS_UNUSED}


def _is_deleted(directory: Path, made: Made, collection: str) -> bool:
    """Delete SQLite's file while nobody can open it, and its directory if that was not there before."""
    file = directory.absolute() / FILE
    with contextlib.closing(sqlite3.connect(file.as_uri() + "?mode=rw", uri=True, timeout=0)) as connection:
        connection.isolation_level = None
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        # refused while any other connection is open, even one that is idle
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        connection.execute("BEGIN EXCLUSIVE")
        rows = (f"EXISTS (SELECT 1 FROM {one.name})" for one in (schema.waves, schema.contents, schema.documents))
        has_documents, own = connection.execute(
            f"SELECT {' OR '.join(rows)}, (SELECT value FROM facts WHERE name = 'collection')"
        ).fetchone()
        if has_documents or own != collection:
            return True
        if mode != "delete":
            return False
        if not made.tables:
            connection.execute("DELETE FROM facts")
            connection.execute("COMMIT")
            return True
        file.unlink()
    if made.folder:
        with contextlib.suppress(OSError):  # something else is in it now
            directory.rmdir()
    return True


def _are_empty(connection: Connection, *tables: Table) -> bool:
    return all(
        connection.execute(select(literal_column("1")).select_from(table).limit(1)).first() is None for table in tables
    )
