"""Tables in files that name their columns and types: Parquet and Arrow. What else reads them sees no difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol

import pyarrow as pa

from nearkin.stages.documents import arrow_ipc, parquet
from nearkin.stages.documents.columns import Sample, plain, sample_of_table
from nearkin.stages.documents.compression import StreamFault
from nearkin.stages.documents.damage import truncated_input
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.keeping import check_keep_strings
from nearkin.stages.documents.rows import one_batch
from nearkin.stages.documents.streams import Progress
from nearkin.stages.documents.table_columns import Wanted, check_schema, pieces_of_batch

TableFormat = Literal["parquet", "arrow"]
SAMPLE_ROWS = 20


class TableFile(Protocol):
    """A table that is open.

    Attributes
    ----------
    schema : Schema
    note : str or None
        A sentence about the file that the user should know.
    """

    schema: pa.Schema
    note: str | None

    def first_rows(self, n_rows: int) -> pa.Table:
        """Some rows with all columns; StreamFault where they are damaged."""

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The wanted columns, some rows at a time; StreamFault where the file breaks off."""


@dataclass(frozen=True, slots=True)
class TableKind:
    """A format of tables.

    Parameters
    ----------
    format : {"parquet", "arrow"}
    in_words : str
        With its article.
    suffixes : tuple of str
    magic : tuple of bytes
        What a file may begin with.
    opened : callable
        From an open file and its name to a table, as long as a block runs.
    """

    format: TableFormat
    in_words: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    opened: Callable[[BinaryIO, str], AbstractContextManager[parquet.ParquetTable | arrow_ipc.ArrowTable]]


TABLES: dict[str, TableKind] = {
    kind.format: kind
    for kind in (
        TableKind("parquet", "a Parquet file", (".parquet", ".pq"), (parquet.MAGIC,), parquet.ParquetTable.opened),
        TableKind(
            "arrow", "an Arrow file", (".arrow", ".feather", ".ipc"),
            (arrow_ipc.FILE_MAGIC, arrow_ipc.STREAM_MAGIC), arrow_ipc.ArrowTable.opened,
        ),
    )
}  # fmt: skip


def readable_as(data: bytes) -> TableKind | None:
    """The kind of table that begins so.

    Examples
    --------
    >>> readable_as(b"PAR1...").in_words
    'a Parquet file'
    """
    return next((kind for kind in TABLES.values() if data.startswith(kind.magic)), None)


@contextmanager
def opened_table(file_format: str, raw: BinaryIO, name: str) -> Iterator[TableFile]:
    """A file as a table.

    Parameters
    ----------
    file_format : {"parquet", "arrow"}
    raw : binary file
    name : str
        For messages.

    Raises
    ------
    SourceError
        It is no such file.
    StreamFault
        It is one, and is truncated or damaged.
    """
    with TABLES[file_format].opened(raw, name) as table:
        yield table


def sample_of_file(file_format: str, path: str, name: str) -> Sample:
    """The columns of the first rows; damage inside of the file is left to whoever reads it.

    Raises
    ------
    SourceError
        It is no such file.
    TruncatedInputError
        It cannot be opened for damage.
    """
    with table_at(file_format, path, name) as table:
        try:
            rows = table.first_rows(SAMPLE_ROWS)
        except StreamFault:
            rows = table.schema.empty_table()
        return sample_of_table(rows)


def check_first_to_keep_by(table: TableFile, name: str, column: str) -> bool | None:
    """Whether the first values of the column to keep by are dates; None where there are none.

    Raises
    ------
    SourceError
        They are strings, and none of them is a date.
    """
    try:
        values = plain(table.first_rows(SAMPLE_ROWS).column(column).combine_chunks())
    except StreamFault:  # damage is told where it is read
        values = pa.nulls(0, table.schema.field(column).type)
    check_keep_strings(name, column, values, table.schema.names)
    keep = KeepColumn(column)
    keep.of_json(values)
    return keep.holds_dates


def read_table_file(
    table: TableFile, name: str, wanted: Wanted, *, batch_bytes: int, max_document_bytes: int, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """Batches of documents, about ``batch_bytes`` of text each; a null text is a row with its problem.

    Raises
    ------
    SourceError
        A column is missing or cannot serve.
    StreamFault
        The file breaks off; all rows before were handed out.
    """
    check_schema(name, table.schema, wanted.text, wanted.doc_id, None if wanted.keep is None else wanted.keep.name)
    if wanted.keep is not None:
        check_first_to_keep_by(table, name, wanted.keep.name)
    ids = wanted.ids(table.schema)
    row = 1
    try:
        for batch in table.batches(wanted, batch_bytes, progress):
            for piece in pieces_of_batch(
                batch, wanted, row, name=name, batch_bytes=batch_bytes, max_document_bytes=max_document_bytes
            ):
                yield one_batch([piece], ids)
            row += len(batch)
    except StreamFault as fault:
        fault.line = row
        raise


@contextmanager
def table_at(file_format: str, path: str, name: str) -> Iterator[TableFile]:
    """A file on a disk as a table; errors as from `sample_of_file`."""
    with open(path, "rb", buffering=0) as raw:
        try:
            with opened_table(file_format, raw, name) as table:
                yield table
        except StreamFault as fault:
            raise truncated_input(name, fault, 0) from fault
