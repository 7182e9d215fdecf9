"""Documents of open tables, Parquet or Arrow, which other code treats alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from nearkin.stages.documents.arrow_values import plain
from nearkin.stages.documents.column_samples import sample_of_table
from nearkin.stages.documents.columns import choose_columns
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.keeping import KeepColumn, check_keep_strings
from nearkin.stages.documents.rows import one_batch
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import Progress
from nearkin.stages.documents.table_columns import Wanted, check_schema, pieces_of_batch
from nearkin.stages.documents.text_path import TextPath

SAMPLE_ROWS = 20


class TableFile(Protocol):
    """An open table.

    Attributes
    ----------
    schema : Schema
    """

    schema: pa.Schema

    def first_rows(self, n_rows: int) -> pa.Table:
        """Return some rows with all columns; StreamFault if they are damaged."""

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns, some rows at a time; StreamFault if the file breaks off."""


def check_first_to_keep_by(table: TableFile, name: str, column: str) -> bool | None:
    """Return whether the first values of the column to keep by are dates; None if there are none.

    Raises
    ------
    SourceError
        The values are strings, and none of them is a date.
    """
    try:
        values = plain(table.first_rows(SAMPLE_ROWS).column(column).combine_chunks())
    except StreamFault:  # damage is reported when the rows are read
        values = pa.nulls(0, table.schema.field(column).type)
    check_keep_strings(name, column, values, table.schema.names)
    keep = KeepColumn(column)
    keep.of_json(values)
    return keep.holds_dates


def read_table_file(table: TableFile, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents with about ``batch_bytes`` of text each; a null text is a row with its problem.

    Unknown columns are guessed.

    Raises
    ------
    SourceError
        A column is missing or unsuitable.
    StreamFault
        The file breaks off; all earlier rows have been yielded.
    """
    source, keep = opened.source, opened.keep
    text, doc_id = source.text, source.id
    if text is None:
        sample = sample_of_table(table.first_rows(SAMPLE_ROWS))
        columns = choose_columns(sample, source.name, text=None, doc_id=doc_id)
        text, doc_id = columns.text, columns.id
        opened.check(replace(source, text=text, id=doc_id), sample.names)
    wanted = Wanted(text, doc_id, keep, TextPath.of(text, table.schema.names))
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
