"""A collection's database: opened, made, migrated; read in snapshots, written in transactions."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema

from nearkin.errors import CollectionError, OutputError
from nearkin.nouns import first_of
from nearkin.paths import why
from nearkin.store import schema
from nearkin.store.connections import engine_of, lock, transaction
from nearkin.store.facts import read_facts, say, unsay
from nearkin.store.failures import told
from nearkin.store.migrations import migrate, version_of
from nearkin.store.place import FILE, Place
from nearkin.store.seals import PARTS, Seal, write_seals

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
        engine = engine_of(place)
        try:
            with told(place):
                return cls(place, engine, _opened(engine, place, make))
        except BaseException:
            engine.dispose()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A snapshot: what others write in the meantime is not seen."""
        with told(self.place), transaction(self._engine, is_writing=False) as connection:
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
        with told(self.place, is_writing=True), transaction(self._engine, is_writing=True) as connection:
            lock(connection, self.place)
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
    with transaction(engine, is_writing=False) as connection:
        is_there = _has_tables(connection, place)
        version = version_of(connection, place) if is_there else schema.VERSION
    if not is_there and make is None:
        raise CollectionError(_not_there(place))
    if not is_there or version < schema.VERSION:
        with transaction(engine, is_writing=True) as connection:
            lock(connection, place)
            if make is not None and not _has_tables(connection, place):  # another process may have been faster
                _make(connection, place, make)
            migrate(connection, version_of(connection, place))
    with transaction(engine, is_writing=False) as connection:
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
            f"{directory} is no collection, and it is not empty ({first_of(sorted(others), 3)}). Name a new "
            "directory for the collection."
        )


def _not_there(place: Place) -> str:
    return f"There is no collection at {place}. Make one by adding documents: nearkin add COLLECTION INPUT..."


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


def _has_tables(connection: Connection, place: Place) -> bool:
    return bool(inspect(connection).has_table("facts", schema=place.schema))
