"""Recall and precision over queries, from how many documents passed each stage of a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over several draws of the projections: mean, least, most."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: F64) -> Spread:
        """Over the draws."""
        return cls(float(np.mean(values)), float(np.min(values)), float(np.max(values)))


@dataclass(frozen=True, slots=True)
class RangeQuality:
    """Of a way of searching at a tolerance; all means over queries, but the last.

    Parameters
    ----------
    recall : Spread
        Found matches of all matches, the query itself among them.
    precision : Spread
        Matches of the documents that are left before the exact comparison, the query itself among them.
    recall_of_others : Spread
        Recall without the query itself, over queries that match another document; NaN if none does.
    pooled_precision : Spread
        Matches of all queries together, of what is left of all queries together.
    """

    recall: Spread
    precision: Spread
    recall_of_others: Spread
    pooled_precision: Spread


def quality(survivors: I64, n_true: I64) -> RangeQuality:
    """Of one way of searching, by the documents that each stage left.

    Parameters
    ----------
    survivors : int64 array, shape (n_draws, n_queries, n_stages)
        The last stage is the exact comparison, the one before it is what comes to it.
    n_true : int64 array, shape (n_queries,)
        Matches that there are, at least 1: the query itself.

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
    """Documents that each stage leaves, on average over draws and queries, shape (n_stages,)."""
    means: F64 = survivors.mean(axis=(0, 1))
    return means
