"""Loops of `nearkin.kernels.hamming_classes`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix
from nearkin.kernels.hamming_classes import NONE


@njit(nogil=True, cache=True)
def number_classes(words, has_features, class_of_row):
    n_classes, size = 0, 16
    while size < 2 * len(words):
        size *= 2
    mask = np.uint64(size - 1)
    table, firsts = np.full(size, NONE, np.int32), np.empty(len(words), np.int64)
    for row in range(len(words)):
        if not has_features[row]:
            continue
        place = _hash_one(words, row) & mask
        while table[place] != NONE and not _is_equal(words, firsts[table[place]], row):
            place = (place + np.uint64(1)) & mask
        if table[place] == NONE:
            table[place] = n_classes
            firsts[n_classes] = row
            n_classes += 1
        class_of_row[row] = table[place]
    return n_classes


@njit(nogil=True, cache=True)
def fill_members(class_of_row, offsets, members):
    places = offsets[:-1].copy()
    for row in range(len(class_of_row)):
        if class_of_row[row] != NONE:
            members[places[class_of_row[row]]] = row
            places[class_of_row[row]] += 1


@njit(inline="always", cache=True)
def _hash_one(words, row):
    key = np.uint64(0)
    for w in range(words.shape[1]):
        key = mix(key ^ words[row, w])
    return key


@njit(inline="always", cache=True)
def _is_equal(words, a, b):
    differing = np.uint64(0)
    for w in range(words.shape[1]):
        differing |= words[a, w] ^ words[b, w]
    return differing == np.uint64(0)


@njit(nogil=True, cache=True)
def expand_many(
    class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets, row, pairs, distances
):
    n_pairs = 0
    while row < len(class_of_row):
        own = class_of_row[row]
        if own != NONE:
            n_more = 0
            for k in range(neighbour_offsets[own], neighbour_offsets[own + 1]):
                n_more += offsets[neighbours[k] + 1] - offsets[neighbours[k]]
            if n_pairs + n_more > len(pairs):
                break
            for k in range(neighbour_offsets[own], neighbour_offsets[own + 1]):
                other = neighbours[k]
                begin = _first_above(members, offsets[other], offsets[other + 1], row)
                for m in range(begin, offsets[other + 1]):
                    pairs[n_pairs] = (np.uint64(row) << np.uint64(32)) | np.uint64(members[m])
                    distances[n_pairs] = neighbour_distances[k]
                    n_pairs += 1
        row += 1
    return n_pairs, row


@njit(inline="always", cache=True)
def _first_above(members, low, high, row):
    while low < high:
        middle = (low + high) // 2
        if members[middle] > row:
            high = middle
        else:
            low = middle + 1
    return low
