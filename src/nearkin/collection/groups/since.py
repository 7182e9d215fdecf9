"""Changes of the stored groups since the end of a wave; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.later import n_later_decisions
from nearkin.collection.groups.known_waves import N_NAMED, loads_of_waves, no_groups_since_text, not_known_text
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument
from nearkin.collection.stored.documents import (
    current_ids,
    current_rows,
    document_rows,
    stored_documents,
    with_documents,
)
from nearkin.collection.stored.group_state import GroupState, PastGroups, grouped_loads, past_groups
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, quoted
from nearkin.nouns import counted, first_of, wave_text
from nearkin.store.bulk import in_slices
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import documents
from nearkin.tabular import Tabular

ChangeKind = Literal["new", "joined", "new version", "moved", "left", "removed", "principal"]
CHANGES_SCHEMA = pa.schema(
    [
        pa.field("group", pa.int64()),  # null: in none now
        pa.field("group_was", pa.int64()),  # null: in none then
        pa.field("doc_id", pa.large_string(), nullable=False),
        pa.field("version", pa.int32(), nullable=False),
        pa.field("wave", pa.large_string(), nullable=False),
        pa.field("change", pa.large_string(), nullable=False),
        pa.field("is_principal", pa.bool_(), nullable=False),
        pa.field("was_principal", pa.bool_(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChangeSince:
    """Changes of one group since the end of a wave.

    Parameters
    ----------
    number : int
    is_new : bool
        Whether no group had this number at the end of the wave.
    is_dissolved : bool
        Whether the group no longer exists. Its members that are not listed here are in another group.
    n_documents, n_documents_were : int
    new_documents : tuple of str
        Documents that were stored or got another text after that wave, and were not in this group before.
    joined_documents : tuple of str
        Documents that were stored before but in no group, and are in this group now.
    new_versions : tuple of str
        Members with a newer version: another text, or the same one if they were removed and added again.
    left_documents : tuple of str
        Former members that are in no group now.
    removed_documents : tuple of str
        Former members that were removed from the collection.
    merged : tuple of int
        Groups of which at least two members are now in this one; their numbers are gone.
    split_from : tuple of int
        Existing groups to which members of this group belonged.
    principal, principal_was : str or None
        Principal now, and at the end of the wave; None if the group does not exist, or did not exist.
    known_documents : tuple of str
        Those of the new documents that were stored with another text at the end of the wave, and not removed since.
    changed_documents : tuple of str
        Those of the left documents whose text has changed since then.
    moved_documents : tuple of str
        Members that were in one of the groups of ``split_from``, or alone came from a group that no longer exists.
    moved_away : tuple of str
        Former members that are in another group now, except those that came there with others of a merged group.
    """

    number: int
    is_new: bool
    is_dissolved: bool
    n_documents: int
    n_documents_were: int
    new_documents: tuple[str, ...]
    joined_documents: tuple[str, ...]
    new_versions: tuple[str, ...]
    left_documents: tuple[str, ...]
    removed_documents: tuple[str, ...]
    merged: tuple[int, ...]
    split_from: tuple[int, ...]
    principal: str | None
    principal_was: str | None
    known_documents: tuple[str, ...] = ()
    changed_documents: tuple[str, ...] = ()
    moved_documents: tuple[str, ...] = ()
    moved_away: tuple[str, ...] = ()

    @property
    def has_new_principal(self) -> bool:
        """Whether a group that existed then has another principal."""
        return not self.is_new and not self.is_dissolved and self.principal != self.principal_was


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsSince(Tabular):
    """Changes of the groups at one tolerance since the end of a wave.

    Parameters
    ----------
    tolerance : Tolerance
    wave : str
    grouped_then, grouped_now : str
        Times of the two compared groupings: the first one after the wave, and the latest. UTC, ISO 8601.
    n_later_loads : int
        Number of loads of this wave after the earlier grouping; their documents are listed as changes.
    n_groups, n_groups_were : int
    changes : tuple of GroupChangeSince
        Changes sorted by the number of the group. A group that was merged into another is listed with that one.
    n_not_grouped : int
        Number of documents added or changed since the latest grouping; they are not in any compared group.
    n_new_versions : int
        Number of these that have an earlier version which the latest grouping knew.
    n_gone : int
        Number of members that were removed or got another text since the latest grouping.
    n_removed : int
        Number of these that are not stored now.
    n_decisions : int
        Number of decisions on groups since the latest grouping.
    documents : Table
        One row per document with a change, sorted by group.
    """

    tables: ClassVar[tuple[str, ...]] = ("documents",)

    tolerance: Tolerance
    wave: str
    grouped_then: str
    grouped_now: str
    n_groups: int
    n_groups_were: int
    n_later_loads: int
    changes: tuple[GroupChangeSince, ...]
    n_not_grouped: int
    n_new_versions: int
    n_gone: int
    n_removed: int
    n_decisions: int
    documents: pa.Table

    def __repr__(self) -> str:
        return f"GroupsSince({counted(len(self.changes), 'changed group')} since {wave_text(self.wave)})"

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON types, without the documents."""
        names = ("wave", "grouped_then", "grouped_now", "n_groups", "n_groups_were", "n_later_loads")
        left = ("n_not_grouped", "n_new_versions", "n_gone", "n_removed", "n_decisions")
        return {
            **self.tolerance.to_dict(),
            **{name: getattr(self, name) for name in (*names, *left)},
            "changes": [asdict(one) for one in self.changes],
        }


@dataclass(frozen=True, slots=True)
class _Member:
    """A document in a group, at one of the two times."""

    row: int
    group: int


@dataclass(frozen=True, slots=True)
class _GroupsOf:
    """Groups at one time, by the ids of documents."""

    members: dict[str, _Member]
    principals: dict[int, str]

    @property
    def sizes(self) -> dict[int, int]:
        """Number of documents of each group."""
        numbers, n = np.unique([one.group for one in self.members.values()], return_counts=True)
        return dict(zip(numbers.tolist(), n.tolist(), strict=True))


def groups_since(collection: OpenedCollection, wave: str, tolerance: Tolerance) -> GroupsSince:
    """Compare the stored groups with those at the end of a wave; see `Collection.groups_since`."""
    if not isinstance(wave, str):
        raise ParameterError.of("since", "the name of a wave", wave)
    with collection.store.reading() as connection:
        then, now, n_later_loads = _both(connection, wave, tolerance)
        known = _documents(connection, np.union1d(then.rows, now.rows).tolist() + list(now.principals.values()))
        before, after = _by_id(then, known), _by_id(now, known)
        kinds = dict(_kinds(before, after, current_ids(connection, before.members.keys()), then.seen_row))
        gone = {known[row].doc_id for row in now.rows.tolist() if not known[row].is_current}
        again = [one for one, kind in kinds.items() if kind == "new" and known[after.members[one].row].version > 1]
        stored_then = _stored_before(connection, again, then.seen_row)
        changed = _left_with_other_texts(connection, before, kinds, known, now.seen_row)
        return GroupsSince(
            tolerance=tolerance,
            wave=wave,
            grouped_then=then.grouped_at,
            grouped_now=now.grouped_at,
            n_groups=len(after.principals),
            n_groups_were=len(before.principals),
            n_later_loads=n_later_loads,
            changes=tuple(_changes(before, after, kinds, stored_then, changed.keys())),
            n_not_grouped=_n_not_grouped(connection, now.seen_row),
            n_new_versions=_n_new_versions(connection, now.seen_row),
            n_gone=len(gone),
            n_removed=len(gone - current_ids(connection, gone)),
            n_decisions=_n_decisions(connection, tolerance),
            documents=_table(before, after, kinds, known, changed),
        )


def _both(connection: Connection, wave: str, tolerance: Tolerance) -> tuple[PastGroups, PastGroups, int]:
    """Return the groups after the wave, the latest with their current principals, and the number of later loads."""
    of_waves = loads_of_waves(connection)
    if wave not in of_waves:
        raise ParameterError(f"There is no wave {quoted(wave)}. Waves: {first_of([*of_waves], N_NAMED, len(of_waves))}")
    name = str(tolerance)
    state, now = GroupState.read(connection, name), past_groups(connection, name)
    if state.number is None:
        raise ParameterError(no_groups_since_text(connection, wave, of_waves, tolerance))
    if now is None:
        raise ParameterError(
            f"The groups {tolerance.in_words()} have no history. To begin it: nearkin groups COLLECTION"
            f"{tolerance.of_groups()}"
        )
    grouped = grouped_loads(connection, name)
    load = of_waves[wave].grouped(grouped)
    then = past_groups(connection, name, load) if load is not None else None
    if load is None or then is None:
        raise ParameterError(not_known_text(connection, wave, of_waves, grouped, tolerance))
    latest = PastGroups(
        number=now.number,
        grouped_at=now.grouped_at,
        last_load=now.last_load,
        seen_row=now.seen_row,
        rows=now.rows,
        groups=now.groups,
        principals=state.principals,
    )
    return then, latest, sum(one > load for one in of_waves[wave].loads)


def _documents(connection: Connection, rows: list[int]) -> dict[int, StoredDocument]:
    found = dict[int, StoredDocument]()
    for some in in_slices(sorted(set(rows))):
        stored = connection.execute(with_documents().where(documents.c.row.in_(some))).all()
        found |= zip([one.row for one in stored], stored_documents(stored), strict=True)
    if len(found) < len(set(rows)):
        raise damaged_collection("rows of documents in groups are missing")
    return found


def _by_id(groups: PastGroups, known: Mapping[int, StoredDocument]) -> _GroupsOf:
    members = zip(groups.rows.tolist(), groups.groups.tolist(), strict=True)
    return _GroupsOf(
        {known[row].doc_id: _Member(row, group) for row, group in members},
        {number: known[row].doc_id for number, row in groups.principals.items()},
    )


def _kinds(before: _GroupsOf, after: _GroupsOf, current: set[str], seen_row: int) -> Iterator[tuple[str, ChangeKind]]:
    """Yield the documents with a change, and the kind of the change."""
    for doc_id in before.members.keys() | after.members.keys():
        was, now = before.members.get(doc_id), after.members.get(doc_id)
        if now is None:
            yield doc_id, "left" if doc_id in current else "removed"
        elif was is None:
            yield doc_id, "new" if now.row >= seen_row else "joined"
        elif was.group != now.group:
            yield doc_id, "moved"
        elif was.row != now.row:
            yield doc_id, "new version"
        elif (before.principals.get(was.group) == doc_id) != (after.principals.get(now.group) == doc_id):
            yield doc_id, "principal"


def _stored_before(connection: Connection, doc_ids: Iterable[str], seen_row: int) -> set[str]:
    """Return those of the documents whose last version before a row was not removed."""
    is_removed = {
        one.doc_id: one.removed_at is not None  # of several versions the last one
        for one in document_rows(connection, documents.c.doc_id, doc_ids)
        if one.row < seen_row
    }
    return {doc_id for doc_id, was in is_removed.items() if not was}


def _left_with_other_texts(
    connection: Connection,
    before: _GroupsOf,
    kinds: Mapping[str, ChangeKind],
    known: Mapping[int, StoredDocument],
    seen_row: int,
) -> dict[str, StoredDocument]:
    """Return the current versions of the documents that left a group, of those whose text changed, by their ids."""
    left = [doc_id for doc_id, kind in kinds.items() if kind == "left"]
    rows = [
        one.row
        for one in current_rows(connection, documents.c.doc_id, left)
        if one.row < seen_row and one.content != known[before.members[one.doc_id].row].content
    ]
    return {one.doc_id: one for one in _documents(connection, rows).values()}


def _changes(
    before: _GroupsOf, after: _GroupsOf, kinds: Mapping[str, ChangeKind], stored_then: Set[str], changed: Set[str]
) -> Iterator[GroupChangeSince]:
    """Yield the changed groups by number.

    Of their new documents, ``stored_then`` were stored with another text; of the documents that left them, ``changed``
    have another text now.
    """
    listed = dict[int, dict[str, list[str]]]()
    moved, together = dict[int, set[int]](), Counter[tuple[int, int]]()
    came, went = dict[int, list[str]](), dict[int, list[str]]()
    for doc_id, kind in kinds.items():
        if kind == "moved":
            together[before.members[doc_id].group, after.members[doc_id].group] += 1
    for doc_id, kind in sorted(kinds.items()):
        was, now = before.members.get(doc_id), after.members.get(doc_id)
        number = now.group if now is not None else was.group if was is not None else 0
        if kind == "moved" and was is not None and now is not None:
            listed.setdefault(was.group, {})
            is_gone, is_alone = was.group not in after.principals, together[was.group, number] < 2
            if is_gone and is_alone and was.row != now.row:  # only its new text is here
                kind, stored_then = "new", stored_then | {doc_id}
            elif not (is_gone and is_alone):  # a document alone is no group that was merged
                moved.setdefault(number, set()).add(was.group)
            if kind == "moved" and (is_alone or not is_gone):
                came.setdefault(number, []).append(doc_id)
                went.setdefault(was.group, []).append(doc_id)
        listed.setdefault(number, {}).setdefault(kind, []).append(doc_id)
    sizes, sizes_were = after.sizes, before.sizes
    elsewhere = {was for sources in moved.values() for was in sources} - after.principals.keys()
    for number in sorted(listed):
        of_kinds, sources = listed[number], moved.get(number, set())
        if number in elsewhere and not of_kinds:
            continue
        yield GroupChangeSince(
            number=number,
            is_new=number not in before.principals,
            is_dissolved=number not in after.principals,
            n_documents=sizes.get(number, 0),
            n_documents_were=sizes_were.get(number, 0),
            new_documents=tuple(of_kinds.get("new", ())),
            joined_documents=tuple(of_kinds.get("joined", ())),
            new_versions=tuple(of_kinds.get("new version", ())),
            left_documents=tuple(of_kinds.get("left", ())),
            removed_documents=tuple(of_kinds.get("removed", ())),
            merged=tuple(sorted(sources - after.principals.keys())),
            split_from=tuple(sorted(sources & after.principals.keys())),
            principal=after.principals.get(number),
            principal_was=before.principals.get(number),
            known_documents=tuple(one for one in of_kinds.get("new", ()) if one in stored_then),
            changed_documents=tuple(one for one in of_kinds.get("left", ()) if one in changed),
            moved_documents=tuple(came.get(number, ())),
            moved_away=tuple(went.get(number, ())),
        )


def _n_not_grouped(connection: Connection, seen_row: int) -> int:
    is_new = (documents.c.row >= seen_row) & documents.c.is_current
    return int(connection.execute(select(func.count()).select_from(documents).where(is_new)).scalar_one())


def _n_new_versions(connection: Connection, seen_row: int) -> int:
    former = documents.alias("former")
    is_former = (former.c.doc_id == documents.c.doc_id) & (former.c.row < seen_row) & former.c.removed_at.is_(None)
    is_new = (documents.c.row >= seen_row) & documents.c.is_current
    query = select(func.count()).select_from(documents).where(is_new, select(former.c.row).where(is_former).exists())
    return int(connection.execute(query).scalar_one())


def _n_decisions(connection: Connection, tolerance: Tolerance) -> int:
    return n_later_decisions(connection, str(tolerance))


def _table(
    before: _GroupsOf,
    after: _GroupsOf,
    kinds: Mapping[str, ChangeKind],
    known: Mapping[int, StoredDocument],
    changed: Mapping[str, StoredDocument],
) -> pa.Table:
    rows = list[dict[str, object]]()
    for doc_id, kind in kinds.items():
        was, now = before.members.get(doc_id), after.members.get(doc_id)
        one = now or was
        if one is None:
            continue
        shown = changed.get(doc_id, known[one.row])
        rows.append(
            {
                "group": None if now is None else now.group,
                "group_was": None if was is None else was.group,
                "doc_id": doc_id,
                "version": shown.version,
                "wave": shown.wave,
                "change": kind,
                "is_principal": now is not None and after.principals.get(now.group) == doc_id,
                "was_principal": was is not None and before.principals.get(was.group) == doc_id,
            }
        )
    rows.sort(key=lambda row: (row["group"] or row["group_was"], row["doc_id"]))
    return pa.Table.from_pylist(rows, CHANGES_SCHEMA)
