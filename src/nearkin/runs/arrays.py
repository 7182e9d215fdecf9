"""Arrays that grow on disk and are memory-mapped, for data larger than memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray

from nearkin.formats.sealed import Sealing, damaged_file, sealed_length
from nearkin.runs.files import sealed, writing


class GrowingArray:
    """A one-dimensional array to which parts are appended.

    Parameters
    ----------
    path : Path
        Its file; an existing file is replaced.
    dtype : dtype
    name : str, optional
        Name under which the file is read later; default: that of ``path``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     growing = GrowingArray(Path(folder) / "numbers", np.int32)
    ...     growing.add(np.array([1, 2])), growing.add(np.array([3]))
    ...     growing.mapped().tolist()
    (None, None)
    [1, 2, 3]
    """

    def __init__(self, path: Path, dtype: DTypeLike, *, name: str | None = None) -> None:
        self._path = path
        self._dtype = np.dtype(dtype)
        with writing(path):
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115 (closed by `mapped`)
        self._sealing = Sealing(self._file, name or path.name)

    def add(self, part: NDArray[np.generic]) -> None:
        """Append a part."""
        with writing(self._path):
            self._sealing.write(np.ascontiguousarray(part, self._dtype).data)

    def mapped(self) -> NDArray[np.generic]:
        """Map the whole array; nothing can be added afterwards."""
        with writing(self._path):
            self._sealing.seal()
        self._file.close()
        return _mapped(self._path, self._dtype, self._sealing.tell())  # not checked: it may be renamed


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[np.generic]:
    """Map an array of numbers written through a `Sealing`.

    Raises
    ------
    RunError
        The file was changed.
    """
    return _mapped(path, np.dtype(dtype), sealed_length(path))


def _mapped(path: Path, dtype: np.dtype[Any], n_bytes: int) -> NDArray[np.generic]:
    n = n_bytes // dtype.itemsize
    return np.asarray(np.memmap(path, dtype, "r", shape=(n,))) if n else np.zeros(0, dtype)


def save_array(path: Path, array: NDArray[np.generic]) -> None:
    """Publish an array of any shape in numpy's format, sealed."""
    with sealed(path) as file:
        np.lib.format.write_array(cast("BinaryIO", file), np.asanyarray(array), allow_pickle=False)


def saved_array(path: Path) -> NDArray[Any]:
    """Map an array that `save_array` wrote.

    Raises
    ------
    RunError
        The file was changed.
    """
    sealed_length(path)
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


@contextlib.contextmanager
def batch_writer(path: Path, schema: pa.Schema, *, compression: str | None = None) -> Iterator[pa.RecordBatchWriter]:
    """Publish batches, sealed; the file appears only when it is complete."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with sealed(path) as file, pa.ipc.new_file(file, schema, options=options) as writer:
        yield writer


def save_batch(path: Path, batch: pa.RecordBatch, *, compression: str | None = None) -> None:
    """Publish one batch."""
    with batch_writer(path, batch.schema, compression=compression) as writer:
        writer.write_batch(batch)


def batch_reader(path: Path) -> pa.RecordBatchFileReader:
    """Read what `batch_writer` wrote; it is memory-mapped unless it was compressed.

    Raises
    ------
    RunError
        The file was changed.
    """
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
    """A directory with some files for each part; only its path is pickled for a task.

    Parameters
    ----------
    folder : Path
        Directory that every executor can access.

    Examples
    --------
    >>> PartFiles(Path("chunks")).place(7, "-words.npy").name
    '000000007-words.npy'
    """

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
        with batch_writer(self.place(part, suffix), table.schema) as writer:
            writer.write_table(table)

    def table(self, part: int, suffix: str) -> pa.Table:
        """Map a table of a part."""
        return batch_reader(self.place(part, suffix)).read_all()
