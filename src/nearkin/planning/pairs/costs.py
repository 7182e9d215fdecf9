"""What the steps of a search for pairs take on one core."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from nearkin.errors import ParameterError
from nearkin.records import F64

FEW_TERMS = 100.0
"""Of a vector, where nothing is known of the documents."""
_WORD = 64
_UNIT = 4
_LANES = 64
_CACHE_BYTES = 32 << 20  # a last-level cache, as server processors have one


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Nanoseconds on one core.

    The defaults were measured once, on one core of an AMD EPYC of 2.6 GHz, and are constants, so that a plan depends on
    nothing but its question. ``nearkin plan pairs --machine this --json`` prints those of another machine.

    Parameters
    ----------
    comparison, comparison_word : float
        Of two signatures, and for each of their 64-bit words; words are filled up to a multiple of four.
    far_word : float
        More for each word where the signatures of the right side are beyond the caches.
    sorting, sorting_word : float
        Of a signature in one order, for each doubling of their number, and for each of its words, which are gathered.
    candidate, candidate_term : float
        To keep a candidate, and for each term of its right document to compute the cosine.
    vectors, vectors_left, vectors_product : float
        Of a pair in the search by an inverted index: to clear and to look at its sum, for each term of the left
        document, and for each product of the numbers of terms on both sides.
    sign : float
        For each term and bit of a signature.
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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf:
                raise ParameterError.of(field.name, "Costs", "a number >= 0", value)

    @classmethod
    def default(cls) -> Costs:
        """As measured on one machine."""
        return cls()

    def scaled(self, speed: float) -> Costs:
        """On a machine so many times as fast."""
        if not 0 < speed < math.inf:
            raise ParameterError.of("speed", "Costs.scaled", "a number above 0", speed)
        return replace(self, **{field.name: getattr(self, field.name) / speed for field in fields(self)})

    def comparison_ns(self, n_bits: int, n_right: int) -> float:
        """Of two signatures, where there are so many on the right."""
        n_words = filled_words(n_bits)
        is_far = 8 * n_words * n_right > _CACHE_BYTES
        return self.comparison + n_words * (self.comparison_word + is_far * self.far_word)

    def window_ns(self, n_bits: int, n_right: int, stretches: F64) -> F64:
        """The same in windows that hold so many of the right side: tiles at their ends are looked at whole."""
        whole = 1 + _LANES / np.maximum(1.0, stretches)
        return np.asarray(self.comparison_ns(n_bits, n_right) * whole, np.float64)

    def sorting_ns(self, n_bits: int, n_documents: int) -> float:
        """Of a signature in one order."""
        return self.sorting * math.log2(max(2, n_documents)) + self.sorting_word * filled_words(n_bits)

    def candidate_ns(self, right_terms: float) -> float:
        """Of a candidate, its cosine included."""
        return self.candidate + self.candidate_term * right_terms

    def vectors_ns(self, left_terms: float, right_terms: float) -> float:
        """Of a pair in the search by an inverted index."""
        return self.vectors + self.vectors_left * left_terms + self.vectors_product * left_terms * right_terms

    def signing_ns(self, n_bits: int, n_terms: float) -> float:
        """Of the signature of a document."""
        return self.sign * n_bits * n_terms


def filled_words(n_bits: int) -> int:
    """Words of a signature as it is compared.

    Examples
    --------
    >>> filled_words(1000), filled_words(64)
    (16, 4)
    """
    return -(-n_bits // (_WORD * _UNIT)) * _UNIT
