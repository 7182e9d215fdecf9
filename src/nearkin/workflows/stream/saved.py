"""A stream in a file: its parameters, its ids, and the sketches and keys of its documents."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearkin.errors import OutputError, OutputExistsError, ParameterError, SourceError
from nearkin.paths import check_output, check_outside_collections, why
from nearkin.records import U32, U64
from nearkin.runs.array_file import begins_as, read_arrays, write_arrays

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
