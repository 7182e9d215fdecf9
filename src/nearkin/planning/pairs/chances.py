"""Distances between the signatures of pairs, and the probability that such pairs share a window."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64

_DEVIATIONS = 9.0  # beyond it, a binomial distribution has less than 1e-18


def distance_shares(cosines: F64, weights: F64, n_bits: int) -> F64:
    """Return the share of pairs at each Hamming distance, shape (n_bits + 1,): a weighted sum of binomials."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n_bits + 1, dtype=np.float64)))])
    differs = np.arccos(np.clip(cosines, -1.0, 1.0)) / np.pi
    shares = np.zeros(n_bits + 1)
    for p, weight in zip(differs.tolist(), weights.tolist()):
        if p <= 0 or p >= 1:
            shares[0 if p <= 0 else n_bits] += weight
            continue
        reach = _DEVIATIONS * (n_bits * p * (1 - p)) ** 0.5 + 9
        distances = np.arange(max(0, int(n_bits * p - reach)), min(n_bits, int(n_bits * p + reach)) + 1)
        chosen = logs[n_bits] - logs[distances] - logs[n_bits - distances]
        chance = np.exp(chosen + distances * np.log(p) + (n_bits - distances) * np.log1p(-p))
        shares[distances] += weight * chance / chance.sum()  # logarithms of factorials have an error of 1e-12
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Distances between signatures of one length.

    Parameters
    ----------
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
        probability ``C(n_bits - h, n) / C(n_bits, n)``.

        Parameters
        ----------
        lengths : float64 array, shape (n_lengths,)
            Lengths of the prefix that brings two into one window; interpolated between integers.
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


BACKGROUND_SCALE = 0.012
"""Scale of the cosines of unrelated documents, a gamma distribution of shape 2. Measured on news projected into the
other language: mean 0.024 (twice the scale), 99.9 % below 0.11: 1 - exp(-x) (1 + x), x = 0.11 / scale."""
TAIL_START = 0.11
TAIL_RATE = 16.73
"""Rate of the exponential tail: with it, 1000 bits and distance 400 find 0.76 of the pairs of at least 0.3 (Ture,
Elsayed, Lin, "No free lunch", SIGIR 2011, section 6.1)."""
TAIL_SHARE = 1.224e-5
"""Share of the pairs of at least 0.3: with it, 300 orders and a window of 2,000 extract 64 million pairs (the same)."""
_WIDTH = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class CosineSpread:
    """A histogram of the cosines of all pairs of one document from each corpus.

    Parameters
    ----------
    edges, shares : float64 arrays, shapes (n_bins + 1,) and (n_bins,)
        Edges ascend from -1 to 1; shares of all pairs have sum 1.
    """

    edges: F64
    shares: F64

    @classmethod
    def of_counts(cls, edges: F64, counts: I64 | F64) -> CosineSpread:
        """Make a histogram from counts of pairs, which may be weighted; at least one must not be 0."""
        return cls(edges, counts / counts.sum())

    @classmethod
    def default(cls, threshold: float) -> CosineSpread:
        """Return a rough histogram for a plan without documents, with the threshold as an edge.

        Unrelated pairs are as on news (`BACKGROUND_SCALE`), similar ones from the article (`TAIL_RATE`, `TAIL_SHARE`).
        """
        return cls.modelled(threshold, rate=TAIL_RATE, tail_share=TAIL_SHARE)

    @classmethod
    def modelled(cls, threshold: float, *, rate: float, tail_share: float) -> CosineSpread:
        """Return the same with another tail: its rate, and the share of pairs of at least 0.3."""
        edges = np.unique(np.round(np.append(np.arange(0, 1 + _WIDTH / 2, _WIDTH), threshold), 9))
        edges = edges[(edges >= 0) & (edges <= 1)]
        x = edges / BACKGROUND_SCALE
        background = np.diff(-np.exp(-x) * (1 + x))
        within = np.clip(edges, TAIL_START, 1.0) - 0.3
        tail = np.diff(-np.exp(-rate * within)) / -math.expm1(-rate * 0.7) * tail_share
        return cls(edges, tail + (1 - tail.sum()) * background / background.sum())

    @property
    def cosines(self) -> F64:
        """Middle of each bin, shape (n_bins,)."""
        return np.asarray((self.edges[1:] + self.edges[:-1]) / 2, np.float64)

    def share_above(self, cosine: float) -> float:
        """Return the share of pairs with at least this cosine; a bin that is cut counts in proportion."""
        return float((self.shares * self._parts_above(cosine)).sum())

    def above(self, cosine: float) -> tuple[F64, F64]:
        """Return the cosines at or above a limit, and their shares; the limit itself if there are none."""
        parts = self._parts_above(cosine)
        has_some = parts * self.shares > 0
        if not has_some.any():
            return np.array([cosine]), np.ones(1)
        weights = (parts * self.shares)[has_some]
        middles = (np.maximum(self.edges[:-1], cosine)[has_some] + self.edges[1:][has_some]) / 2
        return middles, weights / weights.sum()

    def _parts_above(self, cosine: float) -> F64:
        return np.asarray(np.clip((self.edges[1:] - cosine) / np.diff(self.edges), 0.0, 1.0), np.float64)
