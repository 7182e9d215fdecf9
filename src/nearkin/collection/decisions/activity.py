"""Writing the activity log: an activity, its changes, and the values that are current after it, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Table, func, select

from nearkin.collection.decisions.records import OF_DOCUMENTS, TAG, SettingChange, SettingKey
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices, insert_rows, is_storable, number_after_last
from nearkin.store.environment import system_user
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import activity, loads

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
    at = datetime.now(UTC).isoformat(timespec="seconds")
    _insert(connection, schema.activity, [(number, at, by, kind, json.dumps(dict(data), ensure_ascii=False), undoes)])
    rows = [(number, i, one.kind, one.subject, one.other, one.was, one.now) for i, one in enumerate(changes)]
    _insert(connection, schema.changes, rows)
    _forget(connection, changes)
    tags, decisions = list[Row](), list[Row]()
    for i, change in enumerate(changes):
        if change.now is None or change.kind in OF_DOCUMENTS:
            continue
        if change.kind == TAG:
            tags.append((change.subject, change.other, change.now, number))
        else:
            decisions.append((number, i, *change.key, change.now))
    _insert(connection, schema.tags, tags)
    _insert(connection, schema.decisions, decisions)
    return number


def next_number(connection: Connection) -> int:
    """Return the number of the next activity."""
    return number_after_last(connection, schema.activity.c.number) or 1


def _insert(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    if rows:
        insert_rows(connection, table, list(zip(*rows, strict=True)))


def _forget(connection: Connection, changes: Sequence[SettingChange]) -> None:
    """Delete the former values that change; purged and removed documents have none."""
    tags, decisions = schema.tags.c, schema.decisions.c
    valued = [change for change in changes if change.kind not in OF_DOCUMENTS]
    for (kind, other), some in groupby(sorted(valued, key=_kind_and_other), key=_kind_and_other):
        table = schema.tags if kind == TAG else schema.decisions
        for part in in_slices([change.subject for change in some]):
            if kind == TAG:
                is_it = (tags.field == other) & tags.doc_id.in_(part)
            else:
                is_it = (decisions.kind == kind) & (decisions.other == other) & decisions.subject.in_(part)
            connection.execute(table.delete().where(is_it))


def _kind_and_other(one: SettingChange) -> tuple[str, str]:
    return one.kind, one.other


# -- current values ----------------------------------------------------------------------------------------------------


def current_tags(connection: Connection, condition: Any = None) -> Iterator[Row]:
    """Yield rows of ``tags`` (id, field, value, activity) in order of fields, values and ids."""
    tags = schema.tags
    query = select(tags).order_by(*(by_bytes(connection, one) for one in (tags.c.field, tags.c.value, tags.c.doc_id)))
    yield from map(tuple, connection.execute(query if condition is None else query.where(condition)))


def current_decisions(connection: Connection, condition: Any = None) -> Iterator[tuple[SettingKey, str, int]]:
    """Yield the keys and values of current decisions, with the numbers of their activities, in this order."""
    columns = schema.decisions.c
    query = select(columns.kind, columns.subject, columns.other, columns.value, columns.activity)
    query = query.order_by(columns.activity, columns.number)
    for *key, value, number in connection.execute(query if condition is None else query.where(condition)):
        yield (key[0], key[1], key[2]), value, number


def values_of(connection: Connection, keys: Sequence[SettingKey]) -> dict[SettingKey, str]:
    """Return the current values of some keys; keys that are not set are omitted."""
    tags, decisions, found = schema.tags.c, schema.decisions.c, dict[SettingKey, str]()
    subjects = dict[tuple[str, str], list[str]]()
    for kind, subject, other in keys:
        subjects.setdefault((kind, other), []).append(subject)
    for (kind, other), some in subjects.items():
        for part in in_slices([subject for subject in some if is_storable(subject)]):
            if kind == TAG:
                rows = current_tags(connection, (tags.field == other) & tags.doc_id.in_(part))
                found |= {(TAG, doc_id, field): value for doc_id, field, value, _ in rows}
            else:
                is_it = (decisions.kind == kind) & (decisions.other == other) & decisions.subject.in_(part)
                found |= {key: value for key, value, _ in current_decisions(connection, is_it)}
    return found


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
