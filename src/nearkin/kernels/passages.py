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

    Of equal hashes the last one counts. The choice depends on these ``w + k - 1`` words alone. So if the same
    ``w + k - 1`` words stand in two places, the same fingerprint stands in both, at the same word of each: the two
    places of the fingerprint differ even if the runs overlap.

    Source: Saul Schleimer, Daniel S. Wilkerson, Alex Aiken, "Winnowing: local algorithms for document fingerprinting",
    2003.

    Parameters
    ----------
    words : uint64 array, shape (n_words,)
        Hash of each word.
    starts : int64 array, shape (n_documents + 1,)
        The words of document ``i`` are those from ``starts[i]`` to ``starts[i + 1]``.
    k, w : int

    Returns
    -------
    keys : uint64 array
        Hashes of runs; none of documents with fewer than ``w + k - 1`` words.
    places : int64 array
        Number of the first word of each; ascending.

    Examples
    --------
    >>> words = np.array([5, 6, 7, 8, 5, 6, 7], np.uint64)
    >>> keys, places = winnow(words, np.array([0, 7]), 2, 2)
    >>> int(places[0]) + 4 == int(places[-1]), bool(keys[0] == keys[-1])
    (True, True)
    """
    keys, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
    n = loops("passages", words.nbytes).winnow_many(*frozen(words, starts), k, w, keys, places)
    return keys[:n].copy(), places[:n].copy()


def hash_windows(words: NDArray[np.uint64], starts: NDArray[np.int64], marks: NDArray[np.uint8], length: int) -> Keys:
    """Return a hash of each marked window, and its place; a window does not cross the end of a document.

    Parameters
    ----------
    words, starts
        See `winnow`.
    marks : uint8 array, shape (n_words,)
        Not 0 where a window is wanted.
    length : int

    Examples
    --------
    >>> words = np.array([5, 6, 5, 6], np.uint64)
    >>> keys, places = hash_windows(words, np.array([0, 4]), np.ones(4, np.uint8), 2)
    >>> places.tolist(), bool(keys[0] == keys[2])
    ([0, 1, 2], True)
    """
    keys, places = np.empty(len(words), np.uint64), np.empty(len(words), np.int64)
    n = loops("passages", words.nbytes).hash_many(*frozen(words, starts, marks), length, keys, places)
    return keys[:n].copy(), places[:n].copy()


def mark_windows(places: NDArray[np.int64], before: int, marks: NDArray[np.uint8]) -> None:
    """Mark each place, and the ``before`` places before it.

    Examples
    --------
    >>> marks = np.zeros(6, np.uint8)
    >>> mark_windows(np.array([1, 5]), 2, marks)
    >>> marks.tolist()
    [1, 1, 0, 1, 1, 1]
    """
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
    places : int64 array, shape (n_windows,)
        Ascending.
    first : uint32 array, shape (n_windows,)
        Number of the first window with the same hash.
    data, offsets : uint8 array, int64 array of shape (n_words + 1,)
        Normalised words.
    length : int

    Examples
    --------
    >>> data, offsets = np.frombuffer(b"ababac", np.uint8), np.arange(7)
    >>> equal_windows(np.array([0, 2, 4]), np.zeros(3, np.uint32), data, offsets, 2).tolist()
    [True, True, False]
    """
    is_equal = np.empty(len(places), np.bool_)
    loops("passages", 64 * len(places)).compare_many(*frozen(places, first, data, offsets), length, is_equal)
    return is_equal


def following(places: NDArray[np.int64], first: NDArray[np.uint32], counts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the class that follows each class at four of five of its windows, and of which the reverse is true, too.

    Parameters
    ----------
    places, first
        See `equal_windows`.
    counts : uint32 array, shape (n_windows,)
        Windows of each class, at its first one; 1 for a window that stands nowhere else.

    Returns
    -------
    following : uint32 array, shape (n_windows,)
        At the first window of a class the first of the following one; NONE elsewhere.

    Examples
    --------
    >>> first, counts = np.array([0, 1, 0, 1], np.uint32), np.array([2, 2, 0, 0], np.uint32)
    >>> following(np.array([3, 4, 8, 9]), first, counts)[:1].tolist()
    [1]
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
    """Return the flags of each window: REPEATED, COPIED, OWN.

    Examples
    --------
    >>> first, counts = np.zeros(3, np.uint32), np.array([3, 0, 0], np.uint32)
    >>> window_flags(np.array([0, 2, 5]), first, counts, np.array([0, 5, 8]), 2).tolist()
    [1, 5, 3]
    """
    flags = np.zeros(len(places), np.uint8)
    of_document = np.full(len(places), -1)
    loops("passages", 64 * len(places)).flag_many(*frozen(places, first, counts, starts), length, of_document, flags)
    return flags
