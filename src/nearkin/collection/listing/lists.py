"""Lists of stored documents as tables, filtered and sorted by the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import pyarrow as pa
from sqlalchemy import Connection, Select, and_, case, exists, func, select

from nearkin.collection.dates import DATE_TAG, refuse_wrong_dates
from nearkin.collection.decisions.deciding import checked_field
from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents, shown_principals
from nearkin.collection.listing.conditions import DocumentFilter
from nearkin.collection.listing.exceptions import blank_contents
from nearkin.collection.stored.documents import with_documents
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.stored.origins import OriginValues, origins_of, value_of
from nearkin.errors import ParameterError, is_among
from nearkin.nouns import counted
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import contents, documents, loads, members, origins, tags
from nearkin.tabular import Tabular

Sort = Literal["id", "added", "length", "wave", "date"]
_ROWS_AT_A_TIME = 1 << 13
_MOST_ROWS = (1 << 63) - 1
"""Largest number of rows that both databases accept."""
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
    "date": pa.large_string(),
    "group": pa.int64(),
    "is_principal": pa.bool_(),
    "kind": pa.large_string(),
    "extractor": pa.large_string(),
}
LISTED = pa.schema(list(_FIELDS.items()))
"""Columns of a list: ``n_copies`` counts the other current documents with the same text, and is 0 for empty documents;
``date`` is the value of the tag with the dates; ``group`` and ``is_principal`` are null unless a condition is about
groups."""


@dataclass(frozen=True, slots=True)
class ListedDocuments(Tabular):
    """Documents of a collection.

    Parameters
    ----------
    table : pyarrow Table
        A row for each document, with the columns `doc_id`, `version`, `wave`, `source`, `line`, `n_characters`,
        `n_copies` (other current documents with the same text; 0 for empty documents), `is_current`, `added_at` and
        `removed_at` (UTC, ISO 8601), `date` (value of the tag with the dates, of current versions), `group` and
        `is_principal` (null unless a condition is about groups), `kind` and
        `extractor` (null for documents that were not extracted from a file).
    n_found : int
        Number of documents that meet the conditions, including those not returned.
    n_not_grouped : int
        Number of current documents added or changed since groups were updated, if a condition is about groups.
    n_decisions : int
        Number of decisions on groups that were made or undone since then.
    """

    tables: ClassVar[tuple[str, ...]] = ("table",)

    table: pa.Table
    n_found: int
    n_not_grouped: int = 0
    n_decisions: int = 0

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.table)

    def __repr__(self) -> str:
        return f"ListedDocuments({counted(self.n_found, 'document')}, {len(self.table):,} listed)"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "n_found": self.n_found,
            "is_truncated": self.is_truncated,
            "n_not_grouped": self.n_not_grouped,
            "n_decisions": self.n_decisions,
            "documents": self.table.to_pylist(),
        }


def listed(
    connection: Connection, wanted: DocumentFilter, sort: Sort, limit: int | None, date_tag: str = DATE_TAG
) -> ListedDocuments:
    """List documents; see `Collection.documents`."""
    table = pa.Table.from_batches(listed_batches(connection, wanted, sort, limit, date_tag), LISTED)
    n_found = n_listed(connection, wanted) if limit is not None else len(table)
    return ListedDocuments(table, n_found, n_not_grouped(connection, wanted), n_decisions(connection, wanted))


def asked_columns(wanted: DocumentFilter) -> list[str]:
    """Return the columns of a list in a file: columns of groups only if a condition is about groups.

    Empty columns would read as "in no group".
    """
    return [name for name in LISTED.names if wanted.is_about_groups or name not in ("group", "is_principal")]


def n_listed(connection: Connection, wanted: DocumentFilter) -> int:
    """Count the documents that meet the conditions."""
    joined = documents.join(loads)
    condition = wanted.condition(connection, wanted.groups_asked(connection))
    return int(connection.execute(select(func.count()).select_from(joined).where(condition)).scalar_one())


def n_not_grouped(connection: Connection, wanted: DocumentFilter) -> int:
    """Count the current documents added or changed since the groups of a condition were updated."""
    asked = wanted.groups_asked(connection)
    return 0 if asked is None else n_later_documents(connection, asked)


def n_decisions(connection: Connection, wanted: DocumentFilter) -> int:
    """Count the decisions that were made or undone since the groups of a condition were updated."""
    asked = wanted.groups_asked(connection)
    return 0 if asked is None else n_later_decisions(connection, asked)


def listed_batches(
    connection: Connection,
    wanted: DocumentFilter,
    sort: Sort = "id",
    limit: int | None = None,
    date_tag: str = DATE_TAG,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents that meet the conditions in batches, so that a list of any length takes little memory.

    Raises
    ------
    ParameterError
        The order does not exist, or the limit is no int of at least 1; or the order is by dates, and the tag of a
        document is no date.
    """
    if not is_among(sort, get_args(Sort)):
        raise ParameterError.of("sort", f"one of {', '.join(get_args(Sort))}", sort)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ParameterError.of("limit", "an int >= 1", limit)
    date_tag = checked_field(date_tag)
    if sort == "date":
        refuse_wrong_dates(connection, date_tag)
    groups = wanted.groups_asked(connection)
    is_dated = and_(tags.c.doc_id == documents.c.doc_id, tags.c.field == date_tag, documents.c.is_current)
    page = with_documents().where(wanted.condition(connection, groups)).outerjoin(tags, is_dated)
    page = _sorted(connection, page, sort).limit(limit and min(limit, _MOST_ROWS))
    query = _with_groups(_with_copies(page, is_cut=limit is not None).add_columns(tags.c.value), groups)
    rows = connection.execute(query, execution_options=_STREAMED)
    has_origins = connection.execute(select(origins.c.number).limit(1)).first() is not None
    for some in rows.partitions(_ROWS_AT_A_TIME):
        found = origins_of(connection, [row[0] for row in some]) if has_origins else {}
        blank = set(blank_contents(connection, among={row.content for row in some if row.n_copies}))
        yield _batch(some, groups, _principal_rows(connection, some, groups), found, blank)


def _with_groups(query: Select[Any], groups: GroupState | None) -> Select[Any]:
    """Add the row and the number of the group to a query that asks about groups."""
    if groups is None:
        return query
    grouped = documents.alias("grouped")
    is_member = (members.c.grouping == groups.number) & members.c.until.is_(None)
    of_text = select(func.max(members.c.group_number)).select_from(
        members.join(grouped, grouped.c.row == members.c.row)
    )
    number = of_text.where(is_member, grouped.c.content == documents.c.content).scalar_subquery()
    return query.add_columns(documents.c.row, number.label("group_number"))


def _with_copies(page: Select[Any], *, is_cut: bool) -> Select[Any]:
    """Add the number of copies to a query, so that the documents with each text are counted once, not for each row."""
    counted, own = documents.alias("counted"), documents.alias("own")
    counts = select(counted.c.content, func.count().label("n")).where(counted.c.is_current).group_by(counted.c.content)
    if is_cut:  # only the texts on the page
        counts = counts.where(counted.c.content.in_(page.with_only_columns(documents.c.content)))
    of_text = counts.subquery("of_text")
    has_it = exists().where(own.c.doc_id == documents.c.doc_id, own.c.is_current, own.c.content == documents.c.content)
    n_own = case((documents.c.is_current | has_it, 1), else_=0)
    query = page.outerjoin(of_text, of_text.c.content == documents.c.content)
    return query.add_columns(loads.c.added_at, (func.coalesce(of_text.c.n, 0) - n_own).label("n_copies"))


_STREAMED = {"yield_per": _ROWS_AT_A_TIME}
_DERIVED = ("wave", "n_copies", "date", "group", "is_principal", "kind", "extractor")
_SHOWN = [name for name in _FIELDS if name not in _DERIVED]


def _principal_rows(connection: Connection, rows: Sequence[Any], groups: GroupState | None) -> dict[int, int]:
    """Return the rows of the principals of the groups that some rows have, by number of the group."""
    if groups is None:
        return {}
    numbers = {row[-1] for row in rows if row[-1] is not None}
    return {number: one.row for number, one in shown_principals(connection, groups, numbers).items()}


def _batch(
    rows: Sequence[Any],
    groups: GroupState | None,
    principals: Mapping[int, int],
    found: Mapping[int, OriginValues],
    blank: Set[int],
) -> pa.RecordBatch:
    """Make a batch of the rows."""
    of_groups = [tuple(row[-2:]) if groups is not None else (None, None) for row in rows]
    rest = [tuple(row[:-2]) if groups is not None else tuple(row) for row in rows]
    dates = [row[-1] for row in rest]
    columns = {name: [getattr(row, name) for row in rows] for name in _SHOWN}
    columns |= {
        "wave": [row.wave for row in rows],
        "n_copies": [0 if row.content in blank else row.n_copies for row in rows],
    }
    columns |= {"date": dates, "group": [group for _, group in of_groups]}
    columns["is_principal"] = [None if group is None else principals.get(group) == row for row, group in of_groups]
    columns["extractor"] = extractors = [value_of(found.get(row[0]), "extractor") for row in rows]
    kinds = (value_of(found.get(row[0]), "kind") for row in rows)  # an empty text file has one, as an exception
    columns["kind"] = [None if extractor is None else kind for kind, extractor in zip(kinds, extractors, strict=True)]
    return pa.record_batch([pa.array(columns[name], kind) for name, kind in _FIELDS.items()], schema=LISTED)


def _sorted(connection: Connection, query: Select[Any], sort: Sort) -> Select[Any]:
    by_id = by_bytes(connection, documents.c.doc_id), documents.c.version
    if sort == "id":
        return query.order_by(*by_id)
    if sort == "added":
        return query.order_by(documents.c.row.desc())
    if sort == "wave":
        return query.order_by(loads.c.wave, *by_id)
    if sort == "date":  # documents without a date last
        return query.order_by(tags.c.value.is_(None), by_bytes(connection, tags.c.value), *by_id)
    return query.order_by(contents.c.n_characters.desc(), *by_id)
