"""A stored grouping, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from nearkin.records import I64, Bool
from nearkin.store.bulk import insert_rows
from nearkin.store.facts import read_facts, write_facts
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, groupings, groups, members

_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupState:
    """Stored groups at one tolerance.

    Parameters
    ----------
    tolerance : str
    number : int or None
        Number of the grouping; None if there is none at this tolerance yet.
    seen_row : int
        Documents with this row and above are not grouped yet.
    next_group : int
    member_contents, member_groups : int64 arrays, shape (n_members,)
        In ascending order of contents.
    principals : dict of int to int
        Row of each group's principal.
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
        """Read the grouping at a tolerance, or return an empty one."""
        grouping = connection.execute(select(groupings).where(groupings.c.tolerance == tolerance)).first()
        number = None if grouping is None else grouping.grouping
        of_groups = select(groups.c.group_number, groups.c.principal).where(groups.c.grouping == number)
        of_members = select(members.c.content, members.c.group_number).where(members.c.grouping == number)
        rows = connection.execute(of_members.order_by(members.c.content)).all()
        columns = np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)
        return cls(
            tolerance=tolerance,
            number=number,
            seen_row=0 if grouping is None else grouping.seen_row,
            next_group=1 if grouping is None else grouping.next_group,
            member_contents=columns[:, 0].copy(),
            member_groups=columns[:, 1].copy(),
            principals=dict(connection.execute(of_groups).all()),
        )

    @classmethod
    def known(cls, connection: Connection, tolerance: str) -> GroupState:
        """Return the grouping as `read` does; not read again from an open store while its revision stays the same.

        Pages that show groups ask many times for the same ones.
        """
        row = connection.execute(select(groupings).where(groupings.c.tolerance == tolerance)).first()
        if row is None:  # not kept: visitors may ask for any number of tolerances
            _KNOWN.forget(connection.engine, tolerance)
            return cls.read(connection, tolerance)
        return _KNOWN.get(connection.engine, tolerance, tuple(row), lambda: cls._shared(connection, tolerance))

    @classmethod
    def _shared(cls, connection: Connection, tolerance: str) -> GroupState:
        """Read a grouping that many will use: its columns cannot be written."""
        state = cls.read(connection, tolerance)
        for column in (state.member_contents, state.member_groups):
            column.flags.writeable = False
        return state

    def is_same_as(self, other: GroupState) -> bool:
        """Whether nothing was written between the two reads."""
        numbers = [(one.number, one.seen_row, one.next_group, one.principals) for one in (self, other)]
        return numbers[0] == numbers[1] and all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.member_contents, other.member_contents),
                (self.member_groups, other.member_groups),
            )
        )

    def live_contents(self, connection: Connection, n_contents: int) -> tuple[Bool, I64]:
        """Return which contents a current document has, and the number of documents of each, shape (n_contents,)."""
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


def n_rows(connection: Connection) -> int:
    """Return one more than the highest row of all documents ever stored."""
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
    """Replace a stored grouping, inside the connection's transaction."""
    number = state.number
    if number is None:
        number = 1 + (connection.execute(select(func.max(groupings.c.grouping))).scalar() or 0)
        connection.execute(insert(groupings).values((number, state.tolerance, seen_row, next_group, 0)))
    else:
        for table in (members, groups):
            connection.execute(delete(table).where(table.c.grouping == number))
        _revise(connection, number, seen_row=seen_row, next_group=next_group)
    insert_rows(connection, groups, [[number] * len(principals), list(principals), list(principals.values())])
    for start in range(0, len(contents), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        columns: Sequence[Any] = [contents[part].tolist(), numbers[part].tolist()]
        insert_rows(connection, members, [[number] * len(columns[0]), *columns])


def n_not_compared(connection: Connection, state: GroupState) -> int:
    """Return the number of pairs that earlier updates of a grouping left uncompared."""
    name = _not_compared(state)
    return 0 if state.number is None else int(read_facts(connection, [name]).get(name, "0"))


def store_not_compared(connection: Connection, state: GroupState, n_pairs: int) -> None:
    """Store the number of pairs left uncompared so far, in the transaction that stores the groups."""
    name = _not_compared(state)
    if read_facts(connection, [name]).get(name, "0") != str(n_pairs):
        write_facts(connection, {name: str(n_pairs)})


def _not_compared(state: GroupState) -> str:
    return f"pairs not compared at {state.tolerance}"


def make_principal(connection: Connection, number: int, group: int, row: int) -> None:
    """Make a document the principal of a group, inside the connection's transaction."""
    is_it = (groups.c.grouping == number) & (groups.c.group_number == group)
    connection.execute(update(groups).where(is_it).values(principal=row))
    _revise(connection, number)


def _revise(connection: Connection, number: int, **values: int) -> None:
    """Update the row of a grouping of which the groups or members are written."""
    is_it = groupings.c.grouping == number
    connection.execute(update(groupings).where(is_it).values(revision=groupings.c.revision + 1, **values))


_KNOWN = KeptValues[GroupState]()
"""Groupings by tolerance, each made from its row."""
