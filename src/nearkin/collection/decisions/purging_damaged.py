"""Purging in a damaged collection: rows that may belong to the named documents, and texts that lost their documents."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, exists, func, select, update

from nearkin.collection.stored.document_rows import DocumentRow
from nearkin.errors import CollectionError
from nearkin.store import integrity
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.checksums import checksum, checksum_with, covered, key_bits
from nearkin.store.schema import contents, documents, purges

_COVERED = covered(documents)
_DOC_ID, _CONTENT = _COVERED.index("doc_id"), _COVERED.index("content")
_ROWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, slots=True)
class DoubtfulRows:
    """Rows and texts that a purge of a damaged collection erases besides the undamaged rows of the named documents.

    Parameters
    ----------
    faults : tuple of str
        Damage that `nearkin fsck` cannot repair.
    changed : frozenset of int
        Rows of documents that were changed.
    rows : list of DocumentRow
        Those of them that belong to the named documents, or may do so.
    texts : set of int
        Contents of these rows, and contents without a document.
    n_without_document : int
        Number of contents without a document.
    """

    faults: tuple[str, ...]
    changed: frozenset[int]
    rows: list[DocumentRow]
    texts: set[int]
    n_without_document: int


def doubtful_rows(connection: Connection, doc_ids: Collection[str]) -> DoubtfulRows:
    """Find the rows that may belong to some documents, and the texts that may have been theirs.

    A changed row is that of another document only if its checksum still belongs to its id, by the 16 bits of an id.

    Raises
    ------
    CollectionError
        `nearkin fsck` can repair rows, and should do so first.
    """
    found = integrity.check(connection)
    if found.fixes or found.is_current:
        raise CollectionError(
            "Some damaged rows can be repaired. Run nearkin fsck COLLECTION first. Nothing was erased."
        )
    faults = (*found.faults, *integrity.dangling(connection))
    lost = _without_document(connection) if faults else []
    changed, rows, texts, lost_texts = set[int](), list[DocumentRow](), set(lost), LostTexts(lost)
    for values, stored, is_current in _changed_rows(connection):
        changed.add(values[0])
        doc_id = values[_DOC_ID]
        if doc_id not in doc_ids and isinstance(stored, int) and key_bits(doc_id) == stored >> 48:
            continue
        rows.append(DocumentRow._make((*values, is_current)))
        if not lost_texts.had_one(values, stored):
            texts.add(values[_CONTENT])
    return DoubtfulRows(faults, frozenset(changed), rows, existing(connection, texts), len(lost))


def raw_rows(connection: Connection, column: Any, values: Sequence[object]) -> list[DocumentRow]:
    """Return the rows in which a column has one of some values, changed or not."""
    found, columns = list[DocumentRow](), [*(documents.c[name] for name in _COVERED), documents.c.is_current]
    for some in in_slices([value for value in values if not isinstance(value, str) or is_storable(value)]):
        with integrity.any_bytes(connection):
            rows = connection.execute(select(*columns).where(column.in_(some)).order_by(documents.c.row)).all()
        found += [DocumentRow._make(row) for row in rows]
    return found


def erased_before(connection: Connection) -> set[int]:
    """Return the contents that have a row of a purge, changed or not."""
    return set(connection.execute(select(purges.c.content)).scalars())


def end_changed_rows(connection: Connection, rows: Sequence[int], now: str) -> None:
    """Mark changed rows as removed; their checksums stay, so that `nearkin fsck` still reports them."""
    for some in in_slices(rows):
        removed_at = func.coalesce(documents.c.removed_at, now)
        connection.execute(
            update(documents).where(documents.c.row.in_(some)).values(is_current=False, removed_at=removed_at)
        )


def _changed_rows(connection: Connection) -> Iterator[tuple[Sequence[Any], Any, bool]]:
    columns = [*(documents.c[name] for name in _COVERED), documents.c.checksum, documents.c.is_current]
    query, last = select(*columns).order_by(documents.c.row).limit(_ROWS_AT_A_TIME), None
    while True:
        with integrity.any_bytes(connection):
            rows = connection.execute(query if last is None else query.where(documents.c.row > last)).all()
        for *values, stored, is_current in rows:
            if checksum(values, values[_DOC_ID]) != stored:
                yield values, stored, is_current
        if not rows:
            return
        last = rows[-1][0]


def _without_document(connection: Connection) -> list[int]:
    """Return the contents without any document that were not erased before."""
    has_one = exists().where(documents.c.content == contents.c.content)
    is_erased = exists().where(purges.c.content == contents.c.content)
    query = select(contents.c.content).where(~has_one, ~is_erased).order_by(contents.c.content)
    return list(connection.execute(query).scalars())


class LostTexts:
    """Texts without a document, one of which a changed row may have had.

    Texts are numbered in the order of the rows that brought them. The search for the text of a row therefore begins
    where the rows found before lead to expect it, so that a row is compared with few texts. Only a copy of an earlier
    document, and a row of which more was changed, are compared with many.

    Attributes
    ----------
    n_compared : int
        Number of texts that were compared so far.
    """

    def __init__(self, contents: Sequence[int]) -> None:
        self._contents = sorted(contents)
        self._last_row, self._last_content = 0, -1
        self.n_compared = 0

    def had_one(self, values: Sequence[Any], stored: Any) -> bool:
        """Whether only the text of a row was changed, and was one of these.

        Parameters
        ----------
        values : sequence
            Current values of the covered columns.
        stored : object
            The checksum of the row.
        """
        row, doc_id = values[0], values[_DOC_ID]
        if not isinstance(stored, int) or stored >> 48 != key_bits(doc_id) or not isinstance(row, int):
            return False  # its id, checksum or number was changed, too
        own = checksum_with(values, _CONTENT, doc_id)
        for content in self._nearest_to(self._expected(row)):
            self.n_compared += 1
            if own(content) == stored:
                if content > self._last_content:  # else it is a copy of an earlier document
                    self._last_row, self._last_content = row, content
                return True
        return False

    def _expected(self, row: int) -> int:
        """Return the content that a row brought if those since the last row found brought as many as those before."""
        texts_per_row = (self._last_content + 1) / (self._last_row + 1) if self._last_content >= 0 else 1.0
        return self._last_content + max(1, round((row - self._last_row) * texts_per_row))

    def _nearest_to(self, expected: int) -> Iterator[int]:
        """Yield the contents, from an expected number outwards."""
        above = bisect_left(self._contents, expected)
        below = above - 1
        while below >= 0 or above < len(self._contents):
            if above < len(self._contents):
                yield self._contents[above]
                above += 1
            if below >= 0:
                yield self._contents[below]
                below -= 1


def existing(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Return those contents that have a row."""
    found = set[int]()
    for some in in_slices(list(numbers)):
        found |= set(connection.execute(select(contents.c.content).where(contents.c.content.in_(some))).scalars())
    return found
