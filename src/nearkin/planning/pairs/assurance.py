"""Recall of a search by signatures, measured on the pairs of a sample before the search, with its interval.

Pairs in clusters are not independent, so the interval counts documents.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nearkin.planning.pairs.chances import distance_shares
from nearkin.planning.pairs.prediction import PairSearch, Prediction, Question
from nearkin.records import F64, I64

_SURE = 2.576  # standard deviations of a 99 % interval: a plan is the most favourable of several, so 95 % is too little
_MIN_INDEPENDENT = 30
_ANGLES = np.linspace(0.0, np.pi, 401)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SamplePairs:
    """Pairs of a sample, with the distances of the signatures that the search uses.

    Parameters
    ----------
    documents : int64 array, shape (n_pairs,)
        Number of the sampled document of each pair, below ``n_documents``, which counts those without pairs, too.
    gaps : int array, shape (n_pairs, n_orders), optional
        For a window: the distance between the two documents of each pair in each sorted order of the search.
    """

    n_bits: int
    documents: I64
    n_documents: int
    cosines: F64
    distances: npt.NDArray[np.integer]
    gaps: npt.NDArray[np.integer] | None = None
    share: float = 1.0

    def recall(
        self, weights: F64, chances: F64, *, n_population: int | None, threshold: float
    ) -> tuple[float, float, float]:
        """Return the lower end of an interval, the recall of the sample, and the upper end.

        The error is that of a ratio over the documents of a sample drawn without replacement, and at least that of the
        model on the same pairs. The quantile is that of Student's distribution. With fewer than 30 independent pairs
        the interval is that of E. B. Wilson ("Probable Inference, the Law of Succession, and Statistical Inference",
        1927), but its lower end at least the probability to find a pair at the threshold.

        Parameters
        ----------
        chances : float64 array, shape (n_bits + 1,)
            Probability, by the model, that a pair at each distance is found.
        """
        n, n_true = self.n_documents, np.bincount(self.documents, minlength=self.n_documents).astype(np.float64)
        total = float(n_true.sum())
        n_independent = total**2 / float((n_true**2).sum())
        by_angle = _shares_by_angle(self.n_bits) @ chances
        expected, worst = (
            np.interp(np.arccos(np.clip(cosines, -1, 1)), _ANGLES, by_angle) for cosines in (self.cosines, threshold)
        )
        recall, variance = self._ratio(weights, n_true)
        not_drawn = 1.0 if n_population is None else 1.0 - self.share * n / max(n_population, n)
        if not_drawn and n_independent < _MIN_INDEPENDENT:
            low, high = _wilson(recall, n_independent / not_drawn)
            return min(recall, max(low, float(worst))), recall, high
        min_variance = self._ratio(expected, n_true)[1] + float((expected * (1 - expected)).sum()) / total**2
        quantile = _SURE * (1 + (_SURE**2 + 1) / (4 * max(1.0, n_independent - 1)))  # the first term of its expansion
        error = quantile * math.sqrt(not_drawn * max(variance, min_variance))
        return recall - error, recall, recall + error

    def _ratio(self, weights: F64, n_true: F64) -> tuple[float, float]:
        n, total = self.n_documents, float(n_true.sum())
        n_found = np.bincount(self.documents, weights, minlength=n)
        recall = float(n_found.sum()) / total
        return recall, float(((n_found - recall * n_true) ** 2).sum()) / total**2 * n / max(n - 1, 1)


def _wilson(share: float, n: float) -> tuple[float, float]:
    squared = _SURE**2 / n
    centre = (share + squared / 2) / (1 + squared)
    error = math.sqrt(share * (1 - share) * squared + squared**2 / 4) / (1 + squared)
    return centre - error, centre + error


@functools.lru_cache(maxsize=8)
def _shares_by_angle(n_bits: int) -> F64:
    """Return the share of pairs at each distance, shape (n_angles, n_bits + 1), for each angle between two vectors."""
    return np.stack([distance_shares(np.cos(_ANGLES[i : i + 1]), np.ones(1), n_bits) for i in range(len(_ANGLES))])


def assured(search: PairSearch, prediction: Prediction, question: Question, pairs: SamplePairs) -> Prediction:
    """Return the prediction of a search by signatures with the recall measured on a sample, and its interval."""
    within = (np.arange(search.bits + 1) <= search.distance).astype(np.float64)
    chances = np.tile(within, (3, 1))
    if search.method == "window":
        lengths = np.array(question.prefix.lengths(question.n_documents, search.window))
        chances *= question.chances(search.bits).found(lengths, np.array([float(search.permutations)]))[:, 0]
    shares = chances[:, pairs.distances]
    if pairs.gaps is not None:
        shares = np.tile(within[pairs.distances] * (pairs.gaps <= search.window).any(axis=1), (3, 1))
    is_modelled = search.method == "window" and pairs.gaps is None
    n_population = None if is_modelled else question.n_left  # another seed might make other orders of all documents
    (_, _, high), (_, middle, _), (low, _, _) = (
        pairs.recall(share, by_model, n_population=n_population, threshold=question.threshold)
        for share, by_model in zip(shares, chances, strict=True)
    )
    return replace(
        prediction,
        recall_low=max(0.0, low),
        recall=middle,
        recall_high=min(1.0, high),
        n_pairs=middle * question.n_sought,
    )
