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
    from nearkin.stages.features.shingles import count_features as count_features
    from nearkin.stages.search.bands import Bands as Bands
    from nearkin.stages.search.hamming.neighbours import nearest as nearest
    from nearkin.stages.search.hamming.neighbours import neighbour_pairs as neighbour_pairs
    from nearkin.stages.signatures.minhash import BitMinHash as BitMinHash
    from nearkin.stages.signatures.minhash import MinHash as MinHash
    from nearkin.stages.signatures.random_projection import RandomProjection as RandomProjection
    from nearkin.stages.signatures.random_projection import TermVectors as TermVectors
    from nearkin.stages.signatures.simhash import Simhash as Simhash
    from nearkin.stages.signatures.similarity_index import SimilarityIndex as SimilarityIndex
    from nearkin.stages.signatures.statistics import GrowingStatistics as GrowingStatistics
    from nearkin.stages.signatures.statistics import Statistics as Statistics
    from nearkin.stages.signatures.topsig import OnlineTopSig as OnlineTopSig
    from nearkin.stages.signatures.topsig import TopSig as TopSig
    from nearkin.stages.signatures.topsig import WeightedTopSig as WeightedTopSig

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "nearkin.stages.features.shingles": "count_features",
        "nearkin.stages.search.bands": "Bands",
        "nearkin.stages.search.hamming.neighbours": "nearest neighbour_pairs",
        "nearkin.stages.signatures.minhash": "BitMinHash MinHash",
        "nearkin.stages.signatures.random_projection": "RandomProjection TermVectors",
        "nearkin.stages.signatures.simhash": "Simhash",
        "nearkin.stages.signatures.similarity_index": "SimilarityIndex",
        "nearkin.stages.signatures.statistics": "GrowingStatistics Statistics",
        "nearkin.stages.signatures.topsig": "OnlineTopSig TopSig WeightedTopSig",
    },
)
