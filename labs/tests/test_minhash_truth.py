from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from labs.minhash.experiment import count_copies
from labs.minhash.truth import BANDINGS, KEPT_FROM, N_HASHES, SIMILARITY_BINS, AllPairsTruth, compare_all
from nearkin.runs.progress import Silent
from nearkin.stages.features.shingles import Characters
from nearkin.stages.search.bands import Bands
from nearkin.stages.signatures.minhash import MinHash

SEEDS = range(3)


def texts() -> list[str]:
    """Eight families of near-duplicates among strangers."""
    random = np.random.default_rng(5)
    words = ["".join(chr(97 + c) for c in random.integers(0, 26, 6)) for _ in range(500)]
    made = []
    for _ in range(8):
        base = list(random.choice(words, 80))
        for n_changed in (0, 0, 1, 3, 9):
            changed = list(base)
            for place in random.integers(0, 80, n_changed):
                changed[place] = str(random.choice(words))
            made.append(" ".join(changed))
    return made


@pytest.fixture(scope="module")
def truth() -> AllPairsTruth:
    sets = Characters(5).sets(pa.array(texts(), pa.large_string()))
    return compare_all(sets, SEEDS, high_threshold=0.9, threads=2, progress=Silent())


@pytest.fixture(scope="module")
def similarities() -> dict[tuple[int, int], float]:
    sets = [{text[i : i + 5] for i in range(len(text) - 4)} for text in texts()]
    return {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in combinations(range(len(sets)), 2)}


def test_similar_pairs_are_all_and_exact(truth: AllPairsTruth, similarities: dict[tuple[int, int], float]) -> None:
    expected = {pair: s for pair, s in similarities.items() if s >= KEPT_FROM}
    similar = truth.similar
    rows = zip(similar.left.tolist(), similar.right.tolist(), strict=True)
    assert dict(zip(rows, similar.similarity.tolist(), strict=True)) == expected
    assert truth.n_pairs == len(similarities) == int(truth.histogram.sum())
    assert truth.n_high == sum(s >= 0.9 for s in expected.values()) > 8
    assert len(truth.histogram) == SIMILARITY_BINS


def test_candidates_are_the_pairs_that_share_a_band(
    truth: AllPairsTruth, similarities: dict[tuple[int, int], float]
) -> None:
    sets = Characters(5).sets(pa.array(texts(), pa.large_string()))
    for j, seed in enumerate(SEEDS):
        slots = MinHash(N_HASHES, seed).sign(sets).slots
        for banding in truth.bandings:
            shape = (len(slots), banding.bands, banding.rows)
            in_bands = slots[:, : banding.bands * banding.rows].reshape(shape)
            found = {pair for pair in similarities if (in_bands[pair[0]] == in_bands[pair[1]]).all(axis=1).any()}
            assert banding.n_candidates[j] == len(found)
            assert banding.n_high_found[j] == sum(similarities[pair] >= 0.9 for pair in found)
        assert truth.bandings[0].n_in_vain == truth.bandings[0].n_candidates[0] - truth.bandings[0].n_high_found[0]


def test_expectation_is_the_sum_of_the_curve(truth: AllPairsTruth, similarities: dict[tuple[int, int], float]) -> None:
    s = np.array(list(similarities.values()))
    for banding in truth.bandings:
        chance = 1 - (1 - s**banding.rows) ** banding.bands
        assert banding.n_expected == pytest.approx(chance.sum())
        assert banding.n_high_expected == pytest.approx(chance[s >= 0.9].sum())


def test_bandings_are_those_of_the_article() -> None:
    assert [(b.bands, b.rows) for b in BANDINGS] == [(2, 50), (5, 20), (10, 10), (20, 5), (50, 2)]
    # what the article says of 2 bands of 50, and what its formula gives
    assert Bands(2, 50).probability(0.95) == pytest.approx(0.148, abs=5e-4)
    assert Bands(2, 50).probability(0.988) == pytest.approx(0.8, abs=0.01)


def test_copies_count_pairs_documents_and_what_is_removable(
    truth: AllPairsTruth, similarities: dict[tuple[int, int], float]
) -> None:
    n = 17
    near = [pair for pair, s in similarities.items() if s >= 0.75 and pair[1] < n]
    copies = count_copies(truth.similar, n, 0.75, 0)
    assert copies.n_pairs == len(near)
    assert copies.n_with_a_copy == len({row for pair in near for row in pair})
    family = {row // 5 for pair in near for row in pair}
    assert copies.n_removable == copies.n_with_a_copy - len(family)


def test_copies_of_nothing() -> None:
    empty = compare_all(
        Characters(5).sets(pa.array(["one text", "other words"], pa.large_string())),
        [0],
        high_threshold=0.9,
        threads=1,
        progress=Silent(),
    )
    copies = count_copies(empty.similar, 2, 0.75, 0)
    assert (copies.n_pairs, copies.n_with_a_copy, copies.n_removable) == (0, 0, 0)
