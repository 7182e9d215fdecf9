"""Arrays of a stage, stored so that an interrupted run need not compute them again."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.formats.sealed import damaged, missing
from nearkin.runs.files import published

Arrays = Mapping[str, NDArray[Any]]
_FILE = "file name"
"""Array with the name of the file, in files that `save_arrays` wrote; earlier versions left it out."""
_DAMAGE = (
    OSError, ValueError, LookupError, EOFError, NotImplementedError, RuntimeError, TypeError, SyntaxError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
"""Errors of reading a damaged file."""


def kept_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """Load the arrays stored at ``path``, or store and return those that ``make`` returns.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "squares.npz"
    >>> _ = kept_arrays(place, lambda: {"squares": np.arange(3) ** 2})
    >>> kept_arrays(place, dict)["squares"].tolist()
    [0, 1, 4]
    """
    if not path.exists():
        arrays = make()
        save_arrays(path, arrays)
        return arrays
    return load_arrays(path)


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Publish named arrays in one file, with a checksum for each; the file cannot be swapped with another."""
    with published(path, durable=False) as aside, open(aside, "wb") as file:
        np.savez(file, allow_pickle=False, **{**arrays, _FILE: np.frombuffer(os.fsencode(path.name), np.uint8)})


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Load all or some of the arrays that `save_arrays` wrote.

    Raises
    ------
    RunError
        The file was changed, renamed or removed.
    """
    if not path.is_file():
        raise damaged(path) if path.exists() else missing(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            if stored.get(_FILE, own := np.frombuffer(os.fsencode(path.name), np.uint8)).tobytes() != own.tobytes():
                raise damaged(path)
            wanted = [name for name in stored.files if name != _FILE] if names is None else names
            return {name: stored[name] for name in wanted}
    except _DAMAGE as error:
        raise damaged(path) from error
