"""Tags beside documents: the key of each tag, and the columns of tags in tables of documents."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
from sqlalchemy import Connection, exists, func, literal, select

from nearkin.collection.dates import DATE_TAG
from nearkin.store import schema
from nearkin.store.bulk import by_bytes, in_slices


def keyed_tags(connection: Connection, n_keys: int) -> dict[int, tuple[str, str]]:
    """Return the tags in use that have keys, by key from 1: the tags in the order in which they were first set.

    The log, to which rows are only added, gives each tag its key for good. A tag that no document has any more is
    omitted until it is set again, and keeps its key.
    """
    table, changes, first = schema.activity.c, schema.changes.c, dict[tuple[str, str], None]()
    for number, data in connection.execute(
        select(table.number, table.data).where(table.kind == "tag").order_by(table.number)
    ):
        activity = json.loads(data)
        if activity["field"] == DATE_TAG or activity.get("n_values", 1) > n_keys:
            continue
        values = [activity["value"]] if "value" in activity else []
        if not values:
            of_activity = select(changes.now).where(changes.activity == number).group_by(changes.now)
            values = list(connection.execute(of_activity.order_by(func.min(changes.number))).scalars())
        first |= {(activity["field"], value): None for value in values}
        if len(first) >= n_keys:
            break
    keyed = [*first][:n_keys]
    is_used = connection.execute(select(literal(0), *(exists().where(schema.is_tag(*one)) for one in keyed))).one()
    return {key: one for key, one in enumerate(keyed, 1) if is_used[key]}


_OF_A_TAG = ("", " by", " at")
"""Ends of the names of its columns."""


def tag_fields(connection: Connection) -> list[str]:
    """Return the fields of all tags that documents have, in order."""
    query = select(schema.tags.c.field).distinct().subquery()
    return list(connection.execute(select(query.c.field).order_by(by_bytes(connection, query.c.field))).scalars())


def with_tags(connection: Connection, table: pa.Table, fields: Sequence[str]) -> pa.Table:
    """Add the tags of the documents of a table, and who set each of them when.

    Parameters
    ----------
    fields
        What `tag_fields` returned. Each gives the columns ``tag:FIELD``, ``tag:FIELD by`` and ``tag:FIELD at`` (UTC,
        ISO 8601), null for documents without the tag; the value of a bare tag is the name of its field.
    """
    if not fields:
        return table
    doc_ids, own, acts = table["doc_id"].to_pylist(), schema.tags.c, schema.activity.c
    found = dict[tuple[str, str], tuple[str, str, str]]()
    query = select(own.doc_id, own.field, own.value, acts.done_by, acts.done_at)
    query = query.join_from(schema.tags, schema.activity, own.activity == acts.number)
    for some in in_slices([doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id is not None]):
        for doc_id, field, value, by, at in connection.execute(query.where(own.doc_id.in_(some))):
            found[doc_id, field] = value or field, by, at
    for field in fields:
        rows = [found.get((doc_id, field), (None, None, None)) for doc_id in doc_ids]
        for end, values in zip(_OF_A_TAG, zip(*rows, strict=True) if rows else [()] * 3, strict=True):
            table = table.append_column(f"tag:{field}{end}", pa.array(values, pa.large_string()))
    return table
