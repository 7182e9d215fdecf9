"""What documents are read from, as the reading step sees it.

It is one file of many records, many files of a document or a few, a table in memory, or what Nearkin itself stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.documents.formats import is_of_documents
from nearkin.stages.documents.reader import read_batches
from nearkin.stages.documents.rows import IdType, RowList, one_batch
from nearkin.stages.documents.sources import Source

BATCH_BYTES = 8 << 20
_FILES_A_BATCH = 2048


class Input(Protocol):
    """Something that documents are read from."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its sources: for messages, and for documents without an id."""

    @property
    def size_bytes(self) -> int:
        """What reading counts up to; 0 if that is not known."""

    @property
    def can_be_read_again(self) -> bool:
        """The same batches come a second time: not from a pipe."""

    def batches(self, progress: Progress) -> Iterable[tuple[pa.RecordBatch, I64 | int]]:
        """Batches of `DOCUMENTS_SCHEMA`, the same ones every time.

        With each comes the index of its source in `names`, or an array with one for each row.
        """


@dataclass(frozen=True, slots=True)
class FileInput:
    """A file of records, or standard input."""

    source: Source
    keep_column: str | None = None
    encoding: str = "utf-8"
    stdin: BinaryIO | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the file."""
        return (self.source.name,)

    @property
    def size_bytes(self) -> int:
        """Of the file as it lies there."""
        return self.source.size_bytes

    @property
    def can_be_read_again(self) -> bool:
        """Whether this is a file on a disk."""
        return Path(self.source.path).is_file()

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """As the reader gives them."""
        for batch in read_batches(
            self.source,
            batch_bytes=BATCH_BYTES,
            keep_column=self.keep_column,
            progress=progress.advance,
            stdin=self.stdin,
            encoding=self.encoding,
            note=progress.say,
        ):
            yield batch, 0


@dataclass(frozen=True, slots=True)
class LooseFilesInput:
    """Files that are a document each or hold a few, many to a batch."""

    sources: tuple[Source, ...]
    encoding: str = "utf-8"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the files."""
        return tuple(source.name for source in self.sources)

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(source.size_bytes for source in self.sources)

    @property
    def can_be_read_again(self) -> bool:
        """These are files on a disk."""
        return True

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, I64]]:
        """Some thousand files at a time, or fewer that are long."""
        held: list[pa.RecordBatch] = []
        owners: list[int] = []
        held_bytes = 0
        for index, source in enumerate(self.sources):
            for batch in self._read(source, progress):
                held.append(batch)
                owners += [index] * batch.num_rows
                held_bytes += batch.nbytes
                if held_bytes >= BATCH_BYTES or len(held) >= _FILES_A_BATCH:
                    yield _joined(held), np.array(owners)
                    held, owners, held_bytes = [], [], 0
        if held:
            yield _joined(held), np.array(owners)

    def _read(self, source: Source, progress: Progress) -> Iterator[pa.RecordBatch]:
        """One file that cannot be opened is one document that cannot be read, not the end of the run."""
        try:
            yield from read_batches(source, batch_bytes=BATCH_BYTES, progress=progress.advance, encoding=self.encoding)
        except SourceError as error:
            problem = str(error).removeprefix(f"{source.name}: ").rstrip(".")
            rows = RowList()
            rows.add(1, source.name, problem=problem)
            yield one_batch([rows.piece()], IdType())


@dataclass(frozen=True, slots=True)
class TableInput:
    """Documents that are in memory already."""

    held: Sequence[pa.RecordBatch]
    name: str = "table"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the table."""
        return (self.name,)

    @property
    def size_bytes(self) -> int:
        """Of the text and whatever else is read."""
        return sum(batch.nbytes for batch in self.held)

    @property
    def can_be_read_again(self) -> bool:
        """They are held."""
        return True

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The batches that are held."""
        for batch in self.held:
            yield batch, 0
            progress.advance(batch.nbytes)


class StoredDocuments(Protocol):
    """Documents that Nearkin itself stored, in a collection or by a run."""

    def __len__(self) -> int:
        """How many they are."""

    @property
    def size_bytes(self) -> int:
        """What reading them counts up to."""

    @property
    def digest(self) -> str:
        """SHA-256 that tells what is read; another one if something was written since."""

    @property
    def end_row(self) -> int | None:
        """Of a collection: the number in its store that all of its documents are below."""

    def state(self) -> str:
        """What must stay the same while a run reads them, as it is now."""

    def input(self, name: str, *, keep_column: str | None) -> Input:
        """The documents, to be read under this name.

        Raises
        ------
        SourceError
            They have no such column to keep by.
        """

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Batches of `DOCUMENTS_SCHEMA`, always with the same documents."""


@dataclass(frozen=True, slots=True)
class StoredInput:
    """Stored documents as an `Input`.

    Parameters
    ----------
    documents : StoredDocuments
    name : str
        Of the collection, or of the directory of the run.
    """

    documents: StoredDocuments
    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The one name."""
        return (self.name,)

    @property
    def size_bytes(self) -> int:
        """Size of what is read."""
        return self.documents.size_bytes

    @property
    def can_be_read_again(self) -> bool:
        """True: the documents never change."""
        return True

    def batches(self, progress: Progress) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Some documents at a time; all are of one source."""
        for batch in self.documents.batches(progress):
            yield batch, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSource(Source):
    """A collection or the results of a run, named in the place of files.

    ``path`` is what messages and manifests say of it: of a URL all but the password.
    """

    documents: StoredDocuments


def file_inputs(
    sources: Sequence[Source], *, keep_column: str | None = None, encoding: str, stdin: BinaryIO | None = None
) -> tuple[Input, ...]:
    """The sources as inputs, in their order; files of documents that follow one another become one input."""
    inputs: list[Input] = []
    loose: list[Source] = []
    for source in sources:
        if is_of_documents(source.format) and source.path != "-":
            loose.append(source)
            continue
        if loose:
            inputs.append(LooseFilesInput(tuple(loose), encoding))
            loose = []
        if isinstance(source, StoredSource):
            inputs.append(source.documents.input(source.name, keep_column=keep_column))
            continue
        inputs.append(FileInput(source, keep_column, encoding, stdin))
    if loose:
        inputs.append(LooseFilesInput(tuple(loose), encoding))
    return tuple(inputs)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
