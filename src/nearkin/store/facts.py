"""What is said once of a collection, each fact with its checksum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from nearkin.errors import CollectionError
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import checksum, judged
from nearkin.store.schema import facts
from nearkin.store.seals import Seals

DERIVED = {"check_keys", "check_keys_end", "check_keys_lost"}
"""Facts that are worked out again where they are missing."""
_IN_WORDS = {"collection": "own id", "schema": "version of its schema"}


def say(connection: Connection, said: Mapping[str, str]) -> None:
    """Add to what is said of a collection; what was said under the same names goes."""
    seals = Seals()
    _unsay(connection, list(said), seals)
    checksums = [checksum((name, value), name) for name, value in said.items()]
    insert_rows(connection, facts, [list(said), list(said.values()), checksums])
    seals.add(facts.name, checksums)
    seals.write(connection)


def unsay(connection: Connection, name: str) -> None:
    """Say no longer what was said under a name."""
    seals = Seals()
    _unsay(connection, [name], seals)
    seals.write(connection)


def _unsay(connection: Connection, names: Sequence[str], seals: Seals) -> None:
    was = connection.execute(select(facts.c.checksum).where(facts.c.name.in_(names))).scalars().all()
    connection.execute(facts.delete().where(facts.c.name.in_(names)))
    seals.take(facts.name, was)


def read_facts(connection: Connection, place: object, names: Sequence[str] | None = None) -> dict[str, str]:
    """What is said, or what of it is said under some names; where one byte was changed, as it was said.

    Raises
    ------
    CollectionError
        A fact is not what was said, and cannot be worked out again.
    """
    query, told = select(facts), dict[str, str]()
    for name, value, stored in connection.execute(query if names is None else query.where(facts.c.name.in_(names))):
        row = judged((name, value), 0, stored)
        if row.is_known:
            told[row.values[0]] = row.values[1]
        elif name not in DERIVED:
            what = _IN_WORDS.get(name, name)
            raise CollectionError(
                f"{place} is damaged: it says {value!r} where its {what} should be. Restore the database from a backup."
            )
    return told
