"""Rarest shingles of each set, up to a length that depends on the size of the set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def prefixes(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], counts: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the first ``lengths[i]`` elements of each set in the order (count, hash).

    Parameters
    ----------
    hashes, offsets : uint64 array, int64 array of shape (n_sets + 1,)
    counts : uint32 array, shape (2**bits,)
        Frequency of the hashes with these upper bits.
    lengths : int64 array, shape (n_sets,)
        At most the size of each set.

    Returns
    -------
    elements : uint64 array, shape (lengths.sum(),)

    Examples
    --------
    >>> sets, counts = np.array([1, 2**63, 7], np.uint64), np.array([5, 1], np.uint32)
    >>> prefixes(sets, np.array([0, 3]), counts, np.array([2])).tolist()  # 2**63 is the rare one
    [9223372036854775808, 1]
    """
    elements = np.empty(int(lengths.sum()), np.uint64)
    shift = 65 - len(counts).bit_length()
    loops("prefixes", hashes.nbytes).prefix_many(*frozen(hashes, offsets, counts, lengths), shift, elements)
    return elements
