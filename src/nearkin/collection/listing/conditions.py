"""Conditions that the documents of a list meet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, exists, func, select, true

from nearkin.collection.decisions.deciding import parsed
from nearkin.collection.decisions.log import current_tags
from nearkin.collection.listing.exceptions import blank_contents
from nearkin.collection.stored.documents import is_removed, number_of_wave
from nearkin.collection.stored.group_state import GroupState, no_group_text, no_groups_text
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, UnknownDocumentError, is_among
from nearkin.store.bulk import is_storable, written_out
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import documents, loads, members, tags

Which = Literal["current", "removed", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Conditions, all of which a listed document meets; see `Collection.documents`.

    Parameters
    ----------
    wave : str, optional
    doc_id, source : str, optional
        Patterns: ``*`` stands for any characters, ``?`` for one.
    which : {"current", "removed", "all"}
    added_since, added_before : str, optional
        Date or time in ISO 8601, in UTC unless it has an offset.
    has_copies : bool
    tag : str, optional
        ``FIELD`` or ``FIELD=VALUE``.
    group : int, optional
        Number of a stored group.
    has_near_duplicates : bool
        Whether the group of the document must have another text.
    tolerance : Tolerance, optional
        Tolerance of the groups; by default that of `Collection.groups`.

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
    added_before: str | None = None
    has_copies: bool = False
    tag: str | None = None
    group: int | None = None
    has_near_duplicates: bool = False
    tolerance: Tolerance | None = None

    def __post_init__(self) -> None:
        if not is_among(self.which, get_args(Which)):
            raise ParameterError.of("which", f"one of {', '.join(get_args(Which))}", self.which)
        for name in ("doc_id", "source"):
            pattern = getattr(self, name)
            if pattern is not None and not (isinstance(pattern, str) and is_storable(pattern)):
                raise ParameterError.of(name, "a pattern that can be encoded as UTF-8", pattern)
        for name in ("added_since", "added_before"):
            _utc(name, getattr(self, name))
        if self.tag is not None:
            if not isinstance(self.tag, str):
                raise ParameterError.of("tag", "FIELD or FIELD=VALUE", self.tag)
            parsed(self.tag)
        group, is_about_groups = self.group, self.group is not None or self.has_near_duplicates
        if group is not None and (not isinstance(group, int) or isinstance(group, bool) or not 0 < group < 2**63):
            raise ParameterError.of("group", "the number of a group", group)
        if is_about_groups and self.which != "current":
            raise ParameterError("Only current documents are in groups: a condition on groups lists no others.")
        if self.tolerance is not None and not is_about_groups:
            raise ParameterError("threshold and gamma choose groups: they need group or has_near_duplicates.")

    def condition(self, connection: Connection, groups: GroupState | None) -> ColumnElement[bool]:
        """Return the condition on documents and their loads.

        Parameters
        ----------
        connection : Connection
        groups : GroupState or None
            What `groups_asked` returned.

        Raises
        ------
        UnknownDocumentError
            There is no such wave.
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
        since, before = _utc("added_since", self.added_since), _utc("added_before", self.added_before)
        if since is not None:
            conditions.append(by_bytes(connection, loads.c.added_at) >= since)
        if before is not None:
            conditions.append(by_bytes(connection, loads.c.added_at) < before)
        if self.has_copies:
            conditions.append(exists().where(_is_copy(documents.alias("copies"))))
            blank = written_out(blank_contents(connection))
            conditions.append(documents.c.content.not_in(blank))  # they have no text
        if self.tag is not None:
            conditions.append(_has_tag(connection, self.tag))
        if groups is not None:
            conditions.append(self._is_in_group(groups))
        return and_(true(), *conditions)

    @property
    def is_about_groups(self) -> bool:
        """Whether a condition is about groups."""
        return self.group is not None or self.has_near_duplicates

    def groups_asked(self, connection: Connection) -> GroupState | None:
        """Return the stored groups that a condition is about; None if none is.

        Raises
        ------
        ParameterError
            There are no groups at the tolerance.
        UnknownDocumentError
            There is no such group.
        """
        if not self.is_about_groups:
            return None
        tolerance = self.tolerance or Tolerance.of()
        state = GroupState.known(connection, str(tolerance))
        if state.number is None:
            raise ParameterError(no_groups_text(connection, str(tolerance)))
        if self.group is not None and self.group not in state.principals:
            raise UnknownDocumentError(no_group_text(str(tolerance), self.group))
        return state

    def _is_in_group(self, groups: GroupState) -> ColumnElement[bool]:
        is_member = (members.c.grouping == groups.number) & members.c.until.is_(None)
        if self.group is not None:
            is_member &= members.c.group_number == self.group
        if self.has_near_duplicates:
            is_member &= members.c.group_number.in_(_of_several_texts(is_member))
        own = documents.alias("grouped")
        return documents.c.content.in_(select(own.c.content).select_from(own.join(members)).where(is_member))


def _of_several_texts(is_member: ColumnElement[bool]) -> Select[Any]:
    """Return the numbers of the groups whose current documents have several texts."""
    own, current = documents.alias("in_groups"), documents.alias("of_groups")
    is_live = exists().where(current.c.content == own.c.content, current.c.is_current)
    grouped = select(members.c.group_number).select_from(own.join(members)).where(is_member, is_live)
    return grouped.group_by(members.c.group_number).having(func.count(own.c.content.distinct()) > 1)


def _has_tag(connection: Connection, tag: str) -> ColumnElement[bool]:
    """Condition for documents with a tag."""
    field, value = parsed(tag)
    for _ in current_tags(connection, tags.c.field == field):
        pass  # raises an error at a changed row
    own = tags.alias("own_tags")  # a list joins the tags with dates
    has_it = exists().where(own.c.doc_id == documents.c.doc_id, own.c.field == field)
    return has_it.where(own.c.value == value) if "=" in tag else has_it


def _is_copy(others: FromClause) -> ColumnElement[bool]:
    """Condition for other current documents with the same text."""
    same_text: ColumnElement[bool] = others.c.content == documents.c.content
    return same_text & others.c.is_current & (others.c.doc_id != documents.c.doc_id)


def _matches(connection: Connection, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Condition for values that match a pattern; capital and small letters differ."""
    if connection.dialect.name == "sqlite":  # its LIKE ignores the case of a to z
        return column.op("GLOB")(pattern.replace("[", "[[]"))
    for sign in ("\\", "%", "_"):
        pattern = pattern.replace(sign, f"\\{sign}")
    return column.like(pattern.replace("*", "%").replace("?", "_"), escape="\\")


def _utc(name: str, text: str | None) -> str | None:
    """Return a date or a time as the store has them."""
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):  # in UTC it may be before the year 1
        rule = "a date or a time in ISO 8601, such as 2026-03-01 or 2026-03-01T12:00"
        raise ParameterError.of(name, rule, text) from None
    return when.isoformat(timespec="seconds")
