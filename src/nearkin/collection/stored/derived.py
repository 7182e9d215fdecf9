"""How far data that is derived from the stored texts is stored: two facts, its method and its end.

What is not stored yet is derived when it is needed. A damaged text has no derived data; ``nearkin fsck`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from nearkin.store.bulk import number_after_last
from nearkin.store.schema import contents, facts
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

    def end(self, connection: Connection) -> int | None:
        """Return the content up to which data of today's method is stored; None if what is stored is unusable."""
        return self._state(connection)[0]

    def first_missing(self, connection: Connection) -> int | None:
        """Return the first content without stored data; None if there is none."""
        end, last = self._state(connection)
        return end or 0 if (end or 0) < last else None

    def _state(self, connection: Connection) -> tuple[int | None, int]:
        """Return the end of the stored data and the number of contents, which one statement reads."""
        method, end = (
            select(facts.c.value).where(facts.c.name == name).scalar_subquery()
            for name in (self.name, f"{self.name}_end")
        )
        last = select(func.coalesce(func.max(contents.c.content) + 1, 0)).scalar_subquery()
        fingerprint, said, n_stored = connection.execute(select(method, end, last)).one()
        is_number = said is not None and said.isascii() and said.isdecimal() and len(said) < 19
        is_usable = fingerprint == self.fingerprint and is_number and int(said) <= n_stored
        return int(said) if is_usable else None, int(n_stored)

    def write_end(self, connection: Connection, store: Store, end: int) -> None:
        """Record, in a write transaction, that all contents below a number have data of today's method."""
        store.write_facts(connection, {self.name: self.fingerprint, f"{self.name}_end": str(end)})


def n_contents(connection: Connection) -> int:
    """Return one more than the highest number of a content."""
    return number_after_last(connection, contents.c.content)
