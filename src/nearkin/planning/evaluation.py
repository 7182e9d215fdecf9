"""Precision, recall and F1 of reported pairs at every threshold, from pairs or groups that are known to be true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.records import F64, I64, Bool

DISTANCE = "distance"
"""Score of which a smaller one is nearer."""
CURVE_POINTS = 100
"""Maximum number of points of a curve; the best one is chosen among all."""


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Numbers of reported pairs, and of true ones among them, by score: the larger, the more alike."""

    score: F64
    n_reported: I64
    n_true: I64

    def __add__(self, other: ScoredPairs) -> ScoredPairs:
        columns = ("score", "n_reported", "n_true")
        return ScoredPairs(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in columns))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Pairs with at least some similarity, or at most some distance."""

    threshold: float
    n_reported: int
    n_true: int
    precision: float
    recall: float
    f1: float


def curve_of(tally: ScoredPairs, n_true: int) -> list[CurvePoint]:
    """Return a point for each distinct score, the largest first."""
    scores, place = np.unique(-tally.score, return_inverse=True)
    counts = np.zeros((2, len(scores)), np.int64)
    np.add.at(counts[0], place, tally.n_reported)
    np.add.at(counts[1], place, tally.n_true)
    reported, true = counts.cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(reported, true / reported, 1.0)
        recall = true / n_true if n_true else np.ones(len(true))
        f1 = np.where(true, 2 * true / (reported + n_true), 0.0)
    columns = (-scores, reported, true, precision, recall, f1)
    return [CurvePoint(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def best_of(curve: list[CurvePoint]) -> CurvePoint | None:
    """Return the point with the largest F1, of equal ones that with the most pairs; None without points."""
    return max(curve, key=lambda point: (point.f1, point.n_reported), default=None)


def thinned(curve: list[CurvePoint], n: int = CURVE_POINTS) -> list[CurvePoint]:
    """Return at most ``n`` points, evenly spaced among all, the first, the best and the last of them included."""
    if len(curve) <= n:
        return curve
    places = set(np.linspace(0, len(curve) - 1, n - 1).round().astype(int).tolist())
    best = best_of(curve)
    return [point for place, point in enumerate(curve) if place in places or point is best]


@dataclass(frozen=True, slots=True)
class LabelledGroups:
    """Truth as groups: the documents with one label belong together; those without one are not judged.

    Parameters
    ----------
    left, right : int64 arrays, shape (n_documents,)
        Label of each document of a side, -1 for none; the same array if there is one side.
    """

    left: I64
    right: I64
    n_true: int

    def within(self, group: I64, score: F64) -> ScoredPairs:
        """Count the pairs inside groups; the score of a pair is the smaller of its two."""
        order = np.lexsort((-score, group))
        order = order[self.left[order] >= 0]
        group, label = group[order], self.left[order]
        return ScoredPairs(score[order], _number_before(group), _number_before(group, label))

    def between(self, left: I64, right: I64, score: F64, texts: tuple[I64, I64]) -> ScoredPairs:
        """Count the pairs of the documents of matching texts."""
        n_texts = int(max(left.max(initial=-1), right.max(initial=-1), *(text.max(initial=-1) for text in texts))) + 1
        sides = (self.left, self.right)
        sizes = [
            np.bincount(side_texts[label >= 0], minlength=n_texts)
            for side_texts, label in zip(texts, sides, strict=True)
        ]
        n_labels = int(max(side.max(initial=-1) for side in sides)) + 1
        counted = [
            np.unique(side_texts[label >= 0] * n_labels + label[label >= 0], return_counts=True)
            for side_texts, label in zip(texts, sides, strict=True)
        ]
        (keys, n_left), (others, n_right) = counted
        first, end = (np.searchsorted(keys, (left + more) * n_labels) for more in (0, 1))
        pair = np.repeat(np.arange(len(left)), end - first)
        entry = np.arange(len(pair)) - np.repeat(np.cumsum(end - first) - (end - first), end - first) + first[pair]
        wanted = right[pair] * n_labels + (keys[entry] % max(1, n_labels))
        place = np.minimum(np.searchsorted(others, wanted), max(0, len(others) - 1))
        true = np.zeros(len(left), np.int64)
        if len(others):
            np.add.at(true, pair, np.where(others[place] == wanted, n_left[entry] * n_right[place], 0))
        return ScoredPairs(score, sizes[0][left] * sizes[1][right], true)


def _number_before(*keys: I64) -> I64:
    order = np.lexsort(keys[::-1])
    is_new = np.ones(len(order), bool)
    if len(order):
        is_new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    starts = np.flatnonzero(is_new)
    number = np.arange(len(order)) - starts[np.cumsum(is_new) - 1] if len(order) else np.zeros(0, np.int64)
    result = np.empty(len(order), np.int64)
    result[order] = number
    return result


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Truth as pairs of documents, each once.

    Parameters
    ----------
    is_closed
        Whether all other pairs are false; if not, only these pairs are judged.
    """

    left: I64
    right: I64
    is_true: Bool
    is_closed: bool
    n_true: int

    def within(self, group: I64, score: F64) -> ScoredPairs:
        """Count as `LabelledGroups.within` does."""
        pairs = group[self.left] == group[self.right]
        judged = self._judged(pairs, np.minimum(score[self.left], score[self.right])[pairs])
        if not self.is_closed:
            return judged
        order = np.lexsort((-score, group))
        return judged + ScoredPairs(score[order], _number_before(group[order]), np.zeros(len(order), np.int64))

    def between(self, left: I64, right: I64, score: F64, texts: tuple[I64, I64]) -> ScoredPairs:
        """Count the pairs of the documents of matching texts."""
        n_texts = int(max(left.max(initial=-1), right.max(initial=-1), *(text.max(initial=-1) for text in texts))) + 1
        keys = left * n_texts + right
        order = np.argsort(keys)
        wanted = texts[0][self.left] * n_texts + texts[1][self.right]
        if texts[0] is texts[1]:
            a, b = texts[0][self.left], texts[0][self.right]
            wanted = np.minimum(a, b) * n_texts + np.maximum(a, b)
        place = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)] if len(keys) else None
        is_reported = np.zeros(len(wanted), bool) if place is None else keys[place] == wanted
        judged = self._judged(is_reported, np.zeros(0) if place is None else score[place[is_reported]])
        if not self.is_closed:
            return judged
        sizes = [np.bincount(text, minlength=n_texts) for text in texts]
        return judged + ScoredPairs(score, sizes[0][left] * sizes[1][right], np.zeros(len(left), np.int64))

    def _judged(self, is_reported: Bool, score: F64) -> ScoredPairs:
        n_reported = np.full(int(is_reported.sum()), 0 if self.is_closed else 1)
        return ScoredPairs(score, n_reported, self.is_true[is_reported].astype(np.int64))


Truth = LabelledGroups | JudgedPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Pairs of a result, reported or inside its groups, compared with the truth."""

    pairs: str
    score: str
    n_true: int
    total: CurvePoint
    best: CurvePoint
    curve: list[CurvePoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """Result, compared with the truth.

    Parameters
    ----------
    n_unknown
        Ids in the truth that are not among the documents of the result; their pairs count as missed.
    """

    what: str
    truth: str
    truth_kind: str
    n_unknown: int
    evaluations: list[Evaluation]
