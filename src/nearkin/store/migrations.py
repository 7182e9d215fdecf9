"""A store made by an older Nearkin becomes one of today's; one made by a newer is left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, inspect, select

from nearkin.errors import CollectionError
from nearkin.store import schema
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import CHECKED, judged
from nearkin.store.facts import say
from nearkin.store.place import Place
from nearkin.store.sealing import seal_everything

Step = Callable[[Connection], None]


def version_of(connection: Connection, place: Place) -> int:
    """The version of the schema that a store has.

    Raises
    ------
    CollectionError
        If it is newer than what this Nearkin knows.
    """
    facts = schema.facts
    is_schema = facts.c.name == "schema"
    stored = connection.execute(select(facts.c.value).where(is_schema)).scalar_one_or_none()
    if inspect(connection).has_table(schema.seals.name, schema=place.schema):  # since version 4 facts have checksums
        own = connection.execute(select(facts.c.checksum).where(is_schema)).scalar()
        stored = judged(("schema", stored), 0, own).values[1]
    if not isinstance(stored, str) or not stored.isdecimal() or int(stored) < 1:
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


def _to_4(connection: Connection) -> None:
    """Checksums of rows, and seals; they cover what is there now, and cannot tell what was damaged before."""
    for table in (*CHECKED, schema.groupings):
        # a store of version 1 gets the tables of version 2 as they are today
        if "checksum" not in connection.exec_driver_sql(f"SELECT * FROM {table.name} LIMIT 0").keys():  # noqa: SIM118
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN checksum BIGINT")
    schema.metadata.create_all(connection, [schema.seals])
    seal_everything(connection)
    say(connection, {"sealed_since": datetime.now(UTC).isoformat(timespec="seconds")})


STEPS: dict[int, Step] = {1: _to_2, 2: _to_3, 3: _to_4}
"""By the version that each starts from; it leads to the next."""


def migrate(connection: Connection, version: int) -> None:
    """Take every step from the version to today's, inside the transaction of the connection."""
    for start in range(version, schema.VERSION):
        STEPS[start](connection)
    if version < schema.VERSION:
        say(connection, {"schema": str(schema.VERSION)})
