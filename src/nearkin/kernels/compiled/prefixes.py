"""The rarest shingles of each set, up to a length that depends on the size of the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit

_MOST_BY_INSERTION = 64


def prefixes(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], counts: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The first ``lengths[i]`` elements of each set in the order (count, hash).

    Parameters
    ----------
    hashes, offsets : uint64 array, int64 array of shape (n_sets + 1,)
    counts : uint32 array, shape (2**bits,)
        How frequent the hashes with these upper bits are.
    lengths : int64 array, shape (n_sets,)
        At most the size of each set.

    Returns
    -------
    elements : uint64 array, shape (lengths.sum(),)
    """
    elements = np.empty(int(lengths.sum()), np.uint64)
    shift = 64 - len(counts).bit_length() + 1
    largest = int(np.diff(offsets).max(initial=0))
    _prefix_many(
        hashes, offsets, counts, lengths, shift, np.empty(largest, np.uint64), np.empty(largest, np.uint32), elements
    )
    return elements


@njit(nogil=True, cache=True)
def _prefix_many(hashes, offsets, counts, lengths, shift, ordered, frequency, elements):
    out = 0
    for i in range(len(offsets) - 1):
        _order_one(hashes, offsets[i], offsets[i + 1], counts, shift, ordered, frequency)
        for j in range(lengths[i]):
            elements[out] = ordered[j]
            out += 1


@njit(nogil=True, cache=True)
def _order_one(hashes, start, end, counts, shift, ordered, frequency):
    """By frequency, then by hash."""
    if end - start > _MOST_BY_INSERTION:
        elements = np.sort(hashes[start:end])
        found = counts[elements >> np.uint64(shift)]
        ordered[: end - start] = elements[np.argsort(found, kind="mergesort")]  # stable
        return
    for i in range(end - start):
        element = hashes[start + i]
        count = counts[element >> np.uint64(shift)]
        j = i
        while j > 0 and (frequency[j - 1] > count or (frequency[j - 1] == count and ordered[j - 1] > element)):
            ordered[j] = ordered[j - 1]
            frequency[j] = frequency[j - 1]
            j -= 1
        ordered[j] = element
        frequency[j] = count
