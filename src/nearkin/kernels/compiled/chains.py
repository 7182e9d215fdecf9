"""Loops of `nearkin.kernels.chains`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.chains import NONE
from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix


@njit(nogil=True, cache=True)
def find_and_add_one(keys, row, heads, previous, most, buffer):
    n_found = 0
    n_cut = 0
    for j in range(keys.shape[1]):
        _add(keys, row, j, heads, previous)
        earlier = previous[row, j]
        n_seen = 0
        while earlier != NONE and n_seen < most:
            buffer[n_found] = earlier
            n_found += 1
            n_seen += 1
            earlier = previous[earlier, j]
        n_cut += earlier != NONE
    return n_found, n_cut


@njit(nogil=True, cache=True)
def add_many(keys, n_rows, heads, previous):
    for row in range(n_rows):
        for j in range(keys.shape[1]):
            _add(keys, row, j, heads, previous)


@njit(nogil=True, cache=True)
def _add(keys, row, j, heads, previous):
    mask = np.uint64(heads.shape[1] - 1)
    place = mix(keys[row, j]) & mask
    while heads[j, place] != NONE and keys[heads[j, place], j] != keys[row, j]:
        place = (place + np.uint64(1)) & mask
    previous[row, j] = heads[j, place]
    heads[j, place] = row
