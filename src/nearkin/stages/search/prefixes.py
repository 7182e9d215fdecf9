"""Small sets, searched exactly: two sets of Jaccard similarity >= t share one of their few rarest elements.

If every set is ordered in one and the same way, two sets A, B with |A ∩ B| >= t |A ∪ B| share an element of the first
|A| − ⌈t |A|⌉ + 1 of A and the first |B| − ⌈t |B|⌉ + 1 of B. The order that makes few candidates is the rarest first.

Source: Surajit Chaudhuri, Venkatesh Ganti, Raghav Kaushik, "A primitive operator for similarity joins in data
cleaning", 2006, and Roberto J. Bayardo, Yiming Ma, Ramakrishnan Srikant, "Scaling up all pairs similarity search",
2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.prefixes import prefixes
from nearkin.records import I64, U32, U64, ShingleSets

COUNT_BITS = 22
_ROUNDING = 1e-9  # a threshold such as 0.7 is not a binary fraction: a prefix may be one too long, never one too short


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Prefix filtering at a Jaccard threshold; no pair at or above it is missed.

    Parameters
    ----------
    threshold : float
        In (0, 1].

    Examples
    --------
    >>> Prefixes(0.8).lengths(np.array([1, 5, 10])).tolist()
    [1, 2, 3]
    """

    threshold: float

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ParameterError.of("threshold", "Prefixes", "a number > 0 and <= 1", self.threshold)

    def lengths(self, sizes: I64) -> I64:
        """How many elements each set contributes, shape (n_sets,)."""
        return np.where(sizes > 0, sizes - np.ceil(self.threshold * sizes - _ROUNDING).astype(np.int64) + 1, 0)

    def counts(self, sets: ShingleSets) -> U32:
        """How often each element occurs, by the upper bits of its hash, shape (2**COUNT_BITS,).

        The counts of parts add up.
        """
        buckets = (sets.hashes >> np.uint64(64 - COUNT_BITS)).astype(np.int64)
        return np.bincount(buckets, minlength=1 << COUNT_BITS).astype(np.uint32)

    def keys(self, sets: ShingleSets, counts: U32) -> tuple[U64, I64]:
        """The elements that each set contributes, and the set each comes from.

        Returns
        -------
        keys : uint64 array, shape (n_keys,)
        set_of_key : int64 array, shape (n_keys,)
        """
        lengths = self.lengths(sets.sizes)
        elements = prefixes(sets.hashes, sets.offsets, counts, lengths)
        return elements, np.repeat(np.arange(len(sets), dtype=np.int64), lengths)
