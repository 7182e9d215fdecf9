"""A collection's tables in a file of DuckDB: a copy to ask, which the collection knows nothing of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import BigInteger, Boolean, Connection, Integer, LargeBinary, Table, Text, select

from nearkin.collection.contents import digest_of
from nearkin.collection.documents import VERIFY
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.plain_sql.ddl import index_statements, table_statements
from nearkin.collection.stored_texts import documents_with
from nearkin.errors import CollectionError, MissingExtraError, OutputError
from nearkin.runs.files import published
from nearkin.store import integrity, schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_AT_A_TIME = 512
_KINDS = (
    (BigInteger, pa.int64()),  # before Integer, of which it is a kind
    (Integer, pa.int32()),
    (Boolean, pa.bool_()),
    (Text, pa.large_string()),
    (LargeBinary, pa.large_binary()),
)


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied.

    Parameters
    ----------
    file : str
    n_rows : dict of str to int
        The rows of each table.
    damaged_documents : tuple of str
        Documents whose stored text is damaged; it was copied as it is.
    faults : tuple of str
        What else in the collection is not what was stored.
    """

    file: str
    n_rows: dict[str, int]
    damaged_documents: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def copy_to_duckdb(collection: OpenedCollection, file: Path) -> Copied:
    """Write the tables, their indexes and the view as they are at this moment; the file is whole or not there.

    What is damaged in the collection is copied as it is, and told.

    Parameters
    ----------
    collection : OpenedCollection
    file : Path
        Replaced if it is there.

    Raises
    ------
    MissingExtraError
        DuckDB is not installed.
    OutputError
    CollectionError
        A row refers to one that is missing, or is not what its table can hold: it cannot be copied.
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
            for table in (*schema.metadata.sorted_tables, schema.check_keys):
                n_rows[table.name] = 0
                for rows in _batches(connection, table):
                    n_rows[table.name] += _insert(made, table, rows)
                    lost += _lost(rows) if table is schema.contents else ()
            found = integrity.check(connection)
            faults = (*(f"{fix.name} is not what was stored" for fix in found.fixes), *found.faults)
            damaged = documents_with(connection, lost)
            for statement in index_statements("duckdb"):
                made.execute(statement)
            made.execute("CHECKPOINT")
    except (duckdb.ConstraintException, pa.ArrowException, TypeError, OverflowError) as error:
        raise _refused(collection, error) from error
    except duckdb.Error as error:
        raise OutputError(f"Cannot write {file}: DuckDB says that {error}.") from error
    return Copied(str(file), n_rows, damaged, faults)


def _refused(collection: OpenedCollection, error: Exception) -> CollectionError:
    """Why the tables of DuckDB do not take a row."""
    with collection.store.reading() as connection:
        faults = [*integrity.dangling(connection), *integrity.check(connection).faults]
    more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
    fault = faults[0] if faults else str(error)
    return CollectionError(f"{collection.place} is damaged and cannot be copied: {fault}{more}. {VERIFY}")


@contextlib.contextmanager
def _without_log(file: Path) -> Iterator[None]:
    """DuckDB's own log goes with the file if something fails."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.with_name(f"{file.name}.wal").unlink(missing_ok=True)


def check_duckdb() -> None:
    """Say what is missing before anything is opened.

    Raises
    ------
    MissingExtraError
    """
    if find_spec("duckdb") is None:
        raise MissingExtraError.of("A copy for DuckDB", "duckdb")


def _batches(connection: Connection, table: Table) -> Iterator[pa.Table]:
    """The rows in the order of the primary key, some at a time."""
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
    """Those whose text is not the one that their digest is of."""
    columns = zip(*(contents[name].to_pylist() for name in ("content", "digest", "text")), strict=True)
    return [content for content, digest, text in columns if digest_of(text) != digest]


def _insert(made: DuckDBPyConnection, table: Table, rows: pa.Table) -> int:
    made.register("some_rows", rows)
    made.execute(f'INSERT INTO "{table.name}" SELECT * FROM some_rows')
    made.unregister("some_rows")
    return int(rows.num_rows)
