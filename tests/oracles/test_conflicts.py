"""Conflicts are those of the definition, by wording and by letters."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearkin
from example_counts import examples
from oracles.test_groups import EDITS, jaccard, sentence

IDS = [f"d{i:02}" for i in range(14)]
TEXTS = st.dictionaries(st.sampled_from(IDS), EDITS, max_size=len(IDS))
PAIRS = st.lists(st.tuples(st.sampled_from([*IDS, "nobody"]), st.sampled_from("ABC")), max_size=30)
THRESHOLD, GAMMA = 0.3, 0.2
Entry = tuple[str, str]


def letter_distance(a: str, b: str) -> float:
    """Distance of the letter counts, as a share of the longer vector's length."""
    letters = sorted(set((a + b).replace(" ", "")))
    x, y = ([text.count(letter) for letter in letters] for text in (a, b))
    longest = max(sum(n * n for n in x), sum(n * n for n in y))
    return (sum((p - q) ** 2 for p, q in zip(x, y)) / longest) ** 0.5


def alike_by_words(a: str, b: str) -> bool:
    return jaccard(a, b) >= THRESHOLD


def alike_by_letters(a: str, b: str) -> bool:
    return letter_distance(a, b) <= GAMMA * (1 + 1e-12)


def groups_of(texts: dict[str, str], entries: list[Entry], is_alike: Callable[[str, str], bool]) -> list[list[Entry]]:
    """The labelled documents that matches connect, also through unlabelled ones, in the order of their storing."""
    group = {doc_id: {doc_id} for doc_id in texts}
    for a, b in combinations(group, 2):
        if group[a] is not group[b] and is_alike(texts[a], texts[b]):
            group[a] |= group[b]
            for doc_id in group[b]:
                group[doc_id] = group[a]
    distinct = {id(one): one for one in group.values()}
    labelled = ([entry for entry in entries if entry[0] in one] for one in distinct.values())
    return [one for one in labelled if one]


def expected(
    texts: dict[str, str], labels: list[Entry], is_alike: Callable[[str, str], bool]
) -> dict[Entry, tuple[str, int, float]]:
    """Each conflict: the label of most, the number of documents, and the similarity to the one it is shown with."""
    order = {doc_id: i for i, doc_id in enumerate(texts)}
    entries = sorted({one for one in labels if one[0] in texts}, key=lambda one: (order[one[0]], one[1]))
    found = dict[Entry, tuple[str, int, float]]()
    for group in groups_of(texts, entries, is_alike):
        counts = Counter(label for _, label in group)
        most = max(counts, key=lambda label: (counts[label], -[one[1] for one in group].index(label)))
        for doc_id, label in group:
            others = [one for one in group if one[1] != label and is_alike(texts[one[0]], texts[doc_id])]
            of_most = [one for one in others if one[1] == most]
            if label != most and others:
                best = max(jaccard(texts[doc_id], texts[other]) for other, _ in of_most or others)
                found[doc_id, label] = most, len({one[0] for one in group}), best
    return found


def _key(one):
    return one.a.content if one.group is None else (one.group,)


@pytest.mark.parametrize(
    ("how", "is_alike"), [({"threshold": THRESHOLD}, alike_by_words), ({"gamma": GAMMA}, alike_by_letters)]
)
@settings(max_examples=examples(100), deadline=None)
@given(texts=TEXTS, labels=PAIRS, limit=st.integers(1, 40))
def test_conflicts_are_those_of_the_definition(how, is_alike, texts, labels, limit) -> None:
    written = {doc_id: sentence(*edits) for doc_id, edits in texts.items()}
    with tempfile.TemporaryDirectory() as folder, nearkin.Collection.open(f"{folder}/m", create=True) as collection:
        half = len(written) // 2
        for wave in (list(written.items())[:half], list(written.items())[half:]):
            collection.add(wave)
        whole, found = (collection.conflicts(labels, **how, limit=n) for n in (1_000, limit))
        groups = collection.groups(**how)
        assert whole.are_groups_stored == (not len(groups.members))
        assert collection.conflicts(labels, **how).are_groups_stored
    known = expected(written, labels, is_alike)
    assert found.conflicts == whole.conflicts[:limit]
    assert (found.n_found, found.n_groups) == (len(known), len({_key(one) for one in whole.conflicts}))
    assert {
        (one.a.doc_id, one.label_a): (one.majority_label, one.n_documents, pytest.approx(one.jaccard))
        for one in whole.conflicts
    } == known
    for one in whole.conflicts:
        assert one.label_b != one.label_a
        assert (one.b.doc_id, one.label_b) in labels
        assert is_alike(written[one.a.doc_id], written[one.b.doc_id])
        assert one.jaccard == pytest.approx(jaccard(written[one.a.doc_id], written[one.b.doc_id]))
        assert one.relative_distance == pytest.approx(letter_distance(written[one.a.doc_id], written[one.b.doc_id]))
    order = [one.group for one in whole.conflicts]
    numbers = {one["doc_id"]: one["group"] for one in groups.members.to_pylist()}
    assert all(one.group == numbers.get(one.a.doc_id) for one in whole.conflicts)
    assert [a for a, b in zip(order, [*order[1:], ()]) if a != b] == list(dict.fromkeys(order)) or None in order
    asked = {doc_id for doc_id, _ in labels}
    assert found.n_labelled == len(asked & written.keys())
    assert set(found.unknown) == asked - written.keys()
