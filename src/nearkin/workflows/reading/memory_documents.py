"""Documents that a program holds in memory, as a source: tables, data frames and lists beside files."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import text_buffers
from nearkin.runs.progress import Progress
from nearkin.stages.documents.tables import guess_columns, read_table
from nearkin.workflows.reading.inputs import StoredSource

IN_MEMORY = "table"
"""Format of documents in memory, as manifests name it."""
GivenAgain = Mapping[str, StoredSource]
"""Documents that a program passes again, by the names under which they were read first."""
NONE_GIVEN: GivenAgain = {}


@dataclass(frozen=True, eq=False)  # no slots: the digest is kept
class MemoryDocuments:
    """Documents in memory.

    Parameters
    ----------
    parts : sequence of RecordBatch
        Batches of `DOCUMENTS_SCHEMA`; the values to keep by are those of the column that was named when they were
        read.
    """

    parts: Sequence[pa.RecordBatch]

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self.parts)

    @property
    def size_bytes(self) -> int:
        """Size of the text and of the other columns that are read."""
        return sum(batch.nbytes for batch in self.parts)

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of ids and texts, however they are divided into batches."""
        hashed = hashlib.sha256()
        for name, kind in (("doc_id", pa.large_string()), ("text", pa.large_binary())):
            for batch in self.parts:
                lengths = pc.binary_length(batch[name].cast(kind)).fill_null(-1)
                hashed.update(lengths.to_numpy(zero_copy_only=False).astype("<i8").data)
            for batch in self.parts:
                data, offsets = text_buffers(batch[name].cast(kind))
                hashed.update(data[offsets[0] : offsets[-1]].data)
        return hashed.hexdigest()

    @property
    def end_row(self) -> int | None:
        """None: only collections have one."""
        return None

    def state(self) -> str:
        """Return a constant: Arrow data never changes."""
        return IN_MEMORY

    def keeping(self, keep_column: str | None, name: str) -> MemoryDocuments:
        """Return the documents; the column to keep by was checked when they were read."""
        return self

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield the batches."""
        for batch in self.parts:
            yield batch
            progress.advance(batch.nbytes)


def memory_source(
    table: object,
    name: str = IN_MEMORY,
    *,
    text: str | None = None,
    doc_id: str | None = None,
    keep_column: str | None = None,
    say: Callable[[str], None],
) -> StoredSource:
    """Read documents from memory, as a source beside files.

    Parameters
    ----------
    table : object
        What `read_table` accepts; it is read twice, so it is no iterator.
    name : str
        Name in messages, and prefix of the names of documents without an id.
    text, doc_id, keep_column : str, optional
        Columns; see `read_table`.
    say : callable
        Receives the columns that were guessed, and how many documents have no value to keep by.

    Raises
    ------
    ParameterError
        The documents have no accepted type.
    SourceError
        A column is missing or cannot serve.
    """
    columns = guess_columns(table, text=text, doc_id=doc_id)
    for guess in () if columns is None else columns.guesses:
        say(guess)
    found = MemoryDocuments(tuple(read_table(table, text=text, doc_id=doc_id, keep_column=keep_column, note=say)))
    return StoredSource(
        path=name,
        name=name,
        format=IN_MEMORY,
        text=None if columns is None else columns.text,
        id=None if columns is None else columns.id,
        size_bytes=found.size_bytes,
        documents=found,
    )
