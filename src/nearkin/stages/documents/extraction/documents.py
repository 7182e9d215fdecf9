"""Documents with ids, parents, families and origins, made from the nodes of a worker."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.extraction.nodes import ExtractedNode
from nearkin.stages.documents.extraction.workers import ExtractionPool, FileToExtract
from nearkin.stages.documents.members import InnerDocument, MemberIds
from nearkin.stages.documents.origin import Origin


def documents_of(
    file: FileToExtract, limits: ExtractionLimits = USUAL_LIMITS, ocr: str | None = None
) -> Iterator[InnerDocument]:
    """Yield the documents of one file. The worker is kept for the next file with the same limits and languages."""
    answer = _pool_of(os.getpid(), limits, ocr).submit(file)
    try:
        yield from as_documents(file.name, answer.nodes())
    finally:
        answer.drop()  # else the worker would wait for a reader who left


@lru_cache(maxsize=8)
def _pool_of(process: int, limits: ExtractionLimits, ocr: str | None) -> ExtractionPool:
    """Return a pool with one worker, for files that are read one by one; it ends with this process."""
    pool = ExtractionPool(1, limits, ocr)
    atexit.register(pool.close)
    return pool


@dataclass(frozen=True, slots=True)
class _NodePlace:
    """Id and family of a node, for its members."""

    doc_id: str
    family: str | None


def as_documents(name: str, nodes: Iterable[ExtractedNode]) -> Iterator[InnerDocument]:
    """Yield the documents of a file. An archive or mailbox is not a document; an empty one is listed as an exception.

    Parameters
    ----------
    name : str
        Name of the file.
    nodes : iterable of ExtractedNode
    """
    ids = MemberIds()
    known: dict[int, _NodePlace] = {}
    empty: ExtractedNode | None = None
    for node in nodes:
        empty = node if node.is_container and node.parent is None else None
        parent = None if node.parent is None else known[node.parent]
        doc_id = name if parent is None else ids.of(parent.doc_id, node.name, node.position)
        family = None if parent is None else parent.family
        if family is None and node.has_members and not node.is_container:
            family = doc_id
        if node.has_members or node.parent is None:
            known[node.number] = _NodePlace(doc_id, family)
        if node.is_container:
            continue
        yield InnerDocument(
            doc_id,
            None if parent is None else parent.doc_id,
            text=node.text,
            problem=node.sentence if node.text is None else None,
            origin=origin_of(node, family),
        )
    if empty is not None:
        said = replace(empty, exception="empty", sentence="it contains no document")
        yield InnerDocument(name, problem=said.sentence, origin=origin_of(said, None))


def origin_of(node: ExtractedNode, family: str | None) -> Origin:
    """Return the origin of a document."""
    return Origin(
        sha256=node.sha256,
        size_bytes=node.size_bytes,
        kind=node.kind,
        declared_kind=node.declared_kind,
        extractor=node.extractor,
        n_pages=node.n_pages,
        exception=node.exception,
        sentence=node.sentence,
        is_partial=node.is_partial,
        warnings="; ".join(node.warnings),
        family=family,
        position=node.position or None,
        mail=node.mail,
    )
