"""64-bit hashes to running numbers: an open table that grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN


def find(keys: NDArray[np.uint64], table: NDArray[np.uint32], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of each key, -1 where it has none.

    Parameters
    ----------
    keys : uint64 array
        The key of each number.
    table : uint32 array, shape (a power of two,)
        1 + a number, or 0, found at the upper bits of its key times an odd constant, and after: keys that come sorted
        would else all fall into one corner of a table that is still small.
    wanted : uint64 array, shape (n,)

    Returns
    -------
    numbers : int64 array, shape (n,)
    """
    numbers = np.empty(len(wanted), np.int64)
    _find(keys, table, wanted, numbers)
    return numbers


def insert(
    keys: NDArray[np.uint64], n_keys: int, table: NDArray[np.uint32], wanted: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """The number of each key; one that is new gets the next number.

    Parameters
    ----------
    keys : uint64 array, written
        With room for all that are wanted after the first ``n_keys``.
    n_keys : int
        Keys that have a number.
    table : uint32 array, shape (a power of two,), written
        At least twice as long as there may be keys.
    wanted : uint64 array, shape (n,)

    Returns
    -------
    numbers : int64 array, shape (n,)
    n_keys : int
        How many have a number now.
    """
    numbers = np.empty(len(wanted), np.int64)
    return numbers, int(_insert(keys, n_keys, table, wanted, numbers))


def add_at(counts: NDArray[np.int64], numbers: NDArray[np.int64], added: NDArray[np.int64]) -> None:
    """Add to the counts of these numbers, of which some may occur more than once."""
    _add_at(counts, numbers, added)


@njit(nogil=True, cache=True)
def _find(keys, table, wanted, numbers):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(_free_bits(len(table)))
    for i in range(len(wanted)):
        place = (wanted[i] * GOLDEN) >> shift
        entry = table[place]
        while entry != np.uint32(0) and keys[np.int64(entry) - 1] != wanted[i]:
            place = (place + np.uint64(1)) & mask
            entry = table[place]
        numbers[i] = np.int64(entry) - 1


@njit(nogil=True, cache=True)
def _insert(keys, n_keys, table, wanted, numbers):
    mask = np.uint64(len(table) - 1)
    shift = np.uint64(_free_bits(len(table)))
    for i in range(len(wanted)):
        place = (wanted[i] * GOLDEN) >> shift
        entry = table[place]
        while entry != np.uint32(0) and keys[np.int64(entry) - 1] != wanted[i]:
            place = (place + np.uint64(1)) & mask
            entry = table[place]
        if entry == np.uint32(0):
            keys[n_keys] = wanted[i]
            n_keys += 1
            entry = np.uint32(n_keys)
            table[place] = entry
        numbers[i] = np.int64(entry) - 1
    return n_keys


@njit(nogil=True, cache=True)
def _add_at(counts, numbers, added):
    for i in range(len(numbers)):
        counts[numbers[i]] += added[i]


@njit(cache=True)
def _free_bits(size):
    bits = 64
    while size > 1:
        size >>= 1
        bits -= 1
    return bits
