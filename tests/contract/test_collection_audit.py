"""The recall of a collection's searches, measured: the same in a directory and in PostgreSQL."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from itertools import permutations

import pytest

from contract.damaged_collections import copy_filled
from made_up_prose import Prose
from nearkin.collection.similar import Near
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionError, RunError
from nearkin.workflows.auditing import collection as auditing
from nearkin.workflows.auditing.audit import audit
from nearkin.workflows.auditing.audited import Audited, AuditOptions
from oracles.brute_force import Shingle, normalised, shingles
from places import on_one_database

METHODS = [
    Tolerance.of(),
    Tolerance.of(gamma=0.2),
    Tolerance.of("jaccard", threshold=0.6),
    Tolerance.of("index", tolerance=0.4),
]


FAMILIES = Prose(11).families(40)
MORE = [("copy", FAMILIES[0][1]), ("short", "!?"), ("f3", FAMILIES[3][1] + " And more."), ("gone", "A" * 50)]


def fill(place) -> None:
    with place.open() as collection:
        collection.add(FAMILIES, wave="first")
        collection.add(MORE, wave="second")
        collection.remove(["gone"])


@pytest.fixture
def filled(place):
    """Families, copies, what is too short to be asked for, a version that was replaced, and one that was removed."""
    copy_filled(place, fill)
    return place, {**dict(FAMILIES), **dict(MORE[:3])}


def audited_of(place, tolerance: Tolerance | None, **options: int) -> Audited:
    return audit(place.address, AuditOptions(**{"sample": 10**6} | options, tolerance=tolerance, cache=place.cache))


def true_pairs(texts: set[str], is_alike: Callable[[str, str], bool]) -> int:
    return sum(is_alike(a, b) for a, b in permutations(texts, 2))


@functools.cache
def grams(text: str) -> frozenset[Shingle]:
    return shingles(normalised(text), "words", 5)


def jaccard(a: str, b: str) -> float:
    n_both = len(grams(a) & grams(b))
    return n_both / max(1, len(grams(a)) + len(grams(b)) - n_both)


@functools.cache
def letters(text: str) -> Counter[str]:
    return Counter(c for c in text if c.isalnum())


def is_near(a: str, b: str, gamma: float) -> bool:
    one, other = letters(a), letters(b)
    square = sum((one[c] - other[c]) ** 2 for c in {*one, *other})
    return square <= gamma**2 * sum(n * n for n in one.values())


@pytest.mark.parametrize("tolerance", METHODS, ids=str)
def test_nothing_is_missed_that_is_claimed(filled, tolerance):
    place, documents = filled
    audited = audited_of(place, tolerance)
    assert audited.estimate.is_exact
    assert audited.estimate.n_population <= len(set(documents.values()))
    assert audited.estimate.n_true > 20
    assert audited.predicted_recall == tolerance.recall
    assert audited.claims_all == (tolerance.recall == 1)
    if tolerance.measure != "jaccard":
        assert audited.estimate.recall == 1
        assert len(audited.missed) == 0


@on_one_database
def test_what_is_true_is_what_the_definitions_say(filled):
    place, documents = filled
    texts = set(documents.values()) - {"!?"}
    of_words = audited_of(place, Tolerance.of(threshold=0.6)).estimate
    assert of_words.n_true == true_pairs(texts, lambda a, b: jaccard(a, b) >= 0.6)
    of_letters = audited_of(place, Tolerance.of(gamma=0.2)).estimate
    assert of_letters.n_true == true_pairs(texts, lambda a, b: is_near(a, b, 0.2))


@on_one_database
def test_containment_is_measured(filled):
    place, documents = filled
    texts = set(documents.values()) - {"!?"}

    def contains(a: str, b: str) -> bool:
        n_both = len(grams(a) & grams(b))
        return n_both >= 8 and n_both >= 0.7 * min(len(grams(a)), len(grams(b)))

    audited = audited_of(place, Tolerance.of("containment", threshold=0.7))
    assert audited.estimate.n_true == true_pairs(texts, contains) > 20
    n_missed = audited.estimate.n_true - audited.estimate.n_found
    assert len(audited.missed) <= n_missed <= 2 * len(audited.missed)
    assert (audited.predicted_recall, audited.claims_all) == (None, False)


@on_one_database
@pytest.mark.parametrize("tolerance", [METHODS[1], METHODS[2], Tolerance.of("containment", threshold=0.7)], ids=str)
def test_what_a_search_misses_is_seen(filled, tolerance, monkeypatch):
    place, documents = filled
    whole = audited_of(place, tolerance).estimate
    asked = auditing.near

    def forgetful(*arguments: object) -> Near:
        found = asked(*arguments)
        kept = found.contents[found.contents % 3 > 0]
        return Near(contents=kept, is_answered=found.is_answered)

    monkeypatch.setattr(auditing, "near", forgetful)
    audited = audited_of(place, tolerance)
    assert audited.estimate.n_true == whole.n_true
    assert 0.3 < audited.estimate.recall < 0.9
    for row in audited.missed.to_pylist():
        assert {row["id_a"], row["id_b"]} <= documents.keys()
        assert 0 <= row["similarity"] <= 1
        assert not math.isnan(row["similarity"])
    drawn = audited_of(place, tolerance, sample=30, seed=1, threads=2)
    assert drawn.estimate.low < audited.estimate.recall < drawn.estimate.high < 1


@on_one_database
def test_an_empty_collection(place):
    with place.open():
        pass
    audited = audited_of(place, None)
    assert (audited.estimate.n_population, audited.estimate.recall) == (0, None)


def test_no_collection(place):
    with pytest.raises(CollectionError if place.kind == "postgresql" else RunError):
        audited_of(place, None)
