"""Queries of a search for words: words, "phrases", beginnings of words* and AND, OR, NOT with parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nearkin.collection.counting import NORMALISE
from nearkin.errors import ParameterError
from nearkin.kernels.buffers import strings
from nearkin.stages.features.words import WordSplitter

MAX_WORDS = 64
"""Maximum number of words of a query."""
_MAX_OF_A_WORD = 100  # characters; PostgreSQL refuses lexemes of more than 2 KiB
_SPLITTER = WordSplitter()
_PARTS = re.compile(r'[()]|"[^"]*"?\*?|[^\s"()]+')
_OPERATORS = ("AND", "OR", "NOT")
_RULE = 'words, "phrases", beginnings of words such as terminat*, and AND, OR, NOT between them'


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of texts as word shingles have them, each cut to its first 100 characters.

    Examples
    --------
    >>> words_of(["It's DUE, due.", "ﬁle 日本"])
    [['it', 's', 'due', 'due'], ['file', '日', '本']]
    """
    if not texts:
        return []
    split = _SPLITTER.split(NORMALISE.apply(strings(texts)))
    distinct = [word[:_MAX_OF_A_WORD] for word in split.words.to_pylist()]
    words = [distinct[place] for place in split.ids.tolist()]
    return [words[start:end] for start, end in pairwise(split.offsets.tolist())]


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or words that follow one another; the last may be the beginning of a word."""

    words: tuple[str, ...]
    is_prefix: bool = False

    def places_in(self, words: Sequence[str]) -> list[int]:
        """Return where it begins among the words of a text."""
        *first, last = self.words
        n = len(first)
        return [
            place
            for place in range(len(words) - n)
            if words[place : place + n] == first
            and (words[place + n].startswith(last) if self.is_prefix else words[place + n] == last)
        ]


@dataclass(frozen=True, slots=True)
class Combination:
    """Two queries: both have to be met, one of them, or the first without the second."""

    operator: Literal["AND", "OR", "NOT"]
    left: Query
    right: Query


Query = Term | Combination


def terms_of(query: Query) -> Iterator[Term]:
    """Yield the terms of a query that a text may have, in order."""
    if isinstance(query, Term):
        yield query
        return
    yield from terms_of(query.left)
    if query.operator != "NOT":
        yield from terms_of(query.right)


def parse(query: object) -> Query:
    """Parse a query.

    Raises
    ------
    ParameterError
        It has no word or too many, an open quote or parenthesis, a ``*`` that follows no word, or an operator without
        both sides.

    Examples
    --------
    >>> parse("Rent well-kept")
    Combination(operator='AND', left=Term(words=('rent',), is_prefix=False), \
right=Term(words=('well', 'kept'), is_prefix=False))
    >>> [term.words for term in terms_of(parse('(crown* OR "first day") NOT lease'))]
    [('crown',), ('first', 'day')]
    """
    if not isinstance(query, str) or any("\ud800" <= one <= "\udfff" for one in query):
        raise ParameterError.of("query", _RULE, query)
    return _Parser(query).whole()


class _Parser:
    """OR binds less than AND, which may be left out; NOT binds like AND, and follows what has to be met."""

    def __init__(self, query: str) -> None:
        self._query, self._parts, self._n_words = query, _PARTS.findall(query), 0
        if self._parts.count("(") > MAX_WORDS:
            raise self._error()

    def whole(self) -> Query:
        found = self._either()
        if self._parts or found is None:
            raise self._error()
        return found

    def _error(self, rule: str = _RULE) -> ParameterError:
        return ParameterError.of("query", rule, self._query)

    def _next(self) -> str:
        return self._parts[0] if self._parts else ""

    def _either(self) -> Query | None:
        found = self._all()
        while self._next() == "OR":
            self._parts.pop(0)
            found = self._joined("OR", found, self._all())
        return found

    def _all(self) -> Query | None:
        found: Query | None = None
        while (part := self._next()) not in ("", ")", "OR"):
            if part in ("AND", "NOT"):
                self._parts.pop(0)
                if part == "AND" and self._next() == "NOT":
                    part = self._parts.pop(0)
                found = self._joined("NOT" if part == "NOT" else "AND", found, self._unit())
            elif (right := self._unit()) is not None:
                found = right if found is None else Combination("AND", found, right)
        return found

    def _joined(self, operator: Literal["AND", "OR", "NOT"], left: Query | None, right: Query | None) -> Query:
        if left is None or right is None:
            raise self._error(f"words before and after {operator}")
        return Combination(operator, left, right)

    def _unit(self) -> Query | None:
        """Return a term or what stands in parentheses; None for punctuation."""
        part = self._parts.pop(0) if self._parts else ")"
        if part == "(":
            found = self._either()
            if not self._parts or self._parts.pop(0) != ")":
                raise self._error()
            return found
        text, is_prefix = part.removesuffix("*"), part.endswith("*")
        is_quoted = text.startswith('"')
        if part in (")", *_OPERATORS) or "*" in text or (is_quoted and (len(text) < 2 or not text.endswith('"'))):
            raise self._error()
        (words,) = words_of([text.strip('"')])
        if not words and is_prefix:
            raise self._error()
        self._n_words += len(words)
        if self._n_words > MAX_WORDS:
            raise self._error(f"at most {MAX_WORDS} words")
        return Term(tuple(words), is_prefix) if words else None
