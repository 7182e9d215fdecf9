"""A few sets against many: what Python's own sets say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.errors import FingerprintError
from nearkin.records import ShingleSets
from nearkin.stages.search import inverted
from nearkin.stages.search.inverted import InvertedSets

some_sets = st.lists(st.frozensets(st.integers(0, 30), max_size=12), max_size=9)


def shingle_sets(sets: list[frozenset[int]], fingerprint: str = "words") -> ShingleSets:
    hashes = np.array([one * 2**58 + one for inside in sets for one in inside], np.uint64)  # up to the highest bits
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    return ShingleSets(hashes, offsets, np.diff(offsets), fingerprint)


@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 21])
def test_against_plain_sets(at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted, "_AT_A_TIME", at_a_time)

    @given(some_sets, some_sets)
    def check(few: list[frozenset[int]], many: list[frozenset[int]]) -> None:
        shared = InvertedSets.of([shingle_sets(few)]).shared(shingle_sets(many))
        columns = (shared.right, shared.left, shared.n_common, shared.n_left, shared.n_right)
        truth = [(j, i, len(a & b), len(a), len(b)) for j, b in enumerate(many) for i, a in enumerate(few) if a & b]
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == truth

    check()


def test_other_shingles_are_refused() -> None:
    index = InvertedSets.of([shingle_sets([frozenset({1})])])
    with pytest.raises(FingerprintError, match="chars"):
        index.shared(shingle_sets([frozenset({1})], "chars"))
