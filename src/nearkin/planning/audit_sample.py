"""Proposed sample sizes for an audit whose interval is too wide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from nearkin.planning.audit import AuditEstimate, interval_of

WIDTH = 0.1
"""Width of a sufficiently narrow interval: 10 percentage points between its bounds."""
_MAX_EFFECTIVE = 1 << 20


@dataclass(frozen=True, slots=True)
class ProposedSample:
    """A proposed number of documents to audit.

    Parameters
    ----------
    n_documents : int
    elapsed_s : float
        Predicted from the finished audit.
    width : float
        Expected width of the interval; 0 if every document is audited.
    """

    n_documents: int
    elapsed_s: float
    width: float


def propose_samples(
    estimate: AuditEstimate, elapsed_of: Callable[[int], float], *, share_with_pairs: float | None = None
) -> tuple[ProposedSample, ...]:
    """Propose samples that narrow an interval wider than `WIDTH`, the smaller first; none if it is narrow enough.

    The width depends on the number of documents with true pairs, which grows in proportion to the sample. The last
    proposal is every document, which makes the recall exact.

    Parameters
    ----------
    estimate : AuditEstimate
    elapsed_of : callable
        Returns the seconds that a sample of this size takes.
    share_with_pairs : float, optional
        Share of the population with a reported pair; used if the sample has no true pair, or few by chance.

    Examples
    --------
    >>> from nearkin.planning.audit import estimate_recall
    >>> one = estimate_recall([0] * 499 + [1], [0] * 499 + [1], n_population=50_000)
    >>> [(proposed.n_documents, proposed.width) for proposed in propose_samples(one, lambda n: n / 1000)]
    [(18000, 0.1), (50000, 0)]
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
    """Return the sample size for an interval of that width; None if it cannot be estimated."""
    per_document = [share_with_pairs] if share_with_pairs else []
    if estimate.n_effective:
        per_document.append(estimate.n_effective / estimate.n_sampled)
    if not per_document:
        return None
    recall = 1.0 if estimate.recall is None else estimate.recall
    return _rounded(effective_for(recall, estimate.confidence) / min(per_document))


def in_proportion(n_sampled: int, elapsed_s: float) -> Callable[[int], float]:
    """Return a function that scales the time of a sample in proportion to its size.

    Examples
    --------
    >>> in_proportion(500, 2.0)(1000)
    4.0
    """
    return lambda n_documents: elapsed_s * n_documents / max(n_sampled, 1)


def effective_for(recall: float, confidence: float) -> int:
    """Return the minimum number of independent documents with true pairs for an interval no wider than `WIDTH`.

    Examples
    --------
    >>> effective_for(1.0, 0.95), effective_for(0.8, 0.95)
    (36, 264)
    """
    low, high = 1, _MAX_EFFECTIVE
    while low < high:
        middle = (low + high) // 2
        bounds = interval_of(recall, middle, confidence)
        low, high = (low, middle) if bounds[1] - bounds[0] <= WIDTH else (middle + 1, high)
    return low


def _rounded(n: float) -> int:
    """Round up to two or three digits.

    Examples
    --------
    >>> _rounded(17_421.3), _rounded(83)
    (17500, 83)
    """
    step = 10 ** max(0, math.floor(math.log10(max(n, 1))) - 2)
    return math.ceil(n / (5 * step)) * 5 * step if step > 1 else math.ceil(n)
