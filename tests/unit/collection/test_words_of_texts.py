"""Words of texts, where they stand, and the passage that shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearkin.collection.word_search.results import SnippetPiece
from nearkin.collection.word_search.searching import snippet
from nearkin.collection.word_search.tokens import MAX_OF_A_KEY, SearchTerm, parse_words, spans_of, tokens_of
from nearkin.errors import ParameterError

TEXTS = st.text(alphabet=st.sampled_from("ab AB.é\u0301日本½№ﬁ\u00ad\u200d\n\t'①\u0915\u093f"), max_size=40)


def words_of(text: str) -> list[str]:
    return tokens_of([text]).by_text()[0]


def snippet_of(text: str, query: str) -> tuple[SnippetPiece, ...]:
    (met,) = parse_words(query).met_in(tokens_of([text]))
    return snippet(text, words_of(text), met)


def places_of(term: SearchTerm, words: list[str]) -> list[int]:
    """Where a term begins among words, by trying every place."""
    *first, last = term.words
    n = len(first)
    ends = [word.startswith(last) if term.is_prefix else word == last for word in words]
    return [at for at in range(len(words) - n) if words[at : at + n] == first and ends[at + n]]


@given(TEXTS)
def test_each_word_stands_where_it_is_said_to(text: str) -> None:
    words = words_of(text)
    spans = spans_of(text, words)
    if spans is None:
        return
    assert len(spans) == len(words)
    assert spans.tolist() == sorted(spans.tolist())
    for word, (start, end) in zip(words, spans.tolist(), strict=True):
        assert 0 <= start < end <= len(text)
        assert word in words_of(text[start:end])


@given(st.lists(TEXTS, max_size=5))
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    tokens = tokens_of(texts)
    assert tokens.by_text() == [words_of(text) for text in texts]
    owners, words, n = tokens.counted()
    counted = [(owner, tokens.words[word], times) for owner, word, times in zip(owners, words, n.tolist(), strict=True)]
    expected = [(i, word, words_of(text).count(word)) for i, text in enumerate(texts) for word in set(words_of(text))]
    assert sorted(counted) == sorted(expected)


@given(TEXTS, TEXTS)
def test_a_snippet_is_of_the_text_in_one_line(text: str, query: str) -> None:
    try:
        parsed = parse_words(query)
    except ParameterError:
        return
    pieces = snippet_of(text, query)
    shown = "".join(piece.text for piece in pieces).strip("…")
    assert shown in " ".join(text.split())
    spans = spans_of(text, words_of(text))
    if spans is not None and len(spans):
        assert any(piece.is_match for piece in pieces) == any(places_of(term, words_of(text)) for term in parsed.terms)


@given(
    st.lists(TEXTS, max_size=6), st.sampled_from(['"a b"', '"ab a"*', "日本", '"b a b"', "x y", '"a b a b"*', "é½*"])
)
def test_terms_of_many_texts_are_those_of_each(texts: list[str], query: str) -> None:
    tokens = tokens_of(texts)
    parsed = parse_words(query)
    places = [[places_of(term, words_of(text)) for text in texts] for term in parsed.terms]
    for term, expected in zip(parsed.terms, places, strict=True):
        assert term.texts_in(tokens).tolist() == [bool(own) for own in expected]
    met = parsed.met_in(tokens)
    for i, own in enumerate(met):
        expected = [(at, len(term.words), n) for n, term in enumerate(parsed.terms) for at in places[n][i]]
        assert own == sorted(expected)
        assert parsed.is_met_by(own) == all(places[n][i] for n in range(len(parsed.terms)))


def test_long_words_have_short_keys() -> None:
    keys = tokens_of(["x" * 200, "x" * 300 + " y"]).as_keys()
    assert keys.words == ["x" * MAX_OF_A_KEY, "y"]
    assert keys.ids.tolist() == [0, 0, 1]
    term = parse_words("x" * 200).terms[0]
    assert not term.is_in_index
    assert [word.key for word in term.indexed()] == ["x" * MAX_OF_A_KEY]


@pytest.mark.parametrize(
    ("n", "star", "is_in_index"), [(99, "", True), (100, "", False), (100, "*", True), (101, "*", False)]
)
def test_what_the_index_alone_decides(n: int, star: str, is_in_index: bool) -> None:
    assert parse_words("x" * n + star).is_in_index == is_in_index


def test_the_passage_with_the_most_words_is_shown() -> None:
    text = f"rent {'of the house ' * 30} rent and lease {'of the garden ' * 30}"
    pieces = snippet_of(text, "lease rent")
    assert "".join(f"[{one.text}]" if one.is_match else one.text for one in pieces) == (
        "…of the house of the house [rent] and [lease] of the garden of the garden of the garden of the garden of the "
        "garden…"
    )
