"""Creation of a collection, undone if its first load fails and nobody else has used it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, literal_column, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import DropSchema

from nearkin.errors import CollectionError, OutputError, ReplacedCollectionError
from nearkin.paths import why
from nearkin.store import schema
from nearkin.store.connections import lock, transaction
from nearkin.store.facts import read_facts
from nearkin.store.failures import busy, code_of
from nearkin.store.place import Place

_LOCK_MS = 1_000
_SHARED, _ALONE = (
    text(f"SELECT pg_{one}(hashtext('nearkin in use'), hashtext(:name))")
    for one in ("advisory_lock_shared", "try_advisory_xact_lock")
)
_GONE_IN_POSTGRESQL = {"3F000", "42P01", "42501"}
"""Schema or table missing; permission denied, which the server says of a schema that was dropped, too."""


@dataclass(frozen=True, slots=True)
class Made:
    """Parts that a store made when it was opened.

    Parameters
    ----------
    settings, tables, schema : bool
        Facts; the tables that hold them; and the schema of these in PostgreSQL.
    file : Path or None
        SQLite's file, whether it was made or not: absolute, because the process may change its directory later.
    folders : tuple of Path
        Its directory and those above it, deepest first, as far as they were made.
    """

    settings: bool = False
    tables: bool = False
    schema: bool = False
    file: Path | None = None
    folders: tuple[Path, ...] = ()


def is_bare(connection: Connection) -> bool:
    """Whether the tables are empty, as after a first load that failed."""
    return _are_empty(connection, schema.facts) and is_empty(connection)


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever added."""
    return _are_empty(connection, schema.waves, schema.contents, schema.documents)


class Use:
    """Use of an empty collection in PostgreSQL by a process that did not make it: it is not removed meanwhile.

    A connection of its own holds a lock that others may hold, too, and that `undo` must have alone. The server ends it
    with the connection. SQLite needs no lock: `undo` finds out whether its file is open.
    """

    def __init__(self, engine: Engine, place: Place) -> None:
        self._connection = engine.connect()
        self._connection.detach()
        try:
            with self._connection.begin():
                self._connection.execute(_SHARED, {"name": place.schema})
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Close the connection."""
        with contextlib.suppress(DBAPIError):
            self._connection.close()


def undo(engine: Engine, place: Place, made: Made, collection: str) -> None:
    """Remove a collection that this process made, unless it has documents; the engine is disposed of.

    Raises
    ------
    CollectionBusyError
        Another process has opened it.
    OutputError
        SQLite or the system does not let its file be removed.
    sqlalchemy.exc.DBAPIError
        PostgreSQL does not let it be removed.
    """
    if made.file is None:
        try:
            with transaction(engine, is_writing=True) as connection:
                _drop(connection, place, made, collection)
        finally:
            engine.dispose()
        return
    engine.dispose()
    try:
        if _is_deleted(made.file, partial(_is_removable, made=made, collection=collection)):
            remove_folders(made.folders)
    except sqlite3.Error as error:
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise busy(place) from error
        raise OutputError(f"{made.file} cannot be removed: {error}.") from error


def clear(made: Made) -> None:
    """Remove what is left of a collection that could not be created, unless another process has created it."""
    if made.file is not None:
        with contextlib.suppress(sqlite3.Error, OutputError):  # the error of the creation is the one to report
            _is_deleted(made.file, _has_no_tables)
        remove_folders(made.folders)


def is_gone(made: Made, error: BaseException, *, was_there: bool) -> bool:
    """Whether a collection could not be opened because another process has removed it meanwhile, as far as one can see.

    In PostgreSQL the server then says the same as if a permission was missing.
    """
    if isinstance(error, ReplacedCollectionError):
        return True
    code = code_of(error)
    if made.file is None:
        return code in _GONE_IN_POSTGRESQL
    was_open = was_there or code.startswith("SQLITE_IOERR")
    return not made.file.exists() and (was_open or not made.file.parent.exists())


def removed_meanwhile(place: Place) -> CollectionError:
    """Return the error for a collection that disappears whenever it is opened."""
    return CollectionError(
        f"{place} could not be opened, because another process has removed it meanwhile: its first load failed. Run "
        "the command again."
    )


def make_folders(directory: Path) -> tuple[Path, ...]:
    """Create a directory and those above it; return the ones that were missing, deepest first.

    Raises
    ------
    OSError
        It cannot be created; then none is.
    """
    missing = [one for one in (directory, *directory.parents) if not os.path.lexists(one)]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        remove_folders(missing)
        raise
    return tuple(missing)


def remove_folders(folders: Sequence[Path]) -> None:
    """Remove folders, deepest first, that have nothing else in them."""
    with contextlib.suppress(OSError):
        for one in folders:
            one.rmdir()


def _drop(connection: Connection, place: Place, made: Made, collection: str) -> None:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_MS}")
    lock(connection, place, 0)
    connection.exec_driver_sql("LOCK TABLE facts IN ACCESS EXCLUSIVE MODE")
    if not is_empty(connection):
        return
    if not connection.execute(_ALONE, {"name": place.schema}).scalar_one():
        raise busy(place)
    if read_facts(connection, ("collection",)).get("collection") != collection:
        raise busy(place)
    if not made.tables:  # whoever made them has granted permissions on them
        connection.execute(schema.facts.delete())
        return
    connection.exec_driver_sql("DROP VIEW indexed_documents")
    connection.exec_driver_sql("DROP TABLE check_keys, search_words")
    schema.metadata.drop_all(connection, checkfirst=False)
    if made.schema and place.schema is not None:
        with contextlib.suppress(DBAPIError), connection.begin_nested():  # something else is in it now
            connection.execute(DropSchema(place.schema))


def _is_deleted(file: Path, is_removable: Callable[[sqlite3.Connection], bool]) -> bool:
    """Delete SQLite's file and its log while nobody can open them, without writing: the disk may be full."""
    if not file.exists():
        return True
    with contextlib.closing(sqlite3.connect(file.as_uri() + "?mode=rw", uri=True, timeout=0)) as connection:
        connection.isolation_level = None
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        # EXCLUSIVE is refused while any other connection is open, even one that is idle, but writes to an empty file
        connection.execute("BEGIN EXCLUSIVE" if file.stat().st_size else "BEGIN")
        if not is_removable(connection):
            return False
        for one in (file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm"), file):
            try:
                one.unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"{one} cannot be removed: {why(error)}.") from error
    return True


def _is_removable(connection: sqlite3.Connection, made: Made, collection: str) -> bool:
    """Whether the file has nothing but an empty collection of this process; tables made by others are only emptied."""
    rows = (f"EXISTS (SELECT 1 FROM {one.name})" for one in (schema.waves, schema.contents, schema.documents))
    has_documents, own = connection.execute(
        f"SELECT {' OR '.join(rows)}, (SELECT value FROM facts WHERE name = 'collection')"
    ).fetchone()
    if has_documents or own != collection:
        return False
    if not made.tables:
        connection.execute("DELETE FROM facts")
        connection.execute("COMMIT")
    return made.tables


def _has_no_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None


def _are_empty(connection: Connection, *tables: Table) -> bool:
    return all(
        connection.execute(select(literal_column("1")).select_from(table).limit(1)).first() is None for table in tables
    )
