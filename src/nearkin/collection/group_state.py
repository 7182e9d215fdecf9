"""A grouping as the store has it, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from nearkin.records import I64, Bool
from nearkin.store.bulk import insert_rows
from nearkin.store.schema import documents, groupings, groups, members

_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class GroupState:
    """What is known of the groups at one tolerance.

    Parameters
    ----------
    tolerance : str
    number : int or None
        Of the grouping; None if there is none at this tolerance yet.
    seen_row : int
        Documents from this row on are new to it.
    next_group : int
    member_contents, member_groups : int64 arrays, shape (n_members,)
        In the order of contents.
    principals : dict of int to int
        The row of each group's principal.
    """

    tolerance: str
    number: int | None
    seen_row: int
    next_group: int
    member_contents: I64
    member_groups: I64
    principals: dict[int, int]

    @classmethod
    def read(cls, connection: Connection, tolerance: str) -> GroupState:
        """The grouping at a tolerance, or one that has yet to see everything."""
        found = connection.execute(select(groupings).where(groupings.c.tolerance == tolerance)).first()
        if found is None:
            nothing = np.zeros(0, np.int64)
            return cls(tolerance, None, 0, 1, nothing, nothing, {})
        number = found.grouping
        rows = connection.execute(
            select(members.c.content, members.c.group_number)
            .where(members.c.grouping == number)
            .order_by(members.c.content)
        ).all()
        of_groups = select(groups.c.group_number, groups.c.principal).where(groups.c.grouping == number)
        return cls(
            tolerance,
            number,
            found.seen_row,
            found.next_group,
            np.array([row.content for row in rows], np.int64),
            np.array([row.group_number for row in rows], np.int64),
            {row.group_number: row.principal for row in connection.execute(of_groups)},
        )

    def is_same_as(self, other: GroupState) -> bool:
        """Whether nothing was written between reading the one and the other."""
        numbers = [(one.number, one.seen_row, one.next_group, one.principals) for one in (self, other)]
        return numbers[0] == numbers[1] and all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.member_contents, other.member_contents),
                (self.member_groups, other.member_groups),
            )
        )

    def live_contents(self, connection: Connection, n_contents: int) -> tuple[Bool, I64]:
        """Which contents some current document has, and how many documents have each, shape (n_contents,)."""
        n_copies = np.zeros(n_contents, np.int64)
        for start in range(0, n_contents, _AT_A_TIME):
            is_in = (documents.c.content >= start) & (documents.c.content < start + _AT_A_TIME)
            rows = connection.execute(select(documents.c.content).where(is_in & documents.c.is_current)).scalars().all()
            stop = min(start + _AT_A_TIME, n_contents)
            n_copies[start:stop] = np.bincount(np.array(rows, np.int64) - start, minlength=stop - start)
        return n_copies > 0, n_copies

    def new_contents(self, connection: Connection) -> I64:
        """The contents of current documents that came since."""
        is_new = (documents.c.row >= self.seen_row) & documents.c.is_current
        return np.array(connection.execute(select(documents.c.content).where(is_new)).scalars().all(), np.int64)


def n_rows(connection: Connection) -> int:
    """Documents that were ever stored."""
    return int(connection.execute(select(func.coalesce(func.max(documents.c.row) + 1, 0))).scalar_one())


def write(
    connection: Connection,
    state: GroupState,
    *,
    seen_row: int,
    next_group: int,
    contents: I64,
    numbers: I64,
    principals: dict[int, int],
) -> None:
    """Replace what was stored of a grouping, in the transaction of the connection."""
    number = state.number
    if number is None:
        number = 1 + (connection.execute(select(func.max(groupings.c.grouping))).scalar() or 0)
        told: dict[str, object] = {"tolerance": state.tolerance, "seen_row": seen_row, "next_group": next_group}
        connection.execute(insert(groupings).values(grouping=number, **told))
    else:
        mine = groupings.c.grouping == number
        connection.execute(update(groupings).where(mine).values(seen_row=seen_row, next_group=next_group))
    connection.execute(delete(members).where(members.c.grouping == number))
    connection.execute(delete(groups).where(groups.c.grouping == number))
    insert_rows(connection, groups, [[number] * len(principals), list(principals), list(principals.values())])
    for start in range(0, len(contents), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        columns: Sequence[Any] = [contents[part].tolist(), numbers[part].tolist()]
        insert_rows(connection, members, [[number] * len(columns[0]), *columns])
