"""Passages that a collection stores, on both databases."""

from __future__ import annotations

import random

import pytest

import nearkin
from nearkin.errors import ParameterError, UnknownDocumentError

CLAUSE = "the tenant shall keep the rooms in good order and return all keys"


def words(seed: int, n: int = 20) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.randrange(10**6):x}" for _ in range(n))


def shown(collection, doc_id: str, version: int | None = None) -> list[tuple[str, int]]:
    text = collection.text(doc_id, version=version)
    found = collection.passages(doc_id, version=version).passages
    return [(text[one.start : one.end], one.n_documents) for one in found]


def test_passages_of_documents_and_documents_of_passages(place) -> None:
    other = words(99, 10)
    texts = {
        "a": f"{words(1)} {CLAUSE}. {words(2)} {other}", "b": f"Über {CLAUSE.upper()}; {words(3)}",
        "copy": f"Über {CLAUSE.upper()}; {words(3)}", "c": f"{other} {words(4)} {other}", "own": f"{words(5)} " * 2,
        "empty": "",
    }  # fmt: skip
    with place.open() as collection:
        collection.add(texts.items(), wave="one")
        before = collection.passages("a")
        assert (before.min_words, before.is_searched, before.passages) == (None, False, ())
        nearkin.passages(place.address, min_words=8, store=True)
        assert shown(collection, "a") == [(CLAUSE, 3), (other, 2)]
        assert shown(collection, "c") == [(other, 2), (other, 2)]
        assert shown(collection, "b") == shown(collection, "copy") != []
        assert shown(collection, "own") == shown(collection, "empty") == []
        (clause, rest) = collection.passages("a").passages
        found = collection.documents_with_passage(clause.passage)
        assert [(one.document.doc_id, one.start) for one in found.documents] == [
            ("a", clause.start),
            ("b", 5),
            ("copy", 5),
        ]
        found = collection.documents_with_passage(clause.passage, limit=1)
        assert (found.n_found, len(found.documents)) == (3, 1)
        assert [one.document.doc_id for one in collection.documents_with_passage(rest.passage).documents] == ["a", "c"]
        assert [one.start for one in collection.documents_with_passage(rest.passage).documents] == [rest.start, 0]

        collection.remove(["copy"])
        assert collection.documents_with_passage(clause.passage).n_found == 2
        collection.add([("a", "A new text."), ("late", CLAUSE)], wave="two")
        assert not collection.passages("late").is_searched
        assert (collection.passages("late").passages, collection.passages("a").passages) == ((), ())
        assert shown(collection, "a", 1) == [(CLAUSE, 3), (other, 2)]
        nearkin.passages(place.address, min_words=8, store=True)
        assert shown(collection, "late") == [(CLAUSE, 2)]
        assert (shown(collection, "c"), collection.passages("c").is_searched) == ([], True)
        with pytest.raises(UnknownDocumentError):
            collection.documents_with_passage(1_000)
        with pytest.raises(UnknownDocumentError):
            collection.passages("nobody")

        collection.purge(["late"])
        assert shown(collection, "b") == [(CLAUSE.upper(), 2)]
        assert [one.document.doc_id for one in collection.documents_with_passage(0).documents] == ["b"]


@pytest.mark.parametrize("more", [{"against": ["a b"]}, {"read": "texts"}])
def test_what_is_no_collection_alone_is_not_stored(place, more) -> None:
    with place.open() as collection:
        collection.add([("a", CLAUSE), ("b", CLAUSE)])
        documents = place.address if "against" in more else ["a text"]
        with pytest.raises(ParameterError) as raised:
            nearkin.passages(documents, against=more.get("against"), min_words=8, store=True)
        assert raised.value.parameter == "store"
        assert collection.passages("a").min_words is None
