"""The hash of each distinct feature, computed once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.features import locate_characters
from nearkin.records import I64, U8, U32, FeatureCounts
from nearkin.stages.signatures.numbering import FeatureNumbers

MAX_FEATURES = 1 << 22
"""Kept at most; with 1,024 bits each they take about 640 MB. When there are more, all are forgotten."""

Hashing = Callable[[FeatureCounts, I64], U8]
"""Features, and which of them → a row of bytes for each."""


class FeatureVectors:
    """A row of bytes for each feature that was seen, kept by its 64-bit hash.

    Contracts of 54,000 characters have 7,200 distinct 4-grams each, but a new one brings only 300 that no earlier one
    had (1,797 EDGAR agreements): a slow hash is needed for one occurrence in 170. Threads may share one of these.

    Parameters
    ----------
    hashing : callable
        Makes the rows of features that were not seen before.
    row_bytes : int
        Of each row.
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
        """The rows that are known, and which of them each feature has.

        Returns
        -------
        rows : uint8 array, shape (n_rows, row_bytes)
            It does not change any more where the second result points.
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
            except BaseException:  # interrupted: some features have a number and no row
                self._forget()
                raise
            return self._rows, row_of

    def _fill(self, known: int, counted: FeatureCounts, row_of: I64) -> None:
        """Make the rows of the features that have just got a number."""
        n = len(self._numbers)
        if n == known:
            return
        if n > len(self._rows):  # another array: whoever has the old one keeps it as it is
            rows = np.zeros((1 << (n - 1).bit_length(), self._row_bytes), np.uint8)
            rows[:known] = self._rows[:known]
            self._rows = rows
        new = np.flatnonzero(row_of >= known)
        first_seen = np.full(n - known, len(row_of), np.int64)
        np.minimum.at(first_seen, row_of[new] - known, new)
        order = np.argsort(first_seen)
        self._rows[known + order] = self._hashing(counted, first_seen[order])


def as_words(rows: U8) -> U32:
    """Rows of bytes, a multiple of four each, as 32-bit words."""
    return rows.view("<u4").astype(np.uint32, copy=False)


def spell(counted: FeatureCounts, chosen: I64) -> tuple[U8, I64, I64]:
    """The bytes of some features: what a hash is computed of that needs more than 64 bits.

    Of character n-grams they are their UTF-8. A word n-gram may be written in many ways; it stands for them all by its
    64-bit hash, the lowest byte first.

    Parameters
    ----------
    counted : FeatureCounts
    chosen : int64 array, shape (n,)
        Which of ``counted.hashes``, in rising order.

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
