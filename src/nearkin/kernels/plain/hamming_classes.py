"""The plain twins of the loops of `nearkin.kernels.hamming_classes`."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.hamming_classes import NONE


def number_classes(words, has_features, class_of_row):
    numbers = {}
    for row in np.flatnonzero(has_features):
        class_of_row[row] = numbers.setdefault(tuple(words[row].tolist()), len(numbers))
    return len(numbers)


def fill_members(class_of_row, offsets, members):
    members[:] = np.argsort(class_of_row, kind="stable")[np.count_nonzero(class_of_row == NONE) :]


def expand_many(
    class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets, start, pairs, distances
):
    n_pairs = 0
    for row in range(start, len(class_of_row)):
        own = class_of_row[row]
        if own == NONE:
            continue
        near = range(neighbour_offsets[own], neighbour_offsets[own + 1])
        rights = [members[offsets[c] : offsets[c + 1]].tolist() for c in neighbours[near.start : near.stop]]
        if n_pairs + sum(map(len, rights)) > len(pairs):
            return n_pairs, row
        for k, right_rows in zip(near, rights, strict=True):
            for right in right_rows:
                if right > row:
                    pairs[n_pairs], distances[n_pairs] = (row << 32) | right, neighbour_distances[k]
                    n_pairs += 1
    return n_pairs, len(class_of_row)
