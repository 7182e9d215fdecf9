"""What the Hamming search refuses, says and keeps small."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from nearkin.errors import FingerprintError, ParameterError
from nearkin.records import BitSignatures
from nearkin.stages.search.hamming.neighbours import nearest, neighbour_pairs
from nearkin.stages.search.hamming.pairs import sort_together
from nearkin.stages.search.hamming.plan import plan_hamming


def signatures(packed, fingerprint="topsig;bits=64") -> BitSignatures:
    packed = np.asarray(packed, np.uint8)
    return BitSignatures(packed, np.ones(len(packed), bool), fingerprint)


def random_words(n: int, n_words: int = 1):
    return np.random.default_rng(n).integers(0, 2**64, (n, n_words), dtype=np.uint64)


@pytest.mark.parametrize("distance", [-1, 64, 1000, 2.0, "3", True, None])
def test_distances_that_make_no_sense(distance):
    with pytest.raises(ParameterError, match=r"distance: must be an int from 0 to 63"):
        neighbour_pairs(signatures(np.zeros((2, 8))), distance)
    with pytest.raises(ParameterError, match=r"distance: "):
        nearest(signatures(np.zeros((1, 8))), signatures(np.zeros((2, 8))), distance)


def test_signatures_of_two_methods_are_not_compared():
    one, other = signatures(np.zeros((2, 8)), "topsig;bits=64"), signatures(np.zeros((2, 8)), "simhash;bits=64")
    with pytest.raises(FingerprintError, match=r"method=topsig, .*method=simhash"):
        nearest(one, other, 3)
    with pytest.raises(FingerprintError, match=r"bits=64, .*bits=128"):
        nearest(one, signatures(np.zeros((2, 16))), 3)


def test_a_result_is_asked_for_no_more_than_was_searched():
    found = neighbour_pairs(signatures(np.eye(8)), 3)
    assert len(found.within(2)) == 28
    assert len(found.within(1)) == 0
    with pytest.raises(ParameterError, match="from 0 to 3, the searched distance"):
        found.within(4)
    with pytest.raises(ParameterError, match="block_pairs"):
        next(found.blocks(block_pairs=0))


@pytest.mark.parametrize("method", ["tables", "brute force"])
def test_too_many_pairs_are_refused_and_not_cut(method):
    packed = np.random.default_rng(0).integers(0, 8, (400, 8)).astype(np.uint8)
    with pytest.raises(ParameterError, match="short enough for at most 1,000 pairs"):
        neighbour_pairs(signatures(packed), 20, method=method, max_pairs=1000)


def test_equal_signatures_are_counted_and_not_multiplied():
    packed = np.random.default_rng(0).integers(0, 256, (400_000, 8)).astype(np.uint8)
    packed[100_000:] = 77
    tracemalloc.start()
    found = neighbour_pairs(signatures(packed), 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_document_pairs == len(found) + 300_000 * 299_999 // 2
    assert peak < 64 * 2**20
    blocks = found.blocks(block_pairs=500_000)
    assert [len(next(blocks)) <= 500_000 for _ in range(3)] == [True] * 3


def test_the_plan_follows_size_distance_and_skew():
    few = plan_hamming(random_words(100), None, n_bits=64, distance=3)
    near = plan_hamming(random_words(200_000), None, n_bits=64, distance=3)
    far = plan_hamming(random_words(200_000), None, n_bits=64, distance=28)
    assert [few.method, near.method, far.method] == ["brute force", "tables", "brute force"]
    skewed_words = random_words(200_000) & np.uint64(0xFFFF_FFFF_FF00_0000)
    skewed = plan_hamming(skewed_words, None, n_bits=64, distance=3, method="tables")
    assert skewed.n_blocks >= near.n_blocks
    assert skewed.expected_comparisons > near.expected_comparisons / 100
    informative = np.bitwise_count(skewed.blocks[:, 0] & np.uint64(0xFFFF_FFFF_FF00_0000))
    assert informative.max() - informative.min() <= 1
    assert np.bitwise_count(skewed.blocks).sum() == 64
    one = plan_hamming(random_words(200_000), random_words(1), n_bits=64, distance=3)
    assert one.method == "brute force"
    many = plan_hamming(random_words(200_000), random_words(50_000), n_bits=64, distance=3)
    assert many.method == "tables"


def test_rows_too_large_to_be_packed_are_sorted_too():
    left, right = np.array([2**31, 5, 5], np.uint32), np.array([2**32 - 1, 7, 6], np.uint32)
    distances = np.array([300, 2, 1], np.uint16)
    sort_together(left, right, distances)
    assert left.tolist() == [5, 5, 2**31]
    assert right.tolist() == [6, 7, 2**32 - 1]
    assert distances.tolist() == [1, 2, 300]
