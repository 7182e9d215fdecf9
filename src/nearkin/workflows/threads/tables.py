"""Rows of threads → ``threads.parquet``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.formats import parquet
from nearkin.runs.files import published
from nearkin.runs.for_pandas import for_pandas
from nearkin.workflows.threads.judging import ThreadRow
from nearkin.workflows.threads.mails import ReadMails

_ROWS_AT_ONCE = 1 << 14


def schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of ``threads.parquet``, in their order."""
    text, whole, truth = pa.large_string(), pa.int64(), pa.bool_()
    return pa.schema(
        [
            pa.field("thread", whole, nullable=False), pa.field("thread_size", whole, nullable=False),
            pa.field("position", whole, nullable=False), pa.field("depth", whole, nullable=False),
            ("id", id_type), ("name", text), ("row", whole), pa.field("is_missing", truth, nullable=False),
            ("message_id", text), ("parent_mail", text), ("parent_message_id", text), ("linked_by", text),
            ("subject", text), ("sent_at", pa.timestamp("us", "UTC")), ("sender", text), ("n_attachments", whole),
            ("is_inclusive", truth), ("reason", text), ("is_duplicate_spare", truth), ("included_in", text),
            ("quotes_more", truth), ("source", text), ("line", whole),
        ]
    )  # fmt: skip


_OF_ROWS = (
    "thread", "thread_size", "position", "depth", "name", "is_missing", "message_id", "parent_mail",
    "parent_message_id", "linked_by", "subject", "sent_at", "sender", "n_attachments", "is_inclusive", "reason",
    "is_duplicate_spare", "included_in", "quotes_more",
)  # fmt: skip


def write_threads(path: Path, rows: Iterable[ThreadRow], read: ReadMails) -> None:
    """Write a row for each mail and each missing mail."""
    columns = for_pandas(schema(read.documents["id"].type))
    with published(path) as aside, parquet.table_writer(aside, columns) as writer:
        held: list[ThreadRow] = []
        for one in rows:
            held.append(one)
            if len(held) == _ROWS_AT_ONCE:
                writer.write_table(_table(held, read, columns))
                held.clear()
        writer.write_table(_table(held, read, columns))


def _table(rows: Sequence[ThreadRow], read: ReadMails, columns: pa.Schema) -> pa.Table:
    of_documents = np.array([-1 if row.mail is None else read.rows[row.mail] for row in rows], np.int64)
    places = pa.array(of_documents, mask=of_documents < 0)
    arrays = {name: [getattr(row, name) for row in rows] for name in _OF_ROWS}
    taken = {name: read.documents[name].combine_chunks().take(places) for name in ("id", "source", "line")}
    found = {**{name: pa.array(values, columns.field(name).type) for name, values in arrays.items()}, **taken}
    return pa.Table.from_arrays([(found | {"row": places})[name] for name in columns.names], schema=columns)
