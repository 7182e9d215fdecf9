"""Groups whose numbers stay: what a wave changes in them is worked out, stored, and told.

A group is what a chain of matches connects: two texts match when either finds the other within gamma. Every member is
told with its distance from the group's principal, so that what hangs together by a chain alone is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.counting import TextCounting
from nearkin.collection.group_state import GroupState
from nearkin.collection.pairs import are_counted, pairs_within
from nearkin.collection.segment_files import Segment
from nearkin.kernels.grouping import components
from nearkin.records import I64
from nearkin.runs.progress import Progress

NO_GROUP = -1
_MAX_WAITING = 1 << 20
"""Pairs, that are kept until they are put together with those before."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Which contents belong together.

    Parameters
    ----------
    contents : int64 array, shape (n_members,)
        Sorted.
    groups : int64 array, shape (n_members,)
        The number of each one's group.
    """

    contents: I64
    groups: I64

    def __len__(self) -> int:
        return len(self.contents)

    def group_of(self, contents: I64) -> I64:
        """Of each of some contents; NO_GROUP for those that are in none.

        Examples
        --------
        >>> Membership(np.array([3, 5]), np.array([1, 2])).group_of(np.array([5, 4])).tolist()
        [2, -1]
        """
        if not len(self.contents):
            return np.full(len(contents), NO_GROUP)
        places = np.minimum(np.searchsorted(self.contents, contents), len(self.contents) - 1)
        return np.where(self.contents[places] == contents, self.groups[places], NO_GROUP)


def regroup(
    connection: Connection,
    counting: TextCounting,
    segments: Sequence[Segment],
    state: GroupState,
    gamma: float,
    *,
    threads: int,
    progress: Progress,
) -> tuple[Membership, int, int]:
    """The groups as they are now, from those there were; the next number for a group; how many cannot be compared.

    Only texts that came since, and the groups that lost a text, are compared again; the rest is as it was.

    Parameters
    ----------
    connection : Connection
        Of the snapshot that the segments belong to.
    counting : TextCounting
    segments : sequence of Segment
    state : GroupState
        Of the grouping, and of the documents.
    gamma : float
        Below 1.
    threads : int
    progress : Progress

    Returns
    -------
    tuple of Membership, int, int
        The last one counts current documents with too few letters.
    """
    before = Membership(state.member_contents, state.member_groups)
    is_counted = are_counted(segments)
    is_live, n_copies = state.live_contents(connection, len(is_counted))
    broken = np.unique(before.groups[~is_live[before.contents]])
    is_kept = ~np.isin(before.groups, broken) if len(broken) else np.ones(len(before), np.bool_)
    orphans = before.contents[~is_kept]
    asked = np.unique(np.concatenate([state.new_contents(connection), orphans[is_live[orphans]]]))
    forest = _Forest(len(is_counted))
    forest.connect(*_chained(before.contents[is_kept], before.groups[is_kept]))
    for found in pairs_within(counting, segments, asked, is_live, gamma, threads=threads, progress=progress):
        forest.connect(found.left, found.right)
    copies = np.flatnonzero((n_copies > 1) & is_counted)
    forest.connect(copies, copies)
    nodes, component = forest.components()
    numbers, following = _numbered(nodes, component, before, state.next_group)
    return Membership(nodes, numbers), following, int(n_copies[~is_counted].sum())


def _chained(contents: I64, groups: I64) -> tuple[I64, I64]:
    """Pairs that hold together what was together: each member with the one before it in its group."""
    order = np.lexsort((contents, groups))
    contents, groups = contents[order], groups[order]
    is_same = groups[1:] == groups[:-1]
    return contents[:-1][is_same], contents[1:][is_same]


class _Forest:
    """What hangs together, from pairs that are forgotten: at most one pair is kept for each content."""

    def __init__(self, n_contents: int) -> None:
        self._least = np.arange(n_contents, dtype=np.uint32)  # of what each content is known to hang together with
        self._is_in = np.zeros(n_contents, np.bool_)
        self._waiting: list[tuple[I64, I64]] = []
        self._n_waiting = 0

    def connect(self, left: I64, right: I64) -> None:
        """Take some pairs; a content with itself is a component of its own, if it is in no other."""
        self._is_in[left] = self._is_in[right] = True
        is_news = self._least[left] != self._least[right]
        self._waiting.append((left[is_news], right[is_news]))
        self._n_waiting += int(is_news.sum())
        if self._n_waiting > max(_MAX_WAITING, len(self._least)):
            self._unite()

    def components(self) -> tuple[I64, I64]:
        """The contents that occur in pairs, sorted, and the number of each one's component."""
        self._unite()
        nodes = np.flatnonzero(self._is_in)
        return nodes, np.searchsorted(nodes, self._least[nodes])

    def _unite(self) -> None:
        known = np.flatnonzero(self._least != np.arange(len(self._least), dtype=np.uint32))
        self._waiting.append((self._least[known].astype(np.int64), known))
        left, right = (np.concatenate(column).astype(np.uint32) for column in zip(*self._waiting))
        self._waiting, self._n_waiting = [], 0
        self._least = components(left, right, len(self._least), work_bytes=len(left))


def _numbered(nodes: I64, component: I64, before: Membership, next_group: int) -> tuple[I64, int]:
    """The number of each node's group: the old one of most of its members; a new one where there is none left.

    An old number goes to the component that has most of its members; of equals to the one with the lowest content.
    """
    was = before.group_of(nodes)
    is_old = was != NO_GROUP
    pairs, n_shared = np.unique(np.stack([component[is_old], was[is_old]]), axis=1, return_counts=True)
    numbers = np.full(int(component.max(initial=-1)) + 1, NO_GROUP)
    taken = set[int]()
    for place in np.lexsort((pairs[0], pairs[1], -n_shared)).tolist():
        one, old = int(pairs[0, place]), int(pairs[1, place])
        if numbers[one] == NO_GROUP and old not in taken:
            numbers[one] = old
            taken.add(old)
    firsts = np.unique(component, return_index=True)
    for one in firsts[0][np.argsort(firsts[1])].tolist():
        if numbers[one] == NO_GROUP:
            numbers[one] = next_group
            next_group += 1
    return numbers[component] if len(component) else np.zeros(0, np.int64), next_group
