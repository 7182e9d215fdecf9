"""What cleaning a corpus would take, by a sample of its documents: nothing is searched."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from nearkin.errors import SourceError
from nearkin.planning.search import BandPlan, Sample
from nearkin.runs.meter import Meter
from nearkin.runs.progress import Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.workflows.dedup.corpus import check_not_too_many
from nearkin.workflows.dedup.job import collect
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan, keys_a_text, plan_search
from nearkin.workflows.dedup.sampling import look_ahead
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


@dataclass(frozen=True, slots=True)
class Forecast:
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
    plan: Plan
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


def forecast(
    asked: ReadingRequest,
    options: DedupOptions,
    *,
    n_documents: int | None,
    resources: Resources,
    progress: Progress | None = None,
) -> Forecast:
    """Read a sample, compare some of its documents, and plan the search of a corpus of any size like it.

    Parameters
    ----------
    asked : ReadingRequest
        The sample: some thousands of documents.
    options : DedupOptions
    n_documents : int or None
        Of the corpus; None: as many as in the sample.
    resources : Resources
    progress : Progress, optional

    Raises
    ------
    SourceError
        No document can be read.
    InputError, ParameterError
        See `nearkin.errors`.
    """
    meter = Meter(progress or Silent())
    with tempfile.TemporaryDirectory(prefix="nearkin-plan-") as work:
        texts = asked.opened(meter.progress)
        spool = Spool(Path(work) / SPOOL)
        corpus, _ = collect(texts.inputs, None, spool, options, rules=texts.rules, resources=resources, meter=meter)
        if not len(corpus):
            names = ", ".join(source.name for source in texts.sources[:3])
            raise SourceError(f"{names}: holds no documents, and the plan needs some.")
        n_documents = n_documents or len(corpus)
        check_not_too_many(n_documents)
        n_texts = max(1, round(n_documents * corpus.n_nodes / len(corpus)))
        with meter.stage("compare", 0, "steps"):
            sample = look_ahead(corpus, n_texts, options.shingle)
        n_bytes = sum(chunk.path.stat().st_size for chunk in corpus.chunks)
    plan = plan_search(sample, options)
    keys = keys_a_text(sample, plan, options)
    return Forecast(n_documents, n_texts, len(corpus), n_bytes / len(corpus), sample, plan, *keys)
