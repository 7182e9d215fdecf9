"""Files of a folder that are extracted: found among the others, and begun before their turn comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from nearkin.stages.documents.compression import compression_of
from nearkin.stages.documents.extraction.blobs import HEAD_BYTES
from nearkin.stages.documents.extraction.kinds import is_extracted
from nearkin.stages.documents.extraction.nodes import ExtractedNode
from nearkin.stages.documents.extraction.workers import ExtractionPool, FileToExtract, WorkerAnswer
from nearkin.stages.documents.formats import FORMATS
from nearkin.stages.documents.formats.extracted import Extracted
from nearkin.stages.documents.sources import Source
from nearkin.stages.documents.streams import ByteStream, StreamFault

_WINDOW = 256
"""Files that are looked at before the first of them is read."""


class AheadOfReading:
    """Sources in their order, those that are extracted with what the workers made of them.

    Parameters
    ----------
    sources : sequence of Source
    encoding : str
    pool : ExtractionPool
    """

    def __init__(self, sources: Sequence[Source], encoding: str, pool: ExtractionPool) -> None:
        self._sources = sources
        self._encoding = encoding
        self._pool = pool
        self._begun: dict[int, tuple[Source, WorkerAnswer]] = {}
        self._n_seen = 0

    def __iter__(self) -> Iterator[tuple[Source, Iterator[ExtractedNode] | None]]:
        """Yield each source; the nodes of one are read before the next."""
        for index, source in enumerate(self._sources):
            self._look_ahead(index)
            begun = self._begun.pop(index, None)
            if begun is None:
                yield source, None
            else:
                yield begun[0], begun[1].nodes()
                begun[1].drop()

    def _look_ahead(self, index: int) -> None:
        """Begin what comes next, if workers have time for it."""
        last = min(len(self._sources), index + _WINDOW)
        while self._n_seen <= index or (self._n_seen < last and len(self._begun) < self._pool.look_ahead):
            source = as_extracted(self._sources[self._n_seen])
            if source is not None:
                kind = FORMATS[source.format].kind  # type: ignore[attr-defined]  # `as_extracted` saw to it
                file = FileToExtract(source.path, source.name, kind, self._encoding)
                self._begun[self._n_seen] = source, self._pool.submit(file)
            self._n_seen += 1


@contextmanager
def ahead_of_reading(
    sources: Sequence[Source], encoding: str, n_workers: int | None = None
) -> Iterator[AheadOfReading]:
    """Provide workers for as long as the sources are read; they start with the first file that needs one."""
    with ExtractionPool(n_workers) as pool:
        yield AheadOfReading(sources, encoding, pool)


def as_extracted(source: Source) -> Source | None:
    """Return the source of a file that is extracted; None if it is read as text.

    A file whose name says nothing is looked into, unless the user named its format.
    """
    if isinstance(FORMATS[source.format], Extracted):
        return source
    if source.format != "file" or source.is_forced:
        return None
    try:
        with open(source.path, "rb", buffering=0) as raw:
            head = raw.read(HEAD_BYTES)
            if (compression := compression_of(head)) != "none":
                raw.seek(0)
                head = ByteStream(raw, compression).read(HEAD_BYTES)
    except (OSError, StreamFault):
        return None  # reported when it is read
    return replace(source, format="document") if is_extracted(head, source.name) else None
