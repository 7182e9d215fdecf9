"""Terms of a search: words, phrases and prefixes, all of which must occur."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nearkin.collection.word_search.tokens import MAX_OF_A_KEY, Tokens, ends_in_word, tokens_of
from nearkin.errors import ParameterError
from nearkin.records import I64, Bool

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
