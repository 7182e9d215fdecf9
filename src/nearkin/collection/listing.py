"""Lists of stored documents as tables, filtered and sorted by the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, case, exists, func, select, true

from nearkin.collection.documents import number_of_wave, refuse_changed_row, with_documents
from nearkin.errors import ParameterError
from nearkin.store.bulk import is_storable
from nearkin.store.integrity import refuse_changed
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import contents, documents, loads, waves

Which = Literal["current", "removed", "all"]
Sort = Literal["id", "added", "length"]
_ROWS_AT_A_TIME = 1 << 13
_FIELDS: dict[str, pa.DataType] = {
    "doc_id": pa.large_string(),
    "version": pa.int32(),
    "wave": pa.large_string(),
    "source": pa.large_string(),
    "line": pa.int64(),
    "n_characters": pa.int64(),
    "n_copies": pa.int64(),
    "is_current": pa.bool_(),
    "added_at": pa.large_string(),
    "removed_at": pa.large_string(),
}
LISTED = pa.schema(list(_FIELDS.items()))
"""Columns of a list: ``n_copies`` counts the other current documents with the same text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Conditions that a listed document meets, all of them; see `Collection.documents`.

    Parameters
    ----------
    wave : str, optional
    doc_id, source : str, optional
        Patterns: ``*`` stands for any characters, ``?`` for one.
    which : {"current", "removed", "all"}
    added_since : str, optional
        Date or time in ISO 8601, in UTC unless it has an offset.
    has_copies : bool

    Raises
    ------
    ParameterError
        A value breaks its rule.
    """

    wave: str | None = None
    doc_id: str | None = None
    source: str | None = None
    which: Which = "current"
    added_since: str | None = None
    has_copies: bool = False

    def __post_init__(self) -> None:
        if self.which not in get_args(Which):
            raise ParameterError.of("which", "documents", f"one of {', '.join(get_args(Which))}", self.which)
        for name in ("doc_id", "source"):
            pattern = getattr(self, name)
            if pattern is not None and not (isinstance(pattern, str) and is_storable(pattern)):
                raise ParameterError.of(name, "documents", "a pattern that can be encoded as UTF-8", pattern)
        _utc(self.added_since)

    def condition(self, connection: Connection) -> ColumnElement[bool]:
        """Return the condition on documents and their loads.

        Raises
        ------
        UnknownDocumentError
            There is no such wave.
        """
        conditions: list[ColumnElement[bool]] = []
        if self.which == "current":
            conditions.append(documents.c.is_current)
        elif self.which == "removed":
            conditions.append(documents.c.removed_at.is_not(None) & _is_newest())
        if self.wave is not None:
            conditions.append(loads.c.wave == number_of_wave(connection, self.wave))
        for column, pattern in ((documents.c.doc_id, self.doc_id), (documents.c.source, self.source)):
            if pattern is not None:
                conditions.append(_matches(connection, column, pattern))
        since = _utc(self.added_since)
        if since is not None:
            conditions.append(by_bytes(connection, loads.c.added_at) >= since)
        if self.has_copies:
            conditions.append(exists().where(_is_copy(documents.alias("copies"))))
        return and_(true(), *conditions)


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """Documents of a collection.

    Parameters
    ----------
    table : pyarrow Table
        A row for each document, with the columns `doc_id`, `version`, `wave`, `source`, `line`, `n_characters`,
        `n_copies` (other current documents with the same text), `is_current`, `added_at` and `removed_at` (UTC, ISO
        8601).
    n_found : int
        Number of documents that meet the conditions, including those not returned.
    """

    table: pa.Table
    n_found: int

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.table)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"n_found": self.n_found, "is_truncated": self.is_truncated, "documents": self.table.to_pylist()}


def listed(connection: Connection, wanted: DocumentFilter, sort: Sort, limit: int | None) -> ListedDocuments:
    """List documents; see `Collection.documents`."""
    table = pa.Table.from_batches(listed_batches(connection, wanted, sort, limit), LISTED)
    return ListedDocuments(table, n_listed(connection, wanted) if limit is not None else len(table))


def n_listed(connection: Connection, wanted: DocumentFilter) -> int:
    """Count the documents that meet the conditions."""
    joined = documents.join(loads)
    query = select(func.count()).select_from(joined).where(wanted.condition(connection))
    return int(connection.execute(query).scalar_one())


def listed_batches(
    connection: Connection, wanted: DocumentFilter, sort: Sort = "id", limit: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the documents that meet the conditions in batches, so that a list of any length takes little memory.

    Raises
    ------
    CollectionError
        A row was changed.
    ParameterError
        The order does not exist, or the limit is no int of at least 1.
    """
    if sort not in get_args(Sort):
        raise ParameterError.of("sort", "documents", f"one of {', '.join(get_args(Sort))}", sort)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ParameterError.of("limit", "documents", "an int >= 1", limit)
    refuse_changed(connection, waves, loads)
    page = _sorted(connection, with_documents().where(wanted.condition(connection)), sort).limit(limit)
    query = _with_copies(page, is_cut=limit is not None)
    rows = connection.execute(query, execution_options=_STREAMED)
    for some in rows.partitions(_ROWS_AT_A_TIME):
        yield _batch(some)


def _with_copies(page: Select[Any], *, is_cut: bool) -> Select[Any]:
    """Add the number of copies to a query, where the documents with each text are counted once, not for each row."""
    counted, own = documents.alias("counted"), documents.alias("own")
    counts = select(counted.c.content, func.count().label("n")).where(counted.c.is_current).group_by(counted.c.content)
    if is_cut:  # only the texts on the page
        counts = counts.where(counted.c.content.in_(page.with_only_columns(documents.c.content)))
    of_text = counts.subquery("of_text")
    has_it = exists().where(own.c.doc_id == documents.c.doc_id, own.c.is_current, own.c.content == documents.c.content)
    n_own = case((documents.c.is_current | has_it, 1), else_=0)
    query = page.outerjoin(of_text, of_text.c.content == documents.c.content)
    return query.add_columns(loads.c.added_at, func.coalesce(of_text.c.n, 0) - n_own)


_STREAMED = {"yield_per": _ROWS_AT_A_TIME}
_SHOWN = [name for name in _FIELDS if name not in ("wave", "n_copies")]


def _batch(rows: Any) -> pa.RecordBatch:
    """Make a batch of the rows, each of which is compared with its checksum."""
    for row in rows:
        refuse_changed_row(row)
    columns = {name: [getattr(row, name) for row in rows] for name in _SHOWN}
    columns |= {"wave": [row.name for row in rows], "n_copies": [row[-1] for row in rows]}
    return pa.record_batch([pa.array(columns[name], kind) for name, kind in _FIELDS.items()], schema=LISTED)


def _sorted(connection: Connection, query: Select[Any], sort: Sort) -> Select[Any]:
    by_id = by_bytes(connection, documents.c.doc_id), documents.c.version
    if sort == "id":
        return query.order_by(*by_id)
    if sort == "added":
        return query.order_by(documents.c.row.desc())
    return query.order_by(contents.c.n_characters.desc(), *by_id)


def _is_newest() -> ColumnElement[bool]:
    """Condition for the newest version of an id."""
    newer = documents.alias("newer")
    return ~exists().where(newer.c.doc_id == documents.c.doc_id, newer.c.version > documents.c.version)


def _is_copy(others: FromClause) -> ColumnElement[bool]:
    """Condition for other current documents with the same text."""
    same_text: ColumnElement[bool] = others.c.content == documents.c.content
    return same_text & others.c.is_current & (others.c.doc_id != documents.c.doc_id)


def _matches(connection: Connection, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Condition for values that match a pattern, in capitals and small letters as they are written."""
    if connection.dialect.name == "sqlite":  # its LIKE ignores the case of a to z
        return column.op("GLOB")(pattern.replace("[", "[[]"))
    for sign in ("\\", "%", "_"):
        pattern = pattern.replace(sign, f"\\{sign}")
    return column.like(pattern.replace("*", "%").replace("?", "_"), escape="\\")


def _utc(text: str | None) -> str | None:
    """Return a date or a time as the store has them."""
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):  # in UTC it may be before the year 1
        rule = "a date or a time in ISO 8601, such as 2026-03-01 or 2026-03-01T12:00"
        raise ParameterError.of("added_since", "documents", rule, text) from None
    return when.isoformat(timespec="seconds")
