"""Lists of stored groups at one tolerance; nothing is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.log import GROUP_NOTE, StoredState, values_of
from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents, shown_principals
from nearkin.collection.stored.documents import rows_where
from nearkin.collection.stored.group_state import GroupState, stored_tolerances
from nearkin.collection.tolerance import Tolerance, check_limit
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, members

_COUNTED = KeptValues[list[tuple[int, int, int]]]()
"""Counts by tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGroup:
    """A stored group.

    Parameters
    ----------
    number : int
    principal : str
        Id of its principal, or of the member that stands in for it; see `shown_principals`.
    n_documents, n_texts : int
        Number of current documents, and of their distinct texts.
    note : str or None
    """

    number: int
    principal: str
    n_documents: int
    n_texts: int
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGroups:
    """Stored groups at one tolerance.

    Parameters
    ----------
    tolerance : Tolerance
    groups : tuple of StoredGroup
        The largest first, without the first ``offset`` ones; at most ``limit``.
    sizes : tuple of (int, int)
        Numbers of documents, and the number of groups that have so many, in ascending order.
    n_not_grouped : int
        Number of current documents that were added or changed since the groups were updated.
    n_decisions : int
        Number of decisions on groups that were made or undone since then.
    is_stored : bool
        Whether the groups at this tolerance were ever computed.
    """

    tolerance: Tolerance
    groups: tuple[StoredGroup, ...]
    sizes: tuple[tuple[int, int], ...]
    n_not_grouped: int
    is_stored: bool
    n_decisions: int = 0

    @property
    def n_groups(self) -> int:
        """Number of groups with at least two documents."""
        return sum(n for _, n in self.sizes)

    @property
    def n_documents(self) -> int:
        """Number of documents in groups."""
        return sum(size * n for size, n in self.sizes)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            **self.tolerance.to_dict(),
            "is_stored": self.is_stored,
            "n_groups": self.n_groups,
            "n_documents": self.n_documents,
            "n_not_grouped": self.n_not_grouped,
            "n_decisions": self.n_decisions,
            "sizes": [{"n_documents": size, "n_groups": n} for size, n in self.sizes],
            "groups": [asdict(one) for one in self.groups],
        }


def stored_groups(
    connection: Connection,
    tolerance: Tolerance,
    *,
    limit: int = 50,
    offset: int = 0,
    min_documents: int = 2,
    max_documents: int | None = None,
) -> StoredGroups:
    """List the stored groups at a tolerance that have at least a number of current documents, two or more."""
    check_limit(limit)
    state = GroupState.known(connection, str(tolerance))
    rows = [
        one
        for one in sizes_of_groups(connection, state)
        if one[1] >= min_documents and (max_documents is None or one[1] <= max_documents)
    ]
    return StoredGroups(
        tolerance=tolerance,
        groups=_described(connection, state, rows[offset : offset + limit]),
        sizes=tuple(sorted(Counter(n for _, n, _ in rows).items())),
        n_not_grouped=n_later_documents(connection, state),
        is_stored=state.number is not None,
        n_decisions=n_later_decisions(connection, state),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """Figures of the stored groups at a tolerance.

    Parameters
    ----------
    tolerance : str
        As stored.
    n_groups, n_documents : int
        Numbers of groups with at least two current documents, and of these documents.
    n_not_grouped : int
        Number of current documents added or changed since the groups were updated.
    n_decisions : int
        Number of decisions on groups that were made or undone since then.
    """

    tolerance: str
    n_groups: int
    n_documents: int
    n_not_grouped: int
    n_decisions: int


def group_figures(connection: Connection) -> list[GroupFigures]:
    """Return the figures of the stored groups at each tolerance."""
    figures = list[GroupFigures]()
    for stored in stored_tolerances(connection):
        state = GroupState.known(connection, stored)
        sizes = [n for _, n, _ in sizes_of_groups(connection, state)]
        figures.append(
            GroupFigures(
                tolerance=stored,
                n_groups=len(sizes),
                n_documents=sum(sizes),
                n_not_grouped=n_later_documents(connection, state),
                n_decisions=n_later_decisions(connection, state),
            )
        )
    return figures


def ids_not_grouped(connection: Connection, tolerance: Tolerance) -> list[str]:
    """Return the ids of the current documents that were added or changed since the groups were updated."""
    state = GroupState.known(connection, str(tolerance))
    return [one.doc_id for one in rows_where(connection, documents.c.row >= state.seen_row) if one.is_current]


def neighbours_of(connection: Connection, tolerance: Tolerance, number: int) -> tuple[int | None, int | None]:
    """Return the groups before and after a group in the order of `stored_groups`; None at the ends."""
    numbers = [own for own, _, _ in sizes_of_groups(connection, GroupState.known(connection, str(tolerance)))]
    if number not in numbers:
        return None, None
    place = numbers.index(number)
    return (numbers[place - 1] if place else None), (numbers[place + 1] if place + 1 < len(numbers) else None)


def sizes_of_groups(connection: Connection, state: GroupState) -> list[tuple[int, int, int]]:
    """Return the number of each group, and its numbers of documents and texts, the largest first.

    They are counted again only if the grouping or the documents of the open store have changed.
    """
    if state.number is None:
        return []
    made_from = state, StoredState.now(connection)
    return _COUNTED.get(connection.engine, state.tolerance, made_from, lambda: _count(connection, state))


def _count(connection: Connection, state: GroupState) -> list[tuple[int, int, int]]:
    is_member = (members.c.grouping == state.number) & members.c.until.is_(None)
    texts = select(documents.c.content).select_from(documents.join(members)).where(is_member)
    n_of_text = select(documents.c.content, func.count()).where(documents.c.is_current, documents.c.content.in_(texts))
    found = np.array(connection.execute(n_of_text.group_by(documents.c.content)).all(), np.int64).reshape(-1, 2)
    of_text = state.member_groups[np.searchsorted(state.member_contents, found[:, 0])]
    numbers, place, n_texts = np.unique(of_text, return_inverse=True, return_counts=True)
    n_documents = np.bincount(place, found[:, 1], len(numbers)).astype(np.int64)
    sizes = zip(numbers.tolist(), n_documents.tolist(), n_texts.tolist(), strict=True)
    return sorted((size for size in sizes if size[1] > 1), key=lambda size: (-size[1], size[0]))


def _described(
    connection: Connection, state: GroupState, rows: Sequence[tuple[int, int, int]]
) -> tuple[StoredGroup, ...]:
    principals = shown_principals(connection, state, [number for number, _, _ in rows])
    notes = values_of(connection, [(GROUP_NOTE, state.tolerance, str(number)) for number, _, _ in rows])
    return tuple(
        StoredGroup(
            number=number,
            principal=principals[number].doc_id,
            n_documents=n_documents,
            n_texts=n_texts,
            note=notes.get((GROUP_NOTE, state.tolerance, str(number))),
        )
        for number, n_documents, n_texts in rows
    )
