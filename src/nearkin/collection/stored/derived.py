"""How far data that is derived from the stored texts is stored: two facts, its method and its end.

What is not stored yet is derived when it is needed. A damaged text has no derived data; ``nearkin fsck`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from nearkin.store import schema
from nearkin.store.bulk import number_after_last
from nearkin.store.store import Store


@dataclass(frozen=True, slots=True)
class DerivedData:
    """Kind of data derived from the texts.

    Parameters
    ----------
    name : str
        Name of the fact with the fingerprint of the method.
    fingerprint : str
        Fingerprint of today's method.
    """

    name: str
    fingerprint: str

    def end(self, connection: Connection, store: Store) -> int | None:
        """Return the content up to which data of today's method is stored; None if what is stored is unusable."""
        return self._end_below(connection, store, n_contents(connection))

    def first_missing(self, connection: Connection, store: Store) -> int | None:
        """Return the first content without stored data; None if there is none."""
        last = n_contents(connection)
        end = self._end_below(connection, store, last) or 0
        return end if end < last else None

    def _end_below(self, connection: Connection, store: Store, last: int) -> int | None:
        facts = store.facts_now(connection, (self.name, f"{self.name}_end"))
        end = facts.get(f"{self.name}_end", "")
        is_number = end.isascii() and end.isdecimal() and len(end) < 19
        return int(end) if facts.get(self.name) == self.fingerprint and is_number and int(end) <= last else None

    def write_end(self, connection: Connection, store: Store, end: int) -> None:
        """Record, in a write transaction, that all contents below a number have data of today's method."""
        store.write_facts(connection, {self.name: self.fingerprint, f"{self.name}_end": str(end)})


def n_contents(connection: Connection) -> int:
    """Return one more than the highest number of a content."""
    return number_after_last(connection, schema.contents.c.content)
