"""Search for words in all current documents, the most relevant first.

Source of the relevance: Stephen Robertson and Hugo Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
2009, with the inverse document frequency of Lucene, which is never negative.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from sqlalchemy import ColumnElement, Connection, select, true
from sqlalchemy.exc import DBAPIError

from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.contents import text_of, texts_from, texts_of
from nearkin.collection.stored.documents import current_documents, number_of_wave
from nearkin.collection.stored.reach import Reach
from nearkin.collection.word_search.results import FoundDocument, SearchResult, SnippetPiece
from nearkin.collection.word_search.tokens import MetTerm, Tokens, WordQuery, parse_words, spans_of, tokens_of
from nearkin.collection.word_search.word_tables import MAX_COUNTED, WordTables, fill, reach, remake
from nearkin.errors import CollectionError, OutputError, ParameterError
from nearkin.records import F64, I64
from nearkin.stages.differences.passages import LONGEST_WORD
from nearkin.store.bulk import in_slices
from nearkin.store.failures import reason_of
from nearkin.store.schema import contents, documents, loads
from nearkin.wording import WarningMessage

_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25
_ALL = 2**62
_CHARACTERS_SHOWN_AT_A_TIME = 1 << 22
"""Maximum number of characters of the texts whose snippets are made together, unless one text has more."""
_TEXTS_OF_A_TRANSACTION = 1 << 16  # some ten seconds
_DAMAGED_INDEX = ("SQLITE_CORRUPT", "SQLITE_ERROR")


class _WordsDamagedError(Exception):
    """The stored words and the texts disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidates:
    """Texts that have all words, and what their relevance is computed from."""

    contents: I64
    lengths: I64
    counts: I64
    n_with: I64
    n_texts: int
    n_tokens: int

    def joined(self, other: _Candidates) -> _Candidates:
        """Add the candidates among other texts."""
        return _Candidates(
            contents=np.concatenate([self.contents, other.contents]),
            lengths=np.concatenate([self.lengths, other.lengths]),
            counts=np.concatenate([self.counts, other.counts], axis=1),
            n_with=self.n_with + other.n_with,
            n_texts=self.n_texts + other.n_texts,
            n_tokens=self.n_tokens + other.n_tokens,
        )

    def relevance(self) -> F64:
        """Return BM25 of each."""
        idf = np.log(1 + (self.n_texts - self.n_with + 0.5) / (self.n_with + 0.5))
        length = self.lengths / (self.n_tokens / self.n_texts) if self.n_tokens else np.zeros(len(self.lengths))
        found = np.zeros(len(self.contents))
        for weight, n in zip(idf, self.counts):
            found += weight * n * (_SATURATION + 1) / (n + _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length))
        return found


def search(collection: OpenedCollection, query: str, *, wave: str | None, limit: int | None) -> SearchResult:
    """Search for words; see `Collection.search`."""
    started = time.perf_counter()
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise ParameterError.of("limit", "an int >= 1", limit)
    words = parse_words(query)
    _store_words(collection)
    try:
        return _searched(collection, query, words, wave, limit, started)
    except _WordsDamagedError as error:
        is_stored = _made_again(collection, error)
    try:
        return _searched(collection, query, words, wave, limit, started, reads_texts=not is_stored)
    except _WordsDamagedError as error:
        raise CollectionError(f"The stored words and the texts of {collection.place} disagree: {error}.") from error


def _made_again(collection: OpenedCollection, damage: _WordsDamagedError) -> bool:
    """Replace the stored words; if that is impossible, say so and return False."""
    progress = collection.progress
    progress.say(WarningMessage(f"the stored words of the texts are damaged and are made again ({damage})"))
    try:
        with collection.store.writing() as connection:
            remake(connection, collection.store, progress)
    except (CollectionError, OutputError) as error:  # another process is writing, or permission is denied
        told = f"the words cannot be stored ({reason_of(error)}): this search reads all texts, which is slower"
        progress.say(WarningMessage(told))
        return False
    return True


def _store_words(collection: OpenedCollection) -> None:
    """Store the words of new texts; if that is impossible, say so."""
    store, progress = collection.store, collection.progress
    with store.reading() as connection:
        now = reach(connection, store)
        are_hidden = now.end is None and WordTables.of(connection).are_hidden()
    if now.is_whole:
        return
    if are_hidden:  # another user stored them
        progress.say(
            "permission denied for the stored words (search_words): this search reads the texts, which is slower"
        )
        return
    is_whole = False
    try:
        while not is_whole:
            with store.writing() as connection:
                is_whole = fill(connection, store, progress, at_most=_TEXTS_OF_A_TRANSACTION)
    except (CollectionError, OutputError) as error:  # another process is writing, or permission is denied
        reason = reason_of(error)
        progress.say(f"the words of new texts cannot be stored ({reason}): this search finds them, which is slower")


def _searched(
    collection: OpenedCollection,
    query: str,
    words: WordQuery,
    wave: str | None,
    limit: int | None,
    started: float,
    *,
    reads_texts: bool = False,
) -> SearchResult:
    """Search; with ``reads_texts`` as if no words were stored."""
    with collection.store.reading() as connection:
        is_wanted = _of_wave(connection, wave)
        now = reach(connection, collection.store)
        now = Reach(None, now.n_contents, ()) if reads_texts else now
        candidates, n_read, n_lost = _candidates(connection, collection, words, now)
        relevance = candidates.relevance()
        order = np.lexsort((candidates.contents, -relevance))
        numbers = candidates.contents[order].tolist()
        if not words.is_in_index:
            numbers = list(_met(connection, _with_document(connection, numbers, is_wanted), words))
        found, n_found = current_documents(connection, numbers, _ALL if limit is None else limit, is_wanted)
        relevance_of = dict(zip(candidates.contents.tolist(), relevance.tolist(), strict=True))
        shown = tuple(_shown(connection, words, found, relevance_of))
    return SearchResult(
        query=query,
        documents=shown,
        n_found=n_found,
        ignored=words.ignored,
        n_read=n_read,
        n_damaged=n_lost,
        elapsed_s=round(time.perf_counter() - started, 4),
    )


def _of_wave(connection: Connection, wave: str | None) -> ColumnElement[bool]:
    if wave is None:
        return true()
    return documents.c.load.in_(select(loads.c.load).where(loads.c.wave == number_of_wave(connection, wave)))


def _candidates(
    connection: Connection, collection: OpenedCollection, words: WordQuery, now: Reach
) -> tuple[_Candidates, int, int]:
    """Return the texts that have all words, the number of texts read for it, and of those that are damaged."""
    found = _stored_candidates(connection, words) if now.end is not None else _of_texts([], [], words)
    n_read, n_lost = 0, len(now.lost)
    if not now.is_whole:
        for numbers, texts, lost in texts_from(connection, now.first_without, collection.progress, stage="words"):
            found = found.joined(_of_texts(numbers.tolist(), texts, words))
            n_read, n_lost = n_read + len(numbers), n_lost + len(lost)
    return found, n_read, n_lost


def _stored_candidates(connection: Connection, words: WordQuery) -> _Candidates:
    tables = WordTables.of(connection)
    try:
        numbers, lengths, counts = tables.found(words.indexed)
        n_with = np.array([tables.n_with(word) for word in words.indexed], np.int64)
        n_texts, n_tokens = tables.size()
    except DBAPIError as error:
        if not str(getattr(error.orig, "sqlite_errorname", "")).startswith(_DAMAGED_INDEX):
            raise
        raise _WordsDamagedError(str(error.orig)) from error
    return _Candidates(
        contents=numbers, lengths=lengths, counts=counts, n_with=n_with, n_texts=n_texts, n_tokens=n_tokens
    )


def _of_texts(numbers: Sequence[int], texts: Sequence[str], words: WordQuery) -> _Candidates:
    """Return the candidates among texts whose words are not stored."""
    tokens = tokens_of(texts)
    counts = np.minimum(_counts(tokens.as_keys(), words), MAX_COUNTED)
    has_all = (counts > 0).all(axis=0)
    return _Candidates(
        contents=np.array(numbers, np.int64)[has_all],
        lengths=tokens.lengths[has_all],
        counts=counts[:, has_all],
        n_with=(counts > 0).sum(axis=1),
        n_texts=len(texts),
        n_tokens=int(tokens.lengths.sum()),
    )


def _counts(keys: Tokens, words: WordQuery) -> I64:
    """Count each word in each text."""
    texts = np.repeat(np.arange(len(keys.offsets) - 1), keys.lengths)
    counts = np.zeros((len(words.indexed), len(keys.offsets) - 1), np.int64)
    for place, word in enumerate(words.indexed):
        is_meant = np.array([word.is_met_by(key) for key in keys.words], np.bool_)
        if is_meant.any():
            counts[place] = np.bincount(texts[is_meant[keys.ids]], minlength=counts.shape[1])
    return counts


def _with_document(connection: Connection, numbers: Sequence[int], is_wanted: ColumnElement[bool]) -> list[int]:
    """Return those contents, in order, that have a document of the answer."""
    found = set[int]()
    for some in in_slices(numbers):
        condition = documents.c.content.in_(some) & documents.c.is_current & is_wanted
        found |= set(connection.execute(select(documents.c.content).where(condition)).scalars())
    return [number for number in numbers if number in found]


def _met(connection: Connection, numbers: Sequence[int], words: WordQuery) -> Iterator[int]:
    """Yield the contents whose texts have every phrase."""
    for start in range(0, len(numbers), 256):
        some = numbers[start : start + 256]
        query = select(contents.c.content, contents.c.text, contents.c.digest).where(contents.c.content.in_(some))
        texts = {row.content: text_of(row.content, row.text, row.digest) for row in connection.execute(query)}
        tokens = tokens_of([texts[number] for number in some])
        is_met = np.logical_and.reduce([term.texts_in(tokens) for term in words.terms if not term.is_in_index])
        yield from (number for number, is_it in zip(some, is_met) if is_it)


def _shown(
    connection: Connection, words: WordQuery, found: Sequence[StoredDocument], relevance: dict[int, float]
) -> Iterator[FoundDocument]:
    """Yield the documents with their snippets; the stored words are compared with these texts."""
    by_text = [(content, list(own)) for content, own in groupby(found, lambda one: one.content)]
    for some in _some_at_a_time(by_text):
        text_of_content = texts_of(connection, [content for content, _ in some])
        texts = [text_of_content[content] for content, _ in some]
        tokens = tokens_of(texts)
        for (content, own), text, its_words, met in zip(some, texts, tokens.by_text(), words.met_in(tokens)):
            if not words.is_met_by(met):
                raise _WordsDamagedError(f"text {content} does not have the words stored for it")
            its_snippet = snippet(text, its_words, met)
            yield from (FoundDocument(one, relevance[content], its_snippet) for one in own)


def _some_at_a_time(
    by_text: Sequence[tuple[int, list[StoredDocument]]],
) -> Iterator[list[tuple[int, list[StoredDocument]]]]:
    """Yield the texts in order, in lots that fit in memory."""
    some, n_characters = list[tuple[int, list[StoredDocument]]](), 0
    for content, own in by_text:
        if some and n_characters + own[0].n_characters > _CHARACTERS_SHOWN_AT_A_TIME:
            yield some
            some, n_characters = [], 0
        some.append((content, own))
        n_characters += own[0].n_characters
    if some:
        yield some


_WORDS = 24
_WORDS_BEFORE = 6
_GAP = "…"


def snippet(text: str, tokens: Sequence[str], met: Sequence[MetTerm]) -> tuple[SnippetPiece, ...]:
    r"""Return a passage with the words marked, in one line.

    Parameters
    ----------
    text : str
    tokens : sequence of str
        Its words.
    met : sequence of (int, int, int)
        Where the terms of the query begin, as `WordQuery.met_in` returns it for the text.

    Examples
    --------
    >>> from nearkin.collection.word_search.tokens import parse_words
    >>> from nearkin.collection.word_search.tokens import tokens_of
    >>> text = "The rent is\ndue today."
    >>> tokens = tokens_of([text])
    >>> (words,), (met,) = tokens.by_text(), parse_words("rent du*").met_in(tokens)
    >>> [piece.text for piece in snippet(text, words, met) if piece.is_match]
    ['rent', 'due']
    """
    spans = spans_of(text, tokens)
    if spans is None or not len(spans):
        return _joined([SnippetPiece(text[: _WORDS * LONGEST_WORD], False)])
    first = _best_start(met)
    low = max(0, min(first - _WORDS_BEFORE, len(spans) - _WORDS))
    high = min(len(spans), low + _WORDS)
    marked = {place for start, n, _ in met for place in range(start, start + n)}
    near = spans[low:high].tolist()
    start = 0 if low == 0 else near[0][0]
    end = len(text) if high == len(spans) else near[-1][1]
    start = max(start, near[first - low][0] - _WORDS_BEFORE * LONGEST_WORD)
    end = min(end, start + _WORDS * LONGEST_WORD)
    pieces = _pieces(text, [own for place, own in enumerate(near, low) if place in marked], start, end)
    if start > 0:
        pieces.insert(0, SnippetPiece(_GAP, False))
    if end < len(text):
        pieces.append(SnippetPiece(_GAP, False))
    return _joined(pieces)


def _best_start(matches: Sequence[MetTerm]) -> int:
    """Return the match after which the most different terms follow within a passage; the first of several."""
    best, n_best, low = 0, 0, 0
    here = dict[int, int]()
    for place, _, number in matches:
        here[number] = here.get(number, 0) + 1
        while matches[low][0] <= place - (_WORDS - _WORDS_BEFORE):
            gone = matches[low][2]
            here[gone] -= 1
            if not here[gone]:
                del here[gone]
            low += 1
        if len(here) > n_best:
            best, n_best = matches[low][0], len(here)
    return best


def _pieces(text: str, marked: Sequence[Sequence[int]], start: int, end: int) -> list[SnippetPiece]:
    """Return the text between two places, with marked words; words of a phrase are marked one by one."""
    pieces, at = list[SnippetPiece](), start
    for low, high in marked:
        if low < at or low >= end:
            continue
        pieces += [SnippetPiece(text[at:low], False), SnippetPiece(text[low : min(high, end)], True)]
        at = min(high, end)
    return [*pieces, SnippetPiece(text[at:end], False)]


def _joined(pieces: Sequence[SnippetPiece]) -> tuple[SnippetPiece, ...]:
    """Return the pieces in one line: white space is a single space."""
    lines = [SnippetPiece(_line(piece.text) if piece.text.strip() else " " * bool(piece.text), piece.is_match)
             for piece in pieces]  # fmt: skip
    lines = [one for one in lines if one.text]
    if lines and not lines[0].is_match:
        lines[0] = SnippetPiece(lines[0].text.lstrip(), False)
    if lines and not lines[-1].is_match:
        lines[-1] = SnippetPiece(lines[-1].text.rstrip(), False)
    return tuple(one for one in lines if one.text)


def _line(text: str) -> str:
    """Collapse white space, and keep a single space at either end."""
    before, after = text[:1].isspace(), text[-1:].isspace()
    return " " * before + " ".join(text.split()) + " " * after
