"""The plain twins of the loops of `nearkin.kernels.lookup`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.plain.mixing import GOLDEN, MASK


def find_many(keys, table, wanted, numbers):
    numbers[:] = [int(table[_place(keys, table, key)]) - 1 for key in wanted.tolist()]


def insert_many(keys, n_keys, table, wanted, numbers):
    for i, key in enumerate(wanted.tolist()):
        place = _place(keys, table, key)
        if table[place] == 0:
            keys[n_keys] = key
            n_keys += 1
            table[place] = n_keys
        numbers[i] = int(table[place]) - 1
    return n_keys


def add_many(counts, numbers, added):
    np.add.at(counts, numbers, added)


def _place(keys, table, key):
    place = (key * GOLDEN & MASK) >> (65 - len(table).bit_length())
    while table[place] and int(keys[int(table[place]) - 1]) != key:
        place = (place + 1) % len(table)
    return place
