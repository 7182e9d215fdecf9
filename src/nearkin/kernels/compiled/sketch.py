"""Fast Similarity Sketching, and the keys of its bands.

Source: Søren Dahlgaard, Mathias Bæk Tejs Knudsen, Mikkel Thorup, "Fast Similarity Sketching", FOCS 2017, arXiv
1704.04370.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN, mix

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""What every slot of the empty set holds; it must never be compared."""


def sketch(hashes: NDArray[np.uint64], offsets: NDArray[np.int64], *, size: int, seed: int) -> NDArray[np.uint64]:
    """Sketch each set into ``size`` slots; two sets agree in a slot with probability equal to their Jaccard similarity.

    Parameters
    ----------
    hashes, offsets : uint64 array, int64 array of shape (n_documents + 1,)
        Sets of well mixed hashes.
    size : int
        Slots, >= 1.
    seed : int
        In [0, 2**64).

    Returns
    -------
    slots : uint64 array, shape (n_documents, size)
        The round in the upper 32 bits, the least value of that round in the lower 32.
    """
    slots = np.empty((len(offsets) - 1, size), np.uint64)
    _sketch_many(hashes, offsets, round_constants(size, seed), slots)
    return slots


def round_constants(size: int, seed: int) -> NDArray[np.uint64]:
    """What makes the hash function of each of the 2 * size rounds another one, shape (2 * size,)."""
    constants = np.empty(2 * size, np.uint64)
    _round_constants(np.uint64(seed), constants)
    return constants


def band_keys(slots: NDArray[np.uint64], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """A 64-bit hash of the ordered slots of each band.

    Parameters
    ----------
    slots : uint64 array, shape (n_documents, size)
        With size >= bands * rows.

    Returns
    -------
    keys : uint64 array, shape (bands, n_documents)
    """
    keys = np.empty((bands, len(slots)), np.uint64)
    _keys_many(slots, rows, keys)
    return keys


@njit(cache=True)
def _round_constants(seed, constants):
    for i in range(len(constants)):
        constants[i] = mix(mix(seed + GOLDEN) + np.uint64(i) * GOLDEN)


@njit(nogil=True, cache=True)
def _sketch_many(hashes, offsets, constants, slots):
    for i in range(len(offsets) - 1):
        _sketch_one(hashes, offsets[i], offsets[i + 1], constants, slots[i])


@njit(nogil=True, cache=True)
def _sketch_one(hashes, start, end, constants, slots):
    """A slot keeps the least value of the first round that reaches it; long sets need one round.

    In each of the first `size` rounds every element falls into some slot, in the others all into slot round - size.
    """
    size = len(slots)
    slots[:] = EMPTY
    if start == end:
        return
    for round_ in range(2 * size):
        stamp = np.uint64(round_) << np.uint64(32)
        constant = constants[round_]
        for i in range(start, end):
            x = mix(hashes[i] ^ constant)
            slot = (
                np.int64(((x >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)) if round_ < size else round_ - size
            )
            value = stamp | (x & np.uint64(0xFFFFFFFF))
            if value < slots[slot]:
                slots[slot] = value
        is_full = True
        for slot in range(size):
            is_full &= slots[slot] != EMPTY
        if is_full:
            return


@njit(nogil=True, cache=True)
def _keys_many(slots, rows, keys):
    for i in range(len(slots)):
        for band in range(len(keys)):
            keys[band, i] = _key_one(slots[i], band, rows)


@njit(nogil=True, cache=True)
def _key_one(slots, band, rows):
    """Ordered: [a, b] and [b, a] have different keys; so do equal slots in different bands."""
    key = mix(np.uint64(band) + GOLDEN)
    for slot in range(band * rows, (band + 1) * rows):
        key = mix(key ^ slots[slot]) + GOLDEN
    return key
