"""Documents with ids, parents, families and origins, made from the nodes of a worker."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from nearkin.stages.documents.extraction.limits import USUAL_LIMITS, ExtractionLimits
from nearkin.stages.documents.extraction.nodes import ExtractedNode
from nearkin.stages.documents.extraction.pool import ExtractionPool, FileToExtract
from nearkin.stages.documents.faults import problem_of
from nearkin.stages.documents.members import InnerDocument, MemberIds, Origin


def documents_of(
    file: FileToExtract, limits: ExtractionLimits = USUAL_LIMITS, ocr: str | None = None
) -> Iterator[InnerDocument]:
    """Yield the documents of one file. The worker is kept for the next file with the same limits and languages."""
    idle = _idle_pools(os.getpid(), limits, ocr)
    pool = idle.pop() if idle else ExtractionPool(1, limits, ocr)
    answer = pool.submit(file)
    try:
        yield from as_documents(file.name, answer.nodes())
    finally:
        answer.drop()
        idle.append(pool)


@lru_cache(maxsize=8)
def _idle_pools(process: int, limits: ExtractionLimits, ocr: str | None) -> list[ExtractionPool]:
    """Return the pools with one worker that no thread uses at the moment; they end with this process."""
    idle: list[ExtractionPool] = []
    atexit.register(_close, process, idle)
    return idle


def _close(process: int, idle: list[ExtractionPool]) -> None:
    for pool in idle if os.getpid() == process else ():
        pool.close()


def as_documents(name: str, nodes: Iterable[ExtractedNode]) -> Iterator[InnerDocument]:
    """Yield the documents of a file. An archive or mailbox is not a document; an empty one is listed as an exception.

    Parameters
    ----------
    name : str
        Name of the file.
    nodes : iterable of ExtractedNode
    """
    ids = MemberIds()
    places: dict[int, tuple[str, str | None]] = {}
    empty: ExtractedNode | None = None
    for node in nodes:
        empty = node if node.is_container and node.parent is None else None
        parent, family = (None, None) if node.parent is None else places[node.parent]
        doc_id = name if parent is None else ids.of(parent, node.name, node.origin.position or 0)
        if family is None and node.has_members and not node.is_container:
            family = doc_id
        if node.has_members or node.parent is None:
            places[node.number] = doc_id, family
        if not node.is_container:
            origin = node.origin if family is None else replace(node.origin, family=family)
            problem = _problem_of(node.origin) if node.text is None else None
            yield InnerDocument(doc_id, parent, node.text, problem, origin)
    if empty is not None:
        sentence = "it contains no document"
        origin = replace(empty.origin, exception="empty", sentence=sentence)
        yield InnerDocument(name, problem=_problem_of(origin), origin=origin)


def _problem_of(origin: Origin) -> str | None:
    """Return why a document has no text."""
    return None if origin.sentence is None else problem_of(origin.exception or "damaged", origin.sentence)
