"""What a sample tells of a corpus to clean."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.planning.search import BandPlan, Sample, SamplingPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusForecast:
    """What a sample tells of a corpus.

    Parameters
    ----------
    n_documents, n_texts : int
        Of the corpus, and how many of them have a text of their own: as large a share as in the sample, which is an
        upper limit, since what is sampled has fewer copies in it.
    n_sampled : int
        Documents of the sample.
    document_bytes : float
        Of a document where the run writes it down, a mean.
    sample : Sample
        The texts that were compared with one another.
    plan : BandPlan or SamplingPlan
    n_band_keys, n_other_keys : float
        Keys that a text is found by, a mean: bands, and shingles.
    """

    n_documents: int
    n_texts: int
    n_sampled: int
    document_bytes: float
    sample: Sample
    plan: BandPlan | SamplingPlan
    n_band_keys: float
    n_other_keys: float

    @property
    def is_sampling(self) -> bool:
        """The texts are found by sampled shingles, not by bands."""
        return not isinstance(self.plan, BandPlan)

    @property
    def share_by_bands(self) -> float:
        """Of texts, those that are found by bands."""
        return self.n_band_keys / self.plan.bands if isinstance(self.plan, BandPlan) else 0.0
