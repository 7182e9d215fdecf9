"""Loops of `nearkin.kernels.prefixes`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.copying import copy_into
from nearkin.kernels.compiled.jit import njit

_MAX_BY_INSERTION = 64


@njit(nogil=True, cache=True)
def prefix_many(hashes, offsets, counts, lengths, shift, elements):
    largest = 0
    for i in range(len(offsets) - 1):
        largest = max(largest, offsets[i + 1] - offsets[i])
    ordered, frequency = np.empty(largest, np.uint64), np.empty(largest, np.uint32)
    out = 0
    for i in range(len(offsets) - 1):
        _order_one(hashes, offsets[i], offsets[i + 1], counts, shift, ordered, frequency)
        for j in range(lengths[i]):
            elements[out] = ordered[j]
            out += 1


@njit(nogil=True, cache=True)
def _order_one(hashes, start, end, counts, shift, ordered, frequency):
    if end - start > _MAX_BY_INSERTION:
        elements = np.sort(hashes[start:end])
        found = counts[elements >> np.uint64(shift)]
        copy_into(ordered, elements[np.argsort(found, kind="mergesort")])  # stable
        return
    for i in range(end - start):
        element = hashes[start + i]
        count = counts[element >> np.uint64(shift)]
        j = i
        while j > 0 and (frequency[j - 1] > count or (frequency[j - 1] == count and ordered[j - 1] > element)):
            ordered[j] = ordered[j - 1]
            frequency[j] = frequency[j - 1]
            j -= 1
        ordered[j] = element
        frequency[j] = count
