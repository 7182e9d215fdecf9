"""Current documents of a collection at one time, in batches like those of a file reader.

Numbers of documents and texts never change, so the same documents can be read at any later time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, exists, select

from nearkin.collection.listing.exceptions import StoredException, exceptions_without_document
from nearkin.collection.stored.documents import document_rows
from nearkin.collection.stored.origins import IS_UNREAD, OriginValues, as_arrow, origins_of, own_values
from nearkin.errors import CollectionError, SourceError
from nearkin.formats import zstd
from nearkin.nouns import agreeing, counted
from nearkin.records import I64, ORIGIN_TYPE
from nearkin.runs.progress import Progress
from nearkin.stages.documents.rows import IdType, documents_batch
from nearkin.store.bulk import MAX_NAMED, in_slices
from nearkin.store.place import FILE, Place
from nearkin.store.schema import contents, documents, origins
from nearkin.store.store import Access, Store
from nearkin.workflows.reading.inputs import BATCH_BYTES, StoredDocuments

_ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionDocuments(StoredDocuments):
    """Documents of a collection that were current at one time.

    Parameters
    ----------
    rows, contents, sizes : int64 arrays, shape (n_documents,)
        Numbers of the documents in the store, ascending; numbers of their texts; bytes of the texts.
    """

    place: Place
    collection: str
    rows: I64
    contents: I64
    sizes: I64
    is_read_only: bool = False
    unread: I64 = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def now(
        cls, place: Place, *, end_row: int | None = None, is_read_only: bool = False, with_unread: bool = False
    ) -> CollectionDocuments:
        """Record the current documents; with ``end_row`` only those with lower numbers.

        Files that gave no text become documents with a problem ``with_unread``.
        """
        with _opened(place, is_read_only) as store, store.reading() as connection:
            rows, numbers, sizes = _current(connection, end_row)
            return cls(
                place=place,
                collection=store.facts["collection"],
                rows=rows,
                contents=numbers,
                sizes=sizes,
                is_read_only=is_read_only,
                unread=_unread(connection) if with_unread else np.zeros(0, np.int64),
            )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size_bytes(self) -> int:
        """Size of all texts, counted for each copy."""
        return int(self.sizes.sum())

    @property
    def digest(self) -> str:
        """SHA-256 of the collection's own id, and of the numbers and sizes of its documents and texts."""
        checksum = hashlib.sha256(self.collection.encode())
        for column in (self.rows, self.contents, self.sizes, self.unread):
            checksum.update(column.astype("<i8").tobytes())
        return checksum.hexdigest()

    @property
    def end_row(self) -> int:
        """Number after the last document's."""
        return int(self.rows[-1]) + 1 if len(self.rows) else 0

    def keeping(self, keep_column: str | None, name: str) -> CollectionDocuments:
        """Return the documents; SourceError for a column to keep by, as there is none."""
        if keep_column is not None:
            raise SourceError(
                f"{name}: a collection has no column '{keep_column}' to keep by, only ids and texts. "
                "Use --keep longest, shortest or first."
            )
        return self

    def batches(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        """Yield batches of `DOCUMENTS_SCHEMA`; a damaged text is a problem of its document."""
        with self.opened() as store:
            for block in self._parts():
                with store.reading() as connection:
                    batch = self._batch(connection, block)
                yield batch
                progress.advance(int(self.sizes[block].sum()))
            for numbers in in_slices(self.unread.tolist()):
                with store.reading() as connection:
                    batch = _unread_batch(connection, numbers)
                yield batch

    def exceptions(self) -> Sequence[StoredException]:
        """Return the exceptions of files that gave no document."""
        with self.opened() as store, store.reading() as connection:
            return exceptions_without_document(connection)

    def opened(self) -> Store:
        """Open the collection to read from it."""
        return _opened(self.place, self.is_read_only)

    def _parts(self) -> Iterator[slice]:
        running, start = np.cumsum(self.sizes), 0
        while start < len(self):
            before = int(running[start - 1]) if start else 0
            end = int(np.searchsorted(running, before + BATCH_BYTES, side="right"))
            end = min(max(end, start + 1), start + MAX_NAMED)
            yield slice(start, end)
            start = end

    def _batch(self, connection: Connection, block: slice) -> pa.RecordBatch:
        rows = self.rows[block].tolist()
        columns = documents.c.row, documents.c.doc_id, contents.c.digest, contents.c.text
        joined = documents.outerjoin(contents, documents.c.content == contents.c.content)
        query = select(*columns).select_from(joined).where(documents.c.row.in_(rows)).order_by(documents.c.row)
        records = connection.execute(query).all()
        document_rows(connection, documents.c.row, rows)  # refuses those that were changed since `now`
        if len(records) != len(rows):
            n_gone = len(rows) - len(records)
            raise CollectionError(
                f"{counted(n_gone, 'document')} of {self.place} {agreeing(n_gone, 'is', 'are')} missing from its "
                f"store. Run nearkin fsck COLLECTION, and restore the database from a backup."
            )
        texts = [_text(digest, text) for _, _, digest, text in records]
        problem = "damaged: its stored text is damaged: run nearkin fsck COLLECTION"
        known = origins_of(connection, rows)
        parents, origins = _origin_columns([known.get(row) for row in rows])
        return documents_batch(
            IdType(is_string=True), doc_id=pa.array([doc_id for _, doc_id, *_ in records], pa.large_string()),
            text=pa.array(texts, pa.large_binary()), line=self.rows[block] + 1, parent=parents, origin=origins,
            problem=pa.array([None if text is not None else problem for text in texts], pa.large_string()),
        )  # fmt: skip


def is_without_text() -> ColumnElement[bool]:
    """Return the condition for origins of files that gave no text, and have no older one either."""
    has_text = exists().where((documents.c.doc_id == origins.c.doc_id) & documents.c.is_current)
    return IS_UNREAD & ~has_text


def _unread(connection: Connection) -> I64:
    query = select(origins.c.number).where(is_without_text()).order_by(origins.c.number)
    return np.array(connection.execute(query).scalars().all(), np.int64)


def _unread_batch(connection: Connection, numbers: Sequence[int]) -> pa.RecordBatch:
    query = select(origins).where(origins.c.number.in_(numbers)).order_by(origins.c.number)
    records = connection.execute(query).all()
    if len(records) < len(numbers):
        raise CollectionError("The exceptions of the collection were changed while it was read. Run the command again.")
    parents, origin_column = _origin_columns([own_values(row) for row in records])
    problems = [f"{row.exception}: {row.sentence or row.exception}" for row in records]
    return documents_batch(
        IdType(is_string=True), doc_id=pa.array([row.doc_id for row in records], pa.large_string()),
        text=pa.nulls(len(records), pa.large_binary()), line=np.array([row.number + 1 for row in records]),
        problem=pa.array(problems, pa.large_string()), parent=parents, origin=origin_column,
    )  # fmt: skip


def _origin_columns(values: Sequence[OriginValues | None]) -> tuple[pa.Array, pa.Array]:
    pairs = [(None, None) if value is None else as_arrow(value) for value in values]
    parents = pa.array([parent for parent, _ in pairs], pa.large_string())
    return parents, pa.array([origin for _, origin in pairs], ORIGIN_TYPE)


def _opened(place: Place, is_read_only: bool) -> Store:
    directory = place.directory
    if directory is not None and (directory / FILE).is_file():
        is_read_only |= not os.access(directory, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    return Store.open(place, access=Access(is_read_only=is_read_only))


def _text(digest: bytes, stored: bytes) -> bytes | None:
    try:
        data = zstd.decompress(stored)
        return data if hashlib.sha256(data).digest() == digest else None
    except (zstd.ZstdError, TypeError, ValueError, MemoryError):
        return None


def _current(connection: Connection, end_row: int | None) -> tuple[I64, I64, I64]:
    columns = documents.c.row, documents.c.content, contents.c.n_bytes
    joined = documents.outerjoin(contents, documents.c.content == contents.c.content)
    query = select(*columns).select_from(joined).where(documents.c.is_current)
    if end_row is not None:
        query = query.where(documents.c.row < end_row)
    parts, last = [np.zeros((0, 3), np.int64)], -1
    while True:
        page = query.where(documents.c.row > last).order_by(documents.c.row).limit(_ROWS_AT_A_TIME)
        records = connection.execute(page).all()
        if not records:
            break
        parts.append(np.array([(row, content, n_bytes or 0) for row, content, n_bytes in records], np.int64))
        last = int(records[-1][0])
    rows, numbers, sizes = np.concatenate(parts).T
    return np.ascontiguousarray(rows), np.ascontiguousarray(numbers), np.ascontiguousarray(sizes)
