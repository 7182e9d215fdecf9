"""A source as Arrow batches of documents, whatever its format."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import BinaryIO

import pyarrow as pa

from nearkin.errors import SourceError
from nearkin.stages.documents.jsonl import read_jsonl
from nearkin.stages.documents.sniffing import unreadable
from nearkin.stages.documents.sources import STDIN, Source
from nearkin.stages.documents.streams import ByteStream, Progress, StreamFault, check_encoding, no_progress


def read_batches(
    source: Source,
    *,
    batch_bytes: int = 8 << 20,
    keep_column: str | None = None,
    progress: Progress = no_progress,
    stdin: BinaryIO | None = None,
    encoding: str = "utf-8",
) -> Iterator[pa.RecordBatch]:
    """Batches of documents."""
    encoding = check_encoding(encoding)
    if source.path == STDIN:
        raw = stdin if stdin is not None else sys.stdin.buffer
        yield from _read_stream(source, raw, batch_bytes, keep_column, progress, encoding)
        return
    try:
        raw = open(source.path, "rb", buffering=0)  # noqa: SIM115  closed below, and a fault in between is no fault of opening
    except OSError as error:
        raise unreadable(source.name, error) from error
    with closing(raw):
        yield from _read_stream(source, raw, batch_bytes, keep_column, progress, encoding)


def _read_stream(
    source: Source, raw: BinaryIO, batch_bytes: int, keep_column: str | None, progress: Progress, encoding: str
) -> Iterator[pa.RecordBatch]:
    stream = ByteStream(raw, source.compression, encoding=encoding, progress=progress)
    try:
        yield from read_jsonl(
            stream, text=source.text or "text", doc_id=source.id, keep_column=keep_column, batch_bytes=batch_bytes
        )
    except StreamFault as fault:
        raise SourceError(f"{source.name}: cannot be read: {fault}.") from fault
