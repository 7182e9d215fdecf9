"""Tables that name their columns and types, as Parquet and Arrow do: columns that are documents, rows as batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import SourceError
from nearkin.paths import STDIN
from nearkin.stages.documents.arrays import as_binary, holds_characters, plain
from nearkin.stages.documents.columns import (
    INSIDE,
    SAMPLE_ROWS,
    ColumnSample,
    check_column,
    is_in_schema,
    listed_columns,
    sample_of_table,
)
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.reader import Head, Reader
from nearkin.stages.documents.rows import IdType, documents_batch, ids_from_python, ids_of_table
from nearkin.stages.documents.rules import StreamFault, too_long, truncated_input
from nearkin.stages.documents.source import OpenedSource, Source
from nearkin.stages.documents.streams import Progress
from nearkin.stages.documents.values import ColumnPath, KeepColumn, joined_columns, text_names, text_paths


class TableFile(Protocol):
    """An open table."""

    schema: pa.Schema

    def first_rows(self, n_rows: int) -> pa.Table:
        """Return some rows with all columns; StreamFault if they are damaged."""

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns, some rows at a time; StreamFault if the file breaks off."""


class TableReader(Reader):
    """Reader of tables."""

    def table(self, raw: BinaryIO, name: str) -> TableFile:
        """Open a file as a table; SourceError if it is not in this format, StreamFault if it is damaged."""
        raise NotImplementedError

    @contextmanager
    def at(self, path: str, name: str) -> Iterator[TableFile]:
        """Open a file on a disk; SourceError if it is not in this format, TruncatedInputError if too damaged."""
        with open(path, "rb", buffering=0) as raw:
            try:
                yield self.table(raw, name)
            except StreamFault as fault:
                raise truncated_input(name, fault, 0) from fault

    def sample(self, source: Source, head: Head) -> ColumnSample | None:
        """Return the columns of the first rows; errors as for `at`, damage inside is left to later readers."""
        if source.path == STDIN:
            return None
        with self.at(source.path, source.name) as table:
            try:
                rows = table.first_rows(SAMPLE_ROWS)
            except StreamFault:  # damage is reported when the rows are read
                rows = table.schema.empty_table()
            return sample_of_table(rows)

    def problem(self, head: Head) -> str | None:
        """Return a problem if the file is compressed as a whole, since it is read at many places."""
        if head.compression == "none" or head.table is None:
            return None
        what = FORMATS[head.table].a_file
        return f"this is {what} that is compressed as a whole with {head.compression}. Decompress it first."

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches with about ``batch_bytes`` of text; a null text is a problem."""
        source, keep = opened.source, opened.keep
        table = self.table(opened.raw, source.name)
        if source.text is None:
            source, _ = self.with_columns(source, sample_of_table(table.first_rows(SAMPLE_ROWS)))
        text, doc_id = source.text or "", source.id
        check_schema(source.name, table.schema, text, doc_id)
        carry = [name if is_in_schema(name, table.schema) else None for name in opened.carry]
        wanted = Wanted(table.schema, text, doc_id, keep, carry)
        ids, row = wanted.ids(), 1
        try:
            for batch in table.batches(wanted, opened.batch_bytes, opened.progress):
                yield from parts_of_batch(
                    batch, wanted, row, ids, name=source.name, batch_bytes=opened.batch_bytes,
                    max_document_bytes=source.max_document_bytes,
                )  # fmt: skip
                row += len(batch)
        except StreamFault as fault:
            fault.line = row
            raise


class Wanted:
    """Columns to read; texts may be in several, and all values inside others.

    ``texts`` and ``values`` are the places of the text, and of the id and the value to keep by; ``names`` are the
    columns of the table, each once.
    """

    def __init__(
        self,
        schema: pa.Schema,
        text: str,
        doc_id: str | None,
        keep: KeepColumn | None = None,
        carry: Sequence[str | None] = (),
    ) -> None:
        self.schema, self.text, self.doc_id, self.keep, self.carry = schema, text, doc_id, keep, carry
        self.is_text_plain = text in schema.names
        self.texts = text_paths(text, schema.names)
        names = (doc_id, None if keep is None else keep.name, *carry)
        self.values = {name: ColumnPath.of(name, schema.names) for name in names if name is not None}
        self.names = list(dict.fromkeys(path.column for path in (*self.texts, *self.values.values())))

    def ids(self) -> IdType:
        """Return the type of the ids, which is settled if they are no integers."""
        path = None if self.doc_id is None else self.values[self.doc_id]
        type_ = None if path is None else path.type_in(self.schema.field(path.column).type)
        return IdType(type_ is None or not pa.types.is_integer(type_))

    def with_values(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Add a column for the text and each value inside another."""
        made = {name: path.values(batch.column(path.column)) for name, path in self.values.items() if path.steps}
        if not self.is_text_plain:
            texts = [plain(path.values(batch.column(path.column))) for path in self.texts]
            made[self.text] = joined_columns([as_binary(text) for text in texts])
        for name, column in made.items():
            batch = batch.append_column(name, column)
        return batch


def check_schema(name: str, schema: pa.Schema, text: str, doc_id: str | None) -> None:
    """Raise SourceError if a column is missing, occurs twice, or has an unsuitable type."""
    for part in text_names(text, schema.names):
        type_ = check_column(name, "text", part, schema)
        if not holds_characters(type_) and not pa.types.is_null(type_):
            hint = INSIDE if pa.types.is_nested(type_) else ""
            raise SourceError(
                f"{name}: the text must be a column of strings. The column '{part}' holds {type_}. "
                f"The columns are: {listed_columns(schema.names)}.{hint}"
            )
    if doc_id is not None:
        check_column(name, "id", doc_id, schema)


def parts_of_batch(
    batch: pa.RecordBatch,
    wanted: Wanted,
    first_row: int,
    ids: IdType,
    *,
    name: str,
    batch_bytes: int,
    max_document_bytes: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a batch, numbered from ``first_row``, in parts with about ``batch_bytes`` of text."""
    text, batch = wanted.text, wanted.with_values(batch)
    column = batch.column(text)
    if pa.types.is_dictionary(column.type):
        lengths = pc.take(_lengths(column.dictionary), column.indices)
    else:
        lengths = _lengths(column)
    ends = np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    most = batch_bytes if max_document_bytes is None else min(batch_bytes, max_document_bytes)
    start = 0
    while start < len(batch):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + most, "right")), start + 1)
        part, n_bytes = batch.slice(start, stop - start), int(ends[stop - 1]) - done
        if max_document_bytes is not None and n_bytes > max_document_bytes:  # then the part is one row
            part = part.set_column(batch.schema.get_field_index(text), text, pa.nulls(1))
            why_null = str(too_long(n_bytes, max_document_bytes))
        else:
            why_null = "empty: the text is null" if wanted.is_text_plain else f"empty: there is no text at {text!r}"
        yield _part(part, wanted, name, first_row + start, why_null, ids)
        start = stop


def _lengths(values: pa.Array) -> pa.Array:
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.int32())
    return pc.binary_length(as_binary(plain(values)))


def _part(
    batch: pa.RecordBatch, wanted: Wanted, name: str, first_row: int, why_null: str, ids: IdType
) -> pa.RecordBatch:
    n_rows, doc_id, keep = len(batch), wanted.doc_id, wanted.keep
    texts = as_binary(plain(batch.column(wanted.text)))
    problems = pa.nulls(n_rows, pa.large_string())
    if texts.null_count:
        problems = pc.if_else(texts.is_null(), pa.scalar(why_null, pa.large_string()), problems)
    return documents_batch(
        ids,
        doc_id=None if doc_id is None else _ids(plain(batch.column(doc_id)), name, doc_id),
        text=texts,
        line=np.arange(first_row, first_row + n_rows, dtype=np.int64),
        problem=problems,
        keep_value=None if keep is None else keep.numbers(plain(batch.column(keep.name))),
        carried=[
            pa.nulls(n_rows) if column is None else _ids(plain(batch.column(column)), name, column)
            for column in wanted.carry
        ],
    )


def _ids(values: pa.Array, name: str, column: str) -> pa.Array:
    """Return integers as int64, other values as strings; SourceError if Python cannot represent one."""
    if pa.types.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return ids_from_python(values.to_pylist())
    if pa.types.is_null(values.type):
        return pa.nulls(len(values))
    if holds_characters(values.type):
        return ids_of_table(values)
    try:
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    try:
        return ids_from_python([None if value is None else str(value) for value in values.to_pylist()])
    except (pa.ArrowException, ValueError, OverflowError, LookupError) as error:
        # invalid UTF-8 inside a list, times out of Python's range, unknown time zones
        raise SourceError(
            f"{name}: the column '{column}' holds {values.type}, and some of its values cannot be read "
            "as ids. Choose another column (--id)."
        ) from error
