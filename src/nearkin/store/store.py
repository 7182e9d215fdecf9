"""A collection's database: opened, made, migrated; read in snapshots, written in transactions."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import time
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import QueuePool
from sqlalchemy.schema import CreateSchema

from nearkin.errors import CollectionError, OutputError
from nearkin.paths import why
from nearkin.store import schema
from nearkin.store.facts import read_facts, say, unsay
from nearkin.store.failures import busy, damaged, told
from nearkin.store.migrations import migrate, version_of
from nearkin.store.place import FILE, Place
from nearkin.store.seals import PARTS, Seal, write_seals

BUSY_S = 2.0
"""How long a writer waits for another one before it gives up."""
_BETWEEN_TRIES_S = 0.05
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())  # a connection that is gone is no news to users
_CONNECT_S = 60
_PAGES_CACHED_KIB = 65_536
_NO_TEXT = "its tables have names that are no text"
_OWN_ID = re.compile("[0-9a-f]{32}")
_FACTS = {"schema", "collection", "generation"}


class Store:
    """The database of one collection. Any number of readers, one writer at a time, in threads and in processes.

    Attributes
    ----------
    place : Place
    facts : dict of str to str
        What was said of the collection when it was made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(Place.parse(f"{folder}/matter"), make={"letters": "latin"}) as store:
    ...         with store.reading() as connection:
    ...             store.facts["letters"], store.generation(connection)
    ('latin', 0)
    """

    def __init__(self, place: Place, engine: Engine, facts: Mapping[str, str]) -> None:
        self.place, self._engine, self.facts = place, engine, dict(facts)

    @classmethod
    def open(cls, place: Place, *, make: Mapping[str, str] | None = None) -> Store:
        """Open what is there; an older schema is brought up to date first.

        Parameters
        ----------
        place : Place
        make : mapping of str to str, optional
            What to say of a collection that is made here if there is none. The making that was interrupted is none.

        Raises
        ------
        CollectionError
            There is no collection; or it is damaged, or of a newer Nearkin, or its database does not answer; or
            something else is in the directory where one is to be made.
        """
        is_there = place.directory is None or (place.directory / FILE).is_file()
        if not is_there and make is None:
            raise CollectionError(_not_there(place))
        if place.directory is not None and not is_there:
            _make_directory(place.directory)
        engine = _engine(place)
        try:
            with told(place):
                return cls(place, engine, _opened(engine, place, make))
        except BaseException:
            engine.dispose()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A snapshot: what others write in the meantime is not seen."""
        with told(self.place), _transaction(self._engine, is_writing=False) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it is stored, durably, when the block ends, or nothing of it is.

        Raises
        ------
        CollectionBusyError
            Another process, or thread, is writing.
        OutputError
            The disk is full, or cannot be written to.
        """
        with told(self.place, is_writing=True), _transaction(self._engine, is_writing=True) as connection:
            _lock(connection, self.place)
            yield connection
            _commit(connection, self.place)

    def generation(self, connection: Connection) -> int:
        """A number that is raised when something that was stored is mended: what was derived before is then stale."""
        return _generation(self.fact(connection, "generation"), self.place)

    def fact(self, connection: Connection, name: str) -> str | None:
        """What is said by now, which may be more than when the store was opened."""
        return self.facts_now(connection, (name,)).get(name)

    def facts_now(self, connection: Connection, names: Sequence[str]) -> dict[str, str]:
        """See `fact`: those of several names that are said."""
        return read_facts(connection, self.place, names)

    def say(self, connection: Connection, facts: Mapping[str, str]) -> None:
        """Add to what is said of the collection; what was said under the same names goes."""
        say(connection, facts)

    def unsay(self, connection: Connection, name: str) -> None:
        """Say no longer what was said under a name."""
        unsay(connection, name)

    def raise_generation(self, connection: Connection) -> None:
        """Whatever was derived from the store so far is to be derived anew."""
        say(connection, {"generation": str(self.generation(connection) + 1)})

    @property
    def dialect(self) -> str:
        """The kind of database: "sqlite" or "postgresql"."""
        return str(self._engine.dialect.name)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _opened(engine: Engine, place: Place, make: Mapping[str, str] | None) -> dict[str, str]:
    """The facts of the collection that is there, or that is made now; its schema is today's afterwards."""
    with _transaction(engine, is_writing=False) as connection:
        is_there = _has_tables(connection, place)
        version = version_of(connection, place) if is_there else schema.VERSION
    if not is_there and make is None:
        raise CollectionError(_not_there(place))
    if not is_there or version < schema.VERSION:
        with _transaction(engine, is_writing=True) as connection:
            _lock(connection, place)
            if make is not None and not _has_tables(connection, place):  # another process may have been faster
                _make(connection, place, make)
            migrate(connection, version_of(connection, place))
    with _transaction(engine, is_writing=False) as connection:
        facts = read_facts(connection, place)
    if missing := _FACTS - set(facts):
        raise CollectionError(f"{place} does not say its {', '.join(sorted(missing))}; it is damaged.")
    if not _OWN_ID.fullmatch(facts["collection"]):  # it becomes the name of a folder
        raise CollectionError(f"{place} says {facts['collection'][:50]!r} where its own id should be; it is damaged.")
    _generation(facts["generation"], place)
    return facts


def _generation(found: str | None, place: Place) -> int:
    if found is None or not found.isdecimal():
        raise CollectionError(f"{place} says {found!r} where its generation should be; it is damaged.")
    return int(found)


def _make(connection: Connection, place: Place, facts: Mapping[str, str]) -> None:
    """The tables of a new collection."""
    if place.schema is not None and not inspect(connection).has_schema(place.schema):
        connection.execute(CreateSchema(place.schema))  # IF NOT EXISTS asks for the right in any case
    schema.metadata.create_all(connection)
    said = {**facts, "schema": str(schema.VERSION), "collection": uuid.uuid4().hex, "generation": "0"}
    said |= schema.FACTS_OF_3
    write_seals(connection, dict.fromkeys(PARTS, Seal(0, 0, True)))
    say(connection, said)
    if "similarity_index" in said:
        schema.say_method(connection, said["similarity_index"])


def _make_directory(directory: Path) -> None:
    """The directory of a new collection: one that is not there, or empty, or in which making one was interrupted."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in directory.iterdir() if not path.name.startswith(FILE)]
    except OSError as error:
        raise OutputError(f"Cannot make {directory}: {why(error)}.") from error
    if others:
        raise CollectionError(
            f"{directory} is no collection, and it is not empty ({', '.join(sorted(others)[:3])}, …). Name a new "
            "directory for the collection."
        )


def _not_there(place: Place) -> str:
    return f"There is no collection at {place}. Make one by adding documents: nearkin add COLLECTION INPUT..."


def _engine(place: Place) -> Engine:
    """With the connections set up as both kinds of databases need it."""
    engine = _sqlite_engine(place) if place.directory is not None else _postgresql_engine(place)
    if hasattr(os, "register_at_fork"):  # a child must not speak on its parent's connections
        forgotten = weakref.ref(engine)
        os.register_at_fork(after_in_child=lambda: _forget(forgotten()))
    return engine


def _sqlite_engine(place: Place) -> Engine:
    engine = create_engine(place.url, poolclass=QueuePool, connect_args={"timeout": BUSY_S})

    def unread(context: Any) -> CollectionError | None:
        """The driver itself fails at what SQLite says, where that is no text."""
        error = context.original_exception
        return damaged(place, f"{_NO_TEXT} ({error})") if isinstance(error, UnicodeDecodeError) else None

    event.listen(engine, "connect", lambda connection, _: _set_up_sqlite(connection, place))
    event.listen(engine, "handle_error", unread, retval=True)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _postgresql_engine(place: Place) -> Engine:
    engine = create_engine(place.url, connect_args={"timeout": _CONNECT_S, "application_name": "nearkin"})
    schema_name = place.schema

    def set_up(connection: Any, _record: object) -> None:
        with contextlib.suppress(AttributeError, OSError):
            connection._usock.settimeout(None)  # a statement may take as long as it takes
            # else each COPY waits 40 ms for an acknowledgement
            connection._usock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        cursor = connection.cursor()
        cursor.execute(f'SET search_path TO "{schema_name}"')
        cursor.close()
        connection.commit()

    def connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
        try:
            return dialect.connect(*arguments, **options)
        except OSError as error:
            raise CollectionError(f"{place} does not answer: {error}.") from error
        except AttributeError as error:  # the driver has no better word for it
            if place.url.password is not None:
                raise
            raise CollectionError(
                f"{place} asks for a password, and the URL has none: postgresql://USER:PASSWORD@HOST/DATABASE"
            ) from error

    def failed(context: Any) -> CollectionError | None:
        """What is not the server's own answer leaves a connection in the middle of something: it is given up."""
        error = context.original_exception
        has_answered = bool(error.args) and isinstance(error.args[0], dict)
        if not has_answered:
            context.is_disconnect = True
        return CollectionError(f"{place} does not answer: {error}.") if isinstance(error, OSError) else None

    def look(connection: Any, _record: object, _proxy: object) -> None:
        """Whether a connection that waited is still there; SQLAlchemy does not know this driver's way to say no."""
        try:
            cursor = connection.cursor()
            cursor.execute("SELECT 1")
            cursor.close()
            connection.rollback()
        except Exception as error:
            raise DisconnectionError from error

    event.listen(engine, "checkout", look)
    event.listen(engine, "handle_error", failed, retval=True)
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", set_up)
    return engine


def _forget(engine: Engine | None) -> None:
    if engine is not None:
        engine.dispose(close=False)


def _set_up_sqlite(connection: Any, place: Place) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except UnicodeDecodeError as error:  # the driver fails at what SQLite says
        raise damaged(place, f"{_NO_TEXT} ({error})") from error
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_PAGES_CACHED_KIB}")


def _begin_sqlite(connection: Connection) -> None:
    is_writing = connection.get_execution_options().get("is_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


@contextlib.contextmanager
def _transaction(engine: Engine, *, is_writing: bool) -> Iterator[Connection]:
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(
                isolation_level="READ COMMITTED" if is_writing else "REPEATABLE READ",
                postgresql_readonly=not is_writing,
            )
        else:
            connection = connection.execution_options(is_writing=is_writing)
        with connection.begin():
            yield connection


def _commit(connection: Connection, place: Place) -> None:
    """Store what the transaction wrote; where the answer is lost nobody knows whether it was."""
    transaction = connection.get_transaction()
    if transaction is None or place.directory is not None:  # SQLite's ends with the block, and always answers
        return
    try:
        transaction.commit()
    except (CollectionError, DBAPIError) as error:
        if isinstance(error, DBAPIError) and not error.connection_invalidated:
            raise
        raise CollectionError(
            f"{place} did not answer when the command was to be stored: it is not known whether it was. Give it again: "
            "what is stored is not stored twice."
        ) from None


def _lock(connection: Connection, place: Place) -> None:
    """Be the only writer until the transaction ends; SQLite's transactions that write are that by themselves."""
    if place.schema is None:
        return
    key = text("SELECT pg_try_advisory_xact_lock(hashtext('nearkin'), hashtext(:name))")
    given_up_at = time.monotonic() + BUSY_S
    while not connection.execute(key, {"name": place.schema}).scalar_one():
        if time.monotonic() > given_up_at:
            raise busy(place)
        time.sleep(_BETWEEN_TRIES_S)


def _has_tables(connection: Connection, place: Place) -> bool:
    return bool(inspect(connection).has_table("facts", schema=place.schema))
