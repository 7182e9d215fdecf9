"""The expected recall of a search for parts, beside samples that are drawn and counted."""

from __future__ import annotations

import numpy as np
import pytest

from nearkin.collection.check_in.candidates import MAX_SAMPLES, least_shared
from nearkin.planning.part_recall import SampledSearch

RATE, MIN_COMMON = 1 / 32, 8


def search_of(n_shingles: int, n_samples: int, containment: float = 0.9) -> SampledSearch:
    step = max(1, -(-n_samples // MAX_SAMPLES))
    return SampledSearch(
        n_shingles=n_shingles,
        n_samples=n_samples,
        n_asked=len(range(0, n_samples, step)),
        rate=RATE,
        least=least_shared(containment / step, min(1 << n_samples.bit_length(), 1024)),
        min_common=MIN_COMMON,
    )


def drawn(search: SampledSearch, n_common: int, n_own: int) -> float:
    """Share of drawn samples in which a text with so many shingles of its own shares enough sampled ones."""
    chance, n = np.random.default_rng(7), 40_000
    shared = chance.hypergeometric(search.n_samples, search.n_shingles - search.n_samples, n_common, n)
    looked_up = chance.binomial(shared, search.n_asked / max(search.n_samples, 1))
    of_part = np.minimum(shared + chance.binomial(n_own, RATE, n), search.n_samples)
    return float(np.mean(looked_up >= search.least[np.minimum(of_part, len(search.least) - 1)]))


@pytest.mark.parametrize(
    ("n_shingles", "n_samples"), [(40, 1), (96, 3), (396, 0), (396, 12), (5_000, 160), (200_000, 6_250)]
)
@pytest.mark.parametrize("containment", [0.5, 0.9, 1.0])
def test_the_recall_is_the_share_of_drawn_samples(n_shingles, n_samples, containment):
    search = search_of(n_shingles, n_samples, containment)
    told = search.recall(containment)
    n_of_part = min(96, n_shingles)
    n_common = int(np.ceil(containment * n_of_part))
    assert told.n_words == n_of_part + 4
    assert told.parts == pytest.approx(drawn(search, n_common, n_of_part - n_common), abs=0.01)
    of_all = int(np.ceil(containment * n_shingles))
    # a text that contains this one has many shingles of its own, so the shorter text is this one
    assert told.containing_texts == pytest.approx(drawn(search, of_all, 1_000_000), abs=0.01)


def test_a_text_without_a_sampled_shingle_finds_nothing():
    assert search_of(300, 0).recall(0.9).containing_texts == 0.0


def test_a_text_that_is_too_short_for_a_part_has_no_recall():
    assert search_of(MIN_COMMON - 1, 1).recall(0.9) is None
    assert search_of(MIN_COMMON, 1).recall(0.9) is not None
