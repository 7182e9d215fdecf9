"""The twin of ``compiled.features``."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nearkin.kernels.plain.shingles import _shingles_one, split_words, word_hash


def count_features(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], *, words: bool, length: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """See ``compiled.features.count_features``.

    Examples
    --------
    >>> text = np.frombuffer(b"abcab", np.uint8)
    >>> _, counts, firsts, _ = count_features(text, np.array([0, 5]), words=False, length=2)
    >>> counts.tolist(), firsts.tolist()  # ab, bc, ca
    ([2, 1, 1], [0, 1, 2])
    """
    hashes: list[int] = []
    counts: list[int] = []
    firsts: list[int] = []
    feature_offsets = [0]
    for start, end in pairwise(offsets.tolist()):
        text = data[start:end].tobytes().decode()
        units = [word_hash(word) for word in split_words(text)] if words else [ord(c) for c in text]
        occurrences = _shingles_one(units, length)
        counted = Counter(occurrences)  # in order of first occurrence
        first_of = {feature: i for i, feature in reversed(list(enumerate(occurrences)))}
        hashes += counted
        counts += counted.values()
        firsts += [first_of[feature] for feature in counted]
        feature_offsets.append(len(hashes))
    return (
        np.array(hashes, np.uint64),
        np.array(counts, np.uint32),
        np.array(firsts, np.uint32),
        np.array(feature_offsets, np.int64),
    )


def locate_characters(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    firsts: NDArray[np.uint32],
    *,
    length: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """See ``compiled.features.locate_characters``.

    Examples
    --------
    >>> text = np.frombuffer("naïve".encode(), np.uint8)
    >>> starts, ends = locate_characters(text, np.array([0, 6]), np.array([0]), np.array([2], np.uint32), length=2)
    >>> starts.tolist(), ends.tolist()
    ([2], [5])
    """
    starts, ends = [], []
    for document, first in zip(documents.tolist(), firsts.tolist(), strict=True):
        start = int(offsets[document])
        text = data[start : offsets[document + 1]].tobytes().decode()
        starts.append(start + len(text[:first].encode()))
        ends.append(start + len(text[: first + length].encode()))
    return np.array(starts, np.int64), np.array(ends, np.int64)
