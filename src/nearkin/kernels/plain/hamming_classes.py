"""The twin of ``compiled.hamming_classes``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NONE = -1


def equal_classes(words: NDArray[np.uint64], has_features: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """See ``compiled.hamming_classes.equal_classes``.

    Examples
    --------
    >>> classes, n_classes = equal_classes(np.array([[7], [3], [7], [0]], np.uint64), np.array([True] * 3 + [False]))
    >>> classes.tolist(), n_classes
    ([0, 1, 0, -1], 2)
    """
    numbers: dict[tuple[int, ...], int] = {}
    class_of_row = np.full(len(words), NONE, np.int32)
    for row in np.flatnonzero(has_features):
        class_of_row[row] = numbers.setdefault(tuple(words[row].tolist()), len(numbers))
    return class_of_row, len(numbers)


def members_of(class_of_row: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """See ``compiled.hamming_classes.members_of``.

    Examples
    --------
    >>> members, offsets = members_of(np.array([0, 1, 0, -1], np.int32), 2)
    >>> members.tolist(), offsets.tolist()
    ([0, 2, 1], [0, 2, 3])
    """
    members = [np.flatnonzero(class_of_row == number).tolist() for number in range(n_classes)]
    offsets = np.cumsum([0, *map(len, members)]).astype(np.int64)
    return np.array([row for rows in members for row in rows], np.uint32), offsets


def expand_classes(
    class_of_row: NDArray[np.int32],
    members: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.uint32],
    neighbour_distances: NDArray[np.uint16],
    neighbour_offsets: NDArray[np.int64],
    *,
    start: int,
    pairs: NDArray[np.uint64],
    distances: NDArray[np.uint16],
) -> tuple[int, int]:
    """See ``compiled.hamming_classes.expand_classes``."""
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
