"""Marks in a text: words of a query, and passages of many other texts, those of a plain count of word 5-grams."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from nearkin.collection.collection import Collection
from nearkin.collection.word_search.marking import MIN_TEXTS, MIN_WORDS, RepeatedWords, marked
from nearkin.web import later
from places import SomePlace
from review_client import Visit

FOOTER = "This message is for the named reader only; if it reached you by mistake, delete it and tell the sender."


def letters(n: int) -> dict[str, str]:
    """Letters with passages of several lengths in common, each in a random order."""
    chance = random.Random(4)
    shared = [" ".join(f"w{i}x{k}" for i in range(10 + k)) for k in range(6)]
    return {
        f"d{i}": " ".join([*chance.sample(shared, 4), *(f"own{i}of{k}" for k in range(20)), FOOTER]) for i in range(n)
    }


def grams(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]


def repeated_words(text: str, counts: Counter[str]) -> list[str]:
    """The words of passages by definition."""
    words, is_often = re.findall(r"\w+", text.lower()), [counts[one] > MIN_TEXTS for one in grams(text)]
    found, start = list[str](), None
    for i, often in enumerate([*is_often, False]):
        if often and start is None:
            start = i
        if not often and start is not None:
            found += words[start : i + 4] if i + 4 - start >= MIN_WORDS else []
            start = None
    return found


def test_passages_are_those_of_a_plain_count(place: SomePlace) -> None:
    texts = letters(12)
    counts = Counter(one for text in texts.values() for one in set(grams(text)))
    with place.open() as collection:
        collection.add(list(texts.items()))
        repeated = RepeatedWords(collection.opened)
        with collection.opened.store.reading() as connection:
            for text in texts.values():
                pieces = marked(connection, text, "sender NOT own1of1", repeated)
                assert "".join(one.text for one in pieces) == text
                assert [one.text for one in pieces if one.is_match] == ["sender"]
                words = re.findall(r"\w+", " ".join(one.text for one in pieces if one.is_repeated).lower())
                assert words == repeated_words(text, counts)
                assert FOOTER.split()[0].lower() in words


def test_near_duplicates_count_once(place: SomePlace) -> None:
    versions = [(f"v{i}", f"{' '.join(f'clause{k}' for k in range(80))} version {i} is {i}") for i in range(9)]
    with place.open() as collection:
        collection.add(versions)
        assert RepeatedWords(collection.opened).passages([f"clause{k}" for k in range(80)]) == [(0, 80)]
        collection.groups()
        assert RepeatedWords(collection.opened).passages([f"clause{k}" for k in range(80)]) == []


def test_a_document_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "AT_ONCE", sys.maxsize)
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add(list(letters(8).items()))
        collection.coding("fields = [{name = 'responsive', kind = 'yes-no'}]")
        visit = Visit(collection).sign_in()
        for path in ("/document", "/code"):
            page = visit.get(path, id="d1", q="own1of3").text
            assert "<mark>own1of3</mark>" in page
            assert f"{FOOTER}</span>" in page
