"""Small profiles of shingle sets, which give an upper limit of the shingles that two sets share.

The shingles of a set are counted in bins, by the upper bits of their hashes. In each bin two sets share at most the
smaller of the two counts. Unrelated sets fill their bins by chance, so that the sum of these is far below the overlap
of a match: a twelfth of the bytes of a set rules out most unrelated candidates, and no match is lost.
"""

from __future__ import annotations

import numpy as np

from nearkin.records import I64, U8, Bool, ShingleSets

_MIN_BINS, _MAX_BINS = 64, 4096
_FULL = 255
_PAIRS_AT_A_TIME = 1 << 14


def n_bins_for(mean_shingles: float) -> int:
    """Return the number of bins for sets of about ``mean_shingles``: two shingles per bin, a power of two.

    Examples
    --------
    >>> n_bins_for(400)
    256
    """
    n_bins = _MIN_BINS
    while n_bins < min(mean_shingles / 2, _MAX_BINS):
        n_bins *= 2
    return n_bins


def profiles_of(sets: ShingleSets, n_bins: int) -> U8:
    """Return the counts of each set, shape (n_sets, n_bins); a bin is full at 255.

    Examples
    --------
    >>> sets = ShingleSets(np.array([1, 2, 2**63], np.uint64), np.array([0, 3]), np.array([3]), "")
    >>> profiles_of(sets, 64)[0, [0, 32]].tolist()
    [2, 1]
    """
    shift = np.uint64(65 - n_bins.bit_length())
    bins = (sets.hashes >> shift).astype(np.int64)
    bins += np.repeat(np.arange(len(sets), dtype=np.int64) * n_bins, sets.sizes)
    counts = np.bincount(bins, minlength=len(sets) * n_bins)
    return np.minimum(counts, _FULL).astype(np.uint8).reshape(len(sets), n_bins)


def most_common(profiles: U8, left: I64, right: I64) -> tuple[I64, Bool]:
    """Return the maximum number of shingles that each pair of sets can share, and the pairs for which it is unknown.

    Parameters
    ----------
    profiles : uint8 array, shape (n_sets, n_bins)
    left, right : int64 arrays, shape (n_pairs,)
        Indices of sets.

    Examples
    --------
    >>> profiles = np.array([[2, 1], [0, 3]], np.uint8)
    >>> [array.tolist() for array in most_common(profiles, np.array([0]), np.array([1]))]
    [[1], [False]]
    """
    most, is_unknown = np.zeros(len(left), np.int64), np.zeros(len(left), np.bool_)
    for start in range(0, len(left), _PAIRS_AT_A_TIME):
        some = slice(start, start + _PAIRS_AT_A_TIME)
        lesser = np.minimum(profiles[left[some]], profiles[right[some]])
        most[some] = lesser.sum(axis=1, dtype=np.uint32)
        is_unknown[some] = lesser.max(axis=1, initial=0) == _FULL  # both bins are full, so the counts are unknown
    return most, is_unknown
