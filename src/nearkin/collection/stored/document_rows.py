"""Rows of documents, each compared with its checksum.

Whatever uses a row of ``documents`` as it is stored reads it here, so that a row that was changed in the store is
reported and not used. A command about some documents reads their rows with `document_rows` or `current_rows`. A command
about all documents calls `refuse_changed_documents` first, in the same snapshot: a query may no longer find a
changed row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, exists, select, true

from nearkin.collection.stored.documents import (
    damaged_row,
    is_newest,
    refuse_damaged_loads,
    refuse_missing_documents,
    refuse_missing_texts,
)
from nearkin.store import integrity
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.checksums import checksum, covered
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import contents, documents, loads, waves
from nearkin.store.seals import Part, documents_of

_CHECKED = covered(documents)
_N_CHECKED = len(_CHECKED)
_DOC_ID, _VERSION, _LOAD, _REMOVED_AT = (_CHECKED.index(name) for name in ("doc_id", "version", "load", "removed_at"))
_ROWS_AT_A_TIME = 1 << 14
IS_CURRENT = documents.c.is_current.is_(true()).label("is_current")
"""True only for the stored value 1; SQLite accepts any integer."""


class DocumentRow(NamedTuple):
    """A version of a document as it was stored: its row is unchanged."""

    row: int
    doc_id: str
    version: int
    content: int
    load: int
    source: str
    line: int
    removed_at: str | None
    is_current: bool


def refuse_changed_documents(connection: Connection) -> None:
    """Compare every row of documents with its checksum, and the rows of every wave with its seal.

    Raises
    ------
    CollectionError
        A row was changed, or is missing; or one of waves or loads, or a text is missing.
    """
    refuse_damaged_loads(connection)
    refuse_missing_texts(connection)
    names: dict[int, str] = dict(connection.execute(select(waves.c.wave, waves.c.name)).all())
    parts = {wave: Part() for wave in names}
    part_of = {load: parts[wave] for load, wave in connection.execute(select(loads.c.load, loads.c.wave))}
    query, last = _rows().order_by(documents.c.row).limit(_ROWS_AT_A_TIME), None
    while rows := connection.execute(query if last is None else query.where(documents.c.row > last)).all():
        for row in rows:
            _refuse_changed(row)
            part_of[row[_LOAD]].take(row[_N_CHECKED])
        last = rows[-1][0]
    integrity.refuse_unlike_seals(
        connection,
        {documents_of(wave): part for wave, part in parts.items()},
        {documents_of(wave): integrity.documents_name(name) for wave, name in names.items()},
    )


def refuse_omitted_documents(connection: Connection) -> None:
    """Refuse to list or count documents if rows are missing, or a current document is not marked as current.

    The rows are counted and not compared, so that a list of a few of many documents stays fast.

    Raises
    ------
    CollectionError
    """
    refuse_missing_documents(connection)
    found = connection.execute(select(documents.c.doc_id, documents.c.version).where(_is_hidden()).limit(1)).first()
    if found is not None:
        raise damaged_row(found.doc_id, found.version)


def document_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return the rows, in order, in which a column of ``documents`` has one of some values, of all versions.

    Raises
    ------
    CollectionError
        A row was changed, or the values are contents and one has lost its documents.
    """
    wanted = list(dict.fromkeys(value for value in values if not isinstance(value, str) or is_storable(value)))
    found = [one for some in in_slices(wanted) for one in rows_where(connection, column.in_(some))]
    if column is documents.c.content:
        refuse_lost(connection, set(wanted) - {one.content for one in found})
    return sorted(found)


def current_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return those rows of `document_rows` that are current."""
    return [one for one in document_rows(connection, column, values) if one.is_current]


def rows_where(connection: Connection, condition: ColumnElement[bool] | None = None) -> Iterator[DocumentRow]:
    """Yield the rows that meet a condition, in order; one that was changed may meet another one.

    Raises
    ------
    CollectionError
        A row was changed.
    """
    query = _rows().where(true() if condition is None else condition).order_by(documents.c.row)
    for row in connection.execute(query).all():
        _refuse_changed(row)
        yield DocumentRow._make((*row[:_N_CHECKED], row[_N_CHECKED + 1]))


def refuse_lost(connection: Connection, numbers: Iterable[int]) -> None:
    """Refuse to omit texts without any document: each was stored with one, whose row has another text now.

    Raises
    ------
    CollectionError
    """
    has_one = exists().where(documents.c.content == contents.c.content)
    for some in in_slices(sorted(numbers)):
        is_lost = contents.c.content.in_(some) & ~has_one
        if connection.execute(select(contents.c.content).where(is_lost).limit(1)).first() is not None:
            refuse_changed_documents(connection)  # names the row
            raise damaged_collection("the row of a document is missing from the database")


def is_current(connection: Connection, doc_id: str) -> bool:
    """Whether there is a current document with an id."""
    return doc_id in current_ids(connection, [doc_id])


def current_ids(connection: Connection, doc_ids: Iterable[str]) -> set[str]:
    """Return those ids that have a current document.

    Raises
    ------
    CollectionError
        The row of one was changed.
    """
    return {one.doc_id for one in current_rows(connection, documents.c.doc_id, doc_ids)}


def current_ids_among_known(connection: Connection, doc_ids: Iterable[str]) -> set[str]:
    """Return those ids that have a current document; each of them had a document once, so it still has a row.

    Raises
    ------
    CollectionError
        The row of one was changed, also if its id was.
    """
    return set(current_contents_among_known(connection, doc_ids))


def current_contents_among_known(connection: Connection, doc_ids: Iterable[str]) -> dict[str, int]:
    """Return the contents of those ids that have a current document; see `current_ids_among_known`."""
    wanted = set(doc_ids)
    found = document_rows(connection, documents.c.doc_id, wanted)
    if wanted - {one.doc_id for one in found}:
        refuse_changed_documents(connection)
    return {one.doc_id: one.content for one in found if one.is_current}


def contents_of_current(connection: Connection) -> dict[str, int]:
    """Return the content of each current document, in the order in which they were added.

    Raises
    ------
    CollectionError
        A row was changed.
    """
    return {one.doc_id: one.content for one in rows_where(connection) if one.is_current}


def refuse_hidden(connection: Connection, numbers: Sequence[int]) -> None:
    """Refuse to omit a current document with one of these contents that the store fails to return.

    Raises
    ------
    CollectionError
        The newest version of a document is neither current nor removed, or its text is missing, or a text has lost
        its documents.
    """
    refuse_lost(connection, numbers)
    for some in in_slices(numbers):
        found = connection.execute(_hidden().where(documents.c.content.in_(some)).limit(1)).first()
        if found is not None and found.is_current:
            raise damaged_collection(f"the text of document {found.doc_id!r} is missing from the database")
        if found is not None:
            raise damaged_row(found.doc_id, found.version)


@functools.cache
def _hidden() -> Select[Any]:
    """Return the query for hidden documents: to make it takes longer than to answer it."""
    has_no_text = documents.c.is_current & ~exists().where(contents.c.content == documents.c.content)
    return select(documents.c.doc_id, documents.c.version, documents.c.is_current).where(_is_hidden() | has_no_text)


def _is_hidden() -> ColumnElement[bool]:
    """Return the condition for the newest versions that are neither current nor removed."""
    # SQLite stores any integer, and only 1 is current in a condition
    return documents.c.is_current.is_not(true()) & documents.c.removed_at.is_(None) & is_newest()


def _rows() -> Select[Any]:
    return select(*(documents.c[name] for name in _CHECKED), documents.c.checksum, IS_CURRENT, is_newest())


def _refuse_changed(row: Sequence[Any]) -> None:
    doc_id, removed_at = row[_DOC_ID], row[_REMOVED_AT]
    stored, is_current, is_newest_one = row[_N_CHECKED:]
    should_be_current = removed_at is None and is_newest_one
    if checksum(row[:_N_CHECKED], doc_id) != stored or is_current != should_be_current:
        raise damaged_row(doc_id, row[_VERSION])
