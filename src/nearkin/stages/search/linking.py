"""Sorted runs of candidate pairs from entries (key, row)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.kernels.linking import link_runs, sort_by_key
from nearkin.records import I64, U8, U32, U64, Bool, Candidates

MIN_PIVOTS = 64
"""Minimum number of rows of a run with which all others are compared, for any number of entries."""
MAX_PAIRS = 1 << 23
"""Maximum number of pairs from one run; a run of over 4,096 rows is not compared in full."""
FOLLOWS = np.uint8(4)
"""Bit of an entry's sides: the entry is compared only with leading ones, those without this bit."""
_ROOM = 1 << 20
_ROUNDING = 1e-9  # 0.55 * 100 is a little more than 55: a filter may accept too much, never too little


@dataclass(frozen=True, slots=True)
class Linking:
    """Rules for the pairs of rows with a common key that are worth an exact comparison.

    Parameters
    ----------
    sides : uint8 array, shape (n_rows,)
        A pair needs one row with bit 1 and one with bit 2. Rows with `FOLLOWS` are never paired with one another.
    min_size_ratio
        Pairs with a smaller ratio of sizes cannot match: the Jaccard threshold, or 0.
    """

    sizes: U32
    sides: U8
    min_size_ratio: float
    max_pivots: int = MIN_PIVOTS

    def link(self, keys: U64, rows: U32) -> Iterator[tuple[U64, int]]:
        """Yield sorted runs of distinct pairs, and the number of possible pairs that were not compared.

        Parameters
        ----------
        keys, rows : uint64 and uint32 arrays, shape (n_entries,)
            In order of preference of the rows: the first rows of a key become its pivots. Leading rows come first.

        Returns
        -------
        iterator of (pairs, n_not_compared)
            Pairs with the lower row in the upper 32 bits, the higher in the lower; sorted.
        """
        return self.link_sorted(*sort_entries(keys, rows))

    def link_sorted(self, keys: U64, rows: U32) -> Iterator[tuple[U64, int]]:
        """Do the same for entries sorted by `sort_entries`."""
        room, start = min(_ROOM, self.max_pivots * max(len(keys), self.max_pivots)), 0
        while start < len(keys):
            pairs = np.empty(room, np.uint64)
            n_pairs, after, n_not_compared = link_runs(
                keys,
                rows,
                self.sizes,
                self.sides,
                start=start,
                min_size_ratio=self.min_size_ratio * (1 - _ROUNDING),
                max_pivots=self.max_pivots,
                max_pairs=MAX_PAIRS,
                pairs=pairs,
            )
            if after == start:  # a single run exceeds the room
                room *= 2
                continue
            start = after
            yield sorted_distinct(pairs[:n_pairs]), n_not_compared


def sort_entries(keys: U64, rows: U32) -> tuple[U64, U32]:
    """Sort entries by key; rows of the same key keep their order."""
    return sort_by_key(keys, rows)


@dataclass(frozen=True, slots=True)
class SkewedRuns:
    """Keys shared by more rows than are always compared in full.

    Parameters
    ----------
    lengths, n_leads : int64 arrays, shape (n_keys,)
        Rows that share each key, and leading ones among them, with which all others are compared.
    """

    lengths: I64
    n_leads: I64

    @classmethod
    def of(cls, keys: U64, follows: Bool | None = None) -> SkewedRuns:
        """Count the rows of each key; the keys are sorted."""
        bounds = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]])) if len(keys) else np.zeros(1)
        bounds = bounds.astype(np.int64)
        lengths = np.diff(bounds)
        n_leads = lengths
        if follows is not None:
            n_leads = lengths - np.diff(np.concatenate([[0], np.cumsum(follows)])[bounds]).astype(np.int64)
        is_skewed = (lengths > MIN_PIVOTS) & (n_leads > 0)
        return cls(lengths[is_skewed], n_leads[is_skewed])

    @classmethod
    def joined(cls, parts: Sequence[SkewedRuns]) -> SkewedRuns:
        """Join the runs of several ranges of keys."""
        none = np.zeros(0, np.int64)
        return cls(
            np.concatenate([none, *(part.lengths for part in parts)]),
            np.concatenate([none, *(part.n_leads for part in parts)]),
        )

    def pivots(self, max_pivots: int | I64) -> I64:
        """Return the number of pivots of each run, as determined by `link_runs`."""
        affordable = np.maximum(1, MAX_PAIRS // np.maximum(self.lengths, 1))
        pivots: I64 = np.minimum(np.minimum(self.n_leads, max_pivots), affordable)
        return pivots

    def affordable_pivots(self, max_pairs: int) -> int:
        """Return the maximum number of pivots with which the runs make at most ``max_pairs``, at least `MIN_PIVOTS`."""
        low, high = MIN_PIVOTS, max(MIN_PIVOTS, int(self.lengths.max(initial=0)))
        while low < high:
            middle = (low + high + 1) // 2
            n_pairs = int(_n_pairs_with(self.pivots(middle), self.lengths).sum())
            low, high = (middle, high) if n_pairs <= max_pairs else (low, middle - 1)
        return low


def _n_pairs_with(n_first: I64, length: I64) -> I64:
    return n_first * (n_first - 1) // 2 + (length - n_first) * n_first


def merge_runs(runs: Sequence[U64], *, block_pairs: int) -> Iterator[Candidates]:
    """Merge sorted runs into blocks of about ``block_pairs`` distinct candidates, in order."""
    at = [0] * len(runs)
    quota = max(1, block_pairs // max(1, len(runs)))
    while True:
        ahead = [run[i + quota - 1] for run, i in zip(runs, at, strict=True) if i + quota < len(run)]
        bound = min(ahead) if ahead else None
        parts = []
        for i, run in enumerate(runs):
            end = len(run) if bound is None else int(np.searchsorted(run, bound, side="right"))
            parts.append(run[at[i] : end])
            at[i] = end
        merged = sorted_distinct(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
        if len(merged):
            yield Candidates((merged >> np.uint64(32)).astype(np.uint32), merged.astype(np.uint32))
        if bound is None:
            return


def sorted_distinct(values: U64) -> U64:
    """Sort in place, and remove repeated values.

    ``np.unique`` looks numbers up in a hash table since numpy 2.3; sorting is up to 77 times faster (5 million pairs).
    """
    values.sort()
    is_first = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return values[is_first]
