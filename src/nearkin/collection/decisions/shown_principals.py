"""Principals of stored groups to show: another member replaces a principal that is gone, until the next update."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals
from nearkin.collection.stored.document_rows import current_rows, document_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.store.bulk import in_slices
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
    The view ``group_of_documents`` of ``plain_sql.sql`` has the same rule.

    Parameters
    ----------
    connection : Connection
    state : GroupState
    numbers : collection of int
        Numbers of groups at its tolerance.
    """
    stored = {number: state.principals[number] for number in numbers if number in state.principals}
    current, former_ids = dict[int, ShownPrincipal](), dict[int, str]()
    for one in document_rows(connection, documents.c.row, stored.values()):
        if one.is_current:
            current[one.row] = ShownPrincipal(one.row, one.content, one.doc_id)
        else:
            former_ids[one.row] = one.doc_id
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
    n_letters = dict[int, int]()
    for some in in_slices(list(group_of)):
        lengths = select(contents.c.content, N_LETTERS).where(contents.c.content.in_(some))
        n_letters |= dict(connection.execute(lengths).all())
    ranked = list[tuple[int, tuple[bool, int, int, int], ShownPrincipal]]()
    for one in current_rows(connection, documents.c.content, group_of):
        number = group_of[one.content]
        rank = one.doc_id == gone[number], chosen.get(one.doc_id, 0), n_letters.get(one.content, 0), -one.row
        ranked.append((number, rank, ShownPrincipal(one.row, one.content, one.doc_id)))
    return {number: one for number, _, one in sorted(ranked)}  # the last one is the best
