"""Cluster resources for cleaning a corpus, estimated from a sample."""

from __future__ import annotations

import math

from nearkin.options.dedup import DedupOptions
from nearkin.planning.cluster_needs import DRIVER_BYTES, PYTHON_BYTES, ClusterNeeds, CorpusForecast, Shuffle
from nearkin.planning.search import BandPlan
from nearkin.stages.search.prefixes import COUNT_BITS
from nearkin.workflows.dedup.on_spark.keying import EntryMeetings, n_bins_for
from nearkin.workflows.dedup.on_spark.partitions import (
    ASKS,
    ENTRIES,
    MATCHES,
    OCCURRENCES,
    PAIRS,
    PROFILES,
    TEXTS,
    partition_bytes_of,
)

_HASH_BYTES = 8
_KEPT_BYTES = 300
"""Approximate size of a document in the tables and in the files of the stages."""


def cluster_needs(forecast: CorpusForecast, options: DedupOptions, n_cores: int) -> ClusterNeeds:
    """Return the resources of a run on a cluster with ``n_cores``, without those of near-duplicate pairs."""
    n, n_texts, plan = forecast.n_documents, forecast.n_texts, forecast.plan
    meetings = EntryMeetings.of(plan, forecast.sample, options, n_cores)
    total_bytes = n * forecast.document_bytes
    partition_bytes = min(partition_bytes_of(total_bytes, n_cores), total_bytes)
    n_partitions = max(1, round(total_bytes / partition_bytes))
    candidates, away = plan.expected_candidates, 1 - 1 / n_partitions
    profile_bytes = PROFILES.rows.row_bytes + n_bins_for(forecast.sample.mean_size)
    sampled = "sampled shingles" if forecast.is_sampling else "rare shingles of short texts"
    counted = "how often shingles occur" if forecast.is_sampling else "how often shingles of short texts occur"
    shuffles = (
        ("bands", "keys of bands", n_texts * forecast.n_band_keys * ENTRIES.row_bytes),
        ("bands", counted, _counted_bytes(forecast, options, n_partitions)),
        (
            "samples" if forecast.is_sampling else "prefixes",
            sampled,
            n_texts * forecast.n_other_keys * ENTRIES.row_bytes,
        ),
        ("candidates", "candidates", candidates * (2 * PAIRS.row_bytes + away * ASKS.row_bytes)),
        ("candidates", "profiles of one text of each", candidates * away * profile_bytes),
    )
    return ClusterNeeds(
        shuffles=Shuffle.of_all(shuffles),
        n_tasks=max(n_partitions, meetings.n_targets),
        core_bytes=int(_core_bytes(forecast, partition_bytes, candidates / n_partitions, profile_bytes)),
        driver_bytes=PYTHON_BYTES + n * DRIVER_BYTES,
        folder_bytes=int(total_bytes) + n * _KEPT_BYTES,
        pair_bytes=int(_pair_bytes(forecast, profile_bytes)),
    )


def _counted_bytes(forecast: CorpusForecast, options: DedupOptions, n_partitions: int) -> float:
    """Return the size of the counts; no shingle is assumed to be in two partitions."""
    sizes = forecast.sample.sizes
    if isinstance(forecast.plan, BandPlan):
        sizes = sizes[sizes <= forecast.plan.exact_up_to(options.threshold)]
    n_counted = int(sizes.sum()) / max(len(forecast.sample.sizes), 1)
    n_buckets = 1 << COUNT_BITS
    n_filled = n_buckets * -math.expm1(-n_counted * forecast.n_texts / n_partitions / n_buckets)
    return n_partitions * n_filled * OCCURRENCES.row_bytes


def _core_bytes(forecast: CorpusForecast, partition_bytes: float, candidates: float, profile_bytes: int) -> float:
    n_texts = partition_bytes / forecast.document_bytes
    keys = 2 * ENTRIES.row_bytes * n_texts * (forecast.n_band_keys + forecast.n_other_keys)
    sets = 3 * _HASH_BYTES * n_texts * forecast.sample.mean_size
    profiles = 2 * profile_bytes * (n_texts + candidates) + 2 * PAIRS.row_bytes * candidates
    return PYTHON_BYTES + partition_bytes + max(keys, sets, profiles)


def _pair_bytes(forecast: CorpusForecast, profile_bytes: int) -> float:
    """Return the bytes of a pair: found in bands, screened, verified, and sent to its group."""
    candidate = 2 * PAIRS.row_bytes + ASKS.row_bytes + profile_bytes
    text = TEXTS.rows.row_bytes + forecast.document_bytes
    return candidate + text + MATCHES.row_bytes
