"""The Hamming search against a look at every pair of documents, one bit after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import every, examples
from nearkin.records import BitSignatures
from nearkin.stages.search.hamming.neighbours import nearest, neighbour_pairs

KINDS = ["random", "families", "few distinct", "skewed", "correlated", "zeros"]


def made(kind: str, n: int, n_bits: int, seed: int) -> BitSignatures:
    """Signatures of a kind; one in ten documents has no features."""
    chance = np.random.default_rng(seed)
    bits = chance.random((n, n_bits)) < 0.5
    if kind == "families":
        bases = bits[: max(1, n // 8)]
        bits = bases[chance.integers(0, len(bases), n)] ^ (chance.random((n, n_bits)) < 2 / n_bits)
    elif kind == "few distinct":
        bits = bits[chance.integers(0, min(n, 5), n)] if n else bits
    elif kind == "skewed":
        bits = chance.random((n, n_bits)) < np.minimum(0.5, 1.5 / np.arange(1, n_bits + 1))
    elif kind == "correlated":
        bits = np.repeat(bits[:, : n_bits // 8], 8, axis=1) ^ (chance.random((n, n_bits)) < 0.02)
    elif kind == "zeros":
        bits = np.zeros((n, n_bits), bool)
    has_features = chance.random(n) < 0.9
    bits[~has_features] = False
    packed = np.packbits(bits, axis=1).reshape(n, n_bits // 8)
    return BitSignatures(packed, has_features, f"kind={kind};bits={n_bits}")


def every_pair(left: BitSignatures, right: BitSignatures, distance: int):
    """Rows and distance of all pairs within the distance, by the definition: three arrays, in order of rows."""
    asked, words = (as_words(one.packed) for one in (left, right))
    distances = np.zeros((len(asked), len(words)), np.int64)
    for row, one in enumerate(asked):
        distances[row] = np.bitwise_count(one ^ words).sum(axis=1)
    near = (distances <= distance) & left.has_features[:, None] & right.has_features
    rows, others = np.nonzero(near)
    return rows, others, distances[near]


def as_words(packed):
    """Signatures as whole numbers of 64 bits, filled up with zeros."""
    n_missing = -packed.shape[1] % 8
    return np.pad(packed, ((0, 0), (0, n_missing))).view(np.uint64)


def check_pairs(signatures: BitSignatures, distance: int, **options) -> None:
    """Everything that a result says."""
    found = neighbour_pairs(signatures, distance, **options)
    rows, others, distances = every_pair(signatures, signatures, distance)
    truth = [part[rows < others] for part in (rows, others, distances)]
    assert found.n_document_pairs == len(truth[0])
    blocks = list(found.blocks(block_pairs=5000))
    assert all(len(block) for block in blocks)
    for field, expected in zip(("left", "right", "distance"), truth, strict=True):
        parts = [getattr(block, field) for block in blocks]
        np.testing.assert_array_equal(np.concatenate([np.zeros(0, int), *parts]), expected)
    # distinct signatures: each pair once, in order
    assert len(found.classes) == len(np.unique(signatures.packed[signatures.has_features], axis=0))
    distinct = signatures.packed[found.classes.firsts]
    one_each = BitSignatures(distinct, np.ones(len(distinct), bool), "")
    rows, others, distances = every_pair(one_each, one_each, distance)
    for field, expected in zip(("left", "right", "distance"), (rows, others, distances), strict=True):
        np.testing.assert_array_equal(getattr(found, field), expected[rows < others])


def check_nearest(queries: BitSignatures, signatures: BitSignatures, distance: int, **options) -> None:
    """Every neighbour, the nearest first."""
    found = nearest(queries, signatures, distance, **options)
    query, row, distances = every_pair(queries, signatures, distance)
    order = np.lexsort((row, distances, query))
    for field, expected in zip(("query", "row", "distance"), (query, row, distances), strict=True):
        np.testing.assert_array_equal(getattr(found, field), expected[order])


@st.composite
def cases(draw):
    n_bits = draw(st.sampled_from([8, 16, 32, 64, 72, 128, 200, 256, 512, 1024]))
    distance = draw(st.one_of(st.integers(0, min(n_bits - 1, 8)), st.integers(0, n_bits - 1)))
    return draw(st.sampled_from(KINDS)), n_bits, distance, draw(st.integers(0, 90)), draw(st.integers(0, 2**32))


@given(cases(), st.sampled_from([None, "tables", "brute force"]))
@example(("random", 8, 7, 90, 0), "tables")
@example(("families", 64, 3, 90, 1), "tables")
@example(("families", 1024, 40, 90, 1), "tables")
@settings(max_examples=examples(150))
def test_small_collections(case, method):
    kind, n_bits, distance, n, seed = case
    if method == "tables":
        distance = min(distance, 40)
    check_pairs(made(kind, n, n_bits, seed), distance, method=method)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_bits", "distance"), [(8, 1), (32, 2), (64, 3), (64, 9), (128, 5), (256, 20), (1024, 30)])
@pytest.mark.parametrize("method", ["tables", "brute force"])
def test_larger_collections(kind, n_bits, distance, method):
    check_pairs(made(kind, 700, n_bits, 7), distance, method=method, threads=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_bits", "distance"), [(16, 0), (64, 3), (96, 8), (1024, 30)])
@pytest.mark.parametrize("method", [None, "tables", "brute force"])
def test_nearest(kind, n_bits, distance, method):
    signatures = made(kind, 600, n_bits, 3)
    for n_queries in (0, 1, 70):
        rows = np.random.default_rng(n_queries).integers(0, 600, n_queries)
        queries = BitSignatures(signatures.packed[rows], signatures.has_features[rows], signatures.fingerprint)
        check_nearest(queries, signatures, distance, method=method, threads=2)


@pytest.mark.parametrize("method", ["tables", "brute force"])
def test_the_number_of_threads_changes_nothing(method):
    signatures = made("families", 5000, 64, 11)
    one, three = (neighbour_pairs(signatures, 5, method=method, threads=n) for n in (1, 3))
    for field in ("left", "right", "distance"):
        np.testing.assert_array_equal(getattr(one, field), getattr(three, field))
    assert len(one) > 1000


@pytest.mark.parametrize("kind", every(2, ["families", "skewed", "correlated"]))
@pytest.mark.parametrize(("n_bits", "distance"), every(2, [(128, 4), (1024, 8)]))
@pytest.mark.parametrize("method", ["tables", "brute force"])
def test_collections_so_large_that_bits_are_put_in_order(kind, n_bits, distance, method):
    signatures = made(kind, 2600, n_bits, 5)
    assert neighbour_pairs(signatures, distance, method=method).plan.order is not None
    check_pairs(signatures, distance, method=method, threads=2)
    check_nearest(made(kind, 2500, n_bits, 6), signatures, distance, method=method)
