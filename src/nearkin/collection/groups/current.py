"""Groups of a collection at one tolerance: computed, and listed as stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.log import GROUP_NOTE, StoredState, next_number, values_of
from nearkin.collection.decisions.principals import (
    chosen_principals,
    n_later_decisions,
    n_later_documents,
    places_of_chosen,
    shown_principals,
)
from nearkin.collection.groups.changes import GroupChange, changes_between
from nearkin.collection.groups.grouping import regroup, similarity_by
from nearkin.collection.groups.members import ComparedMembers, Group, MemberRows
from nearkin.collection.matching.matches import matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.stored import group_state
from nearkin.collection.stored.documents import document_rows, rows_where
from nearkin.collection.stored.group_state import GroupState, principals_over_time
from nearkin.collection.tolerance import Tolerance, check_limit
from nearkin.errors import CollectionBusyError
from nearkin.nouns import counted
from nearkin.records import I64
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import check_threads
from nearkin.store.bulk import number_after_last
from nearkin.store.kept import KeptValues
from nearkin.store.schema import documents, loads, members, waves
from nearkin.tabular import AnswerRecord, Tabular


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionGroups(Tabular, AnswerRecord):
    """All groups at one tolerance.

    Parameters
    ----------
    groups
        The largest first.
    changes
        By the number of the group; empty the first time.
    is_first
        Whether there were no groups at this tolerance before.
    n_uncounted
        Number of current documents with too few letters or words to compare; they are in no group.
    n_not_compared
        Number of pairs with near signatures that were not compared by words, so far, because nearer pairs of the same
        groups or texts did not match. Later calls may have put some of these pairs into one group.
    members : Table
        One row per document in a group: the principal of each group first, then the others, the most similar first.
    """

    computed = ("n_groups", "n_documents", "n_indirect", "expected_recall")

    tolerance: Tolerance
    groups: tuple[Group, ...]
    changes: tuple[GroupChange, ...]
    is_first: bool
    new_waves: tuple[str, ...]
    n_uncounted: int
    n_not_compared: int
    members: pa.Table

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def n_documents(self) -> int:
        """Number of documents in groups."""
        return len(self.members)

    @property
    def expected_recall(self) -> float | None:
        """As in `Tolerance.recall`."""
        return self.tolerance.recall

    @property
    def n_indirect(self) -> int:
        """Number of members that do not match the principal of their group."""
        return sum(listed.n_chained for listed in self.groups)

    def __repr__(self) -> str:
        groups, members = counted(len(self.groups), "group"), counted(len(self.members), "document")
        return f"CollectionGroups({groups} with {members}; texts {self.tolerance.in_words()})"


def group(
    collection: OpenedCollection,
    tolerance: Tolerance,
    *,
    threads: int,
    progress: Progress | None = None,
) -> CollectionGroups:
    """Update the groups at a tolerance, store them unless opened read-only, and return the changes."""
    check_threads(threads)

    def ask(seen: Snapshot) -> tuple[CollectionGroups, GroupState, GroupState]:
        connection, state = seen.connection, GroupState.read(seen.connection, str(tolerance))
        matching, measures = matching_of(connection, collection.counting, seen.segments, tolerance)
        regrouped = regroup(
            connection, state, matching, similarity_by(measures, tolerance),
            threads=threads, progress=progress or collection.progress,
        )  # fmt: skip
        rows, chosen = MemberRows(connection, regrouped.membership), chosen_principals(connection)
        places = _principals(connection, rows, state)
        again = _returned_principals(connection, state, rows) if regrouped.is_undone else {}
        places[np.searchsorted(rows.numbers, list(again))] = list(again.values())
        shown, led = places.copy(), places_of_chosen(rows.doc_id, rows.group, chosen)
        shown[np.searchsorted(rows.numbers, list(led))] = list(led.values())
        compared = ComparedMembers(rows, shown, chosen, matching, measures, is_listed=True)
        is_first = state.number is None
        now = replace(
            state,
            rows=rows.row,
            row_groups=rows.group,
            principals=dict(zip(rows.numbers.tolist(), rows.row[places].tolist(), strict=True)),
            seen_row=number_after_last(connection, documents.c.row),
            next_group=regrouped.next_group,
            last_activity=next_number(connection) - 1,
            n_not_compared=state.n_not_compared + regrouped.n_not_compared,
        )
        changes = () if is_first else changes_between(connection, state, now)[0]
        new_waves = () if is_first else tuple(dict.fromkeys(_waves_since(connection, state.seen_row)))
        groups = CollectionGroups(
            tolerance=tolerance,
            groups=tuple(sorted(compared.groups(), key=lambda listed: (-listed.n_documents, listed.number))),
            changes=changes,
            is_first=is_first,
            new_waves=new_waves,
            n_uncounted=regrouped.n_uncounted,
            n_not_compared=now.n_not_compared,
            members=compared.table(tolerance, (rows.row >= state.seen_row) & (not is_first)),
        )
        return groups, state, now

    answer, state, now = collection.answered(ask)
    if collection.store.access.is_read_only:
        return answer
    with collection.store.writing() as connection:
        before = GroupState.read(connection, state.tolerance)
        if (state.number, state.call) != (before.number, before.call):
            raise CollectionBusyError(f"Another process has updated the groups of {collection.place}. Try again.")
        group_state.store(connection, before, now)
    return answer


def _principals(connection: Connection, rows: MemberRows, state: GroupState) -> I64:
    """Place of each group's principal: the previous one, in any version, if still in the group."""
    places, missing = rows.longest.copy(), dict[int, int]()
    for i, (number, start, end) in enumerate(zip(rows.numbers.tolist(), rows.starts.tolist(), rows.ends.tolist())):
        if (row := state.principals.get(number)) is not None:
            place = start + int(np.searchsorted(rows.row[start:end], row))
            if place < end and rows.row[place] == row:
                places[i] = place
            else:
                missing[i] = row
    names = {record.row: record.doc_id for record in document_rows(connection, documents.c.row, missing.values())}
    for i, row in missing.items():
        span = range(rows.starts[i], rows.ends[i])
        places[i] = next((at for at in span if rows.doc_id[at] == names[row]), places[i])
    return places


def _waves_since(connection: Connection, row: int) -> list[str]:
    joined = documents.join(loads).join(waves)
    query = select(waves.c.name).select_from(joined).where(documents.c.row >= row).distinct().order_by(waves.c.name)
    return list(connection.execute(query).scalars())


def _returned_principals(connection: Connection, state: GroupState, rows: MemberRows) -> dict[int, int]:
    """Return, by group, the position of the member that last was its principal."""
    were = principals_over_time(connection, state.number)
    ids = {record.row: record.doc_id for record in document_rows(connection, documents.c.row, [row for _, row in were])}
    place_of = {doc_id: place for place, doc_id in enumerate(rows.doc_id)}
    was_in = state.membership.group_of(rows.content)
    returned = dict[int, int]()
    for number, row in reversed(were):
        place = place_of.get(ids.get(row, ""))
        if place is None or rows.row[place] >= state.seen_row or (now := int(rows.group[place])) in returned:
            continue
        if now not in state.principals or (now == number and was_in[place] != now):
            returned[now] = place
    return returned


_COUNTED = KeptValues[list[tuple[int, int, int]]]()
"""Counts by tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGroup:
    """A stored group; ``principal`` may be the member that stands in for it, see `shown_principals`."""

    number: int
    principal: str
    n_documents: int
    n_texts: int
    note: str | None


@dataclass(frozen=True, slots=True)
class SizeCount:
    """Number of groups with a number of documents."""

    n_documents: int
    n_groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGroups(AnswerRecord):
    """Stored groups at one tolerance."""

    computed = ("n_groups", "n_documents")

    tolerance: Tolerance
    groups: tuple[StoredGroup, ...]
    sizes: tuple[SizeCount, ...]
    n_not_grouped: int
    is_stored: bool
    n_decisions: int = 0

    @property
    def n_groups(self) -> int:
        """Number of groups with at least two documents."""
        return sum(size.n_groups for size in self.sizes)

    @property
    def n_documents(self) -> int:
        """Number of documents in groups."""
        return sum(size.n_documents * size.n_groups for size in self.sizes)


def stored_groups(
    connection: Connection,
    tolerance: Tolerance,
    *,
    limit: int = 50,
    offset: int = 0,
    min_documents: int = 2,
    max_documents: int | None = None,
) -> StoredGroups:
    """List the stored groups with at least two current documents, or within other bounds."""
    check_limit(limit)
    state = GroupState.known(connection, str(tolerance))
    rows = [
        size
        for size in sizes_of_groups(connection, state)
        if size[1] >= min_documents and (max_documents is None or size[1] <= max_documents)
    ]
    return StoredGroups(
        tolerance=tolerance,
        groups=_described(connection, state, rows[offset : offset + limit]),
        sizes=tuple(SizeCount(*size) for size in sorted(Counter(n for _, n, _ in rows).items())),
        n_not_grouped=n_later_documents(connection, state),
        is_stored=state.number is not None,
        n_decisions=n_later_decisions(connection, state),
    )


def ids_not_grouped(connection: Connection, tolerance: Tolerance) -> list[str]:
    """Return the ids of documents that were added or changed since the groups were updated."""
    state = GroupState.known(connection, str(tolerance))
    return [row.doc_id for row in rows_where(connection, documents.c.row >= state.seen_row) if row.is_current]


def neighbours_of(connection: Connection, tolerance: Tolerance, number: int) -> tuple[int | None, int | None]:
    """Return the groups before and after a group in the order of `stored_groups`; None at the ends."""
    numbers = [
        group_number for group_number, _, _ in sizes_of_groups(connection, GroupState.known(connection, str(tolerance)))
    ]
    if number not in numbers:
        return None, None
    place = numbers.index(number)
    return (numbers[place - 1] if place else None), (numbers[place + 1] if place + 1 < len(numbers) else None)


def sizes_of_groups(connection: Connection, state: GroupState) -> list[tuple[int, int, int]]:
    """Return the number, documents and texts of each group, the largest first; counted again only after a change."""
    if state.number is None:
        return []
    made_from = state, StoredState.now(connection)
    return _COUNTED.get(connection.engine, state.tolerance, made_from, lambda: _count(connection, state))


def _count(connection: Connection, state: GroupState) -> list[tuple[int, int, int]]:
    is_member = (members.c.grouping == state.number) & members.c.until.is_(None)
    texts = select(documents.c.content).select_from(documents.join(members)).where(is_member)
    n_of_text = select(documents.c.content, func.count()).where(documents.c.is_current, documents.c.content.in_(texts))
    counts = np.array(connection.execute(n_of_text.group_by(documents.c.content)).all(), np.int64).reshape(-1, 2)
    of_text = state.membership.group_of(counts[:, 0])
    numbers, place, n_texts = np.unique(of_text, return_inverse=True, return_counts=True)
    n_documents = np.bincount(place, counts[:, 1], len(numbers)).astype(np.int64)
    sizes = zip(numbers.tolist(), n_documents.tolist(), n_texts.tolist(), strict=True)
    return sorted((size for size in sizes if size[1] > 1), key=lambda size: (-size[1], size[0]))


def _described(
    connection: Connection, state: GroupState, rows: Sequence[tuple[int, int, int]]
) -> tuple[StoredGroup, ...]:
    principals = shown_principals(connection, state, [number for number, _, _ in rows])
    notes = values_of(connection, [(GROUP_NOTE, state.tolerance, str(number)) for number, _, _ in rows])
    return tuple(
        StoredGroup(
            number=number,
            principal=principals[number].doc_id,
            n_documents=n_documents,
            n_texts=n_texts,
            note=notes.get((GROUP_NOTE, state.tolerance, str(number))),
        )
        for number, n_documents, n_texts in rows
    )
