"""The kernels of pairs against their twins: terms, cosines, signatures in tiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nearkin.kernels import hamming, signatures, terms
from unit.kernels.agreeing import agreed

N_TERMS = 40


@st.composite
def occurrences(draw):
    """Words of some documents, by numbers."""
    sizes = draw(st.lists(st.integers(0, 30), max_size=8))
    ids = draw(arrays.arrays(np.int32, sum(sizes), elements=st.integers(0, N_TERMS - 1)))
    return ids, np.cumsum([0, *sizes], dtype=np.int64)


@st.composite
def matrices(draw, n_targets=25):
    sizes = draw(st.lists(st.integers(0, 5), min_size=N_TERMS, max_size=N_TERMS))
    rows = [draw(st.lists(st.integers(0, n_targets - 1), min_size=size, max_size=size, unique=True)) for size in sizes]
    targets = np.array([target for row in rows for target in row], np.int32)
    shares = draw(arrays.arrays(np.float32, len(targets), elements=st.floats(0.0078125, 1, width=32)))
    return np.cumsum([0, *sizes], dtype=np.int64), targets, shares


def vectors(seed: int, n: int, n_terms: int = N_TERMS):
    """Some sparse vectors of length 1; some without terms; some terms in nearly all of them."""
    chance = np.random.default_rng(seed)
    rows = [np.flatnonzero(chance.random(n_terms) < chance.choice([0.0, 0.1, 0.6])) for _ in range(n)]
    rows = [chance.permutation(np.union1d(row, [0, 1])) if len(row) else row for row in rows]
    weights = [chance.random(len(row)) + 0.01 for row in rows]
    weights = [one / np.sqrt((one * one).sum()) if len(one) else one for one in weights]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.concatenate(rows).astype(np.int32), np.concatenate(weights).astype(np.float32), offsets


@given(occurrences())
@settings(deadline=None)
def test_counted_terms(texts):
    agreed(terms.count_terms, *texts, N_TERMS)


@given(occurrences(), matrices(), st.sampled_from([0.0, 0.4]))
@settings(deadline=None)
def test_projected_terms(texts, matrix, least):
    counts = terms.count_terms(*texts, N_TERMS)
    agreed(terms.project_terms, counts, matrix, 25, least=least)
    rows = np.repeat(np.arange(len(texts[1]) - 1), 2)
    asked = np.tile(np.array([[3, -1, 7]], np.int32), (len(rows), 1))
    agreed(terms.best_sources, counts, matrix, rows, asked, 25)


@pytest.mark.parametrize("seed", range(4))
def test_products_and_the_terms_that_make_them(seed):
    left, right = vectors(seed, 30), vectors(seed + 100, 40)
    rows = tuple(np.sort(np.random.default_rng(seed).integers(0, 30, (2, 200)), axis=1).astype(np.int64))
    agreed(terms.products, left, right, rows, N_TERMS)
    agreed(terms.best_terms, left, right, rows, N_TERMS, most=4)


@pytest.mark.parametrize(("n_left", "n_right"), [(30, 200), (1, 1), (5, 64), (40, 63)])
def test_near_pairs_of_a_block(n_left, n_right):
    left, right = vectors(1, n_left), vectors(2, n_right)
    first = min(7, n_right - 1)
    block = agreed(terms.block_by_terms, right, first, n_right, N_TERMS)
    near = agreed(terms.near_in_block, left, (0, n_left), block, least=0.4)
    halves = [(0, n_left // 2), (n_left // 2, n_left)]
    assert near.tolist() == [key for rows in halves for key in terms.near_in_block(left, rows, block, least=0.4)]
    counts = agreed(terms.spread_in_block, left, (0, n_left), block, n_bins=20)
    assert counts.sum() == n_left * (n_right - first)


def test_more_near_pairs_than_there_is_room_for_at_first():
    left, right = vectors(3, 100), vectors(4, 70)
    block = terms.block_by_terms(right, 0, 70, N_TERMS)
    assert len(agreed(terms.near_in_block, left, (0, 100), block, least=0.0)) == 7000


@pytest.mark.parametrize(
    ("n_left", "n_right", "n_words"), [(1, 1, 1), (3, 65, 4), (130, 200, 3), (64, 64, 16), (7, 500, 6)]
)
def test_signatures_in_tiles(n_left, n_right, n_words):
    chance = np.random.default_rng(n_left)
    left = chance.integers(0, 2**63, (n_left, n_words), dtype=np.uint64)
    right = chance.integers(0, 2**63, (n_right, n_words), dtype=np.uint64)
    order = chance.permutation(n_right).astype(np.int64)
    starts = chance.integers(0, n_right + 1, n_left)
    ends = np.minimum(starts + chance.integers(0, n_right + 1, n_left), n_right)
    filled = np.zeros((n_left, -(-n_words // 4) * 4), np.uint64)
    filled[:, :n_words] = left
    tiles = agreed(hamming.tiled, right, order)
    room = {"pairs": np.empty(131, np.uint64), "distances": np.empty(131, np.uint16)}

    def found():
        own = {}
        for n in hamming.near_in_tiles(filled, tiles, starts, ends, distance=31 * n_words, **room):
            pairs, distances = (column[:n].tolist() for column in room.values())
            assert not own.keys() & set(pairs)
            own |= dict(zip(pairs, distances, strict=True))
        return sorted(own.items())

    agreed(found)


@given(arrays.arrays(np.uint64, st.integers(0, 300), elements=st.integers(0, 2**32 - 1)))
@settings(deadline=None)
def test_orders_of_keys(keys):
    keys[: len(keys) // 3] %= np.uint64(7)  # some are equal
    agreed(signatures.order_of, keys)
