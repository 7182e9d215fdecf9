"""Similar documents and versions by containment, against a comparison of all pairs."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest

from contract.test_check_in import grams
from made_up_prose import Prose

THRESHOLD = 0.8


def documents() -> dict[str, str]:
    """Texts, with copies that are cut, extended, altered, written in capitals or shuffled."""
    prose, chance = Prose(31, n_words=3_000), random.Random(5)
    found = dict[str, str]()
    for i in range(25):
        words = prose.text(chance.choice([120, 300])).split()
        half, shuffled = words[: len(words) // 2], chance.sample(words, len(words))
        made = {
            "text": words, "half": half, "longer": [*words, *prose.text(150).split()], "shuffled": shuffled,
            "altered": prose.altered(" ".join(words), 6).split(),
        }  # fmt: skip
        found |= {f"{i}/{name}": " ".join(own) for name, own in made.items()}
        found[f"{i}/capitals"] = found[f"{i}/text"].upper()
    return found


def share(a: str, b: str) -> float:
    """The larger containment of two texts."""
    n_both = len(grams(a) & grams(b))
    return n_both / min(len(grams(a)), len(grams(b)))


def test_what_is_found_is_similar_and_little_is_missed(place):
    texts = documents()
    n_expected = n_missed = 0
    with place.open() as collection:
        collection.add(list(texts.items()))
        for doc_id in list(texts)[:: 8 if place.kind == "sqlite" else 24]:
            expected = {other for other, text in texts.items() if share(texts[doc_id], text) >= THRESHOLD} - {doc_id}
            found = collection.similar(doc_id, measure="containment", threshold=THRESHOLD)
            told = {one.document.doc_id: one for one in found.documents}
            assert told.keys() <= expected  # verified
            n_expected, n_missed = n_expected + len(expected), n_missed + len(expected - told.keys())
            for name, one in told.items():
                assert max(one.contained, one.contains) == pytest.approx(share(texts[doc_id], texts[name]))
                assert one.jaccard >= 0
            versions = collection.versions(doc_id, measure="containment", threshold=THRESHOLD)
            assert {one.similar.document.doc_id for one in versions.versions} == told.keys()
    assert n_expected > 5
    assert n_missed <= 0.05 * n_expected


def test_the_recall_of_parts_is_the_one_that_is_reached(place):
    """Half the texts are parts of 100 words; each occurs in another one, altered just below what is looked for."""
    prose, n = Prose(3, n_words=20_000), 80 if place.kind == "sqlite" else 20
    texts = dict[str, str]()
    for i in range(n):
        words = prose.text(100).split()
        inside = [*words[:50], f"other{i}", *words[51:96], f"another{i}", *words[97:]]
        texts |= {f"part {i}": " ".join(words), f"whole {i}": f"{prose.text(150)} {' '.join(inside)} {prose.text(150)}"}
    reached, expected = {"part": 0, "whole": 0}, {"part": 0.0, "whole": 0.0}
    with place.open() as collection:
        collection.add(list(texts.items()))
        for i in range(n):
            for name, other in (("part", "whole"), ("whole", "part")):
                found = collection.similar(f"{name} {i}", measure="containment", threshold=0.9)
                told = found.expected_recall_of_parts
                assert found.to_dict()["expected_recall_of_parts"] == asdict(told)
                assert told.n_words == 100
                reached[name] += any(one.document.doc_id == f"{other} {i}" for one in found.documents)
                expected[name] += told.containing_texts if name == "part" else told.parts
        assert collection.similar("part 1").expected_recall_of_parts is None
        collection.add([("short", "Two words")])
        unknown = collection.similar("short", measure="containment").to_dict()
        assert unknown["expected_recall_of_parts"] is None
    for name in reached:
        assert reached[name] / n == pytest.approx(expected[name] / n, abs=0.9 / n**0.5)
        assert 0.8 < expected[name] / n < 0.99


def test_parts_have_both_shares(place):
    texts = documents()
    with place.open() as collection:
        collection.add(list(texts.items()))
        found = collection.similar("3/half", measure="containment").documents
        one = next(one for one in found if one.document.doc_id == "3/longer")
        assert one.contained == 1.0
        assert one.contains < 0.5
        asked = collection.similar(text=texts["3/half"], measure="containment")
        assert {one.document.doc_id for one in found} < {one.document.doc_id for one in asked.documents}
        assert not collection.similar(text="", measure="containment").is_answered
