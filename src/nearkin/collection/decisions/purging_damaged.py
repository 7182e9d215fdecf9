"""Purging in a damaged collection: rows that may belong to the named documents, and texts that lost their documents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, exists, func, select, update

from nearkin.collection.stored.document_rows import DocumentRow
from nearkin.errors import CollectionError
from nearkin.store import integrity
from nearkin.store.bulk import is_storable, named
from nearkin.store.checksums import checksum, covered, key_bits
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
    changed, rows, texts = set[int](), list[DocumentRow](), set(lost)
    for values, stored, is_current in _changed_rows(connection):
        changed.add(values[0])
        doc_id = values[_DOC_ID]
        if doc_id not in doc_ids and isinstance(stored, int) and key_bits(doc_id) == stored >> 48:
            continue
        rows.append(DocumentRow._make((*values, is_current)))
        if not _had_one_of(values, stored, lost):
            texts.add(values[_CONTENT])
    return DoubtfulRows(faults, frozenset(changed), rows, existing(connection, texts), len(lost))


def raw_rows(connection: Connection, column: Any, values: Sequence[object]) -> list[DocumentRow]:
    """Return the rows in which a column has one of some values, changed or not."""
    found, columns = list[DocumentRow](), [*(documents.c[name] for name in _COVERED), documents.c.is_current]
    for some in named([value for value in values if not isinstance(value, str) or is_storable(value)]):
        with integrity.any_bytes(connection):
            rows = connection.execute(select(*columns).where(column.in_(some)).order_by(documents.c.row)).all()
        found += [DocumentRow._make(row) for row in rows]
    return found


def erased_before(connection: Connection) -> set[int]:
    """Return the contents that have a row of a purge, changed or not."""
    return set(connection.execute(select(purges.c.content)).scalars())


def end_changed_rows(connection: Connection, rows: Sequence[int], now: str) -> None:
    """Mark changed rows as removed; their checksums stay, so that `nearkin fsck` still reports them."""
    for some in named(rows):
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


def _had_one_of(values: Sequence[Any], stored: Any, lost: Sequence[int]) -> bool:
    """Whether only the text of a row was changed, and was one of those without a document."""
    before, after = values[:_CONTENT], values[_CONTENT + 1 :]
    return any(checksum((*before, one, *after), values[_DOC_ID]) == stored for one in lost)


def existing(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Return those contents that have a row."""
    found = set[int]()
    for some in named(list(numbers)):
        found |= set(connection.execute(select(contents.c.content).where(contents.c.content.in_(some))).scalars())
    return found
