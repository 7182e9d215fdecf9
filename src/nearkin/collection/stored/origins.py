"""What was known of the files of stored documents when they were extracted, and what could not be stored.

An origin without a row is an exception: the last load that brought its id did not store it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, func, or_, select

from nearkin.collection.stored.contents import PURGED
from nearkin.stages.documents.members import BETWEEN, MailHeaders, Origin
from nearkin.stages.documents.normalisation import ORIGIN, PARENT
from nearkin.stages.documents.rules import reason_of, sentence_of
from nearkin.store.bulk import among, by_bytes, in_slices, is_storable
from nearkin.store.schema import documents, origins

COLUMNS = [column.name for column in origins.columns]
SOURCE, FIRST = COLUMNS.index("source"), COLUMNS.index("parent")
"""Columns before ``parent`` say whose origin it is."""
OriginValues = tuple[Any, ...]
"""Values of the columns from ``parent`` to ``mail``."""
NAMES = tuple(COLUMNS[FIRST:])
IS_EXCEPTION = origins.c.row.is_(None)
"""Condition for documents that were not stored."""
IS_UNREAD = IS_EXCEPTION & origins.c.extractor.is_not(None)
"""Condition for those that were extracted, and gave no text."""
NOT_STORED = "not stored"
"""Reason of documents that were read and not stored, because of their id, their size, or a purge of the text."""
_TEXTS = frozenset(("sha256", "kind", "declared_kind", "extractor", "exception", "sentence", "warnings", "family"))


def origins_in(prepared: pa.RecordBatch) -> dict[int, OriginValues]:
    """Return the origins in a prepared batch as rows, by place."""
    columns = {name: prepared[name] for name in (PARENT, ORIGIN) if name in prepared.schema.names}
    if not columns:
        return {}  # texts that were not extracted cost nothing here
    has_one = np.logical_or.reduce([column.is_valid().to_numpy(zero_copy_only=False) for column in columns.values()])
    places = np.flatnonzero(has_one)
    values = {name: array.take(pa.array(places)).to_pylist() for name, array in columns.items()}
    nothing = [None] * len(places)
    parents, origins_told = values.get(PARENT, nothing), values.get(ORIGIN, nothing)
    return {
        place: _values(parent, origin)
        for place, parent, origin in zip(places.tolist(), parents, origins_told, strict=True)
    }


def _values(parent: str | None, origin: Mapping[str, Any] | None) -> OriginValues:
    row = dict(origin or {}) | {"parent": _storable(parent)}
    row |= {name: _storable(row.get(name)) for name in _TEXTS}
    row["is_partial"], row["warnings"] = int(bool(row.get("is_partial"))), row["warnings"] or ""
    row["mail"] = None if row.get("mail") is None else _as_json(row["mail"])
    return tuple(row.get(name) for name in NAMES)


def of_plain_file(kind: str, sha256: str, size_bytes: int) -> OriginValues:
    """Return the origin of a document that was read from a file of text."""
    return _values(None, {"kind": kind, "sha256": sha256, "size_bytes": size_bytes})


def exception_of(problem: str, origin: OriginValues | None) -> OriginValues:
    """Return the origin of a document that was not stored, with the reason that its file or its problem gives."""
    row = dict(zip(NAMES, origin or _values(None, None), strict=True))
    if row["exception"] is None:
        is_read = problem.startswith(("the id ", "too long to be stored", PURGED))
        row["exception"] = NOT_STORED if is_read else reason_of(problem)
        row["sentence"] = _storable(problem if is_read else sentence_of(problem))
    return tuple(row[name] for name in NAMES)


def _as_json(mail: Mapping[str, Any]) -> str:
    sent_at = mail["sent_at"]
    headers = {**mail, "sent_at": None if sent_at is None else sent_at.isoformat()}
    return json.dumps({name: value for name, value in headers.items() if value}, ensure_ascii=False)


def _storable(text: str | None) -> str | None:
    """Return a text that PostgreSQL can store."""
    return None if text is None else text.replace("\0", "\N{SYMBOL FOR NULL}")


def as_arrow(values: OriginValues) -> tuple[str | None, Mapping[str, Any] | None]:
    """Return the parent of a document, and its origin as `records.ORIGIN_TYPE` has it."""
    row = dict(zip(NAMES, values, strict=True))
    parent = row.pop("parent")
    if row["extractor"] is None:
        return parent, None
    mail = None if row["mail"] is None else json.loads(row["mail"])
    if mail is not None and "sent_at" in mail:
        mail["sent_at"] = datetime.fromisoformat(mail["sent_at"])
    if mail is not None:
        mail = {"in_reply_to": [], "references": []} | mail
    return parent, {**row, "is_partial": bool(row["is_partial"]), "mail": mail}


_OF_ROWS = select(origins).where(among(origins.c.row))


def own_values(row: Sequence[Any]) -> OriginValues:
    """Return the origin in a row of ``origins``."""
    return tuple(row[FIRST:])


def value_of(values: OriginValues | None, name: str) -> Any:
    """Return one value of an origin; None if there is none."""
    return None if values is None else values[NAMES.index(name)]


def headers_of(values: OriginValues | None) -> Mapping[str, Any]:
    """Return the headers of a mail as they are stored."""
    stored = value_of(values, "mail")
    return {} if stored is None else json.loads(stored)


def origins_of(connection: Connection, rows: Sequence[int]) -> dict[int, OriginValues]:
    """Return the origins of documents, by the numbers of their rows."""
    records = (row for block in in_slices(rows) for row in connection.execute(_OF_ROWS, {"values": block}))
    return {row.row: own_values(row) for row in records}


def origin_of(connection: Connection, row: int) -> tuple[str | None, Origin | None]:
    """Return the parent of a stored version, and its origin, if it was extracted from a file."""
    values = origins_of(connection, [row]).get(row)
    parent, origin = (None, None) if values is None else as_arrow(values)
    if origin is None:
        return parent, None
    return parent, Origin.of_row({**origin, "mail": None if origin["mail"] is None else _all_headers(origin["mail"])})


def _all_headers(mail: Mapping[str, Any]) -> Mapping[str, Any]:
    return {field.name: mail.get(field.name) for field in fields(MailHeaders)}


def exceptions_where(connection: Connection, conditions: Iterable[ColumnElement[bool]]) -> list[str]:
    """Return the ids of documents that were not stored, and meet one of several conditions."""
    query = select(origins.c.doc_id).where(IS_EXCEPTION).order_by(origins.c.number)
    return list(
        dict.fromkeys(doc_id for each in conditions for doc_id in connection.execute(query.where(each)).scalars())
    )


def forget(connection: Connection, conditions: Iterable[ColumnElement[bool]]) -> None:
    """Delete the origins that meet one of several conditions."""
    for condition in conditions:
        connection.execute(origins.delete().where(condition))


# -- what is inside of what: ids say it, but a file may be named like a member; the file that was read decides ---------


_AT_A_TIME = 100  # a condition of SQL for each
AFTER = chr(ord(BETWEEN) + 1)
"""Character after the one between a container and its member."""
Sources = Mapping[str, Collection[str]]
"""Files that documents were read from, by id."""


def enclosing(doc_id: str) -> Iterator[str]:
    """Yield an id, and those of all that it may be inside of.

    Examples
    --------
    >>> list(enclosing("a.zip!m.eml!b.txt"))
    ['a.zip!m.eml!b.txt', 'a.zip!m.eml', 'a.zip']
    """
    end = len(doc_id)
    while end > 0:
        yield doc_id[:end]
        end = doc_id.rfind(BETWEEN, 0, end)


def inside(connection: Connection, sources: Sources) -> Iterator[tuple[int | None, str]]:
    """Yield row and id of the current extracted documents with these ids, and of those inside.

    The row of an exception is None.
    """
    joined = origins.outerjoin(documents, origins.c.row == documents.c.row)
    is_wanted = IS_EXCEPTION | (documents.c.is_current & origins.c.extractor.is_not(None))
    source = func.coalesce(documents.c.source, origins.c.source)
    query = select(origins.c.row, origins.c.doc_id, source).select_from(joined).where(is_wanted)
    for block in _parts(sources):
        for row, doc_id, file in connection.execute(query.where(_are_inside(connection, block))).all():
            if any(file in sources[outer] for outer in enclosing(doc_id) if outer in sources):
                yield row, doc_id


def _parts(sources: Sources) -> Iterator[list[str]]:
    ids = [source for source in sources if is_storable(source)]
    for first in range(0, len(ids), _AT_A_TIME):
        yield ids[first : first + _AT_A_TIME]


def _are_inside(connection: Connection, ids: Sequence[str]) -> ColumnElement[bool]:
    key = by_bytes(connection, origins.c.doc_id)
    return or_(*((key == doc_id) | ((key > doc_id + BETWEEN) & (key < doc_id + AFTER)) for doc_id in ids))
