"""Arrays that grow on disk and are memory-mapped, for data larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nearkin.formats.sealed import Sealing, sealed_length
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
