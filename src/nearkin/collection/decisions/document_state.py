"""State of the documents of a collection: two numbers that change whenever documents do."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.records import OF_DOCUMENTS
from nearkin.store.schema import activity, loads


@dataclass(frozen=True, slots=True)
class StoredState:
    """Two numbers; at least one of them changes whenever documents are added, replaced, removed or erased.

    Parameters
    ----------
    last_load : int
        Number of the last load; 0 before the first.
    last_removal : int
        Number of the last activity that removed or erased documents; 0 before the first.
    """

    last_load: int
    last_removal: int

    @classmethod
    def now(cls, connection: Connection) -> StoredState:
        """Return the state of the documents."""
        removal = select(func.max(activity.c.number)).where(activity.c.kind.in_(OF_DOCUMENTS))
        return cls(
            int(connection.execute(select(func.max(loads.c.load))).scalar_one() or 0),
            int(connection.execute(removal).scalar_one() or 0),
        )
