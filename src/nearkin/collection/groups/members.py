"""Members of a stored group, each compared with its principal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from nearkin.collection.decisions.deciding import members_of, tags_of
from nearkin.collection.decisions.log import GROUP_NOTE, values_of
from nearkin.collection.groups.compared import stored_compared
from nearkin.collection.groups.grouping import OneSidedPassages, passages_added, passages_lacked
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.documents import stored_documents, with_documents
from nearkin.collection.stored_relations import relations_of
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError
from nearkin.stages.differences.relating import MemberComparison
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents

_CHARACTERS_A_SECOND = 400_000
"""Careful estimate of the characters of two texts that are aligned in a second."""
_A_LOT = 1 << 16
"""Number of characters of members that are compared at a time, if there is a time limit."""
_A_SIDE = 2_000
"""Number of characters of one-sided text that are kept of each side of a member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """A document of a group, compared with the principal.

    Parameters
    ----------
    document : StoredDocument
    jaccard : float
        Jaccard similarity of the word 5-grams.
    relative_distance : float
        Distance of the letter counts, as a share of the longer vector's length.
    is_principal : bool
    is_match : bool
        Whether it matches the principal; otherwise it is linked to it through others.
    is_same_text : bool
    is_letters_only : bool
        Whether its letters are like the principal's, and its wording is not.
    relation : str
        As ``nearkin families`` has it; empty for the principal, and for members whose relation was not computed.
    tags : mapping of str to str
        Values by field.
    n_words_added, n_words_lacked : int or None
        Number of words that only this document has, and that only the principal has; None if it was not compared.
    n_words_moved : int or None
        Number of words that both have, in different places.
    added, lacked : OneSidedPassages or None
        About the first 2,000 characters of these words, negations first; None if there are none. `representatives` has
        all of them.
    """

    document: StoredDocument
    jaccard: float
    relative_distance: float
    is_principal: bool
    is_match: bool
    is_same_text: bool
    is_letters_only: bool
    relation: str
    tags: Mapping[str, str]
    n_words_added: int | None = None
    n_words_lacked: int | None = None
    n_words_moved: int | None = None
    added: OneSidedPassages | None = None
    lacked: OneSidedPassages | None = None

    @property
    def has_relation(self) -> bool:
        """Whether its wording is compared with the principal's."""
        return not (self.is_principal or self.is_same_text or self.is_letters_only)

    @property
    def is_left(self) -> bool:
        """Whether its wording was not compared yet."""
        return self.has_relation and not self.relation

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        others = {name: value for name, value in asdict(self).items() if name not in ("document", "added", "lacked")}
        return {
            **self.document.to_dict(),
            **others,
            "passages_added": () if self.added is None else self.added.passages,
            "passages_lacked": () if self.lacked is None else self.lacked.passages,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembers:
    """A stored group.

    Parameters
    ----------
    number : int
    tolerance : Tolerance
    members : tuple of GroupMember
        The principal first, then the others, the most similar first; at most ``limit``.
    n_documents : int
        Number of members, including those not returned.
    note : str or None
    proposed_principal : str or None
        As in `Group`.
    n_indirect : int
        Number of members that do not match the principal, including those not returned.
    n_shown : int
        Number of distinct texts of members, the shortest first, before the first one whose relation is missing.
    n_left : int
        Number of members behind them whose relation is missing.
    is_busy : bool
        Whether relations are missing because another process was writing.
    """

    number: int
    tolerance: Tolerance
    members: tuple[GroupMember, ...]
    n_documents: int
    note: str | None
    proposed_principal: str | None
    n_indirect: int
    n_shown: int = 0
    n_left: int = 0
    is_busy: bool = False

    @property
    def principal(self) -> GroupMember:
        """The member that represents the group."""
        return self.members[0]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types."""
        return {
            "number": self.number,
            **self.tolerance.to_dict(),
            "principal": self.principal.document.doc_id,
            "proposed_principal": self.proposed_principal,
            "n_documents": self.n_documents,
            "n_indirect": self.n_indirect,
            "note": self.note,
            "members": [one.to_dict() for one in self.members],
        }


def group_members(
    collection: OpenedCollection,
    number: int,
    tolerance: Tolerance,
    *,
    limit: int = 200,
    within_s: float | None = None,
    n_shown: int | None = None,
) -> GroupMembers:
    """Compare the members of a stored group with its principal.

    Relations are stored when they are first computed; while another process writes, those not stored yet are missing.

    Parameters
    ----------
    collection : OpenedCollection
    number : int
    tolerance : Tolerance
    limit : int
        Maximum number of members to return.
    within_s : float, optional
        Time for relations that are not stored yet, those of short texts first; one that would take longer is not begun.
        By default all are computed.
    n_shown : int, optional
        `GroupMembers.n_shown` of the call before, which this one continues: it leaves these out, and computes at least
        one relation, however long that takes.

    Raises
    ------
    UnknownDocumentError
        There is no such group at this tolerance.
    ParameterError
        It is not the number of a group, or the measure has no groups.
    """
    found = collection.answered(lambda seen: _compared(collection, seen, number, tolerance, limit))
    lengths = {one.document.content: one.document.n_characters for one in found.members if one.has_relation}
    principal, related = found.principal.document.content, dict[int, MemberComparison]()
    by_length = sorted(lengths, key=lambda content: lengths[content])[n_shown or 0 :]
    pairs, is_busy = [(principal, content) for content in by_length], False
    ends = None if within_s is None else time.monotonic() + within_s
    try:
        related |= {pair[1]: text.comparison for pair, text in relations_of(collection, pairs, max_new=0)}
        missing = [pair for pair in pairs if pair[1] not in related]
        for i, some in enumerate([missing] if ends is None else _lots(missing, lengths)):
            n_characters = sum(found.principal.document.n_characters + lengths[content] for _, content in some)
            is_first = n_shown is not None and i == 0
            if ends is not None and not is_first and time.monotonic() + n_characters / _CHARACTERS_A_SECOND > ends:
                break
            related |= {pair[1]: text.comparison for pair, text in relations_of(collection, some)}
    except CollectionBusyError:
        is_busy = True
    n_more = next((i for i, content in enumerate(by_length) if content not in related), len(by_length))
    left = set(by_length) - related.keys()
    return replace(
        found,
        members=tuple(_with_relation(one, related.get(one.document.content)) for one in found.members),
        n_shown=(n_shown or 0) + n_more,
        n_left=sum(one.document.content in left for one in found.members),
        is_busy=is_busy,
    )


def _lots(pairs: Sequence[tuple[int, int]], lengths: Mapping[int, int]) -> Iterator[list[tuple[int, int]]]:
    """Yield the pairs in lots of short texts, so that each takes some tenths of a second; a long text is alone."""
    lot, n_characters = list[tuple[int, int]](), 0
    for pair in pairs:
        if lot and n_characters + lengths[pair[1]] > _A_LOT:
            yield lot
            lot, n_characters = [], 0
        lot.append(pair)
        n_characters += lengths[pair[1]]
    if lot:
        yield lot


def _with_relation(one: GroupMember, found: MemberComparison | None) -> GroupMember:
    if found is None or not one.has_relation:
        return one
    added, lacked = (side(one.document.doc_id, found) for side in (passages_added, passages_lacked))
    measured = found.judgement.measured
    moved_there, moved_here = (0, 0) if found.one_sided is None else [one.n_words_moved for one in found.one_sided]
    return replace(
        one,
        relation=found.judgement.relation,
        n_words_added=measured.n_words_only_in_member - moved_here,
        n_words_lacked=measured.n_words_only_in_principal - moved_there,
        n_words_moved=moved_here,
        added=None if added is None else added.shortened(_A_SIDE),
        lacked=None if lacked is None else lacked.shortened(_A_SIDE),
    )


def _compared(
    collection: OpenedCollection, seen: Snapshot, number: int, tolerance: Tolerance, limit: int
) -> GroupMembers:
    connection = seen.connection
    members_of(connection, number, str(tolerance))  # refuses a group that is not there
    found = stored_compared(collection, seen, tolerance, [number])
    (group,) = found.groups()
    table = found.table(tolerance, np.zeros(group.n_documents, np.bool_)).slice(0, limit)
    rows, stored = table.to_pylist(), dict[str, StoredDocument]()
    for some in in_slices(table["doc_id"].to_pylist()):
        query = with_documents().where(documents.c.doc_id.in_(some) & documents.c.is_current)
        stored |= {one.doc_id: one for one in stored_documents(connection.execute(query).all())}
    content = stored[group.principal].content
    copies = {doc_id for doc_id, one in stored.items() if one.content == content and doc_id != group.principal}
    tags, note = tags_of(connection, list(stored)), (GROUP_NOTE, str(tolerance), str(number))
    return GroupMembers(
        number=number,
        tolerance=tolerance,
        members=tuple(
            GroupMember(
                document=stored[row["doc_id"]],
                is_same_text=row["doc_id"] in copies,
                relation="same text" if row["doc_id"] in copies else "",
                tags=tags.get(row["doc_id"], {}),
                **{
                    name: row[name]
                    for name in ("jaccard", "relative_distance", "is_principal", "is_match", "is_letters_only")
                },
            )
            for row in rows
        ),
        n_documents=group.n_documents,
        note=values_of(connection, [note]).get(note),
        proposed_principal=group.proposed_principal,
        n_indirect=group.n_chained,
    )
