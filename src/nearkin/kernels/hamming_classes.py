"""Classes of equal bit strings: from documents to classes, and from pairs of classes back to documents.

A *string* is a row of 64-bit words. A pair is returned as one number, with the left row in its upper 32 bits and the
right row in its lower.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

NONE = -1
"""The class of a document without features."""


def equal_classes(words: NDArray[np.uint64], has_features: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Number the distinct strings in order of first occurrence; rows without features have `NONE`."""
    class_of_row = np.full(len(words), NONE, np.int32)
    kernel = loops("hamming_classes", words.nbytes)
    return class_of_row, int(kernel.number_classes(*frozen(words, has_features), class_of_row))


def members_of(class_of_row: NDArray[np.int32], n_classes: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the rows of each class, ascending in each, and offsets."""
    counts = np.bincount(class_of_row[class_of_row != NONE], minlength=n_classes)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    members = np.empty(offsets[-1], np.uint32)
    loops("hamming_classes", class_of_row.nbytes).fill_members(*frozen(class_of_row, offsets), members)
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
    """Expand pairs of classes to pairs of documents, by left row, until the room may not suffice for another row.

    Parameters
    ----------
    neighbours, neighbour_distances, neighbour_offsets : uint32, uint16 and int64 arrays
        Classes near each class, including itself.
    pairs, distances : uint64 and uint16 arrays
        Written from index 0; the right rows of a left row are ordered by class.

    Returns
    -------
    n_pairs, next_start : int
        If not even one row fits, ``n_pairs`` is 0 and ``next_start`` is ``start``.
    """
    n_pairs, next_start = loops("hamming_classes", class_of_row.nbytes).expand_many(
        *frozen(class_of_row, members, offsets, neighbours, neighbour_distances, neighbour_offsets),
        start,
        pairs,
        distances,
    )
    return int(n_pairs), int(next_start)
