"""A text without its numbers: a digest of its other words in order, and its numbers.

A number is a word with an ASCII digit; other words, such as months, may count as numbers, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def frames(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], also_numbers: tuple[bytes, ...]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Return digests of each text's words without numbers, and of its numbers, and its distinct numbers.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array of shape (n_documents + 1,)
        Normalised texts, valid UTF-8.
    also_numbers : tuple of bytes
        Words that count as numbers, in UTF-8.

    Returns
    -------
    frame : uint64 array, shape (n_documents,)
        Digest of the words that are no numbers, in order.
    numbers : uint64 array, shape (n_documents,)
        Digest of the numbers, in order.
    hashes : uint64 array
        The distinct numbers of each text, one text after another.
    number_offsets : int64 array, shape (n_documents + 1,)

    Examples
    --------
    >>> texts = b"in 30 daysin 45 days"
    >>> frame, numbers, _, _ = frames(np.frombuffer(texts, np.uint8), np.array([0, 10, 20]), ())
    >>> bool(frame[0] == frame[1]), bool(numbers[0] == numbers[1])
    (True, False)
    """
    n = len(offsets) - 1
    frame, numbers, number_offsets = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n + 1, np.int64)
    hashes = np.empty(int(offsets[-1] - offsets[0]), np.uint64)  # the system allocates only memory that is written
    loops("frames", len(hashes)).frame_many(
        *frozen(data, offsets), also_numbers, frame, numbers, hashes, number_offsets
    )
    return frame, numbers, hashes[: number_offsets[-1]], number_offsets
