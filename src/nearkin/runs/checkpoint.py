"""Arrays of a stage, stored so that an interrupted run need not compute them again."""

from __future__ import annotations

import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nearkin.formats.sealed import damaged_file, missing_file, seal_file, sealed_length
from nearkin.runs.files import published

Arrays = Mapping[str, NDArray[Any]]
_DAMAGE = (
    OSError, ValueError, LookupError, EOFError, NotImplementedError, RuntimeError, TypeError, SyntaxError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
"""Errors of reading a damaged file."""
_READING = threading.Lock()
"""numpy reads headers with Python's parser, which fails with SystemError if another thread parses meanwhile: it
counts the levels of all threads together, and a collection of garbage can change threads."""


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
    """Publish named arrays in one file: a ZIP archive, with a seal behind it."""
    with published(path, durable=False) as aside:
        with open(aside, "wb") as file:
            named = cast("Mapping[str, Any]", arrays)
            np.savez(file, **named)  # allow_pickle=False would be one more array with numpy before 2.2
        seal_file(aside, path.name)


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Load all or some of the arrays that `save_arrays` wrote.

    Raises
    ------
    RunError
        The file was changed, renamed or removed.
    """
    if not path.is_file():
        raise damaged_file(path) if path.exists() else missing_file(path)
    sealed_length(path)
    try:
        with _READING, np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in (stored.files if names is None else names)}
    except _DAMAGE as error:
        raise damaged_file(path) from error
