"""Choice of the fastest method to search two corpora for pairs of similar vectors that reaches the recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.planning.pairs.chances import Chances
from nearkin.planning.pairs.prediction import METHODS, Method, PairSearch, Prediction, Question, predict, window_ns
from nearkin.records import F64, I64

__all__ = [
    "METHODS",
    "QUICK_S",
    "Method",
    "PairSearch",
    "Plan",
    "Prediction",
    "Question",
    "choose",
    "exact_is_quick",
    "predict",
]

QUICK_S = 20.0
"""Seconds on one core: if comparing every pair of vectors takes less, it is chosen, since it misses nothing."""
BITS = (256, 512, 768, 1024, 1536, 2048)
"""Lengths of signatures to choose from: multiples of what one comparison takes at once."""
ALMOST = 1 - 1e-9
"""Limit for the recall of signatures, which never find quite all, and share of the maximum that counts as all."""
_MIN_WINDOW = 16
_FEW = 1000
_ORDERS = np.unique(np.round(1.2 ** np.arange(46)).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Plan:
    """The chosen method, and the best of each other method.

    Parameters
    ----------
    reaches
        Whether the lower end of the band reaches the requested recall; if not, this plan comes nearest.
    is_quick
        Every pair of vectors is compared because that takes less than `QUICK_S`; another method may be even faster.
    """

    search: PairSearch
    prediction: Prediction
    alternatives: tuple[tuple[PairSearch, Prediction], ...]
    reaches: bool
    is_quick: bool = False


def choose(
    question: Question,
    *,
    method: Method | None = None,
    bits: int | None = None,
    distance: int | None = None,
    permutations: int | None = None,
    window: int | None = None,
) -> Plan:
    """Choose the fastest search that reaches the recall even at the lower end of the band; exact search if fast."""
    allowed = _allowed(method, bits, distance, permutations, window)
    searches: dict[Method, PairSearch] = {"vectors": PairSearch("vectors")}
    searches["signatures"] = _best_signatures(question, bits, distance)
    searches["window"] = _best_window(question, bits, distance, permutations, window)
    ways = {name: (search, predict(search, question)) for name, search in searches.items()}
    is_quick = method is None and allowed == METHODS and exact_is_quick(question)
    best = "vectors" if is_quick else min(allowed, key=lambda name: _rank(ways[name][1], question.recall))
    search, prediction = ways.pop(best)
    return Plan(search, prediction, tuple(ways.values()), prediction.recall_low >= question.recall, is_quick)


def exact_is_quick(question: Question) -> bool:
    """Whether comparing every pair of vectors takes less than `QUICK_S` on one core; independent of the cosines."""
    return predict(PairSearch("vectors"), question).core_s < QUICK_S


def _allowed(
    method: Method | None, bits: int | None, distance: int | None, permutations: int | None, window: int | None
) -> tuple[Method, ...]:
    slides, signs = permutations is not None or window is not None, bits is not None or distance is not None
    left: tuple[Method, ...] = ("window",) if slides else ("signatures", "window") if signs else METHODS
    return left if method is None else (method,)


def _rank(prediction: Prediction, recall: float) -> tuple[bool, float, float]:
    """Sort key: predictions that reach the recall first, the fastest of them first; then by recall, highest first."""
    is_short = prediction.recall_low < recall
    return is_short, -round(prediction.recall_low, 6) if is_short else 0.0, prediction.core_s


def _best_signatures(question: Question, bits: int | None, distance: int | None) -> PairSearch:
    searches = []
    for n_bits in _lengths(bits):
        reached = np.minimum(np.cumsum(question.chances(n_bits).sought), ALMOST)
        searches.append(PairSearch("signatures", n_bits, _distance(reached, question.recall, distance)))
    return min(searches, key=lambda search: _rank(predict(search, question), question.recall))


def _best_window(
    question: Question, bits: int | None, distance: int | None, permutations: int | None, window: int | None
) -> PairSearch:
    n = question.n_documents
    most = n if permutations is not None or n < _FEW else n // 4  # in most orders half of all find as much as all
    windows = np.array([window]) if window is not None else _windows(most, 2 if question.prefix.is_measured else 1)
    orders = np.array([permutations]) if permutations is not None else _ORDERS
    searches = []
    for n_bits in _lengths(bits):
        for width, n_orders, within in _window_grid(question, n_bits, windows, orders, distance):
            searches.append(PairSearch("window", n_bits, within, n_orders, width))
    return min(searches, key=lambda search: _rank(predict(search, question), question.recall))


def _window_grid(
    question: Question, n_bits: int, windows: I64, orders: I64, distance: int | None
) -> list[tuple[int, int, int]]:
    chances = question.chances(n_bits)
    distances = _distances(chances, distance)
    every, sought = chances.every[distances], chances.sought[distances]
    _, middle, longest = question.prefix.bands(question.n_documents, windows)
    shares_found = chances.found(np.concatenate([longest, middle]), orders.astype(np.float64), distances)
    reached = np.minimum(np.cumsum(shares_found[: len(windows)] * sought, axis=2), ALMOST)
    target = np.minimum(question.recall, reached[:, :, -1:] * ALMOST)
    at_last = np.full(reached.shape[:2], len(sought) - 1)
    within = np.argmax(reached >= target, axis=2) if distance is None else at_last
    n_near = np.take_along_axis(np.cumsum(shares_found[len(windows) :] * every, axis=2), within[:, :, None], axis=2)[
        :, :, 0
    ]
    in_one = np.cumsum(np.exp(chances.log_agreement(middle)[:, distances]) * every, axis=1)
    n_hits = orders * np.take_along_axis(in_one, within, axis=1)
    seconds = window_ns(
        question, n_bits, windows[:, None], orders[None, :], n_near * question.n_pairs, n_hits * question.n_pairs
    )
    is_short = reached[:, :, -1] < question.recall
    if is_short.all():
        seconds = -np.round(reached[:, :, -1], 6) + seconds / (seconds.max() * 1e7)
        is_short = np.zeros_like(is_short)
    at = np.unravel_index(int(np.argmin(np.where(is_short, np.inf, seconds))), seconds.shape)
    return [(int(windows[at[0]]), int(orders[at[1]]), distances.start + int(within[at]))]


def _lengths(bits: int | None) -> tuple[int, ...]:
    return BITS if bits is None else (bits,)


def _distance(reached: F64, recall: float, distance: int | None) -> int:
    if distance is not None:
        return distance
    return int(np.argmax(reached >= min(recall, ALMOST * float(reached[-1]))))


def _distances(chances: Chances, distance: int | None) -> slice:
    reached = np.cumsum(chances.sought)
    last = int(np.searchsorted(reached, ALMOST)) if distance is None else distance
    return slice(min(last, int(np.searchsorted(reached, 1 - ALMOST))), last + 1)


def _windows(most: int, halves: int) -> I64:
    shares = most / 2.0 ** np.arange(0, 64, 1 / halves)
    large_shares = shares[shares >= min(_MIN_WINDOW, most)]
    digits = 10.0 ** np.maximum(0, np.floor(np.log10(large_shares)) - 1)
    rounded = np.ceil(large_shares / digits - 1e-9) * digits
    return np.unique(np.minimum(rounded, most).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairForecast:
    """Forecast: a question whose unknown values were measured on samples."""

    question: Question
    plan: Plan
    n_left: int
    n_right: int
    n_compared: int
    n_pairs: int
