"""A stored grouping, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from nearkin.collection.tolerance import described, groups_command
from nearkin.errors import CollectionError
from nearkin.nouns import counted
from nearkin.records import I64, Bool
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import wrapped
from nearkin.store.facts import read_facts, write_facts
from nearkin.store.integrity import refuse_missing_rows
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, groupings, groups, members
from nearkin.store.sealing import grouping_checksum, of_grouping
from nearkin.store.seals import Seal, Seals, difference_in_number, read_seals, write_seals

_WITHOUT_SEAL = "the seal of the stored groups is missing or damaged: groups may be missing"
_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class _SealFault:
    """Difference of the groupings from their seal, in words."""

    kind: Literal["lost", "number differs", "differs"]
    said: str


@dataclass(frozen=True, slots=True)
class GroupRepairs:
    """Repairs of damaged groupings, in words; whether only their seal was lost, and is written again."""

    said: tuple[str, ...]
    is_only_seal: bool


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
        """Read the grouping at a tolerance, or return an empty one.

        Raises
        ------
        CollectionError
            The grouping was changed, or is missing.
        """
        found = connection.execute(select(groupings).where(groupings.c.tolerance == tolerance)).first()
        if found is None:
            if names := damaged_groupings(connection):  # this one may be among them
                raise _damaged(names)
            refuse_missing_rows(connection, groupings)
            nothing = np.zeros(0, np.int64)
            return cls(
                tolerance=tolerance,
                number=None,
                seen_row=0,
                next_group=1,
                member_contents=nothing,
                member_groups=nothing,
                principals={},
            )
        columns = _as_stored(connection, found)
        if columns is None:
            raise _damaged([str(tolerance)])  # SQLite stores any type in any column
        numbers, principals, member_contents, member_groups = columns
        order = np.argsort(member_contents)
        return cls(
            tolerance=tolerance,
            number=found.grouping,
            seen_row=found.seen_row,
            next_group=found.next_group,
            member_contents=member_contents[order],
            member_groups=member_groups[order],
            principals=dict(zip(numbers.tolist(), principals.tolist(), strict=True)),
        )

    @classmethod
    def known(cls, connection: Connection, tolerance: str) -> GroupState:
        """Return the grouping as `read` does; not read again from an open store while its checksum stays the same.

        Pages that show groups ask many times for the same ones. A grouping that was damaged since it was verified is
        found by `read`, before groups are written.

        Raises
        ------
        CollectionError
            The grouping was changed.
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
    seals, number = Seals(), state.number
    if number is None:
        number = 1 + (connection.execute(select(func.max(groupings.c.grouping))).scalar() or 0)
    else:
        was = connection.execute(select(groupings.c.checksum).where(groupings.c.grouping == number)).scalars().all()
        _forget(connection, number)
        seals.take(groupings.name, was)
    values = number, state.tolerance, seen_row, next_group
    of_groups = np.array(list(principals), np.int64), np.array(list(principals.values()), np.int64)
    own = grouping_checksum(values, *of_groups, contents, numbers)
    connection.execute(insert(groupings).values((*values, own)))
    seals.add(groupings.name, [own])
    seals.write(connection)
    insert_rows(connection, groups, [[number] * len(principals), list(principals), list(principals.values())])
    for start in range(0, len(contents), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        columns: Sequence[Any] = [contents[part].tolist(), numbers[part].tolist()]
        insert_rows(connection, members, [[number] * len(columns[0]), *columns])


def n_not_compared(connection: Connection, state: GroupState) -> int:
    """Return the number of pairs that earlier updates of a grouping left uncompared."""
    name = _not_compared(state)
    return 0 if state.number is None else int(read_facts(connection, "The collection", [name]).get(name, "0"))


def store_not_compared(connection: Connection, state: GroupState, n_pairs: int) -> None:
    """Store the number of pairs left uncompared so far, in the transaction that stores the groups."""
    name = _not_compared(state)
    if read_facts(connection, "The collection", [name]).get(name, "0") != str(n_pairs):
        write_facts(connection, {name: str(n_pairs)})


def _not_compared(state: GroupState) -> str:
    return f"pairs not compared at {state.tolerance}"


def make_principal(connection: Connection, number: int, group: int, row: int) -> None:
    """Make a document the principal of a group, inside the connection's transaction."""
    is_it = (groups.c.grouping == number) & (groups.c.group_number == group)
    connection.execute(update(groups).where(is_it).values(principal=row))
    found = connection.execute(select(groupings).where(groupings.c.grouping == number)).one()
    own, seals = grouping_checksum(found[:-1], *of_grouping(connection, number)), Seals()
    seals.take(groupings.name, [found.checksum])
    seals.add(groupings.name, [own])
    seals.write(connection)
    connection.execute(update(groupings).where(groupings.c.grouping == number).values(checksum=own))


def faults(connection: Connection) -> list[str]:
    """Return the damage of the groupings, their groups and members."""
    found, seal = _changed(connection), _difference_from_seal(connection)
    return [*(said for said, _ in found), *([seal.said] if _is_to_name(seal, found) else [])]


def _changed(connection: Connection) -> list[tuple[str, str]]:
    """Return which groupings were changed, and how many rows belong to none, each with the command to run again."""
    changed = damaged_groupings(connection)
    told = [(f"the groups at {described(one)} were changed", groups_command(one)) for one in changed]
    known = select(groupings.c.grouping)
    for table in (groups, members):
        n_rows = connection.execute(select(func.count()).where(table.c.grouping.not_in(known))).scalar_one()
        if n_rows:
            told.append((f"{table.name}: {counted(n_rows, 'row')} of no grouping", groups_command(None)))
    return told


def _difference_from_seal(connection: Connection) -> _SealFault | None:
    """Return how the number of groupings, or the sum of their checksums, differs from what was written, or None."""
    seal = read_seals(connection, [groupings.name]).get(groupings.name, Seal(0, 0, False))
    here = _seal_of_groupings(connection)
    if seal == here:
        return None
    if not seal.is_whole:
        return _SealFault("lost", _WITHOUT_SEAL)
    if (said := difference_in_number(groupings.name, here.n_rows, seal)) is not None:
        return _SealFault("number differs", said)
    return _SealFault("differs", "groupings: rows differ from those stored")


def _is_to_name(seal: _SealFault | None, changed: Sequence[object]) -> TypeGuard[_SealFault]:
    """Whether a fault of the seal is more than a consequence of changed groupings."""
    return seal is not None and (seal.kind != "differs" or not changed)


def repair(connection: Connection) -> GroupRepairs:
    """Delete changed groupings, in a write transaction, and say so; they can be computed again, with other numbers."""
    found, seal = _changed(connection), _difference_from_seal(connection)
    _delete_changed(connection)
    said = [f"{one}; they were deleted. Run {command}; groups then get new numbers" for one, command in found]
    if _is_to_name(seal, found):
        if seal.kind == "lost":
            said.append(f"{seal.said}. It was written again{'' if found else ', and no stored group was changed'}")
        else:
            said.append(f"{seal.said}. Run {groups_command(None)}; groups then get new numbers")
    return GroupRepairs(tuple(said), seal is not None and seal.kind == "lost" and not found)


def _delete_changed(connection: Connection) -> None:
    for found in connection.execute(select(groupings)).all():
        if _as_stored(connection, found) is None:
            _forget(connection, found.grouping)
    known = select(groupings.c.grouping)
    for table in (members, groups):
        connection.execute(delete(table).where(table.c.grouping.not_in(known)))
    write_seals(connection, {groupings.name: _seal_of_groupings(connection)})


def _seal_of_groupings(connection: Connection) -> Seal:
    own = connection.execute(select(groupings.c.checksum)).scalars().all()
    return Seal(len(own), wrapped(sum(one or 0 for one in own)), True)


def damaged_groupings(connection: Connection) -> list[str]:
    """Return the tolerances of the groupings that were changed."""
    rows = connection.execute(select(groupings)).all()
    return [str(one.tolerance) for one in rows if _as_stored(connection, one) is None]


def _as_stored(connection: Connection, found: Any) -> tuple[I64, I64, I64, I64] | None:
    """Return the groups and members of a row of ``groupings``; None if any of them was changed."""
    try:
        columns = of_grouping(connection, found.grouping)
        return columns if grouping_checksum(found[:-1], *columns) == found.checksum else None
    except (TypeError, ValueError, OverflowError):  # SQLite stores any type in any column
        return None


def _damaged(tolerances: Sequence[str]) -> CollectionError:
    return CollectionError(
        f"The collection is damaged: the groups at {' and '.join(map(described, tolerances))} were changed in "
        "the database. Restore the database from a backup; or run nearkin fsck COLLECTION, which deletes them, then "
        f"{' and '.join(map(groups_command, tolerances))}, which makes groups with new numbers."
    )


def _forget(connection: Connection, number: int) -> None:
    for table in (members, groups, groupings):
        connection.execute(delete(table).where(table.c.grouping == number))


_KNOWN = KeptValues[GroupState]()
"""Groupings by tolerance, each made from its row."""
