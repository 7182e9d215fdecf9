"""Search for words in all current documents, the most relevant first."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, select, true

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import AnswerRecord, StoredDocument, columns, table_of
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.documents import current_documents, number_of_wave
from nearkin.collection.word_search import word_tables
from nearkin.collection.word_search.word_tables import Term, parse, terms_of, words_of
from nearkin.errors import ParameterError
from nearkin.kernels.characters import ALONE, FORMAT, MARK, WORD, character_classes
from nearkin.nouns import counted
from nearkin.stages.differences.passages import LONGEST_WORD
from nearkin.store.schema import documents, loads
from nearkin.tabular import Tabular


@dataclass(frozen=True, slots=True)
class SnippetPiece:
    """Piece of a snippet: a word that was searched for, or text around it; "…" stands for omitted text."""

    text: str
    is_match: bool


@dataclass(frozen=True, slots=True)
class FoundDocument(AnswerRecord):
    """A document that meets a query.

    Parameters
    ----------
    document : StoredDocument
    relevance : float
        BM25 of the query in SQLite, ts_rank in PostgreSQL: higher if its words are more frequent in the text.
    pieces : tuple of SnippetPiece
        Passage with as many of the words as possible, on one line.
    """

    document: StoredDocument
    relevance: float
    pieces: tuple[SnippetPiece, ...]
    hidden = ("pieces",)
    computed = ("snippet",)

    @property
    def snippet(self) -> str:
        """The passage with the words in square brackets."""
        return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Tabular, AnswerRecord):
    """Result of a search for words.

    Parameters
    ----------
    query : str
    documents : tuple of FoundDocument
        The most relevant first; at most ``limit``.
    n_found : int
        Number of current documents that meet the query, including those not returned.
    elapsed_s : float
    """

    tables: ClassVar[tuple[str, ...]] = ("table",)
    computed = ("is_truncated",)

    query: str
    documents: tuple[FoundDocument, ...]
    n_found: int
    elapsed_s: float

    @property
    def is_truncated(self) -> bool:
        """Whether documents were found that are not returned."""
        return self.n_found > len(self.documents)

    def first(self, n: int) -> SearchResult:
        """Return the same result with only the first documents."""
        return replace(self, documents=self.documents[:n])

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def table(self) -> pa.Table:
        """A row for each document, the most relevant first, with its snippet."""
        found = columns("doc_id version wave source line n_characters relevance snippet")
        return table_of((one.to_dict() for one in self.documents), *found)

    def __repr__(self) -> str:
        return f"SearchResult({counted(self.n_found, 'document')} with {self.query})"


_ALL = 2**62
_SHOWN_AT_A_TIME = 64


def search(collection: OpenedCollection, query: str, *, wave: str | None, limit: int | None) -> SearchResult:
    """Search for words; see `Collection.search`."""
    started = time.perf_counter()
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ParameterError.of("limit", "an int >= 1", limit)
    parsed = parse(query)
    with collection.store.reading() as connection:
        is_wanted = _of_wave(connection, wave)
        relevance = dict(word_tables.found(connection, parsed))
        found, n_found = current_documents(connection, list(relevance), _ALL if limit is None else limit, is_wanted)
        shown = tuple(_shown(connection, tuple(terms_of(parsed)), found, relevance))
    elapsed_s = round(time.perf_counter() - started, 4)
    return SearchResult(query=query, documents=shown, n_found=n_found, elapsed_s=elapsed_s)


def _of_wave(connection: Connection, wave: str | None) -> ColumnElement[bool]:
    if wave is None:
        return true()
    return documents.c.load.in_(select(loads.c.load).where(loads.c.wave == number_of_wave(connection, wave)))


def _shown(
    connection: Connection, terms: Sequence[Term], found: Sequence[StoredDocument], relevance: dict[int, float]
) -> Iterator[FoundDocument]:
    for start in range(0, len(found), _SHOWN_AT_A_TIME):
        some = found[start : start + _SHOWN_AT_A_TIME]
        texts = texts_of(connection, list(dict.fromkeys(one.content for one in some)))
        snippets = {content: snippet(text, terms) for content, text in texts.items()}
        yield from (FoundDocument(one, relevance[one.content], snippets[one.content]) for one in some)


_WORDS, _WORDS_BEFORE = 24, 6
_CHARACTERS_AT_A_TIME = 1 << 14
_READ_AT_A_TIME = _CHARACTERS_AT_A_TIME + (1 << 10)  # a passage can begin near the end of a part
_MAX_PARTS = 8
"""Parts of a long text in which a better passage is sought than the first one found."""
Occurrence = tuple[int, int, int]
"""First word of a term in a text, the one after its last, and the number of the term."""


def snippet(text: str, terms: Sequence[Term]) -> tuple[SnippetPiece, ...]:
    r"""Return the passage with the most different terms, in one line, with their words marked."""
    best: tuple[int, int, int, list[list[int]], list[Occurrence]] = (-1, 0, 0, [], [])
    for part, start in enumerate(range(0, max(len(text), 1), _CHARACTERS_AT_A_TIME)):
        spans, occurrences = _occurrences(text, start, terms)
        first, n_terms = _densest(occurrences)
        if n_terms > best[0]:
            best = n_terms, start, first, spans, occurrences
        if best[0] == len(terms) or (best[0] and part >= _MAX_PARTS):
            break
    _, start, first, spans, occurrences = best
    if not spans:
        return _in_one_line([SnippetPiece(text[: _WORDS * LONGEST_WORD], False)])
    low = max(0, min(first - _WORDS_BEFORE, len(spans) - _WORDS))
    shown = spans[low : low + _WORDS]
    is_first, is_last = low == start == 0, low + _WORDS >= len(spans) and start + _READ_AT_A_TIME >= len(text)
    start = max(0 if is_first else shown[0][0], spans[first][0] - _WORDS_BEFORE * LONGEST_WORD)
    end = min(len(text) if is_last else shown[-1][1], start + _WORDS * LONGEST_WORD)
    marked = {place for begin, after, _ in occurrences for place in range(begin, after)}
    pieces, at = [SnippetPiece("…", False)] * (start > 0), start
    for place, (begin, after) in enumerate(shown, low):
        if place in marked and at <= begin < end:
            pieces += [SnippetPiece(text[at:begin], False), SnippetPiece(text[begin : min(after, end)], True)]
            at = min(after, end)
    pieces.append(SnippetPiece(text[at:end], False))
    return _in_one_line([*pieces, *[SnippetPiece("…", False)] * (end < len(text))])


def _occurrences(text: str, start: int, terms: Sequence[Term]) -> tuple[list[list[int]], list[Occurrence]]:
    end = start + _READ_AT_A_TIME
    spans = [[start + begin, start + after] for begin, after in _spans(text[start:end])]
    spans = spans[start > 0 : len(spans) - (end < len(text))]  # words at its edges may be cut
    by_span = words_of([text[begin:after] for begin, after in spans])
    words = [word for own in by_span for word in own]
    owners = [place for place, own in enumerate(by_span) for _ in own]
    found = [
        (owners[at], owners[at + len(term.words) - 1] + 1, number)
        for number, term in enumerate(terms)
        for at in term.places_in(words)
    ]
    return spans, sorted(found)


def _densest(occurrences: Sequence[Occurrence]) -> tuple[int, int]:
    best, n_best = 0, 0
    for at, (first, _, _) in enumerate(occurrences):
        after = first + _WORDS - _WORDS_BEFORE
        n_terms = len({number for place, _, number in occurrences[at : at + _WORDS * 4] if place < after})
        if n_terms > n_best:
            best, n_best = first, n_terms
    return best, n_best


def _spans(text: str) -> list[list[int]]:
    kinds = character_classes()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)]
    places = np.flatnonzero((kinds != FORMAT) & (kinds != MARK))
    own = kinds[places]
    before = np.concatenate([[0], own[:-1]]) if len(own) else own
    is_start = (own == ALONE) | ((own == WORD) & (before != WORD))
    starts = np.flatnonzero(is_start)
    ends = np.flatnonzero(is_start | ((own != WORD) & (own != ALONE)))  # what ends the word before it
    after = np.append(ends, len(places))[np.searchsorted(ends, starts, side="right")]
    spans: list[list[int]] = np.stack([places[starts], np.append(places, len(text))[after]], axis=1).tolist()
    return spans


def _in_one_line(pieces: Sequence[SnippetPiece]) -> tuple[SnippetPiece, ...]:
    lines = [SnippetPiece(re.sub(r"\s+", " ", piece.text), piece.is_match) for piece in pieces]
    if lines and not lines[0].is_match:
        lines[0] = SnippetPiece(lines[0].text.lstrip(), False)
    if lines and not lines[-1].is_match:
        lines[-1] = SnippetPiece(lines[-1].text.rstrip(), False)
    return tuple(piece for piece in lines if piece.text)
