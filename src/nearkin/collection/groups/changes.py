"""What changed between two stored groupings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from sqlalchemy import Connection, select

from nearkin.collection.decisions.principals import n_later_decisions, n_later_documents, principals_at
from nearkin.collection.opened import OpenedCollection
from nearkin.collection.results import StoredDocument, columns
from nearkin.collection.stored.documents import current_ids, documents_by_row
from nearkin.collection.stored.group_state import GroupState, calls_by_load, no_groups_text
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError, quoted
from nearkin.nouns import counted, first_of, wave_text
from nearkin.records import I64
from nearkin.store.damage import damaged_collection
from nearkin.store.schema import documents, loads, waves
from nearkin.tabular import AnswerRecord, Tabular

ChangeKind = Literal["new", "joined", "moved", "left", "removed"]
_IN_NONE = -1
_N_NAMED = 10
CHANGES_SCHEMA = pa.schema(
    [
        *columns("group group_was"),  # null: in none
        *columns("doc_id version wave change is_principal was_principal", nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """Changes of one group between two groupings.

    Parameters
    ----------
    is_new, is_dissolved
        Whether no group had this number then, or has it now.
    principal, principal_was
        Principal now, and then; None without a group.
    merged
        Groups of which at least two documents are now in this one; their numbers are gone.
    split_from
        Existing groups from which documents moved to this one.
    new
        Members whose text was stored since: new documents, and new versions.
    joined
        Members that were stored then, and in no group.
    moved
        Members that were in another group, apart from those of ``merged``.
    left
        Former members that are in no group now, or in one that this one was not merged into.
    removed
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
    grouped_then, grouped_now
        Times of the compared groupings: the first one after the wave, and the latest. UTC, ISO 8601.
    changes
        By the number of the group; a group that was merged into another is listed with that one.
    n_not_grouped, n_decisions
        Number of documents added or changed, and of decisions on groups, since the latest grouping.
    documents : Table
        One row per document with a change, sorted by group.
    """

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
    if not tolerance.has_groups:
        raise ParameterError.of("measure", "'jaccard' or 'letters'", tolerance.measure)
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
    """Return the first call after the end of each wave and before the next one; None if there was none."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChangedDocument:
    """Changed document and its groups then and now; None: in none."""

    document: StoredDocument
    was: int | None
    now: int | None
    change: ChangeKind


def changes_between(
    connection: Connection, then: GroupState, now: GroupState
) -> tuple[tuple[GroupChange, ...], pa.Table]:
    """Compare two groupings at one tolerance; the table has `CHANGES_SCHEMA`."""
    rows, groups_then, groups_now = _changed_rows(then, now)
    lead_then, lead_now = principals_at(connection, then, then.last_activity), principals_at(connection, now, None)
    led = {number for number, _ in lead_then.items() ^ lead_now.items()}
    numbers = {*groups_then.tolist(), *groups_now.tolist(), *led}
    rows_then, rows_now = ({n: record[n] for n in numbers if n in record} for record in (lead_then, lead_now))
    known = _documents(connection, {*rows.tolist(), *rows_then.values(), *rows_now.values()})
    principals_then = {number: known[row].doc_id for number, row in rows_then.items()}
    principals_now = {number: known[row].doc_id for number, row in rows_now.items()}
    before, after = (
        {known[row].doc_id: (row, group) for row, group in zip(rows.tolist(), groups.tolist()) if group != _IN_NONE}
        for groups in (groups_then, groups_now)
    )
    current = current_ids(connection, before.keys() - after.keys())
    changed = [
        _ChangedDocument(
            document=known[(after.get(doc_id) or before[doc_id])[0]],
            was=before[doc_id][1] if doc_id in before else None,
            now=after[doc_id][1] if doc_id in after else None,
            change=_kind(before.get(doc_id), after.get(doc_id), then.seen_row, is_current=doc_id in current),
        )
        for doc_id in sorted(before.keys() | after.keys())
    ]
    together = Counter(
        (record.was, record.now) for record in changed if record.was is not None and record.now is not None
    )
    merged = {pair for pair, n in together.items() if n > 1 and pair[0] not in now.principals}
    listed, split = _listed(changed, merged, now.principals)
    merged_into, split_from = _by_target(merged), _by_target(split)
    with_changes = {number for number, _ in listed}
    absorbed = {gone for gone, _ in merged}
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
            merged=tuple(merged_into.get(number, ())),
            split_from=tuple(split_from.get(number, ())),
            **{kind: tuple(listed.get((number, kind), ())) for kind in get_args(ChangeKind)},
        )
        for number in sorted(with_changes | merged_into.keys() | led)
        if number in with_changes or number not in absorbed
    )
    return changes, _table(changed, principals_then, principals_now)


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


def _documents(connection: Connection, rows: Collection[int]) -> dict[int, StoredDocument]:
    by_row = documents_by_row(connection, documents.c.row, sorted(rows))
    if len(by_row) < len(rows):
        raise damaged_collection("rows of documents in groups are missing")
    return by_row


def _kind(was: tuple[int, int] | None, now: tuple[int, int] | None, seen_row: int, *, is_current: bool) -> ChangeKind:
    if now is None:
        return "left" if is_current else "removed"
    if now[0] >= seen_row and (was is None or was[0] != now[0]):
        return "new"
    return "joined" if was is None else "moved"


def _listed(
    changed: Sequence[_ChangedDocument], merged: Collection[tuple[int, int]], present: Container[int]
) -> tuple[dict[tuple[int, ChangeKind], list[str]], set[tuple[int, int]]]:
    """Return the documents by group and change, and pairs of a group that exists and one that took from it."""
    listed, split = dict[tuple[int, ChangeKind], list[str]](), set[tuple[int, int]]()
    for entry in changed:
        is_merged, doc_id = (entry.was, entry.now) in merged, entry.document.doc_id
        if entry.now is not None and not (entry.change == "moved" and is_merged):
            listed.setdefault((entry.now, entry.change), []).append(doc_id)
        if entry.was is not None and entry.now is None:
            listed.setdefault((entry.was, entry.change), []).append(doc_id)
        elif entry.was is not None and entry.now is not None and entry.was != entry.now and not is_merged:
            listed.setdefault((entry.was, "left"), []).append(doc_id)
            if entry.change == "moved" and entry.was in present:
                split.add((entry.was, entry.now))
    return listed, split


def _by_target(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    sources = dict[int, list[int]]()
    for source, target in sorted(pairs):
        sources.setdefault(target, []).append(source)
    return sources


def _table(
    changed: Sequence[_ChangedDocument], principals_then: Mapping[int, str], principals_now: Mapping[int, str]
) -> pa.Table:
    rows = [
        {
            "group": entry.now,
            "group_was": entry.was,
            "doc_id": entry.document.doc_id,
            "version": entry.document.version,
            "wave": entry.document.wave,
            "change": entry.change,
            "is_principal": entry.now is not None and principals_now.get(entry.now) == entry.document.doc_id,
            "was_principal": entry.was is not None and principals_then.get(entry.was) == entry.document.doc_id,
        }
        for entry in sorted(changed, key=lambda entry: (entry.now or entry.was or 0, entry.document.doc_id))
    ]
    return pa.Table.from_pylist(rows, CHANGES_SCHEMA)
