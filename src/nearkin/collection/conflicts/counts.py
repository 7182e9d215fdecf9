"""Counts of stored groups whose documents have different tags."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, func, select

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions.log import StoredState, batch_names, current_tags
from nearkin.collection.groups.current import sizes_of_groups
from nearkin.collection.stored.documents import current_contents
from nearkin.collection.stored.group_state import NO_GROUP, GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.store.kept import KeptValues
from nearkin.store.schema import activity, tags

_COUNTED = KeptValues[dict[str, int]]()
"""Counts by tolerance."""


def conflicting_groups(connection: Connection, tolerance: Tolerance) -> dict[str, int]:
    """Return, by tag field, the number of stored groups whose current documents have different values of it.

    If a field is always a bare tag, documents without it count, too.
    """
    state = GroupState.known(connection, str(tolerance))
    if state.number is None:
        return {}
    now = StoredState.now(connection)
    last_activity = int(connection.execute(select(func.max(activity.c.number))).scalar_one() or 0)
    made_from = state, now, last_activity
    return _COUNTED.get(connection.engine, state.tolerance, made_from, lambda: _count(connection, state))


def _count(connection: Connection, state: GroupState) -> dict[str, int]:
    tagged = list(current_tags(connection, tags.c.field.not_in(batch_names(connection) | {DATE_TAG})))
    content_of = current_contents(connection, [doc_id for doc_id, _, _, _ in tagged])
    rows = [(field, value, content_of[doc_id]) for doc_id, field, value, _ in tagged if doc_id in content_of]
    contents = np.array([content for _, _, content in rows], np.int64)
    groups = state.membership.group_of(contents).tolist()
    values, valued = dict[str, dict[int, list[str]]](), {field for field, value, _ in rows if value}
    for (field, value, _), group in zip(rows, groups, strict=True):
        if group != NO_GROUP:
            values.setdefault(field, {}).setdefault(group, []).append(value)
    n_documents = {number: n for number, n, _ in sizes_of_groups(connection, state)}
    counts = dict[str, int]()
    for field, of_groups in sorted(values.items()):
        if field in valued:
            counts[field] = sum(len(set(of_group)) > 1 for of_group in of_groups.values())
        else:
            counts[field] = sum(len(members) < n_documents.get(group, 1) for group, members in of_groups.items())
    return {field: n for field, n in counts.items() if n}
