"""Arrow IPC: files, including Feather version 2, and streams.

Arrow trusts the offsets in a file, so every array is validated before it is read.

A closed writer ends a stream with a marker; its absence counts as truncation.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.stages.documents.arrays import WITHOUT_CHECK
from nearkin.stages.documents.formats import TABLES
from nearkin.stages.documents.readers.tables import TableFile, TableReader, Wanted
from nearkin.stages.documents.rules import StreamFault
from nearkin.stages.documents.streams import Progress

_FILE, _STREAM = TABLES["arrow"].magic
_END_OF_STREAM = _STREAM + bytes(4)
_MAX_ROWS = 1 << 16
_MAX_PADDING = 1 << 12
_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)  # the last for names of columns


class Arrow(TableReader):
    """Arrow files and streams."""

    def table(self, raw: BinaryIO, name: str) -> TableFile:
        """Open a file or a stream; see `TableReader`."""
        return ArrowTable(raw, name)


class ArrowTable:
    """An open Arrow file or stream; see `.tables.TableFile`."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._size_bytes = raw.seek(0, 2) if raw.seekable() else 0
        self._bytes: Any = _mapped(raw)
        begins = self._bytes.read_at(len(_FILE), 0)
        self._is_file = begins == _FILE
        try:
            self._reader = pa.ipc.open_file(self._bytes) if self._is_file else pa.ipc.open_stream(self._bytes)
            self.schema: pa.Schema = self._reader.schema
            _ = self.schema.names  # decodes them
            with contextlib.suppress(pa.ArrowException):  # for types without empty arrays
                self.schema.empty_table()  # decodes the names inside structs
        except _ERRORS as error:
            if self._is_file and self._bytes.read_at(6, max(self._bytes.size() - 6, 0)) != _FILE[:6]:
                raise StreamFault("the Arrow file is truncated: its footer is missing") from error
            if self._is_file or begins.startswith(_STREAM):
                raise _damaged(error) from error
            raise SourceError(f"{name} is not a readable Arrow file or stream: {error}.") from error
        self._n_read = 0
        self._first: pa.RecordBatch | None = None

    def first_rows(self, n_rows: int) -> pa.Table:
        """Return some rows with all columns; `batches` yields them again."""
        if self._first is None:
            self._first = self._next()
        if self._first is None:
            return self.schema.empty_table()
        return pa.Table.from_batches([_checked(self._first.slice(0, n_rows))])

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns, some rows at a time, strings as bytes."""
        n_told = 0
        batch = self._first or self._next()
        while batch is not None:
            chosen = batch.select(wanted.names)
            for start in range(0, len(batch), _MAX_ROWS):
                yield _checked(chosen.slice(start, _MAX_ROWS))
            n_read = self._n_bytes_read()
            progress(n_read - n_told)
            n_told = n_read
            batch = self._next()
        progress(max(self._size_bytes - n_told, 0))

    def _next(self) -> pa.RecordBatch | None:
        place = self._bytes.tell()
        try:
            if not self._is_file:
                batch = self._reader.read_next_batch()
            elif self._n_read < self._reader.num_record_batches:
                batch = self._reader.get_batch(self._n_read)
            else:
                return None
        except StopIteration:
            self._check_end(place)
            return None
        except _ERRORS as error:
            raise _damaged(error) from error
        self._n_read += 1
        return batch

    def _check_end(self, place: int) -> None:
        """Raise StreamFault unless a stream's marker, or that of older writers, was read since ``place``."""
        n_marked = self._bytes.tell() - place
        end, rest = self._bytes.read_at(n_marked, place), self._bytes.read_at(_MAX_PADDING, place + n_marked)
        if end not in (_END_OF_STREAM, bytes(4)):
            raise StreamFault(
                "the Arrow stream is truncated, or its writer was not closed: its end-of-stream marker is missing"
            )
        if any(rest):
            raise StreamFault("the Arrow stream has data after its end-of-stream marker: only the first stream is read")

    def _n_bytes_read(self) -> int:
        if not self._is_file:
            return int(self._bytes.tell()) if self._size_bytes else 0
        return int(self._size_bytes * self._n_read // max(self._reader.num_record_batches, 1))


def _mapped(raw: BinaryIO) -> pa.NativeFile:
    try:
        data: mmap.mmap | bytes = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # a pipe, in memory, or on a file system without memory maps
        if raw.seekable():
            raw.seek(0)
        data = raw.read()
    if not data:
        raise StreamFault("the file is empty, not even an empty Arrow file")
    return pa.BufferReader(pa.py_buffer(data))


def _damaged(error: BaseException) -> StreamFault:
    return StreamFault(f"the Arrow data is truncated or damaged: {str(error).partition(chr(10))[0].rstrip('.')}")


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [_as_bytes(column) for column in batch.columns]
    for column in columns:
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            if "UTF8" not in str(error):  # inside a list or a struct, which is not read; offsets were right
                raise _damaged(error) from error
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _as_bytes(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        values = _as_bytes(column.dictionary)
        return column if values is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, values)
    kind = WITHOUT_CHECK.get(column.type)
    return column if kind is None else column.view(kind)
