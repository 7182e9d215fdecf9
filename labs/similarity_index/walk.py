"""Explanation of the results: a sum of hashes is a random walk.

A shingle's hash is in effect a random signed 32-bit number. So the sum of ``n`` of them is near 0 on the scale of
``sqrt(n) * 2^32 / sqrt(12)``, and the sums of two documents that share no shingle are independent. The ratio of two
such numbers has a Cauchy distribution; the results of a range around one of them follow from it
alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from nearkin.records import F64, I32, I64, Bool
from nearkin.stages.signatures.similarity_index import DIVISOR, TOLERANCE, SimilarityIndex
from nearkin.stages.signatures.text_streams import TextStream

SHARED_EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
"""Bins for the share of common k-grams; pairs that share all have a bin of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Similarity index by length of the document, and hits by share of common k-grams.

    Parameters
    ----------
    method : SimilarityIndex
        A method that sums the shingles divisible by 25.
    n_grams : int64 array, shape (n_documents,)
        Lengths of documents that have an index.
    size : float64 array, shape (n_documents,)
        Absolute value of the index.
    n_pairs : int64 array, shape (n_bins,)
        Pairs of related documents by share of common k-grams.
    measured, expected : float64 arrays, shape (n_bins,)
        Share of them that a tolerance of 0.3 finds; NaN in an empty bin.
    """

    method: SimilarityIndex
    n_grams: I64
    size: F64
    n_pairs: I64
    measured: F64
    expected: F64

    @property
    def scale_of_size(self) -> float:
        """Root mean square of size over expected scale: 1 in a random walk; NaN if no document has an index."""
        if not len(self.size):
            return float("nan")
        return float(np.sqrt(np.mean((self.size / scale(self.n_grams.astype(np.float64))) ** 2)))

    @property
    def slope(self) -> float:
        """Slope of log size by log length: 0.5 in a random walk, 1 in a sum of positive numbers."""
        seen = (self.size > 0) & (self.n_grams > 0)
        logs = np.log(self.n_grams[seen].astype(np.float64)), np.log(self.size[seen])
        return float(np.polyfit(*logs, 1)[0]) if seen.sum() > 2 and np.ptp(logs[0]) > 0 else float("nan")


def scale(n_grams: F64) -> F64:
    """Return the expected size of the sum of those of ``n_grams`` random shingles that are divisible by 25."""
    size: F64 = np.sqrt(n_grams / DIVISOR) * 2.0**32 / math.sqrt(12)
    return size


def hit_chance(shared: F64, ratio: F64 | float = 1.0, tolerance: float = TOLERANCE) -> F64:
    """Return the probability that a range of a tolerance around one sum contains the other.

    Parameters
    ----------
    shared : float64 array
        Cosine of the counts of k-grams: with equal lengths, the share in common.
    ratio : float64 array
        Scale of the second sum relative to that of the first.
    tolerance : float

    Examples
    --------
    >>> hit_chance(np.array([0.0, 0.9, 0.99, 1.0])).round(3)
    array([0.097, 0.373, 0.72 , 1.   ])
    """
    centre = shared * ratio
    width = ratio * np.sqrt(np.maximum(1 - shared**2, 1e-18))
    chance: F64 = (np.arctan((1 + tolerance - centre) / width) - np.arctan((1 - tolerance - centre) / width)) / np.pi
    return chance


def walk(
    method: SimilarityIndex, texts: pa.LargeStringArray, values: I64, has_value: Bool, left: I64, right: I64
) -> Walk:
    """Measure a method on some documents, and on some pairs of them."""
    shingles, offsets = TextStream(method.stream, method.variation).shingles(texts, method.k)
    n_grams = np.diff(offsets)
    counts = [_counts(shingles[a:b]) for a, b in pairwise(offsets.tolist())]
    both = has_value[left] & has_value[right]
    left, right = left[both], right[both]
    shared, ratio = np.zeros(len(left)), np.ones(len(left))
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        shared[i], ratio[i] = _cosine(counts[a], counts[b])
    reach = TOLERANCE * np.abs(values[left].astype(np.float64))
    is_hit = np.abs(values[left] - values[right]) < reach
    bins = np.where(shared >= 1 - 1e-12, len(SHARED_EDGES) - 1, np.digitize(shared, SHARED_EDGES[1:-1]))
    n_pairs = np.bincount(bins, minlength=len(SHARED_EDGES))
    with np.errstate(invalid="ignore"):
        measured, expected = (
            np.bincount(bins, weights, len(SHARED_EDGES)) / n_pairs
            for weights in (is_hit.astype(np.float64), hit_chance(shared, ratio))
        )
    size = np.abs(values[has_value].astype(np.float64))
    return Walk(
        method=method,
        n_grams=n_grams[has_value],
        size=size,
        n_pairs=n_pairs.astype(np.int64),
        measured=measured,
        expected=expected,
    )


def _counts(shingles: I32) -> tuple[I32, I64]:
    values, counts = np.unique(shingles, return_counts=True)
    return values, counts.astype(np.int64)


def _cosine(a: tuple[I32, I64], b: tuple[I32, I64]) -> tuple[float, float]:
    """Return the cosine of two counts, and the length of the second relative to the first."""
    _, at, bt = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    lengths = math.sqrt(float(a[1] @ a[1])), math.sqrt(float(b[1] @ b[1]))
    if not all(lengths):
        return 0.0, 1.0
    return min(1.0, float(a[1][at] @ b[1][bt]) / (lengths[0] * lengths[1])), lengths[1] / lengths[0]
