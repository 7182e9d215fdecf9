"""The twin of ``compiled.letters``."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import ALONE, WORD, character_classes
from nearkin.kernels.plain.mixing import mix

LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
N_LATIN = len(LATIN)
N_BUCKETS = 64
MOST_COUNT = 2**27 - 1


def count_letters(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, n_buckets: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """See ``compiled.letters.count_letters``.

    Examples
    --------
    >>> counts, n_counted, n_others = count_letters(
    ...     np.frombuffer("Añó 1".encode(), np.uint8), np.array([0, 7]), n_buckets=0
    ... )
    >>> counts[0, [0, 53]].tolist(), n_counted.tolist(), n_others.tolist()
    ([1, 1], [2], [2])
    """
    n_texts = len(offsets) - 1
    counts = np.zeros((n_texts, N_LATIN + n_buckets), np.int64)
    n_others = np.zeros(n_texts, np.int64)
    classes = character_classes()
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        for character in data[start:end].tobytes().decode():
            if character in LATIN:
                counts[i, LATIN.index(character)] += 1
            elif ord(character) >= 128 and classes[ord(character)] in (WORD, ALONE):
                if n_buckets:
                    counts[i, N_LATIN + (mix(ord(character)) >> 58)] += 1
                else:
                    n_others[i] += 1
    return np.minimum(counts, MOST_COUNT).astype(np.uint32), counts.sum(axis=1), n_others
