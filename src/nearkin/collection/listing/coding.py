"""What reviewers said of documents, as columns of tables of documents: tags, notes, who set them and when."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.log import NOTE, TAG
from nearkin.collection.decisions.second_values import two_values
from nearkin.store import schema
from nearkin.store.bulk import in_slices

_NAMES = {NOTE: "note", TAG: "tag:"}
"""Beginnings of the names of columns, by kind of setting."""
_ENDS, _SECOND = ("", " by", " at"), "second:"
_OF_TWO = {"id_a": "a ", "id_b": "b "}
_changes, _acts = schema.changes.c, schema.activity.c
_is_coded = _changes.is_current & _changes.kind.in_(_NAMES)


def coded_columns(connection: Connection) -> list[str]:
    """Return the names of what reviewers set, in order: ``note``, ``tag:FIELD``, ``second:FIELD``."""
    pairs = connection.execute(select(_changes.kind, _changes.other).where(_is_coded).distinct()).all()
    seconds = {_SECOND + two.field for two in two_values(connection)}
    return sorted(seconds.union(_NAMES[kind] + field for kind, field in pairs))


def with_coding(connection: Connection, table: pa.Table, names: Sequence[str] | None = None) -> pa.Table:
    """Add what reviewers set for the documents of a table, and who set it when.

    Parameters
    ----------
    names
        What `coded_columns` returned. Each gives the columns ``NAME``, ``NAME by`` and ``NAME at`` (UTC, ISO 8601),
        null for documents without it; the value of a bare tag is the name of its field. Second values are only those
        that differ, joined by " | " if they are of several people; "none" was taken away. In a table with two documents
        in each row, the names begin with "a " and "b ".
    """
    names = coded_columns(connection) if names is None else names
    for column, begins in ({"doc_id": ""} | _OF_TWO).items():
        if column in table.column_names and names:
            table = _added(connection, table, table[column].to_pylist(), names, begins)
    return table


def _added(
    connection: Connection, table: pa.Table, doc_ids: Sequence[str | None], names: Sequence[str], begins: str
) -> pa.Table:
    coded = dict[tuple[str | None, str], tuple[str, ...]]()
    query = select(_changes.subject, _changes.kind, _changes.other, _changes.now, _acts.done_by, _acts.done_at)
    query = query.join_from(schema.changes, schema.activity).where(_is_coded)
    for block in in_slices([doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id is not None]):
        for doc_id, kind, field, value, *acted in connection.execute(query.where(_changes.subject.in_(block))):
            coded[doc_id, _NAMES[kind] + field] = value or field, *acted
        for two in two_values(connection, of=block):
            key, second = (two.doc_id, _SECOND + two.field), (two.second.value or "none", two.second.by, two.second.at)
            earlier = coded.get(key, ())
            coded[key] = tuple(map(" | ".join, zip(earlier, second, strict=True))) if earlier else second
    for name in names:
        rows = [coded.get((doc_id, name), (None, None, None)) for doc_id in doc_ids]
        for end, values in zip(_ENDS, zip(*rows, strict=True) if rows else [()] * 3, strict=True):
            table = table.append_column(f"{begins}{name}{end}", pa.array(values, pa.large_string()))
    return table
