"""A file of the input, with the way to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from nearkin.stages.documents.formats import STORED
from nearkin.stages.documents.rules import MAX_DOCUMENT_BYTES, USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.streams import Compression, Progress, unreported

if TYPE_CHECKING:
    from nearkin.stages.documents.annotating import Annotations
    from nearkin.stages.documents.extraction.messages import ExtractedNode
    from nearkin.stages.documents.values import KeepColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file of the input, with the way to read it.

    Parameters
    ----------
    name
        Name for messages and for documents without an id: the path, in a folder of documents relative to it.
    text, id
        The columns; None if there is none, and for a pipe whose first line is not visible: then the reader guesses.
    is_forced
        Whether the user named the format "file": text with markup is read unchanged.
    encoding
        Of text that is not valid UTF-8 and has no byte order mark, except in tables; see :mod:`.encodings`.
    changed_ns, noted_ns
        Time of the last change, in nanoseconds since 1970, and when the system noted it, which programs cannot set;
        None for a pipe, and until the source was seen: see `workflows.reading.rereading`.
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
    encoding: str = "utf-8"
    changed_ns: int | None = None
    noted_ns: int | None = field(default=None, compare=False)
    sha256: str | None = None
    texts_sha256: str | None = None

    @property
    def is_stored(self) -> bool:
        """Whether it is a collection, the result of a run or a table in memory, not a file."""
        return self.format in STORED


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSource:
    """An open source, with the settings to read it; see `.reader.read_batches`."""

    source: Source
    raw: BinaryIO
    batch_bytes: int = 8 << 20
    keep: KeepColumn | None = None
    progress: Progress = unreported
    note: Callable[[str], None] = unreported
    carry: Sequence[str] = ()
    """More columns to read, as ids are read; one that the file does not have is null."""
    added: Annotations | None = None
    """Columns that copied records get."""
    nodes: Iterable[ExtractedNode] | None = None
    """Documents that a pool of extraction workers made from the file; None if it is not read yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRead:
    """``n`` files or folders of one place that are not read, for one reason, with the first paths."""

    place: str
    reason: str
    n: int
    paths: tuple[str, ...] = ()


Note = str | NotRead
"""A sentence about the input, or what was not read in it."""
