"""Changes of the groups of a collection since the last call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
from sqlalchemy import Connection, select

from nearkin.collection.groups.grouping import NO_GROUP, Membership, ReplacedMembers, replaced_members
from nearkin.collection.stored.documents import current_ids
from nearkin.collection.stored.group_state import GroupState, past_groups
from nearkin.records import I64, Bool
from nearkin.store.bulk import in_slices
from nearkin.store.schema import documents


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """Changes of a group since the last call.

    Parameters
    ----------
    number : int
    is_new : bool
    new_documents : tuple of str
        Documents that were not in this group at the last call, because they or their texts were not stored.
    removed_documents : tuple of str
        Those of `gone_documents` that were removed from the collection.
    known_documents : tuple of str
        Those of `new_documents` that were stored with another text at the last call.
    joined_documents : tuple of str
        Documents that were stored and in no group at the last call, and are in this one now.
    new_versions : tuple of str
        Members with a newer version than at the last call: mostly another text.
    left_documents : tuple of str
        Documents that are in no group any more: by a decision, or because removed texts linked them.
    gone_documents : tuple of str
        Other former members: removed from the collection, or with a text now that is not in this group.
    merged : tuple of int
        Groups of which at least two documents are now in this one; their numbers are gone.
    split_from : tuple of int
        Groups, still existing, to which members of this one belonged.
    n_lost : int
        Number of texts that no document has any more, apart from those that `new_versions` replaced.
    is_dissolved : bool
        Fewer than two documents are left.
    principal_was : str or None
        Former principal if it left the group. A newer version of it replaces it without being listed here.
    principal_again : str or None
        Present principal if it had left by a decision that is undone.
    principal_chosen : str or None
        Present principal if a person chose it, or undid the choice of another, since the last call.
    moved_documents : tuple of str
        Members that alone came from a group that no longer exists.
    """

    number: int
    is_new: bool
    new_documents: tuple[str, ...]
    joined_documents: tuple[str, ...]
    new_versions: tuple[str, ...]
    left_documents: tuple[str, ...]
    gone_documents: tuple[str, ...]
    merged: tuple[int, ...]
    split_from: tuple[int, ...]
    n_lost: int
    is_dissolved: bool
    principal_was: str | None
    principal_again: str | None = None
    principal_chosen: str | None = None
    known_documents: tuple[str, ...] = ()
    removed_documents: tuple[str, ...] = ()
    moved_documents: tuple[str, ...] = ()

    @property
    def is_choice_alone(self) -> bool:
        """Whether the choice of its principal is all that changed."""
        others = (getattr(self, one.name) for one in fields(self) if one.name not in ("number", "principal_chosen"))
        return self.principal_chosen is not None and not any(others)


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


def group_changes(
    connection: Connection,
    state: GroupState,
    membership: Membership,
    rows: MemberRows,
    is_new: Bool,
    gone: Mapping[int, str],
    principals: Mapping[int, int],
) -> tuple[GroupChange, ...]:
    """Compare the former and the current group of each content; `principals` are the current ones, by row."""
    before = Membership(state.member_contents, state.member_groups)
    now_of_old = membership.group_of(before.contents)
    old, present = set(before.groups.tolist()), set(membership.groups.tolist())
    sources = _Sources.of(membership, before, rows, is_new, replaced_members(connection, state))
    merged, split, moved = sources.merged, sources.split_from, sources.moved
    group_of = dict(zip(before.contents.tolist(), before.groups.tolist()))
    newcomers, known, versions, replaced = _arrived(connection, state.seen_row, rows, is_new, group_of)
    joined = dict[int, list[str]]()
    for i in np.flatnonzero(~is_new & (before.group_of(rows.content) == NO_GROUP)).tolist():
        joined.setdefault(int(rows.group[i]), []).append(rows.doc_id[i])
    lost = {content: group_of[content] for content in before.contents[now_of_old == NO_GROUP].tolist()}
    left, n_lost = _departed(connection, lost, replaced)
    gone_members = _gone_members(connection, state, rows, dict(zip(before.contents.tolist(), now_of_old.tolist())))
    stayed = current_ids(connection, chain.from_iterable(gone_members.values()))
    changed = newcomers.keys() | versions.keys() | merged.keys() | split.keys() | n_lost.keys() | (present - old)
    chosen = _chosen_since(connection, state, rows, principals)
    changed |= joined.keys() | gone_members.keys() | (gone.keys() & present) | chosen.keys()
    changed |= moved.keys() | sources.dissolved
    absorbed = set().union(*merged.values()) if merged else set()
    return tuple(
        GroupChange(
            number=number,
            is_new=number not in old,
            new_documents=tuple(newcomers.get(number, ())),
            joined_documents=tuple(joined.get(number, ())),
            new_versions=tuple(versions.get(number, ())),
            left_documents=tuple(left.get(number, ())),
            gone_documents=tuple(gone_members.get(number, ())),
            merged=tuple(sorted(merged.get(number, ()))),
            split_from=tuple(sorted(split.get(number, ()))),
            n_lost=n_lost.get(number, 0),
            is_dissolved=number not in present,
            principal_was=gone.get(number),
            principal_chosen=chosen.get(number),
            known_documents=tuple(known.get(number, ())),
            removed_documents=tuple(one for one in gone_members.get(number, ()) if one not in stayed),
            moved_documents=tuple(moved.get(number, ())),
        )
        for number in sorted(changed)
        if number not in absorbed
    )


@dataclass(frozen=True, slots=True)
class _Sources:
    """Former groups of the members of each group, by its number."""

    merged: dict[int, set[int]]
    split_from: dict[int, set[int]]
    moved: dict[int, list[str]]
    dissolved: set[int]

    @classmethod
    def of(
        cls, membership: Membership, before: Membership, rows: MemberRows, is_new: Bool, replaced: ReplacedMembers
    ) -> _Sources:
        """Compare the groups of contents, and of documents that were known or got another text."""
        present, was_of_now = set(membership.groups.tolist()), before.group_of(membership.contents)
        is_moved = (was_of_now != NO_GROUP) & (was_of_now != membership.groups)
        found = _Sources({}, {}, {}, set())
        for number, was in zip(membership.groups[is_moved].tolist(), was_of_now[is_moved].tolist()):
            if was in present:
                found.split_from.setdefault(number, set()).add(was)
            else:
                found.dissolved.add(was)
        known, was_of_rows = dict[tuple[int, int], list[str]](), before.group_of(rows.content)
        for i in np.flatnonzero(~is_new & (was_of_rows != NO_GROUP) & (was_of_rows != rows.group)).tolist():
            if (was := int(was_of_rows[i])) not in present:
                known.setdefault((int(rows.group[i]), was), []).append(rows.doc_id[i])
        pairs = zip(membership.group_of(replaced.contents).tolist(), replaced.groups.tolist())
        n_replaced = Counter((number, was) for number, was in pairs if number != NO_GROUP and was not in present)
        for number, was in sorted(known.keys() | n_replaced.keys()):
            doc_ids = known.get((number, was), [])
            if len(doc_ids) + n_replaced[number, was] > 1:
                found.merged.setdefault(number, set()).add(was)
            elif doc_ids:
                found.moved.setdefault(number, []).extend(doc_ids)
        return found


def _arrived(
    connection: Connection, seen_row: int, rows: MemberRows, is_new: Bool, group_of: Mapping[int, int]
) -> tuple[dict[int, list[str]], dict[int, list[str]], dict[int, list[str]], set[int]]:
    """Return by group new documents, those with an earlier text, and new versions of members; and replaced contents."""
    places, former = np.flatnonzero(is_new).tolist(), dict[str, int]()
    for some in in_slices([rows.doc_id[i] for i in places if rows.version[i] > 1]):
        is_former = documents.c.doc_id.in_(some) & (documents.c.row < seen_row)
        query = select(documents.c.doc_id, documents.c.content).where(is_former).order_by(documents.c.row)
        former |= dict(connection.execute(query).all())  # of several versions the last one
    newcomers, known, versions = dict[int, list[str]](), dict[int, list[str]](), dict[int, list[str]]()
    replaced = set[int]()
    for i in places:
        doc_id, number = rows.doc_id[i], int(rows.group[i])
        if doc_id in former and group_of.get(former[doc_id]) == number:
            versions.setdefault(number, []).append(doc_id)
            replaced.add(former[doc_id])
        else:
            newcomers.setdefault(number, []).append(doc_id)
            if doc_id in former:
                known.setdefault(number, []).append(doc_id)
    return newcomers, known, versions, replaced


def _departed(
    connection: Connection, lost: Mapping[int, int], replaced: set[int]
) -> tuple[dict[int, list[str]], dict[int, int]]:
    """Return the documents that left each group, and the number of texts that it lost with their documents."""
    left, n_lost, live = dict[int, list[str]](), dict.fromkeys(lost.values(), 0), set[int]()
    for some in in_slices(list(lost)):
        is_wanted = documents.c.content.in_(some) & documents.c.is_current
        query = select(documents.c.content, documents.c.doc_id).where(is_wanted).order_by(documents.c.row)
        for content, doc_id in connection.execute(query):
            left.setdefault(lost[content], []).append(doc_id)
            live.add(content)
    for content in lost.keys() - live - replaced:
        n_lost[lost[content]] += 1
    return left, n_lost


def _gone_members(
    connection: Connection, state: GroupState, rows: MemberRows, group_of: Mapping[int, int]
) -> dict[int, list[str]]:
    """Return the former members of each group that are no longer current documents with a text of the group."""
    past = past_groups(connection, state.tolerance)
    if past is None or past.seen_row != state.seen_row:
        return {}
    is_gone = ~np.isin(past.rows, rows.row)
    former = dict(zip(past.rows[is_gone].tolist(), past.groups[is_gone].tolist()))
    present, gone = set(zip(rows.group.tolist(), rows.doc_id)), dict[int, list[str]]()
    for some in in_slices(list(former)):
        columns = documents.c.row, documents.c.doc_id, documents.c.content, documents.c.is_current
        for one in connection.execute(select(*columns).where(documents.c.row.in_(some)).order_by(documents.c.row)):
            now = group_of.get(one.content, NO_GROUP)
            number = former[one.row] if now == NO_GROUP else now
            if not one.is_current and (number, one.doc_id) not in present:
                gone.setdefault(number, []).append(one.doc_id)
    return gone


def _chosen_since(
    connection: Connection, state: GroupState, rows: MemberRows, principals: Mapping[int, int]
) -> dict[int, str]:
    """Return the principals, by group, that a decision made since the last call, and that still are."""
    past = past_groups(connection, state.tolerance)
    if past is None or past.seen_row != state.seen_row:
        return {}
    id_of = dict(zip(rows.row.tolist(), rows.doc_id, strict=True))
    made = {number: row for number, row in state.principals.items() if past.principals.get(number, row) != row}
    return {number: id_of[row] for number, row in made.items() if principals.get(number) == row and row in id_of}


def ids_of_missing(connection: Connection, state: GroupState, rows: MemberRows) -> dict[int, str]:
    """Return, by number of the group, the principals whose stored version is no longer in the group."""
    here = set(zip(rows.group.tolist(), rows.row.tolist()))
    missing = {number: row for number, row in state.principals.items() if (number, row) not in here}
    names = dict[int, str]()
    for some in in_slices(list(missing.values())):
        query = select(documents.c.row, documents.c.doc_id).where(documents.c.row.in_(some))
        names |= {found.row: found.doc_id for found in connection.execute(query)}
    return {number: names[row] for number, row in missing.items()}


def gone_principals(names: Mapping[int, str], rows: MemberRows) -> dict[int, str]:
    """Select the principals of which no version is in the group."""
    here = set(zip(rows.group.tolist(), rows.doc_id)) if names else set()
    return {number: doc_id for number, doc_id in names.items() if (number, doc_id) not in here}
