"""Exceptions of collections that none of the documents read from them shows: files that gave no text, lost records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nearkin.stages.documents.sources import Source
from nearkin.workflows.reading.exceptions import ExceptionRow
from nearkin.workflows.reading.inputs import StoredSource
from nearkin.workflows.reading.texts import Texts

if TYPE_CHECKING:
    from nearkin.collection.listing.exceptions import StoredException


def all_exceptions(texts: Texts) -> list[ExceptionRow]:
    """Return the exceptions of the documents that were read, then those of `exceptions_of_collections`."""
    own = texts.exceptions
    return [*own, *exceptions_of_collections(texts.sources, own)]


def exceptions_of_collections(sources: Sequence[Source], known: Sequence[ExceptionRow]) -> list[ExceptionRow]:
    """Return the exceptions of the collections among some sources that no document of these sources shows.

    Parameters
    ----------
    sources : sequence of Source
    known : sequence of ExceptionRow
        Exceptions of the documents that were read.
    """
    found = list[ExceptionRow]()
    for number, source in enumerate(sources):
        if isinstance(source, StoredSource) and source.format == "collection":
            listed = {one.given_id for one in known if one.source == number}
            found += [listed_exception(one, number) for one in _without_document(source) if one.doc_id not in listed]
    return found


def _without_document(source: StoredSource) -> Sequence[StoredException]:
    # their libraries belong to an extra, which only collections need
    from nearkin.collection.listing.exceptions import exceptions_without_document
    from nearkin.workflows.reading.collection_documents import CollectionDocuments

    documents = source.documents
    if not isinstance(documents, CollectionDocuments):
        return ()
    with documents.opened() as store, store.reading() as connection:
        return exceptions_without_document(connection)


def listed_exception(one: StoredException, source: int) -> ExceptionRow:
    """Return a stored exception as it is listed in ``exceptions.csv``, without a place."""
    return ExceptionRow(
        doc_id=one.doc_id,
        given_id=one.doc_id,
        parent=one.parent,
        exception=one.exception,
        is_partial=one.is_partial,
        sentence=one.sentence,
        kind=one.kind,
        sha256=one.sha256,
        size_bytes=one.size_bytes,
        source=source,
        line=None,
        is_extracted=one.extractor is not None,
    )
