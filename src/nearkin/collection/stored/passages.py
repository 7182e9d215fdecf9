"""Passages that stand in several documents, as the latest `nearkin passages COLLECTION --store` found them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.results import StoredDocument
from nearkin.collection.stored import documents as stored
from nearkin.errors import UnknownDocumentError
from nearkin.records import I64
from nearkin.store.bulk import in_slices, insert_integers
from nearkin.store.schema import passage_places, passages
from nearkin.store.store import Store, read_facts
from nearkin.tabular import AnswerRecord

_WORDS, _END = "passages_words", "passages_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage(AnswerRecord):
    """A passage in a document.

    Parameters
    ----------
    passage
        Its number, until passages are stored again.
    start, end
        In characters of the text.
    n_documents
        Current documents with the passage, this one among them, when it was found.
    """

    passage: int
    start: int
    end: int
    n_documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesOfDocument(AnswerRecord):
    """Passages of a document that stand in other documents, too.

    Parameters
    ----------
    min_words
        Minimum number of words of a passage; None: no passages are stored yet.
    is_searched
        Whether the document was in the collection when passages were found.
    passages
        In reading order; two that follow one another may share up to ``min_words`` - 1 words.
    """

    document: StoredDocument
    min_words: int | None
    is_searched: bool
    passages: tuple[StoredPassage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOfPassage(AnswerRecord):
    """A document with a passage, and the first place of the passage in it, in characters."""

    document: StoredDocument
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentsOfPassage(AnswerRecord):
    """Current documents with a passage, in the order in which their texts were added; ``n_found`` counts all."""

    passage: int
    documents: tuple[PlaceOfPassage, ...]
    n_found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagesOfTexts:
    """Passages that are to be stored, and their places."""

    n_documents: I64
    passage: I64
    content: I64
    start: I64
    end: I64

    def store(self, store: Store, *, min_words: int, end_content: int) -> None:
        """Replace the stored passages; texts from ``end_content`` on were not searched."""
        is_several = (self.n_documents > 1)[self.passage]
        columns = [array[is_several] for array in (self.content, self.start, self.end, self.passage)]
        _, first = np.unique(np.stack(columns[:2]), axis=1, return_index=True)  # once for all documents with a text
        numbers = np.flatnonzero(self.n_documents > 1)
        with store.writing() as connection:
            connection.execute(passage_places.delete())
            connection.execute(passages.delete())
            insert_integers(connection, passages, [numbers, self.n_documents[numbers]])
            insert_integers(connection, passage_places, [column[first] for column in columns])
            store.write_facts(connection, {_WORDS: str(min_words), _END: str(end_content)})


def passages_of(connection: Connection, document: StoredDocument) -> PassagesOfDocument:
    """Return the passages of a document."""
    facts = read_facts(connection, (_WORDS, _END))
    columns = passages.c.passage, passage_places.c.start, passage_places.c.end, passages.c.n_documents
    joined = passage_places.join(passages, passages.c.passage == passage_places.c.passage)
    query = select(*columns).select_from(joined).where(passage_places.c.content == document.content)
    return PassagesOfDocument(
        document=document,
        min_words=int(facts[_WORDS]) if facts else None,
        is_searched=bool(facts) and document.content < int(facts[_END]),
        passages=tuple(StoredPassage(**row) for row in connection.execute(query.order_by("start")).mappings()),
    )


def documents_of(connection: Connection, passage: int, limit: int) -> DocumentsOfPassage:
    """Return the current documents with a passage."""
    columns = passage_places.c.content, passage_places.c.start, passage_places.c.end
    query = select(*columns).where(passage_places.c.passage == passage).order_by("content", "start")
    rows = connection.execute(query).all() if passage < 2**63 else []
    places = {row.content: row for row in reversed(rows)}
    if not places:
        raise UnknownDocumentError(f"There is no passage {passage}. The passages of a document have their numbers.")
    documents, n_found = stored.current_documents(connection, sorted(places), limit)
    shown = (
        PlaceOfPassage(document=document, start=places[document.content].start, end=places[document.content].end)
        for document in documents
    )
    return DocumentsOfPassage(passage=passage, documents=tuple(shown), n_found=n_found)


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the places of passages in erased texts."""
    for block in in_slices(numbers):
        connection.execute(passage_places.delete().where(passage_places.c.content.in_(block)))
