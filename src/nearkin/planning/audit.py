"""Recall with an interval, estimated from a random sample of documents.

The interval counts documents, not pairs, because the pairs of a document are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nearkin.records import F64

CONFIDENCE = 0.95
_STEPS = 200
_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEstimate:
    """Estimated recall of a search, from ``n_sampled`` of ``n_population`` documents.

    Parameters
    ----------
    n_with_pairs
        Only these documents are evidence about the recall.
    n_effective
        Number of independent documents with true pairs that would give the same evidence.
    """

    n_population: int
    n_sampled: int
    n_with_pairs: int
    n_true: int
    n_found: int
    recall: float | None
    low: float | None
    high: float | None
    confidence: float = CONFIDENCE
    n_effective: float | None = None

    @property
    def n_missed(self) -> int:
        """Number of true pairs of the sampled documents that were not found."""
        return self.n_true - self.n_found

    @property
    def is_exact(self) -> bool:
        """Whether every document was sampled, so that nothing is estimated."""
        return self.n_sampled == self.n_population


def estimate_recall(n_true: npt.ArrayLike, n_found: npt.ArrayLike, *, n_population: int) -> AuditEstimate:
    """Estimate the recall over all pairs from the pairs of some documents.

    The recall is R = F / T, where T and F are the sums of ``n_true`` and ``n_found``. Its interval is that of Clopper
    and Pearson for R n successes in n trials. n is the effective number of documents, the smaller of two:

    - T² / Σ t², which assumes that all pairs of a document are found or none (Leslie Kish, "Survey Sampling", 1965);
    - R (1 - R) / V, where V = m / (m - 1) Σ (f - R t)² / T² is the variance of a ratio over m documents with pairs: it
      is smaller if documents with many pairs are missed more often (Edward L. Korn, Barry I. Graubard, "Confidence
      intervals for proportions with small expected number of positive counts estimated from survey data", 1998).

    The first keeps the interval valid at a recall near 1, where V is not informative: it is never [1, 1].

    Parameters
    ----------
    n_true, n_found : int or float arrays, shape (n_sampled,)
        Pairs of each sampled document; half a pair for each of two sampled ones, so that all pairs are equally likely.
    """
    true, n_reported = (np.asarray(column, np.float64).ravel() for column in (n_true, n_found))
    n_sampled, n_with_pairs = len(true), int((true > 0).sum())
    total = float(true.sum())
    low: float | None
    high: float | None
    recall, low, high = (None, None, None) if not total else (float(n_reported.sum()) / total,) * 3
    n_effective = None if recall is None else _effective_documents(true, n_reported, recall)
    if recall is not None and n_effective is not None and n_sampled < n_population:
        low, high = interval_of(recall, n_effective)
    return AuditEstimate(
        n_population=n_population,
        n_sampled=n_sampled,
        n_with_pairs=n_with_pairs,
        n_true=round(total),
        n_found=round(float(n_reported.sum())),
        recall=recall,
        low=low,
        high=high,
        n_effective=n_effective,
    )


def _effective_documents(true: F64, n_reported: F64, recall: float) -> float:
    total, n_with_pairs = float(true.sum()), int((true > 0).sum())
    in_clusters = total**2 / float((true**2).sum())
    variance = float(((n_reported - recall * true) ** 2).sum()) / total**2
    if n_with_pairs < 2 or variance == 0:
        return in_clusters
    return min(in_clusters, recall * (1 - recall) / (variance * n_with_pairs / (n_with_pairs - 1)))


def interval_of(recall: float, n: float) -> tuple[float, float]:
    """Return the interval of a recall measured on ``n`` independent documents.

    Charles J. Clopper, Egon S. Pearson, "The use of confidence or fiducial limits", 1934.
    """
    tail, successes = (1 - CONFIDENCE) / 2, recall * n
    low = 0.0 if recall == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if recall == 1 else beta_quantile(1 - tail, successes + 1, n - successes)
    return low, high


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of a Beta(a, b) distribution.

    Examples
    --------
    >>> round(beta_quantile(0.025, 10, 1), 6) == round(0.025 ** (1 / 10), 6)
    True
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _beta_below(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast only on the other side
        return 1 - _beta_below(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 100 * _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _not_zero(1 + term * d), _not_zero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return math.exp(log_front) * fraction / a


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


WIDTH = 0.1
"""Width of a sufficiently narrow interval: 10 percentage points between its bounds."""
_MAX_EFFECTIVE = 1 << 20


@dataclass(frozen=True, slots=True)
class ProposedSample:
    """A proposed number of documents to audit."""

    n_documents: int
    elapsed_s: float
    width: float


def propose_samples(
    estimate: AuditEstimate, elapsed_of: Callable[[int], float], *, share_with_pairs: float | None = None
) -> tuple[ProposedSample, ...]:
    """Propose samples that narrow an interval wider than `WIDTH`, the smaller first; none if it is narrow enough.

    Parameters
    ----------
    share_with_pairs
        Share of the population with a reported pair; used if the sample has no true pair, or few by chance.
    """
    if not says_too_little(estimate):
        return ()
    population = estimate.n_population
    everything = ProposedSample(population, elapsed_of(population), 0)
    n_documents = _for_width(estimate, share_with_pairs)
    if n_documents is None or n_documents >= population:
        return (everything,)
    return ProposedSample(n_documents, elapsed_of(n_documents), WIDTH), everything


def says_too_little(estimate: AuditEstimate) -> bool:
    """Whether the interval is wider than `WIDTH`, or missing although not every document was sampled."""
    is_narrow = estimate.low is not None and estimate.high is not None and estimate.high - estimate.low <= WIDTH
    return not (estimate.is_exact or is_narrow)


def _for_width(estimate: AuditEstimate, share_with_pairs: float | None) -> int | None:
    per_document = [share_with_pairs] if share_with_pairs else []
    if estimate.n_effective:
        per_document.append(estimate.n_effective / estimate.n_sampled)
    if not per_document:
        return None
    recall = 1.0 if estimate.recall is None else estimate.recall
    return _rounded(effective_for(recall) / min(per_document))


def effective_for(recall: float) -> int:
    """Return the minimum number of independent documents with true pairs for an interval no wider than `WIDTH`.

    Examples
    --------
    >>> effective_for(1.0), effective_for(0.8)
    (36, 264)
    """
    low, high = 1, _MAX_EFFECTIVE
    while low < high:
        middle = (low + high) // 2
        bounds = interval_of(recall, middle)
        low, high = (low, middle) if bounds[1] - bounds[0] <= WIDTH else (middle + 1, high)
    return low


def _rounded(n: float) -> int:
    step = 10 ** max(0, math.floor(math.log10(max(n, 1))) - 2)
    return math.ceil(n / (5 * step)) * 5 * step if step > 1 else math.ceil(n)
