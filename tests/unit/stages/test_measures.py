"""The measures of similarity: what each promises the searches, the columns and the command line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.records import Matches
from nearkin.stages.verification.measures import MEASURES

sizes = st.integers(1, 50)
pairs = st.lists(
    st.tuples(sizes, sizes).flatmap(lambda two: st.tuples(st.integers(0, min(two)), st.just(two[0]), st.just(two[1]))),
    min_size=1,
)
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=str)


def matches_of(counts: list[tuple[int, int, int]]) -> Matches:
    rows = np.arange(len(counts), dtype=np.uint32)
    return Matches(rows, rows, *(np.array(column, np.uint32) for column in zip(*counts, strict=True)))


@every_measure
@given(counts=pairs)
def test_its_search_can_find_its_pairs(measure, counts):
    matches = matches_of(counts)
    most = {"bands": matches.jaccard, "sampling": matches.containment}[measure.search]
    assert (measure.similarity(matches) <= most).all()


@every_measure
@given(counts=pairs)
def test_it_is_the_larger_direction_and_does_not_fall_with_what_is_shared(measure, counts):
    matches = matches_of(counts)
    similarity = measure.similarity(matches)
    assert np.array_equal(similarity, np.maximum(*measure.directions(matches)))
    assert ((similarity >= 0) & (similarity <= 1)).all()
    fewer = matches_of([(max(common - 1, 0), a, b) for common, a, b in counts])
    assert (measure.similarity(fewer) <= similarity).all()


@every_measure
@given(counts=pairs, threshold=st.floats(0.01, 1))
def test_pairs_at_a_threshold_have_the_sizes_for_it(measure, counts, threshold):
    matches = matches_of(counts)
    alike = matches.where(measure.similarity(matches) >= threshold)
    smaller, larger = np.minimum(alike.n_left, alike.n_right), np.maximum(alike.n_left, alike.n_right)
    assert (smaller >= measure.min_size_ratio(threshold) * larger - 1e-9).all()
