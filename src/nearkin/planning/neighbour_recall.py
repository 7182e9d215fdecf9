"""Share of near-duplicates whose signatures are within a Hamming distance.

For methods other than MinHash in bits, it is the range over four corpora (``python -m labs.signatures``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from nearkin.records import F64

SIMILARITY = 0.8
"""Jaccard similarity, of the feature sets, of the pairs for which the expected recall is given."""
FEATURES = "chars:4"
"""Features of the measured signatures, made from unchanged texts."""
MINHASH = "minhash"
BITS = (16, 32, 64, 128, 256, 512, 1024)
_Shares = tuple[float, ...]
MEASURED: dict[str, tuple[tuple[_Shares, _Shares], ...]] = {
    "simhash": (
        ((0.064, 0.068, 0.073, 0.069, 0.070, 0.069, 0.065), (0.069, 0.058, 0.052, 0.045, 0.041, 0.038, 0.035)),
        ((0.117, 0.121, 0.131, 0.130, 0.133, 0.134, 0.137), (0.081, 0.069, 0.061, 0.053, 0.050, 0.048, 0.046)),
        ((0.223, 0.169, 0.159, 0.163, 0.161, 0.155, 0.149), (0.104, 0.082, 0.073, 0.069, 0.066, 0.065, 0.065)),
        ((0.061, 0.071, 0.079, 0.088, 0.093, 0.091, 0.091), (0.066, 0.051, 0.042, 0.036, 0.033, 0.030, 0.029)),
    ),
    "simhash-fast": (
        ((0.064, 0.054, 0.057, 0.068, 0.067, 0.068, 0.068), (0.069, 0.048, 0.043, 0.042, 0.038, 0.040, 0.039)),
        ((0.139, 0.149, 0.138, 0.142, 0.138, 0.138, 0.136), (0.080, 0.071, 0.056, 0.052, 0.047, 0.046, 0.044)),
        ((0.135, 0.140, 0.143, 0.137, 0.137, 0.139, 0.146), (0.100, 0.083, 0.073, 0.067, 0.062, 0.060, 0.062)),
        ((0.090, 0.091, 0.096, 0.091, 0.090, 0.090, 0.089), (0.071, 0.055, 0.044, 0.036, 0.032, 0.029, 0.028)),
    ),
    "topsig": (
        ((0.045, 0.063, 0.082, 0.072, 0.074, 0.074, 0.076), (0.051, 0.042, 0.041, 0.041, 0.028, 0.032, 0.027)),
        ((0.149, 0.135, 0.144, 0.128, 0.129, 0.119, 0.110), (0.090, 0.072, 0.048, 0.034, 0.028, 0.022, 0.020)),
        ((0.146, 0.148, 0.132, 0.130, 0.140, 0.123, 0.128), (0.086, 0.061, 0.050, 0.038, 0.030, 0.024, 0.020)),
        ((0.121, 0.103, 0.106, 0.101, 0.103, 0.099, 0.104), (0.090, 0.061, 0.049, 0.037, 0.032, 0.028, 0.026)),
    ),
    "weighted-topsig": (
        ((0.222, 0.229, 0.224, 0.235, 0.234, 0.227, 0.233), (0.079, 0.088, 0.061, 0.044, 0.039, 0.032, 0.030)),
        ((0.198, 0.205, 0.188, 0.188, 0.182, 0.172, 0.159), (0.102, 0.072, 0.051, 0.046, 0.043, 0.036, 0.041)),
        ((0.252, 0.276, 0.280, 0.277, 0.292, 0.281, 0.292), (0.101, 0.081, 0.060, 0.047, 0.040, 0.035, 0.034)),
        ((0.219, 0.214, 0.214, 0.215, 0.216, 0.216, 0.215), (0.103, 0.075, 0.055, 0.041, 0.034, 0.029, 0.025)),
    ),
}
"""Mean share of differing bits by method and corpus, for each of `BITS`, in pairs of documents with a Jaccard
similarity of 0.77 to 0.83, and its standard deviation. The corpora are 69 such pairs of EDGAR agreements, 346 of
Reuters stories, 70,745 of licences and 3,926 of chapters of the Bible; see labs/pages/signatures.md."""


@dataclass(frozen=True, slots=True)
class BitsApart:
    """Distribution of the share of differing bits over pairs of one similarity."""

    mean: float
    deviation: float

    def share_within(self, n_bits: int, distance: int) -> float:
        """Return the share of pairs within a distance: a beta-binomial distribution with that mean and deviation."""
        return float(min(1.0, self._probabilities(n_bits)[: distance + 1].sum()))

    def distance_reaching(self, n_bits: int, share: float) -> int:
        """Return the minimum distance within which this share of the pairs lies."""
        reached = np.cumsum(self._probabilities(n_bits))
        return min(n_bits, int(np.searchsorted(reached, share - 1e-12)))

    def _probabilities(self, n_bits: int) -> F64:
        p, counts = self.mean, np.arange(n_bits + 1)
        ways = [math.lgamma(n_bits + 1) - math.lgamma(k + 1) - math.lgamma(n_bits - k + 1) for k in range(n_bits + 1)]
        if not 0 < p < 1:
            return np.asarray(counts == round(p * n_bits), np.float64)
        likeness = (n_bits * self.deviation**2 / (p * (1 - p)) - 1) / (n_bits - 1)
        if likeness <= 1e-6:  # no more spread than chance causes among identical pairs
            logs = np.array(ways) + counts * math.log(p) + (n_bits - counts) * math.log1p(-p)
            return np.asarray(np.exp(logs), np.float64)
        total = 1 / likeness - 1
        a, b = p * total, (1 - p) * total
        logs = np.array([ways[k] + _log_beta(k + a, n_bits - k + b) for k in range(n_bits + 1)]) - _log_beta(a, b)
        return np.asarray(np.exp(logs), np.float64)


def usual_distance(method: str, n_bits: int) -> int:
    """Return the default distance: 3 bits in 32 for MinHash (a Jaccard similarity of 0.8), 3 bits for other methods."""
    return 3 * n_bits // 32 if method == MINHASH else 3


def expected_recall(method: str, n_bits: int, distance: int) -> tuple[float, float]:
    """Return the minimum and maximum share of pairs of `SIMILARITY` within a distance, over the corpora."""
    shares = [apart.share_within(n_bits, distance) for apart in _of_corpora(method, n_bits)]
    return min(shares), max(shares)


def _of_corpora(method: str, n_bits: int) -> tuple[BitsApart, ...]:
    if method == MINHASH:
        p = (1 - SIMILARITY) / 2  # Ping Li, Arnd Christian König, "b-Bit Minwise Hashing", 2010
        return (BitsApart(p, math.sqrt(p * (1 - p) / n_bits)),)
    at, known = math.log2(n_bits), np.log2(BITS)
    return tuple(
        BitsApart(float(np.interp(at, known, means)), float(np.interp(at, known, deviations)))
        for means, deviations in MEASURED[method]
    )


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


RECALL = 0.999
"""Minimum share found of the documents exactly as similar as requested; of more similar ones, more are found."""


@lru_cache(maxsize=64)
def distance_for(similarity: float, n_bits: int) -> int:
    """Return the Hamming distance up to which signatures must be examined.

    Two signatures of MinHash in bits differ in each bit with probability ``(1 - J) / 2`` (Ping Li, Arnd Christian
    König, "b-Bit Minwise Hashing", 2010), so their distance has a binomial distribution; slots filled from one set have
    at most that spread.

    Examples
    --------
    >>> distance_for(0.7, 256), distance_for(1, 256)
    (57, 0)
    """
    p = (1 - similarity) / 2
    below = 0.0
    for distance in range(n_bits + 1):
        below += comb(n_bits, distance) * p**distance * (1 - p) ** (n_bits - distance)
        if below >= RECALL:
            return distance
    return n_bits
