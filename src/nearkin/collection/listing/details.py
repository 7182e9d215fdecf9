"""A stored document with its text and its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, bindparam, exists, or_, select

from nearkin.collection.decisions.log import GROUP_NOTE, NOTE, activities_of, current_tags, values_of
from nearkin.collection.decisions.principals import n_later_decisions, shown_principals
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored import documents as stored
from nearkin.collection.stored.contents import stored_text
from nearkin.collection.stored.group_state import NO_GROUP, GroupState, stored_tolerances
from nearkin.collection.stored.origins import AFTER, IS_EXCEPTION, origin_of
from nearkin.stages.documents.members import BETWEEN, Origin
from nearkin.store.bulk import among, by_bytes, n_rows
from nearkin.store.schema import documents, loads, origins, tags
from nearkin.tabular import AnswerRecord

MAX_COPIES = 1_000
"""Maximum number of copies that are listed; the total is always known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOfDocument:
    """A stored group that has a document as a member.

    Parameters
    ----------
    tolerance
        Tolerance of the groups, such as ``jaccard 0.5``.
    principal
        Id of the group's principal; it may have been removed since.
    n_decisions
        Number of decisions on groups that were made or undone since the groups were updated.
    """

    tolerance: str
    number: int
    principal: str
    n_documents: int
    note: str | None
    n_decisions: int = 0

    @property
    def measure(self) -> str:
        """Measure of the tolerance, such as ``jaccard``."""
        return self.tolerance.partition(" ")[0]

    @property
    def value(self) -> float:
        """Number of the tolerance."""
        return float(self.tolerance.partition(" ")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentDetails(AnswerRecord):
    """A stored document with its text and its history.

    Parameters
    ----------
    added_at
        When this version was added; UTC, ISO 8601.
    removed_at
        When the document was removed; None for current and for replaced versions.
    copies
        Ids of other current documents with the same text, in the order in which they were added; at most 1,000.
        Empty for an empty document.
    tags
        Values by field; empty for a bare tag. They belong to the id.
    groups
        By tolerance; as stored by the latest update of each. Empty for versions that are not current.
    parent
        Id of the document or container that it is inside of.
    origin
        The file that it was extracted from; None for texts and records.
    last_activity
        Number of the last activity that changed a tag, a decision or a note of the document; 0 if there is none.
    """

    document: StoredDocument
    text: str
    added_at: str
    removed_at: str | None
    versions: tuple[int, ...]
    copies: tuple[str, ...]
    n_copies: int
    tags: Mapping[str, str]
    note: str | None
    groups: tuple[GroupOfDocument, ...]
    parent: str | None = None
    origin: Origin | None = None
    last_activity: int = 0


_VERSIONS = stored.with_documents().add_columns(loads.c.added_at).where(among(documents.c.doc_id))
_VERSIONS = _VERSIONS.order_by(documents.c.version)
_COPIES = select(documents.c.doc_id).where(among(documents.c.content) & documents.c.is_current)
_COPIES = _COPIES.where(documents.c.doc_id != bindparam("own")).order_by(documents.c.row).limit(MAX_COPIES)


def details(connection: Connection, doc_id: str, version: int | None) -> DocumentDetails:
    """Return a document with its text; see `Collection.details`."""
    document = stored.document(connection, doc_id, version)
    versions = {listed.version: listed for listed in connection.execute(_VERSIONS, {"values": [doc_id]})}
    row = versions[document.version]
    is_copy = (documents.c.content == document.content) & documents.c.is_current & (documents.c.doc_id != doc_id)
    text = stored_text(connection, document.content)
    # empty documents are no copies of one another
    is_blank, values = not text.strip(), {"values": [document.content], "own": doc_id}
    copies = [] if is_blank else connection.execute(_COPIES, values).scalars().all()
    n_copies = len(copies) if len(copies) < MAX_COPIES else n_rows(connection, documents, is_copy)
    parent, origin = origin_of(connection, row.row)
    return DocumentDetails(
        document=document,
        text=text,
        added_at=row.added_at,
        removed_at=row.removed_at,
        versions=tuple(versions),
        copies=tuple(copies),
        n_copies=n_copies,
        tags={field: value for _, field, value, _ in current_tags(connection, tags.c.doc_id == doc_id)},
        note=values_of(connection, [(NOTE, doc_id, "")]).get((NOTE, doc_id, "")),
        groups=_groups_of(connection, document.content) if document.is_current else (),
        parent=parent,
        origin=origin,
        last_activity=max(activities_of(connection, doc_id), default=0),
    )


def _groups_of(connection: Connection, content: int) -> tuple[GroupOfDocument, ...]:
    groups = (_group_of(connection, content, tolerance) for tolerance in stored_tolerances(connection))
    return tuple(group for group in groups if group is not None)


def group_of(connection: Connection, doc_id: str, tolerance: str) -> GroupOfDocument | None:
    """Return the stored group of a current document with at least one other; None if it is in none, or not current."""
    for row in stored.document_rows(connection, documents.c.doc_id, [doc_id]):
        if row.is_current and (group := _group_of(connection, row.content, tolerance)) is not None:
            return group if group.n_documents > 1 else None
    return None


def _group_of(connection: Connection, content: int, tolerance: str) -> GroupOfDocument | None:
    state = GroupState.known(connection, tolerance)  # a row of members that is missing would hide a group
    number = int(state.membership.group_of(np.array([content]))[0])
    if number == NO_GROUP:
        return None
    n_documents = len(stored.current_rows(connection, documents.c.content, state.contents_of(number)))
    note = GROUP_NOTE, tolerance, str(number)
    return GroupOfDocument(
        tolerance=tolerance,
        number=number,
        principal=shown_principals(connection, state, [number])[number].doc_id,
        n_documents=n_documents,
        note=values_of(connection, [note]).get(note),
        n_decisions=n_later_decisions(connection, state),
    )


MAX_MEMBERS = 100
"""Maximum number of members that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyMember:
    """Another member of a document's family."""

    doc_id: str
    is_stored: bool
    is_above: bool


@dataclass(frozen=True, slots=True)
class DocumentFamily(AnswerRecord):
    """Other members of a document's family: the outermost document, then the others by id."""

    members: tuple[FamilyMember, ...] = ()
    is_truncated: bool = False


def family_of(connection: Connection, document_details: DocumentDetails) -> DocumentFamily:
    """Return the family of a document; empty if it has none."""
    doc_id = document_details.document.doc_id
    if document_details.origin is None:  # a record of a load file names its parent
        root = document_details.parent or doc_id
        is_member = or_(origins.c.parent == root, origins.c.doc_id == root)
    elif document_details.origin.family is None:
        return DocumentFamily()  # members of an archive or a mailbox are no family
    else:
        root, name = document_details.origin.family, by_bytes(connection, origins.c.doc_id)
        is_inside = (name > root + BETWEEN) & (name < root + AFTER)  # for the index; there is none of families
        is_member = (origins.c.family == root) & (is_inside | (name == root))
    is_current = exists().where((documents.c.row == origins.c.row) & documents.c.is_current)
    query = select(origins).where(is_member & (is_current | IS_EXCEPTION) & (origins.c.doc_id != doc_id))
    ordered = query.order_by(by_bytes(connection, origins.c.doc_id)).limit(MAX_MEMBERS + 1)
    rows = connection.execute(ordered).all()
    members = {
        row.doc_id: FamilyMember(doc_id=row.doc_id, is_stored=row.row is not None, is_above=row.doc_id == root)
        for row in rows[:MAX_MEMBERS]
    }
    has_root = select(documents.c.row).where((documents.c.doc_id == root) & documents.c.is_current)
    if root != doc_id and root not in members and connection.execute(has_root).first():  # a record without an origin
        members[root] = FamilyMember(doc_id=root, is_stored=True, is_above=True)
    ranked = tuple(sorted(members.values(), key=lambda member: not member.is_above))
    return DocumentFamily(ranked, is_truncated=len(rows) > MAX_MEMBERS)
