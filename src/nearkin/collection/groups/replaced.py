"""Members of groups that have another text now: the groups of their earlier texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.stored.group_state import GroupState
from nearkin.records import I64
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents


@dataclass(frozen=True, slots=True)
class ReplacedMembers:
    """Documents that were in a group and got another text since, one place for each.

    Parameters
    ----------
    contents : int64 array, shape (n_documents,)
        Contents of their present texts.
    groups : int64 array, shape (n_documents,)
        Groups of their former texts.
    """

    contents: I64
    groups: I64

    @classmethod
    def none(cls) -> ReplacedMembers:
        """Return an empty record."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))


def replaced_members(connection: Connection, state: GroupState) -> ReplacedMembers:
    """Return the documents whose former text was in a group, as stored, and that have a version it does not know."""
    is_new = (documents.c.row >= state.seen_row) & documents.c.is_current & (documents.c.version > 1)
    now = dict(connection.execute(select(documents.c.doc_id, documents.c.content).where(is_new)).all())
    if not now or not len(state.member_contents):
        return ReplacedMembers.none()
    former = dict[str, int]()
    for some in in_slices(list(now)):
        is_former = documents.c.doc_id.in_(some) & (documents.c.row < state.seen_row)
        query = select(documents.c.doc_id, documents.c.content).where(is_former).order_by(documents.c.row)
        former |= dict(connection.execute(query).all())  # of several versions the last one
    group_of = dict(zip(state.member_contents.tolist(), state.member_groups.tolist(), strict=True))
    found = [(now[doc_id], group_of[was]) for doc_id, was in former.items() if was in group_of]
    return ReplacedMembers(*(np.array([one[i] for one in found], np.int64) for i in range(2)))
