"""Documents of tables that are open, Parquet or Arrow: what reads them sees no difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Protocol

import pyarrow as pa

from nearkin.stages.documents.columns import choose_columns, plain, sample_of_table
from nearkin.stages.documents.compression import StreamFault
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.keeping import check_keep_strings
from nearkin.stages.documents.rows import one_batch
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import Progress
from nearkin.stages.documents.table_columns import RowMask, Wanted, check_schema, pieces_of_batch

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

    def copy_rows(self, is_kept: RowMask, file: IO[bytes]) -> None:
        """Write the kept rows with all columns, compressed as they were; StreamFault after what was kept before."""


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


def read_table_file(table: TableFile, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Batches of documents, about ``batch_bytes`` of text each; a null text is a row with its problem.

    Columns are guessed where nobody could look before.

    Raises
    ------
    SourceError
        A column is missing or cannot serve.
    StreamFault
        The file breaks off; all rows before were handed out.
    """
    source, keep = opened.source, opened.keep
    if table.note is not None:
        opened.note(table.note)
    text, doc_id = source.text, source.id
    if text is None:
        sample = sample_of_table(table.first_rows(SAMPLE_ROWS))
        columns = choose_columns(sample, source.name, text=None, doc_id=doc_id)
        text, doc_id = columns.text, columns.id
    wanted = Wanted(text, doc_id, keep)
    check_schema(source.name, table.schema, text, doc_id, None if keep is None else keep.name)
    if keep is not None:
        check_first_to_keep_by(table, source.name, keep.name)
    ids = wanted.ids(table.schema)
    row = 1
    try:
        for batch in table.batches(wanted, opened.batch_bytes, opened.progress):
            for piece in pieces_of_batch(
                batch,
                wanted,
                row,
                name=source.name,
                batch_bytes=opened.batch_bytes,
                max_document_bytes=source.max_document_bytes,
            ):
                yield one_batch([piece], ids)
            row += len(batch)
    except StreamFault as fault:
        fault.line = row
        raise
