"""A stored grouping, read and written."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    delete,
    func,
    insert,
    select,
    update,
)

from nearkin.collection.tolerance import Tolerance, described
from nearkin.nouns import agreeing
from nearkin.records import I64, Bool
from nearkin.store.bulk import insert_rows
from nearkin.store.facts import read_facts, write_facts
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, groupings, groups, loads, members

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


HISTORY = Table(
    "group_history",
    MetaData(),
    Column("tolerance", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # from 1, without gaps
    Column("grouped_at", Text, nullable=False),  # UTC, in ISO 8601
    Column("last_load", Integer, nullable=False),  # the latest that was grouped; -1: none
    Column("seen_row", BigInteger, nullable=False),  # documents with this row and above were not grouped yet
    Column("differences", LargeBinary, nullable=False),  # int64, little-endian, compressed; see `_packed`
)
_CREATE = (
    "CREATE TABLE group_history (tolerance TEXT NOT NULL, number INTEGER NOT NULL, "
    "grouped_at TEXT NOT NULL, last_load INTEGER NOT NULL, seen_row BIGINT NOT NULL, differences {bytes} NOT NULL, "
    "PRIMARY KEY (tolerance, number))"
)
_PRESENCE = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE name = 'group_history'",
    "postgresql": "SELECT count(to_regclass('group_history'))",
}
_GONE = -1
"""Group of a document that left its group, and principal of a group that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastGroups:
    """Groups as they were after one call of `nearkin groups`.

    Parameters
    ----------
    number : int
        Number of the call, from 1.
    grouped_at : str
        UTC, ISO 8601.
    last_load : int
        Latest load that was grouped; -1: none.
    seen_row : int
        Documents with this row and above were not grouped yet.
    rows, groups : int64 arrays, shape (n_members,)
        Rows of the documents in groups, ascending, and the group of each.
    principals : dict of int to int
        Row of each group's principal.
    """

    number: int
    grouped_at: str
    last_load: int
    seen_row: int
    rows: I64
    groups: I64
    principals: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Differences:
    """Changes of two mappings: rows to groups, and groups to principals; `_GONE` where there is none any more."""

    members: I64  # shape (n, 2)
    principals: I64  # shape (n, 2)


def record(
    connection: Connection,
    tolerance: str,
    members: I64,
    principals: I64,
    *,
    seen_row: int,
    is_first: bool,
) -> None:
    """Store the present groups, in the transaction that writes them.

    Parameters
    ----------
    connection : Connection
    tolerance : str
    members : int64 array, shape (n_members, 2)
        Row and group of each document in a group.
    principals : int64 array, shape (n_groups, 2)
        Number of each group, and the row of its principal.
    seen_row : int
    is_first : bool
        There were no groups at this tolerance, so their numbers begin again and an earlier history means nothing.
    """
    if not is_there(connection):  # IF NOT EXISTS would need the permission to create tables in any case
        connection.exec_driver_sql(_CREATE.format(bytes="BYTEA" if connection.dialect.name == "postgresql" else "BLOB"))
    if is_first:
        connection.execute(HISTORY.delete().where(HISTORY.c.tolerance == tolerance))
    calls = _calls(connection, tolerance)
    before = _replayed(calls)
    differences = _Differences(_changed(before.members, members), _changed(before.principals, principals))
    last_load = last_load_before(connection, seen_row)
    is_same = not len(differences.members) and not len(differences.principals)
    if calls and is_same and (calls[-1].last_load, calls[-1].seen_row) == (last_load, seen_row):
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    values = tolerance, len(calls) + 1, at, last_load, seen_row, _packed(differences)
    connection.execute(HISTORY.insert().values(values))


def past_groups(connection: Connection, tolerance: str, last_load: int | None = None) -> PastGroups | None:
    """Return the groups after the first call whose latest load is ``last_load``, or after the latest call of all."""
    calls = _calls(connection, tolerance)
    wanted = [one for one in calls if one.last_load == last_load][:1] if last_load is not None else calls[-1:]
    if not wanted:
        return None
    found = _replayed(calls[: wanted[0].number])
    return PastGroups(
        number=wanted[0].number,
        grouped_at=wanted[0].grouped_at,
        last_load=wanted[0].last_load,
        seen_row=wanted[0].seen_row,
        rows=found.members[:, 0],
        groups=found.members[:, 1],
        principals=dict(found.principals.tolist()),
    )


def principals_over_time(connection: Connection, tolerance: str) -> list[tuple[int, int]]:
    """Return the group and the row of each principal that a call stored for the first time, in order of the calls."""
    changed = [pair for part in _parts(_calls(connection, tolerance)) for pair in part.principals.tolist()]
    return [(number, row) for number, row in changed if row != _GONE]


def grouped_loads(connection: Connection, tolerance: str) -> set[int]:
    """Return the loads after which the groups at a tolerance were computed, as far as that was stored."""
    return {one.last_load for one in _calls(connection, tolerance)}


def last_load_before(connection: Connection, seen_row: int) -> int:
    """Return the latest load that a grouping of the documents below a row has seen; -1 if there is none."""
    later = select(func.min(documents.c.load)).where(documents.c.row >= seen_row)
    first_unseen = connection.execute(later).scalar()
    last = connection.execute(select(func.max(loads.c.load))).scalar()
    return int(first_unseen) - 1 if first_unseen is not None else -1 if last is None else int(last)


def is_there(connection: Connection) -> bool:
    """Whether any grouping was stored since histories are kept."""
    return bool(connection.exec_driver_sql(_PRESENCE[connection.dialect.name]).scalar_one())


def _calls(connection: Connection, tolerance: str) -> Sequence[Any]:
    """Return the stored calls in order."""
    query = select(HISTORY).where(HISTORY.c.tolerance == tolerance).order_by(HISTORY.c.number)
    return connection.execute(query).all() if is_there(connection) else []


def _replayed(calls: Sequence[Any]) -> _Differences:
    """Return the mappings after some calls, both in ascending order."""
    parts = _parts(calls)
    return _Differences(
        _latest([part.members for part in parts]),
        _latest([part.principals for part in parts]),
    )


def _parts(calls: Sequence[Any]) -> list[_Differences]:
    return [_unpacked(bytes(call.differences)) for call in calls]


def _latest(parts: Sequence[I64]) -> I64:
    """Return the last value of each key, in ascending order of keys, without the keys that are gone.

    Examples
    --------
    >>> _latest([np.array([[1, 5], [2, 5]]), np.array([[1, -1], [3, 5]])]).tolist()
    [[2, 5], [3, 5]]
    """
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *parts])[::-1]
    _, last = np.unique(pairs[:, 0], return_index=True)
    found: I64 = pairs[last][pairs[last, 1] != _GONE]
    return found


def _changed(before: I64, now: I64) -> I64:
    """Return the pairs that lead from one mapping to another.

    Examples
    --------
    >>> _changed(np.array([[1, 5], [2, 5]]), np.array([[2, 5], [3, 5]])).tolist()
    [[1, -1], [3, 5]]
    """
    keys = np.union1d(before[:, 0], now[:, 0])
    was, new = np.full(len(keys), _GONE), np.full(len(keys), _GONE)
    was[np.searchsorted(keys, before[:, 0])] = before[:, 1]
    new[np.searchsorted(keys, now[:, 0])] = now[:, 1]
    is_other = was != new
    return np.stack([keys[is_other], new[is_other]], axis=1)


def _packed(differences: _Differences) -> bytes:
    """Return the number of changed members, then all pairs column by column."""
    numbers = [[len(differences.members)], *differences.members.T, *differences.principals.T]
    return zlib.compress(np.concatenate(numbers).astype("<i8").tobytes(), 6)


def _unpacked(data: bytes) -> _Differences:
    numbers = np.frombuffer(zlib.decompress(data), "<i8").astype(np.int64)
    end = 1 + 2 * int(numbers[0])
    return _Differences(numbers[1:end].reshape(2, -1).T, numbers[end:].reshape(2, -1).T)


def no_group_text(tolerance: str, group: int) -> str:
    """Say that no group at a stored tolerance has a number.

    Examples
    --------
    >>> no_group_text(str(Tolerance.of(gamma=0.1)), 99)
    'There is no group 99 within gamma 0.1. List the groups: nearkin groups COLLECTION --gamma 0.1'
    """
    alike, command = _asked(tolerance)
    return f"There is no group {group} {alike}. List the groups: {command}"


def no_groups_text(connection: Connection, tolerance: str) -> str:
    """Say that no groups are stored at a tolerance, and with which options the stored ones are found.

    If documents are never grouped by its measure, say so: no command could compute these groups.
    """
    if (asked := Tolerance.of_stored(tolerance)) is not None and not asked.has_groups:
        return f"Groups cannot use {asked.measure}. Use words or letters."
    alike, command = _asked(tolerance)
    stored = _stored_tolerances(connection)
    if not stored:
        return f"There are no groups {alike} yet. Compute them: {command}"
    options = stored_options(connection)
    at = " and ".join(options.get(one) or described(one) for one in stored)
    give = f": use {agreeing(len(options), 'this option', 'one of these options')}" if options else ""
    return f"There are no groups {alike} yet. Your groups are stored at {at}{give}. For groups {alike}: {command}"


def stored_options(connection: Connection) -> dict[str, str]:
    """Return the option that chooses the stored groups, by their tolerance; without tolerances that no option chooses.

    The option of a default tolerance is returned, too.
    """
    return {one: option for one in _stored_tolerances(connection) if (option := _option(one))}


def _stored_tolerances(connection: Connection) -> Sequence[str]:
    return connection.execute(select(groupings.c.tolerance).order_by(groupings.c.tolerance)).scalars().all()


def _asked(tolerance: str) -> tuple[str, str]:
    """Return the tolerance in words, and the command that computes its groups."""
    at = Tolerance.of_stored(tolerance)
    alike = f"at {described(tolerance)}" if at is None else at.in_words()
    return alike, f"nearkin groups COLLECTION{'' if at is None else at.of_groups()}"


def _option(tolerance: str) -> str | None:
    """Return the option that chooses the groups of a tolerance; None if there is none."""
    at = Tolerance.of_stored(tolerance)
    return None if at is None or at.parameter not in ("threshold", "gamma") else f"--{tolerance.partition(', ')[2]}"
