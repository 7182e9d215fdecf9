"""A store made by an older Nearkin becomes one of today's; one made by a newer is left alone."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, select, update

from nearkin.errors import CollectionError
from nearkin.store import schema
from nearkin.store.bulk import insert_rows

Step = Callable[[Connection], None]


def version_of(connection: Connection, place: str) -> int:
    """The version of the schema that a store has.

    Raises
    ------
    CollectionError
        If it is newer than what this Nearkin knows.
    """
    stored = connection.execute(
        select(schema.facts.c.value).where(schema.facts.c.name == "schema")
    ).scalar_one_or_none()
    if stored is None or not stored.isdecimal() or int(stored) < 1:
        raise CollectionError(f"{place} says {stored!r} where the version of its schema should be; it is damaged.")
    if int(stored) > schema.VERSION:
        raise CollectionError(
            f"{place} was made by a newer Nearkin: its schema is {stored}, and this Nearkin knows schemas up to "
            f"{schema.VERSION}. Update Nearkin: pip install --upgrade nearkin"
        )
    return int(stored)


def _to_2(connection: Connection) -> None:
    """Groups that stay."""
    schema.metadata.create_all(connection, [schema.groupings, schema.groups, schema.members])


def _to_3(connection: Connection) -> None:
    """Profiles; whoever knows what texts mean fills them, as the fact of how they are made is not there yet."""
    schema.metadata.create_all(connection, [schema.profiles, schema.checked_contents])
    insert_rows(connection, schema.facts, [list(schema.FACTS_OF_3), list(schema.FACTS_OF_3.values())])


STEPS: dict[int, Step] = {1: _to_2, 2: _to_3}
"""By the version that each starts from; it leads to the next."""


def migrate(connection: Connection, version: int) -> None:
    """Take every step from the version to today's, inside the transaction of the connection."""
    for start in range(version, schema.VERSION):
        STEPS[start](connection)
    facts = schema.facts
    connection.execute(update(facts).where(facts.c.name == "schema").values(value=str(schema.VERSION)))
