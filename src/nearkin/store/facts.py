"""Facts about a collection, as key-value pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, select

from nearkin.store.bulk import insert_rows
from nearkin.store.damage import unrepairable
from nearkin.store.schema import facts

# made once: every transaction reads a few facts, and a statement takes longer to make than to run
_ALL = select(facts)
_SOME = select(facts).where(facts.c.name.in_(bindparam("names", expanding=True)))
_OWN_ID = re.compile("[0-9a-f]{32}")
_IN_EACH = {"schema", "collection", "generation"}
"""Facts of every collection."""


def write_facts(connection: Connection, new: Mapping[str, str]) -> None:
    """Store facts about a collection; facts of the same names are replaced."""
    connection.execute(facts.delete().where(facts.c.name.in_(list(new))))
    insert_rows(connection, facts, [list(new), list(new.values())])


def delete_fact(connection: Connection, name: str) -> None:
    """Delete a fact."""
    connection.execute(facts.delete().where(facts.c.name == name))


def read_facts(connection: Connection, names: Sequence[str] | None = None) -> dict[str, str]:
    """Return all facts, or those with the given names."""
    rows = connection.execute(_ALL) if names is None else connection.execute(_SOME, {"names": list(names)})
    return {row.name: row.value for row in rows}


def whole_facts(connection: Connection, place: object) -> dict[str, str]:
    """Return the facts of a collection.

    Raises
    ------
    CollectionError
        One that every collection has is missing, or invalid.
    """
    found = read_facts(connection)
    if missing := _IN_EACH - set(found):
        raise unrepairable(f"it has no {', '.join(sorted(missing))}", place)
    if not _OWN_ID.fullmatch(found["collection"]):  # it becomes the name of a folder
        raise unrepairable(f"its id is {found['collection'][:50]!r}", place)
    generation_in(found["generation"], place)
    return found


def generation_in(found: str | None, place: object) -> int:
    """Return the generation that a fact has; see `Store.generation`."""
    if found is None or not found.isdecimal():
        raise unrepairable(f"its generation is {found!r}", place)
    return int(found)
