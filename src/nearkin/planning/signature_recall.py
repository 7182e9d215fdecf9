"""How far apart the signatures of documents alike may be: MinHash in bits as a filter before exact comparison."""

from __future__ import annotations

from math import comb

from nearkin.errors import ParameterError

RECALL = 0.999
"""That of documents just as alike as was asked for, this part at least is found; of those more alike, more."""


def distance_for(similarity: float, n_bits: int, recall: float = RECALL) -> int:
    """The Hamming distance up to which signatures must be looked at.

    Two signatures of MinHash in bits differ in each bit with probability ``(1 - J) / 2`` (Ping Li, Arnd Christian
    König, "b-Bit Minwise Hashing", 2010), so their distance has a binomial distribution; slots that are filled from one
    set spread less than that, never more.

    Parameters
    ----------
    similarity : float
        In [0, 1]: the least Jaccard similarity of what is to be found.
    n_bits : int
    recall : float
        In (0, 1).

    Examples
    --------
    >>> distance_for(0.7, 256), distance_for(1, 256)
    (57, 0)
    """
    if not 0 <= similarity <= 1:
        raise ParameterError.of("threshold", "similar", "in [0, 1]", similarity)
    p = (1 - similarity) / 2
    below = 0.0
    for distance in range(n_bits + 1):
        below += comb(n_bits, distance) * p**distance * (1 - p) ** (n_bits - distance)
        if below >= recall:
            return distance
    return n_bits
