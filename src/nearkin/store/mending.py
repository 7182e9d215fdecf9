"""Repair of rows that were changed: their right values follow from their checksums, or from the other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, LargeBinary, cast, update
from sqlalchemy.exc import IntegrityError

from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.checksums import covered, judged, key_place
from nearkin.store.integrity import MAX_NAMED, Fix, fix_of, wrong_current


def mend_current(connection: Connection, wrong: Mapping[int, str]) -> list[str]:
    """Correct ``is_current`` of some rows, in a write transaction; return what was repaired."""
    documents = schema.documents
    for some in in_slices(list(wrong)):  # first clear all, so that no id is current twice
        right = update(documents).where(documents.c.row.in_(some))
        connection.execute(right.where(documents.c.is_current).values(is_current=False))
    still = [row for row in connection.execute(wrong_current()).scalars() if row in wrong] if wrong else []
    for some in in_slices(still):
        connection.execute(update(documents).where(documents.c.row.in_(some)).values(is_current=True))
    names = dict.fromkeys(wrong.values())
    return [f"current version of document {doc_id!r}" for doc_id in list(names)[:MAX_NAMED]]


def mend(connection: Connection, fixes: Sequence[Fix]) -> tuple[list[str], list[str]]:
    """Repair rows, in a write transaction; return the names of those repaired and of those that could not be."""
    mended, left = list[str](), list[str]()
    for fix in fixes:
        columns = fix.table.c
        is_it = [_is(columns[name], value) for name, value in fix.identity.items()]
        is_it.append(columns.checksum.is_(None) if fix.stored is None else columns.checksum == fix.stored)
        try:
            with connection.begin_nested():
                n_rows = connection.execute(fix.table.update().where(*is_it).values(**fix.right)).rowcount
        except IntegrityError:
            n_rows = 0  # another row has taken its key meanwhile
        (mended if n_rows == 1 else left).append(fix.name)
    return mended, left


def _is(column: Any, value: object) -> Any:
    """Compare a column with a value read inside `any_bytes`."""
    if isinstance(value, str) and not is_storable(value):
        return cast(column, LargeBinary) == value.encode("utf-8", "surrogateescape")
    return column == value


def mend_document(connection: Connection, values: Sequence[Any], stored: int | None) -> tuple[Any, ...] | None:
    """Repair a document's row that was changed, in a write transaction.

    Parameters
    ----------
    connection : Connection
    values : sequence
        Current values of the covered columns.
    stored : int or None
        The checksum of the row.

    Returns
    -------
    tuple or None
        The original values, which are stored again; None if they are unknown.
    """
    names = covered(schema.documents)
    row = judged(values, key_place(schema.documents), stored)
    if not row.is_known:
        return None
    fix = fix_of(schema.documents, dict(zip(names, values)), stored, dict(zip(names, row.values)), row.checksum)
    mended, _ = mend(connection, [fix])
    return row.values if mended else None
