"""Stored groups with different tags, counted as they are stored: nothing is compared."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, func, select

from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.store.bulk import named
from nearkin.store.schema import documents, members, tags


def conflicting_groups(connection: Connection, tolerance: Tolerance) -> dict[str, int]:
    """Return, by tag field, the number of stored groups whose current documents have different values of it.

    If a field is always a bare tag, documents without it count, too. Fields without such a group are omitted.

    Raises
    ------
    CollectionError
        The groups were changed in the store.
    """
    state = GroupState.known(connection, str(tolerance))
    if state.number is None:
        return {}
    current_tags = documents.join(tags, (tags.c.doc_id == documents.c.doc_id) & documents.c.is_current)
    has_value = select(tags.c.field).select_from(current_tags).where(tags.c.value != "").distinct()
    valued = set(connection.execute(has_value).scalars())
    in_group = members.c.grouping == state.number
    of_group = (
        select(tags.c.field, members.c.group_number, func.count(tags.c.value.distinct()), func.count())
        .select_from(current_tags.join(members, (members.c.content == documents.c.content) & in_group))
        .group_by(tags.c.field, members.c.group_number)
    )
    found = connection.execute(of_group).all()
    sizes = dict[int, int]()
    for some in named(sorted({number for field, number, *_ in found if field not in valued})):
        n_documents = (
            select(members.c.group_number, func.count())
            .select_from(members.join(documents, documents.c.content == members.c.content))
            .where(in_group & members.c.group_number.in_(some) & documents.c.is_current)
            .group_by(members.c.group_number)
        )
        sizes |= dict(connection.execute(n_documents).all())
    is_conflict = Counter(
        field
        for field, number, n_values, n_tagged in found
        if (n_values > 1 if field in valued else n_tagged < sizes[number])
    )
    return dict(sorted(is_conflict.items()))
