"""Shingle sets of texts: units (words, characters or tokens of code), n-grams of them, the distinct ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.characters import UNITS
from nearkin.kernels.choosing import frozen, loops


def shingle_sets(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, unit: str, length: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct shingles of each text.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array of shape (n_documents + 1,)
        Normalised texts, valid UTF-8.
    unit : {"words", "chars", "code"}
        A token of "code" is a run of letters, digits and underscores, or any other visible character.
    length
        Units in a shingle, >= 1. A shorter text that is not empty is one shingle of all its units.

    Returns
    -------
    hashes, set_offsets : uint64 array, int64 array of shape (n_documents + 1,)
        The sets one after another, each in order of first occurrence.

    Examples
    --------
    >>> text = np.frombuffer(b"to be or to be", np.uint8)
    >>> hashes, set_offsets, n_units = shingle_sets(text, np.array([0, len(text)]), unit="words", length=2)
    >>> set_offsets.tolist(), n_units.tolist()  # to be, be or, or to
    ([0, 3], [5])
    """
    n_documents = len(offsets) - 1
    hashes = np.empty(int(offsets[-1] - offsets[0]), np.uint64)  # the system allocates only memory that is written
    set_offsets = np.zeros(n_documents + 1, np.int64)
    n_units = np.zeros(n_documents, np.int64)
    kernel = loops("shingles", len(hashes))
    kernel.shingle_many(*frozen(data, offsets), UNITS[unit], length, hashes, set_offsets, n_units)
    return hashes[: set_offsets[-1]], set_offsets, n_units
