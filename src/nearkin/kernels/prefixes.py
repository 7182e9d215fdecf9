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
    counts : uint32 array, shape (2**bits,)
        Frequency of the hashes with these upper bits.
    """
    elements = np.empty(int(lengths.sum()), np.uint64)
    shift = 65 - len(counts).bit_length()
    loops("prefixes", hashes.nbytes).prefix_many(*frozen(hashes, offsets, counts, lengths), shift, elements)
    return elements
