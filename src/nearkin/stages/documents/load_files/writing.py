"""Copy of the kept records of a load file."""

from __future__ import annotations

from itertools import islice
from typing import IO

import numpy as np

from nearkin.stages.documents.load_files.reading import dialect_in
from nearkin.stages.documents.load_files.records import RecordReader
from nearkin.stages.documents.source import Source
from nearkin.stages.documents.streams import ByteStream
from nearkin.stages.documents.table_columns import RowMask

_RECORDS_AT_ONCE = 4_096


def copy_load_file(source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
    """Write the header and the kept records."""
    reader = RecordReader(stream, dialect_in(stream, source.name), source.max_document_bytes)
    records = reader.records()
    header = next(records, None)
    if header is not None:
        sink.write(stream.as_it_was(header.raw))
    while some := list(islice(records, _RECORDS_AT_ONCE)):
        kept = is_kept(np.array([one.line for one in some], np.int64))
        sink.write(stream.as_it_was(b"".join(one.raw for one, is_one in zip(some, kept, strict=True) if is_one)))
