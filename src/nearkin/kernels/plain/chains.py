"""The plain twins of the loops of `nearkin.kernels.chains`."""

from __future__ import annotations

from itertools import islice

from nearkin.kernels.chains import NONE
from nearkin.kernels.plain.mixing import mix


def find_and_add_one(keys, row, heads, previous, most, buffer):
    found, n_cut = [], 0
    for j in range(keys.shape[1]):
        _add(keys, row, j, heads, previous)
        chain = list(islice(_before(row, previous[:, j]), most + 1))
        found += chain[:most]
        n_cut += len(chain) > most
    buffer[: len(found)] = found
    return len(found), n_cut


def add_many(keys, n_rows, heads, previous):
    for row in range(n_rows):
        for j in range(keys.shape[1]):
            _add(keys, row, j, heads, previous)


def _add(keys, row, j, heads, previous):
    mask = heads.shape[1] - 1
    place = mix(int(keys[row, j])) & mask
    while heads[j, place] != NONE and keys[heads[j, place], j] != keys[row, j]:
        place = (place + 1) & mask
    previous[row, j], heads[j, place] = heads[j, place], row


def _before(row, previous):
    while (row := int(previous[row])) != NONE:
        yield row
