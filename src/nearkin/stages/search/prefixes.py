"""Exact search of small sets: two sets with Jaccard similarity >= t share one of their few rarest elements.

If all sets are ordered in the same way, two sets A, B with |A ∩ B| >= t |A ∪ B| and |A| <= |B| share an element of the
first |A| − ⌈2t / (1 + t) |A|⌉ + 1 of A, its leading ones, and of the first |B| − ⌈t |B|⌉ + 1 of B. The order with the
fewest candidates is the rarest first: elements with which no set leads make no candidates.

Source: Surajit Chaudhuri, Venkatesh Ganti, Raghav Kaushik, "A primitive operator for similarity joins in data
cleaning", 2006; Roberto J. Bayardo, Yiming Ma, Ramakrishnan Srikant, "Scaling up all pairs similarity search", 2007;
for the leading elements Chuan Xiao, Wei Wang, Xuemin Lin, Jeffrey Xu Yu, "Efficient similarity joins for near duplicate
detection", 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.linking import prefixes
from nearkin.records import I64, U32, U64, Bool, ShingleSets

COUNT_BITS = 22
_SORTED_BELOW = 1 << 18
_ROUNDING = 1e-9  # 0.7 is not a binary fraction: a prefix may be one element too long, never too short


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Frequencies of elements, by the upper COUNT_BITS bits of their hashes, ascending, without empty buckets."""

    buckets: I64
    n: I64

    @classmethod
    def of(cls, hashes: U64) -> Occurrences:
        """Count some elements."""
        buckets = (hashes >> np.uint64(64 - COUNT_BITS)).astype(np.int64)
        if len(buckets) >= _SORTED_BELOW:
            return cls._counted(np.bincount(buckets, minlength=1 << COUNT_BITS))
        return cls.summed(buckets, np.ones(len(buckets), np.int64))

    @classmethod
    def summed(cls, buckets: U32 | I64, n: U32 | I64) -> Occurrences:
        """Sum numbers of elements in buckets, in any order."""
        if len(buckets) >= _SORTED_BELOW:
            return cls._counted(np.bincount(buckets, n, 1 << COUNT_BITS).astype(np.int64))  # exact below 2**53
        order = np.argsort(buckets, kind="stable")
        ordered = buckets[order].astype(np.int64)
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        return cls(ordered[starts], np.add.reduceat(n[order], starts, dtype=np.int64) if len(starts) else starts)

    @classmethod
    def _counted(cls, n: I64) -> Occurrences:
        present = np.flatnonzero(n)
        return cls(present, n[present])

    @classmethod
    def joined(cls, parts: Sequence[Occurrences]) -> Occurrences:
        """Sum the counts of several parts."""
        buckets, n = (
            np.concatenate(columns) for columns in zip(*((part.buckets, part.n) for part in parts), strict=True)
        )
        return cls.summed(buckets, n)

    def add_to(self, counts: U32) -> None:
        """Add the counts to an array with a place for every bucket, shape (2**COUNT_BITS,)."""
        counts[self.buckets] += self.n.astype(np.uint32)

    def dense(self) -> U32:
        """Return an array with a place for every bucket, shape (2**COUNT_BITS,)."""
        counts = np.zeros(1 << COUNT_BITS, np.uint32)
        self.add_to(counts)
        return counts


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefix filtering at a Jaccard threshold; no pair at or above it is missed."""

    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ParameterError.of("threshold", "a number > 0 and <= 1", self.threshold)

    def lengths(self, sizes: I64) -> I64:
        """Return the number of elements that each set contributes, shape (n_sets,)."""
        return _beyond(self.threshold, sizes)

    def keys(self, sets: ShingleSets, counts: U32) -> tuple[U64, I64, Bool]:
        """Return the elements that each set contributes, the set of each, and whether it follows."""
        lengths = self.lengths(sets.sizes)
        elements = prefixes(sets.hashes, sets.offsets, counts, lengths)
        set_of_key = np.repeat(np.arange(len(sets), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        n_leading = _beyond(2 * self.threshold / (1 + self.threshold), sets.sizes)
        return elements, set_of_key, np.arange(len(elements)) >= (starts + n_leading)[set_of_key]


def _beyond(share: float, sizes: I64) -> I64:
    """Return how many elements of each set contain one of any subset of at least this share of it."""
    return np.where(sizes > 0, sizes - np.ceil(share * sizes - _ROUNDING).astype(np.int64) + 1, 0)
