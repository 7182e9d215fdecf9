"""Near-duplicates with different labels: in each group, the documents without the label of the majority.

Source: the check of a training set in Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar
Document Detection and Electronic Discovery: So Many Documents, So Little Time", 2013.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection

from nearkin.collection.decisions.log import StoredState
from nearkin.collection.groups.grouping import GroupDecisions, regroup, similarity_by
from nearkin.collection.matching.constraints import Forest
from nearkin.collection.matching.matches import Matching, PairMeasures, matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.results import StoredDocument, columns, table_of
from nearkin.collection.stored.contents import texts_of
from nearkin.collection.stored.documents import documents_by_row, rows_where
from nearkin.collection.stored.group_state import NO_GROUP, GroupState, Membership
from nearkin.collection.tolerance import Tolerance, check_limit, is_letters_only
from nearkin.errors import ParameterError
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.stages.differences.comparing import FirstPassage, first_passage
from nearkin.stages.differences.comparison import Piece, marked_text
from nearkin.stages.search.ranges.index import check_threads
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store.bulk import in_slices
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents
from nearkin.tabular import AnswerRecord, Tabular

_Compared = dict[tuple[int, int], tuple[float | None, FirstPassage]]
_COMPARED = KeptValues[_Compared]()
"""Edit similarities and first differences of pairs of contents: they take the time, and depend on no label."""
_MAX_COMPARED = 10_000
_MAX_EXAMINED = 1_024
"""Maximum number of texts with another label among which the most promising are chosen, unless none of them matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """An entry, and the nearest entry with another label."""

    group: LabelledGroup
    odd: Entry
    other: Entry
    jaccard: float
    relative_distance: float
    is_match: bool

    @property
    def likeness(self) -> tuple[float, float, int, str]:
        """Sort key; the most similar texts come first."""
        return -self.jaccard, self.relative_distance, self.odd.row, self.odd.label


@dataclass(frozen=True, slots=True)
class ContradictionSearch:
    """Finds the entries whose label is not that of a near-duplicate."""

    matching: Matching
    measures: PairMeasures
    unit_of: Mapping[int, int]

    def found_in(self, groups: Sequence[LabelledGroup]) -> list[Contradiction]:
        """Return the contradictions by group, the most similar first."""
        of_groups = [group_conflicts for group_conflicts in map(self._of_group, groups) if group_conflicts]
        return [
            conflict
            for group_conflicts in sorted(of_groups, key=lambda group_conflicts: group_conflicts[0].likeness)
            for conflict in group_conflicts
        ]

    def _of_group(self, group: LabelledGroup) -> list[Contradiction]:
        contradictions = dict[tuple[int, str], Contradiction]()
        for most in (_MAX_EXAMINED, None):
            open_ = [odd for odd in group.odd if (odd.row, odd.label) not in contradictions]
            if most is None:
                open_ = [odd for odd in open_ if len(group.others(odd.label)[1]) > _MAX_EXAMINED]
            contradictions |= self._nearest(
                group, [(odd, content) for odd in open_ for content in self._of(group, odd, most)]
            )
        return sorted(contradictions.values(), key=lambda contradiction: contradiction.likeness)

    def _nearest(
        self, group: LabelledGroup, pairs: Sequence[tuple[Entry, int]]
    ) -> dict[tuple[int, str], Contradiction]:
        """Return, by row and label, the nearest entry with another label, preferably with the majority's label."""
        left = np.array([odd.document.content for odd, _ in pairs], np.int64)
        right = np.array([content for _, content in pairs], np.int64)
        likeness = self.measures.of(left, right)
        is_one = self.matching.is_match(likeness)
        nearest = dict[tuple[int, str], Contradiction]()
        for i in np.lexsort((likeness.relative_distance, -likeness.jaccard)).tolist():
            odd, content = pairs[i]
            if not (is_one[i] or self._are_decided(odd.document.content, content)):
                continue
            other = group.first_with_another_label(odd.label, content)
            known = nearest.get((odd.row, odd.label))
            if known is None or (known.other.label != group.majority_label == other.label):
                nearest[odd.row, odd.label] = Contradiction(
                    group=group,
                    odd=odd,
                    other=other,
                    jaccard=float(likeness.jaccard[i]),
                    relative_distance=float(likeness.relative_distance[i]),
                    is_match=bool(is_one[i]),
                )
        return nearest

    def _of(self, group: LabelledGroup, odd: Entry, most: int | None) -> list[int]:
        """Return contents with another label that may be the most similar, those with the majority's label first."""
        content, others = odd.document.content, group.others(odd.label)
        promising = [self.matching.promising(content, _spread(other, most)).tolist() for other in others]
        decided = (
            [member for member in others[1].tolist() if self._are_decided(content, member)] if self.unit_of else []
        )
        copies = [content] if content in others[1] else []
        return list(dict.fromkeys([*copies, *decided, *(member for contents in promising for member in contents)]))

    def _are_decided(self, a: int, b: int) -> bool:
        return a in self.unit_of and self.unit_of[a] == self.unit_of.get(b)


def _spread(contents: I64, most: int | None) -> I64:
    if most is None or len(contents) <= most:
        return contents
    return contents[np.linspace(0, len(contents) - 1, most).astype(np.int64)]


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with one of its labels."""

    document: StoredDocument
    row: int
    label: str


class LabelledGroup:
    """Entries of one group, with at least two labels."""

    def __init__(self, entries: Sequence[Entry], number: int = -1) -> None:
        self.number = number
        (self.majority_label, self.n_with_majority_label), (_, n_second) = Counter(
            entry.label for entry in entries
        ).most_common(2)
        self.is_tie = n_second == self.n_with_majority_label
        self.odd = [entry for entry in entries if entry.label != self.majority_label]
        self.n_documents = len({entry.row for entry in entries})
        of_content = dict[int, list[Entry]]()
        for labelled in entries:
            of_content.setdefault(labelled.document.content, []).append(labelled)
        self._contents = np.array(sorted(of_content), np.int64)
        self._majority = np.unique(
            np.array([entry.document.content for entry in entries if entry.label == self.majority_label], np.int64)
        )
        self._candidates = {
            content: self._first_of_two_labels(candidates) for content, candidates in of_content.items()
        }
        self._others = dict[str, tuple[I64, I64]]()
        self._with_one_label = dict[str, list[int]]()
        for content, candidates in self._candidates.items():
            if len(candidates) == 1:
                self._with_one_label.setdefault(candidates[0].label, []).append(content)

    def others(self, label: str) -> tuple[I64, I64]:
        """Return the contents with the majority's label, and those with any label other than a given one; ascending."""
        if label not in self._others:
            without = np.array(self._with_one_label.get(label, ()), np.int64)
            self._others[label] = self._majority, np.setdiff1d(self._contents, without, assume_unique=True)
        return self._others[label]

    def first_with_another_label(self, label: str, content: int) -> Entry:
        """Return the first entry of a content with another label than the given one, preferably the majority's."""
        return next(entry for entry in self._candidates[content] if entry.label != label)

    def _first_of_two_labels(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the first entry, preferably with the majority's label, and the first entry with a different label."""
        first = next((entry for entry in entries if entry.label == self.majority_label), entries[0])
        second = next((entry for entry in entries if entry.label != first.label), None)
        return [first] if second is None else [first, second]


def labelled_groups(entries: Sequence[Entry], numbers: Sequence[int]) -> list[LabelledGroup]:
    """Return the groups with different labels, in the order of their first documents."""
    of_number = dict[int, list[Entry]]()
    for number, entry in sorted(
        zip(numbers, entries, strict=True), key=lambda labelled: (labelled[1].row, labelled[1].label)
    ):
        of_number.setdefault(number, []).append(entry)
    several = (
        (number, members)
        for number, members in of_number.items()
        if any(labelled.label != members[0].label for labelled in members)
    )
    return [LabelledGroup(members, number) for number, members in several]


_MAX_NAMED = 100
Labels = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict(AnswerRecord):
    """A document whose label is not that of a near-duplicate.

    Parameters
    ----------
    group
        Number of its group in `Collection.groups`. None if it is in no group: it has two labels, or is a copy of a text
        with too few words.
    majority_label
        Label of most documents of the group; in a tie, that of the document stored first.
    is_tie
        Whether another label is as frequent as the majority's label.
    a
        The document; it does not have the majority's label.
    b
        The most similar document with another label, if possible the majority's. A document with two labels is a
        conflict with itself.
    is_match
        Whether the texts match. If not, the documents are in one group by a decision.
    is_letters_only
        Whether they match by their letters alone.
    passage
        First significant difference, with a few words around it; empty if the texts are identical.
    odd
        Ids and labels of the documents of all conflicts of the group, also those beyond ``limit``.
    """

    hidden = ("a", "b", "passage", "odd")
    computed = ("id_a=a.doc_id", "id_b=b.doc_id", "passage=marked_passage")

    group: int | None
    majority_label: str
    n_documents: int
    n_with_majority_label: int
    is_tie: bool
    a: StoredDocument
    b: StoredDocument
    label_a: str
    label_b: str
    relative_distance: float
    edit_similarity: float | None
    jaccard: float
    is_match: bool
    is_letters_only: bool
    passage: tuple[Piece, ...]
    n_differences: int
    n_moves: int
    odd: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def marked_passage(self) -> str:
        """The passage as one marked-up text."""
        return marked_text(self.passage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts(Tabular, AnswerRecord):
    """All conflicts within a tolerance.

    Parameters
    ----------
    conflicts
        Conflicts sorted by group, the most similar texts first; at most ``limit``.
    n_unlabelled
        Number of documents without a label in groups with a labelled document, or with the text of one.
    n_uncounted
        Number of labelled documents with too few letters or words, which are compared only with their copies.
    n_not_compared
        See `CollectionGroups`.
    are_groups_stored
        Whether `Collection.groups` has stored these groups. Otherwise the numbers are those that it would give to them.
    are_groups_outdated
        Whether other groups are stored at this tolerance, because documents or decisions changed since.
    """

    hidden = ("unknown",)
    computed = ("n_unknown", "is_truncated", "unknown=first_unknown")

    tolerance: Tolerance
    conflicts: tuple[Conflict, ...]
    n_found: int
    n_groups: int
    n_labelled: int
    unknown: tuple[str, ...]
    n_uncounted: int
    n_not_compared: int
    are_groups_stored: bool
    are_groups_outdated: bool = False
    n_unlabelled: int = 0
    unlabelled: tuple[str, ...] = ()

    @property
    def n_unknown(self) -> int:
        """Number of labelled ids that are not in the collection."""
        return len(self.unknown)

    @property
    def first_unknown(self) -> tuple[str, ...]:
        """The first of these ids."""
        return self.unknown[:_MAX_NAMED]

    @property
    def is_truncated(self) -> bool:
        """Whether there are more conflicts than the returned ones."""
        return self.n_found > len(self.conflicts)

    @property
    def table(self) -> pa.Table:
        """A row for each conflict, by group."""
        names = (
            "group majority_label n_documents n_with_majority_label id_a label_a id_b label_b jaccard edit_similarity "
            "relative_distance passage is_match is_letters_only"
        )
        return table_of((conflict.to_dict() for conflict in self.conflicts), *columns(names))

    def __repr__(self) -> str:
        return f"Conflicts({counted(self.n_found, 'conflict')} in {counted(self.n_groups, 'group')})"


def conflicts(
    collection: OpenedCollection, labels: Labels, tolerance: Tolerance, *, limit: int, threads: int
) -> Conflicts:
    """Find conflicts; see `Collection.conflicts`."""
    check_limit(limit)
    check_threads(threads)
    by_id = _by_id(labels)

    def ask(seen: Snapshot) -> Conflicts:
        connection, name = seen.connection, str(tolerance)
        matching, measures = matching_of(connection, collection.counting, seen.segments, tolerance)
        state = GroupState.known(connection, name)
        regrouped = regroup(
            connection, state, matching, similarity_by(measures, tolerance), threads=threads,
            progress=collection.progress,
        )  # fmt: skip
        entries = _entries(connection, by_id)
        groups = labelled_groups(entries, _group_of(entries, regrouped.membership))
        search = ContradictionSearch(matching, measures, _units(GroupDecisions.read(connection, state).same))
        contradictions = search.found_in(groups)
        content_of = {entry.document.doc_id: entry.document.content for entry in entries}
        is_comparable = matching.is_comparable[np.array([*content_of.values()], np.int64)]
        unlabelled = _unlabelled(connection, content_of, regrouped.membership)
        is_stored = regrouped.is_stored(state)
        return Conflicts(
            tolerance=tolerance,
            conflicts=_told(connection, contradictions, tolerance, limit),
            n_found=len(contradictions),
            n_groups=len({id(contradiction.group) for contradiction in contradictions}),
            n_labelled=len(content_of),
            unknown=tuple(doc_id for doc_id in by_id if doc_id not in content_of),
            n_uncounted=int((~is_comparable).sum()),
            n_not_compared=state.n_not_compared + regrouped.n_not_compared,
            are_groups_stored=is_stored,
            are_groups_outdated=state.number is not None and not is_stored,
            n_unlabelled=len(unlabelled),
            unlabelled=tuple(unlabelled[:_MAX_NAMED]),
        )

    return collection.answered(ask)


def _by_id(labels: Labels) -> dict[str, list[str]]:
    if not isinstance(labels, Iterable):
        raise ParameterError.of("labels", "a mapping or pairs of ids and labels", labels)
    by_id = dict[str, list[str]]()
    for pair in labels.items() if isinstance(labels, Mapping) else labels:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str) or not isinstance(pair[1], str):
            raise ParameterError.of("labels", "pairs of an id and a label, each a str", pair)
        known = by_id.setdefault(pair[0], [])
        if pair[1] not in known:
            known.append(pair[1])
    return by_id


def _entries(connection: Connection, labels: Mapping[str, Sequence[str]]) -> list[Entry]:
    entries = list[Entry]()
    for row, document in documents_by_row(connection, documents.c.doc_id, labels).items():
        if document.is_current:
            entries += [Entry(document, row, label) for label in labels[document.doc_id]]
    return entries


def _units(same: I64) -> dict[int, int]:
    """Number the contents that decisions put into one group; contents that belong together get the same number."""
    nodes, places = np.unique(same, return_inverse=True)
    forest = Forest(len(nodes))
    forest.connect(*places.reshape(-1, 2).T)
    return dict(zip(nodes.tolist(), forest.roots(np.arange(len(nodes))).tolist(), strict=True))


def _group_of(entries: Sequence[Entry], membership: Membership) -> list[int]:
    """Return the group of each entry; entries in no group get numbers below NO_GROUP, one number per text."""
    contents = np.array([entry.document.content for entry in entries], np.int64)
    groups = membership.group_of(contents)
    numbers: list[int] = np.where(groups == NO_GROUP, NO_GROUP - 1 - contents, groups).tolist()
    return numbers


def _unlabelled(connection: Connection, content_of: Mapping[str, int], membership: Membership) -> list[str]:
    """Return the documents without a label that are in a group with a labelled one, or have the text of one."""
    labelled = np.unique(np.array([*content_of.values()], np.int64))
    groups = np.setdiff1d(membership.group_of(labelled), [NO_GROUP])
    together = np.union1d(labelled, membership.contents[np.isin(membership.groups, groups)])
    rows = list[tuple[int, str]]()
    for block in in_slices(together.tolist()):
        current = rows_where(connection, documents.c.content.in_(block) & documents.c.is_current)
        rows += ((row.row, row.doc_id) for row in current if row.doc_id not in content_of)
    return [doc_id for _, doc_id in sorted(rows)]


def _told(
    connection: Connection, contradictions: Sequence[Contradiction], tolerance: Tolerance, limit: int
) -> tuple[Conflict, ...]:
    odd = dict[int, list[tuple[str, str]]]()
    for contradiction in contradictions:
        entry = contradiction.odd
        odd.setdefault(id(contradiction.group), []).append((entry.document.doc_id, entry.label))
    odd_of = {group: tuple(entries) for group, entries in odd.items()}
    compared = _COMPARED.get(connection.engine, "pairs", StoredState.now(connection), dict)
    return tuple(
        _conflict(connection, contradiction, tolerance, odd_of[id(contradiction.group)], compared)
        for contradiction in contradictions[:limit]
    )


def _compared(connection: Connection, a: int, b: int, compared: _Compared) -> tuple[float | None, FirstPassage]:
    known = compared.get((a, b))
    if known is None:
        texts = texts_of(connection, [a, b])
        known = edit_similarity(texts[a], texts[b]).similarity, first_passage(texts[a], texts[b])
        if len(compared) >= _MAX_COMPARED:
            compared.clear()
        compared[a, b] = known
    return known


def _conflict(
    connection: Connection,
    contradiction: Contradiction,
    tolerance: Tolerance,
    odd: tuple[tuple[str, str], ...],
    compared: _Compared,
) -> Conflict:
    a, b = contradiction.odd.document, contradiction.other.document
    is_same = a.content == b.content
    similarity, passage = (1.0, FirstPassage()) if is_same else _compared(connection, a.content, b.content, compared)
    return Conflict(
        group=contradiction.group.number if contradiction.group.number >= 0 else None,
        majority_label=contradiction.group.majority_label,
        n_documents=contradiction.group.n_documents,
        n_with_majority_label=contradiction.group.n_with_majority_label,
        is_tie=contradiction.group.is_tie,
        a=a,
        b=b,
        label_a=contradiction.odd.label,
        label_b=contradiction.other.label,
        relative_distance=contradiction.relative_distance,
        edit_similarity=similarity,
        jaccard=contradiction.jaccard,
        is_match=contradiction.is_match,
        is_letters_only=contradiction.is_match and is_letters_only(contradiction.jaccard, tolerance),
        passage=passage.pieces,
        n_differences=passage.n_differences,
        n_moves=passage.n_moves,
        odd=odd,
    )
