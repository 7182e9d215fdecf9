"""Search for words in all current documents, the most relevant first."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, FromClause, Select, func, literal, select

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument, columns, table_of
from nearkin.collection.stored import word_tables
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.documents import stored_documents, with_documents
from nearkin.collection.stored.word_tables import Combination, Query, Term, terms_of, words_of
from nearkin.collection.word_search.query import compiled, parse
from nearkin.errors import ParameterError
from nearkin.kernels.characters import ALONE, FORMAT, MARK, WORD, character_classes
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.stages.differences.passages import LONGEST_WORD
from nearkin.store.bulk import n_rows
from nearkin.store.schema import documents, loads
from nearkin.tabular import AnswerRecord, Tabular


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
    relevance
        BM25 of the query in SQLite, ts_rank in PostgreSQL: higher if its words are more frequent in the text.
    pieces
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
    documents
        The most relevant first; at most ``limit``.
    """

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
        own_columns = columns("doc_id version wave source line n_characters relevance snippet")
        return table_of((document.to_dict() for document in self.documents), *own_columns)

    def __repr__(self) -> str:
        return f"SearchResult({counted(self.n_found, 'document')} with {self.query})"


MOST_RANKED = 10_000
"""Documents whose relevance is computed; to rank all texts with a word that most texts have took a second."""
_SHOWN_AT_A_TIME = 64


def search(collection: OpenedCollection, query: str, *, wave: str | None, limit: int | None) -> SearchResult:
    """Search for words; see `Collection.search`."""
    started = time.perf_counter()
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ParameterError.of("limit", "an int >= 1", limit)
    with collection.store.reading() as connection:
        wanted = parsed(connection, query, wave)
        rows, n_found = _ranked(connection, wanted, limit)
        shown = tuple(_shown(connection, tuple(terms_of(wanted)), stored_documents(rows), rows))
    elapsed_s = round(time.perf_counter() - started, 4)
    return SearchResult(query=query, documents=shown, n_found=n_found, elapsed_s=elapsed_s)


def found_ids(connection: Connection, query: str, *, wave: str | None) -> list[str]:
    """Return the ids of the documents that meet a query, the most relevant first."""
    rows, _ = _ranked(connection, parsed(connection, query, wave), None)
    return [row.doc_id for row in rows]


def parsed(connection: Connection, query: object, wave: str | None) -> Query:
    """Parse a query, which a wave narrows."""
    tree = parse(query, connection)
    return tree if wave is None else Combination("AND", tree, Term((wave,), field="wave"))


def _ranked(connection: Connection, query: Query, limit: int | None) -> tuple[Sequence[Any], int]:
    most = None if limit is None else max(limit, MOST_RANKED)
    newest, of_hits, is_wanted = newest_found(connection, query)
    matching = newest.limit(most).subquery("found").c
    best = select(matching.row, matching.relevance, func.count().over().label("n_found"))
    ranked = best.order_by(matching.relevance.desc(), matching.content, matching.row).limit(limit).subquery("ranked")
    listed = with_documents().join(ranked, ranked.c.row == documents.c.row).add_columns(ranked.c.relevance)
    listed = listed.add_columns(ranked.c.n_found)
    listed = listed.order_by(ranked.c.relevance.desc(), documents.c.content, documents.c.row)
    rows = connection.execute(listed).all()
    n_found = rows[0].n_found if rows else 0
    return rows, n_rows(connection, of_hits, is_wanted) if n_found == most else n_found


def newest_found(connection: Connection, query: Query) -> tuple[Select[Any], FromClause, ColumnElement[bool]]:
    """Return a query for the rows and relevance of the documents that meet a query, those of the newest texts first.

    And its tables, and its condition.
    """
    words, is_wanted, has_loads = compiled(connection, query)
    relevance: ColumnElement[float] = literal(0.0)
    of_hits: FromClause = documents.join(loads) if has_loads else documents
    content: ColumnElement[int] = documents.c.content
    if words is not None:
        hits = word_tables.hits(words, connection.dialect.name)
        # in the order of the index, so that the relevance of older ones is not computed
        relevance, content = hits.c.relevance, hits.c.content
        of_hits = of_hits.join(hits, documents.c.content == hits.c.content)
    newest = select(documents.c.row, content, relevance.label("relevance")).select_from(of_hits)
    return newest.where(is_wanted).order_by(content.desc()), of_hits, is_wanted


def _shown(
    connection: Connection, terms: Sequence[Term], ranked: Sequence[StoredDocument], rows: Sequence[Any]
) -> Iterator[FoundDocument]:
    for start in range(0, len(ranked), _SHOWN_AT_A_TIME):
        block = slice(start, start + _SHOWN_AT_A_TIME)
        texts = texts_of(connection, list(dict.fromkeys(document.content for document in ranked[block])))
        by_content = dict(zip(texts, snippets(list(texts.values()), terms), strict=True))
        yield from (
            FoundDocument(document, row.relevance, by_content[document.content])
            for document, row in zip(ranked[block], rows[block], strict=True)
        )


_WORDS, _WORDS_BEFORE = 24, 6
_CHARACTERS_AT_A_TIME = 1 << 14
_READ_AT_A_TIME = _CHARACTERS_AT_A_TIME + (1 << 10)  # a passage can begin near the end of a part
_MAX_PARTS = 8
"""Parts of a long text in which a better passage is sought than the first one found."""
Occurrence = tuple[int, int, int]
"""First word of a term in a text, the one after its last, and the number of the term."""


@dataclass(slots=True)
class _Passage:
    """Best part of a text so far: its start, its first word that counts, and its words and terms."""

    n_terms: int = -1
    start: int = 0
    first: int = 0
    spans: I64 = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    occurrences: list[Occurrence] = field(default_factory=list)


def snippets(texts: Sequence[str], terms: Sequence[Term]) -> list[tuple[SnippetPiece, ...]]:
    r"""Return the passage of each text with the most different terms, in one line, with their words marked."""
    best, left, part = [_Passage() for _ in texts], list(range(len(texts))), 0
    while left:
        start = part * _CHARACTERS_AT_A_TIME
        for i, (spans, occurrences) in zip(left, _occurrences([texts[i] for i in left], start, terms), strict=True):
            first, n_terms = _densest(occurrences)
            if n_terms > best[i].n_terms:
                best[i] = _Passage(n_terms, start, first, spans, occurrences)
        part += 1
        most = len(terms) if part <= _MAX_PARTS else 1
        left = [i for i in left if best[i].n_terms < most and part * _CHARACTERS_AT_A_TIME < len(texts[i])]
    return [_snippet(text, passage) for text, passage in zip(texts, best, strict=True)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return where the words of a text begin and end."""
    return [(begin, end) for begin, end in _spans([text], 0)[0].tolist()]


def _snippet(text: str, passage: _Passage) -> tuple[SnippetPiece, ...]:
    spans, first = passage.spans, passage.first
    if not len(spans):
        return _in_one_line([SnippetPiece(text[: _WORDS * LONGEST_WORD], False)])
    low = max(0, min(first - _WORDS_BEFORE, len(spans) - _WORDS))
    shown = spans[low : low + _WORDS].tolist()
    is_first = low == passage.start == 0
    is_last = low + _WORDS >= len(spans) and passage.start + _READ_AT_A_TIME >= len(text)
    start = max(0 if is_first else shown[0][0], int(spans[first, 0]) - _WORDS_BEFORE * LONGEST_WORD)
    end = min(len(text) if is_last else shown[-1][1], start + _WORDS * LONGEST_WORD)
    marked = {place for begin, after, _ in passage.occurrences for place in range(begin, after)}
    pieces, at = [SnippetPiece("…", False)] * (start > 0), start
    for place, (begin, after) in enumerate(shown, low):
        if place in marked and at <= begin < end:
            pieces += [SnippetPiece(text[at:begin], False), SnippetPiece(text[begin : min(after, end)], True)]
            at = min(after, end)
    pieces.append(SnippetPiece(text[at:end], False))
    return _in_one_line([*pieces, *[SnippetPiece("…", False)] * (end < len(text))])


def _occurrences(texts: Sequence[str], start: int, terms: Sequence[Term]) -> Iterator[tuple[I64, list[Occurrence]]]:
    """Yield the words of a part of each text, and where the terms occur; the words of all are split at once."""
    end = start + _READ_AT_A_TIME
    of_texts = _spans([text[start:end] for text in texts], start)
    # words at the edges of a part may be cut
    of_texts = [
        pieces[start > 0 : len(pieces) - (end < len(text))] for text, pieces in zip(texts, of_texts, strict=True)
    ]
    written = [[text[a:b] for a, b in zip(*pieces.T.tolist())] for text, pieces in zip(texts, of_texts, strict=True)]
    distinct = list(set(chain.from_iterable(written)))
    words_in = dict(zip(distinct, words_of(distinct), strict=True))
    for spans, pieces in zip(of_texts, written, strict=True):
        by_span = [words_in[word] for word in pieces]
        words = list(chain.from_iterable(by_span))
        owners = np.repeat(np.arange(len(pieces)), [len(split) for split in by_span]).tolist()
        occurrences = [
            (owners[at], owners[at + len(term.words) - 1] + 1, number)
            for number, term in enumerate(terms)
            for at in term.places_in(words)
        ]
        yield spans, sorted(occurrences)


def _densest(occurrences: Sequence[Occurrence]) -> tuple[int, int]:
    best, n_best, n_all = 0, 0, len({number for _, _, number in occurrences})
    for at, (first, _, _) in enumerate(occurrences):
        if n_best == n_all:
            break
        after = first + _WORDS - _WORDS_BEFORE
        n_terms = len({number for place, _, number in occurrences[at : at + _WORDS * 4] if place < after})
        if n_terms > n_best:
            best, n_best = first, n_terms
    return best, n_best


def _spans(parts: Sequence[str], start: int) -> list[I64]:
    """Return where the words of each part begin and end, counted from ``start``; no word contains a line break."""
    text = "\n".join(parts)
    kinds = character_classes()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)]
    places = np.flatnonzero((kinds != FORMAT) & (kinds != MARK))
    kind = kinds[places]
    before = np.concatenate([[0], kind[:-1]]) if len(kind) else kind
    is_start = (kind == ALONE) | ((kind == WORD) & (before != WORD))
    starts = np.flatnonzero(is_start)
    ends = np.flatnonzero(is_start | ((kind != WORD) & (kind != ALONE)))  # what ends the word before it
    after = np.append(ends, len(places))[np.searchsorted(ends, starts, side="right")]
    bounds = np.stack([places[starts], np.append(places, len(text))[after]], axis=1)
    begins = np.cumsum([0, *(len(part) + 1 for part in parts)])
    cuts = np.searchsorted(bounds[:, 0], begins)
    return [bounds[i:j] + (start - at) for at, (i, j) in zip(begins[:-1].tolist(), pairwise(cuts.tolist()))]


_SPACES = re.compile(r"\s+")


def _in_one_line(pieces: Sequence[SnippetPiece]) -> tuple[SnippetPiece, ...]:
    lines = [SnippetPiece(_SPACES.sub(" ", piece.text), piece.is_match) for piece in pieces]
    if lines and not lines[0].is_match:
        lines[0] = SnippetPiece(lines[0].text.lstrip(), False)
    if lines and not lines[-1].is_match:
        lines[-1] = SnippetPiece(lines[-1].text.rstrip(), False)
    return tuple(piece for piece in lines if piece.text)
