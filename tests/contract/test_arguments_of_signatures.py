"""Arguments of `nearkin.signatures`: whatever comes, a wrong one is refused with a `ParameterError`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearkin
from nearkin import signatures as parts
from nearkin.errors import NearkinError, ParameterError

TEXTS = pa.array(["a note on the rent", "a note on the rent, again"], pa.large_string())
COUNTED = parts.count_features(TEXTS, nearkin.Characters(4))
SETS = nearkin.Words(2).sets(TEXTS)
MIN_HASH, SIMHASH, INDEX = parts.MinHash(128), parts.Simhash(64), parts.SimilarityIndex()
SIGNED, BITS = MIN_HASH.sign(SETS), SIMHASH.sign(COUNTED)
STATISTICS, GROWING = parts.Statistics.of([COUNTED]), parts.GrowingStatistics(COUNTED.fingerprint)
HASHES, NUMBERS = np.array([1, 2], np.uint64), np.array([1, 2])
VECTORS = parts.TermVectors(HASHES, np.array([1.0, 2.0]), np.array([0, 2]), "x")
BANDS = parts.Bands(4, 8)
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "count_features": (parts.count_features, (TEXTS, nearkin.Characters(4))),
    "nearest": (parts.nearest, (BITS, BITS, 3)),
    "neighbour_pairs": (parts.neighbour_pairs, (BITS, 3)),
    "Bands": (parts.Bands, (4, 8)),
    "Bands.keys": (BANDS.keys, (SIGNED,)),
    "Bands.probability": (BANDS.probability, (0.5,)),
    "BitMinHash": (parts.BitMinHash, (64, 0)),
    "BitMinHash.sign": (parts.BitMinHash(64).sign, (COUNTED,)),
    "GrowingStatistics": (parts.GrowingStatistics, ("x",)),
    "GrowingStatistics.add": (GROWING.add, (COUNTED,)),
    "GrowingStatistics.add_and_weigh": (GROWING.add_and_weigh, (COUNTED,)),
    "GrowingStatistics.merge": (GROWING.merge, (STATISTICS,)),
    "GrowingStatistics.frozen": (GROWING.frozen, ()),
    "MinHash": (parts.MinHash, (128, 0)),
    "MinHash.sign": (MIN_HASH.sign, (SETS,)),
    "MinHash.similarity": (MIN_HASH.similarity, (SIGNED, SIGNED)),
    "OnlineTopSig": (parts.OnlineTopSig, (GROWING, 64)),
    "OnlineTopSig.sign": (parts.OnlineTopSig(GROWING, 64).sign, (COUNTED,)),
    "RandomProjection": (parts.RandomProjection, (64, 0)),
    "RandomProjection.sign": (parts.RandomProjection(64).sign, (VECTORS,)),
    "Simhash": (parts.Simhash, (64, SIMHASH.hash, 0)),
    "Simhash.sign": (SIMHASH.sign, (COUNTED,)),
    "SimilarityIndex": (parts.SimilarityIndex, ()),
    "SimilarityIndex.parse": (parts.SimilarityIndex.parse, (INDEX.spec,)),
    "SimilarityIndex.index": (INDEX.index, (TEXTS,)),
    "SimilarityIndex.index_of_shingles": (INDEX.index_of_shingles, (np.array([1], np.int32), np.array([0, 1]))),
    "Statistics": (parts.Statistics, ("x", HASHES, NUMBERS, NUMBERS, 2)),
    "Statistics.of": (parts.Statistics.of, ([COUNTED],)),
    "Statistics.frequencies": (STATISTICS.frequencies, (HASHES,)),
    "Statistics.merged": (STATISTICS.merged, (STATISTICS,)),
    "TermVectors": (parts.TermVectors, (HASHES, np.array([1.0, 2.0]), np.array([0, 2]), "x")),
    "TopSig": (parts.TopSig, (64, 0.5, 0)),
    "TopSig.sign": (parts.TopSig(64).sign, (COUNTED,)),
    "WeightedTopSig": (parts.WeightedTopSig, (STATISTICS, 64)),
    "WeightedTopSig.sign": (parts.WeightedTopSig(STATISTICS, 64).sign, (COUNTED,)),
}
WRONG = ("x", None, 1.5, -1, True, 10**400, [], [1], object(), b"x", pa.array(["x"]))


def test_every_part_is_here() -> None:
    found = set[str]()
    for name in parts.__all__:
        one = getattr(parts, name)
        methods = inspect.getmembers(one, callable) if inspect.isclass(one) else ()
        found |= {name, *(f"{name}.{method}" for method, _ in methods if not method.startswith("_"))}
    assert found - {"Statistics.save", "Statistics.load"} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_wrong_is_refused_and_what_is_right_is_not(name: str) -> None:
    function, right = CALLS[name]
    function(*right)
    for place in range(len(right)):
        for wrong in WRONG:
            given = [*right[:place], wrong, *right[place + 1 :]]
            try:
                function(*given)
            except NearkinError:
                continue
            is_number = isinstance(wrong, int | float | None) and isinstance(right[place], int | float)
            is_of_its_kind = isinstance(wrong, type(right[place]))
            assert is_number or is_of_its_kind, (place, wrong)


@pytest.mark.parametrize("wrong", [None, [], "a\0b", 7])
def test_statistics_are_files(wrong: object) -> None:
    for function in (STATISTICS.save, parts.Statistics.load):
        with pytest.raises(ParameterError, match=r"path: must be a path"):
            function(wrong)


@pytest.mark.parametrize("similarity", [float("nan"), np.array([0.5, np.nan]), np.float64("nan")])
def test_a_probability_of_no_number_is_refused(similarity: Any) -> None:
    with pytest.raises(ParameterError, match=r"^similarity: "):
        BANDS.probability(similarity)
