"""Hubs: texts compared with very many others. Their pairs are spread over the partitions of the other texts.

Pairs are verified in the partition of one of their texts. The pairs of the most preferred texts of a skewed key would
all be in one partition, whose task would ask for the shingles of all texts of the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import I64, U32
from nearkin.stages.search.linking import sorted_distinct
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.streams import HUBS, PAIRS

MANY = 1 << 14
"""Pairs of one text above which it is a hub; fewer stay in its partition."""
_SOME = 256


class Tally:
    """Number of pairs of each text in a task."""

    def __init__(self) -> None:
        self._parts: list[tuple[U32, I64]] = []

    def add(self, left: U32, right: U32) -> None:
        """Count some pairs."""
        nodes, n_pairs = np.unique(np.concatenate([left, right]), return_counts=True)
        is_worth_it = n_pairs >= _SOME
        self._parts.append((nodes[is_worth_it].astype(np.uint32), n_pairs[is_worth_it]))

    def told(self) -> Iterator[Block]:
        """Yield the texts with more than a few pairs."""
        for nodes, n_pairs in self._parts:
            yield from HUBS.packed(0, nodes, n_pairs)


@dataclass(frozen=True, slots=True)
class Hubs:
    """Texts with very many pairs.

    Parameters
    ----------
    nodes : uint32 array, shape (n_texts,)
        Ascending.
    n_pairs : int64 array, shape (n_texts,)
    """

    nodes: U32
    n_pairs: I64

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Hubs:
        """Make the hubs from blocks of `HUBS`."""
        told, n_told = HUBS.joined(blocks)
        nodes, place = np.unique(told, return_inverse=True)
        n_pairs = np.bincount(place, n_told, len(nodes)).astype(np.int64)
        is_popular = n_pairs >= MANY
        return cls(nodes[is_popular], n_pairs[is_popular])

    def __len__(self) -> int:
        return len(self.nodes)

    def n_of(self, nodes: U32) -> I64:
        """Return the number of pairs of each text; 0 for those with fewer than `MANY`.

        Examples
        --------
        >>> hubs = Hubs(np.array([3, 8], np.uint32), np.array([20_000, 30_000]))
        >>> hubs.n_of(np.array([8, 5, 3, 9], np.uint32)).tolist()
        [30000, 0, 20000, 0]
        """
        at = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[at] == nodes, self.n_pairs[at], 0)


@dataclass(frozen=True, slots=True)
class SendPairsTask:
    """Send each pair once, to the partition of the text that has fewer pairs.

    The rule depends only on the pair, so that it comes to the same partition from wherever it was found.
    """

    partitions: Partitions
    hubs: Hubs

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        left, right, _ = PAIRS.joined(blocks)
        pairs = sorted_distinct(left.astype(np.uint64) << np.uint64(32) | right)
        left, right = (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
        n_left, n_right = self.hubs.n_of(left), self.hubs.n_of(right)
        is_even = (left ^ right) & np.uint32(1) == 0  # a tie-break: if all are compared with all, no text has fewer
        swap = (n_left > n_right) | (is_even & (n_left == n_right) & (n_left > 0))
        here, there = np.where(swap, right, left), np.where(swap, left, right)
        yield from PAIRS.scattered(self.partitions.at(here), here, there, np.zeros(len(here), np.uint32))
