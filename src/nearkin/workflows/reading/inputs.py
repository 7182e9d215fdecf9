"""Inputs of documents, as the reading step sees them.

An input is one file of many records, many files of few documents, a table in memory, or data stored by Nearkin.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.paths import STDIN, printable, shown_path
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.documents.faults import problem_of
from nearkin.stages.documents.formats import FORMATS, is_of_documents
from nearkin.stages.documents.head import unreadable
from nearkin.stages.documents.members import InnerDocument
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.readers.extracted import Extracted
from nearkin.stages.documents.rows import IdType, RowList, one_batch
from nearkin.stages.documents.source import OpenedSource, Source, no_check
from nearkin.workflows.reading.extracting import FileToRead, ahead_of_reading

if TYPE_CHECKING:
    from nearkin.manifests.stored import InputFile
    from nearkin.stages.documents.extraction.nodes import ExtractedNode


BATCH_BYTES = 8 << 20


class Input(Protocol):
    """Input of documents."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its sources, for messages and for documents without an id."""

    @property
    def size_bytes(self) -> int:
        """Total for the progress of reading; 0 if unknown."""

    def batches(self, progress: Progress) -> Iterable[tuple[pa.RecordBatch, I64 | int]]:
        """Return batches of `DOCUMENTS_SCHEMA`, the same ones every time.

        With each comes the index of its source in `names`, or an array of the index of each row.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """File of records, or standard input."""

    source: Source
    keep_column: str | None = None
    encoding: str = "utf-8"
    stdin: BinaryIO | None = None
    check: Callable[[Source, Sequence[str]], None] = no_check
    """Refuses columns that are not known before the file is read; see `read_batches`."""
    carry: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the file."""
        return (self.source.name,)

    @property
    def size_bytes(self) -> int:
        """Size of the stored file."""
        return self.source.size_bytes

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield the batches of the reader."""
        for batch in read_batches(
            self.source,
            batch_bytes=BATCH_BYTES,
            keep_column=self.keep_column,
            progress=progress.advance,
            stdin=self.stdin,
            encoding=self.encoding,
            note=progress.say,
            check=self.check,
            carry=self.carry,
        ):
            yield batch, 0


@dataclass(frozen=True, slots=True)
class LooseFilesInput:
    """Files with one or a few documents each, of which many make a batch.

    Parameters
    ----------
    sources : tuple of Source
    encoding : str
    n_workers : int, optional
        Processes that extract texts; by default one for each processor.
    n_files_done, n_documents_done : int
        The batches begin after this many files, and after this many documents of the next file.
    """

    sources: tuple[Source, ...]
    encoding: str = "utf-8"
    n_workers: int | None = None
    n_files_done: int = 0
    n_documents_done: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(source.name for source in self.sources)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the files in results; a file that shares its name with another has its path."""
        return tuple(source.place or source.name for source in self.sources)

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(source.size_bytes for source in self.sources)

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, I64]]:
        """Yield the documents of some thousand files at a time, or of fewer long files."""
        held = JoinedBatches(BATCH_BYTES)
        held.skip(self.n_documents_done)
        done, rest = self.sources[: self.n_files_done], self.sources[self.n_files_done :]
        progress.advance(sum(source.size_bytes for source in done))
        with ahead_of_reading(rest, self.encoding, self.n_workers) as files:
            for index, file in enumerate(files, self.n_files_done):
                for _ in self._read(file, index, held, progress):
                    if held.is_full:
                        yield held.take()
        if len(held):
            yield held.take()

    def _read(self, file: FileToRead, index: int, held: JoinedBatches, progress: Progress) -> Iterator[None]:
        """Add the documents of a file, and yield after each of them or after some.

        A file that cannot be opened becomes one unreadable document.
        """
        source = file.source
        try:
            if file.nodes is not None:
                for number, one in enumerate(self._extracted(file, file.nodes, progress), 1):
                    held.add(number, one, index)
                    yield
                return
            for batch in read_batches(
                source,
                batch_bytes=BATCH_BYTES,
                progress=progress.advance,
                encoding=self.encoding,
                content=file.content,
            ):
                held.add_batch(batch, index)
                yield
        except SourceError as error:
            problem = str(error).removeprefix(f"{source.name}: ").rstrip(".")
            held.add(1, InnerDocument(source.name, problem=problem_of("damaged", problem)), index)
            yield

    def _extracted(
        self, file: FileToRead, nodes: Iterator[ExtractedNode], progress: Progress
    ) -> Iterator[InnerDocument]:
        """Yield what workers extracted from a file."""
        form = cast("Extracted", FORMATS[file.source.format].reader)
        opened = OpenedSource(
            source=file.source,
            raw=io.BytesIO(),  # a worker reads the file
            batch_bytes=BATCH_BYTES,
            keep=None,
            progress=progress.advance,
            encoding=self.encoding,
            note=progress.say,
            nodes=nodes,
        )
        try:
            yield from form.whole_documents(opened)
        except OSError as error:
            raise unreadable(file.source.name, error) from error


class StoredDocuments(Protocol):
    """Documents of a collection, of a run, or in the memory of a program."""

    def __len__(self) -> int:
        """Return the number of documents."""

    @property
    def size_bytes(self) -> int:
        """Total for the progress of reading."""

    @property
    def digest(self) -> str:
        """SHA-256 that identifies the documents; it changes if something was written since."""

    @property
    def end_row(self) -> int | None:
        """Upper limit of the numbers of a collection's documents in its store."""

    def state(self) -> str:
        """Return the current state, which must not change while a run reads the documents."""

    def keeping(self, keep_column: str | None, name: str) -> StoredDocuments:
        """Return the documents with the values of a column to keep by; ``name`` is for messages.

        Raises
        ------
        SourceError
            There is no such column.
        """

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield batches of `DOCUMENTS_SCHEMA`, always with the same documents."""


@dataclass(frozen=True, slots=True)
class StoredInput:
    """Stored documents as an `Input`.

    Parameters
    ----------
    documents : StoredDocuments
    name : str
        Name of the collection, of the directory of the run, or of the table in memory.
    """

    documents: StoredDocuments
    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The single name."""
        return (self.name,)

    @property
    def size_bytes(self) -> int:
        """Size of the data to read."""
        return self.documents.size_bytes

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Yield some documents at a time; all are from one source."""
        for batch in self.documents.batches(progress):
            yield batch, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource(Source):
    """Collection, results of a run, or documents in memory, given instead of files.

    ``path`` is the name in messages and manifests: a URL without the password.
    """

    documents: StoredDocuments


def places_in(inputs: Iterable[Input]) -> list[str]:
    """Return the names of all sources in results, in order."""
    named = (one.places if isinstance(one, LooseFilesInput) else one.names for one in inputs)
    return [printable(place) for places in named for place in places]


def sides_apart(*sides: Sequence[Input]) -> list[tuple[Input, ...]]:
    """Return the inputs of several sides; a file of documents that shares its name with any other has its path."""
    names, paths = list[str](), list[str]()
    for one in chain.from_iterable(sides):
        names += one.names
        paths += (shown_path(source.path) for source in one.sources) if isinstance(one, LooseFilesInput) else one.names
    distinct = iter(distinct_places(names, paths))
    return [tuple(_with_distinct(one, distinct) for one in side) for side in sides]


def _with_distinct(one: Input, places: Iterator[str]) -> Input:
    """Return an input whose files have the next places."""
    own = [next(places) for _ in one.names]
    if not isinstance(one, LooseFilesInput) or own == list(one.places):
        return one
    placed = (replace(source, place=place) for source, place in zip(one.sources, own, strict=True))
    return replace(one, sources=tuple(placed))


def file_inputs(
    sources: Sequence[Source], *, keep_column: str | None = None, encoding: str, stdin: BinaryIO | None = None
) -> tuple[Input, ...]:
    """Return the sources as inputs, in order; consecutive files of documents become one input."""
    inputs: list[Input] = []
    loose: list[Source] = []
    for source in with_places(sources):
        if is_loose(source):
            loose.append(source)
            continue
        if loose:
            inputs.append(LooseFilesInput(tuple(loose), encoding))
            loose = []
        if isinstance(source, StoredSource):
            inputs.append(StoredInput(source.documents.keeping(keep_column, source.name), source.name))
            continue
        inputs.append(FileInput(source=source, keep_column=keep_column, encoding=encoding, stdin=stdin))
    if loose:
        inputs.append(LooseFilesInput(tuple(loose), encoding))
    return tuple(inputs)


_DOCUMENTS_A_BATCH = 2048
_ROW_BYTES = 200
"""About the size of a row without its text."""


class JoinedBatches:
    """Documents of the next batch, in order, each with the index of its file.

    Parameters
    ----------
    batch_bytes : int
        Approximate maximum of a batch.
    """

    def __init__(self, batch_bytes: int) -> None:
        self._batch_bytes = batch_bytes
        self._batches: list[pa.RecordBatch] = []
        self._rows = RowList()
        self._owners: list[int] = []
        self._n_bytes = 0
        self._n_to_skip = 0

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def is_full(self) -> bool:
        """Whether the batch is large enough to be taken."""
        return self._n_bytes >= self._batch_bytes or len(self) >= _DOCUMENTS_A_BATCH

    def skip(self, n: int) -> None:
        """Leave out the next ``n`` documents."""
        self._n_to_skip = n

    def add_batch(self, batch: pa.RecordBatch, index: int) -> None:
        """Add a batch of documents."""
        n_skipped = min(self._n_to_skip, batch.num_rows)
        self._n_to_skip -= n_skipped
        batch = batch.slice(n_skipped)
        if not batch.num_rows:
            return
        self._settle()
        self._batches.append(batch)
        self._owners += [index] * batch.num_rows
        self._n_bytes += batch.nbytes

    def add(self, number: int, one: InnerDocument, index: int) -> None:
        """Add a document with its number in its file."""
        if self._n_to_skip:
            self._n_to_skip -= 1
            return
        self._rows.add(number, one.doc_id, one.text, one.problem, parent=one.parent, origin=one.origin)
        self._owners.append(index)
        self._n_bytes += len(one.text or b"") + _ROW_BYTES

    def take(self) -> tuple[pa.RecordBatch, I64]:
        """Return all documents as one batch, with the index of the file of each."""
        self._settle()
        joined, owners = _joined(self._batches), np.array(self._owners)
        self._batches, self._owners, self._n_bytes = [], [], 0
        return joined, owners

    def _settle(self) -> None:
        """Make a batch of the rows."""
        if self._rows.lines:
            self._batches.append(one_batch([self._rows.piece()], IdType()))
            self._rows = RowList()


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def is_loose(source: Source | InputFile) -> bool:
    """Whether a source is a file of documents, which is named by its path below a given folder."""
    return is_of_documents(source.format) and source.path != STDIN


def with_places(sources: Sequence[Source]) -> list[Source]:
    """Return the sources; those that share a name have their path as ``place``."""
    return [
        source if place == source.name else replace(source, place=place)
        for source, place in zip(sources, _places(sources), strict=True)
    ]


def places_of_files(files: Sequence[InputFile]) -> list[str]:
    """Return the place of each file of a manifest, as `with_places` gave it."""
    return _places(files)


def distinct_places(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the names, but the paths of files that share a name, or whose name is the path of another file.

    Examples
    --------
    >>> distinct_places(["a.txt", "b.txt", "a.txt"], ["x/a.txt", "x/b.txt", "y/a.txt"])
    ['x/a.txt', 'b.txt', 'y/a.txt']
    >>> distinct_places(["y/a.txt", "a.txt"], ["x/y/a.txt", "y/a.txt"])
    ['x/y/a.txt', 'a.txt']
    """
    places, here = list(names), os.path.join(os.getcwd(), "")
    opened = [_from_here(path, here) for path in paths]
    n_opened = Counter(opened)
    for i, (name, path) in enumerate(zip(names, paths, strict=True)):
        if name == path:
            continue
        meant = _from_here(name, here)
        if n_opened[meant] > (meant == opened[i]):
            places[i] = path
    while True:
        n_called = Counter(places)
        shared = [i for i, place in enumerate(places) if n_called[place] > 1 and place != paths[i]]
        if not shared:
            return places
        for i in shared:
            places[i] = paths[i]


def _from_here(path: str, here: str) -> str:
    """Return a path in the one form that all paths of a file have: below the working directory, or absolute."""
    return os.path.normpath(os.path.join(here, path)).removeprefix(here)


def _places(files: Sequence[Source | InputFile]) -> list[str]:
    names = [one.name or one.path for one in files]
    paths = [
        name if not is_loose(one) else shown_path(one.path) if isinstance(one, Source) else one.path
        for one, name in zip(files, names, strict=True)
    ]
    return distinct_places(names, paths)
