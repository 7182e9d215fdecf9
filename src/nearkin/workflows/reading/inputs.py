"""Sources → batches of documents.

An input is what is read together: a source of many documents, or some thousand files of one or a few documents each.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.paths import STDIN, printable, shown_path
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.documents.extraction.kinds import is_extracted
from nearkin.stages.documents.extraction.messages import ExtractionRequest
from nearkin.stages.documents.formats import FORMATS, has_columns, is_of_documents
from nearkin.stages.documents.reader import HEAD_BYTES, read_batches, unreadable
from nearkin.stages.documents.rows import IdType, problem_batch
from nearkin.stages.documents.rules import StreamFault, problem_of
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream, compression_of, keep_memory

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredException
    from nearkin.manifests.stored import InputFile
    from nearkin.stages.documents.extraction.pool import ExtractionAnswer, ExtractionPool

IN_MEMORY = "table"
"""Format of documents in memory, as manifests name it."""
BATCH_BYTES = 8 << 20
_DOCUMENTS_A_BATCH = 2048
_FILES_AN_INPUT, _BYTES_AN_INPUT = 2048, 256 << 20
"""Files of documents that are read together; a run that was interrupted reads these again."""
_WINDOW, _AHEAD_A_WORKER = 256, 128
"""Files that are examined ahead of reading, and those of each worker that it gets ahead."""


class StoredDocuments:
    """Documents of a collection, of a run, or in the memory of a program."""

    @property
    def digest(self) -> str:
        """SHA-256 that identifies the documents."""
        raise NotImplementedError

    @property
    def size_bytes(self) -> int:
        """Total for the progress of reading; 0 if unknown."""
        return 0

    def __len__(self) -> int:
        """Return the number of documents."""
        raise NotImplementedError

    @property
    def is_unchanged(self) -> bool:
        """Whether the same documents can still be read; those of a collection and in memory never change."""
        return True

    def keeping(self, keep_column: str | None, name: str) -> StoredDocuments:
        """Return the documents with the values of a column to keep by; SourceError if there is none."""
        return self

    def exceptions(self) -> Sequence[StoredException]:
        """Return the stored exceptions that are none of the documents."""
        return ()

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield batches of `DOCUMENTS_SCHEMA`, always with the same documents."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource(Source):
    """Collection, results of a run, or documents in memory, given instead of files."""

    documents: StoredDocuments


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Sources that are read together: one, or consecutive files of one or a few documents each."""

    sources: tuple[Source, ...]
    keep_column: str | None = None
    carry: Sequence[str] = ()
    n_workers: int | None = None

    @property
    def source(self) -> Source:
        """The only source, or the first of many files."""
        return self.sources[0]

    @property
    def is_loose(self) -> bool:
        """Whether this is files of one or a few documents each."""
        return is_loose(self.source)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sources, for messages and for documents without an id."""
        return tuple(source.name for source in self.sources)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the sources in results; a file that shares its name with another has its path."""
        return tuple(printable(source.place or source.name) for source in self.sources)

    @property
    def size_bytes(self) -> int:
        """Total for the progress of reading; 0 if unknown."""
        return sum(source.size_bytes for source in self.sources)

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, I64]]:
        """Yield the same batches of `DOCUMENTS_SCHEMA` every time, with the index of the source of each row."""
        if self.is_loose:
            yield from self._joined(progress)
            return
        documents = self.source.documents if isinstance(self.source, StoredSource) else None
        batches = self._read(self.source, progress) if documents is None else documents.batches(progress)
        for batch in batches:
            if batch.num_rows:
                yield batch, np.zeros(batch.num_rows, np.int64)

    def _read(
        self,
        source: Source,
        progress: Progress,
        content: bytes | None = None,
        answer: ExtractionAnswer | None = None,
    ) -> Iterator[pa.RecordBatch]:
        return read_batches(
            source, batch_bytes=BATCH_BYTES, keep_column=self.keep_column, progress=progress.advance,
            note=progress.say, content=content if answer is None else b"", carry=self.carry,
            nodes=None if answer is None else answer.nodes(),
        )  # fmt: skip

    def _joined(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, I64]]:
        batches, owners, n_bytes, n_documents = list[pa.RecordBatch](), list[I64](), 0, 0
        keep_memory()
        with closing(_files_ahead(self.sources, self.n_workers)) as files:
            for index, (source, content, answer) in enumerate(files):
                for batch in self._readable(source, progress, content, answer):
                    batches.append(batch)
                    owners.append(np.full(batch.num_rows, index, np.int64))
                    n_bytes += batch.nbytes
                    n_documents += batch.num_rows
                    if n_bytes >= BATCH_BYTES or n_documents >= _DOCUMENTS_A_BATCH:
                        yield _one_batch(batches), np.concatenate(owners)
                        batches, owners, n_bytes, n_documents = [], [], 0, 0
        if batches:
            yield _one_batch(batches), np.concatenate(owners)

    def _readable(
        self, source: Source, progress: Progress, content: bytes | None, answer: ExtractionAnswer | None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the documents of a file; one that cannot be opened is an unreadable document."""
        try:
            yield from self._read(source, progress, content, answer)
        except (SourceError, OSError) as error:
            error = unreadable(source.name, error) if isinstance(error, OSError) else error
            problem = str(error).removeprefix(f"{source.name}: ").rstrip(".")
            yield problem_batch(IdType(), 1, problem_of("damaged", problem), source.name)


def _one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def inputs_of(
    sources: Sequence[Source], *, keep_column: str | None = None, carry: Sequence[str] = ()
) -> tuple[Input, ...]:
    """Return the sources as inputs, in order; ``carry`` are columns of those that have columns."""
    inputs = list[Input]()
    for is_of_files, alike in groupby(with_places(sources), key=is_loose):
        if is_of_files:
            inputs += (Input(sources=part) for part in _parted([*alike]))
            continue
        for source in alike:
            if isinstance(source, StoredSource):
                source = replace(source, documents=source.documents.keeping(keep_column, source.name))
            inputs.append(
                Input(sources=(source,), keep_column=keep_column, carry=carry if has_columns(source.format) else ())
            )
    return tuple(inputs)


def _parted(files: Sequence[Source]) -> Iterator[tuple[Source, ...]]:
    first, n_bytes = 0, 0
    for number, file in enumerate(files):
        if number > first and (number - first == _FILES_AN_INPUT or n_bytes + file.size_bytes > _BYTES_AN_INPUT):
            yield tuple(files[first:number])
            first, n_bytes = number, 0
        n_bytes += file.size_bytes
    yield tuple(files[first:])


_Ahead = tuple[Source, bytes | None, "ExtractionAnswer | None"]
"""A file, all bytes of it if it is a short text, and what a worker makes of it if it is extracted."""


def _files_ahead(sources: Sequence[Source], n_workers: int | None) -> Generator[_Ahead]:
    """Yield files in order, while workers already read those after them."""
    coming, waiting, n_begun = iter(sources), deque[_Ahead](), 0
    pool: ExtractionPool | None = None
    try:
        while True:
            while len(waiting) < _WINDOW and (pool is None or n_begun < _AHEAD_A_WORKER * pool.n_workers):
                source = next(coming, None)
                if source is None:
                    break
                source, content = _looked_into(source)
                answer = None
                if FORMATS[source.format].is_extracted:
                    pool = _pool(source, n_workers) if pool is None else pool
                    kind = FORMATS[source.format].reader.kind
                    request = ExtractionRequest(name=source.name, kind=kind, encoding=source.encoding)
                    answer, n_begun = pool.submit(request, source.path), n_begun + 1
                waiting.append((source, content, answer))
            if not waiting:
                return
            yield waiting[0]
            _, _, answer = waiting.popleft()
            if pool is not None and answer is not None:
                pool.drop(answer)
                n_begun -= 1
    finally:
        if pool is not None:
            pool.close()


def _pool(source: Source, n_workers: int | None) -> ExtractionPool:
    from nearkin.stages.documents.extraction.pool import ExtractionPool  # texts need no workers

    return ExtractionPool(n_workers, source.limits, source.ocr)  # these are the same for all sources


def recognised_format(path: str) -> str:
    """Return the format of a file with an unknown suffix: "document" or "file"."""
    return _looked_into(Source(path=path, name=path, format="file"))[0].format


def _looked_into(source: Source) -> tuple[Source, bytes | None]:
    """Return a source with its format by the beginning of the file, and all bytes of a short text."""
    if source.format != "file" or source.is_forced:
        return source, None
    try:
        with open(source.path, "rb", buffering=0) as raw:
            size = os.fstat(raw.fileno()).st_size
            head = raw.read(min(size, HEAD_BYTES) or HEAD_BYTES)  # to reserve 64 KiB takes longer than to read 1
            content = head if len(head) == size else None
            if (compression := compression_of(head)) != "none":
                raw.seek(0)
                head = ByteStream(raw, compression).read(HEAD_BYTES)
    except (OSError, StreamFault):
        return source, None  # reported when it is read
    if is_extracted(head, source.name):
        return replace(source, format="document"), None
    return source, content


def is_loose(source: Source | InputFile) -> bool:
    """Whether a source is a file of documents, which is named by its path below a given folder."""
    return is_of_documents(source.format) and source.path != STDIN


def places_in(inputs: Iterable[Input]) -> list[str]:
    """Return the names of all sources in results, in order."""
    return [place for part in inputs for place in part.places]


def sides_apart(*sides: Sequence[Input]) -> list[tuple[Input, ...]]:
    """Return the inputs of several sides; a file that shares its name with any other has its path."""
    everything = [source for part in chain.from_iterable(sides) for source in part.sources]
    placed = iter(with_places([replace(source, place=None) for source in everything]))
    return [tuple(replace(part, sources=tuple(next(placed) for _ in part.sources)) for part in side) for side in sides]


def with_places(sources: Sequence[Source]) -> list[Source]:
    """Return the sources; those that share a name have their path as ``place``."""
    return [
        source if place == source.name else replace(source, place=place)
        for source, place in zip(sources, places_of_files(sources), strict=True)
    ]


def places_of_files(files: Sequence[Source | InputFile]) -> list[str]:
    """Return the place of each source, or file of a manifest, in results."""
    names = [file.name or file.path for file in files]
    paths = [
        name if not is_loose(file) else shown_path(file.path) if isinstance(file, Source) else file.path
        for file, name in zip(files, names, strict=True)
    ]
    return distinct_places(names, paths)


def distinct_places(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the names, but paths of files that share a name, or whose name is the path of another.

    Examples
    --------
    >>> distinct_places(["a.txt", "b.txt", "a.txt"], ["x/a.txt", "x/b.txt", "y/a.txt"])
    ['x/a.txt', 'b.txt', 'y/a.txt']
    >>> distinct_places(["y/a.txt", "a.txt"], ["x/y/a.txt", "y/a.txt"])
    ['x/y/a.txt', 'a.txt']
    """
    n_called, opened = Counter(names), set(paths)
    return [
        path if name != path and (n_called[name] > 1 or name in opened) else name
        for name, path in zip(names, paths, strict=True)
    ]
