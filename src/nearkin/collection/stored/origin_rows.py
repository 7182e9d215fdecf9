"""Rows of origins that are ended or erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, select

from nearkin.collection.stored.origins import IS_UNREAD
from nearkin.store.bulk import in_slices
from nearkin.store.schema import origins


def forget_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete origins by their numbers."""
    for some in in_slices(numbers):
        connection.execute(origins.delete().where(origins.c.number.in_(some)))


def forget(connection: Connection, conditions: Iterable[ColumnElement[bool]]) -> int:
    """Delete the origins that meet one of several conditions; return their number."""
    found = set[int]()
    for condition in conditions:
        found |= set(connection.execute(select(origins.c.number).where(condition)).scalars())
    forget_rows(connection, sorted(found))
    return len(found)


def remove_unread(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Remove documents without a text that meet a condition; their origins stay in the history."""
    return connection.execute(origins.update().where(condition & IS_UNREAD).values(removed_at=now)).rowcount
