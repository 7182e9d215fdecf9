"""``python -m labs.planner``: the model of ``nearkin plan pairs`` beside the article that it comes from.

Source: Ferhan Ture, Tamer Elsayed, Jimmy Lin, "No free lunch: brute force vs. locality-sensitive hashing for
cross-lingual pairwise similarity", SIGIR 2011, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labs.cross_lingual.window_model import WindowModel
from labs.experiment import print_table
from nearkin.planning.pairs.prediction import PairSearch, Prediction, Question, predict

PUBLISHED_BITS, PUBLISHED_DISTANCE = 1000, 400
PUBLISHED_BOUND = 0.76
"""Recall of signatures alone, section 6.1."""
PUBLISHED_EFFECTIVENESS = ((0.35, 0.93), (0.40, 0.95), (0.50, 0.98), (1.00, 0.995))
"""Relative cost, and recall over the bound, as stated for figure 8 in section 6.2."""
PUBLISHED_PERMUTATIONS = 1000
"""A good setting, according to the same section."""
_PERMUTATIONS = (50, 100, 200, 300, 500, 1000)
_WINDOWS = (200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Point:
    """A window and a number of orders.

    Parameters
    ----------
    search : PairSearch
    prediction : Prediction
    bound : float
        Recall of signatures of this length within this distance, with every pair compared.
    article_cost : float
        Cost by the article's count: orders times documents times window, over all pairs. Here only pairs of two
        collections are compared, and the relative cost of the prediction includes the time for sorting.
    """

    search: PairSearch
    prediction: Prediction
    bound: float
    article_cost: float

    @property
    def effectiveness(self) -> float:
        """Recall divided by its bound."""
        return self.prediction.recall / self.bound if self.bound else 0.0


def published_question() -> Question:
    """Return the article's question: 3.44 million English and 1.47 million German articles, cosine 0.3; 128 cores."""
    return Question(n_left=3_440_000, n_right=1_470_000, threshold=0.3, recall=0.7, cores=128)


def tradeoff(
    question: Question,
    bits: int,
    distance: int,
    permutations: Sequence[int] = _PERMUTATIONS,
    windows: Sequence[int] = _WINDOWS,
) -> tuple[Point, ...]:
    """Return the points of figures 6, 7 and 8 of the article: for each window, by ascending number of orders.

    Examples
    --------
    >>> points = tradeoff(published_question(), 1000, 400, permutations=(300, 1000), windows=(200, 1000))
    >>> [f"{point.prediction.recall:.2f} for {point.article_cost:.0%}" for point in points]
    ['0.28 for 6%', '0.57 for 19%', '0.55 for 29%', '0.74 for 97%']
    """
    bound = predict(PairSearch("signatures", bits, distance), question).recall
    made = []
    for window in windows:
        for n_orders in permutations:
            search = PairSearch("window", bits, distance, n_orders, window)
            cost = n_orders * question.n_documents * window / question.n_pairs
            made.append(Point(search, predict(search, question), bound, cost))
    return tuple(made)


def published_points() -> tuple[tuple[float, float, Point, Point], ...]:
    """Return the article's recall over its bound, and the points of the model with the same cost.

    Returns
    -------
    told : tuple of (cost, effectiveness, point, point)
        The article does not say how sorting was converted to comparisons, nor whether pairs of one language count: the
        first point has this cost as `Point.article_cost`, the second as the relative cost of the prediction.
    """
    question = published_question()
    told = []
    for cost, effectiveness in PUBLISHED_EFFECTIVENESS:
        window = round(cost * question.n_pairs / (PUBLISHED_PERMUTATIONS * question.n_documents))
        low, high = window, 4 * window
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high) if _published(question, middle).prediction.relative_cost < cost else (low, middle)
            )
        told.append((cost, effectiveness, _published(question, window), _published(question, high)))
    return tuple(told)


def _published(question: Question, window: int) -> Point:
    (point,) = tradeoff(question, PUBLISHED_BITS, PUBLISHED_DISTANCE, (PUBLISHED_PERMUTATIONS,), (window,))
    return point


def article_band(question: Question, search: PairSearch) -> tuple[float, float]:
    """Return the recall by the article's own formula, a product of two probabilities, averaged over the sought pairs.

    Examples
    --------
    >>> low, high = article_band(published_question(), PairSearch("window", 1000, 400, 300, 1000))
    >>> 0 < low < high < 0.76
    True
    """
    model = WindowModel(question.n_documents, search.bits, search.permutations, search.window, search.distance)
    cosines, weights = question.spread.above(question.threshold)
    bands = np.array([model.found(cosine) for cosine in cosines.tolist()])
    low, high = weights @ bands
    return float(low), float(high)


def main() -> None:
    """Print the estimates of figure 6, then the four relative costs of the text."""
    question = published_question()
    points = tradeoff(question, PUBLISHED_BITS, PUBLISHED_DISTANCE)
    print(
        f"3,440,000 × 1,470,000 documents, cosine 0.3, 1,000 bits, distance 400\n"
        f"Every pair of signatures: recall {points[0].bound:.2f}; the article measured {PUBLISHED_BOUND}"
    )
    rows = []
    for point in points:
        low, high = article_band(question, point.search)
        predicted = point.prediction
        rows.append(
            (
                f"{point.search.window:,}",
                f"{point.search.permutations:,}",
                f"{low:.2f} to {high:.2f}",
                f"{predicted.recall:.2f} ({predicted.recall_low:.2f} to {predicted.recall_high:.2f})",
                f"{point.article_cost:.1%}",
                f"{predicted.relative_cost:.1%}",
            )
        )
    print_table(
        ("window", "orders", "recall, article's formula", "recall, here", "cost as in the article", "here"), rows
    )
    print("\nRecall as a share of the recall of every pair of signatures:")
    statements: list[tuple[str, ...]] = []
    for cost, effectiveness, *both in published_points():
        cells = [
            f"{point.effectiveness:.1%} ({100 * (point.effectiveness - effectiveness):+.1f}), "
            f"window {point.search.window:,}"
            for point in both
        ]
        statements.append((f"{cost:.0%}", f"{effectiveness:.1%}", *cells))
    print_table(("cost", "article", "model, cost as in the article", "model, cost as here"), statements)


if __name__ == "__main__":
    main()
