"""Privilege log of a collection: the documents that are withheld, with what their mails say and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.collection import Collection
from nearkin.collection.dates import DATE_TAG
from nearkin.collection.decisions.coding import NOT_PRIVILEGED, SENSITIVE, layout_of
from nearkin.collection.decisions.deciding import tags_of
from nearkin.collection.decisions.fields import BETWEEN_VALUES, parsed
from nearkin.collection.decisions.second_values import family_key, two_values
from nearkin.collection.stored.origins import headers_of, origins_of
from nearkin.errors import ParameterError
from nearkin.formats.delimited import SUFFIXES
from nearkin.reports.comparison import word_table
from nearkin.runs.files import published
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents, origins, tags
from nearkin.workflows.collection.tables import write_table

COLUMNS = ("date", "from", "to", "cc", "subject", "privilege", "disputed", "reason", "id", "bates")
_WORD = ".docx"
_TAKEN_AWAY = "none"


def privilege_log(
    collection: Collection, tag: str | None = None, reason: str | None = None, bates: str | None = None
) -> pa.Table:
    """Return a row for each privileged document, in order of dates and ids.

    An attachment has the headers of its mail; a document without a mail the date of its tag ``date``. A document is
    also listed for the value of a second person that nobody resolved; ``disputed`` has these values, or "none" for one
    that was taken away.
    """
    with collection.opened.store.reading() as connection:
        layout = layout_of(connection)
        names, value = [field.name for field in layout.fields], ""
        fields = [name for name in names if name.casefold() in SENSITIVE]
        fields = fields or [field.name for field in layout.fields if field.sensitive] or sorted(SENSITIVE)
        if tag is not None:
            field, value = parsed(tag)
            fields = [field]
        reason = reason or next((field.name for field in layout.fields if field.kind == "text"), "reason")
        calls = _calls(connection, fields, value)
        coded, headers = tags_of(connection, list(calls)), _headers(connection, list(calls))
    listed = list[tuple[str | None, ...]]()
    for doc_id, (firsts, seconds) in calls.items():
        values, mail = coded[doc_id], headers[doc_id]
        sent = str(mail.get("sent_at") or values.get(DATE_TAG) or "")
        of_mail = (sent[:10], *(mail.get(name) for name in ("sender", "to", "cc", "subject")))
        call, disputed = BETWEEN_VALUES.join(firsts) or None, BETWEEN_VALUES.join(seconds) or None
        listed.append((*of_mail, call, disputed, values.get(reason), doc_id, values.get(bates or "bates")))
    listed.sort(key=lambda row: (row[0] or "", row[COLUMNS.index("id")] or ""))
    columns = list(zip(*listed, strict=True)) or [()] * len(COLUMNS)
    return pa.table({name: pa.array(column, pa.large_string()) for name, column in zip(COLUMNS, columns, strict=True)})


def _calls(connection: Connection, fields: list[str], value: str) -> dict[str, tuple[list[str], list[str]]]:
    """Return the first and the second values of the fields in which at least one of both is privileged."""
    is_here = (tags.c.doc_id == documents.c.doc_id) & documents.c.is_current
    query = select(tags.c.doc_id, tags.c.field, tags.c.value).join(documents, is_here).where(tags.c.field.in_(fields))
    given = {(doc_id, field): ([now or field], list[str]()) for doc_id, field, now in connection.execute(query)}
    for two in two_values(connection):
        if two.field in fields:
            given.setdefault((two.doc_id, two.field), ([], []))[1].append(two.second.value or _TAKEN_AWAY)
    between, calls = f"{BETWEEN_VALUES}{value}{BETWEEN_VALUES}", dict[str, tuple[list[str], list[str]]]()
    for (doc_id, _), (first, seconds) in sorted(given.items(), key=lambda call: call[0][1]):
        if any(
            between in f"{BETWEEN_VALUES}{call}{BETWEEN_VALUES}"
            if value
            else call.casefold() not in (NOT_PRIVILEGED, _TAKEN_AWAY)
            for call in (*first, *seconds)
        ):
            of_document = calls.setdefault(doc_id, ([], []))
            of_document[0].extend(first)
            of_document[1].extend(seconds)
    return calls


def _headers(connection: Connection, doc_ids: list[str]) -> dict[str, Mapping[str, Any]]:
    joined = documents.outerjoin(origins, origins.c.row == documents.c.row)
    query = select(documents.c.doc_id, documents.c.row, family_key()).select_from(joined).where(documents.c.is_current)
    rows = dict[str, tuple[int, str]]()

    def read(ids: list[str]) -> None:
        for block in in_slices(ids):
            for doc_id, row, family in connection.execute(query.where(documents.c.doc_id.in_(block))):
                rows[doc_id] = row, family

    read(doc_ids)
    read(sorted({family for _, family in rows.values()} - rows.keys()))
    by_row = origins_of(connection, [row for row, _ in rows.values()])
    own_headers = {doc_id: headers_of(by_row.get(row)) for doc_id, (row, _) in rows.items()}
    return {doc_id: own_headers[doc_id] or own_headers.get(rows[doc_id][1], {}) for doc_id in doc_ids}


def check_privilege_log(out: Path) -> None:
    """Refuse a file that a privilege log cannot have."""
    if out.suffix.lower() not in (*SUFFIXES, _WORD):
        raise ParameterError.of("out", f"a file that ends in {', '.join((*SUFFIXES, _WORD))}", str(out))


def as_word(log: pa.Table, author: str) -> bytes:
    """Return a privilege log as a Word document; a column without values is left out."""
    names = [name for name in log.column_names if log[name].null_count < len(log)] or log.column_names
    rows = [[row[name] or "" for name in names] for row in log.to_pylist()]
    return word_table("Privilege log", names, rows, author=author)


def write_privilege_log(log: pa.Table, out: Path, author: str) -> None:
    """Write a privilege log, completely or not at all."""
    if out.suffix.lower() != _WORD:
        write_table(log, out)
        return
    with published(out) as aside:
        aside.write_bytes(as_word(log, author))
