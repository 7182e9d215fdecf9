"""Decisions in the form that groups need: pairs of contents, and the contents whose groups must be computed again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.contradictions import DocumentPair, PairDecisions
from nearkin.collection.decisions.log import NEVER_GROUP, SAME_GROUP
from nearkin.collection.matching.constraints import Linked, Similarity, constrained, linked_parts
from nearkin.collection.matching.matches import PairMeasures
from nearkin.collection.stored.group_state import GroupState
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionError, ParameterError
from nearkin.records import F64, I64
from nearkin.store import schema
from nearkin.store.bulk import in_slices

_NEITHER = -1
ContentPair = tuple[int, int]
"""Two contents, the lower first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDecisions:
    """Decisions on groups, as contents.

    Parameters
    ----------
    same, never : int64 arrays, shape (n_pairs, 2)
        Contents of documents that must be, and must not be, in one group.
    leaving : int64 array, shape (n_never,)
        The content of each pair of ``never`` that leaves a group that holds both; -1: neither.
    undone : int64 array
        Contents of pairs that the stored groups keep and that no decision is about any more: it was undone, or one of
        its documents was removed or has a new version.
    changed : int64 array
        Contents of documents that decisions were about which the stored groups do not follow yet.
    anchors : int64 array
        Contents of the pairs that the stored groups keep apart. A component that was divided has one in every part.
    """

    same: I64
    never: I64
    leaving: I64
    undone: I64
    changed: I64
    anchors: I64

    @classmethod
    def read(cls, connection: Connection, state: GroupState) -> GroupDecisions:
        """Read the decisions, and compare them with those that the stored groups follow.

        Raises
        ------
        CollectionError
            Two of them contradict each other, because texts have changed since they were made.
        """
        pairs = PairDecisions.read(connection)
        try:
            pairs.refuse_contradictions()
        except ParameterError as error:
            raise CollectionError(str(error)) from None
        former = _former(connection, pairs, state.last_activity, state.seen_row)
        same, never = _contents(pairs.same, pairs.content_of), _contents(pairs.never, pairs.content_of)
        ended = [pair for kept, now in zip(former, (same, never)) for pair in kept - now]
        apart, left = _as_array(never), _leaving(pairs)
        leaving = np.array([left.get((low, high), _NEITHER) for low, high in apart.tolist()], np.int64)
        return cls(
            same=_as_array(same),
            never=apart,
            leaving=leaving,
            undone=np.unique(np.array(ended, np.int64)),
            changed=_decided_since(connection, state.last_activity),
            anchors=np.unique(_as_array(former[1])),
        )

    def kept(
        self,
        nodes: I64,
        component: I64,
        n_copies: I64,
        similarity: Similarity,
        linked: Linked,
    ) -> tuple[I64, I64]:
        """Return components that follow the decisions, without components of a single document."""
        if not (len(self.same) or len(self.never)):
            return nodes, component
        _, united = constrained(nodes, component, self.same, self.never[:0])
        nodes, component = constrained(
            nodes, component, self.same, self.never, leaving=self.leaving, similarity=similarity
        )
        component = linked_parts(nodes, united, component, np.unique(self.never), linked)
        n_members = np.bincount(component, weights=n_copies[nodes], minlength=len(nodes))
        is_group = n_members[component] > 1
        return nodes[is_group], component[is_group]


def _contents(pairs: Iterable[DocumentPair], content_of: Mapping[str, int]) -> set[ContentPair]:
    """Return the contents of pairs of documents that are both current."""
    both = [sorted((content_of[a], content_of[b])) for a, b in pairs if a in content_of and b in content_of]
    return {(low, high) for low, high in both}


def _leaving(pairs: PairDecisions) -> dict[ContentPair, int]:
    """Return the content that leaves, by pair; if two decisions name both contents of a pair, neither leaves."""
    found = dict[ContentPair, set[int]]()
    for (a, b), doc_id in pairs.leaving.items():
        if a in pairs.content_of and b in pairs.content_of:
            low, high = sorted((pairs.content_of[a], pairs.content_of[b]))
            found.setdefault((low, high), set()).add(pairs.content_of[doc_id])
    return {pair: min(gone) for pair, gone in found.items() if len(gone) == 1}


def _as_array(pairs: set[ContentPair]) -> I64:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _decided_since(connection: Connection, seen: int) -> I64:
    """Return the contents of current documents that decisions on groups after an activity are about."""
    documents, contents = schema.documents.c, set[int]()
    found = {doc_id for _, subject, other, _ in _changes_since(connection, seen) for doc_id in (subject, other)}
    for some in in_slices(sorted(found)):
        is_current = documents.doc_id.in_(some) & documents.is_current
        contents |= {*connection.execute(select(documents.content).where(is_current)).scalars()}
    return np.array(sorted(contents), np.int64)


def _former(
    connection: Connection, pairs: PairDecisions, seen: int, seen_row: int
) -> tuple[set[ContentPair], set[ContentPair]]:
    """Return the pairs that were in one group, and those in different groups, when the groups were computed.

    A document that is removed is taken as one that was current then: nothing says which happened first.
    """
    documents = schema.documents.c
    kinds = {SAME_GROUP: set(pairs.same), NEVER_GROUP: set(pairs.never)}
    for kind, subject, other, was in _changes_since(connection, seen):
        (kinds[kind].discard if was is None else kinds[kind].add)((subject, other))
    content_of = dict[str, int]()
    for some in in_slices(sorted({doc_id for kept in kinds.values() for pair in kept for doc_id in pair})):
        is_grouped = documents.doc_id.in_(some) & (documents.row < seen_row)
        query = select(documents.doc_id, documents.content).where(is_grouped).order_by(documents.row)
        content_of |= dict(connection.execute(query).all())  # of several versions the last one
    return _contents(kinds[SAME_GROUP], content_of), _contents(kinds[NEVER_GROUP], content_of)


def _changes_since(connection: Connection, seen: int) -> list[tuple[str, str, str, str | None]]:
    """Return kind, subject, other and former value of the decisions on pairs after an activity, the latest first."""
    columns = schema.changes.c
    query = select(columns.kind, columns.subject, columns.other, columns.was)
    query = query.where(columns.kind.in_((SAME_GROUP, NEVER_GROUP)) & (columns.activity > seen))
    rows = connection.execute(query.order_by(columns.activity.desc(), columns.number.desc()))
    return [(kind, subject, other, was) for kind, subject, other, was in rows]


def similarity_by(measures: PairMeasures, tolerance: Tolerance) -> Similarity:
    """Return the similarity of contents by the measure of a tolerance."""

    def similarity(contents: I64, others: I64) -> F64:
        left, right = np.repeat(contents, len(others)), np.tile(others, len(contents))
        by_letters = tolerance.measure == "letters"
        found = -measures.relative_distances(left, right) if by_letters else measures.sets.jaccards(left, right)
        return found.reshape(len(contents), len(others))

    return similarity
