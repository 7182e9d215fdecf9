"""Database of a collection: opened, created; read in snapshots, written in transactions."""

from __future__ import annotations

import contextlib
import math
import os
import re
import threading
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, bindparam, create_mock_engine, inspect, literal_column, select
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema, ExecutableDDLElement

from nearkin.errors import CollectionError, MissingCollectionError, OutputError, ParameterError
from nearkin.nouns import first_of
from nearkin.paths import why
from nearkin.store import connections, schema
from nearkin.store.bulk import insert_rows
from nearkin.store.connections import ReadOnlyFile, engine_of, lock, transaction
from nearkin.store.damage import unrepairable
from nearkin.store.failures import busy, database_errors
from nearkin.store.place import FILE, Place
from nearkin.store.schema import facts
from nearkin.store.upkeep import erase_freed

# made once: every transaction reads a few facts, and a statement takes longer to make than to run
_ALL = select(facts)
_SOME = select(facts).where(facts.c.name.in_(bindparam("names", expanding=True)))
_OWN_ID = re.compile("[0-9a-f]{32}")
_IN_EACH = {"schema", "collection", "generation"}
"""Facts of every collection."""


def write_facts(connection: Connection, new: Mapping[str, str]) -> None:
    """Store facts about a collection; facts of the same names are replaced."""
    connection.execute(facts.delete().where(facts.c.name.in_(list(new))))
    insert_rows(connection, facts, [list(new), list(new.values())])


def delete_fact(connection: Connection, name: str) -> None:
    """Delete a fact."""
    connection.execute(facts.delete().where(facts.c.name == name))


def read_facts(connection: Connection, names: Sequence[str] | None = None) -> dict[str, str]:
    """Return all facts, or those with the given names."""
    rows = connection.execute(_ALL) if names is None else connection.execute(_SOME, {"names": list(names)})
    return {row.name: row.value for row in rows}


def whole_facts(connection: Connection, place: object) -> dict[str, str]:
    """Return the facts of a collection; CollectionError if a necessary one is missing."""
    stored = read_facts(connection)
    if missing := _IN_EACH - set(stored):
        raise unrepairable(f"it has no {', '.join(sorted(missing))}", place)
    if not _OWN_ID.fullmatch(stored["collection"]):  # it becomes the name of a folder
        raise unrepairable(f"its id is {stored['collection'][:50]!r}", place)
    generation_in(stored["generation"], place)
    return stored


def generation_in(generation: str | None, place: object) -> int:
    """Return the generation that a fact has; see `Store.generation`."""
    if generation is None or not generation.isdecimal():
        raise unrepairable(f"its generation is {generation!r}", place)
    return int(generation)


@dataclass(frozen=True, slots=True)
class Access:
    """Timeout and permission with which a store is opened; ``is_read_only`` covers derived data."""

    wait_s: float | None = None
    is_read_only: bool = False

    def __post_init__(self) -> None:
        if self.wait_s is not None and (not isinstance(self.wait_s, int | float) or not 0 <= self.wait_s < 1e9):
            raise ParameterError.of("wait", "a number of seconds >= 0", self.wait_s)

    @property
    def patience_s(self) -> float:
        """Maximum time to wait."""
        return connections.BUSY_S if self.wait_s is None else self.wait_s


class Store:
    """The database of one collection. Any number of readers, one writer at a time, across threads and processes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(Place.parse(f"{folder}/matter"), {"letters": "latin"}, create=True) as store:
    ...         with store.reading() as connection:
    ...             store.facts["letters"], store.generation(connection)
    ('latin', 0)
    """

    def __init__(
        self, place: Place, engine: Engine, facts: Mapping[str, str], access: Access, file: ReadOnlyFile | None
    ) -> None:
        self.place, self._engine, self.facts = place, engine, dict(facts)
        self.access, self._file = access, file
        self._turn, self._waiting = threading.Lock(), set[int]()
        if hasattr(os, "register_at_fork"):
            begin = weakref.WeakMethod(self._begin_in_child)
            os.register_at_fork(after_in_child=lambda: (call := begin()) and call())

    @classmethod
    def open(
        cls, place: Place, facts: Mapping[str, str] | None = None, *, create: bool = False, access: Access | None = None
    ) -> Store:
        """Open a store; ``create`` also completes a collection whose creation was interrupted."""
        access, file = access or Access(), None
        if place.directory is not None:
            file = _file_to_read(place, place.directory, create=create, access=access)
        with database_errors(place):
            engine = engine_of(place, access.patience_s, file)
        try:
            with database_errors(place):
                return cls(place, engine, _opened(engine, place, facts, create=create, access=access), access, file)
        except BaseException:
            engine.dispose()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a snapshot, which does not see later writes."""
        wait_s = self.access.patience_s
        with database_errors(self.place), transaction(self._engine, is_writing=False, wait_s=wait_s) as connection:
            yield connection
        if self._file is not None:
            self._file.check_unchanged()

    @contextlib.contextmanager
    def writing(self, *, at_most_s: float = math.inf) -> Iterator[Connection]:
        """Open a transaction: when the block ends, all of it is stored durably, or none of it.

        It waits for another writer as long as the store waits, but not longer than ``at_most_s``.
        """
        self.refuse_read_only()
        patience_s = min(self.access.patience_s, at_most_s)
        with (
            self._in_turn(patience_s),
            database_errors(self.place, is_writing=True),
            transaction(self._engine, is_writing=True, wait_s=patience_s) as connection,
        ):
            lock(connection, self.place, patience_s, self.facts["collection"])
            yield connection
            _commit(connection, self.place)

    def refuse_read_only(self) -> None:
        """Refuse to write to a store that was opened read-only."""
        if self.access.is_read_only:
            raise CollectionError(f"{self.place} is opened read-only, and nothing can be stored in it.")

    @property
    def n_waiting(self) -> int:
        """Number of threads that wait until another one has written."""
        return len(self._waiting)

    @contextlib.contextmanager
    def _in_turn(self, patience_s: float) -> Iterator[None]:
        self._waiting.add(threading.get_ident())
        try:
            is_next = self._turn.acquire(timeout=patience_s)
        finally:
            self._waiting.discard(threading.get_ident())
        if not is_next:
            raise busy(self.place)
        try:
            yield
        finally:
            self._turn.release()

    def generation(self, connection: Connection) -> int:
        """Return a number that is raised when stored counts or signatures change."""
        return generation_in(self.fact(connection, "generation"), self.place)

    def fact(self, connection: Connection, name: str) -> str | None:
        """Return the current value of a fact, which may be newer than `facts`."""
        return read_facts(connection, (name,)).get(name)

    write_facts, delete_fact = staticmethod(write_facts), staticmethod(delete_fact)

    def raise_generation(self, connection: Connection) -> None:
        """Mark all derived data as stale."""
        write_facts(connection, {"generation": str(self.generation(connection) + 1)})

    def erase_freed(self) -> None:
        """Rewrite the database, so that its files contain no deleted or overwritten data."""
        with database_errors(self.place):
            erase_freed(self._engine, self.place, self.access.patience_s)

    @property
    def dialect(self) -> str:
        """Kind of database: "sqlite" or "postgresql"."""
        return str(self._engine.dialect.name)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _begin_in_child(self) -> None:
        """Forget the connections and the turn of the process that forked."""
        self._engine.dispose(close=False)
        self._turn = threading.Lock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _file_to_read(place: Place, directory: Path, *, create: bool, access: Access) -> ReadOnlyFile | None:
    path = directory / FILE
    if os.path.isfile(path) and os.path.getsize(path):
        return ReadOnlyFile(place, path) if access.is_read_only else None
    if not create:
        raise MissingCollectionError(_not_there(place))
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Cannot create {directory}: {why(error)}.") from error
    refuse_other_files(directory)
    return None


def _opened(
    engine: Engine, place: Place, given: Mapping[str, str] | None, *, create: bool, access: Access
) -> dict[str, str]:
    with transaction(engine, is_writing=False) as connection:
        has_tables = _has_tables(connection, place)
        if has_tables and not _is_bare(connection):
            _refuse_other_format(connection, place)
            return whole_facts(connection, place)
    if has_tables and given is None:
        raise CollectionError(f"{place} has no documents yet. Add some: nearkin add COLLECTION INPUT...")
    if access.is_read_only or not (has_tables or create):
        raise MissingCollectionError(_not_there(place))
    with transaction(engine, is_writing=True) as connection:
        lock(connection, place, access.patience_s)
        if not _has_tables(connection, place):  # otherwise another process has created them
            if place.schema is not None and not inspect(connection).has_schema(place.schema):
                connection.execute(CreateSchema(place.schema))  # IF NOT EXISTS would need the permission in any case
            _make_tables(connection)
        if _is_bare(connection):
            _say_new(connection, given or {})
        return whole_facts(connection, place)


def _is_bare(connection: Connection) -> bool:
    return all(
        connection.execute(select(literal_column("1")).select_from(table).limit(1)).first() is None
        for table in (schema.facts, schema.contents)
    )


def _refuse_other_format(connection: Connection, place: Place) -> None:
    is_schema = schema.facts.c.name == "schema"
    version = connection.execute(select(schema.facts.c.value).where(is_schema)).scalar()
    if version != str(schema.VERSION):
        raise CollectionError(
            f"{place} has format {version!r}, and this Nearkin reads only format {schema.VERSION!r}: add its documents "
            "to a new collection."
        )


def _make_tables(connection: Connection) -> None:
    """Create the tables of a new collection; a server gets all statements at once: each round trip costs."""
    statements = _creating(connection.dialect.name, connection.dialect.driver)
    for statement in (";".join(statements),) if connection.dialect.name == "postgresql" else statements:
        connection.exec_driver_sql(statement)


@cache
def _creating(database: str, driver: str) -> tuple[str, ...]:
    """Return the statements that create the tables; they take longer to compile than to run."""
    statements: list[str] = []

    def record(made: ExecutableDDLElement, *_: object) -> None:
        statements.append(str(made.compile(dialect=recorder.dialect)))

    recorder: MockConnection = create_mock_engine(f"{database}+{driver}://", record)
    schema.metadata.create_all(recorder, checkfirst=False)  # nothing is there: not asked for each table
    return tuple(statements)


def _say_new(connection: Connection, facts: Mapping[str, str]) -> None:
    new_facts = {**facts, "schema": str(schema.VERSION), "collection": uuid.uuid4().hex, "generation": "0"}
    write_facts(connection, new_facts)
    if "similarity_index" in new_facts:
        schema.say_method(connection, new_facts["similarity_index"])


def refuse_other_files(directory: Path) -> None:
    """Refuse a directory for a new collection that has other files."""
    try:
        others = _other_files(directory)
    except OSError as error:
        raise OutputError(f"Cannot create {directory}: {why(error)}.") from error
    if others:
        raise CollectionError(
            f"{directory} is not a collection, and it is not empty ({first_of(others, 3)}). Name a new "
            "directory for the collection."
        )


def _other_files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if not path.name.startswith(FILE))


def _not_there(place: Place) -> str:
    if place.directory is not None and os.path.isfile(place.directory):
        named = f" Name its directory: {place.directory.parent}" if place.directory.name == FILE else ""
        return f"{place} is a file, and a collection is a directory or a PostgreSQL database.{named}"
    return f"There is no collection at {place}. Create one by adding documents: nearkin add COLLECTION INPUT..."


def _commit(connection: Connection, place: Place) -> None:
    """Commit the transaction; if the connection is lost, it is unknown whether it was stored."""
    transaction = connection.get_transaction()
    if transaction is None or place.directory is not None:  # SQLite commits at the end of the block, and always answers
        return
    try:
        transaction.commit()
    except (CollectionError, DBAPIError) as error:
        if isinstance(error, DBAPIError) and not error.connection_invalidated:
            raise
        raise CollectionError(
            f"{place} did not answer while the command was being stored, so it is unknown whether it was stored. Run "
            "the command again: documents already stored are not stored twice."
        ) from None


def _has_tables(connection: Connection, place: Place) -> bool:
    return inspect(connection).has_table(schema.facts.name, schema=place.schema)
