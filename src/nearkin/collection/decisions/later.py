"""Decisions on groups that stored groups do not follow yet."""

from __future__ import annotations

from sqlalchemy import Connection, select

from nearkin.collection.decisions.records import NEVER_GROUP, SAME_GROUP
from nearkin.store.checksums import checksum, covered, key_place
from nearkin.store.damage import damaged
from nearkin.store.facts import read_facts
from nearkin.store.schema import activity, changes


def n_later_decisions(connection: Connection, tolerance: str) -> int:
    """Return the number of decisions that the groups at a tolerance do not follow yet.

    Changes of tags and notes are not read: there may be millions. The activity says what its changes are of; that of an
    undo does not.

    Raises
    ------
    CollectionError
        The row of a change was changed.
    """
    names, key, found = covered(changes), key_place(changes), set[int]()
    columns = [*(changes.c[name] for name in names), changes.c.checksum]
    of_groups = activity.c.kind.in_((NEVER_GROUP, SAME_GROUP)) | activity.c.undoes.is_not(None)
    numbers = select(activity.c.number).where((activity.c.number > seen_activity(connection, tolerance)) & of_groups)
    for *values, stored in connection.execute(select(*columns).where(changes.c.activity.in_(numbers))):
        row = dict(zip(names, values))
        if checksum(values, values[key]) != stored:
            raise damaged(f"the row of change {row['number']} of activity {row['activity']} was changed")
        if row["kind"] in (NEVER_GROUP, SAME_GROUP):
            found.add(row["activity"])
    return len(found)


def seen_activity(connection: Connection, tolerance: str) -> int:
    """Return the last activity that the stored groups follow; 0 if there was none."""
    name = fact_of_decisions(tolerance)
    return int(read_facts(connection, "The collection", [name]).get(name, "0"))


def fact_of_decisions(tolerance: str) -> str:
    """Return the name of the fact with this activity."""
    return f"decisions of groups at {tolerance}"
