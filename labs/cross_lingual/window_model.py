"""Predicted recall and comparisons of a sliding window over random projections.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError, check_int
from nearkin.records import F64


def bit_difference(cosine: float) -> float:
    """Return the probability that two vectors differ in a bit of their random projections: the angle over pi.

    Examples
    --------
    >>> round(bit_difference(0.3), 4), bit_difference(1), bit_difference(-1)
    (0.403, 0.0, 1.0)
    """
    if not -1 <= cosine <= 1:
        raise ParameterError.of("cosine", "from -1 to 1", cosine)
    return math.acos(cosine) / math.pi


def distance_for_cosine(cosine: float, n_bits: int) -> int:
    """Return the Hamming distance that estimates a cosine, rounded down.

    Examples
    --------
    >>> distance_for_cosine(0.3, 1000)
    403
    """
    return math.floor(bit_difference(cosine) * n_bits)


def within_distance(cosine: float, n_bits: int, distance: int) -> float:
    """Return the probability that signatures differ in at most this many bits: the recall of brute force.

    Examples
    --------
    >>> round(within_distance(0.3, 1000, 400), 3), round(within_distance(0.5, 1000, 400), 3)
    (0.436, 1.0)
    """
    if distance >= n_bits:
        return 1.0
    p = bit_difference(cosine)
    if p in (0.0, 1.0):
        return float(p == 0.0 and distance >= 0)
    numbers = np.arange(n_bits + 1, dtype=np.float64)
    logs: F64 = np.concatenate([[0.0], np.cumsum(np.log(numbers[1:]))])
    some = np.arange(max(0, distance + 1))
    terms = logs[n_bits] - logs[some] - logs[n_bits - some] + some * math.log(p) + (n_bits - some) * math.log1p(-p)
    return float(min(1.0, np.exp(terms).sum()))


@dataclass(frozen=True, slots=True)
class WindowModel:
    """A sliding window over one or two corpora.

    Parameters
    ----------
    n_documents : int
        Signatures that are sorted together: those of both corpora.
    n_bits : int
    permutations : int
        Q of the article.
    window : int
        B of the article.
    distance : int
        T of the article: maximum number of differing bits.

    Examples
    --------
    >>> model = WindowModel(n_documents=1_064_000, n_bits=1000, permutations=300, window=2000, distance=400)
    >>> tuple(round(part, 2) for part in model.found(0.4))
    (0.94, 0.98)
    >>> model.n_comparisons
    637799700000
    """

    n_documents: int
    n_bits: int
    permutations: int
    window: int
    distance: int

    def __post_init__(self) -> None:
        for name, least in (("n_documents", 1), ("n_bits", 1), ("permutations", 1), ("window", 1), ("distance", 0)):
            value = getattr(self, name)
            check_int(name, value, least)

    def found(self, cosine: float) -> tuple[float, float]:
        """Return bounds on the probability that a pair is found, from the article's model.

        A pair is compared if it shares, in one of the orders, a prefix that is shared by about as many documents as a
        window holds: log2 of documents over window, rounded up and down. It is rough: a window is equally wide for
        frequent prefixes and for others.
        """
        if self.window >= self.n_documents:
            every = within_distance(cosine, self.n_bits, self.distance)
            return every, every
        prefix = math.log2(self.n_documents / self.window)
        low, high = (self._found(cosine, rounded(prefix)) for rounded in (math.ceil, math.floor))
        return low, high

    def _found(self, cosine: float, n_prefix: int) -> float:
        n_prefix = min(n_prefix, self.n_bits)
        shares = (1 - bit_difference(cosine)) ** n_prefix
        is_compared = -math.expm1(self.permutations * math.log1p(-shares)) if shares < 1 else 1.0
        return is_compared * within_distance(cosine, self.n_bits - n_prefix, self.distance)

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons: each document with those before it in the window, in every order."""
        n, width = self.n_documents, min(self.window, self.n_documents - 1)
        return self.permutations * (n * width - width * (width + 1) // 2)
