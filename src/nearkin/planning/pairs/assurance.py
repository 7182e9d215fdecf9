"""Recall of a search by signatures, measured on the pairs of a sample before the search, with its interval.

The model takes pairs as independent. Where most pairs lie in a few clusters they are not: a random seed finds or misses
many of them together, and a sample of documents may hold more or less of a cluster than its share. The signatures of
the sampled pairs are those of the search, so their distances show the effect of the seed; the interval counts
documents, not pairs, and so shows that of the sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nearkin.planning.pairs.chances import distance_shares
from nearkin.planning.pairs.prediction import PairSearch, Prediction, Question
from nearkin.records import F64, I64

_SURE = 2.576  # standard deviations of a 99 % interval: a plan is the most favourable of several, so 95 % is too little
_MIN_DOCUMENTS = 30
_GRID = 201


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SamplePairs:
    """Pairs of a sample, with the distances of the signatures that the search uses.

    Parameters
    ----------
    n_bits : int
    documents : int64 array, shape (n_pairs,)
        Number of the sampled document of each pair, from 0 to below ``n_documents``.
    n_documents : int
        Number of sampled documents, with those that have no pair.
    cosines : float64 array, shape (n_pairs,)
    distances : int array, shape (n_pairs,)
    gaps : int array, shape (n_pairs, n_orders), optional
        For a window: the distance between the two documents of each pair in each sorted order of the search.
    """

    n_bits: int
    documents: I64
    n_documents: int
    cosines: F64
    distances: npt.NDArray[np.integer]
    gaps: npt.NDArray[np.integer] | None = None

    def recall(self, found: F64, chances: F64, n_population: int) -> tuple[float, float]:
        """Return the recall of the sample, and half the width of its interval.

        The error is that of a ratio over the documents of a sample drawn without replacement; it is 0 if all documents
        were sampled. It is at least the error of the model on the same pairs, so it is not 0 where all pairs of a small
        sample happen to be found. With few documents the interval is wider, by the quantile of Student's distribution.

        Parameters
        ----------
        found : float64 array, shape (n_pairs,)
            Whether each pair is found, or the probability.
        chances : float64 array, shape (n_bits + 1,)
            Probability, by the model, that a pair at each distance is found.
        n_population : int
            Number of documents from which the sample was drawn.

        Examples
        --------
        >>> pairs = SamplePairs(n_bits=8, documents=np.array([0, 0, 1, 1]), n_documents=2,
        ...     cosines=np.array([0.9, 0.9, 0.5, 0.5]), distances=np.array([1, 1, 2, 3]))
        >>> within_2 = (np.arange(9) <= 2).astype(float)
        >>> found = within_2[pairs.distances]
        >>> pairs.recall(found, within_2, 2), round(pairs.recall(found, within_2, 1_000_000)[0], 2)
        ((0.75, 0.0), 0.69)
        """
        n, n_true = self.n_documents, np.bincount(self.documents, minlength=self.n_documents).astype(np.float64)
        total, part = float(n_true.sum()), n / max(n_population, n)
        n_independent = total**2 / float((n_true**2).sum())
        grid = np.linspace(-1, 1, _GRID)
        shares = (distance_shares(grid[i : i + 1], np.ones(1), self.n_bits) for i in range(_GRID))
        expected = np.interp(self.cosines, grid, [float(one @ chances) for one in shares])
        (recall, spread), (modelled, least) = (self._ratio(one, n_true) for one in (found, expected))
        least += part * float((expected * (1 - expected)).sum()) / total**2  # the seed's effect on pairs not drawn
        if part < 1 and n_independent < _MIN_DOCUMENTS:
            recall = min(recall, modelled)
        quantile = _SURE * (1 + (_SURE**2 + 1) / (4 * max(1.0, n_independent - 1)))
        return recall, quantile * math.sqrt((1 - part) * max(spread, least))

    def _ratio(self, found: F64, n_true: F64) -> tuple[float, float]:
        """Return the share of found pairs, and its variance over documents."""
        n, total = self.n_documents, float(n_true.sum())
        n_found = np.bincount(self.documents, found, minlength=n)
        recall = float(n_found.sum()) / total
        return recall, float(((n_found - recall * n_true) ** 2).sum()) / total**2 * n / max(n - 1, 1)


def assured(search: PairSearch, prediction: Prediction, question: Question, pairs: SamplePairs) -> Prediction:
    """Return the prediction of a search by signatures with the recall measured on a sample, and its interval.

    Parameters
    ----------
    search : PairSearch
    prediction : Prediction
        That of the model.
    question : Question
    pairs : SamplePairs
        At least one, with signatures of the search's length.
    """
    within = (np.arange(search.bits + 1) <= search.distance).astype(np.float64)
    chances = np.tile(within, (3, 1))
    if search.method == "window":
        lengths = np.array(question.prefix.lengths(question.n_documents, search.window))
        chances *= question.chances(search.bits).found(lengths, np.array([float(search.permutations)]))[:, 0]
    found = chances[:, pairs.distances]
    if pairs.gaps is not None:
        found = np.tile(within[pairs.distances] * (pairs.gaps <= search.window).any(axis=1), (3, 1))
    (high, up), (middle, _), (low, down) = (
        pairs.recall(one, by_model, question.n_left) for one, by_model in zip(found, chances, strict=True)
    )
    return replace(
        prediction,
        recall_low=max(0.0, low - down),
        recall=middle,
        recall_high=min(1.0, high + up),
        n_pairs=middle * question.n_sought,
    )
