"""What changed between two stored groupings: since the last call of ``nearkin groups``, or since the end of a wave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import AnswerRecord, StoredDocument
from nearkin.collection.stored.documents import current_ids, stored_documents, with_documents
from nearkin.collection.stored.group_state import GroupState, calls_by_load, no_groups_text
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, quoted
from nearkin.nouns import counted, first_of, wave_text
from nearkin.records import I64
from nearkin.store.bulk import in_slices
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import documents, loads, waves
from nearkin.tabular import Tabular

ChangeKind = Literal["new", "joined", "moved", "left", "removed"]
_IN_NONE = -1
_N_NAMED = 10
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
class GroupChange:
    """Changes of one group between two groupings.

    Parameters
    ----------
    number : int
    is_new : bool
        Whether no group had this number then.
    is_dissolved : bool
        Whether no group has this number now.
    n_documents, n_documents_were : int
    principal, principal_was : str or None
        Principal now, and then; None if the group does not exist, or did not exist.
    merged : tuple of int
        Groups of which at least two documents are now in this one; their numbers are gone.
    split_from : tuple of int
        Existing groups from which documents moved to this one.
    new : tuple of str
        Members whose text was stored since: new documents, and new versions.
    joined : tuple of str
        Members that were stored then, and in no group.
    moved : tuple of str
        Members that were in another group, apart from those of ``merged``.
    left : tuple of str
        Former members that are in no group now, or in another one, apart from one that this one was merged into.
    removed : tuple of str
        Former members that were removed from the collection.
    """

    number: int
    is_new: bool
    is_dissolved: bool
    n_documents: int
    n_documents_were: int
    principal: str | None
    principal_was: str | None
    merged: tuple[int, ...]
    split_from: tuple[int, ...]
    new: tuple[str, ...]
    joined: tuple[str, ...]
    moved: tuple[str, ...]
    left: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def has_new_principal(self) -> bool:
        """Whether a group that existed then has another principal."""
        return not self.is_new and not self.is_dissolved and self.principal != self.principal_was


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsSince(Tabular, AnswerRecord):
    """Changes of the groups at one tolerance since the end of a wave.

    Parameters
    ----------
    tolerance : Tolerance
    wave : str
    grouped_then, grouped_now : str
        Times of the two compared groupings: the first one after the wave, and the latest. UTC, ISO 8601.
    n_groups, n_groups_were : int
    changes : tuple of GroupChange
        Changes sorted by the number of the group. A group that was merged into another is listed with that one.
    n_not_grouped : int
        Number of documents added or changed since the latest grouping.
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
    changes: tuple[GroupChange, ...]
    n_not_grouped: int
    n_decisions: int
    documents: pa.Table

    def __repr__(self) -> str:
        return f"GroupsSince({counted(len(self.changes), 'changed group')} since {wave_text(self.wave)})"


def groups_since(collection: OpenedCollection, wave: str, tolerance: Tolerance) -> GroupsSince:
    """Compare the stored groups with those at the end of a wave; see `Collection.groups_since`."""
    if not isinstance(wave, str):
        raise ParameterError.of("since", "the name of a wave", wave)
    with collection.store.reading() as connection:
        now = GroupState.read(connection, str(tolerance))
        then = GroupState.of_call(connection, now.tolerance, _call_of(connection, wave, now, tolerance))
        changes, table = changes_between(connection, then, now)
        return GroupsSince(
            tolerance=tolerance,
            wave=wave,
            grouped_then=then.grouped_at,
            grouped_now=now.grouped_at,
            n_groups=len(now.principals),
            n_groups_were=len(then.principals),
            changes=changes,
            n_not_grouped=n_later_documents(connection, now),
            n_decisions=n_later_decisions(connection, now),
            documents=table,
        )


def known_waves(connection: Connection, tolerance: Tolerance) -> list[str]:
    """Return the waves at whose end the groups at a tolerance are known, in order."""
    calls = _calls_of_waves(connection, str(tolerance))
    return [wave for wave, call in calls.items() if call is not None]


def _call_of(connection: Connection, wave: str, now: GroupState, tolerance: Tolerance) -> int:
    """Return the call that stored the groups at the end of a wave."""
    calls = _calls_of_waves(connection, now.tolerance)
    if wave not in calls:
        raise ParameterError(f"There is no wave {quoted(wave)}. Waves: {first_of([*calls], _N_NAMED, len(calls))}")
    if now.number is None:
        raise ParameterError(no_groups_text(connection, now.tolerance))
    if (call := calls[wave]) is None:
        usable = [repr(name) for name, other in calls.items() if other is not None]
        raise ParameterError(
            f"The groups {tolerance.in_words()} at the end of wave {quoted(wave)} are not known: nearkin groups did "
            "not run after its last documents were added and before the next wave began. Known at the end of: "
            f"{first_of(usable, _N_NAMED, len(usable)) if usable else 'none'}"
        )
    return call


def _calls_of_waves(connection: Connection, tolerance: str) -> dict[str, int | None]:
    """Return the first call after the end of each wave and before the next one; None if there was none.

    A wave ends with its last load before the next wave: what was added to it later does not move its end.
    """
    of_waves = select(waves.c.name, loads.c.load).select_from(waves.join(loads)).order_by(loads.c.load)
    ends, begun = dict[str, tuple[int, int]](), list[str]()
    for wave, load in connection.execute(of_waves):
        if wave not in ends:
            begun.append(wave)
        if wave == begun[-1]:
            ends[wave] = load, load
        else:
            ends[begun[-1]] = ends[begun[-1]][0], load  # a late load of an earlier wave
    calls = calls_by_load(connection, tolerance)
    return {
        wave: next((calls[load] for load in range(end, last + 1) if load in calls), None)
        for wave, (end, last) in ends.items()
    }


@dataclass(frozen=True, slots=True)
class _Member:
    """A document in a group, in one of two groupings."""

    row: int
    group: int


@dataclass(slots=True)
class _ChangedGroup:
    """Documents of a group by the kind of their change, and the groups that they came from."""

    merged: set[int] = field(default_factory=set)
    split_from: set[int] = field(default_factory=set)
    documents: dict[ChangeKind, list[str]] = field(default_factory=lambda: {kind: [] for kind in get_args(ChangeKind)})


def changes_between(
    connection: Connection, then: GroupState, now: GroupState
) -> tuple[tuple[GroupChange, ...], pa.Table]:
    """Compare two groupings at one tolerance.

    Parameters
    ----------
    connection : Connection
    then, now : GroupState

    Returns
    -------
    changes : tuple of GroupChange
        By the number of the group.
    documents : Table
        A row for each document with a change, with `CHANGES_SCHEMA`.
    """
    rows, groups_then, groups_now = _changed_rows(then, now)
    numbers = {*groups_then.tolist(), *groups_now.tolist()}
    numbers |= {number for number, _ in then.principals.items() ^ now.principals.items()}
    rows_then, rows_now = ({n: one.principals[n] for n in numbers if n in one.principals} for one in (then, now))
    known = _documents(connection, {*rows.tolist(), *rows_then.values(), *rows_now.values()})
    before = {known[row].doc_id: _Member(row, group) for row, group in _grouped(rows, groups_then)}
    after = {known[row].doc_id: _Member(row, group) for row, group in _grouped(rows, groups_now)}
    current = current_ids(connection, before.keys() - after.keys())
    kinds = {
        doc_id: _kind(before.get(doc_id), after.get(doc_id), then.seen_row, is_current=doc_id in current)
        for doc_id in sorted(before.keys() | after.keys())
    }
    principals_then = {number: known[row].doc_id for number, row in rows_then.items()}
    principals_now = {number: known[row].doc_id for number, row in rows_now.items()}
    listed = _listed(before, after, kinds, now.principals.keys())
    for number, _ in principals_then.items() ^ principals_now.items():
        listed.setdefault(number, _ChangedGroup())
    absorbed = {number for one in listed.values() for number in one.merged}
    sizes_were, sizes = Counter(then.row_groups.tolist()), Counter(now.row_groups.tolist())
    changes = tuple(
        GroupChange(
            number=number,
            is_new=number not in then.principals,
            is_dissolved=number not in now.principals,
            n_documents=sizes[number],
            n_documents_were=sizes_were[number],
            principal=principals_now.get(number),
            principal_was=principals_then.get(number),
            merged=tuple(sorted(one.merged)),
            split_from=tuple(sorted(one.split_from)),
            new=tuple(one.documents["new"]),
            joined=tuple(one.documents["joined"]),
            moved=tuple(one.documents["moved"]),
            left=tuple(one.documents["left"]),
            removed=tuple(one.documents["removed"]),
        )
        for number, one in sorted(listed.items())
        if any(one.documents.values()) or number not in absorbed
    )
    return changes, _table(before, after, kinds, known, principals_then, principals_now)


def _changed_rows(then: GroupState, now: GroupState) -> tuple[I64, I64, I64]:
    """Return the rows whose group differs, with the group of each then and now; -1: in none."""
    rows = np.union1d(then.rows, now.rows)
    groups = []
    for state in (then, now):
        of_rows = np.full(len(rows), _IN_NONE)
        of_rows[np.searchsorted(rows, state.rows)] = state.row_groups
        groups.append(of_rows)
    is_other = groups[0] != groups[1]
    return rows[is_other], groups[0][is_other], groups[1][is_other]


def _grouped(rows: I64, groups: I64) -> Iterator[tuple[int, int]]:
    is_in = groups != _IN_NONE
    return zip(rows[is_in].tolist(), groups[is_in].tolist(), strict=True)


def _documents(connection: Connection, rows: Iterable[int]) -> dict[int, StoredDocument]:
    wanted, found = sorted(rows), dict[int, StoredDocument]()
    for some in in_slices(wanted):
        stored = connection.execute(with_documents().where(documents.c.row.in_(some))).all()
        found |= zip([one.row for one in stored], stored_documents(stored), strict=True)
    if len(found) < len(wanted):
        raise damaged_collection("rows of documents in groups are missing")
    return found


def _kind(was: _Member | None, now: _Member | None, seen_row: int, *, is_current: bool) -> ChangeKind:
    if now is None:
        return "left" if is_current else "removed"
    if now.row >= seen_row and (was is None or was.row != now.row):
        return "new"
    return "joined" if was is None else "moved"


def _listed(
    before: Mapping[str, _Member], after: Mapping[str, _Member], kinds: Mapping[str, ChangeKind], present: Iterable[int]
) -> dict[int, _ChangedGroup]:
    """Return the changes of each group by its number; ``present`` are the groups that exist now."""
    listed, existing = dict[int, _ChangedGroup](), set(present)
    together = Counter((before[doc_id].group, after[doc_id].group) for doc_id in before.keys() & after.keys())
    merged = {pair for pair, n in together.items() if n > 1 and pair[0] not in existing}
    for gone, number in merged:
        listed.setdefault(number, _ChangedGroup()).merged.add(gone)
    for doc_id, kind in kinds.items():
        was, now = before.get(doc_id), after.get(doc_id)
        is_merged = was is not None and now is not None and (was.group, now.group) in merged
        if now is not None and not (kind == "moved" and is_merged):
            listed.setdefault(now.group, _ChangedGroup()).documents[kind].append(doc_id)
        if was is not None and now is None:
            listed.setdefault(was.group, _ChangedGroup()).documents[kind].append(doc_id)
        elif was is not None and now is not None and was.group != now.group and not is_merged:
            listed.setdefault(was.group, _ChangedGroup()).documents["left"].append(doc_id)
            if kind == "moved" and was.group in existing:
                listed[now.group].split_from.add(was.group)
    return listed


def _table(
    before: Mapping[str, _Member],
    after: Mapping[str, _Member],
    kinds: Mapping[str, ChangeKind],
    known: Mapping[int, StoredDocument],
    principals_then: Mapping[int, str],
    principals_now: Mapping[int, str],
) -> pa.Table:
    rows = list[dict[str, object]]()
    for doc_id, kind in kinds.items():
        was, now = before.get(doc_id), after.get(doc_id)
        member = now or was
        if member is not None:
            rows.append(
                {
                    "group": None if now is None else now.group,
                    "group_was": None if was is None else was.group,
                    "doc_id": doc_id,
                    "version": known[member.row].version,
                    "wave": known[member.row].wave,
                    "change": kind,
                    "is_principal": now is not None and principals_now.get(now.group) == doc_id,
                    "was_principal": was is not None and principals_then.get(was.group) == doc_id,
                }
            )
    rows.sort(key=lambda row: (row["group"] or row["group_was"], row["doc_id"]))
    return pa.Table.from_pylist(rows, CHANGES_SCHEMA)
