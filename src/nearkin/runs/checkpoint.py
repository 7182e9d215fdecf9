"""Arrays that a stage made, kept so that an interrupted run need not make them again."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.formats.sealed import damaged
from nearkin.runs.files import published

Arrays = Mapping[str, NDArray[Any]]


def kept_arrays(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """The arrays that stand at ``path``, or else those that ``make`` gives, which then stand there.

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
    """Publish arrays under their names in one file; it has a checksum for each of them."""
    with published(path, durable=False) as aside, open(aside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_arrays(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Arrays that `save_arrays` wrote, all or some of them, as they were.

    Raises
    ------
    RunError
        The file is not what was written.
    FileNotFoundError
        There is none.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in (stored.files if names is None else names)}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, LookupError, EOFError, NotImplementedError, zipfile.BadZipFile, struct.error) as error:
        raise damaged(path) from error
