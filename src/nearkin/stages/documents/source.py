"""One file of the input, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from nearkin.stages.documents.compression import Compression
    from nearkin.stages.documents.keep_column import KeepColumn
    from nearkin.stages.documents.streams import Progress

STDIN = "-"
_AS_OLDER_VERSIONS: Mapping[str, Any] = {"max_document_bytes": 1 << 30, "is_forced": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of the input, and how to read it.

    Parameters
    ----------
    path : str
        As given, or as found under a folder or by a glob; "-" is standard input.
    name : str
        For messages and for the ids of documents without one: the path, inside a folder of documents the path from
        that folder.
    format : str
        One of `.formats.FORMATS`; or "collection" and "results", which are no files, see
        `workflows.reading.inputs.StoredSource`.
    compression : {"none", "gzip", "zstd", "bzip2", "xz"}, default "none"
    text, id : str or None
        The columns; None where the format has none, where there is no id, and for a pipe whose first line could not be
        seen: there the reader guesses.
    size_bytes : int, default 0
        Of the file as it lies there; 0 for a pipe.
    delimiter : str or None
        Of a CSV file; None where it could not be seen yet: there the reader tells it from the header.
    max_document_bytes : int
        A longer document is unreadable.
    takes_damaged : bool
        What comes before the damage of a file is used; else damage is an error.
    is_forced : bool
        The user named the format "file": text with markup is read as it is.
    """

    path: str
    name: str
    format: str
    compression: Compression = "none"
    text: str | None = None
    id: str | None = None
    size_bytes: int = 0
    delimiter: str | None = None
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    takes_damaged: bool = False
    is_forced: bool = False

    @classmethod
    def stored(cls, fields: Mapping[str, Any]) -> Source:
        """A source as a finished run stored it, to be read again as it was read then.

        What an older version did not store, it did for all: documents up to 1 GiB, damaged files, text with markup.
        """
        return cls(**{**_AS_OLDER_VERSIONS, **fields, "takes_damaged": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSource:
    """A source that is open, and how it is to be read; see `.reader.read_batches`."""

    source: Source
    raw: BinaryIO
    batch_bytes: int
    keep: KeepColumn | None
    progress: Progress
    encoding: str
    note: Callable[[str], None]

    @property
    def is_pipe(self) -> bool:
        """Whether it may never end."""
        return self.source.path == STDIN or not Path(self.source.path).is_file()
