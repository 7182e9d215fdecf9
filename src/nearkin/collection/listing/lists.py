"""Lists of stored documents as tables, filtered and sorted by the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, case, exists, func, or_, select, true

from nearkin.arguments import checking_methods
from nearkin.collection.dates import DATE_TAG, refuse_wrong_dates
from nearkin.collection.decisions.fields import BETWEEN_VALUES, checked_field, parsed
from nearkin.collection.decisions.log import checked_since
from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents, shown_principals
from nearkin.collection.listing.exceptions import blank_contents
from nearkin.collection.results import columns
from nearkin.collection.stored.documents import is_removed, number_of_wave, with_documents
from nearkin.collection.stored.group_state import GroupState, no_groups_text
from nearkin.collection.stored.origins import OriginValues, headers_of, origins_of, value_of
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, UnknownDocumentError, is_among
from nearkin.nouns import counted
from nearkin.store.bulk import by_bytes, is_storable, n_rows, written_out
from nearkin.store.schema import contents, documents, loads, members, origins, tags
from nearkin.tabular import AnswerRecord, Tabular

Which = Literal["current", "removed", "all"]


@checking_methods
@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Conditions, all of which a listed document meets; see `Collection.documents`.

    Parameters
    ----------
    wave
        Wave that added the listed version.
    doc_id, source
        Pattern of the id, or of the file name: ``*`` stands for any characters, ``?`` for one.
    which : {"current", "removed", "all"}
        "removed": the last version of each removed document. "all": every version, including replaced ones.
    added_since, added_before
        Date or time in ISO 8601, in UTC unless it has an offset.
    has_copies
        Only documents whose text is identical to that of another current document.
    tag
        ``FIELD=VALUE``, or ``FIELD`` for any value.
    group
        Number of a stored group.
    tolerance
        Tolerance of the groups; by default that of `Collection.groups`.
    """

    wave: str | None = None
    doc_id: str | None = None
    source: str | None = None
    which: Which = "current"
    added_since: str | None = None
    added_before: str | None = None
    has_copies: bool = False
    tag: str | None = None
    group: int | None = None
    tolerance: Tolerance | None = None

    def __post_init__(self) -> None:
        if not is_among(self.which, get_args(Which)):
            raise ParameterError.of("which", f"one of {', '.join(get_args(Which))}", self.which)
        for name in ("doc_id", "source"):
            pattern = getattr(self, name)
            if pattern is not None and not (isinstance(pattern, str) and is_storable(pattern)):
                raise ParameterError.of(name, "a pattern that can be encoded as UTF-8", pattern)
        for name in ("added_since", "added_before"):
            if getattr(self, name) is not None:
                checked_since(getattr(self, name), name)
        if self.tag is not None:
            if not isinstance(self.tag, str):
                raise ParameterError.of("tag", "FIELD or FIELD=VALUE", self.tag)
            parsed(self.tag)
        group = self.group
        if group is not None and (not isinstance(group, int) or isinstance(group, bool) or not 0 < group < 2**63):
            raise ParameterError.of("group", "the number of a group", group)
        if group is not None and self.which != "current":
            raise ParameterError("Only current documents are in groups: a condition on groups lists no others.")
        if self.tolerance is not None and group is None:
            raise ParameterError("threshold and gamma choose groups: they need group.")

    def condition(self, connection: Connection, groups: GroupState | None) -> ColumnElement[bool]:
        """Return the condition on documents and their loads.

        Parameters
        ----------
        groups
            What `groups_asked` returned.
        """
        conditions: list[ColumnElement[bool]] = []
        if self.which == "current":
            conditions.append(documents.c.is_current)
        elif self.which == "removed":
            conditions.append(is_removed())
        if self.wave is not None:
            conditions.append(loads.c.wave == number_of_wave(connection, self.wave))
        for column, pattern in ((documents.c.doc_id, self.doc_id), (documents.c.source, self.source)):
            if pattern is not None:
                conditions.append(_matches(connection, column, pattern))
        if self.added_since is not None:
            conditions.append(by_bytes(connection, loads.c.added_at) >= checked_since(self.added_since))
        if self.added_before is not None:
            conditions.append(by_bytes(connection, loads.c.added_at) < checked_since(self.added_before))
        if self.has_copies:
            conditions.append(exists().where(_is_copy(documents.alias("copies"))))
            blank = written_out(blank_contents(connection))
            conditions.append(documents.c.content.not_in(blank))  # they have no text
        if self.tag is not None:
            conditions.append(_has_tag(self.tag))
        if groups is not None:
            conditions.append(self._is_in_group(groups))
        return and_(true(), *conditions)

    def groups_asked(self, connection: Connection) -> GroupState | None:
        """Return the stored groups that the group is one of; None without a group."""
        if self.group is None:
            return None
        tolerance = self.tolerance or Tolerance.of()
        state = GroupState.known(connection, str(tolerance))
        if state.number is None:
            raise ParameterError(no_groups_text(connection, str(tolerance)))
        if self.group not in state.principals:
            raise UnknownDocumentError(f"There is no group {self.group} at {tolerance}.")
        return state

    def _is_in_group(self, groups: GroupState) -> ColumnElement[bool]:
        is_member = (members.c.grouping == groups.number) & members.c.until.is_(None)
        is_member &= members.c.group_number == self.group
        grouped = documents.alias("grouped")
        return documents.c.content.in_(select(grouped.c.content).select_from(grouped.join(members)).where(is_member))


def _has_tag(tag: str) -> ColumnElement[bool]:
    field, value = parsed(tag)
    own_tags = tags.alias("own_tags")  # a list joins the tags with dates
    has_it = exists().where(own_tags.c.doc_id == documents.c.doc_id, own_tags.c.field == field)
    listed = BETWEEN_VALUES + own_tags.c.value + BETWEEN_VALUES  # of a field with several values, each counts
    is_among = func.replace(listed, BETWEEN_VALUES + value + BETWEEN_VALUES, "") != listed
    return has_it.where(or_(own_tags.c.value == value, is_among)) if "=" in tag else has_it


def _is_copy(others: FromClause) -> ColumnElement[bool]:
    same_text: ColumnElement[bool] = others.c.content == documents.c.content
    return same_text & others.c.is_current & (others.c.doc_id != documents.c.doc_id)


def _matches(connection: Connection, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Condition for values that match a pattern; capital and small letters differ."""
    if connection.dialect.name == "sqlite":  # its LIKE ignores the case of a to z
        return column.op("GLOB")(pattern.replace("[", "[[]"))
    for sign in ("\\", "%", "_"):
        pattern = pattern.replace(sign, f"\\{sign}")
    return column.like(pattern.replace("*", "%").replace("?", "_"), escape="\\")


Sort = Literal["id", "added", "length", "wave", "date"]
_ROWS_AT_A_TIME = 1 << 13
_MOST_ROWS = (1 << 63) - 1
"""Largest number of rows that both databases accept."""
LISTED = pa.schema(
    columns(
        "doc_id version wave source line n_characters n_copies is_current added_at removed_at date group is_principal "
        "kind extractor subject sent_at sender to"
    )
)
"""Columns of a list: ``n_copies`` counts the other current documents with the same text, and is 0 for empty documents;
``date`` is the value of the tag with the dates; ``sent_at`` is in UTC; ``group`` and ``is_principal`` are null unless a
condition is about groups."""


@dataclass(frozen=True, slots=True)
class ListedDocuments(Tabular, AnswerRecord):
    """Documents of a collection.

    Parameters
    ----------
    table : pyarrow Table
        A row for each document, with the columns `doc_id`, `version`, `wave`, `source`, `line`, `n_characters`,
        `n_copies` (other current documents with the same text; 0 for empty documents), `is_current`, `added_at` and
        `removed_at` (UTC, ISO 8601), `date` (value of the tag with the dates, of current versions), `group` and
        `is_principal` (null unless a condition is about groups), `kind` and
        `extractor` (null for documents that were not extracted from a file).
    n_not_grouped
        Number of current documents added or changed since groups were updated, if a condition is about groups.
    n_decisions
        Number of decisions on groups that were made or undone since then.
    """

    computed = ("is_truncated", "documents")

    table: pa.Table
    n_found: int
    n_not_grouped: int = 0
    n_decisions: int = 0

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.table)

    @property
    def documents(self) -> list[dict[str, object]]:
        """The rows of the table."""
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows

    def __repr__(self) -> str:
        return f"ListedDocuments({counted(self.n_found, 'document')}, {len(self.table):,} listed)"


def listed(
    connection: Connection,
    wanted: DocumentFilter,
    sort: Sort,
    limit: int | None,
    date_tag: str = DATE_TAG,
    *,
    offset: int = 0,
) -> ListedDocuments:
    """List documents; see `Collection.documents`."""
    table = pa.Table.from_batches(listed_batches(connection, wanted, sort, limit, date_tag, offset=offset), LISTED)
    n_found = n_listed(connection, wanted) if limit is not None else len(table)
    return ListedDocuments(table, n_found, *n_late(connection, wanted))


def listed_ids(connection: Connection, wanted: DocumentFilter, sort: Sort) -> list[str]:
    """Return the ids of all documents that meet the conditions."""
    if sort == "date":
        refuse_wrong_dates(connection, DATE_TAG)
    is_dated = and_(tags.c.doc_id == documents.c.doc_id, tags.c.field == DATE_TAG, documents.c.is_current)
    page = with_documents().where(wanted.condition(connection, wanted.groups_asked(connection)))
    query = _sorted(connection, page.outerjoin(tags, is_dated), sort).with_only_columns(documents.c.doc_id)
    return list(connection.execute(query).scalars())


def asked_columns(wanted: DocumentFilter) -> list[str]:
    """Return the columns of a list in a file: columns of groups only if a condition is about groups.

    Empty columns would read as "in no group".
    """
    return [name for name in LISTED.names if wanted.group is not None or name not in ("group", "is_principal")]


def n_listed(connection: Connection, wanted: DocumentFilter) -> int:
    """Count the documents that meet the conditions."""
    joined = documents.join(loads)
    condition = wanted.condition(connection, wanted.groups_asked(connection))
    return n_rows(connection, joined, condition)


def n_late(connection: Connection, wanted: DocumentFilter) -> tuple[int, int]:
    """Count the documents and decisions that the groups of a condition do not have yet."""
    state = wanted.groups_asked(connection)
    return (0, 0) if state is None else (n_later_documents(connection, state), n_later_decisions(connection, state))


def listed_batches(
    connection: Connection,
    wanted: DocumentFilter,
    sort: Sort = "id",
    limit: int | None = None,
    date_tag: str = DATE_TAG,
    *,
    offset: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents that meet the conditions in batches, so that a list of any length takes little memory."""
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
    page = _sorted(connection, page, sort).limit(limit and min(limit, _MOST_ROWS)).offset(offset or None)
    query = _with_groups(_with_copies(page, is_cut=limit is not None).add_columns(tags.c.value), groups)
    rows = connection.execute(query, execution_options=_STREAMED)
    has_origins = connection.execute(select(origins.c.number).limit(1)).first() is not None
    for block in rows.partitions(_ROWS_AT_A_TIME):
        origin_of = origins_of(connection, [row[0] for row in block]) if has_origins else {}
        blank = set(blank_contents(connection, among={row.content for row in block if row.n_copies}))
        yield _batch(block, groups, _principal_rows(connection, block, groups), origin_of, blank)


def _with_groups(query: Select[Any], groups: GroupState | None) -> Select[Any]:
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
    counted, current = documents.alias("counted"), documents.alias("own")
    counts = select(counted.c.content, func.count().label("n")).where(counted.c.is_current).group_by(counted.c.content)
    if is_cut:  # only the texts on the page
        counts = counts.where(counted.c.content.in_(page.with_only_columns(documents.c.content)))
    of_text = counts.subquery("of_text")
    has_it = exists().where(
        current.c.doc_id == documents.c.doc_id, current.c.is_current, current.c.content == documents.c.content
    )
    n_own = case((documents.c.is_current | has_it, 1), else_=0)
    query = page.outerjoin(of_text, of_text.c.content == documents.c.content)
    return query.add_columns(loads.c.added_at, (func.coalesce(of_text.c.n, 0) - n_own).label("n_copies"))


_STREAMED = {"yield_per": _ROWS_AT_A_TIME}
_OF_MAIL = ("subject", "sent_at", "sender", "to")
_DERIVED = ("wave", "n_copies", "date", "group", "is_principal", "kind", "extractor", *_OF_MAIL)
_SHOWN = [name for name in LISTED.names if name not in _DERIVED]


def _principal_rows(connection: Connection, rows: Sequence[Any], groups: GroupState | None) -> dict[int, int]:
    if groups is None:
        return {}
    numbers = {row[-1] for row in rows if row[-1] is not None}
    return {number: principal.row for number, principal in shown_principals(connection, groups, numbers).items()}


def _batch(
    rows: Sequence[Any],
    groups: GroupState | None,
    principals: Mapping[int, int],
    origin_of: Mapping[int, OriginValues],
    blank: Set[int],
) -> pa.RecordBatch:
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
    columns["extractor"] = extractors = [value_of(origin_of.get(row[0]), "extractor") for row in rows]
    kinds = (value_of(origin_of.get(row[0]), "kind") for row in rows)  # an empty text file has one, as an exception
    columns["kind"] = [None if extractor is None else kind for kind, extractor in zip(kinds, extractors, strict=True)]
    mails = [headers_of(origin_of.get(row[0])) for row in rows]
    columns |= {name: [mail.get(name) for mail in mails] for name in _OF_MAIL}
    return pa.record_batch(
        [pa.array(columns[name], kind) for name, kind in zip(LISTED.names, LISTED.types)], schema=LISTED
    )


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
