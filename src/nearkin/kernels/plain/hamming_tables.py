"""The plain twins of the loops of `nearkin.kernels.hamming_tables`."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from nearkin.kernels.hamming_tables import CHUNK
from nearkin.kernels.plain.mixing import mix

_ROW = 0xFFFFFFFF


def sort_by_block(words, mask, key_bits):
    entries = []
    for row, string in enumerate((words & mask).tolist()):
        key = 0
        for word in string:
            key = mix(key ^ word)
        entries.append(key >> (64 - key_bits) << 32 | row)
    return np.array(sorted(entries), np.uint64)


def link_many(entries, leads, words, blocks, is_key, most, n_queries, start, start_in_run, pairs, distances):
    n_pairs = 0
    rows = [int(entry) & _ROW for entry in entries]
    strings = [_as_int(words[row]) for row in rows]
    masks = [_as_int(mask) for mask in blocks]
    for _, run in groupby(range(start, len(entries)), key=lambda i: int(entries[i]) >> 32):
        places = list(run)
        rights = [i for i in places if rows[i] >= n_queries]
        lefts = [i for i in places if rights and (not n_queries or rows[i] < n_queries)]
        for i in lefts:
            first = max(start_in_run if i == start else 0, i + 1, rights[0])
            for chunk in range(first, places[-1] + 1, CHUNK):
                stop = min(chunk + CHUNK, places[-1] + 1)
                if n_pairs + stop - chunk > len(pairs):
                    return n_pairs, i, chunk
                for j in range(chunk, stop):
                    differing = strings[i] ^ strings[j]
                    if differing.bit_count() <= most and _is_first_table(differing, masks, is_key.tolist()):
                        left, right = sorted((rows[i], rows[j]))
                        pairs[n_pairs], distances[n_pairs] = (left << 32) | right, differing.bit_count()
                        n_pairs += 1
    return n_pairs, len(entries), 0


def _as_int(words):
    return sum(word << (64 * w) for w, word in enumerate(words.tolist()))


def _is_first_table(differing, masks, is_key):
    agree = [block for block, mask in enumerate(masks) if not differing & mask]
    return agree[: sum(is_key)] == [block for block, of_key in enumerate(is_key) if of_key]
