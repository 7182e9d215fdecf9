"""Similar documents against definitions written out plainly: the same answers in a directory and in PostgreSQL."""

from __future__ import annotations

import functools
import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin.collection.collection import Collection
from nearkin.errors import ParameterError
from nearkin.stages.features.shingles import Words, count_features
from nearkin.stages.signatures.minhash import BitMinHash
from oracles import brute_force
from oracles.texts import versions
from places import refused_before_any_database

GAMMAS = [0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.99]


class Plain:
    """The documents that a collection should have, and what is similar, by the definitions; Latin letters only."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    @staticmethod
    @functools.cache
    def counts(text: str) -> Counter[str]:
        return Counter(c for c in text if c.isascii() and c.isalnum())

    def in_range(self, query: str, gamma: float) -> dict[str, int]:
        """Squared distances by ids; of a query with too few letters only its copies."""
        asked = self.counts(query)
        if asked.total() < 20:
            return {doc_id: 0 for doc_id, text in self.texts.items() if text == query}
        limit = Fraction(str(gamma)) ** 2 * sum(n * n for n in asked.values())
        found = {}
        for doc_id, text in self.texts.items():
            counts = self.counts(text)
            square = sum((asked[c] - counts[c]) ** 2 for c in {*asked, *counts})
            if counts.total() >= 20 and square <= limit:
                found[doc_id] = square
        return found

    @staticmethod
    @functools.cache
    def shingles(text: str) -> frozenset[tuple[str, ...]]:
        return brute_force.shingles(brute_force.normalised(text), "words", 5)

    def jaccard(self, query: str) -> dict[str, Fraction]:
        """Of all that have words; of a query without any its copies, as 1."""
        asked = self.shingles(query)
        if not asked:
            return {doc_id: Fraction(1) for doc_id, text in self.texts.items() if text == query}
        sets = {doc_id: self.shingles(text) for doc_id, text in self.texts.items()}
        return {doc_id: Fraction(len(asked & one), len(asked | one)) for doc_id, one in sets.items() if one}

    def bits(self, query: str) -> dict[str, int]:
        """How many bits of the signatures differ."""
        if not self.shingles(query):
            return {doc_id: 0 for doc_id, text in self.texts.items() if text == query}
        ids = [doc_id for doc_id, text in self.texts.items() if self.shingles(text)]
        texts = [brute_force.normalised(text) for text in (query, *(self.texts[doc_id] for doc_id in ids))]
        packed = BitMinHash(256).sign(count_features(pa.array(texts, pa.large_string()), Words(5))).packed
        numbers = [int.from_bytes(row.tobytes(), "big") for row in packed]
        return {doc_id: (numbers[0] ^ number).bit_count() for doc_id, number in zip(ids, numbers[1:], strict=True)}


def found_by(collection: Collection, **query: object) -> dict[str, object]:
    """By their ids, and checked to be in order and all told."""
    answer = collection.similar(limit=1_000, **query)
    by_id = {one.document.doc_id: one for one in answer.documents}
    assert len(by_id) == len(answer.documents) == answer.n_found
    assert not answer.is_truncated
    return by_id


def check_range(collection: Collection, plain: Plain, gamma: float, *, ids: list[str], texts: list[str]) -> None:
    for query, text in [({"doc_id": one}, plain.texts[one]) for one in ids] + [({"text": one}, one) for one in texts]:
        found = found_by(collection, gamma=gamma, **query)
        expected = plain.in_range(text, gamma)
        expected.pop(query.get("doc_id"), None)
        assert found.keys() == expected.keys()
        for doc_id, one in found.items():
            assert one.distance is None or one.distance**2 == pytest.approx(expected[doc_id], abs=1e-9)
            assert one.is_same_text == (plain.texts[doc_id] == text)
        order = [expected[doc_id] for doc_id in found]
        assert order == sorted(order)


def check_signatures(collection: Collection, plain: Plain, doc_id: str) -> None:
    text = plain.texts[doc_id]
    bits, jaccards = plain.bits(text), plain.jaccard(text)
    for threshold in (0.3, 0.7, 1.0):
        found = found_by(collection, doc_id=doc_id, threshold=threshold)
        reach = collection.similar(doc_id, threshold=threshold).tolerance.reach
        expected = {one for one, jaccard in jaccards.items() if float(jaccard) >= threshold and bits[one] <= reach}
        assert found.keys() == expected - {doc_id}
        assert all(one.n_bits == bits[other] for other, one in found.items() if one.n_bits is not None)
        assert all(one.jaccard == pytest.approx(float(jaccards[other])) for other, one in found.items())


few_letters = st.text("ab ", min_size=15, max_size=45)
few_words = st.lists(st.sampled_from(["to", "be", "or", "not", "that", "is"]), min_size=0, max_size=14).map(" ".join)
documents = st.tuples(st.integers(0, 9).map(str), st.one_of(few_letters, few_words))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(documents, max_size=8, unique_by=lambda one: one[0])),
        st.tuples(st.just("remove"), st.integers(0, 9).map(str)),
    ),
    min_size=1,
    max_size=6,
)


def test_what_is_similar_after_waves_and_removals(place):
    """Few letters, so that everything is like something; every document is asked for, by every method."""

    @given(steps, st.sampled_from(GAMMAS), few_letters)
    @settings(max_examples=examples(30) if place.kind == "sqlite" else 6)
    def check(steps, gamma, text):
        plain = Plain()
        with place.another().open(alphabet="latin") as collection:
            for what, which in steps:
                if what == "add":
                    collection.add(which)
                    plain.texts |= dict(which)
                elif which in plain.texts:
                    collection.remove([which])
                    del plain.texts[which]
            assert collection.info().n_documents == len(plain.texts)
            check_range(collection, plain, gamma, ids=sorted(plain.texts), texts=[text, ""])
            for doc_id in sorted(plain.texts)[:2]:
                check_signatures(collection, plain, doc_id)

    check()


@pytest.fixture(scope="module")
def families() -> list[tuple[str, str]]:
    """600 documents in families, in an order of chance."""
    texts = versions(3, n_bases=120, n_words=90, n_versions=5, max_edits=8)
    chance = random.Random(4)
    numbered = [(f"d{i}", text) for i, text in enumerate(texts[:600])]
    chance.shuffle(numbered)
    return numbered


def test_nothing_is_missed_across_waves_and_merges_of_segments(place, families):
    """Waves of every size, queries after each: the parts of the index grow together, and no answer depends on it."""
    plain = Plain()
    ends = [0, 1, 2, 100, 130, 140, 400, 402, 520, 600]
    n_segments = []
    with place.open(alphabet="latin") as collection:
        for a, b in pairwise(ends):
            collection.add(families[a:b], threads=2)
            plain.texts |= dict(families[a:b])
            n_segments.append(collection.info().n_segments)
            for gamma in (0.02, 0.1):
                check_range(
                    collection, plain, gamma, ids=[families[a][0], families[b // 2][0]], texts=[families[-1][1]]
                )
        assert max(n_segments) > 2
        assert len(n_segments) > max(n_segments)
        collection.remove([doc_id for doc_id, _ in families[::3]])
        for doc_id, _ in families[::3]:
            del plain.texts[doc_id]
        everyone = [doc_id for doc_id, _ in families if doc_id in plain.texts]
        check_range(collection, plain, 0.05, ids=everyone[::20], texts=[families[0][1]])
        for doc_id in everyone[::200]:
            check_signatures(collection, plain, doc_id)
    with place.open() as collection:  # from the files
        check_range(collection, plain, 0.05, ids=everyone[::40], texts=[])


def test_both_databases_give_equal_answers(tmp_path, server, families):
    from places import SomePlace

    answers = []
    for place in (SomePlace.new(tmp_path, None), SomePlace.new(tmp_path, server)):
        told = []
        with place.open() as collection:
            for start in range(0, 300, 100):
                collection.add([*families[start : start + 100], (f"same {start}", families[0][1])])
            collection.remove([families[5][0]])
            for query in ({"gamma": 0.2}, {"threshold": 0.2}):
                for doc_id, text in families[:300:60]:
                    for asked in ({"doc_id": doc_id}, {"text": text}):
                        told.append(collection.similar(**asked, **query).to_dict() | {"elapsed_s": 0})
        answers.append(told)
    assert answers[0] == answers[1]
    assert sum(one["n_found"] for one in answers[0]) > 50


def test_how_many_were_found_does_not_depend_on_how_many_are_told(place):
    text = "All of these are the very same text, of which there are a few."
    with place.open() as collection:
        collection.add([(str(i), text) for i in range(10)])
        for doc_id in "059":
            for limit in (1, 2, 9, 10, 50):
                answer = collection.similar(doc_id, limit=limit)
                assert (answer.n_found, len(answer)) == (9, min(limit, 9))
                assert answer.is_truncated == (limit < 9)
                others = [str(i) for i in range(10) if str(i) != doc_id]
                assert [one.document.doc_id for one in answer.documents] == others[:limit]
        assert collection.similar(text=text, limit=3).n_found == 10


def test_an_older_version_finds_the_newer(place):
    text = "This is a text of which there are two versions, and both are long enough to be counted."
    with place.open() as collection:
        collection.add([("a", text)])
        collection.add([("a", text + " Indeed."), ("b", text)])
        found = collection.similar("a", version=1, gamma=0.3)
        assert [(str(one.document), one.is_same_text) for one in found.documents] == [("b", True), ("a", False)]
        assert [one.document.doc_id for one in collection.similar("a", gamma=0.3).documents] == ["b"]


@refused_before_any_database
@pytest.mark.parametrize(
    "wrong",
    [{}, {"doc_id": "a", "text": "a"}, {"text": "\ud800"}, {"doc_id": "a", "limit": 0}, {"doc_id": "a", "gamma": -1}],
)
def test_a_query_that_cannot_be_asked_is_refused(place, wrong):
    with place.open() as collection:
        collection.add([("a", "text")])
        with pytest.raises(ParameterError):
            collection.similar(**wrong)
