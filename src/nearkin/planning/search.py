"""Choosing the search: bands and rows for Jaccard similarity, the sampling rate for containment."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.chances import found_by_bands, found_by_sample
from nearkin.planning.curve import bands_for
from nearkin.records import F64, I64

MOST_SLOTS = 4096
_MOST_ROWS = 32
_SHORT = 0.05

# Nanoseconds on one core, measured once by benchmarks/costs.py. They are constants, not measured in the run, so that
# the plan, and with it the result, depends on nothing but the input and the parameters.
NS_SKETCH_SHINGLE = 6.0
NS_SKETCH_SLOT = 25.0
NS_KEY = 60.0
NS_PAIR = 400.0
NS_PAIR_SHINGLE = 10.0


@dataclass(frozen=True, slots=True)
class BandPlan:
    """How documents are searched for pairs of a Jaccard similarity.

    Parameters
    ----------
    bands, rows : int
    recall_at_threshold : float
        The probability that a pair exactly at the threshold becomes a candidate; pairs above it more likely so.
    expected_candidates : float
        Pairs of documents that will be compared without being near-duplicates, extrapolated from a sample.
    exact_below : int
        Documents with fewer shingles than this find each other by prefix filtering, which misses none.
    """

    bands: int
    rows: int
    recall_at_threshold: float
    expected_candidates: float
    exact_below: int

    @property
    def size(self) -> int:
        """Slots of a signature."""
        return self.bands * self.rows

    def found_probability(self, similarity: F64) -> F64:
        """Of pairs that bands had to find."""
        return found_by_bands(similarity, self.bands, self.rows)


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How documents are searched for pairs of which one contains the other.

    Parameters
    ----------
    rate : float
        Of the shingles that become keys.
    recall_at_threshold : float
        The mean, over the sampled documents, of the probability that one contained at exactly the threshold becomes a
        candidate.
    expected_candidates : float
        See `BandPlan`.
    """

    rate: float
    recall_at_threshold: float
    expected_candidates: float


@dataclass(frozen=True, slots=True)
class Sample:
    """What the plan knows of the collection.

    Parameters
    ----------
    n_documents : int
        Distinct texts in the collection.
    n_pairs : float
        Pairs of them that may match: all, or those across two collections.
    sizes : int64 array, shape (n_sampled,)
        Shingles of the sampled documents.
    sought_sizes : int64 array
        Of those sampled documents that are looked for: all, or those to clean in a run against another collection.
    similarity, n_common : float64 and int64 arrays, shape (n_sampled_pairs,)
        Jaccard similarity and common shingles of the sampled pairs that may match.
    """

    n_documents: int
    n_pairs: float
    sizes: I64
    sought_sizes: I64
    similarity: F64
    n_common: I64

    @classmethod
    def of_one(cls, n_documents: int, sizes: I64, similarity: F64, n_common: I64) -> Sample:
        """Of one collection, in which every document may match every other."""
        return cls(n_documents, n_documents * (n_documents - 1) / 2, sizes, sizes, similarity, n_common)

    @property
    def scale(self) -> float:
        """Pairs of documents in the collection for each sampled pair."""
        return self.n_pairs / len(self.similarity) if len(self.similarity) else 0.0

    @property
    def mean_size(self) -> float:
        """Shingles a document."""
        return float(self.sizes.mean()) if len(self.sizes) else 0.0


def check_reachable(threshold: float, recall: float) -> None:
    """ParameterError if no signature of up to `MOST_SLOTS` slots finds pairs at the threshold with this probability.

    One row a band is what needs the fewest slots.
    """
    if bands_for(threshold, 1, recall) > MOST_SLOTS:
        raise ParameterError.of(
            "recall",
            "dedup",
            f"reachable at the threshold {threshold} with {MOST_SLOTS} slots; "
            "take a lower recall or a higher threshold",
            recall,
        )


def plan_bands(threshold: float, recall: float, sample: Sample) -> BandPlan:
    """The cheapest bands and rows that reach the recall at the threshold.

    Raises
    ------
    ParameterError
        If no signature of up to `MOST_SLOTS` slots reaches it.

    Examples
    --------
    >>> sizes, none = np.full(100, 400), np.zeros(4950, np.int64)
    >>> nothing_alike = Sample.of_one(50_000, sizes, none.astype(np.float64), none)
    >>> plan = plan_bands(0.8, 0.99, nothing_alike)
    >>> plan.recall_at_threshold >= 0.99
    True
    """
    check_reachable(threshold, recall)
    strangers = sample.similarity[sample.similarity < threshold]
    plans: list[tuple[float, BandPlan]] = []
    for rows in range(1, _MOST_ROWS + 1):
        bands = bands_for(threshold, rows, recall)
        if bands * rows > MOST_SLOTS:
            break
        candidates = float(found_by_bands(strangers, bands, rows).sum()) * sample.scale
        # what no pair of the sample shows may still be there: one pair more than was seen (Laplace's rule of
        # succession), half-way to the threshold, keeps a small sample from choosing a search that lets everything by
        unseen = float(found_by_bands(threshold / 2, bands, rows)) * sample.scale
        reached = float(found_by_bands(threshold, bands, rows))
        plan = BandPlan(bands, rows, reached, candidates, exact_below=bands * rows)
        plans.append((_cost(bands, rows, candidates + unseen, sample), plan))
    return min(plans, key=lambda one: one[0])[1]


def plan_sampling(threshold: float, recall: float, sample: Sample) -> SamplingPlan:
    """The lowest sampling rate that reaches the recall at the threshold.

    A short document has few shingles to be found by. The rate is such that nineteen in twenty of the documents that are
    looked for reach the recall each by itself, and all of them in the mean.

    Examples
    --------
    >>> sizes, none = np.full(50, 400), np.zeros(1225, np.int64)
    >>> plan_sampling(0.8, 0.99, Sample.of_one(1000, sizes, none.astype(np.float64), none)).rate < 0.02
    True
    """
    shared = np.ceil(threshold * sample.sought_sizes[sample.sought_sizes > 0] - 1e-9)
    short = np.quantile(shared, _SHORT, method="lower") if len(shared) else 1.0

    def recall_at(rate: float) -> float:
        return float(found_by_sample(shared, rate).mean()) if len(shared) else 1.0

    def reaches(rate: float) -> bool:
        return recall_at(rate) >= recall and bool(found_by_sample(short, rate) >= recall)

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    rate = min(1.0, math.ceil(high * 10_000) / 10_000)
    candidates = float(found_by_sample(sample.n_common, rate).sum()) * sample.scale
    return SamplingPlan(rate, recall_at(rate), candidates)


def _cost(bands: int, rows: int, candidates: float, sample: Sample) -> float:
    """Nanoseconds for the whole collection."""
    slots = bands * rows
    sketch = NS_SKETCH_SHINGLE * sample.mean_size + NS_SKETCH_SLOT * slots
    pair = NS_PAIR + NS_PAIR_SHINGLE * sample.mean_size
    return sample.n_documents * (sketch + NS_KEY * bands) + candidates * pair
