"""Forecast for a corpus to clean, from a sample."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.planning.search import BandPlan, Sample, SamplingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusForecast:
    """Forecast for a corpus, from a sample.

    Parameters
    ----------
    n_documents, n_texts : int
        Documents of the corpus, and distinct texts among them: the same share as in the sample, which is an
        upper limit, since a sample contains fewer copies.
    n_sampled, n_without_text : int
        Documents of the sample, and the empty and unreadable ones among them.
    document_bytes : float
        Mean size of a document in the run's files.
    sample : Sample
        Texts that were compared with one another.
    plan : BandPlan or SamplingPlan
    n_band_keys, n_other_keys : float
        Mean number of keys per text: bands, and shingles.
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

    @property
    def is_sampling(self) -> bool:
        """Whether texts are found by sampled shingles instead of bands."""
        return not isinstance(self.plan, BandPlan)

    @property
    def share_by_bands(self) -> float:
        """Share of the texts that are found by bands."""
        return self.n_band_keys / self.plan.bands if isinstance(self.plan, BandPlan) else 0.0
