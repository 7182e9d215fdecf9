"""Fields in a query of words: from:, to:, subject:, date:, wave:, file:, id: and tag:, all of which have to be met."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from sqlalchemy import JSON, ColumnElement, Connection, and_, cast, exists, func, not_, or_

from nearkin.collection.dates import DATE_TAG
from nearkin.collection.listing.lists import DocumentFilter
from nearkin.errors import ParameterError
from nearkin.store.schema import documents, origins, tags

_NAMES = "from|to|subject|date|wave|file|id|tag"
_FIELD = re.compile(rf'(?<!\S)(NOT\s+)?({_NAMES}):("[^"]*"|[^\s"()]+="[^"]*"|[^\s"()]+)(?!\S)', re.IGNORECASE)
_WITHOUT_VALUE = re.compile(rf"(?<!\S)\(?({_NAMES}):", re.IGNORECASE)
_HEADERS = {"from": ("sender",), "to": ("to", "cc", "bcc"), "subject": ("subject",)}
_LISTED = {
    "wave": lambda value: DocumentFilter(wave=value),
    "file": lambda value: DocumentFilter(source=value),
    "id": lambda value: DocumentFilter(doc_id=value),
    "tag": lambda value: DocumentFilter(tag=value),
}
_DATE = re.compile(r"\d{4}(-\d\d){0,2}")
Field = tuple[str, str, bool]
"""Name, value, and whether it must not be met."""


def split_fields(query: str) -> tuple[str, list[Field]]:
    """Return the words of a query, and its fields.

    Raises
    ------
    ParameterError
        The value of a field is missing, or begins like a group of words.

    Examples
    --------
    >>> split_fields('price from:ada subject:"the lease" NOT date:2024-01..2024-03')
    ('price', [('from', 'ada', False), ('subject', 'the lease', False), ('date', '2024-01..2024-03', True)])
    """
    fields = [(name.lower(), value.replace('"', ""), bool(no)) for no, name, value in _FIELD.findall(query)]
    words = " ".join(_FIELD.sub(" ", query).split())
    if wrong := _WITHOUT_VALUE.search(words):
        rule = f'a value after {wrong[1]}: without a blank, such as {wrong[1]}:ada or {wrong[1]}:"two words (2)"'
        raise ParameterError.of("query", rule, query)
    return words, fields


def meeting(connection: Connection, fields: Sequence[Field]) -> ColumnElement[bool]:
    """Return the condition on documents and their loads that all fields make.

    Raises
    ------
    ParameterError
        A value breaks the rule of its field.
    UnknownDocumentError
        There is no such wave.
    """
    conditions = [(_condition(connection, name, value), is_not) for name, value, is_not in fields]
    return and_(documents.c.is_current, *(not_(one) if is_not else one for one, is_not in conditions))


def _condition(connection: Connection, name: str, value: str) -> ColumnElement[bool]:
    if name in _LISTED:
        return _LISTED[name](value).condition(connection, None)
    if name == "date":
        low, _, high = value.partition("..") if ".." in value else (value, "", value)
        if not any((low, high)) or any(one and not _DATE.fullmatch(one) for one in (low, high)):
            rule = "a year, month or day such as 2024-03, or two of them with .. between"
            raise ParameterError.of("date", rule, value)
        own = tags.alias("own_dates")
        is_own = (own.c.doc_id == documents.c.doc_id) & (own.c.field == DATE_TAG)
        is_sent = _has_header(_within(_header(connection, "sent_at"), low, high))
        return or_(is_sent, exists().where(is_own, _within(own.c.value, low, high)))
    is_there = or_(*(_contains(connection, _header(connection, one), value) for one in _HEADERS[name]))
    # most mails have it nowhere, and are not parsed
    return _has_header(_contains(connection, origins.c.mail, json.dumps(value, ensure_ascii=False)[1:-1]) & is_there)


def _within(date: ColumnElement[str], low: str, high: str) -> ColumnElement[bool]:
    """Condition for dates in ISO 8601 from the beginning of one period to the end of another."""
    return and_(func.substr(date, 1, len(low)) >= low, func.substr(date, 1, len(high)) <= high)


def _header(connection: Connection, name: str) -> ColumnElement[str]:
    if connection.dialect.name == "sqlite":
        return func.json_extract(origins.c.mail, f"$.{name}")
    without_nul = func.replace(origins.c.mail, r"\u0000", "")  # which PostgreSQL cannot decode
    return func.json_extract_path_text(cast(without_nul, JSON), name)


def _contains(connection: Connection, header: ColumnElement[str], value: str) -> ColumnElement[bool]:
    """Condition for headers that contain a value in any case."""
    if connection.dialect.name == "sqlite" and value.isascii():  # LIKE knows a to z itself; lower() is a call of Python
        return header.contains(value, autoescape=True)
    return header.icontains(value, autoescape=True)


def _has_header(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(origins.c.row == documents.c.row, origins.c.mail.is_not(None), condition)
