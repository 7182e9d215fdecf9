"""Which segments there are to be."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.stored.segments import LoadSpan, wanted_spans

sizes = st.lists(st.one_of(st.integers(1, 5), st.integers(1, 10**6)), max_size=60)


def loads_of(sizes: list[int]) -> list[LoadSpan]:
    return [LoadSpan(a, b, b"") for a, b in pairwise(accumulate(sizes, initial=0))]


@given(sizes)
def test_they_cover_everything_once(sizes):
    spans = wanted_spans(loads_of(sizes))
    assert [first for first, _ in spans] == [0, *(end for _, end in spans[:-1])][: len(spans)]
    assert (spans[-1][1] if spans else 0) == sum(sizes)
    bounds = set(accumulate(sizes, initial=0))
    assert all({first, end} <= bounds and first < end for first, end in spans)


@given(sizes)
def test_each_is_twice_as_long_as_the_next_so_there_are_few(sizes):
    spans = wanted_spans(loads_of(sizes))
    lengths = [end - first for first, end in spans]
    assert all(a >= 2 * b for a, b in pairwise(lengths))
    assert len(spans) <= 1 + math.log2(max(1, sum(sizes)))


@given(sizes, sizes)
def test_what_comes_later_leaves_long_ones_alone(before, after):
    """A segment goes only where what follows it has more than half its length."""
    old, new = wanted_spans(loads_of(before)), wanted_spans(loads_of(before + after))
    for first, end in old:
        if (sum(before) + sum(after) - end) * 2 <= end - first:
            assert (first, end) in new


def test_a_content_is_copied_a_few_times_in_its_life():
    n_loads, n_copied, before = 1_000, 0, set()
    for n in range(1, n_loads + 1):
        spans = set(wanted_spans(loads_of([10] * n)))
        n_copied += sum(end - first for first, end in spans - before)
        before = spans
    assert n_copied / (10 * n_loads) < 2 * math.log2(n_loads)
