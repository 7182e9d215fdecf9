"""Proposed principals and indirect members of some stored groups; nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.document_state import StoredState
from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals
from nearkin.collection.decisions.shown_principals import ShownPrincipal, shown_principals
from nearkin.collection.matching.matches import matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.stored.document_rows import current_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.records import I64
from nearkin.store.bulk import named
from nearkin.store.kept import KeptValues
from nearkin.store.schema import contents, documents


@dataclass(frozen=True, slots=True)
class GroupProposal:
    """Proposed principal and number of indirect members of a stored group.

    Parameters
    ----------
    proposed_principal : str or None
        As in `Group`.
    n_indirect : int
        Number of members that do not match the principal.
    """

    proposed_principal: str | None
    n_indirect: int


_KEPT = KeptValues[dict[int, GroupProposal]]()
"""Proposals for the groups of the latest page, by tolerance."""


def group_proposals(
    collection: OpenedCollection, tolerance: Tolerance, numbers: Sequence[int]
) -> dict[int, GroupProposal]:
    """Compare the members of some stored groups with their principals, unless that was the latest question.

    Raises
    ------
    CollectionError
        The groups or the row of a document were changed in the store.
    """
    if not numbers:
        return {}

    def ask(seen: Snapshot) -> dict[int, GroupProposal]:
        state = GroupState.known(seen.connection, str(tolerance))
        if state.number is None:
            return {}
        chosen = chosen_principals(seen.connection)
        made_from = state, StoredState.now(seen.connection), tuple(numbers), tuple(chosen.items())
        return _KEPT.get(
            seen.connection.engine,
            state.tolerance,
            made_from,
            lambda: _compared(collection, seen, tolerance, state, numbers, chosen),
        )

    return collection.answered(ask)


def proposed_among(
    connection: Connection, members: Sequence[ShownPrincipal], principal: ShownPrincipal, chosen: Collection[str]
) -> str | None:
    """Return the member with the most letters and digits, the earliest in a tie.

    None if it is the principal, or if a person chose the principal.
    """
    if any(one.doc_id in chosen for one in members):
        return None
    n_letters = dict[int, int]()
    for some in named(sorted({one.content for one in members})):
        lengths = select(contents.c.content, N_LETTERS).where(contents.c.content.in_(some))
        n_letters |= dict(connection.execute(lengths).all())
    best = max(members, key=lambda one: (n_letters.get(one.content, 0), -one.row))
    return None if best.row == principal.row else best.doc_id


def _compared(
    collection: OpenedCollection,
    seen: Snapshot,
    tolerance: Tolerance,
    state: GroupState,
    numbers: Sequence[int],
    chosen: Mapping[str, int],
) -> dict[int, GroupProposal]:
    is_wanted = np.isin(state.member_groups, list(numbers))
    group_of = dict(zip(state.member_contents[is_wanted].tolist(), state.member_groups[is_wanted].tolist()))
    shown = shown_principals(seen.connection, state, numbers)
    members = {number: list[ShownPrincipal]() for number in shown}
    for one in current_rows(seen.connection, documents.c.content, group_of):
        if group_of[one.content] in members:
            members[group_of[one.content]].append(ShownPrincipal(one.row, one.content, one.doc_id))
    matching, measures = matching_of(seen.connection, collection.counting, seen.segments, tolerance, "groups")
    pairs = [(shown[number].content, one.content) for number, some in members.items() for one in some]
    sides: I64 = np.array(pairs, np.int64).reshape(-1, 2)
    is_match = iter(matching.is_match(measures.of(sides[:, 0], sides[:, 1])).tolist())
    return {
        number: GroupProposal(
            proposed_among(seen.connection, some, shown[number], chosen), sum(not next(is_match) for _ in some)
        )
        for number, some in members.items()
    }
