"""Recall and precision over queries, from the number of documents that passed each stage of a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, minimum and maximum of a number over several draws of the projections."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: F64) -> Spread:
        """Compute the spread over the draws."""
        return cls(float(np.mean(values)), float(np.min(values)), float(np.max(values)))


@dataclass(frozen=True, slots=True)
class RangeQuality:
    """Quality of a method at a tolerance; means over queries except the last.

    Parameters
    ----------
    recall : Spread
        Share of all matches that are found, including the query itself.
    precision : Spread
        Share of matches among the documents left before the exact comparison, including the query itself.
    recall_of_others : Spread
        Recall without the query itself, over queries that match another document; NaN if there are none.
    pooled_precision : Spread
        Matches of all queries together, divided by the documents left of all queries together.
    """

    recall: Spread
    precision: Spread
    recall_of_others: Spread
    pooled_precision: Spread


def quality(survivors: I64, n_true: I64) -> RangeQuality:
    """Compute the quality of a method from the documents that each stage left.

    Parameters
    ----------
    survivors : int64 array, shape (n_draws, n_queries, n_stages)
        The last stage is the exact comparison, the one before it its input.
    n_true : int64 array, shape (n_queries,)
        Number of matches, at least 1: the query itself.

    Examples
    --------
    >>> found = quality(np.array([[[9, 4, 2], [9, 1, 1]]]), np.array([3, 1]))
    >>> round(found.recall.mean, 3), found.precision.mean, found.recall_of_others.mean, found.pooled_precision.mean
    (0.833, 0.75, 0.5, 0.6)
    """
    passed, found = survivors[..., -2], survivors[..., -1]
    has_others = n_true > 1
    others = (found[:, has_others] - 1) / (n_true[has_others] - 1)
    return RangeQuality(
        Spread.of((found / n_true).mean(axis=1)),
        Spread.of((found / np.maximum(1, passed)).mean(axis=1)),
        Spread.of(others.mean(axis=1) if has_others.any() else np.full(len(survivors), np.nan)),
        Spread.of(found.sum(axis=1) / np.maximum(1, passed.sum(axis=1))),
    )


def mean_survivors(survivors: I64) -> F64:
    """Return the mean number of documents that each stage leaves, over draws and queries, shape (n_stages,)."""
    means: F64 = survivors.mean(axis=(0, 1))
    return means
