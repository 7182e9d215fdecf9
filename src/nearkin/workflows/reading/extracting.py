"""Files of a folder that are extracted: recognised among the other files, and extracted ahead of reading."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nearkin.errors import DocumentError
from nearkin.stages.documents.extraction.kinds import is_extracted
from nearkin.stages.documents.faults import StreamFault
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.head import HEAD_BYTES, Head
from nearkin.stages.documents.readers.whole_file import WholeFile
from nearkin.stages.documents.sources import Source
from nearkin.stages.documents.streams import ByteStream, compression_of, keep_memory

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.nodes import ExtractedNode
    from nearkin.stages.documents.extraction.pool import ExtractionAnswer, ExtractionPool


_WINDOW = 256
"""Number of files that are examined ahead of reading."""


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A source, with what is already known about it.

    Parameters
    ----------
    source : Source
    nodes : iterator of ExtractedNode, optional
        What a worker made of it, if it is extracted.
    content : bytes, optional
        All of its bytes: to open thousands of short files takes longer than to read them.
    """

    source: Source
    nodes: Iterator[ExtractedNode] | None = None
    content: bytes | None = None


class AheadOfReading:
    """Sources in order, with the results of the workers for the files that are extracted.

    Parameters
    ----------
    sources : sequence of Source
    encoding : str
    n_workers : int, optional
        By default one for each processor.
    """

    def __init__(self, sources: Sequence[Source], encoding: str, n_workers: int | None = None) -> None:
        self._sources = sources
        self._encoding = encoding
        self._n_workers = n_workers
        self._pool: ExtractionPool | None = None
        self._ahead: dict[int, FileToRead] = {}
        self._begun: dict[int, ExtractionAnswer] = {}
        self._n_seen = 0

    def __iter__(self) -> Iterator[FileToRead]:
        """Yield each source; the nodes of one are read before the next."""
        for index in range(len(self._sources)):
            self._look_ahead(index)
            file, begun = self._ahead.pop(index), self._begun.pop(index, None)
            if begun is None:
                yield file
            else:
                yield replace(file, nodes=by_text_formats(begun.nodes()))
                begun.drop()

    def _look_ahead(self, index: int) -> None:
        """Start extracting the next files, if workers are free."""
        last = min(len(self._sources), index + _WINDOW)
        while self._n_seen <= index or (self._n_seen < last and self._has_room):
            file = self._ahead[self._n_seen] = _looked_into(self._sources[self._n_seen])
            form = FORMATS[file.source.format]
            if form.is_extracted:
                self._begun[self._n_seen] = self._submit(file.source, form.reader.kind)
            self._n_seen += 1

    @property
    def _has_room(self) -> bool:
        """Whether workers could begin another file."""
        return self._pool is None or len(self._begun) < self._pool.look_ahead

    def _submit(self, source: Source, kind: str | None) -> ExtractionAnswer:
        """Let a worker read a file; the first one makes the pool."""
        from nearkin.stages.documents.extraction.pool import ExtractionPool, FileToExtract  # texts need no workers

        if self._pool is None:  # limits and languages are the same for all sources of an input
            self._pool = ExtractionPool(self._n_workers, source.limits, source.ocr)
        wanted = FileToExtract(source.path, source.name, kind, self._encoding)
        return self._pool.submit(wanted)

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()


@contextmanager
def ahead_of_reading(
    sources: Sequence[Source], encoding: str, n_workers: int | None = None
) -> Iterator[AheadOfReading]:
    """Provide workers while the sources are read; they start with the first file that needs a worker."""
    keep_memory()
    with closing(AheadOfReading(sources, encoding, n_workers)) as files:
        yield files


def recognised_format(path: str) -> str:
    """Return the format of a file with an unknown suffix, as in a folder: "document", "file" or that of a text."""
    return _looked_into(Source(path=path, name=path, format="file")).source.format


def _looked_into(source: Source) -> FileToRead:
    """Return a source with its format, recognised by the beginning of the file, and all bytes of a short text."""
    if source.format != "file" or source.is_forced:
        return FileToRead(source)
    try:
        with open(source.path, "rb", buffering=0) as raw:
            size = os.fstat(raw.fileno()).st_size
            head = raw.read(min(size, HEAD_BYTES) or HEAD_BYTES)  # to reserve 64 KiB takes longer than to read 1
            content = head if len(head) == size else None
            if (compression := compression_of(head)) != "none":
                raw.seek(0)
                head = ByteStream(raw, compression).read(HEAD_BYTES)
    except (OSError, StreamFault):
        return FileToRead(source)  # reported when it is read
    if is_extracted(head, source.name):
        return FileToRead(replace(source, format="document"))
    text_format = text_format_of(source.name, head)
    return FileToRead(source if text_format is None else replace(source, format=text_format), content=content)


def text_format_of(name: str, data: bytes) -> str | None:
    """Return the format of a text file by its suffix, or else by its beginning; None if its content is the text.

    Parameters
    ----------
    name : str
    data : bytes
        Its beginning, in UTF-8 or with a byte order mark.
    """
    formats = [one for one in FORMATS.values() if one.holds == "one document" and one.name != "file"]
    suffix = os.path.splitext(name.lower())[1]
    if suffix:
        return next((one.name for one in formats if suffix in one.suffixes), None)
    try:
        text = ByteStream(io.BytesIO(data[:HEAD_BYTES]), "none").read(HEAD_BYTES)
    except StreamFault:
        return None
    head = Head(data=text, compression="none", is_all=len(data) < HEAD_BYTES)
    return next((one.name for one in formats if one.reader.begins(head)), None)


def by_text_formats(nodes: Iterator[ExtractedNode]) -> Iterator[ExtractedNode]:
    """Yield what a worker extracted; convert unchanged texts by the formats of their names."""
    for node in nodes:
        is_text = node.origin.kind == "text" and node.text is not None and node.origin.exception is None
        name = text_format_of(node.name or "", node.text or b"") if is_text else None
        yield node if name is None else _by_format(node, FORMATS[name].reader)


def _by_format(node: ExtractedNode, form: WholeFile) -> ExtractedNode:
    try:
        return replace(node, text=form.text_of((node.text or b"").decode()).encode())
    except (ValueError, DocumentError) as error:
        origin = replace(node.origin, exception="damaged", sentence=str(error).rstrip("."))
        return replace(node, text=None, origin=origin)
