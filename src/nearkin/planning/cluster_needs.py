"""Needs of a search on a cluster: shuffled data, memory and disk space; the forecast for a corpus."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nearkin.kernels.sketch import found_by_sample
from nearkin.planning.search import BandPlan, Sample, SamplingPlan

PYTHON_BYTES = 350 << 20
"""Memory of the interpreter with numba, Arrow and the kernels."""
DRIVER_BYTES = 160
"""Approximate memory of the driver per document, at the peak, with ids of ten characters."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Data that one stage sends between tasks; its size is that before Spark compresses it."""

    stage: str
    carries: str
    size_bytes: int

    @classmethod
    def of_all(cls, sent: Iterable[tuple[str, str, float]]) -> tuple[Shuffle, ...]:
        """Return those of at least one byte."""
        return tuple(cls(stage, carries, int(n_bytes)) for stage, carries, n_bytes in sent if n_bytes >= 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNeeds:
    """Resources of a search on a cluster."""

    shuffles: tuple[Shuffle, ...]
    n_tasks: int
    core_bytes: int
    driver_bytes: int
    folder_bytes: int
    pair_bytes: int

    @property
    def shuffled_bytes(self) -> int:
        """Bytes shuffled by all stages."""
        return sum(shuffle.size_bytes for shuffle in self.shuffles)


_STANDARD_ERRORS = 2
"""Standard errors on each side of an estimate, for 95% of the samples."""
_UNSEEN = 3
"""Pairs that 95% of the samples would show (rule of three)."""
_MIN_TEXTS = 3
"""Texts that have a spread: two have the only pair in common, so their means are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusForecast:
    """Forecast for a corpus, from a sample.

    Parameters
    ----------
    n_documents, n_texts
        Documents of the corpus, and distinct texts, estimated as the same share as in the sample: usually too high,
        since a random sample contains fewer copies than the corpus.
    """

    n_documents: int
    n_texts: int
    n_sampled: int
    n_without_text: int
    document_bytes: float
    sample: Sample
    plan: BandPlan | SamplingPlan
    n_band_keys: float
    n_other_keys: float
    threshold: float

    @property
    def is_sampling(self) -> bool:
        """Whether texts are found by sampled shingles instead of bands."""
        return not isinstance(self.plan, BandPlan)

    @property
    def share_by_bands(self) -> float:
        """Share of the texts that are found by bands."""
        return self.n_band_keys / self.plan.bands if isinstance(self.plan, BandPlan) else 0.0

    @property
    def rare_up_to(self) -> int:
        """Number of shingles up to which texts are searched by their rare shingles."""
        plan = self.plan
        return plan.exact_up_to(self.threshold) if isinstance(plan, BandPlan) else plan.exact_below - 1

    @property
    def share_by_rare(self) -> float:
        """Share of the texts that are searched by their rare shingles."""
        return float((self.sample.sizes <= self.rare_up_to).mean()) if len(self.sample.sizes) else 0.0

    @property
    def n_unrelated(self) -> float | None:
        """Predicted number of unrelated pairs; None if the corpus has pairs and the sample has none."""
        is_predicted = len(self.sample.similarity) > 0 or not self.sample.n_pairs
        return self.plan.expected_candidates if is_predicted else None

    def candidates_range(self) -> tuple[float, float] | None:
        """Return a range that contains the number of unrelated pairs for about 95% of the samples.

        The standard error is that of a mean over pairs, from the means of the texts (W. Hoeffding, 1948), the range
        that of a log-normal distribution; pairs that are too rare for the sample are added to its upper end.
        """
        sample, expected = self.sample, self.n_unrelated
        if expected is None:
            return None
        unseen, n = _UNSEEN * sample.scale, len(sample.sizes)
        if sample.scale <= 1:
            return expected, expected
        if not expected or n < _MIN_TEXTS:
            return 0.0, min(expected + unseen, sample.n_pairs)
        if isinstance(self.plan, BandPlan):
            chance = self.plan.compared_probability(sample, self.threshold)
        else:
            chance = np.where(sample.is_match, 0.0, found_by_sample(sample.n_common, self.plan.rate))
        of_text = np.bincount(sample.left, chance, n) + np.bincount(sample.right, chance, n)
        error = 2 * float(of_text.std(ddof=1) / of_text.mean()) / math.sqrt(n)
        factor = math.exp(_STANDARD_ERRORS * error)
        return expected / factor, min(max(expected * factor, expected + unseen), sample.n_pairs)
