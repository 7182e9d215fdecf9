"""A file of the input, with the way to read it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from nearkin.paths import STDIN
from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES
from nearkin.stages.documents.streams import Compression, Progress, no_progress

if TYPE_CHECKING:
    from nearkin.stages.documents.annotating import Annotations
    from nearkin.stages.documents.extraction.nodes import ExtractedNode
    from nearkin.stages.documents.keeping import KeepColumn


_DESCRIPTORS = re.compile(r"/dev/(fd/.*|std(in|out|err))|/proc/[^/]+(/task/\d+)?/fd/.*")


def no_note(note: str) -> None:
    """Ignore a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file of the input, with the way to read it.

    Parameters
    ----------
    path
        As given, or as found in a folder or by a glob; "-" is standard input.
    name
        Name for messages and for documents without an id: the path, in a folder of documents relative to it.
    format
        One of `.formats.FORMATS`; or "collection", "results" and "table"; see `workflows.reading.inputs.StoredSource`.
    text, id
        The columns; None if there is none, and for a pipe whose first line is not visible: then the reader guesses.
    is_forced
        Whether the user named the format "file": text with markup is read unchanged.
    place
        Path that names the file in results if another file has the same name.
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
    text_root: str | None = None
    limits: ExtractionLimits = USUAL_LIMITS
    ocr: str | None = None
    place: str | None = None

    @classmethod
    def stored(cls, fields: Mapping[str, Any]) -> Source:
        """Restore a source that a finished run stored, to read it again in the same way."""
        return cls.of_stored({**fields, "takes_damaged": True})

    @classmethod
    def of_stored(cls, fields: Mapping[str, Any]) -> Source:
        """Restore the result of `as_stored`."""
        told = dict(fields)
        limits = ExtractionLimits.of(told.pop("extraction_limits", {}))
        return cls(**told, limits=limits)

    def as_stored(self) -> dict[str, object]:
        """Return the fields as JSON types, without some that are None."""
        told = asdict(self)
        del told["limits"]
        if self.limits.given:
            told["extraction_limits"] = self.limits.given
        return {
            name: value
            for name, value in told.items()
            if value is not None or name not in ("text_root", "ocr", "place")
        }


def is_descriptor(path: str) -> bool:
    """Whether a path names an open file of a process, such as ``/dev/stdin``: another file elsewhere.

    Examples
    --------
    >>> is_descriptor("/dev/fd/0"), is_descriptor("/dev/stdin"), is_descriptor("/dev/null")
    (True, True, False)
    """
    return _DESCRIPTORS.fullmatch(os.path.abspath(path)) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSource:
    """An open source, with the settings to read it; see `.reader.read_batches`."""

    source: Source
    raw: BinaryIO
    encoding: str = "utf-8"
    batch_bytes: int = 8 << 20
    keep: KeepColumn | None = None
    progress: Progress = no_progress
    note: Callable[[str], None] = no_note
    carry: Sequence[str] = ()
    """More columns to read, as ids are read; one that the file does not have is null."""
    added: Annotations | None = None
    """Columns that copied records get."""
    nodes: Iterable[ExtractedNode] | None = None
    """Documents that a pool of extraction workers made from the file; None if it is not read yet."""

    @property
    def is_pipe(self) -> bool:
        """Whether it is standard input, which may be endless."""
        return self.source.path == STDIN


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """Files or folders of one place that are not read, for one reason, a noun in the plural; paths are sorted."""

    place: str
    reason: str
    paths: tuple[str, ...]
    sentence: str


Note = str | NotRead
"""A sentence about the input, or what was not read in it."""
