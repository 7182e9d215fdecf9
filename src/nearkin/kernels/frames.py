"""A text without its numbers: a digest of its other words in order, and its numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def frames(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], also_numbers: tuple[bytes, ...], ticks: tuple[bytes, ...]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Return digests of each text's words without numbers, and of its numbers, and its numbers.

    Returns
    -------
    frame, numbers : uint64 arrays, shape (n_documents,)
        Digests of the other words and of the numbers, in order.
    hashes, number_offsets : uint64 array, int64 array of shape (n_documents + 1,)
        The numbers of each text; later occurrences of one have hashes of their own. Ticks count with four words before.
    """
    n = len(offsets) - 1
    frame, numbers, number_offsets = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n + 1, np.int64)
    hashes = np.empty(int(offsets[-1] - offsets[0]), np.uint64)  # the system allocates only memory that is written
    loops("frames", len(hashes)).frame_many(
        *frozen(data, offsets), also_numbers, ticks, frame, numbers, hashes, number_offsets
    )
    return frame, numbers, hashes[: number_offsets[-1]], number_offsets
