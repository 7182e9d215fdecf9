"""Probability that bands of a sketch find a pair, given its number of shingles.

A sketch draws shingles without replacement, so of pairs with few shingles far fewer are missed than 1 − (1 −
s^rows)^bands says.

Fast Similarity Sketching (see `nearkin.stages.signatures.minhash`) fills slots in rounds: in each, every shingle of the
union falls into one slot, and a slot that is still empty keeps the least.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, U32

_N_SIMILARITIES, _N_UNIONS = 65, 17


@dataclass(frozen=True, slots=True)
class SketchRecall:
    """Probability that two sketches agree in a band.

    Examples
    --------
    >>> recall = SketchRecall(bands=20, rows=7)
    >>> recall.found(np.array([128, 128_000]), np.array([160, 160_000])).round(4).tolist()
    [0.9947, 0.991]
    """

    bands: int
    rows: int

    def found(self, n_common: I64 | U32, n_union: I64 | U32) -> F64:
        """Return the probability for each pair, from the number of shingles in both of its documents and in either."""
        if not len(n_common):
            return np.zeros(0)
        union = n_union.astype(np.float64)
        similarity = n_common / union
        s_grid = np.linspace(similarity.min(), 1.0, _N_SIMILARITIES)
        u_grid = np.unique(np.geomspace(union.min(), union.max(), _N_UNIONS).round())
        missed_given = self._missed_given_agreeing()
        table = np.array([self._missed(s_grid, int(u), missed_given) for u in u_grid])
        return 1.0 - _between(table, np.log(u_grid), s_grid, np.log(union), similarity)

    def _missed(self, similarity: F64, n_union: int, missed_given: F64) -> list[float]:
        n_common = similarity * n_union
        rounds = [hypergeometric(n, n_common, n_union) for n in _filled_by_round(self.bands * self.rows, n_union)]
        return [float(functools.reduce(np.convolve, drawn) @ missed_given) for drawn in zip(*rounds, strict=True)]

    def _missed_given_agreeing(self) -> F64:
        missed = np.ones(1)
        for band in range(self.bands):
            n_slots = (band + 1) * self.rows
            agreeing = np.arange(n_slots + 1)
            following = np.zeros(n_slots + 1)
            for here in range(self.rows):  # all rows would make an agreeing band
                before = agreeing - here
                possible = (before >= 0) & (before <= band * self.rows)
                following[possible] += _share(here, self.rows, agreeing[possible], n_slots) * missed[before[possible]]
            missed = following
        return missed


def _filled_by_round(n_slots: int, n_union: int) -> list[int]:
    """Return how many slots are filled in each round: 140 slots, 160 shingles -> [95, 31, 10, 3, 1]."""
    filled, left = [], n_slots
    while left:
        n = max(1, min(left, round(left * -np.expm1(n_union * np.log1p(-1.0 / max(n_slots, 2))))))
        filled.append(min(n, n_union))
        left -= filled[-1]
    return filled


def hypergeometric(n_drawn: int, n_good: F64, n_all: int) -> F64:
    """Return the hypergeometric distribution of good ones among those drawn, shape (len(n_good), n_drawn + 1)."""
    n_good, m = n_good[:, None], np.arange(n_drawn, dtype=np.float64)
    # the ratio of each probability to the previous one; 0 for impossible numbers
    up, down = (n_good - m) * (n_drawn - m), (m + 1) * (n_all - n_good - n_drawn + m + 1)
    logs = np.zeros((len(n_good), n_drawn + 1))
    np.cumsum(np.log(np.maximum(up, 1e-300)) - np.log(np.maximum(down, 1e-300)), axis=1, out=logs[:, 1:])
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    share: F64 = weights / weights.sum(axis=1, keepdims=True)
    return share


def _share(here: int, rows: int, agreeing: I64, n_slots: int) -> F64:
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n_slots + 1)))])

    def log_choices(n: int, k: I64) -> F64:
        logs: F64 = log_factorial[n] - log_factorial[k] - log_factorial[n - k]
        return logs

    of_these = log_choices(rows, np.full(1, here)) + log_choices(n_slots - rows, agreeing - here)
    share: F64 = np.exp(of_these - log_choices(n_slots, agreeing))
    return share


def _between(table: F64, of_rows: F64, of_columns: F64, rows: F64, columns: F64) -> F64:
    i, to_i = _place(of_rows, rows)
    j, to_j = _place(of_columns, columns)
    above = table[i, j] * (1 - to_j) + table[i, j + 1] * to_j
    below = table[np.minimum(i + 1, len(table) - 1), j] * (1 - to_j)
    below = below + table[np.minimum(i + 1, len(table) - 1), j + 1] * to_j
    values: F64 = above * (1 - to_i) + below * to_i
    return values


def _place(grid: F64, values: F64) -> tuple[I64, F64]:
    last = max(len(grid) - 2, 0)
    cell = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, last)
    if len(grid) == 1:
        return cell, np.zeros(len(values))
    width = np.maximum(grid[cell + 1] - grid[cell], 1e-12)
    return cell, np.clip((values - grid[cell]) / width, 0.0, 1.0)
