"""Groups with permanent numbers: updated and stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.decisions.contradictions import DocumentPair, PairDecisions
from nearkin.collection.decisions.log import NEVER_GROUP, SAME_GROUP
from nearkin.collection.matching.constraints import Forest, Linked, Similarity, constrained, linked_parts
from nearkin.collection.matching.matches import Matching, PairMeasures
from nearkin.collection.stored.documents import current_rows, document_rows
from nearkin.collection.stored.group_state import NO_GROUP, GroupState, Membership
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionError, ParameterError
from nearkin.records import F64, I64, Bool
from nearkin.runs.progress import Progress, Silent
from nearkin.store import schema
from nearkin.store.schema import documents

_NEITHER = -1
ContentPair = tuple[int, int]
"""Two contents, the lower first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDecisions:
    """Decisions on groups, as contents.

    Parameters
    ----------
    same, never : int64 arrays, shape (n_pairs, 2)
        Contents that must be, and must not be, in one group.
    leaving : int64 array, shape (n_never,)
        The content of each pair of ``never`` that leaves a group that holds both; -1: neither.
    undone, changed : int64 arrays
        Contents of pairs that the stored groups keep and no decision is about any more; of decisions that they do not
        follow yet.
    anchors : int64 array
        Contents of the pairs that the stored groups keep apart: one in every part of a divided component.
    """

    same: I64
    never: I64
    leaving: I64
    undone: I64
    changed: I64
    anchors: I64

    @classmethod
    def read(cls, connection: Connection, state: GroupState) -> GroupDecisions:
        """Read the decisions, and compare them with those that the stored groups follow."""
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
        self, nodes: I64, component: I64, n_copies: I64, similarity: Similarity, linked: Linked
    ) -> tuple[I64, I64]:
        """Return components that follow the decisions, without components of a single document."""
        if not (len(self.same) or len(self.never)):
            return nodes, component
        _, united = constrained(nodes, component, self.same, self.never[:0])
        nodes, component = constrained(
            nodes, component, self.same, self.never, leaving=self.leaving, similarity=similarity
        )
        component = linked_parts(nodes, united, component, self.never, linked)
        n_members = np.bincount(component, weights=n_copies[nodes], minlength=len(nodes))
        is_group = n_members[component] > 1
        return nodes[is_group], component[is_group]


def _contents(pairs: Iterable[DocumentPair], content_of: Mapping[str, int]) -> set[ContentPair]:
    both = [sorted((content_of[a], content_of[b])) for a, b in pairs if a in content_of and b in content_of]
    return {(low, high) for low, high in both}


def _leaving(pairs: PairDecisions) -> dict[ContentPair, int]:
    """Return the content that leaves, by pair; if two decisions name both contents of a pair, neither leaves."""
    leaving = dict[ContentPair, set[int]]()
    for (a, b), doc_id in pairs.leaving.items():
        if a in pairs.content_of and b in pairs.content_of:
            low, high = sorted((pairs.content_of[a], pairs.content_of[b]))
            leaving.setdefault((low, high), set()).add(pairs.content_of[doc_id])
    return {pair: min(gone) for pair, gone in leaving.items() if len(gone) == 1}


def _as_array(pairs: set[ContentPair]) -> I64:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _decided_since(connection: Connection, seen: int) -> I64:
    doc_ids = {doc_id for _, subject, other, _ in _changes_since(connection, seen) for doc_id in (subject, other)}
    rows = current_rows(connection, documents.c.doc_id, sorted(doc_ids))
    return np.unique(np.array([row.content for row in rows], np.int64))


def _former(
    connection: Connection, pairs: PairDecisions, seen: int, seen_row: int
) -> tuple[set[ContentPair], set[ContentPair]]:
    """Return the pairs that were in one group, and in different groups, at the call."""
    kinds = {SAME_GROUP: set(pairs.same), NEVER_GROUP: set(pairs.never)}
    for kind, subject, other, was in _changes_since(connection, seen):
        (kinds[kind].discard if was is None else kinds[kind].add)((subject, other))
    doc_ids = sorted({doc_id for kept in kinds.values() for pair in kept for doc_id in pair})
    content_of = _contents_before(connection, doc_ids, seen_row)
    return _contents(kinds[SAME_GROUP], content_of), _contents(kinds[NEVER_GROUP], content_of)


def _contents_before(connection: Connection, doc_ids: Iterable[str], seen_row: int) -> dict[str, int]:
    """Return the contents of documents at the call: of several versions the last one."""
    rows = document_rows(connection, documents.c.doc_id, doc_ids)
    return {row.doc_id: row.content for row in rows if row.row < seen_row}


def _changes_since(connection: Connection, seen: int) -> list[tuple[str, str, str, str | None]]:
    """Return kind, subject, other and former value of decisions on pairs, the latest first."""
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
        similarities = -measures.relative_distances(left, right) if by_letters else measures.sets.jaccards(left, right)
        return similarities.reshape(len(contents), len(others))

    return similarity


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """Updated groups; ``is_undone``: a decision that the stored groups keep has ended, so texts may be back."""

    membership: Membership
    next_group: int
    n_uncounted: int
    n_not_compared: int
    is_undone: bool

    def is_stored(self, state: GroupState) -> bool:
        """Whether a stored grouping has the same groups."""
        current, stored = self.membership, state.membership
        return np.array_equal(current.contents, stored.contents) and np.array_equal(current.groups, stored.groups)


def regroup(
    connection: Connection,
    state: GroupState,
    matching: Matching,
    similarity: Similarity,
    *,
    threads: int,
    progress: Progress,
) -> Regrouped:
    """Update groups; the members are those that a first grouping of the same texts and decisions would have."""
    before = state.membership
    decided = GroupDecisions.read(connection, state)
    n_contents = len(matching.is_comparable)
    is_live, n_copies = state.live_contents(connection, n_contents)
    broken = np.union1d(before.groups[~is_live[before.contents]], before.group_of(decided.undone))
    is_kept = ~np.isin(before.groups, broken) if len(broken) else np.ones(len(before), np.bool_)
    orphans = before.contents[~is_kept]
    again = np.concatenate([orphans, decided.undone])
    queries = np.unique(np.concatenate([state.new_contents(connection), again[is_live[again]]]))
    forest = Forest(n_contents)
    forest.connect(*_chained(before.contents[is_kept], before.groups[is_kept]))
    is_open = len(orphans) + len(decided.undone) > 0  # a divided component may have lost what connected it
    touched = np.concatenate([queries, decided.changed, decided.anchors if is_open else queries[:0]])
    divided = _Divided(decided.anchors[is_live[decided.anchors]], before, is_kept)
    n_not_compared, is_asked = 0, ~is_live
    while True:
        n_not_compared += matching.link(forest, queries, is_live, threads=threads, progress=progress)
        is_asked[queries] = True
        forest.connect(decided.same[:, 0], decided.same[:, 1])
        queries = divided.parts(forest, touched)
        queries = queries[~is_asked[queries]]
        if not len(queries):
            break
    copies = np.flatnonzero((n_copies > 1) & matching.is_comparable)
    forest.connect(copies, copies)

    def linked(contents: I64) -> I64:
        return _linked(matching, contents, decided.same, threads)

    nodes, component = decided.kept(*forest.components(), n_copies, similarity, linked)
    replaced = replaced_members(connection, state)
    numbers, following = _numbered(nodes, component, before, replaced, state.next_group)
    return Regrouped(
        membership=Membership(nodes, numbers),
        next_group=following,
        n_uncounted=int(n_copies[~matching.is_comparable].sum()),
        n_not_compared=n_not_compared,
        is_undone=len(decided.undone) > 0,
    )


@dataclass(frozen=True, slots=True)
class _Divided:
    """Parts of components that earlier decisions divided."""

    anchors: I64
    before: Membership
    is_kept: Bool

    def parts(self, forest: Forest, touched: I64) -> I64:
        """Return all contents of the known parts of the components that hold a touched content."""
        anchors = self.anchors[np.isin(forest.roots(self.anchors), forest.roots(touched))]
        groups = np.setdiff1d(self.before.group_of(anchors), [NO_GROUP])
        return np.union1d(anchors, self.before.contents[self.is_kept & np.isin(self.before.groups, groups)])


def _linked(matching: Matching, contents: I64, same: I64, threads: int) -> I64:
    """Return labels: equal if contents match, or must be together, through these contents alone."""
    n_contents = len(matching.is_comparable)
    forest, is_part = Forest(n_contents), np.zeros(n_contents, np.bool_)
    is_part[contents] = True
    inside = same[is_part[same].all(1)]
    forest.connect(inside[:, 0], inside[:, 1])
    matching.link(forest, contents, is_part, threads=threads, progress=Silent())
    return forest.roots(contents)


def _chained(contents: I64, groups: I64) -> tuple[I64, I64]:
    """Return pairs that keep earlier groups connected: each member with the previous member of its group."""
    order = np.lexsort((contents, groups))
    contents, groups = contents[order], groups[order]
    is_same = groups[1:] == groups[:-1]
    return contents[:-1][is_same], contents[1:][is_same]


def _numbered(nodes: I64, component: I64, before: Membership, replaced: Membership, next_group: int) -> tuple[I64, int]:
    was = before.group_of(nodes)
    is_old = was != NO_GROUP
    pairs, n_shared = np.unique(np.stack([component[is_old], was[is_old]]), axis=1, return_counts=True)
    numbers = np.full(int(component.max(initial=-1)) + 1, NO_GROUP)
    taken = set[int]()
    for place in np.lexsort((pairs[0], pairs[1], -n_shared)).tolist():
        part, old = int(pairs[0, place]), int(pairs[1, place])
        if numbers[part] == NO_GROUP and old not in taken:
            numbers[part] = old
            taken.add(old)
    surviving = set(was.tolist())
    for part, old in moved_together(Membership(nodes, component), replaced):
        if numbers[part] == NO_GROUP and old not in taken and old not in surviving:
            numbers[part] = old
            taken.add(old)
    firsts = np.unique(component, return_index=True)
    for part in firsts[0][np.argsort(firsts[1])].tolist():
        if numbers[part] == NO_GROUP:
            numbers[part] = next_group
            next_group += 1
    return numbers[component] if len(component) else np.zeros(0, np.int64), next_group


def moved_together(membership: Membership, replaced: Membership) -> list[tuple[int, int]]:
    """Return groups and former groups that share at least two documents with new texts, most first."""
    now = membership.group_of(replaced.contents)
    is_in = now != NO_GROUP
    pairs, n = np.unique(np.stack([now[is_in], replaced.groups[is_in]]), axis=1, return_counts=True)
    order = np.lexsort((pairs[0], pairs[1], -n))
    return [(int(pairs[0, at]), int(pairs[1, at])) for at in order.tolist() if n[at] > 1]


def replaced_members(connection: Connection, state: GroupState) -> Membership:
    """Return the documents whose former text was in a group and that have a newer version."""
    is_new = (documents.c.row >= state.seen_row) & documents.c.is_current & (documents.c.version > 1)
    now = dict(connection.execute(select(documents.c.doc_id, documents.c.content).where(is_new)).all())
    if not now or not len(state.membership):
        return Membership(np.zeros(0, np.int64), np.zeros(0, np.int64))
    former, group_of = _contents_before(connection, now, state.seen_row), state.membership.by_content()
    former_groups = [(now[doc_id], group_of[was]) for doc_id, was in former.items() if was in group_of]
    return Membership(*(np.array([pair[i] for pair in former_groups], np.int64) for i in range(2)))
