"""A stream in a file: its parameters, its ids, and the sketches and keys of its documents."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import OutputError, OutputExistsError, ParameterError, RunError, SourceError
from nearkin.formats.sealed import Sealing, sealed_length
from nearkin.paths import check_output, check_outside_collections, why
from nearkin.records import U32, U64
from nearkin.runs.files import published

_KIND = "stream 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedStream:
    """The state of a stream.

    Parameters
    ----------
    parameters : mapping
        Parameters of the constructor, as JSON types.
    methods : str
        Fingerprint of the methods of the sketches and keys.
    ids : sequence
        Ids of the documents that have a row.
    n_dropped : int
        Number of documents before the first row.
    n_chains_cut : int
        Number of comparisons that were cut short.
    slots, digests, keys : arrays
        A row for each document.
    """

    parameters: Mapping[str, Any]
    methods: str
    ids: Sequence[Hashable]
    n_dropped: int
    n_chains_cut: int
    slots: U32
    digests: U64
    keys: U64

    def write(self, path: Path) -> None:
        """Write the file; see `StreamDeduplicator.save`."""
        odd = [doc_id for doc_id in self.ids if not isinstance(doc_id, str | int)]
        if odd:
            raise ParameterError.of("doc_id", "a str or an int", odd[0])
        _check_free(path)
        header = {
            "parameters": dict(self.parameters),
            "methods": self.methods,
            "n_dropped": self.n_dropped,
            "n_chains_cut": self.n_chains_cut,
            "ids": list(self.ids),
        }
        write_arrays(path, _KIND, header, {"slots": self.slots, "digests": self.digests, "keys": self.keys})

    @classmethod
    def read(cls, path: Path) -> SavedStream:
        """Read the file; see `StreamDeduplicator.open`."""
        try:
            header, arrays = read_arrays(path, _KIND)
        except OSError as error:
            raise SourceError(f"Cannot read {path}: {why(error)}.") from error
        return cls(slots=arrays["slots"], digests=arrays["digests"], keys=arrays["keys"], **header)


def _check_free(path: Path) -> None:
    """Refuse a path at which there is something that is neither a saved stream nor an empty file."""
    check_output(path, "path")
    check_outside_collections(path, "the file")
    if not path.exists() or path.is_dir():  # writing says that it is a directory
        return
    try:
        is_free = path.is_file() and (path.stat().st_size == 0 or begins_as(path, "stream "))
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {why(error)}.") from error
    if not is_free:
        raise OutputExistsError(f"{path} already exists, and is not a saved stream. Choose another path.")


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
