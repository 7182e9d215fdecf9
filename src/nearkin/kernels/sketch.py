"""Fast Similarity Sketching, and the keys of its bands.

Source: see `nearkin.stages.signatures.minhash`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Value in every slot of the empty set; it must never be compared."""


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
