"""A copy of a collection's tables in a DuckDB file, for queries; the collection does not know of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import BigInteger, Boolean, Connection, Integer, LargeBinary, Table, Text, select

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.plain_sql.ddl import index_statements, table_statements
from nearkin.collection.stored.contents import digest_of
from nearkin.collection.stored.purged import purged_contents
from nearkin.collection.stored.shingle_table import SHINGLES_TABLE, are_kept
from nearkin.collection.stored_texts import documents_with
from nearkin.errors import CollectionError, MissingExtraError, OutputError
from nearkin.runs.files import published
from nearkin.store import integrity, schema
from nearkin.store.damage import FSCK

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_AT_A_TIME = 512
_KINDS = (
    (BigInteger, pa.int64()),  # before Integer, its base class
    (Integer, pa.int32()),
    (Boolean, pa.bool_()),
    (Text, pa.large_string()),
    (LargeBinary, pa.large_binary()),
)


@dataclass(frozen=True, slots=True)
class Copied:
    """Result of copying.

    Parameters
    ----------
    file : str
    n_rows : dict of str to int
        Number of rows of each table; ``documents`` has a row for each version.
    n_current : int
        Number of current versions.
    damaged_documents : tuple of str
        Documents whose stored text is damaged; it was copied unchanged.
    faults : tuple of str
        Other damage of the collection.
    """

    file: str
    n_rows: dict[str, int]
    n_current: int
    damaged_documents: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return asdict(self)


def copy_to_duckdb(collection: OpenedCollection, file: Path) -> Copied:
    """Copy the tables, their indexes and the view at this moment; the file appears only when it is complete.

    Damaged data of the collection is copied unchanged, and reported.

    Parameters
    ----------
    collection : OpenedCollection
    file : Path
        DuckDB file; replaced if it exists.

    Raises
    ------
    MissingExtraError
        DuckDB is not installed.
    OutputError
    CollectionError
        A row refers to a missing one, or does not fit its table, and cannot be copied.
    """
    check_duckdb()
    import duckdb

    n_rows, lost = dict[str, int](), list[int]()
    try:
        with (
            published(file) as aside,
            collection.store.reading() as connection,
            _without_log(aside),
            duckdb.connect(str(aside)) as made,
        ):
            for statement in table_statements("duckdb"):
                made.execute(statement)
            tables = [*schema.metadata.sorted_tables, schema.check_keys]
            if are_kept(connection):
                made.execute("CREATE TABLE shingles (content BIGINT PRIMARY KEY, hashes BLOB NOT NULL)")
                tables.append(SHINGLES_TABLE)
            for table in tables:
                n_rows[table.name] = 0
                for rows in _batches(connection, table):
                    n_rows[table.name] += _insert(made, table, rows)
                    lost += _lost(rows) if table is schema.contents else ()
            found = integrity.check(connection)
            faults = (*(f"{fix.name} was changed" for fix in found.fixes), *found.faults)
            erased = purged_contents(connection, skip_changed=True)
            damaged = documents_with(connection, [content for content in lost if content not in erased])
            for statement in index_statements("duckdb"):
                made.execute(statement)
            ((n_current,),) = made.execute("SELECT count(*) FROM documents WHERE is_current").fetchall()
            made.execute("CHECKPOINT")
    except (duckdb.ConstraintException, pa.ArrowException, TypeError, OverflowError) as error:
        raise _refused(collection, error) from error
    except duckdb.Error as error:
        raise OutputError(f"Cannot write {file}. DuckDB reports: {error}.") from error
    return Copied(str(file), n_rows, n_current, damaged, faults)


def _refused(collection: OpenedCollection, error: Exception) -> CollectionError:
    """Return an error that says why DuckDB's tables refuse a row."""
    with collection.store.reading() as connection:
        faults = [*integrity.dangling(connection), *integrity.check(connection).faults]
    more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
    fault = faults[0] if faults else str(error)
    return CollectionError(f"{collection.place} is damaged and cannot be copied: {fault}{more}. {FSCK}")


@contextlib.contextmanager
def _without_log(file: Path) -> Iterator[None]:
    """Delete DuckDB's log together with the file if anything fails."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.with_name(f"{file.name}.wal").unlink(missing_ok=True)


def check_duckdb() -> None:
    """Check that DuckDB is installed before anything is opened.

    Raises
    ------
    MissingExtraError
    """
    if find_spec("duckdb") is None:
        raise MissingExtraError.of("A copy for DuckDB", "duckdb")


def _batches(connection: Connection, table: Table) -> Iterator[pa.Table]:
    """Yield the rows in batches, in the order of the primary key."""
    fields = [
        pa.field(column.name, next(to for kind, to in _KINDS if isinstance(column.type, kind)))
        for column in table.columns
    ]
    ordered = select(table).order_by(*(table.primary_key.columns or table.columns))
    rows = connection.execution_options(yield_per=_AT_A_TIME).execute(ordered)
    for some in rows.partitions():
        columns = list(zip(*some, strict=True))
        yield pa.table([pa.array(column, field.type) for column, field in zip(columns, fields)], pa.schema(fields))


def _lost(contents: pa.Table) -> list[int]:
    """Return the contents whose text does not match its digest."""
    columns = zip(*(contents[name].to_pylist() for name in ("content", "digest", "text")), strict=True)
    return [content for content, digest, text in columns if digest_of(text) != digest]


def _insert(made: DuckDBPyConnection, table: Table, rows: pa.Table) -> int:
    made.register("some_rows", rows)
    made.execute(f'INSERT INTO "{table.name}" SELECT * FROM some_rows')
    made.unregister("some_rows")
    return int(rows.num_rows)
