"""How many leading bits two signatures must share to stand in one window: by theory, or as measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError
from nearkin.records import F64, I64

BOTH_SIDES = 0.8
"""Bits: two positions that agree in each binary digit with probability 0.6 (cosine 0.3) differ by less than x as often
as prefixes of log2(1 / x) - 0.8 digits agree; with 0.7 (cosine 0.59) it is 0.65, with 0.8 (cosine 0.81) 0.55."""
_SURE = 1.96  # standard deviations of a 95 % band
_STEPS = 60
_LONGEST = 256.0


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """The length of the prefix that brings two signatures into one window, for any window and number of documents.

    By theory, ``Prefix()``, the article takes log2 of documents over window, rounded down and up. A window reaches to
    both sides, though, and over the ends of a prefix: of uniform signatures it brings together as many as a prefix
    shorter by `BOTH_SIDES` would. That is the middle, the band goes from it rounded down to the article's rounded up.
    Signatures of real documents cluster: they share words, so all vectors lean to one side, some prefixes hold far
    more documents than others, and a window reaches less far. `calibrated` measures it.

    Parameters
    ----------
    windows : float64 array, shape (n,)
        Rising shares of all documents; empty for theory.
    lengths, errors : float64 arrays, shape (n,)
        The length of the prefix for each, and its standard error.

    Examples
    --------
    >>> [round(length, 2) for length in Prefix().lengths(1_000_000, 1000)]
    [9.0, 9.17, 10.0]
    """

    windows: F64 | None = None
    lengths_measured: F64 | None = None
    errors: F64 | None = None

    @property
    def is_measured(self) -> bool:
        """On documents, rather than by theory."""
        return self.windows is not None and len(self.windows) > 0

    def lengths(self, n_documents: int, window: int) -> tuple[float, float, float]:
        """The least, the middle and the greatest: the last one finds fewest pairs."""
        least, middle, most = self.bands(n_documents, np.array([window]))
        return float(least[0]), float(middle[0]), float(most[0])

    def bands(self, n_documents: int, windows: I64) -> tuple[F64, F64, F64]:
        """`lengths` for many windows at once."""
        shares = np.asarray(windows, np.float64) / max(1, n_documents)
        logs = np.log2(np.maximum(shares, 1e-300))
        if self.windows is None or self.lengths_measured is None or self.errors is None or not len(self.windows):
            middle = np.where(shares >= 1, 0.0, np.maximum(0.0, -logs - BOTH_SIDES))
            return np.floor(middle + 1e-9), middle, np.maximum(0.0, np.ceil(-logs - 1e-9))
        at = np.log2(self.windows)
        middle = np.interp(logs, at, self.lengths_measured)
        # below the smallest window that was measured, half a window is a bit more, as in theory
        middle = middle + np.maximum(0.0, at[0] - logs)
        slack = _SURE * (np.interp(logs, at, self.errors) + 0.02 * np.maximum(0.0, at[0] - logs))
        is_all = shares >= 1
        least, most = np.maximum(0.0, middle - slack), middle + slack
        return np.where(is_all, 0.0, least), np.where(is_all, 0.0, middle), np.where(is_all, 0.0, most)


def calibrated(cosines: F64, gaps: NDArray[np.integer], n_documents: int) -> Prefix:
    """The prefixes that explain how near pairs of known cosine stand to each other in a few sorted orders.

    A window of ``B`` holds a share of these pairs; the prefix is as long as makes the mean of ``(1 - angle / pi)^n``
    over the pairs that share.

    Parameters
    ----------
    cosines : float64 array, shape (n_pairs,)
        Of pairs like those that are looked for.
    gaps : int array, shape (n_pairs, n_orders)
        How many places the two documents of a pair are apart in each order of both collections.
    n_documents : int
        Of both collections.

    Returns
    -------
    prefix : Prefix
        Of theory, if too few pairs are ever near each other to tell.

    Examples
    --------
    >>> chance = np.random.default_rng(5)
    >>> gaps = (10_000 * chance.random((400, 8)) ** 4).astype(int)
    >>> calibrated(np.full(400, 0.5), gaps, 10_000).is_measured
    True
    """
    cosines, gaps = np.asarray(cosines, np.float64), np.asarray(gaps)
    if gaps.ndim != 2 or len(gaps) != len(cosines) or not gaps.size:
        raise ParameterError.of("gaps", "calibrated", "of shape (n_pairs, n_orders), none of them 0", gaps.shape)
    if not (np.abs(cosines) <= 1).all():
        raise ParameterError.of("cosines", "calibrated", "from -1 to 1", float(cosines[np.abs(cosines) > 1][0]))
    if n_documents < 2:
        raise ParameterError.of("n_documents", "calibrated", "an int >= 2", n_documents)
    logs = np.log1p(-np.minimum(np.arccos(cosines) / np.pi, 1 - 1e-12))
    windows = np.unique(np.geomspace(1, n_documents - 1, 4 * math.ceil(math.log2(n_documents)) + 1).astype(np.int64))
    n_pairs, n_orders = gaps.shape
    lengths, errors, used = [], [], []
    for window in windows.tolist():
        is_near = gaps <= window
        share = float(is_near.mean())
        if not is_near.sum() >= min(8, gaps.size):
            continue  # too few to tell
        of_pairs = is_near.mean(axis=1).var() / max(1, n_pairs - 1)
        of_orders = is_near.mean(axis=0).var() / max(1, n_orders - 1)
        spread = math.sqrt(of_pairs + of_orders + 1 / (4.0 * gaps.size**2))
        sides = [_length(min(1.0, max(share + by, 1e-12)), logs) for by in (-spread, 0.0, spread)]
        used.append(window / n_documents)
        lengths.append(sides[1])
        errors.append((sides[0] - sides[2]) / 2)
    if not used:
        return Prefix()
    ordered = np.minimum.accumulate(np.array(lengths))
    return Prefix(np.array(used), ordered, np.array(errors))


def _length(share: float, logs: F64) -> float:
    """The ``n`` at which the mean of ``exp(n logs)`` is the share, by bisection."""
    low, high = 0.0, _LONGEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.exp(middle * logs).mean()) > share else (low, middle)
    return (low + high) / 2
