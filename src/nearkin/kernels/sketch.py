"""Fast Similarity Sketching, the keys of bands, and the probability that bands or a sample find a pair.

Source: see `nearkin.stages.signatures.minhash`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Value in every slot of the empty set; it must never be compared."""
Numbers = NDArray[np.float64] | NDArray[np.integer[Any]] | float


def sketch(hashes: NDArray[np.uint64], offsets: NDArray[np.int64], *, size: int, seed: int) -> NDArray[np.uint64]:
    """Sketch sets of well mixed hashes; two agree in a slot with probability equal to their Jaccard similarity.

    Returns
    -------
    slots : uint64 array, shape (n_documents, size)
        The round in the upper 32 bits, the minimum value of that round in the lower 32.
    """
    slots = np.empty((len(offsets) - 1, size), np.uint64)
    constants = round_constants(size, seed)
    loops("sketch", hashes.nbytes).sketch_many(*frozen(hashes, offsets, constants), slots)
    return slots


def round_constants(size: int, seed: int) -> NDArray[np.uint64]:
    """Return the constants that distinguish the hash functions of the 2 * size rounds, shape (2 * size,)."""
    constants = np.empty(2 * size, np.uint64)
    loops("sketch", 0).fill_round_constants(np.uint64(seed), constants)
    return constants


def band_keys(slots: NDArray[np.uint64], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """Return a 64-bit hash of the ordered slots of each band, shape (bands, n_documents)."""
    keys = np.empty((bands, len(slots)), np.uint64)
    loops("sketch", slots.nbytes).keys_many(*frozen(slots), rows, keys)
    return keys


def found_by_bands(similarity: Numbers, bands: int, rows: int) -> NDArray[np.float64]:
    """Return the probability that two sketches agree in a band: 1 − (1 − s^rows)^bands.

    Examples
    --------
    >>> found_by_bands(0.8, bands=20, rows=5).round(4)
    np.float64(0.9996)
    """
    return np.asarray(1.0 - (1.0 - np.asarray(similarity, np.float64) ** rows) ** bands)[()]


def found_by_sample(n_common: Numbers, rate: float) -> NDArray[np.float64]:
    """Return the probability that a sample contains a shingle that two sets share: 1 − (1 − rate)^n.

    Examples
    --------
    >>> found_by_sample(np.array([0, 1, 16]), rate=0.25).round(3).tolist()
    [0.0, 0.25, 0.99]
    """
    return np.asarray(1.0 - (1.0 - rate) ** np.asarray(n_common, np.float64))[()]
