"""Lengths without white space, against Python's own count of what normalisation leaves."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.stages.documents.normalisation import Normalisation, visible_lengths

SPACE = Normalisation.parse("space")
TEXTS = st.lists(
    st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \t\n\u00a0\u2003 东é")), max_size=20)
)


@pytest.mark.parametrize("is_collapsed", [False, True])
@settings(max_examples=examples(200))
@given(texts=TEXTS, n_left_out=st.integers(0, 3))
def test_characters_that_are_no_white_space_are_counted(is_collapsed: bool, texts: list[str], n_left_out: int) -> None:
    given_texts = pa.array(texts, pa.large_string())[n_left_out:]  # a slice has the buffer of the whole
    collapsed = SPACE.apply(given_texts)
    expected = [len(text.replace(" ", "")) for text in collapsed.to_pylist()]
    assert (
        visible_lengths(collapsed if is_collapsed else given_texts, is_collapsed=is_collapsed).to_pylist() == expected
    )
