"""Family of a document: the mail, archive or record that contains it, and the other members of that."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, exists, or_, select

from nearkin.collection.listing.details import DocumentDetails
from nearkin.collection.stored.inside import AFTER
from nearkin.collection.stored.origins import COLUMNS, IS_UNREAD, with_origins
from nearkin.stages.documents.members import BETWEEN
from nearkin.store.ordering import by_bytes
from nearkin.store.schema import documents, origins

MAX_MEMBERS = 100
"""Maximum number of members that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyMember:
    """Another member of a document's family.

    Parameters
    ----------
    doc_id : str
    is_stored : bool
        Whether it is a current document; otherwise it gave no text.
    is_above : bool
        Whether it is the outermost document of the family.
    """

    doc_id: str
    is_stored: bool
    is_above: bool


@dataclass(frozen=True, slots=True)
class DocumentFamily:
    """Other members of a document's family: the outermost document, then the others by id.

    Parameters
    ----------
    members : tuple of FamilyMember
        At most `MAX_MEMBERS`, and the outermost document.
    is_truncated : bool
        Whether there are more.
    """

    members: tuple[FamilyMember, ...] = ()
    is_truncated: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {"members": [asdict(one) for one in self.members], "is_truncated": self.is_truncated}


def family_of(connection: Connection, found: DocumentDetails) -> DocumentFamily:
    """Return the family of a document; empty if it has none."""
    own = found.document.doc_id
    if found.origin is None:  # a record of a load file names its parent
        root = found.parent or own
        is_member = or_(origins.c.parent == root, origins.c.doc_id == root)
    elif found.origin.family is None:
        return DocumentFamily()  # members of an archive or a mailbox are no family
    else:
        root, name = found.origin.family, by_bytes(connection, origins.c.doc_id)
        is_inside = (name > root + BETWEEN) & (name < root + AFTER)  # for the index; there is none of families
        is_member = (origins.c.family == root) & (is_inside | (name == root))
    is_current = exists().where((documents.c.row == origins.c.row) & documents.c.is_current)
    query = with_origins().where(is_member & (is_current | IS_UNREAD) & (origins.c.doc_id != own))
    ordered = query.order_by(by_bytes(connection, origins.c.doc_id)).limit(MAX_MEMBERS + 1)
    rows = [dict(zip(COLUMNS, row)) for row in connection.execute(ordered)]
    members = {
        row["doc_id"]: FamilyMember(
            doc_id=row["doc_id"], is_stored=row["row"] is not None, is_above=row["doc_id"] == root
        )
        for row in rows[:MAX_MEMBERS]
    }
    has_root = select(documents.c.row).where((documents.c.doc_id == root) & documents.c.is_current)
    if root != own and root not in members and connection.execute(has_root).first():  # a record without an origin
        members[root] = FamilyMember(doc_id=root, is_stored=True, is_above=True)
    ranked = tuple(sorted(members.values(), key=lambda one: not one.is_above))
    return DocumentFamily(ranked, is_truncated=len(rows) > MAX_MEMBERS)
