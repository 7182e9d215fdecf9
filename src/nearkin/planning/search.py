"""Choice of the search: bands and rows for Jaccard similarity, the sampling rate for containment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.sketch import found_by_bands, found_by_sample
from nearkin.planning.sketch_recall import SketchRecall
from nearkin.records import F64, I64, U32, Bool

MAX_SLOTS = 4096
_MAX_ROWS = 32
_MAX_EXACT = 4096
KEYS_OF_A_LEAD = 2
"""Index entries for a rare shingle of a small document: its own, and one of another document that has it."""

# Nanoseconds on one core, measured once by benchmarks/costs.py. They are constants, not measured in the run, so that
# the plan, and with it the result, depends only on the input and the parameters.
NS_SKETCH_SHINGLE = 6.0
NS_SKETCH_SLOT = 25.0
NS_KEY = 60.0
NS_PAIR = 400.0
NS_PAIR_SHINGLE = 10.0
NS_RARE_SHINGLE = 150.0
EVERY_SIZE = 1 << 31
"""More shingles than any document has, as `BandPlan.exact_below`: all texts are searched by their rare shingles."""


@dataclass(frozen=True, slots=True)
class BandPlan:
    """Search for pairs by Jaccard similarity, with ``bands`` of ``rows`` slots.

    Parameters
    ----------
    recall_at_threshold
        Minimum probability that a pair exactly at the threshold becomes a candidate: that of very long documents.
    exact_below
        Documents with fewer shingles than this find each other by prefix filtering, which misses none; `EVERY_SIZE` if
        all do.
    """

    bands: int
    rows: int
    recall_at_threshold: float
    expected_candidates: float
    exact_below: int

    @property
    def size(self) -> int:
        """Number of slots of a signature."""
        return self.bands * self.rows

    def exact_up_to(self, threshold: float) -> int:
        """Return the largest number of shingles with which documents find each other exactly."""
        return math.ceil((self.exact_below - 1) / threshold + 1e-9)

    def is_exact(self, n_left: I64, n_right: I64, threshold: float) -> Bool:
        """Whether texts of these sizes find each other by prefix filtering, if they match."""
        smaller, larger = np.minimum(n_left, n_right), np.maximum(n_left, n_right)
        return np.asarray((smaller < self.exact_below) | (larger <= self.exact_up_to(threshold)))

    def compared_probability(self, sample: Sample, threshold: float) -> F64:
        """Return the probability that each sampled pair that does not match becomes a candidate; 0 for a match."""
        chance = found_by_bands(sample.similarity, self.bands, self.rows)
        is_exact = self.is_exact(sample.sizes[sample.left], sample.sizes[sample.right], threshold)
        if is_exact.any():
            chance[is_exact] = sample.shares_rare()[is_exact]
        chance[sample.is_match] = 0.0
        return chance

    def found_probability(self, n_common: I64 | U32, n_left: I64 | U32, n_right: I64 | U32, threshold: float) -> F64:
        """Return the probability that each pair at or above the search's threshold becomes a candidate."""
        common, left, right = (n.astype(np.int64) for n in (n_common, n_left, n_right))
        is_exact = self.is_exact(left, right, threshold)
        probability = np.ones(len(common))
        probability[~is_exact] = SketchRecall(self.bands, self.rows).found(
            common[~is_exact], (left + right - common)[~is_exact]
        )
        return probability


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """Search for pairs in which one document contains the other.

    Parameters
    ----------
    recall_at_threshold
        Minimum probability that a pair exactly at the threshold becomes a candidate: that of the smallest documents
        that are found by their sample.
    exact_below
        Documents with fewer shingles than this find those that contain them by rare shingles, which misses none.
    """

    rate: float
    recall_at_threshold: float
    expected_candidates: float
    exact_below: int = 0

    def found_probability(self, n_common: I64 | U32, n_smaller: I64 | U32) -> F64:
        """Return the probability for pairs with these numbers of common shingles and of the smaller document."""
        return np.where(n_smaller < self.exact_below, 1.0, found_by_sample(n_common, self.rate))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Sampled properties of a corpus, for the plan.

    Parameters
    ----------
    n_pairs
        Pairs of them that may match: all, or those across two sets.
    sizes : int64 array, shape (n_sampled,)
        Shingle counts of the sampled documents.
    left, right : int64 arrays, shape (n_sampled_pairs,)
        The sampled pairs that may match, as indices of sampled documents; in a sample of one corpus, each with the ones
        after it.
    similarity, n_common, is_match : float64, int64 and bool arrays, shape (n_sampled_pairs,)
        Jaccard similarity and common shingles of these pairs, and whether they match by the measure of the search.
    """

    n_documents: int
    n_pairs: float
    sizes: I64
    left: I64
    right: I64
    similarity: F64
    n_common: I64
    is_match: Bool
    shares_rare: Callable[[], Bool]

    @classmethod
    def of_one(
        cls, n_documents: int, sizes: I64, similarity: F64, n_common: I64, is_match: Bool | None = None
    ) -> Sample:
        """Make a sample of one corpus, in which any two documents may match; by default, none of the sample do."""
        left, right = np.triu_indices(len(sizes), 1)
        return cls(
            n_documents=n_documents,
            n_pairs=n_documents * (n_documents - 1) / 2,
            sizes=sizes,
            left=left,
            right=right,
            similarity=similarity,
            n_common=n_common,
            is_match=np.zeros(len(similarity), np.bool_) if is_match is None else is_match,
            shares_rare=lambda: np.ones(len(similarity), np.bool_),
        )

    @property
    def scale(self) -> float:
        """Number of pairs in the corpus per sampled pair."""
        return self.n_pairs / len(self.similarity) if len(self.similarity) else 0.0

    @property
    def mean_size(self) -> float:
        """Mean number of shingles of a document."""
        return float(self.sizes.mean()) if len(self.sizes) else 0.0


def check_reachable(threshold: float, recall: float) -> None:
    """Raise ParameterError if no signature of up to `MAX_SLOTS` slots reaches this recall at the threshold."""
    if bands_for(threshold, 1, recall) > MAX_SLOTS:
        raise ParameterError.of(
            "recall",
            f"reachable at the threshold {threshold} with {MAX_SLOTS} slots; lower the recall or raise the threshold",
            recall,
        )


def plan_bands(threshold: float, recall: float, sample: Sample) -> BandPlan:
    """Return the cheapest bands and rows that reach the recall at the threshold.

    If many pairs are nearly as similar as the threshold, all texts are searched by rare shingles if that is cheaper.
    """
    check_reachable(threshold, recall)
    unrelated = sample.similarity[~sample.is_match]
    costs: list[tuple[float, int, int]] = []
    for rows in range(1, _MAX_ROWS + 1):
        bands = bands_for(threshold, rows, recall)
        if bands * rows > MAX_SLOTS:
            break
        candidates = float(found_by_bands(unrelated, bands, rows).sum()) * sample.scale
        # pairs that the sample does not show may still exist: assume one more than was seen (Laplace's rule of
        # succession), half-way to the threshold, to keep a small sample from choosing a search that lets everything by
        unseen = float(found_by_bands(threshold / 2, bands, rows)) * sample.scale
        costs.append((_cost(bands, rows, candidates + unseen, sample), bands, rows))
    cost, bands, rows = min(costs, key=lambda cost_and_plan: cost_and_plan[0])
    reached = float(found_by_bands(threshold, bands, rows))
    plan = BandPlan(bands, rows, reached, 0.0, exact_below=bands * rows)
    if _is_cheaper_by_rare(threshold, sample, cost):
        plan = replace(plan, recall_at_threshold=1.0, exact_below=EVERY_SIZE)
    compared = plan.compared_probability(sample, threshold)[~sample.is_match]
    return replace(plan, expected_candidates=float(compared.sum()) * sample.scale)


def plan_sampling(threshold: float, recall: float, sample: Sample) -> SamplingPlan:
    """Return the cheapest sampling rate, and limit of exact search, that reach the recall.

    For all sizes, every pair at the threshold is found with at least this probability.
    """
    plans: list[tuple[float, SamplingPlan]] = []
    for exact_below in _sizes_to_try(sample):
        n_common = _n_common_at(threshold, exact_below)
        rate = min(1.0, math.ceil((1.0 - (1.0 - recall) ** (1.0 / n_common)) * 1e5) / 1e5)
        recalls = found_by_sample(sample.n_common, rate)
        reached = float(found_by_sample(n_common, rate))
        plan = SamplingPlan(rate, reached, float(recalls[~sample.is_match].sum()) * sample.scale, exact_below)
        # matches cost, too, but are none of the unrelated pairs
        plans.append((_cost_of_sampling(plan, threshold, sample, float(recalls.sum()) * sample.scale), plan))
    return min(plans, key=lambda cost_and_plan: cost_and_plan[0])[1]


PLANNERS: Mapping[str, Callable[[float, float, Sample], BandPlan | SamplingPlan]] = {
    "bands": plan_bands,
    "sampling": plan_sampling,
}
"""Searches, by the names that measures give them."""


def _sizes_to_try(sample: Sample) -> list[int]:
    largest = min(int(sample.sizes.max(initial=1)) + 1, _MAX_EXACT)
    sizes = [1]
    while sizes[-1] < largest:
        sizes.append(min(sizes[-1] + 1 + sizes[-1] // 8, largest))
    return sizes


def _n_common_at(threshold: float, n_smaller: int) -> int:
    return max(1, math.ceil(threshold * n_smaller - 1e-9))


def _cost_of_sampling(plan: SamplingPlan, threshold: float, sample: Sample, candidates: float) -> float:
    small = sample.sizes[(sample.sizes > 0) & (sample.sizes < plan.exact_below)]
    n_sampled = plan.rate * float(sample.sizes.sum() - small.sum())
    n_leading = float((small - np.ceil(threshold * small - 1e-9) + 1).sum())
    # lookup in all documents, which are shingled once more for it
    second_look = NS_SKETCH_SHINGLE * float(sample.sizes.sum()) if len(small) else 0.0
    keys = NS_KEY * (n_sampled + KEYS_OF_A_LEAD * n_leading)
    scale = sample.n_documents / max(len(sample.sizes), 1)
    pair = NS_PAIR + NS_PAIR_SHINGLE * sample.mean_size
    return scale * (second_look + keys) + candidates * pair


def _cost(bands: int, rows: int, candidates: float, sample: Sample) -> float:
    slots = bands * rows
    sketch = NS_SKETCH_SHINGLE * sample.mean_size + NS_SKETCH_SLOT * slots
    pair = NS_PAIR + NS_PAIR_SHINGLE * sample.mean_size
    return sample.n_documents * (sketch + NS_KEY * bands) + candidates * pair


def _is_cheaper_by_rare(threshold: float, sample: Sample, cost: float) -> bool:
    n_keys = (1 - threshold) * sample.mean_size + 1
    left = cost - sample.n_documents * (NS_RARE_SHINGLE * sample.mean_size + 2 * NS_KEY * n_keys)
    pair = NS_PAIR + NS_PAIR_SHINGLE * sample.mean_size
    return left > 0 and left > (float(sample.shares_rare().sum()) + 1) * sample.scale * pair


NO_SUCH_BANDS = 1 << 60
"""More bands than any sketch has: returned if pairs at the threshold almost never agree in so many rows."""
_MIN_PROBABILITY = 1e-15


def bands_for(threshold: float, rows: int, recall: float) -> int:
    """Return the minimum number of bands of ``rows`` rows that find a pair at the threshold with this recall."""
    in_one_band = threshold**rows
    if in_one_band >= recall:
        return 1
    if in_one_band < _MIN_PROBABILITY:
        return NO_SUCH_BANDS
    return math.ceil(math.log1p(-recall) / math.log1p(-in_one_band) - 1e-12)


def missed(found_probability: F64) -> float:
    """Estimate the number of missed pairs from the found pairs: the sum of (1 − P) / P over these.

    A pair that is found with probability P stands for 1 / P pairs like it (Daniel G. Horvitz, Donovan J. Thompson, "A
    generalization of sampling without replacement from a finite universe", 1952).

    Examples
    --------
    >>> missed(np.array([0.5, 1.0]))
    1.0
    """
    p = np.asarray(found_probability, np.float64)
    return float(((1.0 - p) / p).sum()) if len(p) else 0.0
