"""Runs of words that stand in several places: fingerprints of runs, classes of equal runs, and what follows what.

A *window* is a run of ``length`` words; its *place* is the number of its first word in the whole corpus.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.choosing import frozen, loops

NONE = np.uint32(0xFFFFFFFF)
REPEATED, COPIED, OWN = np.uint8(1), np.uint8(2), np.uint8(4)
"""Flags of a window: it stands elsewhere too; in an earlier document; earlier in its own, without a common word."""
Keys = tuple[NDArray[np.uint64], NDArray[np.int64]]


def winnow(words: NDArray[np.uint64], starts: NDArray[np.int64], k: int, w: int) -> Keys:
    """Return the fingerprints of documents: of any ``w`` runs of ``k`` words that follow one another, the least hash.

    Of equal hashes the last one counts. So if the same ``w + k - 1`` words stand in two places, the same fingerprint
    stands in both, at the same word of each; the two differ even if the runs overlap.

    Source: see `nearkin.kernels.similarity_index.winnowed`.

    Parameters
    ----------
    words : uint64 array, shape (n_words,)
        Hash of each word.
    starts : int64 array, shape (n_documents + 1,)
        The words of document ``i`` are those from ``starts[i]`` to ``starts[i + 1]``.
    """
    keys, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
    n = loops("passages", words.nbytes).winnow_many(*frozen(words, starts), k, w, keys, places)
    return keys[:n].copy(), places[:n].copy()


def hash_windows(words: NDArray[np.uint64], starts: NDArray[np.int64], marks: NDArray[np.uint8], length: int) -> Keys:
    """Return a hash of each marked window, and its place; a window does not cross the end of a document."""
    keys, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
    n = loops("passages", words.nbytes).hash_many(*frozen(words, starts, marks), length, keys, places)
    return keys[:n].copy(), places[:n].copy()


def mark_windows(places: NDArray[np.int64], before: int, marks: NDArray[np.uint8]) -> None:
    """Mark each place, and the ``before`` places before it."""
    loops("passages", places.nbytes).mark_many(*frozen(places), before, marks)


def equal_windows(
    places: NDArray[np.int64],
    first: NDArray[np.uint32],
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    length: int,
) -> NDArray[np.bool_]:
    """Compare each window with the first of its class, word by word; a word that was compared just now is not again.

    Parameters
    ----------
    first : uint32 array, shape (n_windows,)
        Number of the first window with the same hash.
    """
    is_equal = np.empty(len(places), np.bool_)
    loops("passages", 64 * len(places)).compare_many(*frozen(places, first, data, offsets), length, is_equal)
    return is_equal


def following(places: NDArray[np.int64], first: NDArray[np.uint32], counts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the class that follows each class at four of five of its windows, and of which the reverse is true, too.

    Classes are the numbers of their first windows, where ``counts`` and the result stand; NONE where nothing follows.
    """
    n = len(places)
    result = np.full(n, NONE, np.uint32)
    after, before = np.full(n, NONE, np.uint32), np.full(n, NONE, np.uint32)
    n_after, n_before = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    kernel = loops("passages", 64 * n)
    kernel.follow_many(*frozen(places, first, counts), after, before, n_after, n_before, result)
    return result


def window_flags(
    places: NDArray[np.int64],
    first: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    starts: NDArray[np.int64],
    length: int,
) -> NDArray[np.uint8]:
    """Return the flags of each window: REPEATED, COPIED, OWN."""
    flags = np.zeros(len(places), np.uint8)
    of_document = np.full(len(places), -1)
    loops("passages", 64 * len(places)).flag_many(*frozen(places, first, counts, starts), length, of_document, flags)
    return flags
