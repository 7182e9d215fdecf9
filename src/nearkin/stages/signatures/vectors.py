"""Cached hashes of distinct features, each computed once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.features import locate_characters
from nearkin.records import I64, U8, U32, FeatureCounts
from nearkin.stages.signatures.numbering import FeatureNumbers

MAX_FEATURES = 1 << 22
"""Maximum number of cached rows; with 1,024 bits each they take about 640 MB. Beyond it, the cache is cleared."""

Hashing = Callable[[FeatureCounts, I64], U8]
"""Returns a row of bytes for each selected feature."""


class FeatureVectors:
    """A row of bytes for each feature seen so far, by its 64-bit hash.

    Contracts of 54,000 characters have 7,200 distinct 4-grams each, but a new one brings only 300 that no earlier one
    had (1,797 EDGAR agreements): a slow hash is needed for one occurrence in 170. Threads may share one of these.

    Parameters
    ----------
    hashing : callable
        Makes the rows of new features.
    row_bytes : int
        Size of each row.
    max_features : int
    """

    def __init__(self, hashing: Hashing, row_bytes: int, max_features: int = MAX_FEATURES) -> None:
        self._hashing = hashing
        self._row_bytes = row_bytes
        self._max_features = max_features
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._numbers = FeatureNumbers()
        self._rows = np.zeros((1024, self._row_bytes), np.uint8)

    def rows_of(self, counted: FeatureCounts) -> tuple[U8, I64]:
        """Return the cached rows, and the row of each feature.

        Returns
        -------
        rows : uint8 array, shape (n_rows, row_bytes)
            Rows to which the second result points do not change any more.
        row_of : int64 array, shape (n_features,)
        """
        with self._lock:
            try:
                known = len(self._numbers)
                row_of = self._numbers.add(counted.hashes)
                if len(self._numbers) > self._max_features and known:
                    self._forget()
                    known, row_of = 0, self._numbers.add(counted.hashes)
                self._fill(known, counted, row_of)
            except BaseException:  # interrupted: some features have a number but no row
                self._forget()
                raise
            return self._rows, row_of

    def _fill(self, known: int, counted: FeatureCounts, row_of: I64) -> None:
        """Make the rows of the features that have just received a number."""
        n = len(self._numbers)
        if n == known:
            return
        if n > len(self._rows):  # a new array: earlier results keep the old one unchanged
            rows = np.zeros((1 << (n - 1).bit_length(), self._row_bytes), np.uint8)
            rows[:known] = self._rows[:known]
            self._rows = rows
        new = np.flatnonzero(row_of >= known)
        first_seen = np.full(n - known, len(row_of), np.int64)
        np.minimum.at(first_seen, row_of[new] - known, new)
        order = np.argsort(first_seen)
        self._rows[known + order] = self._hashing(counted, first_seen[order])


def as_words(rows: U8) -> U32:
    """Return rows of bytes, a multiple of four each, as 32-bit words."""
    return rows.view("<u4").astype(np.uint32, copy=False)


def spell(counted: FeatureCounts, chosen: I64) -> tuple[U8, I64, I64]:
    """Return the bytes of some features, as input of hashes that need more than 64 bits.

    Character n-grams are spelled as UTF-8. A word n-gram may be written in many ways; its 64-bit hash, lowest byte
    first, stands for all of them.

    Parameters
    ----------
    counted : FeatureCounts
    chosen : int64 array, shape (n,)
        Indices into ``counted.hashes``, ascending.

    Returns
    -------
    data : uint8 array
    starts, ends : int64 arrays, shape (n,)
        Feature ``i`` is ``data[starts[i]:ends[i]]``.
    """
    if not counted.n_characters:
        starts = np.arange(0, 8 * len(chosen), 8)
        return counted.hashes[chosen].astype("<u8").view(np.uint8), starts, starts + 8
    data, offsets = text_buffers(counted.texts)
    documents = np.searchsorted(counted.offsets, chosen, side="right") - 1
    starts, ends = locate_characters(data, offsets, documents, counted.firsts[chosen], length=counted.n_characters)
    return data, starts, ends
