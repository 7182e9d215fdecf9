"""The twin of ``compiled.overlap``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def n_common(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """See ``compiled.overlap.n_common``.

    Examples
    --------
    >>> hashes, starts, ends = np.array([1, 2, 3, 3, 4], np.uint64), np.array([0, 3]), np.array([3, 5])
    >>> n_common(hashes, starts, ends, np.array([0], np.uint32), np.array([1], np.uint32)).tolist()
    [1]
    """
    pairs = zip(left, right, strict=True)
    common = [len(np.intersect1d(hashes[starts[a] : ends[a]], hashes[starts[b] : ends[b]])) for a, b in pairs]
    return np.array(common, np.uint32)
