"""The twin of ``compiled.prefixes``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def prefixes(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], counts: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """See ``compiled.prefixes.prefixes``.

    Examples
    --------
    >>> sets, counts = np.array([1, 2**63, 7], np.uint64), np.array([5, 1], np.uint32)
    >>> prefixes(sets, np.array([0, 3]), counts, np.array([2])).tolist()  # 2**63 is the rare one
    [9223372036854775808, 1]
    """
    shift = 64 - (len(counts).bit_length() - 1)
    elements: list[int] = []
    for start, end, length in zip(offsets, offsets[1:], lengths, strict=False):
        one = [int(h) for h in hashes[start:end]]
        elements += sorted(one, key=lambda h: (counts[h >> shift], h))[:length]
    return np.array(elements, np.uint64)
