"""Loops of `nearkin.kernels.lookup`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import GOLDEN


@njit(nogil=True, cache=True)
def find_many(keys, table, wanted, numbers):
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
def insert_many(keys, n_keys, table, wanted, numbers):
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
def add_many(counts, numbers, added):
    for i in range(len(numbers)):
        counts[numbers[i]] += added[i]


@njit(cache=True)
def _free_bits(size):
    bits = 64
    while size > 1:
        size >>= 1
        bits -= 1
    return bits
