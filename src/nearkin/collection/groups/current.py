"""Groups of a collection at one tolerance, and their changes since the last call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.activity import next_number
from nearkin.collection.decisions.deciding import record_principal
from nearkin.collection.decisions.for_groups import similarity_by
from nearkin.collection.decisions.principals import N_LETTERS, chosen_principals, places_of_chosen, shown_principals
from nearkin.collection.groups.changes import GroupChange, changes_between
from nearkin.collection.groups.grouping import NO_GROUP, Membership, Regrouped, regroup
from nearkin.collection.matching.matches import Matching, PairMeasures, Similarities, matching_of
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.stored import group_state
from nearkin.collection.stored.documents import check_id, document, document_rows
from nearkin.collection.stored.group_state import GroupState, principals_over_time
from nearkin.collection.tolerance import Tolerance, described, is_letters_only
from nearkin.errors import CollectionBusyError, ParameterError
from nearkin.nouns import counted
from nearkin.records import I64, Bool
from nearkin.runs.progress import Progress
from nearkin.stages.search.ranges.index import check_threads
from nearkin.store.bulk import in_slices
from nearkin.store.schema import contents, documents, loads, waves
from nearkin.tabular import Histogram, Tabular, counts_of

MEMBERS_SCHEMA = pa.schema(
    [
        pa.field("group", pa.int64(), nullable=False),
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("version", pa.int32(), nullable=False),
        pa.field("wave", pa.large_string(), nullable=False),
        pa.field("n_characters", pa.int64(), nullable=False),
        pa.field("is_principal", pa.bool_(), nullable=False),
        pa.field("is_proposed_principal", pa.bool_(), nullable=False),
        pa.field("jaccard", pa.float64(), nullable=False),  # of the word 5-grams, with the principal
        pa.field("relative_distance", pa.float64(), nullable=False),  # of the letter counts
        pa.field("is_match", pa.bool_(), nullable=False),  # of the principal; otherwise linked through others
        pa.field("is_new", pa.bool_(), nullable=False),  # since the last call
        pa.field("is_letters_only", pa.bool_(), nullable=False),  # letters like the principal's, wording not
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Documents linked by matches.

    Parameters
    ----------
    number : int
        Permanent number; never given to another group.
    principal : str
        Document that represents the group. It stays the principal, in any version, as long as it is in the group; if a
        decision took it out and is undone, it is the principal again.
    proposed_principal : str or None
        Suggestion of a better principal: the document with the most letters and digits, in a tie the earliest. None if
        that is the principal, or if a person chose the principal.
    n_documents : int
    n_texts : int
        Number of distinct texts.
    n_chained : int
        Number of documents that do not match the principal; they are linked to it only through other documents.
    """

    number: int
    principal: str
    proposed_principal: str | None
    n_documents: int
    n_texts: int
    n_chained: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionGroups(Tabular):
    """All groups at one tolerance.

    Parameters
    ----------
    tolerance : Tolerance
    groups : tuple of Group
        The largest first.
    changes : tuple of GroupChange
        Changes sorted by the number of the group; empty the first time.
    is_first : bool
        Whether there were no groups at this tolerance before.
    new_waves : tuple of str
        Waves that added documents since the last call.
    n_uncounted : int
        Number of current documents with too few letters or words to compare; they are in no group.
    n_not_compared : int
        Number of pairs of texts with near signatures that were not compared by words, in this call and all earlier
        ones, because nearer pairs of the same groups or texts did not match. Later calls may have put some of these
        pairs into one group.
    members : Table
        One row per document in a group: the principal of each group first, then the others, the most similar first.
    """

    tables: ClassVar[tuple[str, ...]] = ("members",)

    tolerance: Tolerance
    groups: tuple[Group, ...]
    changes: tuple[GroupChange, ...]
    is_first: bool
    new_waves: tuple[str, ...]
    n_uncounted: int
    n_not_compared: int
    members: pa.Table

    @property
    def n_indirect(self) -> int:
        """Number of members that do not match the principal of their group."""
        return sum(one.n_chained for one in self.groups)

    def direct_members(self) -> pa.Table:
        """Return the members that match their principal, with `MEMBERS_SCHEMA`, of groups with at least two of them."""
        direct = self.members.filter(self.members["is_match"])
        numbers, n = np.unique(direct["group"].to_numpy(), return_counts=True)
        return direct.filter(pa.array(np.isin(direct["group"].to_numpy(), numbers[n > 1])))

    def __repr__(self) -> str:
        groups, members = counted(len(self.groups), "group"), counted(len(self.members), "document")
        return f"CollectionGroups({groups} with {members}; texts {self.tolerance.in_words()})"

    def _bars(self) -> Histogram:
        sizes = pa.chunked_array([[one.n_documents for one in self.groups]], pa.int64())
        return counts_of(sizes, "documents in a group")

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types, without the members."""
        return {
            **self.tolerance.to_dict(),
            "is_first": self.is_first,
            "new_waves": list(self.new_waves),
            "n_groups": len(self.groups),
            "n_documents": len(self.members),
            "n_indirect": self.n_indirect,
            "n_uncounted": self.n_uncounted,
            "n_not_compared": self.n_not_compared,
            "expected_recall": self.tolerance.recall,
            "groups": [asdict(one) for one in self.groups],
            "changes": [asdict(one) for one in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRows:
    """Current documents of all groups, as columns sorted by group, then by row."""

    row: I64
    group: I64
    content: I64
    n_letters: I64
    n_characters: I64
    doc_id: list[str]
    version: list[int]
    wave: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Updated:
    """Groups and what is stored of them, up to a row of documents and a number of the log."""

    groups: CollectionGroups
    state: GroupState
    now: GroupState
    is_chosen: bool


def group(
    collection: OpenedCollection,
    tolerance: Tolerance,
    *,
    threads: int,
    principal: str | None = None,
    progress: Progress | None = None,
) -> CollectionGroups:
    """Update the groups at a tolerance, store them unless opened read-only, and return the changes.

    See `Collection.groups`. ``principal`` is a document that becomes the principal of its group, if it is in one.
    ``progress`` is by default that of the collection.
    """
    check_threads(threads)

    def ask(seen: Snapshot) -> _Updated:
        state = GroupState.read(seen.connection, str(tolerance))
        matching, measures = matching_of(seen.connection, collection.counting, seen.segments, tolerance)
        regrouped = regroup(
            seen.connection, state, matching, similarity_by(measures, tolerance),
            threads=threads, progress=progress or collection.progress,
        )  # fmt: skip
        rows = _rows_of(seen.connection, regrouped.membership)
        is_chosen = principal is not None and principal in rows.doc_id
        chosen = chosen_principals(seen.connection)
        if principal is not None and is_chosen:
            chosen[principal] = 1 + max(chosen.values(), default=0)
        return _updated(seen.connection, tolerance, state, regrouped, rows, chosen, matching, measures, is_chosen)

    found = collection.answered(ask)
    if collection.store.access.is_read_only:
        return found.groups
    with collection.store.writing() as connection:
        before, now = GroupState.read(connection, found.state.tolerance), found.now
        if not found.state.is_same_as(before):
            raise CollectionBusyError(
                f"Another process has updated the groups of {collection.place} or changed a principal meanwhile. Try "
                "again."
            )
        if principal is not None and found.is_chosen:
            record_principal(connection, principal)
            before = GroupState.read(connection, found.state.tolerance)
        group_state.store(
            connection, before, now.rows, now.row_groups, now.principals, seen_row=now.seen_row,
            next_group=now.next_group, last_activity=now.last_activity, n_not_compared=now.n_not_compared,
        )  # fmt: skip
    return found.groups


def stored_members(collection: OpenedCollection, tolerance: Tolerance) -> pa.Table:
    """Return the members of the stored groups, with `MEMBERS_SCHEMA`; nothing is compared again, and no member is new.

    Raises
    ------
    ParameterError
        No groups are stored at this tolerance.
    """

    def ask(seen: Snapshot) -> pa.Table:
        state = GroupState.read(seen.connection, str(tolerance))
        if state.number is None:
            raise ParameterError(f"The groups {tolerance.in_words()} are not computed yet.")
        matching, measures = matching_of(seen.connection, collection.counting, seen.segments, tolerance)
        rows = _rows_of(seen.connection, Membership(state.member_contents, state.member_groups))
        numbers, starts, ends, proposed = _bounds(rows)
        shown = shown_principals(seen.connection, state, numbers.tolist())
        by_row = np.argsort(rows.row)
        wanted = [shown[number].row for number in numbers.tolist()]
        places = by_row[np.searchsorted(rows.row, wanted, sorter=by_row)]
        chosen = places_of_chosen(rows.doc_id, rows.group, chosen_principals(seen.connection))
        proposed = np.where(np.isin(numbers, list(chosen)), places, proposed)
        found = measures.of(rows.content[np.repeat(places, ends - starts)], rows.content)
        is_new = np.zeros(len(rows.row), np.bool_)
        table = _members(rows, places, proposed, found, matching.is_match(found), is_new, tolerance)
        alone = numbers[ends - starts < 2]  # the others were removed since
        return table.filter(pa.array(~np.isin(table["group"].to_numpy(), alone)))

    return collection.answered(ask)


def make_principal(collection: OpenedCollection, doc_id: str, tolerance: Tolerance) -> int:
    """Make a document the principal of its group, and return the group's number."""
    check_id(doc_id)
    with collection.store.writing() as connection:
        state = GroupState.read(connection, str(tolerance))
        content = document(connection, doc_id).content
        number = int(Membership(state.member_contents, state.member_groups).group_of(np.array([content]))[0])
        if number == NO_GROUP:
            raise ParameterError(
                f"{doc_id!r} is in no group at {described(state.tolerance)}. Update the groups first: nearkin groups "
                f"COLLECTION{tolerance.of_groups()}"
            )
        record_principal(connection, doc_id)
    return number


def _rows_of(connection: Connection, membership: Membership) -> MemberRows:
    columns = (
        documents.c.row, documents.c.content, N_LETTERS, contents.c.n_characters, documents.c.doc_id,
        documents.c.version, waves.c.name,
    )  # fmt: skip
    joined = documents.join(contents).join(loads).join(waves)
    found = list[Any]()
    for some in in_slices(membership.contents.tolist()):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        found += connection.execute(select(*columns).select_from(joined).where(is_wanted)).all()
    row, content, n_letters, n_characters = (np.array([one[i] for one in found], np.int64) for i in range(4))
    of_group = membership.group_of(content)
    order = np.lexsort((row, of_group))
    doc_id, version, wave = ([found[i][column] for i in order.tolist()] for column in (4, 5, 6))
    return MemberRows(
        row=row[order],
        group=of_group[order],
        content=content[order],
        n_letters=n_letters[order],
        n_characters=n_characters[order],
        doc_id=doc_id,
        version=version,
        wave=wave,
    )


def _updated(
    connection: Connection,
    tolerance: Tolerance,
    state: GroupState,
    regrouped: Regrouped,
    rows: MemberRows,
    chosen: Mapping[str, int],
    matching: Matching,
    measures: PairMeasures,
    is_chosen: bool,
) -> _Updated:
    """Return the groups with their principals, and the changes."""
    numbers, starts, ends, proposed = _bounds(rows)
    places = _principals(connection, rows, numbers, starts, ends, state, proposed)
    again = _returned_principals(connection, state, rows) if regrouped.is_undone else {}
    of_choice = places_of_chosen(rows.doc_id, rows.group, chosen)
    places[np.searchsorted(numbers, list(again | of_choice))] = list((again | of_choice).values())
    is_longer = rows.n_letters[proposed] > rows.n_letters[places]
    proposed = np.where(is_longer & ~np.isin(numbers, list(of_choice)), proposed, places)  # nothing instead of a choice
    found = measures.of(rows.content[np.repeat(places, ends - starts)], rows.content)
    is_match = matching.is_match(found)
    is_new = rows.row >= state.seen_row
    groups = (
        Group(
            number=int(number),
            principal=rows.doc_id[place],
            proposed_principal=rows.doc_id[best] if best != place else None,
            n_documents=int(end - start),
            n_texts=len(np.unique(rows.content[start:end])),
            n_chained=int((~is_match[start:end]).sum()),
        )
        for number, start, end, place, best in zip(numbers, starts, ends, places.tolist(), proposed.tolist())
    )
    is_first = state.number is None
    now = replace(
        state,
        rows=rows.row,
        row_groups=rows.group,
        principals=dict(zip(numbers.tolist(), rows.row[places].tolist())),
        seen_row=group_state.n_rows(connection),
        next_group=regrouped.next_group,
        last_activity=next_number(connection) - 1,
        n_not_compared=state.n_not_compared + regrouped.n_not_compared,
    )
    changes = () if is_first else changes_between(connection, state.as_last_stored(connection), now)[0]
    new_waves = () if is_first else tuple(dict.fromkeys(_waves_since(connection, state.seen_row)))
    told = CollectionGroups(
        tolerance=tolerance,
        groups=tuple(sorted(groups, key=lambda one: (-one.n_documents, one.number))),
        changes=changes,
        is_first=is_first,
        new_waves=new_waves,
        n_uncounted=regrouped.n_uncounted,
        n_not_compared=now.n_not_compared,
        members=_members(rows, places, proposed, found, is_match, is_new & (not is_first), tolerance),
    )
    return _Updated(groups=told, state=state, now=now, is_chosen=is_chosen)


def _bounds(rows: MemberRows) -> tuple[I64, I64, I64, I64]:
    """Return the numbers, starts and ends of the groups, and the positions of their proposed principals.

    These are the members with the most letters and digits; in a tie, the one stored first.
    """
    numbers, starts = np.unique(rows.group, return_index=True)
    return numbers, starts, np.append(starts[1:], len(rows.group)), np.lexsort((-rows.n_letters, rows.group))[starts]


def _principals(
    connection: Connection, rows: MemberRows, numbers: I64, starts: I64, ends: I64, state: GroupState, proposed: I64
) -> I64:
    """Position of each group's principal: the previous one, in any version, if it is still in the group."""
    places, missing = proposed.copy(), dict[int, int]()
    for i, (number, start, end) in enumerate(zip(numbers.tolist(), starts.tolist(), ends.tolist())):
        if (row := state.principals.get(number)) is not None:
            place = start + int(np.searchsorted(rows.row[start:end], row))
            if place < end and rows.row[place] == row:
                places[i] = place
            else:
                missing[i] = row
    names = {one.row: one.doc_id for one in document_rows(connection, documents.c.row, missing.values())}
    for i, row in missing.items():
        places[i] = next((at for at in range(starts[i], ends[i]) if rows.doc_id[at] == names[row]), places[i])
    return places


def _members(
    rows: MemberRows,
    places: I64,
    proposed: I64,
    found: Similarities,
    is_match: Bool,
    is_new: Bool,
    tolerance: Tolerance,
) -> pa.Table:
    is_principal = np.zeros(len(rows.row), np.bool_)
    is_principal[places] = True
    is_proposed = np.zeros(len(rows.row), np.bool_)
    is_proposed[proposed] = True
    order = np.lexsort((rows.row, found.relative_distance, -found.jaccard, ~is_principal, rows.group))
    listed = order.tolist()
    columns = [
        rows.group[order], pa.array([rows.doc_id[i] for i in listed], pa.large_string()),
        np.array([rows.version[i] for i in listed], np.int32),
        pa.array([rows.wave[i] for i in listed], pa.large_string()), rows.n_characters[order],
        is_principal[order], (is_proposed & ~is_principal)[order],
        found.jaccard[order], found.relative_distance[order], is_match[order], is_new[order],
        np.array([is_letters_only(one, tolerance) for one in found.jaccard[order].tolist()], np.bool_),
    ]  # fmt: skip
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=MEMBERS_SCHEMA)


def _waves_since(connection: Connection, row: int) -> list[str]:
    joined = documents.join(loads).join(waves)
    query = select(waves.c.name).select_from(joined).where(documents.c.row >= row).distinct().order_by(waves.c.name)
    return list(connection.execute(query).scalars())


def _returned_principals(connection: Connection, state: GroupState, rows: MemberRows) -> dict[int, int]:
    """Return, by group, the position of the member that was its last principal before it left.

    A group with a new number, such as one that was united with another and is apart again, gets the member that was the
    principal of any group last. A document that was stored since the last call, for example because it had been removed
    and is added again, gets nothing back.

    Parameters
    ----------
    connection : Connection
    state : GroupState
        Groups at the last call.
    rows : MemberRows
        Groups now, of which at least one has got texts back as a decision was undone.
    """
    were = principals_over_time(connection, state.number)
    ids = {one.row: one.doc_id for one in document_rows(connection, documents.c.row, [row for _, row in were])}
    place_of = {doc_id: place for place, doc_id in enumerate(rows.doc_id)}
    was_in = Membership(state.member_contents, state.member_groups).group_of(rows.content)
    found = dict[int, int]()
    for number, row in reversed(were):
        place = place_of.get(ids.get(row, ""))
        if place is None or rows.row[place] >= state.seen_row or (now := int(rows.group[place])) in found:
            continue
        if now not in state.principals or (now == number and was_in[place] != now):
            found[now] = place
    return found
