"""Decisions and stored groups: principals, and what stored groups do not follow yet.

The principal of a group is the member that a person chose last, otherwise the stored one: that of the call before, as
long as it is a member, or else the member with the most letters and digits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from nearkin.collection.decisions import log
from nearkin.collection.stored.documents import current_rows, document_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.records import I64
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.schema import activity, changes, contents, documents

N_LETTERS = contents.c.n_letters + contents.c.n_other_letters
"""Length of a text in letters and digits, without white space, by which principals are proposed."""


def chosen_principals(connection: Connection, until: int | None = None) -> dict[str, int]:
    """Return the documents chosen up to an activity; of two in one group, that with the higher number leads it."""
    is_made = changes.c.is_current if until is None else changes.c.activity <= until
    made = select(changes.c.subject, changes.c.now).where(changes.c.kind == log.PRINCIPAL, is_made)
    values = dict(connection.execute(made.order_by(changes.c.activity, changes.c.number)).all())
    return {doc_id: int(value) for doc_id, value in values.items() if value is not None}


def places_of_chosen(doc_ids: Sequence[str], groups_of_ids: I64, chosen: Mapping[str, int]) -> dict[int, int]:
    """Return, by group, the position of the member that was chosen last.

    Examples
    --------
    >>> import numpy as np
    >>> places_of_chosen(["a", "b", "c"], np.array([7, 7, 9]), {"a": 1, "b": 4})
    {7: 1}
    """
    places = dict[int, int]()
    for place, (doc_id, group) in enumerate(zip(doc_ids, groups_of_ids.tolist(), strict=True)) if chosen else ():
        if doc_id in chosen and (group not in places or chosen[doc_id] > chosen[doc_ids[places[group]]]):
            places[group] = place
    return places


def principals_at(connection: Connection, state: GroupState, until: int | None) -> dict[int, int]:
    """Return the rows of the principals of a grouping by group, with the choices up to an activity."""
    chosen, principals = chosen_principals(connection, until), dict(state.principals)
    versions = document_rows(connection, documents.c.doc_id, chosen)
    group_of = dict(zip(state.rows.tolist(), state.row_groups.tolist(), strict=True)) if versions else {}
    for version in sorted(versions, key=lambda version: (chosen[version.doc_id], version.row)):
        if version.row in group_of:
            principals[group_of[version.row]] = version.row
    return principals


class ShownPrincipal(NamedTuple):
    """A current document that represents a stored group."""

    row: int
    content: int
    doc_id: str


def shown_principals(connection: Connection, state: GroupState, numbers: Collection[int]) -> dict[int, ShownPrincipal]:
    """Return the principals of some stored groups; groups without a current document are omitted.

    Without a choice, and if the stored principal is gone, it is its current version in the group, or else the member
    with the most letters and digits, the earliest of several. The view ``group_of_documents`` of ``plain_sql.sql`` has
    the same rule.
    """
    stored = {number: state.principals[number] for number in numbers if number in state.principals}
    chosen, shown, former_ids = chosen_principals(connection), dict[int, ShownPrincipal](), dict[int, str]()
    current = current_rows(connection, documents.c.doc_id, chosen)
    groups = state.membership.group_of(np.array([member.content for member in current], np.int64)).tolist()
    for member, number in sorted(zip(current, groups, strict=True), key=lambda pair: chosen[pair[0].doc_id]):
        if number in stored:
            shown[number] = ShownPrincipal(member.row, member.content, member.doc_id)
    led = {row: number for number, row in stored.items() if number not in shown}
    for member in document_rows(connection, documents.c.row, led):
        if member.is_current:
            shown[led[member.row]] = ShownPrincipal(member.row, member.content, member.doc_id)
        else:
            former_ids[led[member.row]] = member.doc_id
    return shown | _standing_in(connection, state, former_ids)


def _standing_in(connection: Connection, state: GroupState, gone: Mapping[int, str]) -> dict[int, ShownPrincipal]:
    """Return the members that represent groups whose principals, with these ids, are gone."""
    if not gone:
        return {}
    group_of = state.membership.in_groups(gone).by_content()
    n_letters = dict[int, int]()
    for block in in_slices(list(group_of)):
        lengths = select(contents.c.content, N_LETTERS).where(contents.c.content.in_(block))
        n_letters |= dict(connection.execute(lengths).all())
    ranked = list[tuple[int, tuple[bool, int, int], ShownPrincipal]]()
    for candidate in current_rows(connection, documents.c.content, group_of):
        number = group_of[candidate.content]
        rank = candidate.doc_id == gone[number], n_letters.get(candidate.content, 0), -candidate.row
        ranked.append((number, rank, ShownPrincipal(candidate.row, candidate.content, candidate.doc_id)))
    return {number: candidate for number, _, candidate in sorted(ranked)}  # the last one is the best


def n_later_documents(connection: Connection, state: GroupState) -> int:
    """Return the number of current documents that were added or changed since the groups were updated."""
    is_new = schema.documents.c.is_current & (schema.documents.c.row >= state.seen_row)
    return int(connection.execute(select(func.count()).where(is_new)).scalar_one())


def n_later_decisions(connection: Connection, state: GroupState) -> int:
    """Return the number of activities that made or undid decisions which stored groups do not follow yet."""
    if state.number is None:
        return 0
    table = changes.c
    later = select(activity.c.number).where(activity.c.kind.in_(log.OF_PAIRS), activity.c.number > state.last_activity)
    is_one = table.activity.in_(later) & table.kind.in_((log.NEVER_GROUP, log.SAME_GROUP))
    return int(connection.execute(select(func.count(table.activity.distinct())).where(is_one)).scalar_one())


_OF_TEXTS = (log.NEVER_GROUP, log.SAME_GROUP, log.PRINCIPAL, log.NOTE)


def overtaken_decisions(connection: Connection, doc_ids: Sequence[str]) -> dict[str, tuple[log.SettingChange, ...]]:
    """Return the current tags and decisions on documents that were made for an earlier text of the document."""
    overtaken = dict[str, list[log.SettingChange]]()
    for block in in_slices(list(doc_ids)):
        replaced_at = _replaced_at(connection, block)
        for doc_id, setting, decided_at in _made(connection, list(replaced_at)):
            if decided_at <= replaced_at[doc_id]:
                overtaken.setdefault(doc_id, []).append(setting)
    return {doc_id: tuple(settings) for doc_id, settings in overtaken.items()}


def _replaced_at(connection: Connection, doc_ids: Sequence[str]) -> dict[str, str]:
    """Return when the current text was stored, for documents that had another text before."""
    loads = schema.loads.c
    before, loaded = dict[str, int](), dict[str, int]()
    for version in document_rows(connection, schema.documents.c.doc_id, doc_ids):
        if version.is_current and before.get(version.doc_id, version.content) != version.content:
            loaded[version.doc_id] = version.load
        before[version.doc_id] = version.content
    query = select(loads.load, loads.added_at).where(loads.load.in_(set(loaded.values())))
    added_at = dict(connection.execute(query).all())
    return {doc_id: added_at[load] for doc_id, load in loaded.items() if load in added_at}


def _made(connection: Connection, doc_ids: Sequence[str]) -> Iterator[tuple[str, log.SettingChange, str]]:
    """Yield documents with their current tags and decisions, and when these were made."""
    table, wanted = changes.c, set(doc_ids)
    columns = table.kind, table.subject, table.other, table.now, activity.c.done_at
    is_on_them = table.subject.in_(doc_ids) | table.other.in_(doc_ids)
    made = select(*columns).join(activity, activity.c.number == table.activity)
    made = made.where(table.is_current, table.kind.in_((log.TAG, *_OF_TEXTS)), is_on_them)
    rows = list(connection.execute(made.order_by(table.activity, table.number)))
    for kind, subject, other, value, at in sorted(rows, key=_tags_by_field):
        ids = (subject,) if kind == log.TAG else (subject, other)
        setting = log.SettingChange(kind, subject, other, None, value)
        yield from ((doc_id, setting, at) for doc_id in ids if doc_id in wanted)


def _tags_by_field(row: Any) -> tuple[bool, str]:
    """Return a key that puts tags first, by field, and leaves decisions as they are."""
    return (False, row.other) if row.kind == log.TAG else (True, "")
