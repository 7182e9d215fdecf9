"""What was known of the files of stored documents when they were extracted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, Select, and_, exists, select

from nearkin.collection.stored.contents import PURGED
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.preparing import ORIGIN, PARENT
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents, origins, problems

COLUMNS = [column.name for column in origins.columns]
FIRST = COLUMNS.index("parent")
"""Columns before it say whose origin it is."""
OriginValues = tuple[Any, ...]
"""Values of the columns from ``parent`` to ``mail``."""
NAMES = tuple(COLUMNS[FIRST:-1])
IS_UNREAD = origins.c.row.is_(None) & origins.c.removed_at.is_(None) & origins.c.extractor.is_not(None)
"""Condition for files that were extracted, gave no text, and were neither removed nor read since."""
IS_PLAIN_FILE = origins.c.extractor.is_(None) & origins.c.kind.is_not(None)
"""Condition for what is known of files that were read as text and gave none: nothing but kind, digest and size."""
_TEXTS = frozenset(("sha256", "kind", "declared_kind", "extractor", "exception", "sentence", "warnings", "family"))


def origins_in(prepared: pa.RecordBatch) -> dict[int, OriginValues]:
    """Return the origins in a prepared batch as rows, by place."""
    columns = {name: prepared[name] for name in (PARENT, ORIGIN) if name in prepared.schema.names}
    if not columns:
        return {}  # texts that were not extracted cost nothing here
    has_one = np.logical_or.reduce([one.is_valid().to_numpy(zero_copy_only=False) for one in columns.values()])
    places = np.flatnonzero(has_one)
    told = {name: one.take(pa.array(places)).to_pylist() for name, one in columns.items()}
    nothing = [None] * len(places)
    parents, origins_told = told.get(PARENT, nothing), told.get(ORIGIN, nothing)
    return {
        place: _values(parent, origin)
        for place, parent, origin in zip(places.tolist(), parents, origins_told, strict=True)
    }


def _values(parent: str | None, origin: Mapping[str, Any] | None) -> OriginValues:
    told = dict(origin or {}) | {"parent": _storable(parent)}
    told |= {name: _storable(told.get(name)) for name in _TEXTS}
    told["is_partial"], told["warnings"] = int(bool(told.get("is_partial"))), told["warnings"] or ""
    told["mail"] = None if told.get("mail") is None else _as_json(told["mail"])
    return tuple(told.get(name) for name in NAMES)


def of_plain_file(kind: str, sha256: str, size_bytes: int) -> OriginValues:
    """Return the origin of a document that was read from a file of text."""
    return _values(None, {"kind": kind, "sha256": sha256, "size_bytes": size_bytes})


def _as_json(mail: Mapping[str, Any]) -> str:
    sent_at = mail["sent_at"]
    told = {**mail, "sent_at": None if sent_at is None else sent_at.isoformat()}
    return json.dumps({name: value for name, value in told.items() if value}, ensure_ascii=False)


def _storable(text: str | None) -> str | None:
    """Return a text that PostgreSQL can store."""
    return None if text is None else text.replace("\0", "\N{SYMBOL FOR NULL}")


def as_arrow(values: OriginValues) -> tuple[str | None, Mapping[str, Any] | None]:
    """Return the parent of a document, and its origin as `records.ORIGIN_TYPE` has it."""
    told = dict(zip(NAMES, values, strict=True))
    parent = told.pop("parent")
    if told["extractor"] is None:
        return parent, None
    mail = None if told["mail"] is None else json.loads(told["mail"])
    if mail is not None and "sent_at" in mail:
        mail["sent_at"] = datetime.fromisoformat(mail["sent_at"])
    if mail is not None:
        mail = {"in_reply_to": [], "references": []} | mail
    return parent, {**told, "is_partial": bool(told["is_partial"]), "mail": mail}


def with_origins() -> Select[Any]:
    """Return a query for origins, to which conditions can be added."""
    return select(origins)


def own_values(row: Sequence[Any]) -> OriginValues:
    """Return the origin in a row of `with_origins`."""
    return tuple(row[FIRST : FIRST + len(NAMES)])


def has_exception(values: OriginValues) -> bool:
    """Whether a file could not be read, or only in part."""
    return value_of(values, "exception") is not None


def value_of(values: OriginValues | None, name: str) -> Any:
    """Return one value of an origin; None if there is none."""
    return None if values is None else values[NAMES.index(name)]


def headers_of(values: OriginValues | None) -> Mapping[str, Any]:
    """Return the headers of a mail as they are stored."""
    stored = value_of(values, "mail")
    return {} if stored is None else json.loads(stored)


def origins_of(connection: Connection, rows: Sequence[int]) -> dict[int, OriginValues]:
    """Return the origins of documents, by the numbers of their rows."""
    found = dict[int, OriginValues]()
    for some in in_slices(rows):
        for one in connection.execute(with_origins().where(origins.c.row.in_(some))):
            found[one.row] = own_values(one)
    return found


def origin_of(connection: Connection, row: int) -> tuple[str | None, Origin | None]:
    """Return the parent of a stored version, and its origin, if it was extracted from a file."""
    values = origins_of(connection, [row]).get(row)
    parent, told = (None, None) if values is None else as_arrow(values)
    if told is None:
        return parent, None
    return parent, Origin.of_row({**told, "mail": None if told["mail"] is None else _all_headers(told["mail"])})


def _all_headers(mail: Mapping[str, Any]) -> Mapping[str, Any]:
    return {one.name: mail.get(one.name) for one in fields(MailHeaders)}


_IS_EXTRACTED = exists().where((origins.c.row == documents.c.row) & origins.c.extractor.is_not(None))
_IS_CURRENT = (documents.c.doc_id == problems.c.doc_id) & documents.c.is_current
_IS_ABOUT_TEXT = ~problems.c.problem.like("the id %") & (problems.c.problem != PURGED)
IS_NOT_STORED: ColumnElement[bool] = ~exists().where(_IS_CURRENT) | and_(
    _IS_ABOUT_TEXT, ~exists().where(_IS_CURRENT, _IS_EXTRACTED.correlate(documents))
)
"""Condition for problems of documents that are still not stored. A file that was extracted, and of which a text is
stored, is listed by its origin."""
IS_ABOUT_NO_TEXT: ColumnElement[bool] = and_(
    IS_NOT_STORED,
    ~exists().where(
        (origins.c.doc_id == problems.c.doc_id) & origins.c.row.is_(None) & origins.c.extractor.is_not(None)
    ),
    problems.c.problem != PURGED,
)
"""Condition for problems that alone list a record or a plain text as an exception: it is not stored, and was not
extracted."""


def is_not_stored(problem: str) -> bool:
    """Whether a document was read, and is not stored because of its id or size, or a purge."""
    return problem.startswith(("the id ", "too long to be stored", PURGED))


def forget_problems(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Delete the problems that meet a condition."""
    connection.execute(problems.delete().where(condition))


def ids_with_problems(connection: Connection, doc_ids: Sequence[str]) -> set[str]:
    """Return those ids of which a text could not be read."""
    found = set[str]()
    for some in in_slices(doc_ids):
        is_one = _IS_ABOUT_TEXT & problems.c.doc_id.in_(some)
        found |= set(connection.execute(select(problems.c.doc_id).where(is_one)).scalars())
    return found


def forget_solved(connection: Connection, doc_ids: Iterable[str]) -> None:
    """Delete the problems of documents whose text was read since."""
    for some in in_slices(sorted(doc_ids)):
        forget_problems(connection, _IS_ABOUT_TEXT & problems.c.doc_id.in_(some))


def forget_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete origins by their numbers."""
    for some in in_slices(numbers):
        connection.execute(origins.delete().where(origins.c.number.in_(some)))


def forget(connection: Connection, conditions: Iterable[ColumnElement[bool]]) -> int:
    """Delete the origins that meet one of several conditions; return their number."""
    found = set[int]()
    for condition in conditions:
        found |= set(connection.execute(select(origins.c.number).where(condition)).scalars())
    forget_rows(connection, sorted(found))
    return len(found)


def remove_unread(connection: Connection, condition: ColumnElement[bool], now: str) -> int:
    """Remove documents without a text that meet a condition; their origins stay in the history."""
    return connection.execute(origins.update().where(condition & IS_UNREAD).values(removed_at=now)).rowcount
