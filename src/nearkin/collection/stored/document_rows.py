"""Rows of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, select, true

from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.schema import documents


class DocumentRow(NamedTuple):
    """A version of a document."""

    row: int
    doc_id: str
    version: int
    content: int
    load: int
    source: str
    line: int
    removed_at: str | None
    is_current: bool


_ROWS = select(*(documents.c[name] for name in DocumentRow._fields)).order_by(documents.c.row)


def document_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return the rows, in order, in which a column of ``documents`` has one of some values, of all versions."""
    wanted = list(dict.fromkeys(value for value in values if not isinstance(value, str) or is_storable(value)))
    return sorted(row for some in in_slices(wanted) for row in rows_where(connection, column.in_(some)))


def current_rows(connection: Connection, column: ColumnElement[Any], values: Iterable[Any]) -> list[DocumentRow]:
    """Return those rows of `document_rows` that are current."""
    return [row for row in document_rows(connection, column, values) if row.is_current]


def rows_where(connection: Connection, condition: ColumnElement[bool] | None = None) -> Iterator[DocumentRow]:
    """Yield the rows that meet a condition, in order."""
    query = _ROWS.where(true() if condition is None else condition)
    return map(DocumentRow._make, connection.execute(query).all())


def is_current(connection: Connection, doc_id: str) -> bool:
    """Whether there is a current document with an id."""
    return doc_id in current_ids(connection, [doc_id])


def current_ids(connection: Connection, doc_ids: Iterable[str]) -> set[str]:
    """Return those ids that have a current document."""
    return set(current_contents(connection, doc_ids))


def current_contents(connection: Connection, doc_ids: Iterable[str]) -> dict[str, int]:
    """Return the contents of those ids that have a current document."""
    return {row.doc_id: row.content for row in current_rows(connection, documents.c.doc_id, doc_ids)}


def contents_of_current(connection: Connection) -> dict[str, int]:
    """Return the content of each current document, in the order in which they were added."""
    return {row.doc_id: row.content for row in rows_where(connection, documents.c.is_current)}
