"""Consecutive numbers for 64-bit hashes, in an open-addressing table that grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops


def find(keys: NDArray[np.uint64], table: NDArray[np.uint32], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of each key, -1 if it has none.

    Parameters
    ----------
    table : uint32 array, shape (a power of two,)
        1 + a number, or 0. The search starts at the upper bits of the key times an odd constant: otherwise sorted keys
        would all fall into one corner of a table that is still small.
    """
    numbers = np.empty(len(wanted), np.int64)
    loops("lookup", wanted.nbytes).find_many(*frozen(keys, table, wanted), numbers)
    return numbers


def insert(
    keys: NDArray[np.uint64], n_keys: int, table: NDArray[np.uint32], wanted: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """Return the number of each key, and how many keys have one now; a new key gets the next number.

    Parameters
    ----------
    keys : uint64 array, written
        With room for all wanted keys after the first ``n_keys``.
    table : uint32 array, shape (a power of two,), written
        At least twice the maximum number of keys.
    """
    numbers = np.empty(len(wanted), np.int64)
    n_keys = loops("lookup", wanted.nbytes).insert_many(keys, n_keys, table, *frozen(wanted), numbers)
    return numbers, int(n_keys)


def add_at(counts: NDArray[np.int64], numbers: NDArray[np.int64], added: NDArray[np.int64]) -> None:
    """Add to the counts of these numbers, some of which may occur more than once."""
    loops("lookup", numbers.nbytes).add_many(counts, *frozen(numbers, added))
