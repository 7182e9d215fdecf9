"""Rows of origins that are ended or erased, with their checksums and their seal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from nearkin.collection.stored.origins import COLUMNS, IS_UNREAD, KEY, with_origins
from nearkin.store.bulk import in_slices, update_integers
from nearkin.store.checksums import checksum
from nearkin.store.schema import origins
from nearkin.store.seals import Seals

_REMOVED_AT = COLUMNS.index("removed_at")


def forget_rows(connection: Connection, seals: Seals, rows: Sequence[tuple[Any, int | None]]) -> None:
    """Delete origins, given by their numbers and checksums."""
    for some in in_slices([number for number, _ in rows]):
        connection.execute(origins.delete().where(origins.c.number.in_(some)))
    seals.take(origins.name, [own for _, own in rows])


def forget(connection: Connection, seals: Seals, conditions: Iterable[ColumnElement[bool]]) -> int:
    """Delete the origins that meet one of several conditions; return their number."""
    found = dict[int, int | None]()
    for condition in conditions:
        found |= dict(connection.execute(select(origins.c.number, origins.c.checksum).where(condition)).all())
    forget_rows(connection, seals, list(found.items()))
    return len(found)


def remove_unread(connection: Connection, seals: Seals, condition: ColumnElement[bool], now: str) -> int:
    """Remove documents without a text that meet a condition; their origins stay in the history."""
    checksums = dict[int, int]()
    for *values, stored in connection.execute(with_origins().where(condition & IS_UNREAD)).all():
        if checksum(values, values[KEY]) != stored:
            continue  # nearkin fsck reports it
        values[_REMOVED_AT] = now
        checksums[values[0]] = checksum(values, values[KEY])
        seals.take(origins.name, [stored])
        seals.add(origins.name, [checksums[values[0]]])
    for some in in_slices(list(checksums)):
        connection.execute(origins.update().where(origins.c.number.in_(some)).values(removed_at=now))
    update_integers(connection, origins, "number", "checksum", checksums)
    return len(checksums)
