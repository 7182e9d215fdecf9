"""Batches of documents with origins, as readers of files hand them to a collection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa

from nearkin.collection.collection import Collection
from nearkin.collection.loads.adding import Added, add_incoming
from nearkin.collection.loads.incoming import Incoming
from nearkin.records import DOCUMENTS_SCHEMA
from nearkin.stages.documents.members import MailHeaders, Origin
from nearkin.stages.documents.rules import ReadingRules

LEASE = "The tenant shall pay the rent of 900 crowns on the first day of each month to the landlord."
LETTER = "Please find the signed lease of the house in Mill Lane enclosed, with our best regards to all."
HEADERS = MailHeaders(
    message_id="17@example.org",
    references=("16@example.org", "15@example.org"),
    subject="Re: the lease\0 of Mill Lane",
    sent_at=datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC),
    sender="Ada Berg <ada@example.org>",
    to="Bo Dorn <bo@example.org>",
)
Row = tuple[str, str | None, Origin | None, str | None]
"""Id, text, origin and parent of a document."""


def origin(data: str, **values: object) -> Origin:
    """An origin whose bytes are named by one letter."""
    told = {"sha256": data * 64, "size_bytes": 1_000, "kind": "html", "extractor": "nearkin html 2"}
    return Origin(**{**told, **values})  # type: ignore[arg-type]  # the test says which


def unread(data: str, **values: object) -> Origin:
    """The origin of a file that gave no text."""
    told = {"kind": "pdf", "exception": "encrypted", "sentence": "encrypted with a password"}
    return origin(data, **{**told, **values})


def incoming(rows: Sequence[Row], source: str = "table") -> Incoming:
    """A batch of documents from one source."""
    columns = {
        "doc_id": [row[0] for row in rows],
        "text": [None if row[1] is None else row[1].encode() for row in rows],
        "line": list(range(1, len(rows) + 1)),
        "problem": [(row[2].sentence if row[2] else "no text") if row[1] is None else None for row in rows],
        "parent": [row[3] for row in rows],
        "origin": [None if row[2] is None else row[2].as_row() for row in rows],
    }
    arrays = [pa.array(columns.get(field.name, [None] * len(rows)), field.type) for field in DOCUMENTS_SCHEMA]
    batch = pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS_SCHEMA)
    return Incoming(batch=batch, sources=pa.repeat(pa.scalar(source, pa.large_string()), len(rows)), name=None)


def add_extracted(
    collection: Collection,
    rows: Sequence[Row],
    *,
    wave: str | None = None,
    source: str = "table",
) -> Added:
    """Add documents with origins."""
    rules = ReadingRules.of("skip-documents", 1.0)
    return add_incoming(collection.opened, [incoming(rows, source)], wave=wave, threads=1, rules=rules)
