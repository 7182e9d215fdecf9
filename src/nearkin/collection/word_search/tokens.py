"""Words of texts as a search compares them: those of word shingles, in lower case, without punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from nearkin.collection.counting import NORMALISE
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import large_strings, strings
from nearkin.kernels.characters import ALONE, FORMAT, MARK, WORD, character_classes
from nearkin.records import I64, U32, Bool
from nearkin.stages.features.words import WordSplitter

_SPLITTER = WordSplitter()
MAX_OF_A_KEY = 100
"""Characters of a word that are indexed; PostgreSQL refuses long ones. The text itself decides about the rest."""
FINGERPRINT = f"{NORMALISE.fingerprint};{_SPLITTER.fingerprint};key={MAX_OF_A_KEY}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words of some texts, in their order.

    Parameters
    ----------
    words : list of str
        Distinct words.
    ids : int64 array, shape (n_tokens,)
        Place in ``words`` of each word of each text.
    offsets : int64 array, shape (n_texts + 1,)
        The words of text ``i`` are ``ids[offsets[i]:offsets[i + 1]]``.
    """

    words: list[str]
    ids: I64
    offsets: I64

    @property
    def lengths(self) -> I64:
        """Number of words of each text."""
        return np.diff(self.offsets)

    def by_text(self) -> list[list[str]]:
        """Return the words of each text."""
        words = self.in_order()
        return [words[start:end] for start, end in pairwise(self.offsets.tolist())]

    def in_order(self) -> list[str]:
        """Return the words of all texts, one text after another."""
        return [self.words[i] for i in self.ids.tolist()]

    def as_keys(self) -> Tokens:
        """Return the same with words cut to the length that is indexed."""
        if all(len(word) <= MAX_OF_A_KEY for word in self.words):
            return self
        keys = [word[:MAX_OF_A_KEY] for word in self.words]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        return Tokens(list(places), np.array([places[key] for key in keys], np.int64)[self.ids], self.offsets)

    def counted(self) -> tuple[I64, I64, I64]:
        """Return each distinct word of each text: the places of text and word, and how often it occurs."""
        n_words = max(len(self.words), 1)
        texts = np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int64), self.lengths)
        found, n = np.unique(texts * n_words + self.ids, return_counts=True)
        return found // n_words, found % n_words, n.astype(np.int64)


def tokens_of(texts: Sequence[str]) -> Tokens:
    """Return the words of some texts.

    Examples
    --------
    >>> tokens_of(["It's DUE, due.", "ﬁle 日本"]).by_text()
    [['it', 's', 'due', 'due'], ['file', '日', '本']]
    """
    return _tokens_of(strings(texts))


def _tokens_of(texts: pa.LargeStringArray) -> Tokens:
    if not len(texts):
        return Tokens([], np.zeros(0, np.int64), np.zeros(1, np.int64))
    split = _SPLITTER.split(NORMALISE.apply(texts))
    return Tokens(split.words.to_pylist(), split.ids.astype(np.int64), split.offsets)


def spans_of(text: str, tokens: Sequence[str]) -> I64 | None:
    """Return where each word of a text begins and ends, or None if that is unknown.

    Parameters
    ----------
    text : str
    tokens : sequence of str
        Its words after normalisation, by which a character can become several words, or part of another.

    Returns
    -------
    int64 array, shape (n_words, 2), or None

    Examples
    --------
    >>> text = "It's due."
    >>> [text[start:end] for start, end in spans_of(text, ["it", "s", "due"])]
    ['It', 's', 'due']
    """
    spans = _spans(text)
    words = _tokens_of(_parts(text, spans))
    if (words.lengths == 1).all() and words.in_order() == list(tokens):
        return spans
    return _spans_in_chunks(text, spans, words.by_text(), tokens)


def _spans_in_chunks(text: str, spans: I64, words: Sequence[Sequence[str]], tokens: Sequence[str]) -> I64 | None:
    """Do the same where a word as it is written is not a word after normalisation: the part between white space is."""
    chunks = _chunks(text)
    of_chunks = tokens_of([text[start:end] for start, end in chunks]).by_text()
    if [word for some in of_chunks for word in some] != list(tokens):
        return None
    aligned, at, written = list[Sequence[int]](), 0, spans.tolist()
    for chunk, here in zip(chunks, of_chunks):
        first = at
        while at < len(written) and written[at][0] < chunk[1]:
            at += 1
        aligned += written[first:at] if words[first:at] == [[word] for word in here] else [chunk] * len(here)
    return np.array(aligned, np.int64).reshape(-1, 2)


def ends_in_word(text: str) -> bool:
    """Whether the last character belongs to a word.

    Examples
    --------
    >>> [ends_in_word(text) for text in ("day", "day.", "e\u0301", "日", "")]
    [True, False, True, True, False]
    """
    spans = _spans(text)
    return bool(len(spans)) and int(spans[-1, 1]) == len(text)


def _chunks(text: str) -> list[tuple[int, int]]:
    """Return where the parts of a text between white space begin and end."""
    spans, at = list[tuple[int, int]](), 0
    for part in text.split():
        start = text.index(part, at)
        at = start + len(part)
        spans.append((start, at))
    return spans


def _spans(text: str) -> I64:
    """Return where the words of a text begin and end as it is written, without normalisation."""
    kinds = character_classes()[_code_points(text)]
    places = np.flatnonzero((kinds != FORMAT) & (kinds != MARK))
    own = kinds[places]
    before = np.concatenate([[0], own[:-1]]) if len(own) else own
    is_start = (own == ALONE) | ((own == WORD) & (before != WORD))
    ends = np.flatnonzero(is_start | ~((own == WORD) | (own == ALONE)))  # what ends the word before it
    starts = np.flatnonzero(is_start)
    after = np.searchsorted(ends, starts, side="right")
    stops = np.append(places, len(text))[np.append(ends, len(places))[after]]
    return np.stack([places[starts], stops], axis=1)


def _parts(text: str, spans: I64) -> pa.LargeStringArray:
    """Return the parts of a text; to cut out each word of a long text in Python takes long."""
    points = _code_points(text)
    n_bytes = 1 + (points >= 0x80) + (points >= 0x800).astype(np.int64) + (points >= 0x10000)
    starts, ends = np.concatenate([[0], np.cumsum(n_bytes)])[spans].T
    offsets = np.concatenate([[0], np.cumsum(ends - starts)])
    places = np.repeat(starts - offsets[:-1], ends - starts) + np.arange(offsets[-1])
    return large_strings(np.frombuffer(text.encode(), np.uint8)[places], offsets)


def _code_points(text: str) -> U32:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


_PARTS = re.compile(r'"([^"]*)("?)(\*?)|([^\s"]+)')
_MAX_WORDS = 64
MetTerm = tuple[int, int, int]
"""Place of a term among the words of a text, its number of words, and its number in the query."""


@dataclass(frozen=True, slots=True)
class IndexedWord:
    """A word as the index has it.

    Parameters
    ----------
    key : str
        The word, cut to the length that is indexed.
    is_prefix : bool
        Whether every word that begins so is meant.
    """

    key: str
    is_prefix: bool

    def is_met_by(self, key: str) -> bool:
        """Whether a word of the index is meant."""
        return key.startswith(self.key) if self.is_prefix else key == self.key


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A word, or words that follow one another.

    Parameters
    ----------
    words : tuple of str
        At least one, normalised.
    is_prefix : bool
        Whether the last may be the beginning of a word.
    """

    words: tuple[str, ...]
    is_prefix: bool

    def indexed(self) -> Iterator[IndexedWord]:
        """Yield its words as the index has them."""
        for place, word in enumerate(self.words):
            is_last = place == len(self.words) - 1
            yield IndexedWord(word[:MAX_OF_A_KEY], self.is_prefix and is_last)

    @property
    def is_in_index(self) -> bool:
        """Whether the index alone decides if a text has it."""
        return len(self.words) == 1 and len(self.words[0]) < MAX_OF_A_KEY + self.is_prefix

    def places_in(self, tokens: Tokens) -> I64:
        """Return where it begins among the words of some texts, ascending."""
        *first, last = self.words
        n_starts = len(tokens.ids) - len(first)
        if n_starts <= 0:
            return np.zeros(0, np.int64)
        is_last = [word.startswith(last) if self.is_prefix else word == last for word in tokens.words]
        is_here = np.array(is_last, np.bool_)[tokens.ids[len(first) :]]
        texts = np.repeat(np.arange(len(tokens.offsets) - 1), tokens.lengths)
        is_here &= texts[len(first) :] == texts[:n_starts]  # it does not go on in the next text
        places = {word: place for place, word in enumerate(tokens.words)}
        for i, word in enumerate(first):
            is_here &= tokens.ids[i : i + n_starts] == places.get(word, -1)
        return np.flatnonzero(is_here)

    def texts_in(self, tokens: Tokens) -> Bool:
        """Return which of some texts have it, shape (n_texts,)."""
        found = np.zeros(len(tokens.offsets) - 1, np.bool_)
        found[np.searchsorted(tokens.offsets, self.places_in(tokens), side="right") - 1] = True
        return found


@dataclass(frozen=True, slots=True)
class WordQuery:
    """Terms of a search.

    Parameters
    ----------
    terms : tuple of SearchTerm
        All of them must occur.
    ignored : tuple of str
        Parts of the query that have no letter and no digit.
    """

    terms: tuple[SearchTerm, ...]
    ignored: tuple[str, ...]

    @property
    def indexed(self) -> tuple[IndexedWord, ...]:
        """All words of all terms, each once."""
        return tuple(dict.fromkeys(word for term in self.terms for word in term.indexed()))

    @property
    def is_in_index(self) -> bool:
        """Whether the index alone decides which texts are found."""
        return all(term.is_in_index for term in self.terms)

    def met_in(self, tokens: Tokens) -> list[list[MetTerm]]:
        """Return where the terms begin in each of some texts, in order."""
        met = [list[MetTerm]() for _ in range(len(tokens.offsets) - 1)]
        for number, term in enumerate(self.terms):
            places = term.places_in(tokens)
            texts = np.searchsorted(tokens.offsets, places, side="right") - 1
            own = places - tokens.offsets[texts]
            for text, place in zip(texts.tolist(), own.tolist(), strict=True):
                met[text].append((place, len(term.words), number))
        return [sorted(own) for own in met]

    def is_met_by(self, met: Sequence[MetTerm]) -> bool:
        """Whether every term begins somewhere in a text."""
        return len({number for _, _, number in met}) == len(self.terms)


def parse_words(query: object) -> WordQuery:
    """Parse a query.

    Raises
    ------
    ParameterError
        It has no word, too many words, an opening quote without a closing one, or a ``*`` that follows no word.

    Examples
    --------
    >>> parse_words('Rent "first day" crown* well-kept &').terms
    (SearchTerm(words=('rent',), is_prefix=False), SearchTerm(words=('first', 'day'), is_prefix=False), \
SearchTerm(words=('crown',), is_prefix=True), SearchTerm(words=('well', 'kept'), is_prefix=False))
    """
    if not isinstance(query, str) or any("\ud800" <= one <= "\udfff" for one in query):
        raise ParameterError.of("query", "words, as a str that can be encoded as UTF-8", query)
    terms, ignored = list[SearchTerm](), list[str]()
    for found in _PARTS.finditer(query):
        quoted, closing, star, plain = found.groups()
        if quoted is not None and not closing:
            raise ParameterError.of("query", 'words and phrases in "quotes" that are closed', query)
        term = _term(quoted if plain is None else plain.removesuffix("*"), _has_star(plain, star), query)
        if term is None:
            ignored.append(found[0])
        elif term not in terms:
            terms.append(term)
    if not terms:
        raise ParameterError.of("query", "at least one word of letters or digits", query)
    parsed = WordQuery(tuple(terms), tuple(ignored))
    if len(parsed.indexed) > _MAX_WORDS:
        raise ParameterError.of("query", f"at most {_MAX_WORDS} different words", query)
    return parsed


def _has_star(plain: str | None, star: str) -> bool:
    return bool(star) if plain is None else plain.endswith("*")


def _term(text: str, is_prefix: bool, query: str) -> SearchTerm | None:
    """Return the term of a part of the query; None if it has no word."""
    if "*" in text or (is_prefix and not ends_in_word(text)):
        rule = 'words and phrases in "quotes", with a * only directly behind one of them, such as terminat*'
        raise ParameterError.of("query", rule, query)
    (words,) = tokens_of([text]).by_text()
    return SearchTerm(tuple(words), is_prefix) if words else None
