"""Number of leading bits that two signatures in one window share: by theory, or measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.records import F64, I64

BOTH_SIDES = 0.8
"""Correction in bits: two positions that agree in each binary digit with probability 0.6 (cosine 0.3) differ by less
than x as often as prefixes of log2(1 / x) - 0.8 digits agree; with 0.7 (cosine 0.59) it is 0.65, with 0.8 (cosine 0.81)
0.55."""
_SURE = 1.96  # standard deviations of a 95 % band
_STEPS = 60
_LONGEST = 256.0


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """Length of the prefix that brings two signatures into one window, for any window and number of documents.

    By theory, ``Prefix()``, the article takes log2 of documents over window, rounded down and up. But a window reaches
    to both sides: it brings together as many as a prefix shorter by `BOTH_SIDES`. Signatures of real documents cluster,
    and a window reaches less far: `calibrated` measures it.

    Parameters
    ----------
    windows : float64 array, shape (n,)
        Ascending shares of all documents; empty for theory.
    lengths, errors : float64 arrays, shape (n,)
        Length of the prefix for each window, and its standard error.
    """

    windows: F64 | None = None
    lengths_measured: F64 | None = None
    errors: F64 | None = None

    @property
    def is_measured(self) -> bool:
        """Whether it was measured on documents."""
        return self.windows is not None and len(self.windows) > 0

    def lengths(self, n_documents: int, window: int) -> tuple[float, float, float]:
        """Return the minimum, the middle and the maximum length; the maximum finds the fewest pairs."""
        least, middle, most = self.bands(n_documents, np.array([window]))
        return float(least[0]), float(middle[0]), float(most[0])

    def bands(self, n_documents: int, windows: I64) -> tuple[F64, F64, F64]:
        """Return `lengths` for many windows at once."""
        shares = np.asarray(windows, np.float64) / max(1, n_documents)
        logs = np.log2(np.maximum(shares, 1e-300))
        if self.windows is None or self.lengths_measured is None or self.errors is None or not len(self.windows):
            middle = np.where(shares >= 1, 0.0, np.maximum(0.0, -logs - BOTH_SIDES))
            return np.floor(middle + 1e-9), middle, np.maximum(0.0, np.ceil(-logs - 1e-9))
        at = np.log2(self.windows)
        middle = np.interp(logs, at, self.lengths_measured)
        # below the smallest measured window, half a window takes one more bit, as in theory
        middle = middle + np.maximum(0.0, at[0] - logs)
        slack = _SURE * (np.interp(logs, at, self.errors) + 0.02 * np.maximum(0.0, at[0] - logs))
        is_all = shares >= 1
        least, most = np.maximum(0.0, middle - slack), middle + slack
        return np.where(is_all, 0.0, least), np.where(is_all, 0.0, middle), np.where(is_all, 0.0, most)


def calibrated(cosines: F64, gaps: NDArray[np.integer], n_documents: int) -> Prefix:
    """Measure the prefixes from the distances of pairs in a few sorted orders; by theory if too few are near.

    A window of ``B`` holds a share of these pairs; the prefix gets the length at which the mean of
    ``(1 - angle / pi)^n`` over the pairs equals that share.

    Parameters
    ----------
    gaps : int array, shape (n_pairs, n_orders)
        Distance between the two documents of a pair in each order of both corpora.
    """
    logs = np.log1p(-np.minimum(np.arccos(cosines) / np.pi, 1 - 1e-12))
    windows = np.unique(np.geomspace(1, n_documents - 1, 4 * math.ceil(math.log2(n_documents)) + 1).astype(np.int64))
    n_pairs, n_orders = gaps.shape
    lengths, errors, used = [], [], []
    for window in windows.tolist():
        is_near = gaps <= window
        share = float(is_near.mean())
        if not is_near.sum() >= min(8, gaps.size):
            continue  # too few pairs
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
    """Return the ``n`` at which the mean of ``exp(n logs)`` equals the share, by bisection."""
    low, high = 0.0, _LONGEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.exp(middle * logs).mean()) > share else (low, middle)
    return (low + high) / 2
