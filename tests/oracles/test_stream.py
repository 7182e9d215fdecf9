"""One document after another finds what the brute force finds among the earlier ones."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import examples
from nearkin import StreamDeduplicator
from nearkin.errors import ParameterError
from oracles.brute_force import Collection, shingles
from oracles.texts import families, named

CERTAIN = 0.999_999_99


def truth(collection: Collection, threshold: float) -> list[list[tuple[str, float, bool]]]:
    """For each document the earlier ones it is like, the most similar first, the earliest first among equals."""
    told = []
    for row, text in enumerate(collection.texts):
        found = []
        for earlier in range(row):
            is_copy = bool(text) and text == collection.texts[earlier]
            likeness = collection.likeness(earlier, row)
            similarity = 1.0 if is_copy else float(likeness.jaccard)
            if is_copy or (likeness.n_common and similarity >= threshold):
                found.append((collection.id(earlier), similarity, is_copy))
        told.append(sorted(found, key=lambda match: -match[1]))
    return told


@given(
    texts=families(most=14),
    threshold=st.sampled_from([0.3, 0.5, 2 / 3, 0.8, 1.0]),
    shingle=st.sampled_from(["words:1", "words:2", "words:5", "chars:3"]),
    batch_size=st.sampled_from([1, 2, 5, 1000]),
)
@settings(max_examples=examples(50))
def test_matches_with_fetch(texts, threshold, shingle, batch_size):
    unit, length = shingle.split(":")
    collection = Collection(named(texts), unit=unit, length=int(length))
    by_id = dict(collection.documents)
    stream = StreamDeduplicator(threshold=threshold, shingle=shingle, recall=CERTAIN, fetch=by_id.__getitem__)
    found = list(stream.add_many(collection.documents, batch_size=batch_size))
    said = [[(m.doc_id, m.jaccard, m.is_exact_copy) for m in matches] for matches in found]
    assert said == truth(collection, threshold)
    assert all(match.is_verified for matches in found for match in matches)
    assert len(stream) == len(texts)


@given(texts=families(), threshold=st.sampled_from([0.5, 0.8]))
@settings(max_examples=examples(40))
def test_without_fetch_similarities_are_estimates_and_say_so(texts, threshold):
    collection = Collection(named(texts), length=2)
    stream = StreamDeduplicator(threshold=threshold, shingle="words:2", recall=CERTAIN, size=512)
    row_of = {doc_id: row for row, (doc_id, _) in enumerate(collection.documents)}
    for row, matches in enumerate(stream.add_many(collection.documents)):
        for match in matches:
            earlier = row_of[match.doc_id]
            assert earlier < row
            is_copy = collection.texts[row] == collection.texts[earlier]
            assert match.is_exact_copy == match.is_verified == is_copy
            if not is_copy:
                assert abs(match.jaccard - float(collection.likeness(earlier, row).jaccard)) < 0.15
            assert match.jaccard >= threshold


def test_add_one_by_one_or_many_at_once():
    chance = random.Random(2)
    texts = [
        " ".join(chance.choices(["to", "be", "or", "not", "that", "is"], k=chance.randrange(12))) for _ in range(300)
    ]
    answers = []
    for batch_size in (1, 7, 1024):
        stream = StreamDeduplicator(threshold=0.6, shingle="words:2")
        answers.append(list(stream.add_many(enumerate(texts), batch_size=batch_size)))
    stream = StreamDeduplicator(threshold=0.6, shingle="words:2")
    answers.append([stream.add(i, text) for i, text in enumerate(texts)])
    assert answers[0] == answers[1] == answers[2] == answers[3]
    assert any(answers[0])


def test_found_after_the_index_has_grown_many_times():
    stream = StreamDeduplicator(threshold=0.9, shingle="words:2")
    texts = [f"alpha {i} beta {i + 1} gamma {i + 2} delta" for i in range(6000)]
    assert not any(list(stream.add_many(enumerate(texts))))
    for i in (0, 1023, 1024, 3000, 5999):
        (match,) = stream.add(f"again-{i}", texts[i].upper())
        assert (match.doc_id, match.is_exact_copy) == (i, True)


def test_recall_is_at_least_what_was_asked_for():
    chance = random.Random(3)
    documents, planted = [], {}
    for i in range(700):
        words = [f"w{chance.randrange(10**6)}" for _ in range(100)]
        documents.append((i, " ".join(words)))
        for at in chance.sample(range(100), 5):  # Jaccard about 0.8
            words[at] = f"v{chance.randrange(10**9)}"
        planted[i + 700] = " ".join(words)
    documents += planted.items()
    texts = dict(documents)
    stream = StreamDeduplicator(threshold=0.75, shingle="words:2", recall=0.95, fetch=texts.__getitem__)
    found = dict(zip(texts, stream.add_many(documents), strict=True))
    n_found = sum(any(match.doc_id == i for match in found[i + 700]) for i in range(700))
    expected = stream.bands.probability(0.81)
    assert n_found / 700 >= min(0.95, expected) - 4.5 * (0.05 * 0.95 / 700) ** 0.5
    assert all(match.jaccard >= 0.75 for matches in found.values() for match in matches)


def test_a_chain_of_copies_is_cut_and_counted():
    stream = StreamDeduplicator()
    answers = list(stream.add_many((i, "one and the same text again and again") for i in range(500)))
    assert [len(matches) for matches in answers[:3]] == [0, 1, 2]
    assert answers[-1]
    assert max(map(len, answers)) < 500
    assert stream.n_chains_cut > 0
    cut = f"{stream.n_chains_cut:,} comparisons cut short: matches with documents older than the latest 64"
    assert cut in repr(stream)
    assert "cut short" not in repr(StreamDeduplicator())


def test_what_was_not_added_is_not_counted():
    texts = {i: f"one and the same text again and again {'' if i % 2 else 'and again'}" for i in range(200)}
    stream = StreamDeduplicator(threshold=0.5, shingle="words:1", fetch=texts.__getitem__)
    list(stream.add_many(texts.items()))
    before = repr(stream)
    stream.fetch = {}.__getitem__
    with pytest.raises(KeyError):
        stream.add(200, texts[0] + " now")
    assert repr(stream) == before


def test_a_fetch_that_fails_adds_nothing():
    stream = StreamDeduplicator(threshold=0.3, shingle="words:1", fetch={}.__getitem__)
    stream.add("a", "one two three four")
    with pytest.raises(KeyError):
        stream.add("b", "one two three five")
    assert len(stream) == 1
    stream.fetch = {"a": "one two three four", "b": "one two three five"}.__getitem__
    assert [match.doc_id for match in stream.add("b", "one two three five")] == ["a"]
    assert [match.doc_id for match in stream.add("c", "ONE two three four")] == ["a", "b"]


def test_an_id_is_added_once():
    """Whether its text is the same or another; a refused batch leaves no trace."""
    stream = StreamDeduplicator(threshold=0.6, shingle="words:2")
    stream.add("a", "to be or not to be")
    for text in ("to be or not to be", "that is the question"):
        with pytest.raises(ParameterError, match=r"^doc_id: must be new.* Got: 'a'"):
            stream.add("a", text)
    assert ("a" in stream, "b" in stream, len(stream)) == (True, False, 1)
    with pytest.raises(ParameterError, match=r"^doc_id: .* Got: 'b'"):
        list(stream.add_many([("b", "one of two"), ("c", "another"), ("b", "two of two")]))
    assert ("b" in stream, "c" in stream, len(stream)) == (False, False, 1)
    assert [match.doc_id for match in stream.add("b", "to be or not to be")] == ["a"]
    with pytest.raises(ParameterError, match="hashable"):
        stream.add(["a"], "a list is no id")


def test_texts_that_share_boilerplate_have_false_matches_without_fetch_and_none_with_it() -> None:
    chance = random.Random(3)
    shared = [f"w{chance.randrange(4_000)}" for _ in range(200)]
    texts = {i: " ".join(shared + [f"w{chance.randrange(4_000)}" for _ in range(45)]) for i in range(60)}
    sets = {i: shingles(text, "words", 5) for i, text in texts.items()}
    n_false = dict[bool, int]()
    for has_fetch in (False, True):
        stream = StreamDeduplicator(threshold=0.7, fetch=texts.__getitem__ if has_fetch else None)
        found = [(i, one) for i, matches in enumerate(stream.add_many(texts.items())) for one in matches]
        assert all(one.is_verified is has_fetch for _, one in found)
        pairs = [(sets[i], sets[int(str(one.doc_id))]) for i, one in found]
        n_false[has_fetch] = sum(len(a & b) < 0.7 * len(a | b) for a, b in pairs)
    assert n_false[True] == 0
    assert n_false[False] > 100


@pytest.mark.parametrize("is_by_batch", [False, True])
def test_threads_that_share_a_stream_find_as_many_matches_as_one(is_by_batch: bool) -> None:
    words = random.Random(3)
    texts = [" ".join(str(words.randrange(10_000)) for _ in range(40)) for _ in range(150)]
    stream = StreamDeduplicator(threshold=0.7)

    def n_found(worker: int) -> int:
        own = [(worker * 1000 + i, text) for i, text in enumerate(texts)]
        answers = stream.add_many(own, batch_size=3) if is_by_batch else (stream.add(*one) for one in own)
        return sum(map(len, answers))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as workers:
            found = sum(workers.map(n_found, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert (len(stream), found) == (600, 150 * (1 + 2 + 3))
