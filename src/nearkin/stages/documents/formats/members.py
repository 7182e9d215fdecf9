"""Formats of files that can contain several documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, TYPE_CHECKING, BinaryIO

from nearkin.stages.documents.formats.format import Format
from nearkin.stages.documents.members import InnerDocument, MemberIds
from nearkin.stages.documents.source import OpenedSource, Source, no_note

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.stages.documents.streams import Progress
    from nearkin.stages.documents.table_columns import RowMask

_BATCH_DOCUMENTS = 2048
_BLOCK_BYTES = 8 << 20


class MembersFormat(Format):
    """A file that may contain several documents, each with its own id and parent."""

    holds = "documents"

    @abstractmethod
    def documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents, always in the same order; containers come before their contents.

        An unreadable member is a document with a problem. If the file cannot be read any further, it ends with a
        `StreamFault`: the documents before are used.
        """

    def read(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches; a document's line is its number in the file. See `Format`."""
        from nearkin.stages.documents.rows import IdType, RowList, one_batch

        rows, n_bytes = RowList(), 0
        for number, one in enumerate(self.whole_documents(opened), 1):
            rows.add(number, one.doc_id, one.text, one.problem, parent=one.parent, origin=one.origin)
            n_bytes += len(one.text or b"")
            if n_bytes >= opened.batch_bytes or len(rows.lines) >= _BATCH_DOCUMENTS:
                yield one_batch([rows.piece()], IdType())
                rows, n_bytes = RowList(), 0
        if rows.lines:
            yield one_batch([rows.piece()], IdType())

    def whole_documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents; a text that is longer than the source allows is a problem, as is a file without any."""
        from nearkin.stages.documents.rules import too_long

        longest = opened.source.max_document_bytes
        for one in self._until_fault(opened):
            if one.text is not None and len(one.text) > longest:
                yield replace(one, text=None, problem=too_long(len(one.text), longest))
            else:
                yield one

    def _until_fault(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents; a truncation becomes a document with this problem, because a file never stops a run."""
        from nearkin.stages.documents.streams import StreamFault

        name, n_documents = opened.source.name, 0
        try:
            for one in self.documents(opened):
                yield one
                n_documents += 1
        except StreamFault as fault:
            place = n_documents + 1
            doc_id = MemberIds().of(name, None, place) if n_documents else name
            yield InnerDocument(doc_id, name if n_documents else None, problem=str(fault))
            return
        if not n_documents:
            yield InnerDocument(name, problem="it contains no document")

    def copy(
        self, source: Source, is_kept: RowMask, raw: BinaryIO, file: IO[bytes], progress: Progress, encoding: str
    ) -> None:
        """Write the kept documents as JSON Lines of ids and texts, because a part of such a file may not be valid."""
        from nearkin.stages.documents.kept_parts import json_line

        opened = OpenedSource(
            source=source,
            raw=raw,
            batch_bytes=_BLOCK_BYTES,
            keep=None,
            progress=progress,
            encoding=encoding,
            note=no_note,
        )
        for batch in self.read(opened):
            kept = batch.filter(is_kept(batch["line"].to_numpy()))
            for doc_id, text in zip(kept["doc_id"].to_pylist(), kept["text"].to_pylist(), strict=True):
                file.write(json_line(doc_id, text))
