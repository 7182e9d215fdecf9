"""Tags beside documents: the key of each tag."""

from __future__ import annotations

import json

from sqlalchemy import Connection, func, select

from nearkin.collection.dates import DATE_TAG
from nearkin.store import schema


def keyed_tags(connection: Connection, n_keys: int) -> dict[int, tuple[str, str]]:
    """Return the tags in use that have keys, by key from 1: the tags in the order in which they were first set.

    The log, to which rows are only added, gives each tag its key for good. A tag that no document has any more is
    omitted until it is set again, and keeps its key. Dates, and the values of an activity that set more values than
    there are keys, have no keys.
    """
    table, changes, first = schema.activity.c, schema.changes.c, dict[tuple[str, str], None]()
    for number, data in connection.execute(
        select(table.number, table.data).where(table.kind == "tag").order_by(table.number)
    ):
        activity = json.loads(data)
        if activity["field"] == DATE_TAG or activity.get("n_values", 1) > n_keys:
            continue
        values = [activity["value"]] if "value" in activity else []
        if not values:
            of_activity = select(changes.now).where(changes.activity == number).group_by(changes.now)
            values = list(connection.execute(of_activity.order_by(func.min(changes.number))).scalars())
        first |= {(activity["field"], value): None for value in values}
        if len(first) >= n_keys:
            break
    in_use = set(map(tuple, connection.execute(select(schema.tags.c.field, schema.tags.c.value).distinct())))
    return {key: one for key, one in enumerate([*first][:n_keys], 1) if one in in_use}
