"""Letter counts of texts: 62 Latin letters and digits individually, those of all other scripts in hashed buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import character_classes
from nearkin.kernels.choosing import frozen, loops

LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
N_LATIN = len(LATIN)
N_BUCKETS = 64
"""Buckets for the letters and digits of all other scripts: the upper six bits of the mixed code point."""
MAX_COUNT = 2**27 - 1
"""Upper limit of a count, so that the squares of 256 counts add up to less than 2**62."""


def count_letters(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, n_buckets: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Count the letters and digits of each text.

    Returns
    -------
    counts : uint32 array, shape (n_texts, 62 + n_buckets)
        In the order of LATIN; at most MAX_COUNT each.
    n_counted, n_others : int64 arrays, shape (n_texts,)
        Number of letters and digits with a column among the counts, and of those without.
    """
    n_texts = len(offsets) - 1
    counts = np.zeros((n_texts, N_LATIN + n_buckets), np.uint32)
    n_counted, n_others = np.zeros(n_texts, np.int64), np.zeros(n_texts, np.int64)
    kernel = loops("letters", int(offsets[-1] - offsets[0]))
    kernel.count_many(*frozen(data, offsets, character_classes()), counts, n_counted, n_others)
    return counts, n_counted, n_others
