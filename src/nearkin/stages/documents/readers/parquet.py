"""Parquet: reads only the needed columns, a batch of rows at a time; copies rows with all columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.formats.parquet import UNREADABLE, open_table, table_writer
from nearkin.records import Bool
from nearkin.stages.documents.reader import RowMask
from nearkin.stages.documents.readers.tables import TableFile, TableReader, Wanted
from nearkin.stages.documents.rules import StreamFault
from nearkin.stages.documents.source import OpenedSource
from nearkin.stages.documents.streams import Progress

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from nearkin.stages.documents.annotating import Annotations

_MAGIC = b"PAR1"
_MAX_ROWS = 1 << 16
_COPIED_BYTES = 8 << 20
_ROW_GROUP_BYTES = 64 << 20
# below this many bytes per row, texts may be many references to few long ones: they are then decoded in slices
_FOLDED_BYTES = 64


class Parquet(TableReader):
    """Parquet files."""

    def table(self, raw: BinaryIO, name: str) -> TableFile:
        """Open a file; see `TableReader`."""
        return ParquetTable(raw, name)

    def copy(self, opened: OpenedSource, is_kept: RowMask, file: IO[bytes]) -> None:
        """Copy kept rows with all columns; see `Reader`."""
        ParquetTable(opened.raw, opened.source.name).copy_rows(is_kept, file, opened.added)
        opened.progress(opened.source.size_bytes)


class ParquetTable:
    """An open Parquet file; see `.tables.TableFile`."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        if not raw.seekable():
            raise SourceError(f"{name}: Parquet cannot be read from a pipe. Save it to a file first.")
        self._raw, self._name = raw, name
        self._size_bytes = raw.seek(0, 2)
        try:
            self.parquet = open_table(raw)
        except UNREADABLE as error:
            raise _why_not(raw, self._size_bytes, name, error) from error
        self.schema: pa.Schema = self.parquet.schema_arrow

    def first_rows(self, n_rows: int) -> pa.Table:
        """Return some rows with all columns."""
        try:
            first = next(self.parquet.iter_batches(batch_size=n_rows), None)
        except UNREADABLE as error:
            raise damaged_row_group(error) from error
        return self.schema.empty_table() if first is None else pa.Table.from_batches([first])

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns, about ``batch_bytes`` of text at a time; StreamFault if a row group is damaged."""
        metadata, n_told = self.parquet.metadata, 0
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            text_bytes = max(sum(_text_bytes(group, path.column) for path in wanted.texts), 1)
            n_rows = min(max(batch_bytes * group.num_rows // text_bytes, 1), _MAX_ROWS)
            is_folded = wanted.is_text_plain and text_bytes < _FOLDED_BYTES * group.num_rows
            folded = [wanted.text] if is_folded else None
            try:
                with open_table(self._raw, metadata=metadata, read_dictionary=folded) as reader:
                    yield from reader.iter_batches(n_rows, row_groups=[index], columns=wanted.names)
            except UNREADABLE as error:
                progress(self._size_bytes - n_told)
                raise damaged_row_group(error) from error
            packed = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
            n_bytes = min(packed, self._size_bytes - n_told)
            progress(n_bytes)
            n_told += n_bytes
        progress(self._size_bytes - n_told)

    def copy_rows(self, is_kept: RowMask, file: IO[bytes], added: Annotations | None) -> None:
        """Write the kept rows with all columns."""
        try:
            schema = self.schema if added is None else added.schema(self.schema)
            with table_writer(file, schema) as writer:
                for rows in _kept_rows(self.parquet, is_kept, added):
                    writer.write_table(pa.Table.from_batches(rows, schema))
        except pa.ArrowException as error:
            raise SourceError(f"{self._name} cannot be copied: {error}.") from error


def _why_not(raw: BinaryIO, size_bytes: int, name: str, error: Exception) -> Exception:
    raw.seek(0)
    begins = raw.read(len(_MAGIC))
    if begins == _MAGIC:
        raw.seek(max(size_bytes - len(_MAGIC), 0))
        if raw.read(len(_MAGIC)) != _MAGIC or size_bytes < 3 * len(_MAGIC):
            return StreamFault("the Parquet file is truncated: its footer is missing")
        return StreamFault(f"the Parquet file is damaged: {_first_line(error)}")
    if not size_bytes:
        return StreamFault("the file is empty, not even an empty Parquet file")
    return SourceError(f"{name} is not a readable Parquet file: {_first_line(error)}.")


def damaged_row_group(error: Exception) -> StreamFault:
    """Return the fault of a row group that cannot be read."""
    return StreamFault(f"the Parquet data is damaged: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _text_bytes(group: pq.RowGroupMetaData, text: str) -> int:
    columns = (group.column(index) for index in range(group.num_columns))
    return sum(
        int(column.total_uncompressed_size) for column in columns if f"{column.path_in_schema}.".startswith(f"{text}.")
    )


def _kept_rows(parquet: pq.ParquetFile, is_kept: RowMask, added: Annotations | None) -> Iterator[list[pa.RecordBatch]]:
    row = 1
    for index in range(parquet.metadata.num_row_groups):
        waiting: list[pa.RecordBatch] = []
        n_bytes = 0
        group = parquet.metadata.row_group(index)
        n_rows = max(min(_COPIED_BYTES * group.num_rows // max(group.total_byte_size, 1), 1 << 16), 1)
        try:
            for batch in parquet.iter_batches(n_rows, row_groups=[index]):
                every = batch if added is None else added.table(batch, row)
                kept = _filtered(every, is_kept(np.arange(row, row + len(batch))))
                row += len(batch)
                if len(kept):
                    waiting.append(kept)
                    n_bytes += kept.nbytes
                if n_bytes >= _ROW_GROUP_BYTES:
                    yield waiting
                    waiting, n_bytes = [], 0
        except (pa.ArrowException, OSError) as error:
            fault = damaged_row_group(error)
            fault.line = row
            if waiting:
                yield waiting
            raise fault from error
        if waiting:
            yield waiting


def _filtered(batch: pa.RecordBatch, is_kept: Bool) -> pa.RecordBatch:
    try:
        return batch.filter(pa.array(is_kept))
    except pa.ArrowNotImplementedError:  # for views of strings
        rows = np.flatnonzero(is_kept).tolist()
        columns = [pa.array([column[row].as_py() for row in rows], column.type) for column in batch.columns]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
