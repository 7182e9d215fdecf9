"""Migrations of stores made by older versions of Nearkin; a store made by a newer version is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import Connection, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex

from nearkin.errors import CollectionError
from nearkin.store import schema
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import CHECKED, judged
from nearkin.store.damage import unrepairable
from nearkin.store.facts import write_facts
from nearkin.store.place import Place
from nearkin.store.seals import Seal, write_seals

Step = Callable[[Connection], None]


def version_of(connection: Connection, place: Place) -> int:
    """Return the schema version of a store.

    Raises
    ------
    CollectionError
        The version is newer than this Nearkin supports.
    """
    facts = schema.facts
    is_schema = facts.c.name == "schema"
    stored = connection.execute(select(facts.c.value).where(is_schema)).scalar_one_or_none()
    if inspect(connection).has_table(schema.seals.name, schema=place.schema):  # since version 4 facts have checksums
        own = connection.execute(select(facts.c.checksum).where(is_schema)).scalar()
        stored = judged(("schema", stored), 0, own).values[1]
    if not isinstance(stored, str) or not stored.isdecimal() or int(stored) < 1:
        raise unrepairable(f"its schema version is {stored!r}", place)
    if int(stored) > schema.VERSION:
        raise CollectionError(
            f"{place} was made by a newer Nearkin: its schema has version {stored}, and this Nearkin supports versions "
            f"up to {schema.VERSION}. Update Nearkin: pip install --upgrade nearkin"
        )
    return int(stored)


def _to_2(connection: Connection) -> None:
    """Add stored groups."""
    schema.metadata.create_all(connection, [schema.groupings, schema.groups, schema.members])


def _to_3(connection: Connection) -> None:
    """Add profiles; `nearkin.collection` fills them, since the fact that names their method is still missing."""
    schema.metadata.create_all(connection, [schema.profiles, schema.checked_contents])
    insert_rows(connection, schema.facts, [list(schema.FACTS_OF_3), list(schema.FACTS_OF_3.values())])


def _to_4(connection: Connection) -> None:
    """Add checksums and seals for the current rows; earlier damage goes unnoticed."""
    from nearkin.store.sealing import seal_everything  # few stores are so old

    schema.metadata.create_all(connection, [*schema.OF_5, *schema.OF_6])  # today's seals cover them
    for table in (*CHECKED, schema.groupings):
        # a store of version 1 has just received today's tables of version 2
        if "checksum" not in connection.exec_driver_sql(f"SELECT * FROM {table.name} LIMIT 0").keys():  # noqa: SIM118
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN checksum BIGINT")
    schema.metadata.create_all(connection, [schema.seals])
    seal_everything(connection)
    write_facts(connection, {"sealed_since": datetime.now(UTC).isoformat(timespec="seconds")})


def _to_5(connection: Connection) -> None:
    """Add the activity log, tags, decisions and purges."""
    schema.metadata.create_all(connection, schema.OF_5)
    write_seals(connection, {table.name: Seal(0, 0, True) for table in schema.OF_5})


def _to_6(connection: Connection) -> None:
    """Add the origins of documents; those of earlier documents are stored when they are added again."""
    schema.metadata.create_all(connection, schema.OF_6)
    write_seals(connection, {table.name: Seal(0, 0, True) for table in schema.OF_6})


def add_indexes(connection: Connection) -> None:
    """Add the indexes that a store of the current version may lack, on which no result depends.

    A user who may store rows need not be the owner of the tables: then nothing is added.
    """
    with contextlib.suppress(DBAPIError), connection.begin_nested():
        connection.execute(CreateIndex(schema.ORIGINS_OF_PARENT, if_not_exists=True))


STEPS: dict[int, Step] = {1: _to_2, 2: _to_3, 3: _to_4, 4: _to_5, 5: _to_6}
"""Migrations, by the version from which each leads to the next."""


def migrate(connection: Connection, version: int) -> None:
    """Migrate from a version to the current one, inside the connection's transaction."""
    for start in range(version, schema.VERSION):
        STEPS[start](connection)
    if version < schema.VERSION:
        write_facts(connection, {"schema": str(schema.VERSION)})
