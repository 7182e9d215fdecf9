"""Nearkin finds documents that say nearly the same thing.

What it reports is verified, and what it may have missed is measured. The names below are loaded when they are first
used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nearkin._version import __version__

if TYPE_CHECKING:
    from nearkin.collection.collection import Collection
    from nearkin.errors import NearkinError
    from nearkin.stages.documents.normalisation import Normalisation
    from nearkin.stages.features.counting import count_features
    from nearkin.stages.features.shingles import Characters, Words
    from nearkin.stages.search.bands import Bands
    from nearkin.stages.search.hamming.neighbours import nearest, neighbour_pairs
    from nearkin.stages.signatures.bit_minhash import BitMinHash
    from nearkin.stages.signatures.minhash import MinHash
    from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
    from nearkin.stages.signatures.simhash import Simhash
    from nearkin.stages.signatures.similarity_index import SimilarityIndex
    from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
    from nearkin.stages.signatures.topsig import OnlineTopSig, TopSig, WeightedTopSig
    from nearkin.stages.signatures.truncated_minhash import TruncatedMinHash
    from nearkin.workflows.comparing import ComparedTexts, compare
    from nearkin.workflows.dedup.options import DedupOptions
    from nearkin.workflows.dedup.tables_in_memory import DedupResult, dedup
    from nearkin.workflows.stream import StreamDeduplicator, StreamMatch

_MODULES = {
    "Collection": "nearkin.collection.collection",
    "ComparedTexts": "nearkin.workflows.comparing",
    "compare": "nearkin.workflows.comparing",
    "dedup": "nearkin.workflows.dedup.tables_in_memory",
    "DedupResult": "nearkin.workflows.dedup.tables_in_memory",
    "DedupOptions": "nearkin.workflows.dedup.options",
    "StreamDeduplicator": "nearkin.workflows.stream",
    "StreamMatch": "nearkin.workflows.stream",
    "MinHash": "nearkin.stages.signatures.minhash",
    "Bands": "nearkin.stages.search.bands",
    "Words": "nearkin.stages.features.shingles",
    "Characters": "nearkin.stages.features.shingles",
    "Normalisation": "nearkin.stages.documents.normalisation",
    "NearkinError": "nearkin.errors",
    "BitMinHash": "nearkin.stages.signatures.bit_minhash",
    "GrowingStatistics": "nearkin.stages.signatures.statistics",
    "OnlineTopSig": "nearkin.stages.signatures.topsig",
    "RandomProjection": "nearkin.stages.signatures.random_projection",
    "Simhash": "nearkin.stages.signatures.simhash",
    "SimilarityIndex": "nearkin.stages.signatures.similarity_index",
    "Statistics": "nearkin.stages.signatures.statistics",
    "TermVectors": "nearkin.stages.signatures.random_projection",
    "TopSig": "nearkin.stages.signatures.topsig",
    "TruncatedMinHash": "nearkin.stages.signatures.truncated_minhash",
    "WeightedTopSig": "nearkin.stages.signatures.topsig",
    "count_features": "nearkin.stages.features.counting",
    "nearest": "nearkin.stages.search.hamming.neighbours",
    "neighbour_pairs": "nearkin.stages.search.hamming.neighbours",
}

__all__ = [
    "Bands",
    "BitMinHash",
    "Characters",
    "Collection",
    "ComparedTexts",
    "DedupOptions",
    "DedupResult",
    "GrowingStatistics",
    "MinHash",
    "NearkinError",
    "Normalisation",
    "OnlineTopSig",
    "RandomProjection",
    "Simhash",
    "SimilarityIndex",
    "Statistics",
    "StreamDeduplicator",
    "StreamMatch",
    "TermVectors",
    "TopSig",
    "TruncatedMinHash",
    "WeightedTopSig",
    "Words",
    "__version__",
    "compare",
    "count_features",
    "dedup",
    "nearest",
    "neighbour_pairs",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'nearkin' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
