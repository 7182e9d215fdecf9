"""Equal bit strings as one: from documents to classes of equal ones, and from pairs of classes back to documents.

A *string* is a row of 64-bit words. A pair goes out as one number, the left row in its upper 32 bits and the right row
in its lower.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.compiled.jit import njit
from nearkin.kernels.compiled.mixing import mix

NONE = -1
"""The class of a document without features."""


def equal_classes(words: NDArray[np.uint64], has_features: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Number the distinct strings in the order in which they come first.

    Parameters
    ----------
    words : uint64 array, shape (n_documents, n_words)
    has_features : bool array, shape (n_documents,)
        Documents without features belong to no class.

    Returns
    -------
    class_of_row : int32 array, shape (n_documents,)
        `NONE` for documents without features.
    n_classes : int
    """
    size = 16
    while size < 2 * len(words):
        size *= 2
    table, firsts = np.full(size, NONE, np.int32), np.empty(len(words), np.int64)
    class_of_row = np.full(len(words), NONE, np.int32)
    return class_of_row, int(_classes_many(words, has_features, table, firsts, class_of_row))


def members_of(class_of_row: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The rows of each class.

    Returns
    -------
    members : uint32 array
        Class by class, ascending in each.
    offsets : int64 array, shape (n_classes + 1,)
    """
    counts = np.bincount(class_of_row[class_of_row != NONE], minlength=n_classes)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    members = np.empty(offsets[-1], np.uint32)
    _members_many(class_of_row, offsets[:-1].copy(), members)
    return members, offsets


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
    """The pairs of documents behind pairs of classes, left row by left row, until the room may not hold one row more.

    Parameters
    ----------
    class_of_row : int32 array, shape (n_documents,)
    members, offsets : uint32 array, int64 array of shape (n_classes + 1,)
        The rows of each class, ascending.
    neighbours, neighbour_distances, neighbour_offsets : uint32, uint16 and int64 arrays
        The classes near each class, itself among them.
    start : int
        The left row to begin with.
    pairs, distances : uint64 and uint16 arrays
        Written from 0 on; the right rows of a left row come class by class.

    Returns
    -------
    n_pairs, next_start : int
        If one row alone does not fit, ``n_pairs`` is 0 and ``next_start`` is ``start``.
    """
    n_pairs, next_start = _expand_many(
        class_of_row,
        members,
        offsets,
        neighbours,
        neighbour_distances,
        neighbour_offsets,
        start,
        pairs,
        distances,
    )
    return int(n_pairs), int(next_start)


@njit(nogil=True, cache=True)
def _classes_many(words, has_features, table, firsts, class_of_row):
    n_classes = 0
    mask = np.uint64(len(table) - 1)
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
def _members_many(class_of_row, places, members):
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
def _expand_many(
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
    """members=[2, 5, 9], row=5 -> 2."""
    while low < high:
        middle = (low + high) // 2
        if members[middle] > row:
            high = middle
        else:
            low = middle + 1
    return low
