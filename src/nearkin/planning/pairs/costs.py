"""Costs, on one core, of the steps of a search for pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearkin.records import F64

FEW_TERMS = 100.0
"""Default number of terms of a vector."""
_WORD = 64
_UNIT = 4
_LANES = 64
_CACHE_BYTES = 32 << 20  # typical last-level cache of server processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Costs of the steps, in nanoseconds on one core of an AMD EPYC at 2.6 GHz (``benchmarks/pair_costs.py``).

    They are constants, so that a plan depends only on its question.

    Parameters
    ----------
    comparison, comparison_word
        Per comparison of two signatures, and per 64-bit word of them, rounded up to a multiple of four words.
    far_word
        Added per word if the signatures of the right side exceed the caches.
    sorting, sorting_word
        Per signature in one order and doubling of their number, and per word that is gathered.
    candidate, candidate_term
        Per candidate that is kept, and per term of its right document for the cosine.
    vectors, vectors_left, vectors_product
        Per pair in the search by an inverted index: to clear and to read its sum, per term of the left
        document, and per product of the numbers of terms on both sides.
    sign
        Per term and bit of a signature.
    """

    comparison: float = 0.35
    comparison_word: float = 0.07
    far_word: float = 0.015
    sorting: float = 3.0
    sorting_word: float = 6.0
    candidate: float = 150.0
    candidate_term: float = 1.4
    vectors: float = 0.3
    vectors_left: float = 0.02
    vectors_product: float = 0.00022
    sign: float = 0.13

    def comparison_ns(self, n_bits: int, n_right: int) -> float:
        """Return the cost of comparing two signatures, for this number of them on the right."""
        n_words = filled_words(n_bits)
        is_far = 8 * n_words * n_right > _CACHE_BYTES
        return self.comparison + n_words * (self.comparison_word + is_far * self.far_word)

    def window_ns(self, n_bits: int, n_right: int, stretches: F64) -> F64:
        """Return the cost in windows with these numbers of right signatures; tiles at their ends are read whole."""
        whole = 1 + _LANES / np.maximum(1.0, stretches)
        return np.asarray(self.comparison_ns(n_bits, n_right) * whole, np.float64)

    def sorting_ns(self, n_bits: int, n_documents: int) -> float:
        """Return the cost per signature in one order."""
        return self.sorting * math.log2(max(2, n_documents)) + self.sorting_word * filled_words(n_bits)

    def vectors_ns(self, left_terms: float, right_terms: float) -> float:
        """Return the cost of a pair in the search by an inverted index."""
        return self.vectors + self.vectors_left * left_terms + self.vectors_product * left_terms * right_terms


def filled_words(n_bits: int) -> int:
    """Return the number of words of a signature, padded for comparison."""
    return -(-n_bits // (_WORD * _UNIT)) * _UNIT


COSTS = Costs()
