"""Reading the activity log, and a table of it for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.activity import Row
from nearkin.collection.decisions.records import (
    NEVER_GROUP,
    SAME_GROUP,
    SPLIT_OFF,
    Activity,
    SettingChange,
    data_of_undo,
    kind_of,
)
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_storable

LOG_SCHEMA = pa.schema(
    [
        pa.field("activity", pa.int64(), nullable=False),
        pa.field("at", pa.large_string(), nullable=False),  # UTC, ISO 8601
        pa.field("by", pa.large_string(), nullable=False),
        pa.field("kind", pa.large_string(), nullable=False),
        pa.field("undoes", pa.int64()),
        pa.field("undone_by", pa.int64()),
        pa.field("changed", pa.large_string(), nullable=False),  # kind of the value that it changed
        pa.field("subject", pa.large_string(), nullable=False),
        pa.field("other", pa.large_string(), nullable=False),
        pa.field("was", pa.large_string()),
        pa.field("now", pa.large_string()),
    ]
)


def activities(
    connection: Connection,
    *,
    since: str | None = None,
    of: str | None = None,
    by: str | None = None,
    kind: str | None = None,
) -> list[Activity]:
    """Return the activities in order, on request only those of a person or of a kind; see `Collection.log`.

    Raises
    ------
    ParameterError
        ``since`` is not a date or a time.
    """
    table, start = schema.activity, "" if since is None else checked_since(since)
    rows = list(map(tuple, connection.execute(select(table).order_by(table.c.number))))
    stored = NEVER_GROUP if kind == SPLIT_OFF else kind
    wanted = [row for row in rows if row[1] >= start and by in (None, row[2]) and stored in (None, row[3])]
    if of is not None:
        if not isinstance(of, str):
            raise ParameterError.of("of", "the id of a document", of)
        acted = _activities_of(connection, rows, of) if is_storable(of) else set()
        wanted = [row for row in wanted if row[0] in acted]
    return [one for one in _activities(connection, wanted, rows) if kind in (None, one.kind)]


def _activities(connection: Connection, wanted: Sequence[Row], rows: Sequence[Row]) -> list[Activity]:
    """Return activities with their changes; ``rows`` has at least all undos."""
    undone_by = undone({number: undoes for number, *_, undoes in rows if undoes is not None})
    of_activity = changes_of(connection, [row[0] for row in wanted])
    return [
        Activity(
            number=number,
            at=at,
            by=by,
            kind=kind_of(kind, changes),
            data=json.loads(data) if undoes is None else data_of_undo(json.loads(data), changes),
            undoes=undoes,
            changes=changes,
            undone_by=undone_by.get(number),
        )
        for number, at, by, kind, data, undoes in wanted
        for changes in [tuple(of_activity.get(number, ()))]
    ]


def activity_of(connection: Connection, number: int) -> Activity | None:
    """Return an activity by its number; None if there is none."""
    table = schema.activity
    is_told = (table.c.number == number) | table.c.undoes.is_not(None)
    rows = list(map(tuple, connection.execute(select(table).where(is_told))))
    found = [row for row in rows if row[0] == number]
    return next(iter(_activities(connection, found, rows)), None)


def _activities_of(connection: Connection, rows: Sequence[Row], doc_id: str) -> set[int]:
    """Return the activities that changed a document, as the subject or as the second document of a pair.

    Only subjects have an index. The second one is looked for in the few changes of decisions on pairs, by their key.
    """
    changes, kinds, pairs = schema.changes.c, dict[int, str](), list[int]()
    is_subject = select(changes.activity).where(changes.subject == doc_id)
    found = set(connection.execute(is_subject).scalars())
    for number, _, _, kind, _, undoes in rows:  # an undo changes the same values as what it undoes
        kinds[number] = kinds.get(undoes or 0, str(kind))
        if kinds[number] in (NEVER_GROUP, SAME_GROUP):
            pairs.append(number)
    for some in in_slices(pairs):
        is_other = changes.activity.in_(some) & (changes.other == doc_id)
        found |= set(connection.execute(select(changes.activity).where(is_other)).scalars())
    return found


def undone(undoes: Mapping[int, int]) -> dict[int, int]:
    """Return the activities that are undone, each with the undo that is in force.

    Examples
    --------
    The undo of 1, by 2, was undone by 3:

    >>> undone({2: 1, 3: 2})
    {2: 3}
    """
    by = dict[int, int]()
    for number in sorted(undoes, reverse=True):
        if number not in by:
            by[undoes[number]] = number
    return by


def changes_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[SettingChange]]:
    """Return the changes of some activities, in order."""
    table, found = schema.changes, dict[int, list[SettingChange]]()
    for some in in_slices(numbers):
        query = select(table).where(table.c.activity.in_(some)).order_by(table.c.activity, table.c.number)
        for activity, _, *values in connection.execute(query):
            found.setdefault(activity, []).append(SettingChange(*values))
    return found


def checked_since(since: str) -> str:
    """Return a date or a time as the log has it; without a zone it is UTC.

    Examples
    --------
    >>> checked_since("2026-11-23"), checked_since("2026-11-23T10:00+02:00")
    ('2026-11-23T00:00:00+00:00', '2026-11-23T08:00:00+00:00')
    """
    try:
        found = datetime.fromisoformat(since)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:  # in UTC it may be before the year 1
        rule = "a date or a time in ISO 8601, such as 2026-11-23 or 2026-11-23T10:00"
        raise ParameterError.of("since", rule, since) from error
    return found.isoformat(timespec="seconds")


def table_of_log(listed: Iterable[Activity]) -> pa.Table:
    """Return a row for each changed value, with `LOG_SCHEMA`."""
    rows: list[tuple[Any, ...]] = [
        (one.number, one.at, one.by, one.kind, one.undoes, one.undone_by, *change.key, change.was, change.now)
        for one in listed
        for change in one.changes
    ]
    columns = list(zip(*rows, strict=True)) or [()] * len(LOG_SCHEMA)
    return pa.Table.from_arrays([pa.array(c, one.type) for c, one in zip(columns, LOG_SCHEMA)], schema=LOG_SCHEMA)
