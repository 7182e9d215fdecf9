"""Principals that left their group by a decision, and become its principals again when the decision is undone."""

from __future__ import annotations

from sqlalchemy import Connection, select

from nearkin.collection.groups.changes import MemberRows
from nearkin.collection.groups.grouping import Membership
from nearkin.collection.stored.group_history import principals_over_time
from nearkin.collection.stored.group_state import GroupState
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents


def returned_principals(connection: Connection, state: GroupState, rows: MemberRows) -> dict[int, int]:
    """Return, by group, the position of the member that was its last principal before it left.

    A group with a new number, such as one that was united with another and is apart again, gets the member that was the
    principal of any group last. A document that was stored since the last call, for example because it had been removed
    and is added again, gets nothing back.

    Parameters
    ----------
    connection : Connection
    state : GroupState
        Groups at the last call.
    rows : MemberRows
        Groups now, of which at least one has got texts back as a decision was undone.
    """
    were = principals_over_time(connection, state.tolerance)
    ids = dict[int, str]()
    for some in in_slices(sorted({row for _, row in were})):
        ids |= dict(
            connection.execute(select(documents.c.row, documents.c.doc_id).where(documents.c.row.in_(some))).all()
        )
    place_of = {doc_id: place for place, doc_id in enumerate(rows.doc_id)}
    was_in = Membership(state.member_contents, state.member_groups).group_of(rows.content)
    found = dict[int, int]()
    for number, row in reversed(were):
        place = place_of.get(ids.get(row, ""))
        if place is None or rows.row[place] >= state.seen_row or (now := int(rows.group[place])) in found:
            continue
        if now not in state.principals or (now == number and was_in[place] != now):
            found[now] = place
    return found
