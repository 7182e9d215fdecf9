"""Formats of lines: an id and a text, or a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from nearkin.stages.documents.formats.format import CopiedStream
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.head import Head
    from nearkin.stages.documents.streams import ByteStream
    from nearkin.stages.documents.table_columns import RowMask

_LONGEST_ID = 512


class LineFormat(CopiedStream):
    """Each line is a document, whatever it contains."""

    def copy_stream(self, source: Source, is_kept: RowMask, stream: ByteStream, sink: IO[bytes]) -> None:
        """Copy kept lines byte for byte."""
        from nearkin.stages.documents.packing import copy_lines

        copy_lines(is_kept, stream, sink, source.max_document_bytes)


class Lines(LineFormat):
    """``ID<TAB>TEXT``."""

    name = "lines"
    hint = "ID<TAB>TEXT"
    listed = "ID<TAB>TEXT lines"
    in_words = "lines of ID<TAB>TEXT"
    a_file = "a file of ID<TAB>TEXT lines"

    def is_begun_by(self, head: Head) -> bool:
        """Whether at least two lines, and two thirds of the first ones, have this form."""
        n_lines, n_seen = _n_id_and_text(head)
        return n_lines >= 2 and 3 * n_lines >= 2 * n_seen

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `CopiedStream`."""
        from nearkin.stages.documents.lines import read_lines

        return read_lines(stream, opened)


class TextLines(LineFormat):
    """One text per line, without an id."""

    name = "text-lines"
    hint = "a document per line"
    in_words = "a document per line"
    a_file = "a file with a document per line"
    has_ids = False

    def batches(self, stream: ByteStream, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches of documents; see `CopiedStream`."""
        from nearkin.stages.documents.lines import read_text_lines

        return read_text_lines(stream, opened)


def _n_id_and_text(head: Head) -> tuple[int, int]:
    """Count ``ID<TAB>TEXT`` among the first lines, and these lines; zeros if an id is repeated."""
    lines = head.first_lines
    ids = [line.partition(b"\t")[0] for line in lines if b"\t" in line]
    if len(set(ids)) < len(ids) or not all(0 < len(one) <= _LONGEST_ID and not re.search(rb"\s", one) for one in ids):
        return 0, len(lines)
    return len(ids), len(lines)
