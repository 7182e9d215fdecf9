"""Counted features of texts: each distinct n-gram, its number of occurrences, and the position of the first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import UNITS
from nearkin.kernels.choosing import frozen, loops


def count_features(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, unit: str, length: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """Return the distinct n-grams of each text with their counts.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array of shape (n_documents + 1,)
        Texts, valid UTF-8.
    length
        Units in a feature, >= 1. A shorter text that is not empty has one feature: all of its units.

    Returns
    -------
    hashes : uint64 array, shape (n_features,)
        Equal to those of ``shingles.shingle_sets``: text after text, in order of first occurrence.
    firsts : uint32 array, shape (n_features,)
        Position of the first occurrence in its text, in units counted from 0.

    Examples
    --------
    >>> text = np.frombuffer(b"abcab", np.uint8)
    >>> _, counts, firsts, _ = count_features(text, np.array([0, 5]), unit="chars", length=2)
    >>> counts.tolist(), firsts.tolist()  # ab, bc, ca
    ([2, 1, 1], [0, 1, 2])
    """
    n_documents = len(offsets) - 1
    room = int(offsets[-1] - offsets[0])  # the system allocates only the memory that is written
    hashes, counts = np.empty(room, np.uint64), np.empty(room, np.uint32)
    firsts = np.empty(room, np.uint32)
    feature_offsets = np.zeros(n_documents + 1, np.int64)
    loops("features", room).count_many(
        *frozen(data, offsets), UNITS[unit], length, hashes, counts, firsts, feature_offsets
    )
    n = int(feature_offsets[-1])
    return hashes[:n].copy(), counts[:n].copy(), firsts[:n].copy(), feature_offsets


def locate_characters(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    firsts: NDArray[np.uint32],
    *,
    length: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and end of character n-grams in ``data``, in bytes.

    Parameters
    ----------
    documents, firsts : int64 and uint32 arrays, shape (n_features,)
        Text of each, and its first character; fast if they are sorted by both.
    length
        In characters; a feature that extends beyond its text is cut.
    """
    starts, ends = np.empty(len(documents), np.int64), np.empty(len(documents), np.int64)
    loops("features", 64 * len(documents)).locate_many(*frozen(data, offsets, documents, firsts), length, starts, ends)
    return starts, ends
