"""Parquet: only the columns needed, a batch of rows at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearkin.errors import SourceError
from nearkin.formats.parquet import UNREADABLE, open_table
from nearkin.stages.documents.columns import Sample, check_column, holds_characters, sample_of_table
from nearkin.stages.documents.keep_column import KeepColumn
from nearkin.stages.documents.keeping import check_keep_strings, check_keep_type
from nearkin.stages.documents.rows import IdType, Piece, as_large_strings, ids_from_python, one_batch, problem_piece
from nearkin.stages.documents.streams import Progress

_MOST_ROWS = 1 << 16
_FIRST_ROWS = 20
# Below this many bytes a row, texts may be many references to few long ones: they are then unfolded in slices.
_FOLDED_BYTES = 64


def open_parquet(file: BinaryIO | str, name: str) -> pq.ParquetFile:
    """SourceError where this is no Parquet file."""
    try:
        return open_table(file)
    except UNREADABLE as error:
        raise SourceError(f"{name}: not a Parquet file that can be read: {error}.") from error


def sample_of_parquet(file: BinaryIO | str, name: str) -> Sample:
    """The columns of the first rows."""
    with open_parquet(file, name) as parquet:
        try:
            first = next(parquet.iter_batches(batch_size=20), None)
        except (pa.ArrowException, OSError):  # the damage is told where it is read
            first = None
        schema = parquet.schema_arrow
    return sample_of_table(schema.empty_table() if first is None else pa.Table.from_batches([first]))


def check_schema(name: str, schema: pa.Schema, text: str, doc_id: str | None, keep_column: str | None) -> None:
    """SourceError where a column is missing, is there twice, or is of a type that cannot serve."""
    for parameter, column in (("text", text), ("id", doc_id)):
        if column is not None:
            check_column(name, parameter, column, schema.names)
    type_ = schema.field(text).type
    if not holds_characters(type_) and not pa.types.is_null(type_):
        raise SourceError(
            f"{name}: the text must be a column of strings. The column '{text}' holds {type_}. "
            f"The columns are: {', '.join(schema.names)}."
        )
    if keep_column is not None:
        check_keep_type(name, keep_column, schema)


def check_first_to_keep_by(parquet: pq.ParquetFile, name: str, column: str) -> bool | None:
    """Whether the first values of the column to keep by are dates; None where there are none.

    Raises
    ------
    SourceError
        They are strings, and none of them is a date.
    """
    schema = parquet.schema_arrow
    values = pa.nulls(0, schema.field(column).type)
    with contextlib.suppress(pa.ArrowException, OSError, StopIteration):  # damage is told where it is read
        values = next(parquet.iter_batches(_FIRST_ROWS, columns=[column]))[0]
    check_keep_strings(name, column, plain(values), schema.names)
    keep = KeepColumn(column)
    keep.of_json(plain(values))
    return keep.holds_dates


def read_parquet(
    file: BinaryIO | str,
    *,
    name: str,
    text: str,
    doc_id: str | None,
    keep: KeepColumn | None,
    batch_bytes: int,
    size_bytes: int,
    progress: Progress,
) -> Iterator[pa.RecordBatch]:
    """Batches of documents, about ``batch_bytes`` of text each; a null text is a row with its problem."""
    with open_parquet(file, name) as parquet:
        metadata = parquet.metadata
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        check_schema(name, parquet.schema_arrow, text, doc_id, None if keep is None else keep.name)
        if keep is not None:
            check_first_to_keep_by(parquet, name, keep.name)
        ids = IdType(doc_id is None or not pa.types.is_integer(parquet.schema_arrow.field(doc_id).type))
        columns = list(dict.fromkeys(column for column in (text, doc_id, keep and keep.name) if column is not None))
        row = 1
        n_told = 0
        for index, group in enumerate(groups):
            text_bytes = max(_text_bytes(group, text), 1)
            n_rows = min(max(batch_bytes * group.num_rows // text_bytes, 1), _MOST_ROWS)
            is_folded = text_bytes < _FOLDED_BYTES * group.num_rows
            try:
                folded = [text] if is_folded else None
                with open_table(file, metadata=metadata, read_dictionary=folded) as reader:
                    for batch in reader.iter_batches(n_rows, row_groups=[index], columns=columns):
                        for part in slices_of_batch(batch, text, batch_bytes):
                            yield one_batch([piece_of_columns(part, text, doc_id, keep, row)], ids)
                            row += len(part)
            except (pa.ArrowException, OSError) as error:
                yield one_batch([problem_piece(row, f"the Parquet data is damaged: {error}")], ids)
                break
            n_bytes = min(sum(group.column(i).total_compressed_size for i in range(group.num_columns)), size_bytes)
            progress(n_bytes)
            n_told += n_bytes
        progress(max(size_bytes - n_told, 0))


def _text_bytes(group: pq.RowGroupMetaData, text: str) -> int:
    """What the texts of a row group take unpacked, as far as the file says."""
    columns = (group.column(index) for index in range(group.num_columns))
    return sum(int(column.total_uncompressed_size) for column in columns if column.path_in_schema == text)


def slices_of_batch(batch: pa.RecordBatch, text: str, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The batch in parts whose texts are about ``batch_bytes``; a longer text has a part of its own."""
    column = batch.column(text)
    if pa.types.is_dictionary(column.type):
        lengths = pc.take(_lengths(column.dictionary), column.indices)
    else:
        lengths = _lengths(column)
    ends = np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    start = 0
    while start < len(batch):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + batch_bytes, "right")), start + 1)
        yield batch.slice(start, stop - start)
        start = stop


def _lengths(values: pa.Array) -> pa.Array:
    """Bytes of each text."""
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.int32())
    return pc.binary_length(plain(values))


def piece_of_columns(
    batch: pa.RecordBatch, text: str, doc_id: str | None, keep: KeepColumn | None, first_row: int
) -> Piece:
    """The rows of a table's batch, numbered from ``first_row``."""
    n_rows = len(batch)
    texts = plain(batch.column(text)).cast(pa.large_binary())
    problems = pa.nulls(n_rows, pa.large_string())
    if texts.null_count:
        problems = pc.if_else(texts.is_null(), pa.scalar("the text is null", pa.large_string()), problems)
    return Piece(
        pa.nulls(n_rows) if doc_id is None else _ids(plain(batch.column(doc_id))),
        texts,
        np.arange(first_row, first_row + n_rows, dtype=np.int64),
        problems,
        pa.nulls(n_rows, pa.float64()) if keep is None else keep.of_json(plain(batch.column(keep.name))),
    )


def plain(values: pa.Array) -> pa.Array:
    """Values without a dictionary, an extension or a view around them."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):
        return values.cast(pa.large_binary())
    return values


def _ids(values: pa.Array) -> pa.Array:
    """Integers as int64, everything else as it reads."""
    if pa.types.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return ids_from_python(values.to_pylist())
    if pa.types.is_null(values.type):
        return pa.nulls(len(values))
    if holds_characters(values.type):
        return as_large_strings(values)
    try:
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return ids_from_python([None if value is None else str(value) for value in values.to_pylist()])
