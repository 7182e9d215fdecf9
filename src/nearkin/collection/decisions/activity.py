"""Writing the activity log: an activity, its changes, and the values that are current after it, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Select, Table, select

from nearkin.collection.decisions.records import OF_DOCUMENTS, TAG, SettingChange, SettingKey
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows, is_storable
from nearkin.store.checksums import checksum, covered, key_place
from nearkin.store.damage import damaged_collection
from nearkin.store.environment import system_user
from nearkin.store.integrity import refuse_missing_rows
from nearkin.store.ordering import by_bytes
from nearkin.store.seals import Seals

_MAX_OF_A_NAME = 200
_NOBODY = "unknown"
Row = tuple[Any, ...]


def checked_by(by: object) -> str:
    """Return the name of the person who decides: by default the user of the system.

    Raises
    ------
    ParameterError
        It is not a str, blank, too long, or not storable.
    """
    if by is None:
        by = system_user() or _NOBODY
    if not isinstance(by, str) or not by.strip() or len(by) > _MAX_OF_A_NAME or not is_storable(by):
        raise ParameterError.of("by", f"a name of 1 to {_MAX_OF_A_NAME} characters, not blank", by)
    return by.strip()


def record(
    connection: Connection,
    kind: str,
    changes: Sequence[SettingChange],
    *,
    by: str,
    data: Mapping[str, object],
    undoes: int | None = None,
) -> int:
    """Store an activity and the current values after it, in a write transaction; return its number."""
    number = next_number(connection)
    at, seals = datetime.now(UTC).isoformat(timespec="seconds"), Seals()
    told = json.dumps(dict(data), ensure_ascii=False)
    _insert(connection, schema.activity, [(number, at, by, kind, told, undoes)], seals)
    rows = [(number, i, one.kind, one.subject, one.other, one.was, one.now) for i, one in enumerate(changes)]
    _insert(connection, schema.changes, rows, seals)
    _forget(connection, changes, seals)
    tags, decisions = current_rows(number, changes)
    _insert(connection, schema.tags, tags, seals)
    _insert(connection, schema.decisions, decisions, seals)
    seals.write(connection)
    return number


def next_number(connection: Connection) -> int:
    """Return the number of the next activity.

    Raises
    ------
    CollectionError
        The row of the last activity was changed.
    """
    table = schema.activity
    last = verified(table, connection.execute(select(table).order_by(table.c.number.desc()).limit(1)))
    return last[0][0] + 1 if last else 1


def current_rows(number: int, changes: Sequence[SettingChange]) -> tuple[list[Row], list[Row]]:
    """Return the rows of ``tags`` and ``decisions`` that an activity sets, without their checksums."""
    tags, decisions = list[Row](), list[Row]()
    for i, one in enumerate(changes):
        if one.now is None or one.kind in OF_DOCUMENTS:
            continue
        if one.kind == TAG:
            tags.append((one.subject, one.other, one.now, number))
        else:
            decisions.append((number, i, *one.key, one.now))
    return tags, decisions


def with_checksums(table: Table, rows: Iterable[Row]) -> list[Row]:
    """Return rows with their checksums as the last column."""
    place = key_place(table)
    return [(*row, checksum(row, row[place])) for row in rows]


def _insert(connection: Connection, table: Table, rows: Sequence[Row], seals: Seals) -> None:
    if rows:
        whole = with_checksums(table, rows)
        insert_rows(connection, table, list(zip(*whole, strict=True)))
        seals.add(table.name, [row[-1] for row in whole])


def _forget(connection: Connection, changes: Sequence[SettingChange], seals: Seals) -> None:
    """Delete the former values that change; purged and removed documents have none."""
    tags, decisions = schema.tags.c, schema.decisions.c
    valued = [one for one in changes if one.kind not in OF_DOCUMENTS]
    for (kind, other), some in groupby(sorted(valued, key=_kind_and_other), key=_kind_and_other):
        table = schema.tags if kind == TAG else schema.decisions
        for part in in_slices([one.subject for one in some]):
            if kind == TAG:
                is_it = (tags.field == other) & tags.doc_id.in_(part)
            else:
                is_it = (decisions.kind == kind) & (decisions.other == other) & decisions.subject.in_(part)
            seals.take(table.name, connection.execute(select(table.c.checksum).where(is_it)).scalars().all())
            connection.execute(table.delete().where(is_it))


def _kind_and_other(one: SettingChange) -> tuple[str, str]:
    return one.kind, one.other


# -- current values ----------------------------------------------------------------------------------------------------


def current_tags(connection: Connection, condition: Any = None) -> Iterator[Row]:
    """Yield rows of ``tags`` (id, field, value, activity) in order of fields, values and ids.

    Raises
    ------
    CollectionError
        A row was changed, or one of the table is missing.
    """
    refuse_missing_rows(connection, schema.tags)
    yield from _tags(connection, condition)


def _tags(connection: Connection, condition: Any) -> Iterator[Row]:
    tags = schema.tags
    query = select(tags).order_by(*(by_bytes(connection, one) for one in (tags.c.field, tags.c.value, tags.c.doc_id)))
    for row in connection.execute(query if condition is None else query.where(condition)):
        yield _as_written(tags, row)


def current_decisions(connection: Connection, condition: Any = None) -> Iterator[tuple[SettingKey, str, int]]:
    """Yield the keys and values of current decisions, with the numbers of their activities, in this order.

    Raises
    ------
    CollectionError
        A row was changed, or one of the table is missing.
    """
    refuse_missing_rows(connection, schema.decisions)
    yield from _decisions(connection, condition)


def _decisions(connection: Connection, condition: Any) -> Iterator[tuple[SettingKey, str, int]]:
    table = schema.decisions
    query = select(table).order_by(table.c.activity, table.c.number)
    for row in connection.execute(query if condition is None else query.where(condition)):
        activity, _, kind, subject, other, value = _as_written(table, row)
        yield (kind, subject, other), value, activity


def _as_written(table: Table, row: Any) -> Row:
    *values, stored = row
    if checksum(values, values[key_place(table)]) != stored:
        said = ", ".join(f"{name} {value!r}" for name, value in zip(covered(table)[:3], values))
        raise damaged_collection(f"a row of {table.name} was changed in the database ({said})")
    return tuple(values)


def verified(table: Table, rows: Iterable[Any]) -> list[Row]:
    """Return rows without their checksums.

    Raises
    ------
    CollectionError
        A row was changed.
    """
    return [_as_written(table, row) for row in rows]


def whole_log(connection: Connection, table: Table, query: Select[Any]) -> list[Row]:
    """Return rows of ``activity`` or ``changes``, without their checksums, that a query for all columns finds.

    Raises
    ------
    CollectionError
        A row was changed, or one of the table is missing.
    """
    refuse_missing_rows(connection, table)
    return verified(table, connection.execute(query))


def values_of(connection: Connection, keys: Sequence[SettingKey]) -> dict[SettingKey, str]:
    """Return the current values of some keys; keys that are not set are omitted.

    Raises
    ------
    CollectionError
        A row was changed, or one of the table is missing.
    """
    refuse_missing_rows(connection, *{schema.tags if kind == TAG else schema.decisions for kind, _, _ in keys})
    tags, decisions, found = schema.tags.c, schema.decisions.c, dict[SettingKey, str]()
    subjects = dict[tuple[str, str], list[str]]()
    for kind, subject, other in keys:
        subjects.setdefault((kind, other), []).append(subject)
    for (kind, other), some in subjects.items():
        for part in in_slices([subject for subject in some if is_storable(subject)]):
            if kind == TAG:
                rows = _tags(connection, (tags.field == other) & tags.doc_id.in_(part))
                found |= {(TAG, doc_id, field): value for doc_id, field, value, _ in rows}
            else:
                is_it = (decisions.kind == kind) & (decisions.other == other) & decisions.subject.in_(part)
                found |= {key: value for key, value, _ in _decisions(connection, is_it)}
    return found
