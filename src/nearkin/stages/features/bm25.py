"""Weights from counts of terms, and documents as vectors of length 1.

Source: S. E. Robertson, S. Walker, S. Jones, M. M. Hancock-Beaulieu, M. Gatford, "Okapi at TREC-3", 1994; with the
inverse document frequency of Lucene, which is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.records import F64, I64, TermCounts, WeightedVectors


@dataclass(frozen=True, slots=True)
class BM25:
    """BM25 weights: ``idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))``.

    Parameters
    ----------
    k1 : float
        >= 0: increase of a term's weight with repetition.
    b : float
        From 0 to 1: penalty of longer documents.

    Examples
    --------
    >>> counts = TermCounts(np.array([0, 1, 0], np.int32), np.array([1, 2, 1], np.float32), np.array([0, 2, 3]))
    >>> vectors = BM25().weigh(counts, document_frequencies=np.array([2.0, 1.0]), n_documents=2, mean_length=2.0)
    >>> [round(float(weight), 3) for weight in vectors.weights]
    [0.178, 0.984, 1.0]
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
        counts : TermCounts
        document_frequencies : float64 array, shape (n_vocabulary,)
            Number of documents of the collection that contain each term; fractional for translated terms.
        n_documents : int
            Number of documents in the collection.
        mean_length : float
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
