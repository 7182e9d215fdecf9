"""Numbers and names that a new load begins with."""

from __future__ import annotations

from itertools import count

from sqlalchemy import Connection, func, select

from nearkin.collection.stored.segments import loads_of
from nearkin.store import schema
from nearkin.store.checksums import checksum
from nearkin.store.damage import damaged_collection
from nearkin.store.store import Store


def next_content(connection: Connection, store: Store) -> int:
    """Return the number of the next text.

    Raises
    ------
    CollectionError
        Texts exist beyond those that were added, so new ones would get wrong numbers.
    """
    end = _end_of_loads(connection, store)
    last = connection.execute(select(func.max(schema.contents.c.content))).scalar()
    if last is not None and last >= end:
        raise damaged_collection(f"it has a text with the number {last}, but only {end:,} were added", store.place)
    return end


def _end_of_loads(connection: Connection, store: Store) -> int:
    """Return the number after that of the last added text, which the last load has: no other load is read."""
    loads = schema.loads
    row = connection.execute(select(loads).order_by(loads.c.load.desc()).limit(1)).first()
    if row is None:
        return 0
    *values, stored = row
    if checksum(values, values[0]) == stored:
        return int(row.end_content)
    return max((load.end for load in loads_of(connection, store)), default=0)  # which says what is damaged


def new_name(connection: Connection, number: int) -> str:
    """Return the default name of a wave: the first free one from this number."""
    names = set(connection.execute(select(schema.waves.c.name)).scalars())
    return next(name for name in (f"wave {i}" for i in count(number)) if name not in names)
