"""Stored groups: each call of ``nearkin groups`` stores the rows that changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, func, insert, select, update

from nearkin.records import I64, Bool
from nearkin.store.bulk import in_slices, insert_rows
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, groupings, loads, members

_AT_A_TIME = 1 << 16
NO_GROUP = -1


@dataclass(frozen=True, slots=True)
class Membership:
    """Contents, ascending, and their groups."""

    contents: I64
    groups: I64

    def __len__(self) -> int:
        return len(self.contents)

    def group_of(self, contents: I64) -> I64:
        """Return the group of each content; NO_GROUP if it is in no group.

        Examples
        --------
        >>> Membership(np.array([3, 5]), np.array([1, 2])).group_of(np.array([5, 4])).tolist()
        [2, -1]
        """
        if not len(self.contents):
            return np.full(len(contents), NO_GROUP)
        places = np.minimum(np.searchsorted(self.contents, contents), len(self.contents) - 1)
        return np.where(self.contents[places] == contents, self.groups[places], NO_GROUP)

    def in_groups(self, numbers: Collection[int]) -> Membership:
        """Return the contents of some groups."""
        is_wanted = np.isin(self.groups, list(numbers))
        return Membership(self.contents[is_wanted], self.groups[is_wanted])

    def by_content(self) -> dict[int, int]:
        """Return the groups by content."""
        return dict(zip(self.contents.tolist(), self.groups.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupState:
    """Groups at one tolerance, as a call of ``nearkin groups`` stored them, or as they are now.

    Parameters
    ----------
    number, call
        Of the tolerance and the call; None and 0 if there are no groups yet.
    seen_row
        Documents with this row and above are not grouped yet.
    rows, row_groups : int64 arrays, shape (n_documents,)
        Rows of the documents in groups, ascending, and the group of each.
    """

    tolerance: str
    number: int | None
    call: int
    grouped_at: str
    last_load: int
    seen_row: int
    next_group: int
    last_activity: int
    n_not_compared: int
    rows: I64
    row_groups: I64
    membership: Membership
    principals: dict[int, int]

    @classmethod
    def read(cls, connection: Connection, tolerance: str) -> GroupState:
        """Read the latest groups at a tolerance, or none."""
        latest = connection.execute(_calls(tolerance).limit(1)).first()
        return cls._of(connection, tolerance, latest, members.c.until.is_(None))

    @classmethod
    def of_call(cls, connection: Connection, tolerance: str, call: int) -> GroupState:
        """Read the groups that a call stored."""
        stored = connection.execute(_calls(tolerance).where(groupings.c.call == call)).first()
        is_later = members.c.until.is_(None) | (members.c.until > call)
        return cls._of(connection, tolerance, stored, (members.c.since <= call) & is_later)

    @classmethod
    def _of(cls, connection: Connection, tolerance: str, stored: Any, is_member: ColumnElement[bool]) -> GroupState:
        number = None if stored is None else stored.grouping
        columns = members.c.row, members.c.group_number, documents.c.content, members.c.is_principal
        query = select(*columns).select_from(members.join(documents)).where((members.c.grouping == number) & is_member)
        records = connection.execute(query.order_by(members.c.row)).all()
        rows, of_rows, contents = (np.array([row[i] for row in records], np.int64) for i in range(3))
        distinct, first = np.unique(contents, return_index=True)
        of_contents = of_rows[first]
        for column in (rows, of_rows, distinct, of_contents):  # many share them; see `known`
            column.flags.writeable = False
        values = _NO_CALL if stored is None else [getattr(stored, name) for name in _OF_CALL]
        return cls(
            tolerance=tolerance,
            number=number,
            **dict(zip(_OF_CALL, values, strict=True)),
            rows=rows,
            row_groups=of_rows,
            membership=Membership(distinct, of_contents),
            principals={row.group_number: row.row for row in records if row.is_principal},
        )

    @classmethod
    def known(cls, connection: Connection, tolerance: str) -> GroupState:
        """Return the groups as `read` does; read again only after a change."""
        latest = connection.execute(_calls(tolerance).limit(1)).first()
        if latest is None:  # not kept: visitors may ask for any number of tolerances
            _KNOWN.forget(connection.engine, tolerance)
            return cls.read(connection, tolerance)
        return _KNOWN.get(connection.engine, tolerance, tuple(latest), lambda: cls.read(connection, tolerance))

    def contents_of(self, group: int) -> list[int]:
        """Return the contents of a group; none if there is no such group."""
        return self.membership.in_groups([group]).contents.tolist()  # type: ignore[no-any-return]

    def live_contents(self, connection: Connection, n_contents: int) -> tuple[Bool, I64]:
        """Return which contents a current document has, and how many, shape (n_contents,)."""
        n_copies = np.zeros(n_contents, np.int64)
        for start in range(0, n_contents, _AT_A_TIME):
            is_in = (documents.c.content >= start) & (documents.c.content < start + _AT_A_TIME)
            rows = connection.execute(select(documents.c.content).where(is_in & documents.c.is_current)).scalars().all()
            stop = min(start + _AT_A_TIME, n_contents)
            n_copies[start:stop] = np.bincount(np.array(rows, np.int64) - start, minlength=stop - start)
        return n_copies > 0, n_copies

    def new_contents(self, connection: Connection) -> I64:
        """Return the contents of current documents that are not grouped yet."""
        is_new = (documents.c.row >= self.seen_row) & documents.c.is_current
        return np.array(connection.execute(select(documents.c.content).where(is_new)).scalars().all(), np.int64)


_OF_CALL = "call", "grouped_at", "last_load", "seen_row", "next_group", "last_activity", "n_not_compared"
_NO_CALL: tuple[Any, ...] = 0, "", -1, 0, 1, 0, 0
"""Values of these columns before the first call."""
_KNOWN = KeptValues[GroupState]()
"""Groups by tolerance, each made from the row of its latest call."""


def _calls(tolerance: str) -> Select[Any]:
    return select(groupings).where(groupings.c.tolerance == tolerance).order_by(groupings.c.call.desc())


def store(connection: Connection, before: GroupState, now: GroupState) -> None:
    """Store the groups of a call, inside the transaction; rows that are as ``before`` stay."""
    number, call = before.number, before.call + 1
    if number is None:
        number = 1 + (connection.execute(select(func.max(groupings.c.grouping))).scalar() or 0)
    at, last_load = datetime.now(UTC).isoformat(timespec="seconds"), _last_load_before(connection, now.seen_row)
    seen = now.seen_row, now.next_group, now.last_activity, now.n_not_compared
    connection.execute(insert(groupings).values((number, call, before.tolerance, at, last_load, *seen)))
    either = np.union1d(before.rows, now.rows)
    were, are = (_memberships(either, state.rows, state.row_groups, state.principals) for state in (before, now))
    is_other = were != are
    rows, memberships = either[is_other], are[is_other]
    for block in in_slices(rows.tolist() if before.number is not None else []):
        is_one = (members.c.grouping == number) & members.c.row.in_(block) & members.c.until.is_(None)
        connection.execute(update(members).where(is_one).values(until=call))
    rows, memberships = rows[memberships > 0], memberships[memberships > 0]
    for start in range(0, len(rows), _AT_A_TIME):
        some_rows, some_memberships = rows[start : start + _AT_A_TIME], memberships[start : start + _AT_A_TIME]
        n, groups, leads = len(some_rows), (some_memberships // 2).tolist(), (some_memberships % 2 == 1).tolist()
        insert_rows(connection, members, [[number] * n, some_rows.tolist(), [call] * n, [None] * n, groups, leads])


def _memberships(either: I64, rows: I64, row_groups: I64, principals: Mapping[int, int]) -> I64:
    """Return twice the group of each of ``either``, and one more if it is the principal; 0: it is in no group."""
    memberships = np.zeros(len(either), np.int64)
    leading = np.fromiter(principals.values(), np.int64, len(principals))
    memberships[np.searchsorted(either, rows)] = 2 * row_groups + np.isin(rows, leading)
    return memberships


def principals_over_time(connection: Connection, number: int | None) -> list[tuple[int, int]]:
    """Return the group and row of each principal that was ever stored, in order of the calls."""
    query = select(members.c.group_number, members.c.row).where((members.c.grouping == number) & members.c.is_principal)
    return [(row[0], row[1]) for row in connection.execute(query.order_by(members.c.since, members.c.group_number))]


def calls_by_load(connection: Connection, tolerance: str) -> dict[int, int]:
    """Return the first call after each load."""
    calls = connection.execute(_calls(tolerance)).all()
    return {row.last_load: row.call for row in calls}  # the latest first: the first ones stay


def _last_load_before(connection: Connection, seen_row: int) -> int:
    """Return the latest load that a grouping of the documents below a row has seen; -1: none."""
    later = select(func.min(documents.c.load)).where(documents.c.row >= seen_row)
    first_unseen = connection.execute(later).scalar()
    last = connection.execute(select(func.max(loads.c.load))).scalar()
    return int(first_unseen) - 1 if first_unseen is not None else -1 if last is None else int(last)


_STORED = select(groupings.c.tolerance).where(groupings.c.call == 1).order_by(groupings.c.tolerance)


def stored_tolerances(connection: Connection) -> list[str]:
    """Return the tolerances at which groups are stored."""
    return list(connection.execute(_STORED).scalars())


def no_groups_text(connection: Connection, tolerance: str) -> str:
    """Say that no groups are stored for a tolerance, and at which others."""
    stored = ", ".join(stored_tolerances(connection)) or "none"
    return f"There are no groups at {tolerance} yet; run nearkin groups COLLECTION. Stored: {stored}."
