from __future__ import annotations

import pytest

from labs.minhash.experiment import compare_sentences


def test_sentences_have_the_published_similarity() -> None:
    for pair in compare_sentences():
        assert pair.similarity == pytest.approx(pair.published, abs=1e-15)


def test_both_variants_are_what_the_definition_gives() -> None:
    def shingles(text: str, length: int, *, keep_last: bool) -> set[str]:
        return {text[i : i + length] for i in range(len(text) - length + keep_last)}

    for pair in compare_sentences():
        for keep_last, similarity in ((True, pair.similarity), (False, pair.without_last)):
            a = shingles(pair.text_a, pair.length, keep_last=keep_last)
            b = shingles(pair.text_b, pair.length, keep_last=keep_last)
            assert similarity == len(a & b) / len(a | b)
