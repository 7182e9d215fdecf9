"""Rows of features that are kept: forgotten when there are too many, and whole or not there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from nearkin.records import I64, U8, FeatureCounts
from nearkin.stages.features.shingles import Characters, count_features
from nearkin.stages.signatures.numbering import FeatureNumbers
from nearkin.stages.signatures.simhash import FeatureVectors


def counted(seed: int) -> FeatureCounts:
    letters = np.random.default_rng(seed).choice(list("abcdefghij"), 3000)
    return count_features(pa.array(["".join(letters)], pa.large_string()), Characters(4))


def own_hashes(given: FeatureCounts, chosen: I64) -> U8:
    return given.hashes[chosen].view(np.uint8).reshape(-1, 8)


@pytest.mark.parametrize("most", [1, 2000, 1 << 20])
def test_rows_belong_to_their_features_whatever_is_forgotten(most):
    vectors = FeatureVectors(own_hashes, 8, max_features=most)

    def check(seed: int) -> bool:
        given = counted(seed % 7)
        rows, row_of = vectors.rows_of(given)
        return bool((rows[row_of].view(np.uint64)[:, 0] == given.hashes).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(60)))


def test_what_was_interrupted_is_made_again():
    is_broken = [True]

    def hashing(given: FeatureCounts, chosen: I64) -> U8:
        if is_broken.pop() if is_broken else False:
            raise KeyboardInterrupt
        return own_hashes(given, chosen)

    vectors, given = FeatureVectors(hashing, 8), counted(0)
    with pytest.raises(KeyboardInterrupt):
        vectors.rows_of(given)
    rows, row_of = vectors.rows_of(given)
    assert (rows[row_of].view(np.uint64)[:, 0] == given.hashes).all()


def test_sorted_hashes_do_not_crowd_one_corner():
    """Else adding the sorted features of statistics takes time that grows with their square."""
    hashes = np.sort(np.random.default_rng(0).integers(0, 2**64, 400_000, np.uint64))
    numbers = FeatureNumbers()
    assert (numbers.add(hashes[:1000]) == np.arange(1000)).all()
    places = np.flatnonzero(numbers._table)
    quarters = np.bincount(4 * places // len(numbers._table), minlength=4)
    assert quarters.min() > 200
    assert (numbers.add(hashes) == np.arange(len(hashes))).all()
