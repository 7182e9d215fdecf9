"""The groups of a collection at one tolerance, and what changed in them since they were asked for last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection import group_state
from nearkin.collection.documents import check_id, document
from nearkin.collection.group_state import GroupState
from nearkin.collection.grouping import NO_GROUP, Membership, regroup
from nearkin.collection.opened import OpenedCollection, Snapshot
from nearkin.collection.pairs import counts_of
from nearkin.collection.segment_files import Segment
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import CollectionBusyError, ParameterError
from nearkin.records import F64, I64, Bool
from nearkin.stages.search.ranges.directions import squared_lengths
from nearkin.store.bulk import named
from nearkin.store.schema import contents, documents, groupings, loads, members, waves

MEMBERS_SCHEMA = pa.schema(
    [
        pa.field("group", pa.int64(), nullable=False),
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("version", pa.int32(), nullable=False),
        pa.field("wave", pa.large_string(), nullable=False),
        pa.field("n_characters", pa.int64(), nullable=False),
        pa.field("is_principal", pa.bool_(), nullable=False),
        pa.field("is_proposed_principal", pa.bool_(), nullable=False),
        pa.field("relative_distance", pa.float64()),  # from the principal, as a part of its length; null: not counted
        pa.field("is_within_gamma", pa.bool_(), nullable=False),  # of the principal; else by a chain of others
        pa.field("is_new", pa.bool_(), nullable=False),  # since the groups were asked for last
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Documents that hang together.

    Parameters
    ----------
    number : int
        Stays, whatever is added; it is never given to another group.
    principal : str
        The document that stands for the group. It stays, in whichever version, as long as it is in the group.
    proposed_principal : str or None
        The longest document, or the earliest of the longest, if that is not the principal. It is never imposed.
    n_documents : int
    n_texts : int
        Distinct ones.
    n_chained : int
        Documents that are not within gamma of the principal, but of others that are.
    """

    number: int
    principal: str
    proposed_principal: str | None
    n_documents: int
    n_texts: int
    n_chained: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What happened to a group since it was asked for last.

    Parameters
    ----------
    number : int
    is_new : bool
    new_documents : tuple of str
    merged : tuple of int
        Groups that are now in this one; their numbers are gone.
    split_from : tuple of int
        Groups, still there, that members of this one were in.
    n_lost : int
        Texts that are in it no longer: gone, or alone without those that are.
    is_dissolved : bool
        Fewer than two documents are left.
    principal_was : str or None
        The principal that is in it no longer, if so. Its newer version takes its place without a word.
    """

    number: int
    is_new: bool
    new_documents: tuple[str, ...]
    merged: tuple[int, ...]
    split_from: tuple[int, ...]
    n_lost: int
    is_dissolved: bool
    principal_was: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionGroups:
    """All groups at one tolerance.

    Parameters
    ----------
    tolerance : Tolerance
    groups : tuple of Group
        The largest first.
    changes : tuple of GroupChange
        By the number of the group; none the first time.
    is_first : bool
        There were no groups at this tolerance before.
    new_waves : tuple of str
        In which documents came since.
    n_uncounted : int
        Current documents with too few letters to be compared: they are in no group.
    members : Table
        Of `MEMBERS_SCHEMA`: the principal of each group first, the others the nearest first.
    """

    tolerance: Tolerance
    groups: tuple[Group, ...]
    changes: tuple[GroupChange, ...]
    is_first: bool
    new_waves: tuple[str, ...]
    n_uncounted: int
    members: pa.Table

    def to_dict(self) -> dict[str, object]:
        """For JSON: without the members."""
        return {
            "gamma": self.tolerance.value,
            "is_first": self.is_first,
            "new_waves": list(self.new_waves),
            "n_groups": len(self.groups),
            "n_documents": len(self.members),
            "n_uncounted": self.n_uncounted,
            "groups": [asdict(one) for one in self.groups],
            "changes": [asdict(one) for one in self.changes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemberRows:
    """The current documents of all groups, as columns: sorted by group, then by row."""

    row: I64
    group: I64
    content: I64
    n_characters: I64
    doc_id: list[str]
    version: list[int]
    wave: list[str]


def group(collection: OpenedCollection, gamma: float | None, *, threads: int) -> CollectionGroups:
    """Bring the groups at a tolerance up to date, store them, and tell what changed; see `Collection.groups`."""
    tolerance = Tolerance.of("range", gamma=gamma)

    def ask(seen: Snapshot) -> tuple[CollectionGroups, GroupState, Membership, int, dict[int, int], int]:
        state = GroupState.read(seen.connection, str(tolerance))
        membership, following, n_uncounted = regroup(
            seen.connection, collection.counting, seen.segments, state, tolerance.value,
            threads=threads, progress=collection.progress,
        )  # fmt: skip
        rows = _rows_of(seen.connection, membership)
        grouping, principals = _told(seen, collection, tolerance, state, membership, rows, n_uncounted)
        return grouping, state, membership, following, principals, group_state.n_rows(seen.connection)

    grouping, state, membership, following, principals, seen_row = collection.answered(ask)
    with collection.store.writing() as connection:
        if not state.is_same_as(GroupState.read(connection, state.tolerance)):
            raise CollectionBusyError(
                f"Another process has grouped {collection.place} or made a principal meanwhile. Ask again."
            )
        group_state.write(
            connection, state, seen_row=seen_row, next_group=following,
            contents=membership.contents, numbers=membership.groups, principals=principals,
        )  # fmt: skip
    return grouping


def make_principal(collection: OpenedCollection, doc_id: str, gamma: float | None) -> int:
    """Let a document stand for its group; the number of the group."""
    check_id(doc_id)
    tolerance = Tolerance.of("range", gamma=gamma)
    with collection.store.writing() as connection:
        content = document(connection, doc_id).content
        row = connection.execute(
            select(documents.c.row).where((documents.c.doc_id == doc_id) & documents.c.is_current)
        ).scalar_one()
        found = connection.execute(
            select(members.c.grouping, members.c.group_number)
            .select_from(members.join(groupings))
            .where((groupings.c.tolerance == str(tolerance)) & (members.c.content == content))
        ).first()
        if found is None:
            raise ParameterError(f"{doc_id!r} is in no group at {tolerance}. Bring the groups up to date first.")
        GroupState.read(connection, str(tolerance))  # a new checksum would hide what is damaged
        group_state.make_principal(connection, found.grouping, found.group_number, row)
    return int(found.group_number)


def _rows_of(connection: Connection, membership: Membership) -> _MemberRows:
    columns = (
        documents.c.row, documents.c.content, contents.c.n_characters, documents.c.doc_id, documents.c.version,
        waves.c.name,
    )  # fmt: skip
    joined = documents.join(contents).join(loads).join(waves)
    found = list[Any]()
    for some in named(membership.contents.tolist()):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        found += connection.execute(select(*columns).select_from(joined).where(is_wanted)).all()
    row, content, length = (np.array([one[i] for one in found], np.int64) for i in range(3))
    of_group = membership.group_of(content)
    order = np.lexsort((row, of_group))
    doc_id, version, wave = ([found[i][column] for i in order.tolist()] for column in (3, 4, 5))
    return _MemberRows(
        row=row[order],
        group=of_group[order],
        content=content[order],
        n_characters=length[order],
        doc_id=doc_id,
        version=version,
        wave=wave,
    )


def _told(
    seen: Snapshot,
    collection: OpenedCollection,
    tolerance: Tolerance,
    state: GroupState,
    membership: Membership,
    rows: _MemberRows,
    n_uncounted: int,
) -> tuple[CollectionGroups, dict[int, int]]:
    """The groups with their principals, and what changed."""
    numbers, starts = np.unique(rows.group, return_index=True)
    ends = np.append(starts[1:], len(rows.group))
    proposed = _longest(rows, starts, ends)
    names = _ids_of_missing(seen.connection, state, rows)
    places = _principals(rows, numbers, starts, ends, state, names, proposed)
    n_dimensions = collection.counting.letters.n_dimensions
    relative, is_within = _distances(seen.segments, rows, starts, ends, places, tolerance.value, n_dimensions)
    is_new = rows.row >= state.seen_row
    told = tuple(
        Group(
            number=int(number),
            principal=rows.doc_id[place],
            proposed_principal=rows.doc_id[best] if best != place else None,
            n_documents=int(end - start),
            n_texts=len(np.unique(rows.content[start:end])),
            n_chained=int((~is_within[start:end]).sum()),
        )
        for number, start, end, place, best in zip(numbers, starts, ends, places.tolist(), proposed.tolist())
    )
    is_first = state.number is None
    changes = () if is_first else _changes(state, membership, rows, is_new, _gone(names, rows))
    new_waves = () if is_first else tuple(dict.fromkeys(_waves_since(seen.connection, state.seen_row)))
    table = _members(rows, places, proposed, relative, is_within, is_new & (not is_first))
    by_size = tuple(sorted(told, key=lambda one: (-one.n_documents, one.number)))
    principals = dict(zip(numbers.tolist(), rows.row[places].tolist()))
    return CollectionGroups(
        tolerance=tolerance,
        groups=by_size,
        changes=changes,
        is_first=is_first,
        new_waves=new_waves,
        n_uncounted=n_uncounted,
        members=table,
    ), principals


def _longest(rows: _MemberRows, starts: I64, ends: I64) -> I64:
    """The place of the longest document of each group; of equals the one that came first."""
    return np.array([a + int(rows.n_characters[a:b].argmax()) for a, b in zip(starts, ends)], np.int64)


def _principals(
    rows: _MemberRows, numbers: I64, starts: I64, ends: I64, state: GroupState, names: Mapping[int, str], proposed: I64
) -> I64:
    """The place of the document that stands for each group: the one that did before, if it is in the group still."""
    places = proposed.copy()
    for i, (number, start, end) in enumerate(zip(numbers.tolist(), starts.tolist(), ends.tolist())):
        if number in names:  # another version of it may be there
            places[i] = next((at for at in range(start, end) if rows.doc_id[at] == names[number]), places[i])
        elif number in state.principals:
            places[i] = start + int(np.searchsorted(rows.row[start:end], state.principals[number]))
    return places


def _distances(
    segments: Sequence[Segment], rows: _MemberRows, starts: I64, ends: I64, places: I64, gamma: float, n_dimensions: int
) -> tuple[F64, Bool]:
    """Of each document, from its principal, as a part of the principal's length; and whether that is within gamma."""
    principal = rows.content[np.repeat(places, ends - starts)]
    relative = np.full(len(rows.row), np.nan)
    for start in range(0, len(relative), 1 << 14):
        part = slice(start, start + (1 << 14))
        own = counts_of(segments, principal[part], n_dimensions)
        gaps = counts_of(segments, rows.content[part], n_dimensions).astype(np.int64) - own
        lengths = squared_lengths(own)
        with np.errstate(invalid="ignore", divide="ignore"):
            relative[part] = np.sqrt(np.einsum("ij,ij->i", gaps, gaps) / lengths)
    relative[np.isnan(relative)] = 0.0  # equal texts without any letter
    return relative, relative <= gamma


def _members(rows: _MemberRows, places: I64, proposed: I64, relative: F64, is_within: Bool, is_new: Bool) -> pa.Table:
    is_principal = np.zeros(len(rows.row), np.bool_)
    is_principal[places] = True
    is_proposed = np.zeros(len(rows.row), np.bool_)
    is_proposed[proposed] = True
    order = np.lexsort((rows.row, relative, ~is_principal, rows.group))
    listed = order.tolist()
    columns = [
        rows.group[order], pa.array([rows.doc_id[i] for i in listed], pa.large_string()),
        np.array([rows.version[i] for i in listed], np.int32),
        pa.array([rows.wave[i] for i in listed], pa.large_string()), rows.n_characters[order],
        is_principal[order], (is_proposed & ~is_principal)[order], relative[order], is_within[order], is_new[order],
    ]  # fmt: skip
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=MEMBERS_SCHEMA)


def _waves_since(connection: Connection, row: int) -> list[str]:
    joined = documents.join(loads).join(waves)
    query = select(waves.c.name).select_from(joined).where(documents.c.row >= row).distinct().order_by(waves.c.name)
    return list(connection.execute(query).scalars())


def _changes(
    state: GroupState, membership: Membership, rows: _MemberRows, is_new: Bool, gone: Mapping[int, str]
) -> tuple[GroupChange, ...]:
    """By comparing what each content's group was with what it is."""
    before = Membership(state.member_contents, state.member_groups)
    now_of_old = membership.group_of(before.contents)
    was_of_now = before.group_of(membership.contents)
    old, present = set(before.groups.tolist()), set(membership.groups.tolist())
    moved = (was_of_now != NO_GROUP) & (was_of_now != membership.groups)
    merged, split = dict[int, set[int]](), dict[int, set[int]]()
    for number, was in zip(membership.groups[moved].tolist(), was_of_now[moved].tolist()):
        (split if was in present else merged).setdefault(number, set()).add(was)
    newcomers = dict[int, list[str]]()
    for i in np.flatnonzero(is_new).tolist():
        newcomers.setdefault(int(rows.group[i]), []).append(rows.doc_id[i])
    lost, n_lost = np.unique(before.groups[now_of_old == NO_GROUP], return_counts=True)
    losses = dict(zip(lost.tolist(), n_lost.tolist()))
    changed = newcomers.keys() | merged.keys() | split.keys() | losses.keys() | (present - old)
    changed |= gone.keys() & present
    absorbed = set().union(*merged.values()) if merged else set()
    return tuple(
        GroupChange(
            number=number,
            is_new=number not in old,
            new_documents=tuple(newcomers.get(number, ())),
            merged=tuple(sorted(merged.get(number, ()))),
            split_from=tuple(sorted(split.get(number, ()))),
            n_lost=losses.get(number, 0),
            is_dissolved=number not in present,
            principal_was=gone.get(number),
        )
        for number in sorted(changed)
        if number not in absorbed
    )


def _ids_of_missing(connection: Connection, state: GroupState, rows: _MemberRows) -> dict[int, str]:
    """The principals of which that very version is no longer in their group, by the group's number."""
    here = set(zip(rows.group.tolist(), rows.row.tolist()))
    missing = {number: row for number, row in state.principals.items() if (number, row) not in here}
    names = dict[int, str]()
    for some in named(list(missing.values())):
        query = select(documents.c.row, documents.c.doc_id).where(documents.c.row.in_(some))
        names |= {found.row: found.doc_id for found in connection.execute(query)}
    return {number: names[row] for number, row in missing.items()}


def _gone(names: Mapping[int, str], rows: _MemberRows) -> dict[int, str]:
    """Those of which no version is."""
    here = set(zip(rows.group.tolist(), rows.doc_id)) if names else set()
    return {number: doc_id for number, doc_id in names.items() if (number, doc_id) not in here}
