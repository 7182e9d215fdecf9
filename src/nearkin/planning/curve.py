"""Consequences of a probability of finding pairs: the number of bands needed, and the number of pairs missed."""

from __future__ import annotations

import math

import numpy as np

from nearkin.records import F64

NO_SUCH_BANDS = 1 << 60
"""More bands than any sketch has: returned if pairs at the threshold almost never agree in so many rows."""
_MIN_PROBABILITY = 1e-15


def bands_for(threshold: float, rows: int, recall: float) -> int:
    """Return the minimum number of bands of ``rows`` rows that find a pair at the threshold with this recall.

    Examples
    --------
    >>> bands_for(0.8, 5, 0.99)
    12
    """
    in_one_band = threshold**rows
    if in_one_band >= recall:
        return 1
    if in_one_band < _MIN_PROBABILITY:
        return NO_SUCH_BANDS
    return math.ceil(math.log1p(-recall) / math.log1p(-in_one_band) - 1e-12)


def missed(found_probability: F64) -> float:
    """Estimate the number of missed pairs from the found pairs: the sum of (1 − P) / P over these.

    A pair that is found with probability P stands for 1 / P pairs like it (Daniel G. Horvitz, Donovan J. Thompson, "A
    generalization of sampling without replacement from a finite universe", 1952).

    Examples
    --------
    >>> missed(np.array([0.5, 1.0]))
    1.0
    """
    p = np.asarray(found_probability, np.float64)
    return float(((1.0 - p) / p).sum()) if len(p) else 0.0
