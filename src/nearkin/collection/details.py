"""A stored document with its text and all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sqlalchemy import Connection, func, select

from nearkin.collection.contents import stored_text
from nearkin.collection.documents import document
from nearkin.collection.results import StoredDocument
from nearkin.store.integrity import refuse_changed
from nearkin.store.schema import documents, loads, waves

MAX_COPIES = 1_000
"""Maximum number of copies that are listed; the total is always known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetails:
    """A stored document with its text and its history.

    Parameters
    ----------
    document : StoredDocument
        The version.
    text : str
        Unchanged.
    added_at : str
        When this version was added; UTC, ISO 8601.
    removed_at : str or None
        When the document was removed; None for current and for replaced versions.
    versions : tuple of int
        All versions stored under the id, the oldest first.
    copies : tuple of str
        Ids of other current documents with the same text, in the order in which they were added; at most 1,000.
    n_copies : int
        Number of such documents.
    """

    document: StoredDocument
    text: str
    added_at: str
    removed_at: str | None
    versions: tuple[int, ...]
    copies: tuple[str, ...]
    n_copies: int

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "document"}
        return {**self.document.to_dict(), **own, "versions": list(self.versions), "copies": list(self.copies)}


def details(connection: Connection, doc_id: str, version: int | None) -> DocumentDetails:
    """Return a document with its text; see `Collection.details`."""
    refuse_changed(connection, waves, loads)
    own = document(connection, doc_id, version)
    of_id = (
        select(documents.c.version, documents.c.removed_at, loads.c.added_at)
        .select_from(documents.join(loads))
        .where(documents.c.doc_id == doc_id)
        .order_by(documents.c.version)
    )
    versions = {row.version: row for row in connection.execute(of_id)}
    is_copy = (documents.c.content == own.content) & documents.c.is_current & (documents.c.doc_id != doc_id)
    copies = select(documents.c.doc_id).where(is_copy).order_by(documents.c.row).limit(MAX_COPIES)
    n_copies = connection.execute(select(func.count()).select_from(documents).where(is_copy)).scalar_one()
    return DocumentDetails(
        document=own,
        text=stored_text(connection, own.content),
        added_at=versions[own.version].added_at,
        removed_at=versions[own.version].removed_at,
        versions=tuple(versions),
        copies=tuple(connection.execute(copies).scalars()),
        n_copies=n_copies,
    )
