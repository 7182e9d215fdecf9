"""Work files of a run, which show a changed bit and are memory-mapped: arrays, batches, and its texts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from nearkin.formats.sealed import Sealing, damaged_file, missing_file, sealed_length
from nearkin.records import I64, U32
from nearkin.runs.files import sealed, writing

Arrays = Mapping[str, NDArray[Any]]


class GrowingArray:
    """A one-dimensional array to which parts are appended; an existing file is replaced.

    ``mapped`` does not check the seal, so one that nobody else reads needs none.
    """

    def __init__(self, path: Path, dtype: DTypeLike, *, is_sealed: bool = True) -> None:
        self._path = path
        self._dtype = np.dtype(dtype)
        with writing(path):
            self._file = open(path, "wb")  # noqa: SIM115 (closed by `mapped`)
        self._sealing = Sealing(self._file) if is_sealed else None

    def add(self, part: NDArray[np.generic]) -> None:
        """Append a part."""
        with writing(self._path):
            (self._sealing or self._file).write(np.ascontiguousarray(part, self._dtype).data)

    def mapped(self) -> NDArray[np.generic]:
        """Map the whole array; nothing can be added afterwards."""
        n_bytes = self._file.tell()
        with writing(self._path):
            if self._sealing is not None:
                self._sealing.seal()
            self._file.close()
        return _mapped(self._path, self._dtype, n_bytes)  # it may be renamed


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[np.generic]:
    """Map an array of numbers written through a `Sealing`; RunError if the file was changed."""
    return _mapped(path, np.dtype(dtype), sealed_length(path))


def _mapped(path: Path, dtype: np.dtype[Any], n_bytes: int) -> NDArray[np.generic]:
    n = n_bytes // dtype.itemsize
    return np.asarray(np.memmap(path, dtype, "r", shape=(n,))) if n else np.zeros(0, dtype)


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Publish named arrays of any shape in one file."""
    save_batch(path, as_batch(arrays))


def as_batch(arrays: Arrays) -> pa.RecordBatch:
    """Return named arrays of any shape as a batch of a row, with the bytes of each."""
    fields, columns = [], []
    for name, value in arrays.items():
        array = np.asarray(value, order="C")
        about = {"dtype": array.dtype.str, "shape": " ".join(map(str, array.shape))}
        fields.append(pa.field(name, pa.large_binary(), metadata=about))
        ends, content = np.array([0, array.nbytes], np.int64), array.reshape(-1).view(np.uint8)
        columns.append(pa.Array.from_buffers(pa.large_binary(), 1, [None, pa.py_buffer(ends), pa.py_buffer(content)]))
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Load all or some of the arrays that `save_arrays` wrote; RunError if the file was changed or is missing."""
    batch = mapped_batch(path)
    return {name: array_in(batch, name, path).copy() for name in (batch.schema.names if names is None else names)}


def array_in(batch: pa.RecordBatch, name: str, path: Path) -> NDArray[Any]:
    """Return one of the arrays of `as_batch`, without copying."""
    try:
        about = {key.decode(): value.decode() for key, value in batch.schema.field(name).metadata.items()}
        flat = np.frombuffer(batch[name].buffers()[2] or b"", about["dtype"])
        return flat.reshape([int(n) for n in about["shape"].split()])
    except (LookupError, AttributeError, TypeError, ValueError) as error:
        raise damaged_file(path) from error


def kept_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """Load the arrays stored at ``path``, or store and return those that ``make`` returns.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "squares.arrow"
    >>> _ = kept_arrays(place, lambda: {"squares": np.arange(3) ** 2})
    >>> kept_arrays(place, dict)["squares"].tolist()
    [0, 1, 4]
    """
    if not path.exists():
        arrays = make()
        save_arrays(path, arrays)
        return arrays
    return load_arrays(path)


def save_array(path: Path, array: NDArray[np.generic]) -> None:
    """Publish an array of any shape."""
    save_arrays(path, {path.name: array})


def saved_array(path: Path) -> NDArray[Any]:
    """Map an array that `save_array` wrote; RunError if the file was changed."""
    return array_in(mapped_batch(path), path.name, path)


def save_batch(
    path: Path, rows: pa.RecordBatch | pa.Table, *, compression: str | None = None, durable: bool = False
) -> None:
    """Publish rows, sealed; the file appears only when it is complete, ``durable`` once it is on the disk."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with sealed(path, durable=durable) as file, pa.ipc.new_file(file, rows.schema, options=options) as writer:
        writer.write(rows)


def batch_reader(path: Path) -> pa.RecordBatchFileReader:
    """Read what `save_batch` wrote, memory-mapped unless it was compressed; RunError if it was changed."""
    length = sealed_length(path)
    try:
        with pa.memory_map(str(path)) as file:
            return pa.ipc.open_file(pa.BufferReader(file.read_buffer(length)))
    except pa.ArrowException as error:
        raise damaged_file(path) from error


def mapped_batch(path: Path) -> pa.RecordBatch:
    """Return the batch that `save_batch` wrote; the errors are those of `batch_reader`."""
    reader = batch_reader(path)
    if not reader.num_record_batches:
        raise damaged_file(path)
    return reader.get_batch(0)


@dataclass(frozen=True, slots=True)
class PartFiles:
    """A directory, which every executor can access, with some files for each part."""

    folder: Path

    def place(self, part: int, suffix: str) -> Path:
        """Return the path of a part's file."""
        return self.folder / f"{part:09d}{suffix}"

    def save(self, part: int, suffix: str, array: np.ndarray) -> None:
        """Write an array of a part."""
        save_array(self.place(part, suffix), array)

    def array(self, part: int, suffix: str) -> np.ndarray:
        """Map an array of a part."""
        return saved_array(self.place(part, suffix))

    def save_table(self, part: int, suffix: str, table: pa.Table) -> None:
        """Write a table of a part; the file appears only when it is complete."""
        save_batch(self.place(part, suffix), table)

    def table(self, part: int, suffix: str) -> pa.Table:
        """Map a table of a part."""
        return batch_reader(self.place(part, suffix)).read_all()


SPOOL = "spool"
"""Name of the spool in the work directory."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One file of the spool."""

    path: Path
    start: int
    n_documents: int

    @property
    def end(self) -> int:
        """Number of the row after the last document."""
        return self.start + self.n_documents

    def column(self, name: str) -> pa.Array:
        """Map a column into memory without copying."""
        return self.batch()[name]

    def batch(self) -> pa.RecordBatch:
        """Map all columns into memory without copying."""
        return mapped_batch(self.path)


@dataclass(frozen=True, slots=True)
class Spool:
    """A directory of chunks."""

    path: Path

    def place(self, part: int, number: int) -> Path:
        """Return the path of chunk ``number`` of an input."""
        return self.path / f"{part:09d}-{number:09d}.arrow"

    def mark(self, part: int) -> Path:
        """Return the path of the file that marks an input as completely read.

        Its name sorts after all others of the input ("-" before "."), because `published_together` publishes by name.
        """
        return self.path / f"{part:09d}.json"

    def write(self, part: int, number: int, batch: pa.RecordBatch) -> None:
        """Write a chunk; the file appears only when it is complete."""
        save_batch(self.place(part, number), batch)

    def forget(self, part: int) -> None:
        """Remove the chunks of an input."""
        with writing(self.mark(part)):
            self.mark(part).unlink(missing_ok=True)  # first: after an interruption no mark is without its chunks
        for path in self.path.glob(f"{part:09d}-*"):
            with writing(path):
                path.unlink()

    def check(self, part: int, n_chunks: int, n_documents: int) -> None:
        """Check that the chunks of an input that was read completely are there, else RunError."""
        there = set(self.path.glob(f"{part:09d}-*.arrow"))
        wanted = [self.place(part, number) for number in range(n_chunks)]
        for path in wanted:
            if path not in there:
                raise missing_file(path)
        if more := there.difference(wanted):
            raise damaged_file(min(more))
        if sum(mapped_batch(path).num_rows for path in wanted) != n_documents:
            raise damaged_file(self.mark(part))

    def remove(self) -> None:
        """Remove the spool."""
        shutil.rmtree(self.path)

    def chunks(self) -> tuple[Chunk, ...]:
        """Return all chunks in reading order."""
        chunks, start = [], 0
        for path in sorted(self.path.glob("*.arrow")):
            n_documents = mapped_batch(path).num_rows
            chunks.append(Chunk(path, start, n_documents))
            start += n_documents
        return tuple(chunks)


def texts_of(chunks: Sequence[Chunk], rows: Sequence[int] | I64 | U32, column: str = "text") -> list[str]:
    """Return the texts of some rows, from a column of the spool."""
    starts = np.array([chunk.start for chunk in chunks])
    of_row = np.searchsorted(starts, np.asarray(rows), side="right") - 1
    texts, mapped, values = list[str](), -1, pa.nulls(0)
    for number, row in zip(of_row.tolist(), rows, strict=True):
        if number != mapped:  # mapping a chunk takes longer than a text
            mapped, values = number, chunks[number].column(column)
        texts.append(values[int(row) - chunks[number].start].as_py())
    return texts


def gathered(chunks: Sequence[Chunk], name: str) -> Iterator[pa.Array]:
    """Yield a column of every chunk, in order."""
    for chunk in chunks:
        yield chunk.column(name)
