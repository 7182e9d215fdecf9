"""Distances between the signatures of pairs, and the probability that such pairs share a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.planning.pairs.cosines import CosineSpread
from nearkin.records import F64

_DEVIATIONS = 9.0  # beyond it, a binomial distribution has less than 1e-18


def distance_shares(cosines: F64, weights: F64, n_bits: int) -> F64:
    """Return the share of pairs at each Hamming distance, shape (n_bits + 1,): a weighted sum of binomials.

    Parameters
    ----------
    cosines, weights : float64 arrays, shape (n,)

    Examples
    --------
    >>> distance_shares(np.array([0.0]), np.array([1.0]), 2).tolist()
    [0.25, 0.5, 0.25]
    """
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n_bits + 1, dtype=np.float64)))])
    differs = np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi
    shares = np.zeros(n_bits + 1)
    for p, weight in zip(differs.tolist(), weights.tolist()):
        if p <= 0 or p >= 1:
            shares[0 if p <= 0 else n_bits] += weight
            continue
        reach = _DEVIATIONS * (n_bits * p * (1 - p)) ** 0.5 + 9
        some = np.arange(max(0, int(n_bits * p - reach)), min(n_bits, int(n_bits * p + reach)) + 1)
        chosen = logs[n_bits] - logs[some] - logs[n_bits - some]
        own = np.exp(chosen + some * np.log(p) + (n_bits - some) * np.log1p(-p))
        shares[some] += weight * own / own.sum()  # logarithms of factorials have an error of 1e-12
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Distances between signatures of one length.

    Parameters
    ----------
    n_bits : int
    sought, every : float64 arrays, shape (n_bits + 1,)
        Share of the sought pairs, and of all pairs, at each distance.
    """

    n_bits: int
    sought: F64
    every: F64

    @classmethod
    def of(cls, spread: CosineSpread, threshold: float, n_bits: int) -> Chances:
        """Make the distribution for pairs whose cosine is at least the threshold."""
        return cls(
            n_bits,
            distance_shares(*spread.above(threshold), n_bits),
            distance_shares(spread.cosines, spread.shares, n_bits),
        )

    def found(self, lengths: F64, permutations: F64, distances: slice | None = None) -> F64:
        """Return the probability to share a window in at least one order, for each distance.

        In one order two signatures that differ in ``h`` of ``n_bits`` bits share a prefix of ``n`` bits with
        probability ``C(n_bits - h, n) / C(n_bits, n)``. Unlike the article's product, this accounts for the fact that
        all orders permute the same bits.

        Parameters
        ----------
        lengths : float64 array, shape (n_lengths,)
            Lengths of the prefix that brings two into one window; interpolated between integers.
        permutations : float64 array, shape (n,)
        distances : slice, optional
            Distances to compute; by default all.

        Returns
        -------
        found : float64 array, shape (n_lengths, n, n_bits + 1)

        Examples
        --------
        >>> chances = Chances(4, np.ones(5) / 5, np.ones(5) / 5)
        >>> chances.found(np.array([1.0, 2.0]), np.array([1.0]))[:, 0, 2].round(3).tolist()
        [0.5, 0.167]
        """
        logs = self.log_agreement(lengths)[:, distances or slice(None)]
        with np.errstate(divide="ignore"):
            misses = np.log1p(-np.exp(logs))
        return np.asarray(-np.expm1(permutations[None, :, None] * misses[:, None, :]), np.float64)

    def log_agreement(self, lengths: F64) -> F64:
        """Return the logarithm of the probability to share a prefix, shape (n_lengths, n_bits + 1)."""
        lengths = np.minimum(lengths, float(self.n_bits))
        most = max(1, int(np.ceil(lengths.max())))
        apart = np.arange(self.n_bits + 1, dtype=np.float64)
        steps = np.zeros((most + 1, self.n_bits + 1))
        for i in range(min(most, self.n_bits)):
            left = np.maximum(1.0 - apart / (self.n_bits - i), 1e-300)  # no bits left: probability 0 in effect
            steps[i + 1] = steps[i] + np.log(left)
        whole = np.minimum(np.floor(lengths).astype(np.int64), most - 1)
        part = (lengths - whole)[:, None]
        return np.asarray((1 - part) * steps[whole] + part * steps[whole + 1], np.float64)
