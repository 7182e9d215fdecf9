"""Current tags and decisions, rebuilt from the activity log if they were damaged."""

from __future__ import annotations

from sqlalchemy import Connection, Table, select

from nearkin.collection.decisions.activity import Row, current_rows, with_checksums
from nearkin.collection.decisions.records import SettingChange, SettingKey
from nearkin.collection.opened import OpenedCollection
from nearkin.store import schema
from nearkin.store.bulk import insert_rows
from nearkin.store.checksums import wrapped
from nearkin.store.integrity import any_bytes
from nearkin.store.seals import Seal, read_seals, write_seals

_LOG = (schema.activity, schema.changes)
STATE = (schema.tags, schema.decisions)
"""Tables whose rows follow from the activity log."""


def mend_from_log(collection: OpenedCollection) -> list[str]:
    """Replace the current tags and decisions by those of the log, if they differ and the log is undamaged."""
    with collection.store.reading() as connection:
        if _differing(connection) is None:
            return []
    with collection.store.writing() as connection:
        right = _differing(connection)
        if right is None:
            return []
        for table, rows in zip(STATE, right, strict=True):
            connection.execute(table.delete())
            insert_rows(connection, table, list(zip(*rows, strict=True)))
            write_seals(connection, {table.name: _seal(rows)})
    return ["the current tags and decisions, from the activity log"]


def differs_from_log(connection: Connection) -> bool:
    """Whether the current tags and decisions are not those of the log, and the log is undamaged."""
    return _differing(connection) is not None


def _differing(connection: Connection) -> tuple[list[Row], list[Row]] | None:
    """Return the rows of ``tags`` and ``decisions`` by the log; None if they are stored so, or the log is damaged."""
    seals, log = read_seals(connection, [table.name for table in _LOG]), list[list[Row]]()
    for table in _LOG:
        rows = _rows_of(connection, table)
        if with_checksums(table, [row[:-1] for row in rows]) != rows or seals.get(table.name) != _seal(rows):
            return None
        log.append(rows)
    right = _replayed(log[1])
    stored = tuple(sorted(_rows_of(connection, table), key=repr) for table in STATE)
    return None if stored == tuple(sorted(rows, key=repr) for rows in right) else right


def _replayed(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows that are current after all changes, with their checksums."""
    tags, decisions = dict[SettingKey, Row](), dict[SettingKey, Row]()
    of_activity = dict[int, list[SettingChange]]()
    for activity, _, *values, _ in sorted(rows, key=lambda row: (row[0], row[1])):
        of_activity.setdefault(activity, []).append(SettingChange(*values))
    for number, changes in of_activity.items():
        for one in changes:
            tags.pop(one.key, None)
            decisions.pop(one.key, None)
        of_tags, of_decisions = current_rows(number, changes)
        tags |= {("tag", row[0], row[1]): row for row in of_tags}
        decisions |= {(row[2], row[3], row[4]): row for row in of_decisions}
    return with_checksums(schema.tags, tags.values()), with_checksums(schema.decisions, decisions.values())


def _rows_of(connection: Connection, table: Table) -> list[Row]:
    with any_bytes(connection):
        ordered = select(table).order_by(*table.primary_key.columns)
        return [tuple(row) for row in connection.execute(ordered)]


def _seal(rows: list[Row]) -> Seal:
    return Seal(len(rows), wrapped(sum(row[-1] for row in rows if isinstance(row[-1], int))), True)
