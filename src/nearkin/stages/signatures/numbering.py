"""Consecutive numbers for features, so that data about each feature is stored once."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.terms import find_numbers, insert_numbers
from nearkin.records import I64, U64

_FIRST_ROOM = 1024
_PART = 1 << 15


class FeatureNumbers:
    """Numbers from 0 for the hashes of features, in order of first occurrence.

    Examples
    --------
    >>> numbers = FeatureNumbers()
    >>> numbers.add(np.array([7, 5, 7], np.uint64)).tolist(), len(numbers)
    ([0, 1, 0], 2)
    >>> numbers.find(np.array([5, 6], np.uint64)).tolist()
    [1, -1]
    """

    def __init__(self) -> None:
        self._n = 0
        self._hashes = np.zeros(_FIRST_ROOM, np.uint64)
        self._table = np.zeros(4 * _FIRST_ROOM, np.uint32)

    def __len__(self) -> int:
        return self._n

    @property
    def hashes(self) -> U64:
        """Hash of each number's feature, shape (n_features,)."""
        return self._hashes[: self._n]

    def find(self, hashes: U64) -> I64:
        """Return the number of each hash, -1 if it has none."""
        return find_numbers(self._hashes, self._table, hashes)

    def add(self, hashes: U64) -> I64:
        """Return the number of each hash; new ones get the next numbers."""
        numbers = np.empty(len(hashes), np.int64)
        for start in range(0, len(hashes), _PART):  # most are known: room for all would be far too much
            part = slice(start, start + _PART)
            self._make_room(self._n + len(hashes[part]))
            numbers[part], self._n = insert_numbers(self._hashes, self._n, self._table, hashes[part])
        return numbers

    def _make_room(self, n: int) -> None:
        if n <= len(self._hashes):
            return
        room = len(self._hashes)
        while room < n:
            room *= 2
        hashes = self.hashes
        self._hashes, self._table = np.zeros(room, np.uint64), np.zeros(4 * room, np.uint32)
        _, self._n = insert_numbers(self._hashes, 0, self._table, hashes)
