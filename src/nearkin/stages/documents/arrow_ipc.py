"""Arrow IPC: files, including Feather version 2, and streams.

A file on a disk is memory-mapped, so that only the data that is read costs memory. Arrow trusts the offsets in such a
file, so every array is validated before it is read.

A stream may end without a marker (Arrow Columnar Format, "IPC Streaming Format"), and one that was cut between two
batches looks the same. Every writer that is closed writes the marker, so its absence is treated as truncation.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.stages.documents.arrow_values import WITHOUT_CHECK
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.foreign import ARROW_FILE, ARROW_STREAM
from nearkin.stages.documents.streams import Progress
from nearkin.stages.documents.table_columns import Wanted

_END_OF_STREAM = ARROW_STREAM + bytes(4)
_MAX_ROWS = 1 << 16
_MAX_PADDING = 1 << 12
_ERRORS = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)  # the last for names of columns


class ArrowTable:
    """An open Arrow file or stream; see `.table_columns.TableFile`."""

    def __init__(self, reader: _Reader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._first: pa.RecordBatch | None = None
        self.schema: pa.Schema = reader.schema

    @classmethod
    @contextmanager
    def opened(cls, raw: BinaryIO, name: str) -> Iterator[ArrowTable]:
        """Open a file or a stream; see `.formats.tables.TableFormat`."""
        with _source(raw) as (source, size_bytes):
            yield cls(_reader(source, size_bytes, name), name)

    def first_rows(self, n_rows: int) -> pa.Table:
        """Return some rows with all columns; `batches` yields them again."""
        if self._first is None:
            self._first = next(self._reader.batches(), None)
        if self._first is None:
            return self.schema.empty_table()
        return pa.Table.from_batches([_checked(self._first.slice(0, n_rows))])

    def batches(self, wanted: Wanted, batch_bytes: int, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the wanted columns, some rows at a time, strings as bytes.

        Raises
        ------
        StreamFault
            A batch is damaged, the file ends within one, or a stream ends without its marker or has data after it; all
            earlier batches have been yielded.
        """
        n_told = 0
        for batch in self._every():
            chosen = batch.select(wanted.names)
            for start in range(0, len(batch), _MAX_ROWS):
                yield _checked(chosen.slice(start, _MAX_ROWS))
            n_read = self._reader.n_bytes_read()
            progress(n_read - n_told)
            n_told = n_read
        progress(max(self._reader.size_bytes - n_told, 0))

    def _every(self) -> Iterator[pa.RecordBatch]:
        if self._first is not None:
            yield self._first
        yield from self._reader.batches()


class _Pipe:
    """A pipe that counts its bytes and remembers the last ones; Arrow cannot tell how far it has read."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.n_read = 0
        self.last = b""

    def read(self, n_bytes: int) -> bytes:
        """Read from the pipe as many bytes as are wanted, unless it ends: Arrow takes fewer for the end."""
        parts: list[bytes] = []
        while n_bytes > 0 and (part := self._raw.read(n_bytes)):
            parts.append(part)
            n_bytes -= len(part)
        data = b"".join(parts)
        self.n_read += len(data)
        self.last = (self.last + data[-len(_END_OF_STREAM) :])[-len(_END_OF_STREAM) :]
        return data


class _Reader:
    """Reader of consecutive batches from a file or a stream."""

    def __init__(self, source: pa.NativeFile | _Pipe, size_bytes: int, opened: object, *, is_file: bool) -> None:
        self._source = source
        self._opened = opened
        self._n_read = 0
        self.size_bytes = size_bytes
        self.is_file = is_file
        self.schema: pa.Schema = opened.schema  # type: ignore[attr-defined]
        _ = self.schema.names  # decodes them
        with contextlib.suppress(pa.ArrowException):  # for types without empty arrays
            self.schema.empty_table()  # decodes the names inside structs
        self._has_ended = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches that have not been yielded yet."""
        while not self._has_ended:
            place = self._place()
            try:
                if not self.is_file:
                    batch = self._opened.read_next_batch()  # type: ignore[attr-defined]
                elif self._n_read < self._opened.num_record_batches:  # type: ignore[attr-defined]
                    batch = self._opened.get_batch(self._n_read)  # type: ignore[attr-defined]
                else:
                    return
            except StopIteration:
                self._has_ended = True
                self._check_end(place)
                return
            except _ERRORS as error:
                raise _damaged(error) from error
            self._n_read += 1
            yield batch

    def _place(self) -> int:
        return self._source.n_read if isinstance(self._source, _Pipe) else int(self._source.tell())

    def _check_end(self, place: int) -> None:
        """Raise StreamFault unless a stream's marker, or that of older writers, is between a place and the current one.

        Only zeros, as padding, may follow it.
        """
        if self.is_file:
            return
        n_marked = self._place() - place
        if isinstance(self._source, _Pipe):
            end = self._source.last[-n_marked:] if n_marked else b""
            rest = self._source.read(_MAX_PADDING)
        else:
            self._source.seek(place)
            end = self._source.read(n_marked)
            rest = self._source.read(_MAX_PADDING)
        if end not in (_END_OF_STREAM, bytes(4)):
            raise StreamFault(
                "the Arrow stream is truncated, or its writer was not closed: its end-of-stream marker is missing"
            )
        if any(rest):
            raise StreamFault("the Arrow stream has data after its end-of-stream marker: only the first stream is read")

    def n_bytes_read(self) -> int:
        """Approximate number of bytes of the file read so far."""
        if not self.is_file:
            return self._place() if self.size_bytes else 0
        n_batches: int = self._opened.num_record_batches  # type: ignore[attr-defined]
        return self.size_bytes * self._n_read // max(n_batches, 1)


@contextmanager
def _source(raw: BinaryIO) -> Iterator[tuple[pa.NativeFile | _Pipe, int]]:
    """Open the bytes as an Arrow source, with their number, 0 for a pipe."""
    if not raw.seekable():
        yield _Pipe(raw), 0
        return
    size_bytes = raw.seek(0, 2)
    raw.seek(0)
    if not size_bytes:
        raise StreamFault("the file is empty, not even an empty Arrow file")
    try:
        mapped: mmap.mmap | bytes = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # in memory, or on a file system without memory maps
        mapped = raw.read()
    yield pa.BufferReader(pa.py_buffer(mapped)), size_bytes


def _reader(source: pa.NativeFile | _Pipe, size_bytes: int, name: str) -> _Reader:
    """Open a file, or else a stream."""
    begins = b""
    if not isinstance(source, _Pipe):
        begins = source.read(len(ARROW_FILE))
        source.seek(0)
    if begins == ARROW_FILE and not isinstance(source, _Pipe):
        try:
            return _Reader(source, size_bytes, pa.ipc.open_file(source), is_file=True)
        except _ERRORS as error:
            source.seek(max(size_bytes - 6, 0))
            if source.read(6) != ARROW_FILE[:6]:
                raise StreamFault("the Arrow file is truncated: its footer is missing") from error
            raise _damaged(error) from error
    try:
        opened = pa.ipc.open_stream(pa.PythonFile(source, "r") if isinstance(source, _Pipe) else source)
        return _Reader(source, size_bytes, opened, is_file=False)
    except _ERRORS as error:
        if begins.startswith(ARROW_STREAM):
            raise _damaged(error) from error
        pipe = "" if size_bytes else " Only Arrow streams can be read through a pipe: save a file first."
        raise SourceError(f"{name} is not a readable Arrow file or stream: {error}.{pipe}") from error


def _damaged(error: BaseException) -> StreamFault:
    return StreamFault(f"the Arrow data is truncated or damaged: {str(error).partition(chr(10))[0].rstrip('.')}")


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with its strings as bytes, with each array validated."""
    columns = [_as_bytes(column) for column in batch.columns]
    for column in columns:
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            if "UTF8" not in str(error):  # inside a list or a struct, which is not read; offsets were right
                raise _damaged(error) from error
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _as_bytes(column: pa.Array) -> pa.Array:
    """Return strings as binary of the same layout."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        values = _as_bytes(column.dictionary)
        return column if values is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, values)
    kind = WITHOUT_CHECK.get(column.type)
    return column if kind is None else column.view(kind)
