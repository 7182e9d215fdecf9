"""Loops of `nearkin.kernels.hamming_tables`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix
from nearkin.kernels.compiled.ones import n_ones
from nearkin.kernels.hamming_tables import CHUNK

_FEW = 12  # up to this number are compared one by one
_DIGIT_BITS = 11


@njit(nogil=True, cache=True)
def sort_by_block(words, mask, key_bits):
    n_passes = -(-key_bits // _DIGIT_BITS)
    digit_bits = -(-key_bits // n_passes)
    counts = np.zeros((n_passes, 1 << digit_bits), np.int64)
    entries, spare = np.empty(len(words), np.uint64), np.empty(len(words), np.uint64)
    _keys_many(words, mask, key_bits, digit_bits, counts, entries)
    for i in range(n_passes):
        _radix_pass(entries, 32 + i * digit_bits, counts[i], spare)
        entries, spare = spare, entries
    return entries


@njit(nogil=True, cache=True)
def link_many(entries, leads, words, blocks, is_key, most, n_queries, i, j, pairs, distances):
    n_pairs = np.int64(0)
    while i < len(entries):
        last_left, first_right, end = _run_from(entries, i, n_queries)
        if first_right == end:
            i = end
            continue
        while i < last_left:
            j = max(j, i + 1, first_right)
            while j < end:
                stop = min(j + CHUNK, end)
                if n_pairs + stop - j > len(pairs):
                    return n_pairs, i, j
                if stop - j < _FEW or _any_close(leads, i, j, stop, most):
                    n_pairs = _link_one(
                        entries, leads, words, blocks, is_key, most, i, j, stop, pairs, distances, n_pairs
                    )
                j = stop
            i += 1
            j = 0
        i = end
    return n_pairs, i, 0


@njit(inline="always", cache=True)
def _key_one(words, row, mask):
    key = np.uint64(0)
    for w in range(words.shape[1]):
        key = mix(key ^ (words[row, w] & mask[w]))
    return key


@njit(nogil=True, cache=True)
def _keys_many(words, mask, key_bits, digit_bits, counts, entries):
    """Return the unsorted entries, and the frequency of each digit of their keys."""
    digit_mask = np.uint64((1 << digit_bits) - 1)
    for row in range(len(words)):
        key = _key_one(words, row, mask) >> np.uint64(64 - key_bits)
        entries[row] = (key << np.uint64(32)) | np.uint64(row)
        for i in range(len(counts)):
            counts[i, (key >> np.uint64(i * digit_bits)) & digit_mask] += 1


@njit(nogil=True, cache=True)
def _radix_pass(entries, shift, counts, out):
    total = 0
    for digit in range(len(counts)):
        n = counts[digit]
        counts[digit] = total
        total += n
    mask = np.uint64(len(counts) - 1)
    for i in range(len(entries)):
        digit = (entries[i] >> np.uint64(shift)) & mask
        out[counts[digit]] = entries[i]
        counts[digit] += 1


@njit(inline="always", cache=True)
def _run_from(entries, i, n_queries):
    """Return the end of the run with this key; left rows are below the first number, right rows from the second on."""
    key = entries[i] >> np.uint64(32)
    end, middle = i, i
    while end < len(entries) and entries[end] >> np.uint64(32) == key:
        middle += (entries[end] & np.uint64(0xFFFFFFFF)) < np.uint64(n_queries)
        end += 1
    if n_queries == 0:
        return end, min(i + 1, end), end
    return middle, middle, end


@njit(inline="always", cache=True)
def _any_close(leads, i, j, stop, most):
    """Count without an early exit from the loop, so that it runs on several words at once."""
    n_close = 0
    for k in range(j, stop):
        n_close += n_ones(leads[k] ^ leads[i]) <= most
    return n_close > 0


@njit(nogil=True, cache=True)
def _link_one(entries, leads, words, blocks, is_key, most, i, j, stop, pairs, distances, n_pairs):
    row_mask = np.uint64(0xFFFFFFFF)
    for k in range(j, stop):
        lead = leads[k] ^ leads[i]  # the lead of a one-word string is the string: nothing else is loaded then
        if n_ones(lead) > most:
            continue
        a, b = entries[i] & row_mask, entries[k] & row_mask
        distance = n_ones(lead) + _distance_of_rest(words, a, b)
        if distance <= most and _is_first_table(lead, words, a, b, blocks, is_key):
            pairs[n_pairs] = (min(a, b) << np.uint64(32)) | max(a, b)
            distances[n_pairs] = distance
            n_pairs += 1
    return n_pairs


@njit(inline="always", cache=True)
def _distance_of_rest(words, a, b):
    distance = np.uint64(0)
    for w in range(1, words.shape[1]):
        distance += n_ones(words[a, w] ^ words[b, w])
    return distance


@njit(inline="always", cache=True)
def _is_first_table(lead, words, a, b, blocks, is_key):
    last = len(blocks) - 1
    while not is_key[last]:
        last -= 1
    for block in range(last + 1):
        differing = lead & blocks[block, 0]
        for w in range(1, words.shape[1]):
            differing |= (words[a, w] ^ words[b, w]) & blocks[block, w]
        if (differing == np.uint64(0)) != is_key[block]:
            return False
    return True
