"""Marks in a text: words of a query, and stored passages of many documents outside the groups of a document."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import nearkin
from nearkin.collection.collection import Collection
from nearkin.collection.stored.passages import passages_of
from nearkin.collection.word_search.marking import MIN_DOCUMENTS, marked
from nearkin.web import later
from places import SomePlace
from review_client import Visit

FOOTER = "This message is for the named reader only; if it reached you by mistake, delete it and tell the sender."


def letters(n: int) -> dict[str, str]:
    """Return letters with nothing in common but the footer."""
    return {f"d{i}": f"{' '.join(f'own{i}of{k}' for k in range(30))}. {FOOTER}" for i in range(n)}


@pytest.mark.parametrize("n_documents", [MIN_DOCUMENTS, MIN_DOCUMENTS + 1])
def test_a_passage_of_five_other_documents_is_marked(place: SomePlace, n_documents: int) -> None:
    with place.open() as collection:
        collection.add(list(letters(n_documents).items()))
        nearkin.passages(place.address, min_words=8, store=True)
        details = collection.details("d1")
        with collection.opened.store.reading() as connection:
            passages = passages_of(connection, details.document).passages
            pieces = marked(connection, details, len(details.text), "sender NOT own1of1", passages)
            beginning = marked(connection, details, details.text.index("message"), "", passages)
    assert [passage.n_documents for passage in passages] == [n_documents]
    assert "".join(piece.text for piece in pieces) == details.text
    assert [piece.text for piece in pieces if piece.is_match] == ["sender"]
    is_marked = n_documents > MIN_DOCUMENTS
    assert "".join(piece.text for piece in pieces if piece.is_repeated) == (FOOTER.rstrip(".") if is_marked else "")
    assert [piece.text for piece in beginning if piece.is_repeated] == (["This "] if is_marked else [])


def test_passages_of_near_duplicates_are_not_marked(place: SomePlace) -> None:
    versions = [(f"v{i}", f"{' '.join(f'clause{k}' for k in range(80))} version {i} is {i}") for i in range(9)]
    with place.open() as collection:
        collection.add(versions)
        nearkin.passages(place.address, min_words=8, store=True)
        for n_marked in (1, 0):
            details = collection.details("v1")
            with collection.opened.store.reading() as connection:
                passages = passages_of(connection, details.document).passages
                pieces = marked(connection, details, len(details.text), "", passages)
            assert sum(piece.is_repeated for piece in pieces) == n_marked
            collection.groups()


def test_a_document_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "AT_ONCE", sys.maxsize)
    with Collection.open(tmp_path / "matter", create=True) as collection:
        collection.add(list(letters(8).items()))
        collection.coding("fields = [{name = 'responsive', kind = 'yes-no'}]")
        nearkin.passages(tmp_path / "matter", min_words=8, store=True)
        visit = Visit(collection).sign_in()
        for path in ("/document", "/code"):
            page = visit.get(path, id="d1", q="own1of3").text
            assert "<mark>own1of3</mark>" in page
            assert f'class="repeated">{FOOTER.rstrip(".")}</span>' in page
