"""The compiled kernel of letter counts gives the counts of its plain twin."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.compiled import letters
from nearkin.kernels.plain import letters as plain_letters

ODD = "aAzZ019 @[`{/:é½²ßİДд中かカไ\u0301\u00a0\u200d_'🙂\U00010400\U0010ffff"
TEXTS = st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=90), st.text(max_size=60)), max_size=6)


@pytest.mark.parametrize("n_buckets", [0, letters.N_BUCKETS])
@given(values=TEXTS)
def test_count_letters(n_buckets, values):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    ours, theirs = (m.count_letters(data, offsets, n_buckets=n_buckets) for m in (letters, plain_letters))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("n_buckets", [0, letters.N_BUCKETS])
def test_a_text_longer_than_the_histograms_are_kept(n_buckets):
    text = "aaaB" * 5_000_000 + "é9" + "aZ" * 3
    data, offsets = text_buffers(pa.array(["x", text], pa.large_string()))
    counts, n_counted, n_others = letters.count_letters(data, offsets, n_buckets=n_buckets)
    expected = {"a": 15_000_003, "B": 5_000_000, "Z": 3, "9": 1}
    for letter, n in expected.items():
        assert counts[1, plain_letters.LATIN.index(letter)] == n
    assert (n_counted[1], n_others[1]) == (20_000_007 + (n_buckets > 0), n_buckets == 0)
    assert counts[1].sum() == n_counted[1]
    assert letters.MOST_COUNT == plain_letters.MOST_COUNT
    assert letters.N_BUCKETS == plain_letters.N_BUCKETS
