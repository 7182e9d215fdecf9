"""Precision and recall of one setting, from counts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundCounts:
    """Counts of one setting.

    Parameters
    ----------
    n_right, n_found : int
        Number of right ones among those found, and of all that are found.
    n_true : int
        Number of those that should be found.
    n_true_found : int or None
        Number of these that are found, if a found one can stand for several; by default ``n_right``.

    Examples
    --------
    >>> FoundCounts(3, 4, 6).precision, FoundCounts(3, 4, 6).recall
    (0.75, 0.5)
    """

    n_right: int
    n_found: int
    n_true: int
    n_true_found: int | None = None

    @property
    def precision(self) -> float:
        """Share of those found that are right; NaN if nothing is found."""
        return self.n_right / self.n_found if self.n_found else math.nan

    @property
    def recall(self) -> float:
        """Share of those that should be found; NaN if there are none."""
        found = self.n_right if self.n_true_found is None else self.n_true_found
        return found / self.n_true if self.n_true else math.nan
