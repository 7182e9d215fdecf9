"""Conflicts are those of the definition, in its order, whatever is counted without being listed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin

GAMMA = Fraction("0.2")
IDS = [f"d{i:02}" for i in range(14)]
COUNTS = st.tuples(*[st.integers(0, 4)] * 3)
TEXTS = st.dictionaries(st.sampled_from(IDS), st.tuples(COUNTS, st.sampled_from(["", ".", "!"])), max_size=len(IDS))
PAIRS = st.lists(st.tuples(st.sampled_from([*IDS, "nobody"]), st.sampled_from("ABC")), max_size=30)


def text_of(counts: Sequence[int], mark: str) -> str:
    """Some are of too few letters: all counts are small."""
    return " ".join(letter * n for letter, n in zip("abc", counts)) + " " + "z" * 12 + mark


def expected(texts: dict[str, str], labels: list[tuple[str, str]]) -> list[tuple[Fraction, str, str, str, str]]:
    """Every pair of documents and labels that conflicts, by the definition: the square of its distance, ids, labels."""
    place = {doc_id: i for i, doc_id in enumerate(texts)}
    entries = sorted({(place[doc_id], label, doc_id) for doc_id, label in labels if doc_id in texts})
    vectors = {doc_id: [text.count(letter) for letter in "abcz"] for doc_id, text in texts.items()}
    found = []
    for (row, label, a), (other_row, other_label, b) in combinations(entries, 2):
        x, y = vectors[a], vectors[b]
        longest = max(sum(n * n for n in x), sum(n * n for n in y))
        square = Fraction(sum((p - q) ** 2 for p, q in zip(x, y)), longest)
        is_near = min(sum(x), sum(y)) >= 20 and square <= GAMMA**2
        if label != other_label and (texts[a] == texts[b] or is_near):
            found.append((square, row, other_row, label, other_label, a, b))
    return [(square, a, b, label, other) for square, _, _, label, other, a, b in sorted(found)]


@settings(max_examples=150, deadline=None)
@given(texts=TEXTS, labels=PAIRS, limit=st.integers(1, 40))
def test_conflicts_are_those_of_the_definition(texts, labels, limit) -> None:
    written = {doc_id: text_of(*one) for doc_id, one in texts.items()}
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        half = len(written) // 2
        for wave in (list(written.items())[:half], list(written.items())[half:]):
            collection.add(wave)
        found = collection.conflicts(labels, gamma=float(GAMMA), limit=limit)
    known = expected(written, labels)
    told = [(one.a.doc_id, one.b.doc_id, one.label_a, one.label_b) for one in found.conflicts]
    assert told == [one[1:] for one in known[:limit]]
    assert [one.relative_distance**2 for one in found.conflicts] == pytest.approx(
        [float(one[0]) for one in known[:limit]], abs=1e-12
    )
    assert found.n_found == len(known)
    asked = {doc_id for doc_id, _ in labels}
    assert found.n_labelled == len(asked & written.keys())
    assert set(found.unknown) == asked - written.keys()
    assert found.n_uncounted == sum(sum(written[one].count(c) for c in "abcz") < 20 for one in asked & written.keys())


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "."]), st.sampled_from("ABCD")), max_size=40),
    limit=st.integers(1, 60),
)
def test_conflicts_of_texts_that_many_documents_share(counts, limit) -> None:
    texts = {f"d{i:03}": "z" * (30 + n) + mark for i, (n, mark, _) in enumerate(counts)}
    labels = [(f"d{i:03}", label) for i, (_, _, label) in enumerate(counts)]
    labels += [(doc_id, "B") for doc_id, _ in labels[::5]]
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        collection.add(texts.items())
        found = collection.conflicts(labels, gamma=float(GAMMA), limit=limit)
    known = expected(texts, labels)
    told = [(one.a.doc_id, one.b.doc_id, one.label_a, one.label_b) for one in found.conflicts]
    assert (told, found.n_found) == ([one[1:] for one in known[:limit]], len(known))
