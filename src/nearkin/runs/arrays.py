"""Arrays that grow on disk and are mapped back: what would not fit into memory need not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nearkin.runs.files import writing


class GrowingArray:
    """A one-dimensional array to which parts are added.

    Parameters
    ----------
    path : Path
        Its file; what was there is replaced.
    dtype : dtype

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

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self._path = path
        self._dtype = np.dtype(dtype)
        with writing(path):
            self._file = open(path, "wb", buffering=0)  # noqa: SIM115 (closed by `mapped`)

    def add(self, part: NDArray[np.generic]) -> None:
        """Put a part behind what is there."""
        with writing(self._path):
            left = np.ascontiguousarray(part, self._dtype).view(np.uint8).data
            while len(left):  # a full disk, or a signal, may let a part of it through
                left = left[self._file.write(left) :]

    def mapped(self) -> NDArray[np.generic]:
        """All of it; nothing more can be added."""
        self._file.close()
        return mapped_array(self._path, self._dtype)


def mapped_array(path: Path, dtype: DTypeLike) -> NDArray[np.generic]:
    """An array that `GrowingArray` wrote, mapped into memory."""
    if not path.stat().st_size:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))
