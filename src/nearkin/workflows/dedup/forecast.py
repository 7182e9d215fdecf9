"""Forecast of cleaning a corpus, from a sample of its documents."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from nearkin.errors import SourceError
from nearkin.nouns import first_of
from nearkin.options.dedup import DedupOptions
from nearkin.planning.cluster_needs import CorpusForecast
from nearkin.runs.progress import Meter, Progress, Silent
from nearkin.runs.spool import SPOOL, Spool
from nearkin.workflows.dedup.corpus import EMPTY, UNREADABLE, check_not_too_many
from nearkin.workflows.dedup.job import collect
from nearkin.workflows.dedup.plans import describe_plan, keys_a_text, look_ahead, plan_as_stored, plan_search
from nearkin.workflows.reading.request import ReadingRequest
from nearkin.workflows.resources import Resources


def forecast(
    request: ReadingRequest,
    options: DedupOptions,
    *,
    n_documents: int | None,
    resources: Resources,
    progress: Progress | None = None,
) -> CorpusForecast:
    """Read a sample, compare some of its documents, and plan the search of a similar corpus of ``n_documents``."""
    meter = Meter(progress or Silent())
    with tempfile.TemporaryDirectory(prefix="nearkin-plan-") as work:
        texts = request.opened(meter.progress)
        spool = Spool(Path(work) / SPOOL)
        corpus, _ = collect(texts.inputs, None, spool, options, rules=texts.rules, resources=resources, meter=meter)
        if not len(corpus):
            names = first_of([source.name for source in texts.sources], 3)
            raise SourceError(f"{names}: no documents; a plan needs a sample.")
        n_documents = n_documents or len(corpus)
        check_not_too_many(n_documents)
        n_texts = max(1, round(n_documents * corpus.n_nodes / len(corpus)))
        with meter.stage("compare", 0, "steps"):
            sample = look_ahead(corpus, n_texts, options)
        n_bytes = sum(chunk.path.stat().st_size for chunk in corpus.chunks)
    plan = plan_search(sample, options)
    n_band_keys, n_other_keys = keys_a_text(sample, plan, options)
    return CorpusForecast(
        n_documents=n_documents,
        n_texts=n_texts,
        n_sampled=len(corpus),
        n_without_text=int(np.isin(corpus.status, (EMPTY, UNREADABLE)).sum()),
        document_bytes=n_bytes / len(corpus),
        sample=sample,
        plan=plan,
        n_band_keys=n_band_keys,
        n_other_keys=n_other_keys,
        threshold=options.threshold,
    )


def in_words(told: CorpusForecast, options: DedupOptions) -> str:
    """Return the plan of a forecast in one sentence."""
    has_cost = told.n_unrelated is not None
    return describe_plan(told.plan, options, share_by_bands=told.share_by_bands, has_predicted_cost=has_cost)


def forecast_as_stored(told: CorpusForecast, options: DedupOptions) -> dict[str, object]:
    """Return a forecast as JSON types."""
    plan = plan_as_stored(told.plan) | {"expected_candidates": told.n_unrelated}
    if not told.is_sampling and not told.share_by_bands:
        plan |= {"kind": "rare shingles"} | dict.fromkeys(("bands", "rows", "size"))
    between = None if plan["expected_candidates"] is None else told.candidates_range()
    return {
        "documents": told.n_documents,
        "distinct_texts": told.n_texts,
        "expected_candidates_range": None if between is None else list(between),
        "parameters": options.in_words(),
        "plan": plan,
        "keys_of_bands_a_text": told.n_band_keys,
        "other_keys_a_text": told.n_other_keys,
        "sample": {
            "documents": told.n_sampled,
            "compared": len(told.sample.sizes),
            "mean_shingles": told.sample.mean_size,
            "document_bytes": told.document_bytes,
        },
    }
