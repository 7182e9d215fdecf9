"""Groups that keep decisions: contents that must be together, and pairs of contents that must not be.

Source: the constraints are those of Kiri Wagstaff and Claire Cardie, "Clustering with Instance-level Constraints", 2000
(must-link and cannot-link), applied to connected components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.linking import components
from nearkin.records import F64, I64, Bool

_VALUES_AT_A_TIME = 1 << 21
"""Maximum number of similarities in memory."""
_NOTHING = -1
Similarity = Callable[[I64, I64], F64]
"""Similarities of contents, shape (n,), to others, shape (m,); the result has the shape (n, m)."""


def constrained(
    nodes: I64,
    component: I64,
    same: I64,
    never: I64,
    *,
    leaving: I64 | None = None,
    similarity: Similarity | None = None,
) -> tuple[I64, I64]:
    """Return components that keep every decision; components without one keep their members.

    Contents that must be together move as one, and every component that holds a pair that must not be together is
    divided. The contents of its pairs are the anchors: in order of their numbers, each joins the nearest part that
    holds none of its opponents, or begins a part. Every other content goes to the part of its most similar anchor; in a
    tie, the lowest. The result does not depend on the order of the rows, nor on earlier groups.

    Parameters
    ----------
    same, never : int64 arrays, shape (n_pairs, 2)
        Pairs of contents. Those of ``same`` are added if missing; pairs of ``never`` with a missing one are kept
        already.
    leaving : int64 array, shape (n_pairs,), optional
        The content of each pair of ``never`` that leaves; -1: neither. Without it, none leaves.

    Returns
    -------
    tuple of two int64 arrays
        The contents in ascending order, and the component of each: the position of its lowest content.
    """
    same, never = same.reshape(-1, 2), never.reshape(-1, 2)
    leaving = np.full(len(never), _NOTHING) if leaving is None else leaving
    everything = np.unique(np.concatenate([nodes, same.ravel()]))
    labels = np.arange(len(everything)) + int(component.max(initial=-1)) + 1
    labels[np.searchsorted(everything, nodes)] = component
    units = _united(everything, np.arange(len(everything)), same)
    labels = _united(everything, labels, same)
    places = np.searchsorted(everything, never)
    is_there = (everything[np.minimum(places, len(everything) - 1)] == never).all(1) if len(everything) else []
    places, leaving = (places[is_there], leaving[is_there]) if len(places) else (places, leaving)
    if (units[places[:, 0]] == units[places[:, 1]]).any():
        raise ParameterError("A pair of texts that must be together must also be apart.")
    is_one = labels[places[:, 0]] == labels[places[:, 1]]
    places, leaving = places[is_one], leaving[is_one]
    result = _lowest(labels)
    for label in np.unique(result[places[:, 0]]).tolist():
        members = np.flatnonzero(result == label)
        is_own = result[places[:, 0]] == label
        gone = np.flatnonzero(np.isin(everything, leaving[is_own]))
        result[members] = _Division(everything, units, similarity).parts(members, places[is_own], gone)
    return everything, result


def _united(nodes: I64, labels: I64, same: I64) -> I64:
    """Return labels after the labels of each pair have become one, the lowest."""
    forest = Forest(int(labels.max(initial=-1)) + 1)
    forest.connect(*labels[np.searchsorted(nodes, same)].T)
    return forest.roots(labels)


def _lowest(labels: I64) -> I64:
    _, firsts, of_label = np.unique(labels, return_index=True, return_inverse=True)
    lowest: I64 = firsts[of_label].astype(np.int64)
    return lowest


@dataclass(frozen=True, slots=True)
class _Division:
    nodes: I64
    units: I64
    similarity: Similarity | None

    def parts(self, members: I64, pairs: I64, leaving: I64) -> I64:
        """Return the part of each member, named by its lowest member; all arguments are positions in ``nodes``."""
        anchors = np.unique(self.units[pairs])
        is_leaving = np.isin(anchors, self.units[leaving])
        opponents = dict[int, set[int]]()
        for a, b in np.searchsorted(anchors, self.units[pairs]).tolist():
            opponents.setdefault(a, set()).add(b)
            opponents.setdefault(b, set()).add(a)
        units, unit_of = np.unique(self.units[members], return_inverse=True)
        of_anchors = members[np.isin(self.units[members], anchors)]
        at = np.searchsorted(units, anchors)
        best = np.zeros(len(units), np.int64)
        among = np.zeros((len(anchors),) * 2)
        order = np.argsort(unit_of, kind="stable")
        starts = np.searchsorted(unit_of[order], np.arange(len(units) + 1))
        step = max(1, _VALUES_AT_A_TIME // len(of_anchors))
        for start in range(0, len(units), step):
            stop = min(start + step, len(units))
            block = order[starts[start] : starts[stop]]
            near = self._nearness(members[block], unit_of[block] - start, of_anchors, anchors)
            if is_leaving.any() and not is_leaving.all():
                near[is_leaving & (near < self._of_equal(of_anchors))] = -np.inf
            best[start:stop] = near.argmax(1)
            is_here = (at >= start) & (at < stop)
            among[is_here] = near[at[is_here] - start]
        part_of = _coloured(among, opponents)
        part = part_of[best]
        part[at] = part_of
        return members[_lowest(part[unit_of])]

    def _nearness(self, members: I64, rows: I64, of_anchors: I64, anchors: I64) -> F64:
        """Return similarities of units to anchors, shape (n_units, n_anchors)."""
        shape = int(rows.max()) + 1, len(anchors)
        column = np.searchsorted(anchors, self.units[of_anchors])
        near = np.zeros((len(members), len(of_anchors)))
        if self.similarity is not None:
            near = self.similarity(self.nodes[members], self.nodes[of_anchors])
        nearness = np.full(shape, -np.inf)
        np.maximum.at(nearness, (rows[:, None], column[None, :]), near)
        return nearness

    def _of_equal(self, places: I64) -> float:
        """Return the similarity of a content to itself; it is the same for all."""
        node = self.nodes[places[:1]]
        return np.inf if self.similarity is None else float(self.similarity(node, node)[0, 0])


def _coloured(nearness: F64, opponents: dict[int, set[int]]) -> I64:
    """Return the part of each anchor: the nearest earlier one that is open to it and has no opponent, or a new one."""
    part_of, n_parts = np.zeros(len(nearness), np.int64), 0
    for member in range(len(nearness)):
        closed = {int(part_of[other]) for other in opponents[member] if other < member}
        open_to = [
            other for other in range(member) if int(part_of[other]) not in closed and nearness[member, other] > -np.inf
        ]
        if open_to:
            part_of[member] = part_of[open_to[int(nearness[member, open_to].argmax())]]
        else:
            part_of[member], n_parts = n_parts, n_parts + 1
    return part_of


_FEW = 1 << 10
"""Number of pairs up to which they are united one by one."""


class Forest:
    """Connected components of contents; the lowest content of each is its root.

    Examples
    --------
    >>> forest = Forest(5)
    >>> forest.connect(np.array([4, 2]), np.array([2, 1]))
    >>> forest.roots(np.array([4, 3])).tolist(), [part.tolist() for part in forest.components()]
    ([1, 3], [[1, 2, 4], [0, 0, 0]])
    """

    def __init__(self, n_contents: int) -> None:
        self._parent = np.arange(n_contents, dtype=np.uint32)
        self._is_in = np.zeros(n_contents, np.bool_)

    def connect(self, left: I64, right: I64) -> None:
        """Add pairs; a content paired with itself is a component of its own."""
        self._is_in[left] = self._is_in[right] = True
        a, b = self.roots(left), self.roots(right)
        self._parent[left], self._parent[right] = a, b  # shorter ways for the next ones
        is_news = a != b
        a, b = a[is_news], b[is_news]
        if len(a) > _FEW:
            known = np.flatnonzero(self._parent != np.arange(len(self._parent), dtype=np.uint32))
            low = np.concatenate([a, self._parent[known]]).astype(np.uint32)
            high = np.concatenate([b, known]).astype(np.uint32)
            self._parent = components(low, high, len(self._parent), work_bytes=len(low))
            return
        for content, other in zip(a.tolist(), b.tolist()):
            ends = sorted((self._root(content), self._root(other)))
            self._parent[ends[1]] = ends[0]

    def roots(self, contents: I64) -> I64:
        """Return the lowest content of the component of each."""
        roots: I64 = self._parent[contents].astype(np.int64)
        while not np.array_equal(following := self._parent[roots], roots):
            roots = following.astype(np.int64)
        return roots

    def are_apart(self, left: I64, right: I64) -> Bool:
        """Whether the contents of each pair are in different components."""
        is_apart: Bool = self.roots(left) != self.roots(right)
        return is_apart

    def components(self) -> tuple[I64, I64]:
        """Return the contents that occur in pairs, ascending, and the component of each."""
        nodes = np.flatnonzero(self._is_in)
        return nodes, np.searchsorted(nodes, self.roots(nodes))

    def _root(self, content: int) -> int:
        while (parent := int(self._parent[content])) != content:
            content = parent
        return content


Linked = Callable[[I64], I64]
"""A label for each of some contents: equal for those that match or must be together, through these contents alone."""


def linked_parts(nodes: I64, united: I64, component: I64, never: I64, linked: Linked) -> I64:
    """Return the components, of which those that were divided consist of contents that are linked.

    An anchor or a content may have joined a part without any match: each part is split into what is linked in it. Each
    piece then joins the first one that it is linked with and that it is not kept apart from.

    Examples
    --------
    Of a component, 1 and 5 had to be separated; 4 matches 5 only, and 2 nothing:

    >>> def linked(contents):
    ...     return np.where(np.isin(contents, [4, 5]), 4, contents)
    >>> nodes, united = np.array([1, 2, 4, 5]), np.zeros(4, np.int64)
    >>> linked_parts(nodes, united, np.array([0, 0, 0, 3]), np.array([[1, 5]]), linked).tolist()
    [0, 1, 2, 2]
    """
    parts = np.unique(np.stack([united, component]), axis=1)
    whole, n_parts = np.unique(parts[0], return_counts=True)
    result = component.copy()
    for label in whole[n_parts > 1].tolist():
        members = np.flatnonzero(united == label)
        divided = _split(nodes[members], component[members])
        pieces = [piece for part in divided for piece in _split(part, linked(part))]
        if len(pieces) > len(divided):
            for piece in _joined(pieces, never, linked):
                places = np.searchsorted(nodes, piece)
                result[places] = places.min()
    return result


def _split(contents: I64, labels: I64) -> list[I64]:
    parts = [contents[labels == label] for label in np.unique(labels)]
    return sorted(parts, key=lambda part: int(part.min()))


def _joined(pieces: Sequence[I64], never: I64, linked: Linked) -> list[I64]:
    """Join each piece to the first one that it is linked with and not kept apart from, those with anchors first."""
    parts, n_before = sorted(pieces, key=lambda piece: not np.isin(piece, never).any()), -1
    while n_before != len(parts):
        n_before, joined = len(parts), list[I64]()
        for piece in parts:
            at = next((i for i, other in enumerate(joined) if _may_join(piece, other, never, linked)), None)
            if at is None:
                joined.append(piece)
            else:
                joined[at] = np.union1d(joined[at], piece)
        parts = joined
    return parts


def _may_join(piece: I64, other: I64, never: I64, linked: Linked) -> bool:
    both = np.union1d(piece, other)
    is_kept_apart = np.isin(never, both).all(axis=1).any()
    return not is_kept_apart and len(np.unique(linked(both))) == 1
