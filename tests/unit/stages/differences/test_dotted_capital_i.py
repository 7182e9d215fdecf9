"""Turkish upper case: what is one text once normalised is one text to a comparison, too."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import nearkin
from nearkin.stages.differences.comparing import compare_texts

SMALL = "istanbul ofisinin anahtarları kapıcıda, kiracının ödediği kira ise ilk günde."
CAPITAL = SMALL.replace("istanbul", "İSTANBUL").replace("ofisinin", "OFİSİNİN").replace("ise", "I\u0307se")


def test_capitals_are_no_other_words() -> None:
    reasons = nearkin.dedup([SMALL, CAPITAL]).documents["reason"].to_pylist()
    assert sorted(reasons) == ["exact copy", "unique"]
    compared = compare_texts(SMALL, CAPITAL, context_lines=0)
    assert (compared.n_words_only_a, compared.n_words_only_b) == (0, 0)
    assert compared.n_spelling_differences == 2  # the first two words are one place
    assert compare_texts(SMALL, CAPITAL, context_lines=0, ignore=["case"]).n_differences == 0


@given(st.lists(st.text("Iiİ\u0307Ttş", min_size=1, max_size=4), min_size=1, max_size=6))
def test_texts_that_are_equal_once_normalised_have_the_same_words(words: list[str]) -> None:
    text = " ".join(words)
    normalised = nearkin.Normalisation().apply(pa.array([text], pa.large_string()))[0].as_py()
    compared = compare_texts(text, normalised, context_lines=0)
    assert (compared.n_words_only_a, compared.n_words_only_b) == (0, 0)
