"""Readers of documents that are extracted: office files, PDF, pages, mail, mailboxes, archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from nearkin.stages.documents.members import MemberIds, Origin
from nearkin.stages.documents.reader import Reader
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import problem_of, too_long
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.messages import ExtractedNode

_BATCH_DOCUMENTS = 2048


class Extracted(Reader):
    """Any document, which may have others inside, each with its own id and parent; its content decides the kind."""

    kind: ClassVar[str | None] = None
    """Kind of every file in this format; None: by its content."""

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches; a document's line is its number in the file."""
        yield from RowList(batch_bytes=opened.batch_bytes, batch_rows=_BATCH_DOCUMENTS).batches(self._rows(opened))

    def _rows(self, opened: OpenedSource) -> Iterator[Row]:
        """Yield the documents, always in the same order, containers first; a too long text is a problem."""
        source, longest, number = opened.source, opened.source.max_document_bytes, 0
        nodes = self._nodes(source) if opened.nodes is None else opened.nodes
        for number, row in enumerate(as_documents(source.name, nodes), 1):
            if (n_bytes := len(row.text or b"")) > longest:
                yield row._replace(line=number, text=None, problem=too_long(n_bytes, longest))
            else:
                yield row._replace(line=number)
        opened.progress(source.size_bytes)
        if not number:
            yield Row(1, source.name, problem="empty: it contains no document")

    def _nodes(self, source: Source) -> Iterator[ExtractedNode]:
        from nearkin.stages.documents.extraction.messages import ExtractionRequest
        from nearkin.stages.documents.extraction.pool import ExtractionPool

        request = ExtractionRequest(name=source.name, kind=self.kind, encoding=source.encoding)
        with ExtractionPool(1, source.limits, source.ocr) as pool:
            yield from pool.submit(request, source.path).nodes()


class Html(Extracted):
    """Web pages."""

    kind = "html"


class Eml(Extracted):
    """Mails, one per file."""

    kind = "eml"


def as_documents(name: str, nodes: Iterable[ExtractedNode]) -> Iterator[Row]:
    """Yield the documents of a file, without archives and mailboxes; an empty one of these is an exception."""
    ids = MemberIds()
    places: dict[int, tuple[str, str | None]] = {}
    empty: ExtractedNode | None = None
    for number, node in enumerate(nodes):
        empty = node if node.is_container and node.parent is None else None
        parent, family = (None, None) if node.parent is None else places[node.parent]
        doc_id = name if parent is None else ids.of(parent, node.name, node.origin.position or 0)
        if family is None and node.has_members and not node.is_container:
            family = doc_id
        if node.has_members or node.parent is None:
            places[number] = doc_id, family
        if not node.is_container:
            origin = node.origin if family is None else replace(node.origin, family=family)
            problem = _problem_of(node.origin) if node.text is None else None
            yield Row(number, doc_id, node.text, problem, parent=parent, origin=origin)
    if empty is not None:
        origin = replace(empty.origin, exception="empty", sentence="it contains no document")
        yield Row(0, name, problem=_problem_of(origin), origin=origin)


def _problem_of(origin: Origin) -> str | None:
    return None if origin.sentence is None else problem_of(origin.exception or "damaged", origin.sentence)
