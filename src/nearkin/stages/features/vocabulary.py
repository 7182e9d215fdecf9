"""Consecutive numbers for words while a corpus is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearkin.kernels.buffers import strings, text_buffers
from nearkin.kernels.identity import hash_strings
from nearkin.kernels.lookup import find, insert
from nearkin.kernels.terms import count_terms
from nearkin.records import I32, I64, U64, TermCounts, TextWords

_FIRST_ROOM = 1 << 12


class Vocabulary:
    """Distinct words, numbered from 0 in order of first occurrence.

    They are identified by 64-bit hashes: among ten million words, two share one with a probability of 3 in a million.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.add(strings(["das", "haus"])).tolist(), vocabulary.add(strings(["haus", "am"])).tolist()
    ([0, 1], [1, 2])
    >>> vocabulary.words.to_pylist(), vocabulary.find(strings(["am", "see"])).tolist()
    (['das', 'haus', 'am'], [2, -1])
    """

    def __init__(self) -> None:
        self._n = 0
        self._hashes = np.zeros(_FIRST_ROOM, np.uint64)
        self._table = np.zeros(4 * _FIRST_ROOM, np.uint32)
        self._parts: list[pa.LargeStringArray] = [strings([])]

    def __len__(self) -> int:
        return self._n

    @property
    def words(self) -> pa.LargeStringArray:
        """The word of each number."""
        if len(self._parts) > 1:
            self._parts = [pa.concat_arrays(self._parts)]
        return self._parts[0]

    @property
    def hashes(self) -> U64:
        """Well-mixed hash of each number's word, the same on every machine; shape (n_words,)."""
        return self._hashes[: self._n]

    def add(self, words: pa.LargeStringArray) -> I32:
        """Return the number of each word; new words get the next numbers."""
        hashes = hashes_of(words)
        self._make_room(self._n + len(hashes))
        before = self._n
        numbers, self._n = insert(self._hashes, self._n, self._table, hashes)
        if self._n > before:
            new = np.flatnonzero(numbers >= before)
            _, firsts = np.unique(numbers[new], return_index=True)
            self._parts.append(words.take(pa.array(new[firsts])))
        return np.asarray(numbers, np.int32)

    def find(self, words: pa.LargeStringArray) -> I64:
        """Return the number of each word, -1 if it has none."""
        hashes = hashes_of(words)
        return find(self._hashes, self._table, hashes)

    def count(self, texts: TextWords) -> TermCounts:
        """Count the words of texts, as numbers."""
        numbers = self.add(texts.words)
        terms, counts, offsets = count_terms(numbers[texts.ids], texts.offsets, self._n)
        return TermCounts(terms, counts, offsets)

    def _make_room(self, n: int) -> None:
        if n <= len(self._hashes):
            return
        room = 1 << (n - 1).bit_length()
        hashes = self.hashes
        self._hashes, self._table = np.zeros(room, np.uint64), np.zeros(4 * room, np.uint32)
        if self._n:
            _, self._n = insert(self._hashes, 0, self._table, hashes)


def hashes_of(words: pa.LargeStringArray) -> U64:
    """Return a hash of each word, shape (n_words,)."""
    data, offsets = text_buffers(words)
    return hash_strings(data, offsets)
