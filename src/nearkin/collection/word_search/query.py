"""Queries: words and fields such as from:, with AND, OR, NOT and parentheses; and their condition on documents."""

from __future__ import annotations

import json
import re
from functools import reduce
from typing import Literal

from sqlalchemy import JSON, ColumnElement, Connection, and_, cast, exists, func, not_, or_, select, true

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions import log
from nearkin.collection.listing.lists import DocumentFilter
from nearkin.collection.stored.word_tables import MAX_WORDS, Combination, Query, Term, hits, words_of
from nearkin.errors import ParameterError
from nearkin.store.bulk import is_storable
from nearkin.store.schema import documents, origins, tags

SAVED = "saved"
_OF_MAIL = {"from": ("sender",), "to": ("to", "cc", "bcc"), "cc": ("cc",), "bcc": ("bcc",), "subject": ("subject",)}
_LISTED = {
    "wave": lambda value: DocumentFilter(wave=value),
    "file": lambda value: DocumentFilter(source=value),
    "id": lambda value: DocumentFilter(doc_id=value),
    "tag": lambda value: DocumentFilter(tag=value),
}
FIELDS = (*_OF_MAIL, "date", *_LISTED, "kind", SAVED)
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
_PARTS = re.compile(r'[()]|[^\W\d_]+:(?!//)(?:"[^"]*"?|[^\s"()]+="[^"]*"?|[^\s"()]*)|"[^"]*"?\*?|[^\s"()]+')
_FIELD = re.compile(r"([^\W\d_]+):(?!//)(.*)", re.DOTALL)
_OPERATORS = ("AND", "OR", "NOT")
_RULE = 'words, "phrases", beginnings of words such as terminat*, and AND, OR, NOT between them'
_ALL = Term(())
"""What every document meets."""


def parse(query: object, connection: Connection | None = None, inside: tuple[str, ...] = ()) -> Query:
    """Parse a query; with a connection, the saved queries that it names, but those it is ``inside`` of, too.

    Raises
    ------
    ParameterError
        It breaks a rule, or there is no such field or saved query.

    Examples
    --------
    >>> parse("price from:ada")
    Combination(operator='AND', left=Term(words=('price',), is_prefix=False, field=''), \
right=Term(words=('ada',), is_prefix=False, field='from'))
    """
    if not isinstance(query, str) or any("\ud800" <= character <= "\udfff" for character in query):
        raise ParameterError.of("query", _RULE, query)
    return _Parser(query, connection, inside).whole()


class _Parser:
    """OR binds less than AND, which may be left out; NOT binds like AND."""

    def __init__(
        self, query: str, connection: Connection | None, inside: tuple[str, ...], n_words: int = 0, n_open: int = 0
    ) -> None:
        self._query, self._parts, self._n_words = query, _PARTS.findall(query), n_words
        self._connection, self._inside = connection, inside
        self._n_open = n_open + self._parts.count("(")
        if self._n_open > MAX_WORDS:
            raise self._error(f"at most {MAX_WORDS} parentheses, with those of saved searches")

    def whole(self) -> Query:
        query = self._either()
        if self._parts or query is None:
            raise self._error()
        return query

    def _error(self, rule: str = _RULE) -> ParameterError:
        return ParameterError.of("query", rule, self._query)

    def _next(self) -> str:
        return self._parts[0] if self._parts else ""

    def _either(self) -> Query | None:
        query = self._all()
        while self._next() == "OR":
            self._parts.pop(0)
            query = self._joined("OR", query, self._all())
        return query

    def _all(self) -> Query | None:
        query: Query | None = None
        while (part := self._next()) not in ("", ")", "OR"):
            if part in ("AND", "NOT"):
                self._parts.pop(0)
                if part == "AND" and query is not None and self._next() == "NOT":
                    part = self._parts.pop(0)
                is_not = part == "NOT"
                query = self._joined("NOT" if is_not else "AND", query or (_ALL if is_not else None), self._unit())
            elif (right := self._unit()) is not None:
                query = right if query is None else Combination("AND", query, right)
        return query

    def _joined(self, operator: Literal["AND", "OR", "NOT"], left: Query | None, right: Query | None) -> Query:
        if left is None or right is None:
            raise self._error(f"words or fields before and after {operator}")
        return Combination(operator, left, right)

    def _unit(self) -> Query | None:
        part = self._parts.pop(0) if self._parts else ")"
        if part == "(":
            query = self._either()
            if not self._parts or self._parts.pop(0) != ")":
                raise self._error()
            return query
        if (field := _FIELD.fullmatch(part)) and (field[2] or field[1].lower() in FIELDS):
            return self._field(field[1].lower(), field[2])
        text, is_prefix = part.removesuffix("*"), part.endswith("*")
        is_quoted = text.startswith('"')
        if part in (")", *_OPERATORS) or "*" in text or (is_quoted and (len(text) < 2 or not text.endswith('"'))):
            raise self._error()
        (words,) = words_of([text.strip('"')])
        if not words and is_prefix:
            raise self._error()
        self._count(len(words))
        return Term(tuple(words), is_prefix) if words else None

    def _count(self, n_words: int) -> None:
        self._n_words += n_words
        if self._n_words > MAX_WORDS:
            raise self._error(f"at most {MAX_WORDS} words and fields")

    def _field(self, name: str, given: str) -> Query:
        value = given.replace('"', "")
        if name not in FIELDS:
            known = ", ".join(f"{field}:" for field in FIELDS)
            raise self._error(f'one of the fields {known}; or, to search for the words, "{name}:{value}"')
        if not value or not is_storable(value) or given.count('"') % 2:
            raise self._error(f'a value after {name}: without a blank, such as {name}:ada or {name}:"two words (2)"')
        self._count(1)
        if name == SAVED and self._connection is not None:
            return self._saved(self._connection, value)
        return Term((value,), field=name)

    def _saved(self, connection: Connection, name: str) -> Query:
        key = log.SEARCH, "", name
        query = log.values_of(connection, [key]).get(key)
        if query is None or name in self._inside:
            raise ParameterError.of(SAVED, "the name of a saved search that does not name itself", name)
        inner = _Parser(query, connection, (*self._inside, name), self._n_words, self._n_open)
        tree, self._n_words, self._n_open = inner.whole(), inner._n_words, inner._n_open
        return tree


def compiled(connection: Connection, query: Query) -> tuple[Query | None, ColumnElement[bool], bool]:
    """Return the words that every found document meets, by which it is ranked, and the condition for the rest.

    The condition is one on documents, and, as the last value says, on their loads.

    Raises
    ------
    ParameterError
        A value breaks the rule of its field.
    UnknownDocumentError
        There is no such wave.
    """
    parts = _conjuncts(query)
    words = [part for part in parts if _is_words(part)]
    rest = [_condition(connection, part) for part in parts if not _is_words(part)]
    ranking = reduce(lambda left, right: Combination("AND", left, right), words) if words else None
    return ranking, and_(documents.c.is_current, *rest), bool(rest)


def _conjuncts(query: Query) -> list[Query]:
    if isinstance(query, Term) or query.operator == "OR" or _is_words(query):
        return [query]
    if query.operator == "AND":
        return [*_conjuncts(query.left), *_conjuncts(query.right)]
    return [query] if query.left == _ALL else [*_conjuncts(query.left), Combination("NOT", _ALL, query.right)]


def _is_words(query: Query) -> bool:
    if isinstance(query, Term):
        return bool(query.words) and not query.field
    return _is_words(query.left) and _is_words(query.right)


def _condition(connection: Connection, query: Query) -> ColumnElement[bool]:
    if _is_words(query):
        return documents.c.content.in_(select(hits(query, connection.dialect.name).c.content))
    if isinstance(query, Term):
        return _field_condition(connection, query.field, query.words[0]) if query.words else true()
    left, right = (_condition(connection, side) for side in (query.left, query.right))
    return or_(left, right) if query.operator == "OR" else and_(left, not_(right) if query.operator == "NOT" else right)


def _field_condition(connection: Connection, name: str, value: str) -> ColumnElement[bool]:
    if name in _LISTED:
        return _LISTED[name](value).condition(connection, None)
    if name == "kind":
        return exists().where(origins.c.row == documents.c.row, origins.c.kind == value.lower())
    if name == "date":
        low, _, high = value.partition("..") if ".." in value else (value, "", value)
        if not any((low, high)) or any(part and not _DATE.fullmatch(part) for part in (low, high)):
            rule = "a year, month or day such as 2024-03, or two of them with .. between"
            raise ParameterError.of("date", rule, value)
        own_dates = tags.alias("own_dates")
        is_own = (own_dates.c.doc_id == documents.c.doc_id) & (own_dates.c.field == DATE_TAG)
        is_sent = _has_header(_within(header(connection, "sent_at"), low, high))
        return or_(is_sent, exists().where(is_own, _within(own_dates.c.value, low, high)))
    is_there = or_(*(_contains(connection, header(connection, part), value) for part in _OF_MAIL[name]))
    # most mails have it nowhere, and are not parsed
    return _has_header(_contains(connection, origins.c.mail, json.dumps(value, ensure_ascii=False)[1:-1]) & is_there)


def _within(date: ColumnElement[str], low: str, high: str) -> ColumnElement[bool]:
    """Condition for dates in ISO 8601 from the beginning of one period to the end of another."""
    return and_(func.substr(date, 1, len(low)) >= low, func.substr(date, 1, len(high)) <= high)


def header(connection: Connection, name: str) -> ColumnElement[str]:
    """Return a header of a mail, from the JSON of all."""
    if connection.dialect.name == "sqlite":
        return func.json_extract(origins.c.mail, f"$.{name}")
    without_nul = func.replace(origins.c.mail, r"\u0000", "")  # which PostgreSQL cannot decode
    return func.json_extract_path_text(cast(without_nul, JSON), name)


def _contains(connection: Connection, header: ColumnElement[str], value: str) -> ColumnElement[bool]:
    if connection.dialect.name == "sqlite" and value.isascii():  # LIKE knows a to z itself; lower() is a call of Python
        return header.contains(value, autoescape=True)
    return header.icontains(value, autoescape=True)


def _has_header(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(origins.c.row == documents.c.row, origins.c.mail.is_not(None), condition)
