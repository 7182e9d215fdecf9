"""Consecutive numbers for words while a corpus is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings, text_buffers
from nearkin.kernels.hashing import hash_strings
from nearkin.kernels.terms import count_terms, find_numbers, insert_numbers
from nearkin.records import F64, I32, I64, U64, TermCounts, TextWords, WeightedVectors

_FIRST_ROOM = 1 << 12


class Vocabulary:
    """Distinct words, numbered from 0 in order of first occurrence.

    They are identified by 64-bit hashes: among ten million words, two share one with a probability of 3 in a million.
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
        numbers, self._n = insert_numbers(self._hashes, self._n, self._table, hashes)
        if self._n > before:
            new = np.flatnonzero(numbers >= before)
            _, firsts = np.unique(numbers[new], return_index=True)
            self._parts.append(words.take(pa.array(new[firsts])))
        return np.asarray(numbers, np.int32)

    def find(self, words: pa.LargeStringArray) -> I64:
        """Return the number of each word, -1 if it has none."""
        hashes = hashes_of(words)
        return find_numbers(self._hashes, self._table, hashes)

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
            _, self._n = insert_numbers(self._hashes, 0, self._table, hashes)


def hashes_of(words: pa.LargeStringArray) -> U64:
    """Return a hash of each word, shape (n_words,)."""
    data, offsets = text_buffers(words)
    return hash_strings(data, offsets)


@dataclass(frozen=True, slots=True)
class BM25:
    """BM25 weights: ``idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))``.

    Parameters
    ----------
    k1
        >= 0: increase of a term's weight with repetition.
    b
        From 0 to 1: penalty of longer documents.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise ParameterError.of("k1", "a number >= 0", self.k1)
        if not 0 <= self.b <= 1:
            raise ParameterError.of("b", "from 0 to 1", self.b)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the weights."""
        return f"bm25;k1={self.k1!r};b={self.b!r}"

    def weigh(
        self, counts: TermCounts, *, document_frequencies: F64, n_documents: int, mean_length: float
    ) -> WeightedVectors:
        """Return a vector for each document.

        Parameters
        ----------
        document_frequencies : float64 array, shape (n_vocabulary,)
            Number of documents of the collection that contain each term; fractional for translated terms.
        mean_length
            Mean sum of the counts of its documents.
        """
        sizes = counts.sizes
        tf = counts.counts.astype(np.float64)
        lengths = sums_of(tf, counts.offsets)
        held_back = self.k1 * (1 - self.b + self.b * lengths / max(mean_length, 1e-12))
        df = document_frequencies[counts.terms]
        idf = np.log1p((np.maximum(n_documents - df, 0.0) + 0.5) / (df + 0.5))
        weights = idf * tf * (self.k1 + 1) / (tf + np.repeat(held_back, sizes))
        norms = np.sqrt(sums_of(weights * weights, counts.offsets))
        weights /= np.repeat(np.maximum(norms, 1e-300), sizes)
        return WeightedVectors(counts.terms, weights.astype(np.float32), counts.offsets)


def sums_of(values: F64, offsets: I64) -> F64:
    """Return the sum of each document's values, shape (n_documents,)."""
    sums = np.zeros(len(offsets) - 1)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        sums[filled] = np.add.reduceat(values, offsets[filled])
    return sums
