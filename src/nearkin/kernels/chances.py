"""Probability that a search finds a pair: the two formulas shared by searches, plans and reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64] | NDArray[np.integer[Any]] | float


def found_by_bands(similarity: Numbers, bands: int, rows: int) -> NDArray[np.float64]:
    """Return the probability that two sketches agree in a band: 1 − (1 − s^rows)^bands.

    Examples
    --------
    >>> found_by_bands(0.8, bands=20, rows=5).round(4)
    np.float64(0.9996)
    """
    return np.asarray(1.0 - (1.0 - np.asarray(similarity, np.float64) ** rows) ** bands)[()]


def found_by_sample(n_common: Numbers, rate: float) -> NDArray[np.float64]:
    """Return the probability that a sample contains a shingle that two sets share: 1 − (1 − rate)^n.

    Examples
    --------
    >>> found_by_sample(np.array([0, 1, 16]), rate=0.25).round(3).tolist()
    [0.0, 0.25, 0.99]
    """
    return np.asarray(1.0 - (1.0 - rate) ** np.asarray(n_common, np.float64))[()]
