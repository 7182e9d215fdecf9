"""Marks in a text: the words of a query, and stored passages that stand in many other documents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import Connection

from nearkin.collection.listing.details import DocumentDetails
from nearkin.collection.stored.passages import StoredPassage
from nearkin.collection.stored.word_tables import Term, terms_of, words_of
from nearkin.collection.word_search.query import parse
from nearkin.collection.word_search.searching import word_spans

MIN_DOCUMENTS = 5
"""Number of documents outside the groups of a document in which a passage stands that is marked."""
_MOST_MATCHES, _MOST_PASSAGES = 1_000, 400
"""Marks of a page; a browser is slow with more."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """Part of a text: whether the query asks for it, and whether it stands in many other texts."""

    text: str
    is_match: bool = False
    is_repeated: bool = False


def marked(
    connection: Connection, document: DocumentDetails, n_characters: int, query: str, passages: Sequence[StoredPassage]
) -> list[MarkedPiece]:
    """Return the beginning of a document's text in pieces, with the words of a query and common passages marked."""
    text = document.text[:n_characters]
    terms: tuple[Term, ...] = tuple(terms_of(parse(query, connection))) if query.strip() else ()
    matches = _matches(text, terms) if terms else []
    least = MIN_DOCUMENTS + max((group.n_documents for group in document.groups), default=1)
    common = [passage for passage in passages if passage.n_documents >= least and passage.start < len(text)]
    often = _joined([(passage.start, min(passage.end, len(text))) for passage in common[:_MOST_PASSAGES]])
    cuts = sorted({0, len(text), *(place for span in (*matches, *often) for place in span)})
    return [MarkedPiece(text[a:b], _has(matches, a), _has(often, a)) for a, b in pairwise(cuts)]


def _matches(text: str, terms: Sequence[Term]) -> list[Span]:
    spans, owners, words = _words_in(text)
    places = sorted({place + i for term in terms for place in term.places_in(words) for i in range(len(term.words))})
    return sorted({spans[owners[place]] for place in places[:_MOST_MATCHES]})


def _words_in(text: str) -> tuple[list[Span], list[int], list[str]]:
    """Return where the words of a text begin and end; and the words as they are compared, with the place of each."""
    spans = word_spans(text)
    written = [text[begin:end] for begin, end in spans]
    distinct = list(dict.fromkeys(written))
    by_span = dict(zip(distinct, words_of(distinct), strict=True))
    words = [(place, word) for place, span in enumerate(written) for word in by_span[span]]
    return spans, [place for place, _ in words], [word for _, word in words]


def _joined(spans: Sequence[Span]) -> list[Span]:
    joined = list[Span]()
    for begin, end in spans:
        joined[-1:] = [(joined[-1][0], end)] if joined and begin <= joined[-1][1] else [*joined[-1:], (begin, end)]
    return joined


def _has(spans: Sequence[Span], place: int) -> bool:
    before = bisect_right(spans, (place, 1 << 62)) - 1
    return before >= 0 and place < spans[before][1]
