"""Proposed principals and indirect members of some stored groups; nothing is written."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.activity import StoredState
from nearkin.collection.decisions.principals import N_LETTERS, ShownPrincipal, chosen_principals, shown_principals
from nearkin.collection.matching.matches import matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.stored.documents import current_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.records import I64
from nearkin.store.bulk import in_slices
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


_MAX_KEPT = 10_000
MAX_COMPARED = 50_000
"""Maximum number of documents of a page that are compared with their principals, which takes about two seconds."""


class RecentProposals:
    """Proposals for the groups that were asked for last, of one state of the documents and the groups.

    Examples
    --------
    >>> recent, asked = RecentProposals(), []
    >>> def compare(numbers):
    ...     asked.append(numbers)
    ...     return {number: GroupProposal(None, number) for number in numbers}
    >>> pages = [recent.of(numbers, compare) for numbers in ([1, 2], [3], [2, 1, 3])]
    >>> asked, [one.n_indirect for one in pages[2].values()]
    ([[1, 2], [3]], [2, 1, 3])
    """

    def __init__(self) -> None:
        self._known = OrderedDict[int, GroupProposal | None]()
        self._lock = threading.Lock()
        self._comparing = threading.Lock()

    def of(
        self, numbers: Sequence[int], compare: Callable[[Sequence[int]], Mapping[int, GroupProposal]]
    ) -> dict[int, GroupProposal]:
        """Return the proposals for some groups; only groups that are not known are compared.

        One thread compares at a time: meanwhile, those that ask for the same groups wait for it.
        """
        known = self._known_among(numbers)
        if any(number not in known for number in numbers):
            with self._comparing:
                known = self._known_among(numbers)
                missing = [number for number in numbers if number not in known]
                found = compare(missing) if missing else {}
                known |= {number: found.get(number) for number in missing}
                self._keep(known)
        return {number: one for number in numbers if (one := known[number]) is not None}

    def _known_among(self, numbers: Sequence[int]) -> dict[int, GroupProposal | None]:
        with self._lock:
            known = {number: self._known[number] for number in numbers if number in self._known}
            for number in known:
                self._known.move_to_end(number)
        return known

    def _keep(self, known: Mapping[int, GroupProposal | None]) -> None:
        with self._lock:
            for number, proposal in known.items():
                self._known[number] = proposal
                self._known.move_to_end(number)
            while len(self._known) > _MAX_KEPT:
                self._known.popitem(last=False)


_KEPT = KeptValues[RecentProposals]()
"""Recent proposals by tolerance."""


def compared_groups(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """Return the numbers of the groups that a page compares, given the number and the size of each of its groups.

    Examples
    --------
    >>> compared_groups([(7, 40_000), (3, 20_000), (5, 10_000)])
    [7, 5]
    """
    chosen, n_left = list[int](), MAX_COMPARED
    for number, n_documents in sizes:
        if n_documents <= n_left:
            chosen.append(number)
            n_left -= n_documents
    return chosen


def group_proposals(
    collection: OpenedCollection, tolerance: Tolerance, numbers: Sequence[int]
) -> dict[int, GroupProposal]:
    """Compare the members of some stored groups with their principals, except groups that were asked for recently."""
    if not numbers:
        return {}

    def ask(seen: Snapshot) -> dict[int, GroupProposal]:
        state = GroupState.known(seen.connection, str(tolerance))
        if state.number is None:
            return {}
        chosen = chosen_principals(seen.connection)
        made_from = state, StoredState.now(seen.connection), tuple(chosen.items())
        recent = _KEPT.get(seen.connection.engine, state.tolerance, made_from, RecentProposals)
        return recent.of(numbers, lambda some: _compared(collection, seen, tolerance, state, some, chosen))

    return collection.answered(ask)


def proposed_among(
    connection: Connection, members: Sequence[ShownPrincipal], principal: ShownPrincipal, chosen: Collection[str]
) -> str | None:
    """Return the member with the most letters and digits, the earliest in a tie.

    None if the principal has as many, or if a person chose the principal.
    """
    if any(one.doc_id in chosen for one in members):
        return None
    n_letters = dict[int, int]()
    for some in in_slices(sorted({one.content for one in members})):
        lengths = select(contents.c.content, N_LETTERS).where(contents.c.content.in_(some))
        n_letters |= dict(connection.execute(lengths).all())
    best = max(members, key=lambda one: (n_letters.get(one.content, 0), -one.row))
    is_longer = n_letters.get(best.content, 0) > n_letters.get(principal.content, 0)
    return best.doc_id if is_longer else None


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
    matching, measures = matching_of(seen.connection, collection.counting, seen.segments, tolerance)
    pairs = list(
        dict.fromkeys((shown[number].content, one.content) for number, some in members.items() for one in some)
    )
    sides: I64 = np.array(pairs, np.int64).reshape(-1, 2)
    is_match = dict(zip(pairs, matching.is_match(measures.of(sides[:, 0], sides[:, 1])).tolist(), strict=True))
    return {
        number: GroupProposal(
            proposed_among(seen.connection, some, shown[number], chosen),
            sum(not is_match[shown[number].content, one.content] for one in some),
        )
        for number, some in members.items()
    }
