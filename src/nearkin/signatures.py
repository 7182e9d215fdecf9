"""Signature methods, and the search for signatures that differ in few bits: parts for your own pipeline.

>>> import nearkin, pyarrow as pa
>>> texts = pa.array(["a note on the rent", "a note on the rent, again"], pa.large_string())
>>> MinHash(128).sign(nearkin.Words(2).sets(texts)).slots.shape
(2, 128)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin._lazy import lazy

if TYPE_CHECKING:
    from nearkin.stages.features.shingles import count_features
    from nearkin.stages.search.bands import Bands
    from nearkin.stages.search.hamming.neighbours import nearest, neighbour_pairs
    from nearkin.stages.signatures.minhash import BitMinHash, MinHash
    from nearkin.stages.signatures.random_projection import RandomProjection, TermVectors
    from nearkin.stages.signatures.simhash import Simhash
    from nearkin.stages.signatures.similarity_index import SimilarityIndex
    from nearkin.stages.signatures.statistics import GrowingStatistics, Statistics
    from nearkin.stages.signatures.topsig import OnlineTopSig, TopSig, WeightedTopSig

__all__ = [
    "Bands",
    "BitMinHash",
    "GrowingStatistics",
    "MinHash",
    "OnlineTopSig",
    "RandomProjection",
    "Simhash",
    "SimilarityIndex",
    "Statistics",
    "TermVectors",
    "TopSig",
    "WeightedTopSig",
    "count_features",
    "nearest",
    "neighbour_pairs",
]
__getattr__ = lazy(
    __name__,
    {
        "Bands": "nearkin.stages.search.bands",
        "BitMinHash": "nearkin.stages.signatures.minhash",
        "GrowingStatistics": "nearkin.stages.signatures.statistics",
        "MinHash": "nearkin.stages.signatures.minhash",
        "OnlineTopSig": "nearkin.stages.signatures.topsig",
        "RandomProjection": "nearkin.stages.signatures.random_projection",
        "Simhash": "nearkin.stages.signatures.simhash",
        "SimilarityIndex": "nearkin.stages.signatures.similarity_index",
        "Statistics": "nearkin.stages.signatures.statistics",
        "TermVectors": "nearkin.stages.signatures.random_projection",
        "TopSig": "nearkin.stages.signatures.topsig",
        "WeightedTopSig": "nearkin.stages.signatures.topsig",
        "count_features": "nearkin.stages.features.shingles",
        "nearest": "nearkin.stages.search.hamming.neighbours",
        "neighbour_pairs": "nearkin.stages.search.hamming.neighbours",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
