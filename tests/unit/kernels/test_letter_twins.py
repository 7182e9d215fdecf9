"""The compiled kernel of letter counts gives the counts of its plain twin."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.kernels import text
from nearkin.kernels.buffers import text_buffers
from unit.kernels.agreeing import agreed, served_by

ODD = "aAzZ019 @[`{/:é½²ßİДд中かカไ\u0301\u00a0\u200d_'🙂\U00010400\U0010ffff"
TEXTS = st.lists(st.one_of(st.text(st.sampled_from(ODD), max_size=90), st.text(max_size=60)), max_size=6)


@pytest.mark.parametrize("n_buckets", [0, text.N_BUCKETS])
@given(values=TEXTS)
def test_count_letters(n_buckets, values):
    data, offsets = text_buffers(pa.array(values, pa.large_string()))
    agreed(text.count_letters, data, offsets, n_buckets=n_buckets)


@pytest.mark.parametrize("n_buckets", [0, text.N_BUCKETS])
def test_a_text_longer_than_the_histograms_are_kept(n_buckets):
    long_text = "aaaB" * 5_000_000 + "é9" + "aZ" * 3
    data, offsets = text_buffers(pa.array(["x", long_text], pa.large_string()))
    with served_by("compiled"):
        counts, n_counted, n_others = text.count_letters(data, offsets, n_buckets=n_buckets)
    expected = {"a": 15_000_003, "B": 5_000_000, "Z": 3, "9": 1}
    for letter, n in expected.items():
        assert counts[1, text.LATIN.index(letter)] == n
    assert (n_counted[1], n_others[1]) == (20_000_007 + (n_buckets > 0), n_buckets == 0)
    assert counts[1].sum() == n_counted[1]
