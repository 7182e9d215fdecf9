"""Maximum distance between the signatures of similar documents: MinHash in bits as a filter before exact comparison."""

from __future__ import annotations

from math import comb

from nearkin.errors import ParameterError

RECALL = 0.999
"""Minimum share found of the documents exactly as similar as requested; of more similar ones, more are found."""


def distance_for(similarity: float, n_bits: int, recall: float = RECALL) -> int:
    """Return the Hamming distance up to which signatures must be examined.

    Two signatures of MinHash in bits differ in each bit with probability ``(1 - J) / 2`` (Ping Li, Arnd Christian
    König, "b-Bit Minwise Hashing", 2010), so their distance has a binomial distribution; slots filled from one set have
    at most that spread.

    Parameters
    ----------
    similarity : float
        Minimum Jaccard similarity to find, in [0, 1].
    n_bits : int
    recall : float
        In (0, 1).

    Examples
    --------
    >>> distance_for(0.7, 256), distance_for(1, 256)
    (57, 0)
    """
    if not 0 <= similarity <= 1:
        raise ParameterError.of("threshold", "in [0, 1]", similarity)
    p = (1 - similarity) / 2
    below = 0.0
    for distance in range(n_bits + 1):
        below += comb(n_bits, distance) * p**distance * (1 - p) ** (n_bits - distance)
        if below >= recall:
            return distance
    return n_bits
