"""Database of a collection: opened, created; read in snapshots, written in transactions."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, create_mock_engine, inspect, select
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema, ExecutableDDLElement

from nearkin.errors import CollectionError, MissingCollectionError, OutputError, ParameterError
from nearkin.nouns import first_of
from nearkin.paths import why
from nearkin.store import connections, creation, schema
from nearkin.store.connections import ReadOnlyFile, engine_of, lock, lock_same, refused, transaction
from nearkin.store.creation import Made
from nearkin.store.facts import delete_fact, generation_in, read_facts, whole_facts, write_facts
from nearkin.store.failures import PERMISSION_DENIED, code_of, database_errors, missing_table
from nearkin.store.place import FILE, Place
from nearkin.store.upkeep import erase_freed

_MAX_TRIES = 3
"""Maximum number of times to open a new collection that other processes remove meanwhile."""
_OF_SQLITE = b"SQLite format 3\0"
"""First bytes of every SQLite file."""
_FROM_YOUR_SQLITE = (
    "Nearkin does not read tables of your own; pipe their rows to it: sqlite3 -csv -header FILE 'SELECT id, body FROM "
    "tickets' | nearkin add NEW - --format csv"
)
_FROM_YOUR_TABLES = (
    '(from rows of your own tables: psql -c "COPY (SELECT id, body FROM tickets ORDER BY id) TO STDOUT (FORMAT csv, '
    'HEADER)" | nearkin add COLLECTION - --format csv)'
)


@dataclass(frozen=True, slots=True)
class Access:
    """Timeout and permission with which a store is opened.

    Parameters
    ----------
    wait_s : float or None
        Maximum time to wait for another writer; None: two seconds.
    is_read_only : bool
        Whether nothing is written: neither documents nor data derived from them.
    """

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

    Attributes
    ----------
    place : Place
    facts : dict of str to str
        Facts stored when the collection was created.

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
        self,
        place: Place,
        engine: Engine,
        facts: Mapping[str, str],
        access: Access,
        file: ReadOnlyFile | None,
        *,
        made: Made | None = None,
        use: creation.Use | None = None,
    ) -> None:
        self.place, self._engine, self.facts = place, engine, dict(facts)
        self.access, self._file, self._made, self._use = access, file, made or Made(), use
        self._has_stored = False

    @classmethod
    def open(
        cls, place: Place, facts: Mapping[str, str] | None = None, *, create: bool = False, access: Access | None = None
    ) -> Store:
        """Open a store.

        Parameters
        ----------
        place : Place
        facts : mapping of str to str, optional
            Facts of a new collection.
        create : bool
            Create a missing collection, and one whose creation was interrupted.
        access : Access, optional

        Raises
        ------
        CollectionError
            There is no collection; or it is damaged, or of another format, or its database does not answer; or
            the directory for a new one contains something else.
        """
        n_failed = 0
        while True:
            was_there = place.directory is None or os.path.isfile(place.directory / FILE)
            begun = _begun(place, creates=create and not was_there)
            try:
                return cls._open(place, facts, begun, create=create, access=access or Access())
            except BaseException as error:  # Ctrl-C, too, leaves no empty file; it is not tried again
                is_gone = (
                    create and isinstance(error, Exception) and creation.is_gone(begun, error, was_there=was_there)
                )
                if create and not was_there:
                    creation.clear(begun)
                n_failed += 1
                if not is_gone or (n_failed == _MAX_TRIES and not _is_removed(place, error)):
                    raise
                if n_failed == _MAX_TRIES:
                    raise creation.removed_meanwhile(place) from error

    @classmethod
    def _open(
        cls, place: Place, facts: Mapping[str, str] | None, begun: Made, *, create: bool, access: Access
    ) -> Store:
        is_there = place.directory is None or os.path.isfile(place.directory / FILE)
        if not is_there and not create:
            raise MissingCollectionError(_not_there(place)) from _refused_name(place)
        if place.directory is not None and not create:
            _refuse_empty(place, place.directory / FILE)
        is_read = access.is_read_only and place.directory is not None and is_there
        file = ReadOnlyFile(place, place.directory / FILE) if is_read and place.directory is not None else None
        with database_errors(place):
            engine = engine_of(place, access.patience_s, file)
        try:
            with database_errors(place):
                found, made, use = _opened(engine, place, facts, create=create, access=access)
                made = replace(made, file=begun.file, folders=begun.folders)
                return cls(place, engine, found, access, file, made=made, use=use)
        except BaseException:
            engine.dispose()
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a snapshot, which does not see later writes."""
        with database_errors(self.place), transaction(self._engine, is_writing=False) as connection:
            yield connection
        if self._file is not None:
            self._file.check_unchanged()

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction: when the block ends, all of it is stored durably, or none of it.

        Raises
        ------
        CollectionBusyError
            Another process, or thread, is writing.
        OutputError
            The disk is full or not writable.
        CollectionError
            The store was opened read-only.
        """
        if self.access.is_read_only:
            raise refused(self.place)
        with (
            database_errors(self.place, is_writing=True, has_stored=self._has_stored),
            transaction(self._engine, is_writing=True) as connection,
        ):
            lock_same(connection, self.place, self.access.patience_s, self.facts["collection"])
            yield connection
            _commit(connection, self.place)
        self._has_stored = True

    def generation(self, connection: Connection) -> int:
        """Return a number that is raised when stored counts or signatures change; indexes made before are stale."""
        return generation_in(self.fact(connection, "generation"), self.place)

    def fact(self, connection: Connection, name: str) -> str | None:
        """Return the current value of a fact, which may be newer than `facts`."""
        return self.facts_now(connection, (name,)).get(name)

    def facts_now(self, connection: Connection, names: Sequence[str]) -> dict[str, str]:
        """Return the current values of several facts, without those that are missing; see `fact`."""
        return read_facts(connection, names)

    def write_facts(self, connection: Connection, facts: Mapping[str, str]) -> None:
        """Store facts about the collection; facts of the same names are replaced."""
        write_facts(connection, facts)

    def delete_fact(self, connection: Connection, name: str) -> None:
        """Delete a fact."""
        delete_fact(connection, name)

    @property
    def is_new(self) -> bool:
        """Whether the collection was created when this store was opened."""
        return self._made.settings

    def undo_creation(self) -> None:
        """Remove a new collection if nothing was added, and close the store.

        Tables that were there before lose only the settings, so that the next load can choose others. A collection that
        another process has opened stays, because that process may be filling it.

        Raises
        ------
        CollectionBusyError
            Another process has opened it.
        CollectionError, OutputError
            It cannot be removed.
        """
        with database_errors(self.place):
            creation.undo(self._engine, self.place, self._made, self.facts["collection"])

    def raise_generation(self, connection: Connection) -> None:
        """Mark all derived data as stale."""
        write_facts(connection, {"generation": str(self.generation(connection) + 1)})

    def erase_freed(self) -> None:
        """Rewrite the database, so that its files contain no deleted or overwritten data.

        Raises
        ------
        CollectionBusyError
            Another process reads or writes.
        """
        with database_errors(self.place):
            erase_freed(self._engine, self.place)

    @property
    def dialect(self) -> str:
        """Kind of database: "sqlite" or "postgresql"."""
        return str(self._engine.dialect.name)

    def close(self) -> None:
        """Close the connections."""
        if self._use is not None:
            self._use.end()
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def _opened(
    engine: Engine, place: Place, given: Mapping[str, str] | None, *, create: bool, access: Access
) -> tuple[dict[str, str], Made, creation.Use | None]:
    """Return the facts of a collection, what was created just now, and a use to end."""
    made = Made()
    with transaction(engine, is_writing=False) as connection:
        is_there = _has_tables(connection, place)
        is_bare = is_there and creation.is_bare(connection)
        is_unfilled = create and is_there and place.schema is not None and creation.is_empty(connection)
        if is_there and not is_bare:
            _refuse_other_format(connection, place)
    if not is_there and not create:
        raise MissingCollectionError(_not_there(place))
    if is_bare and given is None:
        raise CollectionError(f"{place} has no documents yet. Add some: nearkin add COLLECTION INPUT...")
    if not is_there or is_bare:
        if access.is_read_only:
            raise MissingCollectionError(_not_there(place))
        with transaction(engine, is_writing=True) as connection:
            lock(connection, place, access.patience_s)
            if makes_tables := not _has_tables(connection, place):  # otherwise another process has created them
                made = Made(tables=True, schema=_is_schema_made(connection, place))
                _make_tables(connection)
            if makes_tables or creation.is_bare(connection):
                made = replace(made, settings=True)
                _say_new(connection, given or {})
            is_unfilled = create and place.schema is not None and creation.is_empty(connection)
    use = creation.Use(engine, place) if is_unfilled and not made.settings else None
    try:
        facts = _facts_now(engine, place, may_be_removed=is_unfilled)
    except BaseException:
        if use is not None:
            use.end()
        raise
    if facts is not None:
        return facts, made, use
    if use is not None:
        use.end()
    return _opened(engine, place, given, create=create, access=access)


def _refuse_other_format(connection: Connection, place: Place) -> None:
    """Refuse a collection whose tables are not those of this Nearkin."""
    is_schema = schema.facts.c.name == "schema"
    version = connection.execute(select(schema.facts.c.value).where(is_schema)).scalar()
    if version != str(schema.VERSION):
        raise CollectionError(
            f"{place} has format {version!r}, and this Nearkin reads only format {schema.VERSION!r}: add its documents "
            "to a new collection."
        )


def _facts_now(engine: Engine, place: Place, *, may_be_removed: bool) -> dict[str, str] | None:
    """Return the facts of a collection; None if a load that failed meanwhile removed it."""
    with transaction(engine, is_writing=False) as connection:
        if may_be_removed and not _has_tables(connection, place):
            return None
        try:
            return whole_facts(connection, place)
        except CollectionError:
            if may_be_removed and creation.is_bare(connection):  # the tables were there before
                return None
            raise


def _is_schema_made(connection: Connection, place: Place) -> bool:
    """Create the schema of a new collection in PostgreSQL, unless it is there."""
    if place.schema is None or inspect(connection).has_schema(place.schema):
        return False
    connection.execute(CreateSchema(place.schema))  # IF NOT EXISTS would need the permission in any case
    return True


def _make_tables(connection: Connection) -> None:
    """Create the tables of a new collection; a server gets all statements at once, because each round trip costs."""
    statements = _creating(connection.dialect.name, connection.dialect.driver)
    for statement in (";".join(statements),) if connection.dialect.name == "postgresql" else statements:
        connection.exec_driver_sql(statement)


@cache
def _creating(database: str, driver: str) -> tuple[str, ...]:
    """Return the statements that create the tables of a new collection; they take longer to compile than to run."""
    statements: list[str] = []

    def record(made: ExecutableDDLElement, *_: object) -> None:
        statements.append(str(made.compile(dialect=recorder.dialect)))

    recorder: MockConnection = create_mock_engine(f"{database}+{driver}://", record)
    schema.metadata.create_all(recorder, checkfirst=False)  # nothing is there: not asked for each table
    return tuple(statements)


def _say_new(connection: Connection, facts: Mapping[str, str]) -> None:
    """Store the facts of a new collection."""
    said = {**facts, "schema": str(schema.VERSION), "collection": uuid.uuid4().hex, "generation": "0"}
    write_facts(connection, said)
    if "similarity_index" in said:
        schema.say_method(connection, said["similarity_index"])


def _begun(place: Place, *, creates: bool) -> Made:
    """Return where a collection is opened, and what was made for it so far."""
    if place.directory is None:
        return Made()
    folders = _made_folders(place.directory) if creates else ()
    return Made(file=place.directory.absolute() / FILE, folders=folders)


def _made_folders(directory: Path) -> tuple[Path, ...]:
    """Create the directory of a new collection, or accept one that is empty or was left by an interrupted creation."""
    try:
        made = creation.make_folders(directory.absolute())
    except OSError as error:
        if os.path.isfile(directory):
            raise OutputError(
                f"Cannot create {directory}: it is a file, and a collection is a directory. Choose another name."
                f"{_own_tables(directory)}"
            ) from error
        raise OutputError(f"Cannot create {directory}: {why(error)}.") from error
    refuse_other_files(directory)
    return made


def refuse_other_files(directory: Path) -> None:
    """Refuse a directory for a new collection that has files of something else.

    Raises
    ------
    CollectionError
        It has such files.
    OutputError
        It cannot be listed.
    """
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
    """Return the names of files and directories that are none of a collection, sorted."""
    return sorted(path.name for path in directory.iterdir() if not path.name.startswith(FILE))


def _refused_name(place: Place) -> OSError | None:
    """Return the error of the system if the name of a directory is too long for it."""
    try:
        os.stat(place.directory or "")
    except (OSError, ValueError) as error:
        return error if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG else None
    return None


def _not_there(place: Place) -> str:
    if place.directory is not None and os.path.isfile(place.directory):
        named = f" Name its directory: {place.directory.parent}" if place.directory.name == FILE else ""
        other = named or _own_tables(place.directory)
        return f"{place} is a file, and a collection is a directory or a PostgreSQL database.{other}"
    with contextlib.suppress(OSError, ValueError):  # a name that cannot be one of the system is none of a directory
        if place.directory is not None and (others := _other_files(place.directory)):
            return (
                f"{place} is not a collection: it has other files ({first_of(others, 3)}). Name the directory of a "
                "collection, or create one in a new directory: nearkin add NEW INPUT..."
            )
    said = f"There is no collection at {place}. Create one by adding documents: nearkin add COLLECTION INPUT..."
    return said if place.directory is not None else f"{said} {_FROM_YOUR_TABLES}"


def _own_tables(path: Path) -> str:
    """Say how to add the rows of an SQLite database of somebody else's; empty for another file."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if file.read(len(_OF_SQLITE)) == _OF_SQLITE:
            return f" {_FROM_YOUR_SQLITE}"
    return ""


def _refuse_empty(place: Place, file: Path) -> None:
    """Refuse a file of no bytes, unless what belongs in it is still in the log beside it."""
    log = file.with_name(f"{file.name}-wal")
    if file.stat().st_size or (log.exists() and log.stat().st_size):
        return
    raise CollectionError(
        f"{place} is not a collection: the file {file} is empty. If it held documents, restore it from a backup; "
        "otherwise create the collection by adding documents: nearkin add COLLECTION INPUT..."
    )


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


def _is_removed(place: Place, error: BaseException) -> bool:
    """Whether there is no collection any more; in PostgreSQL, a table may be missing, or a permission."""
    if place.directory is not None:
        return True
    if code_of(error) == PERMISSION_DENIED:
        return False
    with database_errors(place):
        engine = engine_of(place, 0)
        try:
            with transaction(engine, is_writing=False) as connection:
                return not _has_tables(connection, place)
        finally:
            engine.dispose()


def _has_tables(connection: Connection, place: Place) -> bool:
    tables = inspect(connection)
    if tables.has_table(schema.facts.name, schema=place.schema):
        return True
    if tables.has_table(schema.documents.name, schema=place.schema):
        raise missing_table(place, schema.facts.name)
    return False
