"""Readers of documents that are extracted: office files, PDF, pages, mail, mailboxes, archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from nearkin.stages.documents.faults import StreamFault, problem_of
from nearkin.stages.documents.members import InnerDocument, MemberIds, Origin
from nearkin.stages.documents.reader import Reader
from nearkin.stages.documents.rows import Row, RowList
from nearkin.stages.documents.rules import too_long
from nearkin.stages.documents.source import OpenedSource, Source

if TYPE_CHECKING:
    from nearkin.stages.documents.extraction.nodes import ExtractedNode

_BATCH_DOCUMENTS = 2048


class MembersReader(Reader):
    """A file that may contain several documents, each with its own id and parent."""

    def documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents, always in the same order, containers first."""
        raise NotImplementedError

    def batches(self, opened: OpenedSource) -> Iterator[pa.RecordBatch]:
        """Yield batches; a document's line is its number in the file."""
        rows = RowList(batch_bytes=opened.batch_bytes, batch_rows=_BATCH_DOCUMENTS)
        yield from rows.batches(
            Row(number, inner.doc_id, inner.text, inner.problem, parent=inner.parent, origin=inner.origin)
            for number, inner in enumerate(self.whole_documents(opened), 1)
        )

    def whole_documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents; a too long text is a problem, as is a truncated file, or one without any document."""
        name, longest, n_documents = opened.source.name, opened.source.max_document_bytes, 0
        try:
            for document in self.documents(opened):
                n_documents += 1
                if (n_bytes := len(document.text or b"")) > longest:
                    document = replace(document, text=None, problem=str(too_long(n_bytes, longest)))
                yield document
        except StreamFault as fault:
            doc_id = MemberIds().of(name, None, n_documents + 1) if n_documents else name
            yield InnerDocument(doc_id, name if n_documents else None, problem=problem_of("damaged", str(fault)))
            return
        if not n_documents:
            yield InnerDocument(name, problem="empty: it contains no document")


class Extracted(MembersReader):
    """Any document; its content decides the kind."""

    kind: ClassVar[str | None] = None
    """Kind of every file in this format; None: by its content."""

    def documents(self, opened: OpenedSource) -> Iterator[InnerDocument]:
        """Yield the documents of a file; see `MembersReader`."""
        source = opened.source
        yield from as_documents(
            source.name, self._nodes(source, opened.source.encoding) if opened.nodes is None else opened.nodes
        )
        opened.progress(source.size_bytes)

    def _nodes(self, source: Source, encoding: str) -> Iterator[ExtractedNode]:
        from nearkin.stages.documents.extraction.nodes import ExtractionRequest
        from nearkin.stages.documents.extraction.pool import ExtractionPool

        request = ExtractionRequest(name=source.name, kind=self.kind, encoding=encoding)
        with ExtractionPool(1, source.limits, source.ocr) as pool:
            yield from pool.submit(request, source.path).nodes()


class Html(Extracted):
    """Web pages."""

    kind = "html"


class Eml(Extracted):
    """Mails, one per file."""

    kind = "eml"


def as_documents(name: str, nodes: Iterable[ExtractedNode]) -> Iterator[InnerDocument]:
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
            yield InnerDocument(doc_id, parent, node.text, problem, origin)
    if empty is not None:
        sentence = "it contains no document"
        origin = replace(empty.origin, exception="empty", sentence=sentence)
        yield InnerDocument(name, problem=_problem_of(origin), origin=origin)


def _problem_of(origin: Origin) -> str | None:
    return None if origin.sentence is None else problem_of(origin.exception or "damaged", origin.sentence)
