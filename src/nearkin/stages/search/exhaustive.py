"""Exhaustive search, which misses nothing: of every pair of rows, and of sets nearly contained in another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nearkin.kernels.linking import is_marked, link_runs, mark, sort_by_key
from nearkin.records import I64, U8, U32, U64, Bool, Candidates, ShingleSets
from nearkin.stages.search.linking import sorted_distinct


def all_pairs(n_rows: int, *, block_rows: int = 1024) -> Iterator[Candidates]:
    """Yield all pairs of rows, in blocks of left rows."""
    for start in range(0, n_rows, block_rows):
        left, right = np.triu_indices(min(block_rows, n_rows - start), 1, n_rows - start)
        if len(left):
            yield Candidates((left + start).astype(np.uint32), (right + start).astype(np.uint32))


def common_counts(sets: ShingleSets) -> I64:
    """Count the shingles that each pair of a few sets shares, shape (n_sets, n_sets); zero on the diagonal.

    Examples
    --------
    >>> sets = ShingleSets(np.array([1, 2, 2, 3], np.uint64), np.array([0, 2, 4]), np.array([2, 2]), "")
    >>> common_counts(sets).tolist()
    [[0, 1], [1, 0]]
    """
    n_sets = len(sets)
    of_shingle = np.repeat(np.arange(n_sets, dtype=np.uint32), sets.sizes)
    keys, rows = sort_by_key(sets.hashes, of_shingle)
    counts = np.zeros(n_sets * n_sets, np.int64)
    every, pairs, start = np.ones(n_sets, np.uint32), np.empty(max(n_sets * n_sets, 1 << 18), np.uint64), 0
    any_side: U8 = np.full(n_sets, 3, np.uint8)
    while start < len(keys):
        n_pairs, start, _ = link_runs(
            keys,
            rows,
            every,
            any_side,
            start=start,
            min_size_ratio=0.0,
            max_pivots=n_sets,
            max_pairs=len(pairs),
            pairs=pairs,
        )
        left, right = pairs[:n_pairs] >> np.uint64(32), pairs[:n_pairs] & np.uint64(0xFFFFFFFF)
        counts += np.bincount((left * np.uint64(n_sets) + right).astype(np.int64), minlength=len(counts))
    upper = counts.reshape(n_sets, n_sets)
    return upper + upper.T


_BITS_OF_A_KEY = 16
_FEWEST_BITS, _MAX_BITS = 16, 32


@dataclass(frozen=True, slots=True)
class LeadKeys:
    """Elements with which small sets lead, to be looked up in all other sets.

    Parameters
    ----------
    bitmap : uint8 array
        A first test that rejects almost all elements; see `kernels.marks`.
    keys : uint64 array or None
        Sorted; None if they are distributed: then a few elements pass with which no set leads.
    """

    bitmap: U8
    keys: U64 | None = None

    @classmethod
    def of(cls, keys: U64) -> LeadKeys:
        """Make the keys from elements, which may repeat."""
        bitmap = _bitmap_for(len(keys))
        mark(keys, bitmap)
        return cls(bitmap, sorted_distinct(keys.copy()))

    @classmethod
    def of_bits(cls, bits: U32, n_keys: int) -> LeadKeys:
        """Make the keys from results of `bits_of` for parts of ``n_keys`` elements."""
        bitmap = _bitmap_for(n_keys)
        hashes = bits.astype(np.uint64) << np.uint64(_shift_for(n_keys))
        mark(hashes, bitmap)
        return cls(bitmap)

    def followed_by(self, sets: ShingleSets) -> tuple[U64, I64]:
        """Return the elements of sets with which some set leads, and the set of each; shapes (n_keys,)."""
        places = np.flatnonzero(is_marked(sets.hashes, self.bitmap))
        elements = sets.hashes[places]
        if self.keys is not None and len(self.keys):
            at = np.minimum(np.searchsorted(self.keys, elements), len(self.keys) - 1)
            is_there = self.keys[at] == elements
            places, elements = places[is_there], elements[is_there]
        return elements, np.searchsorted(sets.offsets, places, side="right") - 1


def is_new_entry(keys: U64, rows: U32, others: tuple[U64, U32]) -> Bool:
    """Return whether each entry (key, row) is not among the others."""
    all_keys, all_rows = np.concatenate([others[0], keys]), np.concatenate([others[1], rows])
    order = np.lexsort((all_rows, all_keys))  # stable: the others come first
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (all_keys[order[1:]] != all_keys[order[:-1]]) | (all_rows[order[1:]] != all_rows[order[:-1]])
    is_new = np.empty(len(order), np.bool_)
    is_new[order] = is_first
    return is_new[len(others[0]) :]


def bits_of(keys: U64, n_keys: int) -> U32:
    """Return the distinct bits that represent some of ``n_keys`` elements."""
    return sorted_distinct(keys >> np.uint64(_shift_for(n_keys))).astype(np.uint32)


def _shift_for(n_keys: int) -> int:
    return 64 - min(max((_BITS_OF_A_KEY * n_keys - 1).bit_length(), _FEWEST_BITS), _MAX_BITS)


def _bitmap_for(n_keys: int) -> U8:
    return np.zeros((1 << 64 - _shift_for(n_keys)) // 8, np.uint8)
