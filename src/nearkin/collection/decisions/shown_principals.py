"""Principals of stored groups to show: another member replaces a principal that is gone, until the next update."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals
from nearkin.collection.stored.group_state import GroupState
from nearkin.store.bulk import named
from nearkin.store.schema import contents, documents


class ShownPrincipal(NamedTuple):
    """A current document that represents a stored group."""

    row: int
    content: int
    doc_id: str


def shown_principals(connection: Connection, state: GroupState, numbers: Collection[int]) -> dict[int, ShownPrincipal]:
    """Return the principals of some stored groups; groups without a current document are omitted.

    If the stored principal was removed, erased or replaced by another version, it is the first of these in the group:
    the current version of it; the member that somebody chose as a principal last; the member with the most letters and
    digits, the earliest of several. The next update of the groups makes this one the principal.
    ``group_of_documents.sql`` and the view of ``word_functions.sql`` in `plain_sql` have the same rule.

    Parameters
    ----------
    connection : Connection
    state : GroupState
    numbers : collection of int
        Numbers of groups at its tolerance.
    """
    stored = {number: state.principals[number] for number in numbers if number in state.principals}
    current, former_ids = dict[int, ShownPrincipal](), dict[int, str]()
    columns = documents.c.row, documents.c.content, documents.c.doc_id, documents.c.is_current
    for some in named(list(stored.values())):
        for row, content, doc_id, is_current in connection.execute(select(*columns).where(documents.c.row.in_(some))):
            if is_current:
                current[row] = ShownPrincipal(row, content, doc_id)
            else:
                former_ids[row] = doc_id
    shown = {number: current[row] for number, row in stored.items() if row in current}
    gone = {number: former_ids.get(row, "") for number, row in stored.items() if row not in current}
    return shown | _standing_in(connection, state, gone)


def _standing_in(connection: Connection, state: GroupState, gone: Mapping[int, str]) -> dict[int, ShownPrincipal]:
    """Return the members that represent groups whose principals, with these ids, are gone."""
    if not gone:
        return {}
    is_wanted = np.isin(state.member_groups, list(gone))
    group_of = dict(zip(state.member_contents[is_wanted].tolist(), state.member_groups[is_wanted].tolist()))
    chosen = chosen_principals(connection)
    query = select(documents.c.row, documents.c.content, documents.c.doc_id, N_LETTERS)
    query = query.select_from(documents.join(contents))
    ranked = list[tuple[int, tuple[bool, int, int, int], ShownPrincipal]]()
    for some in named(list(group_of)):
        is_member = documents.c.content.in_(some) & documents.c.is_current
        for row, content, doc_id, n_letters in connection.execute(query.where(is_member)):
            number = group_of[content]
            rank = doc_id == gone[number], chosen.get(doc_id, 0), n_letters, -row
            ranked.append((number, rank, ShownPrincipal(row, content, doc_id)))
    return {number: one for number, _, one in sorted(ranked)}  # the last one is the best
