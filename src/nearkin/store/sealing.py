"""Checksums and seals for rows without them, or new ones for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, select

from nearkin.kernels.mixing import GOLDEN, spread
from nearkin.records import I64
from nearkin.store import schema
from nearkin.store.bulk import update_integers
from nearkin.store.checksums import CHECKED, checksum, covered, key_place, wrapped
from nearkin.store.seals import PARTS, Seal, documents_of, write_seals

_ROWS_AT_A_TIME = 1 << 14


def seal_everything(connection: Connection) -> None:
    """Accept every row as correct."""
    write_seals(connection, dict.fromkeys(PARTS, Seal(0, 0, True)))
    for table in CHECKED:
        if table is schema.documents:
            _seal_documents(connection)
        else:
            _seal_small(connection, table)
    total, n_rows = 0, 0
    for row in connection.execute(select(schema.groupings)).all():
        own = grouping_checksum(row[:-1], *of_grouping(connection, row.grouping))
        update_integers(connection, schema.groupings, "grouping", "checksum", {row.grouping: own})
        total, n_rows = total + own, n_rows + 1
    write_seals(connection, {schema.groupings.name: Seal(n_rows, wrapped(total), True)})


def _seal_documents(connection: Connection) -> None:
    documents = schema.documents
    names, place = covered(documents), key_place(documents)
    columns = [documents.c[name] for name in names]
    wave_of = dict(connection.execute(select(schema.loads.c.load, schema.loads.c.wave)).all())
    totals: dict[int, tuple[int, int]] = dict.fromkeys(wave_of.values(), (0, 0))
    following = select(*columns).order_by(documents.c.row).limit(_ROWS_AT_A_TIME)
    rows = connection.execute(following).all()
    while rows:
        made = dict[int, int]()
        for row in rows:
            made[row[0]] = own = checksum(row, row[place])
            wave = wave_of.get(row[names.index("load")], 0)
            n_rows, total = totals.get(wave, (0, 0))
            totals[wave] = n_rows + 1, total + own
        update_integers(connection, documents, "row", "checksum", made)
        rows = connection.execute(following.where(documents.c.row > rows[-1][0])).all()
    seals = {documents_of(wave): Seal(n_rows, wrapped(total), True) for wave, (n_rows, total) in totals.items()}
    write_seals(connection, seals)


def _seal_small(connection: Connection, table: Table) -> None:
    """Seal a table with so few or narrow rows that they can be written one by one."""
    columns = [table.c[name] for name in covered(table)]
    place, total = key_place(table), 0
    rows = connection.execute(select(*columns)).all()
    for row in rows:
        own = checksum(row, row[place])
        is_it = [column == value for column, value in zip(columns, row, strict=True) if column.primary_key]
        is_it = is_it or [table.c.load == row.load, table.c.number == row.number]
        connection.execute(table.update().where(*is_it).values(checksum=own))
        total += own
    write_seals(connection, {table.name: Seal(len(rows), wrapped(total), True)})


def grouping_checksum(
    values: Sequence[Any], numbers: I64, principals: I64, contents: I64, groups_of_contents: I64
) -> int:
    """Return the checksum of a grouping with its groups and members, independent of their order.

    Parameters
    ----------
    values : sequence
        Columns of the grouping itself.
    numbers, principals : int64 arrays, shape (n_groups,)
    contents, groups_of_contents : int64 arrays, shape (n_members,)
    """
    of_groups, of_members = _mixed(numbers, principals), _mixed(contents, groups_of_contents)
    return checksum((*values, len(numbers), of_groups, len(contents), of_members), values[0])


def _mixed(a: I64, b: I64) -> int:
    """Return a sum over pairs that does not depend on their order."""
    mixed = spread((a.astype(np.uint64) * GOLDEN) ^ (b.astype(np.uint64) + GOLDEN))
    return int(mixed.sum(dtype=np.uint64))


def of_grouping(connection: Connection, number: int) -> tuple[I64, I64, I64, I64]:
    """Return the groups of a grouping, their principals, the members, and the members' groups."""
    groups, members = schema.groups.c, schema.members.c
    columns: list[I64] = []
    for query in (
        select(groups.group_number, groups.principal).where(groups.grouping == number),
        select(members.content, members.group_number).where(members.grouping == number),
    ):
        columns.extend(np.array([tuple(row) for row in connection.execute(query)], np.int64).reshape(-1, 2).T)
    return columns[0], columns[1], columns[2], columns[3]
