"""Measured and predicted recall and cost of a sliding window (Figures 5 to 8)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from labs.cross_lingual.documents import spread_rows
from labs.cross_lingual.published import THRESHOLD
from labs.cross_lingual.signature_recall import distances_of
from labs.cross_lingual.window_model import WindowModel, distance_for_cosine
from nearkin.planning.pairs.calibration import Prefix, calibrated
from nearkin.planning.pairs.search import PairSearch, Question, predict
from nearkin.records import F64, U64, BitSignatures, Bool
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.stages.search.sliding_window import SlidingWindow
from nearkin.stages.search.stretches import rows_of
from nearkin.workflows.pairing.planning import Sampled, sample
from nearkin.workflows.pairing.searching import FoundPairs
from nearkin.workflows.pairing.vectors import PairVectors
from nearkin.workflows.resources import Resources

BITS = 1000
ORDERS = (10, 20, 50, 100, 200, 300, 500, 1000)
TIMED_ORDERS = (100, 200, 300)
RATIOS = (20_000, 10_000, 5_000, 2_500, 1_200, 600, 300, 150, 75, 40, 20)
"""Ratios of documents to window; the article's are 24,550 to 2,455. With few documents the smallest window is 1;
wider ones are added, so that the cost extends as far as the article's."""
_TIMED_SHARES = (0.02, 0.04, 0.06, 0.08, 0.1)
"""Ratios for the timed searches: wide enough windows that comparing takes longer than sorting."""
_ROUNDS = 4
_PROBES = 12
_OTHER_ORDERS = 1 << 32
_MAX_FOLLOWED = 200_000


@dataclass(frozen=True, slots=True)
class Timed:
    """Times of a search: sorting, comparing, and the distinct near pairs; CPU seconds."""

    permutations: int
    window: int
    elapsed_s: float
    n_comparisons: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPoint:
    """A setting, with its recall for pairs at the threshold, measured and by two models.

    Parameters
    ----------
    permutations, window : int
    recall : float
        Measured recall within the distance.
    compared : float
        Measured share of pairs in a window at any distance: the recall if the true cosine decides.
    relative_cost : float
        Comparisons divided by all pairs.
    published_model : tuple of float
        Lower and upper end of the article's band.
    calibrated_model : tuple of float
        Lower end, middle, upper end.
    """

    permutations: int
    window: int
    recall: float
    compared: float
    relative_cost: float
    published_model: tuple[float, float]
    calibrated_model: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Fit:
    """A straight line through times, by window or by number of permutations."""

    by: str
    at: int
    slope_s: float
    intercept_s: float
    r_squared: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Figures 5 to 8.

    Parameters
    ----------
    n_left, n_right : int
        Number of documents with a vector.
    n_true, n_followed : int
        Pairs at the threshold; those on which recall is measured, selected at equal distances if there are many.
    distance : int
        Distance, in `BITS`, within which pairs are found.
    bound : float
        Recall within the distance if every pair were compared.
    windows : tuple of int
    recall, compared : float64 arrays, shape (n_windows, most permutations)
        Values after each permutation; see `WindowPoint`.
    points : tuple of WindowPoint
    timed : tuple of Timed
    fits : tuple of Fit
    n_sampled, n_sample_pairs : int
        Basis of the predictions: documents, and their pairs at the threshold.
    is_calibrated : bool
        Whether there were enough pairs to measure a prefix.
    """

    n_left: int
    n_right: int
    n_true: int
    n_followed: int
    distance: int
    bound: float
    windows: tuple[int, ...]
    recall: F64
    compared: F64
    points: tuple[WindowPoint, ...]
    timed: tuple[Timed, ...]
    fits: tuple[Fit, ...]
    n_sampled: int
    n_sample_pairs: int
    is_calibrated: bool

    @property
    def n_documents(self) -> int:
        """Number of documents of both sides, which are sorted together."""
        return self.n_left + self.n_right

    def cost(self, permutations: int, window: int) -> float:
        """Return the comparisons divided by all pairs."""
        question = Question(n_left=self.n_left, n_right=self.n_right, threshold=THRESHOLD, recall=1.0)
        return permutations * float(question.n_in_windows(window)) / question.n_pairs

    def effectiveness(self, window: int) -> F64:
        """Return recall over the bound after each permutation; 0 if the bound is 0."""
        reached: F64 = self.recall[self.windows.index(window)] / (self.bound or 1.0)
        return reached

    def cheapest(self, effectiveness: float, sorting: float = 0.0) -> tuple[float, int, int] | None:
        """Return the minimum cost for a relative effectiveness, with its permutations and window; None if impossible.

        ``sorting`` is the relative cost of one sorted order, by default 0.
        """
        found = []
        for window in self.windows:
            reached = np.flatnonzero(self.effectiveness(window) >= effectiveness)
            if len(reached):
                permutations = int(reached[0]) + 1
                found.append((self.cost(permutations, window) + permutations * sorting, permutations, window))
        return min(found, default=None)

    def best_within(self, cost: float) -> tuple[float, int, int] | None:
        """Return the maximum relative effectiveness within a cost, with its permutations and window."""
        found = []
        for window in self.windows:
            permutations = min(self.recall.shape[1], int(cost / self.cost(1, window) + 1e-9))
            if permutations:
                found.append((float(self.effectiveness(window)[permutations - 1]), permutations, window))
        return max(found, default=None)

    def of(self, permutations: int, window: int) -> WindowPoint:
        """Return a point."""
        return next(one for one in self.points if (one.permutations, one.window) == (permutations, window))

    @property
    def sorting_s(self) -> float:
        """Time to sort one permutation, from the lines through the times, extrapolated to no window."""
        own = [fit for fit in self.fits if fit.by == "window"]
        return float(np.mean([max(0.0, fit.intercept_s) / fit.at for fit in own])) if own else float("nan")

    def sorting_cost(self, comparison_ns: float, size: tuple[int, int] | None = None) -> float:
        """Return the time to sort once over that of all comparisons, as in the article's relative cost.

        ``size`` is the number of documents and pairs of another collection, whose sorting takes ``n log n`` longer; by
        default it is this one.
        """
        n, pairs = size or (self.n_documents, self.n_left * self.n_right)
        longer = n * math.log2(max(n, 2)) / (self.n_documents * math.log2(max(self.n_documents, 2)))
        return max(0.0, self.sorting_s) * longer / (pairs * comparison_ns * 1e-9)

    @property
    def min_r_squared(self) -> float:
        """Minimum R² of all lines that have one."""
        return min((fit.r_squared for fit in self.fits if fit.r_squared == fit.r_squared), default=float("nan"))


def measure(
    vectors: PairVectors, truth: FoundPairs, *, seed: int, resources: Resources, progress: Progress
) -> Windows | None:
    """Search with many orders and windows; return None if no pair is at the threshold."""
    if not len(truth):
        return None
    signatures = vectors.signed(BITS, seed, threads=resources.n_threads, meter=Meter(Silent()))
    distance = distance_for_cosine(THRESHOLD, BITS)
    n_left, n_right = (int(side.has_features.sum()) for side in signatures)
    windows = chosen_windows(n_left + n_right)
    keys = truth.keys[spread_rows(len(truth), _MAX_FOLLOWED)]
    is_near = distances_of(*signatures, keys) <= distance
    recall, compared = _followed(signatures, keys, is_near, windows, seed, progress)
    sampled = sample(vectors, THRESHOLD, resources=resources, meter=Meter(Silent()))
    question = _question(vectors, (n_left, n_right), sampled, signatures, seed)
    timed_windows = tuple(sorted({max(1, round(share * (n_left + n_right))) for share in _TIMED_SHARES}))
    timed = _timed(signatures, timed_windows, distance, seed, progress)
    points = tuple(
        _point(question, window, permutations, float(recall[i, permutations - 1]), float(compared[i, permutations - 1]))
        for i, window in enumerate(windows)
        for permutations in ORDERS
    )
    return Windows(
        n_left=n_left,
        n_right=n_right,
        n_true=len(truth),
        n_followed=len(keys),
        distance=distance,
        bound=float(is_near.mean()),
        windows=windows,
        recall=recall,
        compared=compared,
        points=points,
        timed=timed,
        fits=_fits(timed),
        n_sampled=sampled.n_documents,
        n_sample_pairs=len(sampled.keys),
        is_calibrated=question.prefix.is_measured,
    )


def chosen_windows(n_documents: int) -> tuple[int, ...]:
    """Return the distinct windows for `RATIOS`.

    Examples
    --------
    >>> chosen_windows(6538)
    (1, 3, 5, 11, 22, 44, 87, 163, 327)
    """
    return tuple(sorted({max(1, round(n_documents / ratio)) for ratio in RATIOS}))


def _followed(
    signatures: tuple[BitSignatures, BitSignatures],
    keys: U64,
    is_near: Bool,
    windows: tuple[int, ...],
    seed: int,
    progress: Progress,
) -> tuple[F64, F64]:
    """Return the shares of pairs in each window after each order: of those that are near, and of all.

    A search in fewer orders is the beginning of one in more, and a window contains all narrower ones: so the minimum
    distance in places of two documents over the orders so far determines all results.
    """
    left, right = rows_of(keys)
    nearest = np.full(len(left), np.iinfo(np.int64).max)
    found, compared = np.empty((len(windows), max(ORDERS))), np.empty((len(windows), max(ORDERS)))
    progress.start("sorted orders", max(ORDERS), "steps")
    for number, places in enumerate(SlidingWindow(max(ORDERS), 1, seed).positions(*signatures)):
        nearest = np.minimum(nearest, np.abs(places[0][left] - places[1][right]))
        for i, window in enumerate(windows):
            is_compared = nearest <= window
            found[i, number], compared[i, number] = (is_compared & is_near).mean(), is_compared.mean()
        progress.advance(1)
    progress.finish()
    return found, compared


def _question(
    vectors: PairVectors,
    sizes: tuple[int, int],
    sampled: Sampled,
    signatures: tuple[BitSignatures, BitSignatures],
    seed: int,
) -> Question:
    """Make the question of `nearkin pairs`: a sample, and positions of its pairs in orders the search does not use."""
    left, right = rows_of(sampled.keys)
    probes = list(SlidingWindow(_PROBES, 1, seed + _OTHER_ORDERS).positions(*signatures))
    gaps = np.array([np.abs(places[0][left] - places[1][right]) for places in probes]).T
    prefix = calibrated(sampled.cosines, gaps, sum(sizes)) if len(left) else Prefix()
    return Question(
        n_left=sizes[0], n_right=sizes[1], threshold=THRESHOLD, recall=0.9, spread=sampled.spread, prefix=prefix,
        left_terms=vectors.left_facts.mean_terms, right_terms=vectors.right_facts.mean_terms,
    )  # fmt: skip


def _point(question: Question, window: int, permutations: int, recall: float, compared: float) -> WindowPoint:
    distance = distance_for_cosine(THRESHOLD, BITS)
    calibrated_model = predict(PairSearch("window", BITS, distance, permutations, window), question)
    cosines, weights = question.spread.above(THRESHOLD)
    model = WindowModel(question.n_documents, BITS, permutations, window, distance)
    bands = np.array([model.found(float(cosine)) for cosine in cosines])
    low, high = (float(one) for one in weights @ bands)
    cost = permutations * float(question.n_in_windows(window)) / question.n_pairs
    middle = (calibrated_model.recall_low, calibrated_model.recall, calibrated_model.recall_high)
    return WindowPoint(
        permutations=permutations,
        window=window,
        recall=recall,
        compared=compared,
        relative_cost=cost,
        published_model=(low, high),
        calibrated_model=middle,
    )


def _timed(
    signatures: tuple[BitSignatures, BitSignatures],
    windows: tuple[int, ...],
    distance: int,
    seed: int,
    progress: Progress,
) -> tuple[Timed, ...]:
    """Return the minimum CPU time of a few rounds, so that other work of the machine does not count."""
    settings = [(permutations, window) for permutations in TIMED_ORDERS for window in windows]
    least = dict.fromkeys(settings, math.inf)
    n_comparisons = dict.fromkeys(settings, 0)
    progress.start("timed searches", len(settings) * _ROUNDS, "steps")
    SlidingWindow(1, 1, seed).pairs(*signatures, distance=distance)  # the first call may compile
    for _ in range(_ROUNDS):
        for permutations, window in settings:
            started = time.process_time()
            found = SlidingWindow(permutations, window, seed).pairs(*signatures, distance=distance)
            setting = permutations, window
            least[setting] = min(least[setting], time.process_time() - started)
            n_comparisons[setting] = found.n_comparisons
            progress.advance(1)
    progress.finish()
    return tuple(Timed(*setting, least[setting], n_comparisons[setting]) for setting in settings)


def _fits(timed: tuple[Timed, ...]) -> tuple[Fit, ...]:
    """Fit a line by window for each number of permutations, and one by permutations for each window."""
    fits = []
    for permutations in sorted({one.permutations for one in timed}):
        own = [one for one in timed if one.permutations == permutations]
        fits.append(fit_line("window", permutations, [one.window for one in own], [one.elapsed_s for one in own]))
    for window in sorted({one.window for one in timed}):
        own = [one for one in timed if one.window == window]
        at = [one.permutations for one in own]
        fits.append(fit_line("permutations", window, at, [one.elapsed_s for one in own]))
    return tuple(fits)


def fit_line(by: str, at: int, x: list[int], y: list[float]) -> Fit:
    """Fit a line by least squares; return it with the share of the variance that it explains.

    Examples
    --------
    >>> fit = fit_line("window", 100, [1, 2, 3], [3.0, 5.0, 7.0])
    >>> round(fit.slope_s, 6), round(fit.intercept_s, 6), round(fit.r_squared, 6)
    (2.0, 1.0, 1.0)
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    spread = float(((xs - xs.mean()) ** 2).sum())
    if not spread:
        return Fit(by, at, 0.0, float(ys.mean()), float("nan"))
    slope = float(((xs - xs.mean()) * (ys - ys.mean())).sum()) / spread
    intercept = float(ys.mean()) - slope * float(xs.mean())
    rest, whole = float(((ys - intercept - slope * xs) ** 2).sum()), float(((ys - ys.mean()) ** 2).sum())
    return Fit(by, at, slope, intercept, 1 - rest / whole if whole else float("nan"))


@dataclass(frozen=True, slots=True)
class ModelErrors:
    """Mean deviation of measurements from models, over the settings that cost at most as much as brute force.

    Parameters
    ----------
    n_settings : int
    published_outside, calibrated_outside : float
        Deviation from the band: 0 inside.
    published_middle, calibrated_middle : float
        Deviation from the middle.
    """

    n_settings: int
    published_outside: float
    published_middle: float
    calibrated_outside: float
    calibrated_middle: float


def model_errors(slid: Windows) -> ModelErrors:
    """Compare both models with the measurements."""
    points = [one for one in slid.points if one.relative_cost <= 1] or list(slid.points)
    measured = np.array([one.recall for one in points])
    published = np.array(
        [(one.published_model[0], sum(one.published_model) / 2, one.published_model[1]) for one in points]
    )
    calibrated_said = np.array([one.calibrated_model for one in points])
    return ModelErrors(len(points), *_distances(measured, published), *_distances(measured, calibrated_said))


def _distances(measured: F64, said: F64) -> tuple[float, float]:
    """Return mean deviations from the band and its middle; columns of ``said``: lower end, middle, upper end."""
    outside = np.maximum(0.0, np.maximum(said[:, 0] - measured, measured - said[:, 2]))
    return float(outside.mean()), float(np.abs(measured - said[:, 1]).mean())
