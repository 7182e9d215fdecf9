"""Connected components from a stream of pairs."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.grouping import components
from nearkin.records import I64, Bool

_FEW = 1 << 10
"""Number of pairs up to which they are united one by one."""


class Forest:
    """Connected components of contents; the lowest content of each is its root.

    One thread connects; others may look up roots meanwhile, and find those of now or of a moment ago.

    Parameters
    ----------
    n_contents : int

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
        """Add pairs; a content paired with itself is a component of its own unless another pair connects it."""
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
        for one, other in zip(a.tolist(), b.tolist()):
            ends = sorted((self._root(one), self._root(other)))
            self._parent[ends[1]] = ends[0]

    def roots(self, contents: I64) -> I64:
        """Return the lowest content of the component of each."""
        found: I64 = self._parent[contents].astype(np.int64)
        while not np.array_equal(following := self._parent[found], found):
            found = following.astype(np.int64)
        return found

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
