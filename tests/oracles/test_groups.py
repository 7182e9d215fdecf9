"""Groups that are brought up to date wave by wave are those of everything at once, by the definition."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples

GAMMA = 0.2
LETTERS = "abc"


def text_of(counts: Sequence[int]) -> str:
    return " ".join(letter * n for letter, n in zip(LETTERS, counts)) + " " + "z" * 20


def expected(live: dict[str, Sequence[int]]) -> set[frozenset[str]]:
    """Components of the pairs in which either is within gamma of the other, worked out in fractions."""
    square = Fraction(str(GAMMA)) ** 2
    vectors = {doc_id: (*counts, 20) for doc_id, counts in live.items()}
    parent = {doc_id: doc_id for doc_id in live}

    def root(doc_id: str) -> str:
        while parent[doc_id] != doc_id:
            doc_id = parent[doc_id]
        return doc_id

    for a, x in vectors.items():
        for b, y in vectors.items():
            gap = sum((p - q) ** 2 for p, q in zip(x, y))
            if gap <= square * max(sum(p * p for p in x), sum(q * q for q in y)):
                parent[root(a)] = root(b)
    groups = dict[str, set[str]]()
    for doc_id in live:
        groups.setdefault(root(doc_id), set()).add(doc_id)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def members(grouping: object) -> dict[int, set[str]]:
    found = dict[int, set[str]]()
    for row in grouping.members.to_pylist():  # type: ignore[attr-defined]
        found.setdefault(row["group"], set()).add(row["doc_id"])
    return found


COUNTS = st.tuples(*[st.integers(0, 12)] * len(LETTERS))
WAVES = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("pqrstuvwxyz"), COUNTS, max_size=6), st.sets(st.sampled_from("pqrstuvwxyz"))
    ),
    min_size=1,
    max_size=4,
)


WORDS = "the tenant pays the rent on the first day of each month to the owner of the house".split(" ")  # noqa: SIM905
EDITS = st.tuples(st.integers(0, 2), st.sets(st.integers(0, len(WORDS) - 1), max_size=5))
THRESHOLD = 0.3


def sentence(kind: int, changed: set[int]) -> str:
    """A text of which some words are others; different kinds share no word."""
    return " ".join(f"{word}{kind}{'x' * (i in changed)}" for i, word in enumerate(WORDS))


def jaccard(a: str, b: str) -> float:
    """Of the word 5-grams."""
    one, other = ({tuple(text.split()[i : i + 5]) for i in range(len(text.split()) - 4)} for text in (a, b))
    return len(one & other) / len(one | other)


def expected_by_words(live: dict[str, str]) -> set[frozenset[str]]:
    """Components of the pairs that are similar enough."""
    groups = {doc_id: {doc_id} for doc_id in live}
    for a, b in combinations(live, 2):
        if jaccard(live[a], live[b]) >= THRESHOLD and groups[a] is not groups[b]:
            groups[a] |= groups[b]
            for doc_id in groups[b]:
                groups[doc_id] = groups[a]
    return {frozenset(group) for group in groups.values() if len(group) > 1}


WAVES_OF_WORDS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("pqrstuvwxyz"), EDITS, max_size=8), st.sets(st.sampled_from("pqrstuvwxyz"))
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(40), deadline=None)
@given(waves=WAVES_OF_WORDS)
def test_groups_by_words_are_those_of_everything_at_once(waves) -> None:
    live, used, before = dict[str, str](), set[int](), dict[int, set[str]]()
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        for added, removed in waves:
            texts = {doc_id: sentence(*edits) for doc_id, edits in added.items()}
            collection.add(texts.items())
            gone = [doc_id for doc_id in removed if doc_id in live | texts]
            if gone:
                collection.remove(gone)
            live = {doc_id: text for doc_id, text in (live | texts).items() if doc_id not in gone}
            grouping = collection.groups(threshold=THRESHOLD)
            now = members(grouping)
            assert {frozenset(group) for group in now.values()} == expected_by_words(live)
            principals = {one.number: one.principal for one in grouping.groups}
            for row in grouping.members.to_pylist():
                exact = jaccard(live[row["doc_id"]], live[principals[row["group"]]])
                assert (row["jaccard"], row["is_match"]) == (pytest.approx(exact), exact >= THRESHOLD)
            assert all(number in before or number not in used for number in now)
            used |= now.keys()
            before = now
            assert grouping.n_not_compared == 0
        assert collection.groups(threshold=THRESHOLD).changes == ()


@settings(max_examples=examples(40), deadline=None)
@given(waves=WAVES)
def test_groups_are_those_of_everything_at_once_and_keep_their_numbers(waves) -> None:
    live = dict[str, Sequence[int]]()
    used = set[int]()
    before = dict[int, set[str]]()
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        for added, removed in waves:
            collection.add([(doc_id, text_of(counts)) for doc_id, counts in added.items()])
            live |= added
            gone = [doc_id for doc_id in removed if doc_id in live]
            if gone:
                collection.remove(gone)
            live = {doc_id: counts for doc_id, counts in live.items() if doc_id not in gone}
            grouping = collection.groups(gamma=GAMMA)
            now = members(grouping)
            assert {frozenset(group) for group in now.values()} == expected(live)
            told = {one.number: one for one in grouping.groups}
            for number, group in now.items():
                assert told[number].principal in group
                assert told[number].n_documents == len(group)
                assert number in before or number not in used  # a number is never given to another group
            used |= now.keys()
            before = now
        assert collection.groups(gamma=GAMMA).changes == ()
