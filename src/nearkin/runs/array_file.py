"""Arrays with a description in one file that is either complete or absent, and detects changed bits."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import RunError
from nearkin.formats.sealed import Sealing, sealed_length
from nearkin.runs.files import published

_MAGIC = b"nk-arrays"
_HEAD = struct.Struct("<9sQ")


def write_arrays(path: Path, kind: str, header: Mapping[str, object], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file that appears at ``path`` only when it is complete and on disk; it replaces an earlier one.

    Parameters
    ----------
    path : Path
    kind : str
        What the file holds, with the version of its form: "stream 1".
    header : mapping
        JSON types.
    arrays : mapping of str to array

    Raises
    ------
    OutputError

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(Path(folder) / "a", "example 1", {"n": 3}, {"numbers": np.arange(3)})
    ...     header, arrays = read_arrays(Path(folder) / "a", "example 1")
    >>> header, arrays["numbers"].tolist()
    ({'n': 3}, [0, 1, 2])
    """
    shapes = {name: [array.dtype.newbyteorder("<").str, list(array.shape)] for name, array in arrays.items()}
    told = json.dumps({"kind": kind, "header": header, "arrays": shapes}).encode()
    with published(path) as aside, open(aside, "wb") as file:
        sealing = Sealing(file)
        sealing.write(_HEAD.pack(_MAGIC, len(told)))
        sealing.write(told)
        for array in arrays.values():
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            sealing.write(little.reshape(-1).view(np.uint8).data)
        sealing.seal()


def begins_as(path: Path, kind: str) -> bool:
    """Whether a file begins as one that `write_arrays` wrote, of a kind with any version of its form."""
    with open(path, "rb") as file:
        head = file.read(_HEAD.size)
        told = json.dumps({"kind": kind})[:-2].encode()
        return head.startswith(_MAGIC) and file.read(len(told)) == told


def read_arrays(path: Path, kind: str) -> tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]:
    """Read what `write_arrays` wrote; the arrays are copies in memory.

    Raises
    ------
    RunError
        The file is damaged, or holds something else.
    FileNotFoundError
    """
    os.stat(path)  # FileNotFoundError, which is no damage
    try:
        length = sealed_length(path)
    except RunError as error:
        raise _damaged(path) from error
    with open(path, "rb") as file:
        magic, n_told = _HEAD.unpack(file.read(_HEAD.size)) if length >= _HEAD.size else (b"", 0)
        if magic != _MAGIC:
            raise _damaged(path)
        told = json.loads(file.read(n_told))
        if told["kind"] != kind:
            raise RunError(f"{path} holds {told['kind']!r}, and {kind!r} is needed. Use the Nearkin that wrote it.")
        found = {}
        for name, (dtype, shape) in told["arrays"].items():
            array = np.empty(shape, dtype)
            file.readinto(array.reshape(-1).view(np.uint8).data)
            found[name] = array.astype(np.dtype(dtype).newbyteorder("="), copy=False)
    return told["header"], found


def _damaged(path: Path) -> RunError:
    """Say whether the file begins as those that Nearkin writes do."""
    with open(path, "rb") as file:
        is_ours = file.read(len(_MAGIC)) == _MAGIC
    name = os.fspath(path)
    if is_ours:
        return RunError(f"{name} is damaged: its content does not match its checksum. Restore it from a backup.")
    return RunError(
        f"{name} does not begin as a file written by Nearkin: it is another file, or it is damaged. Check the path; "
        "if it is right, restore the file from a backup."
    )
