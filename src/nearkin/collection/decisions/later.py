"""What stored groups do not follow yet, and decisions on documents whose text has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from nearkin.collection.decisions.log import (
    NEVER_GROUP,
    NOTE,
    PRINCIPAL,
    SAME_GROUP,
    TAG,
    SettingChange,
    current_decisions,
    current_tags,
)
from nearkin.collection.stored.documents import document_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.schema import activity

_OF_GROUPS = (NEVER_GROUP, SAME_GROUP)


def n_later_documents(connection: Connection, state: GroupState) -> int:
    """Return the number of current documents that were added or changed since the groups were updated."""
    is_new = schema.documents.c.is_current & (schema.documents.c.row >= state.seen_row)
    return int(connection.execute(select(func.count()).where(is_new)).scalar_one())


def n_later_decisions(connection: Connection, state: GroupState) -> int:
    """Return the number of activities that made or undid decisions which stored groups do not follow yet.

    Only activities are read: there may be millions of changes. An undo is about what the undone activity was about.
    """
    if state.number is None:
        return 0
    of_groups = activity.c.kind.in_(_OF_GROUPS) | activity.c.undoes.is_not(None)
    is_later = activity.c.number > state.last_activity
    known = _kinds(connection, is_later & of_groups)
    later = list(known)
    while undone := {one.undoes for one in known.values() if one.undoes is not None} - known.keys():
        for some in in_slices(sorted(undone)):
            known |= _kinds(connection, activity.c.number.in_(some))
    return sum(_kind_at_the_end(known, number) in _OF_GROUPS for number in later)


@dataclass(frozen=True, slots=True)
class _ActivityKind:
    """Kind of an activity, and the number of the one that it undid, if it did."""

    kind: str
    undoes: int | None


def _kinds(connection: Connection, condition: ColumnElement[bool]) -> dict[int, _ActivityKind]:
    rows = connection.execute(select(activity).where(condition))
    return {number: _ActivityKind(kind, undoes) for number, _, _, kind, _, undoes in rows}


def _kind_at_the_end(known: Mapping[int, _ActivityKind], number: int) -> str:
    """Return the kind of an activity; of an undo, that of the activity that was first undone."""
    while (undoes := known[number].undoes) is not None and undoes < number:
        number = undoes
    return known[number].kind


_OF_TEXTS = (NEVER_GROUP, SAME_GROUP, PRINCIPAL, NOTE)


def overtaken_decisions(connection: Connection, doc_ids: Sequence[str]) -> dict[str, tuple[SettingChange, ...]]:
    """Return the current tags and decisions on documents that were made for an earlier text of the document.

    Times are compared by the second: what was decided in the second in which the present text was stored counts as
    earlier. A document that was removed, and added again with the same text, has no other text.

    Returns
    -------
    dict of str to tuple of SettingChange
        By the ids of current documents; those without such a decision are omitted.
    """
    found = dict[str, list[SettingChange]]()
    for some in in_slices(list(doc_ids)):
        replaced_at = _replaced_at(connection, some)
        made = list(_made(connection, list(replaced_at)))
        decided_at = _decided_at(connection, sorted({number for _, _, number in made}))
        for doc_id, setting, number in made:
            if decided_at[number] <= replaced_at[doc_id]:
                found.setdefault(doc_id, []).append(setting)
    return {doc_id: tuple(settings) for doc_id, settings in found.items()}


def _replaced_at(connection: Connection, doc_ids: Sequence[str]) -> dict[str, str]:
    """Return when the current text was stored, for documents that had another text before."""
    loads = schema.loads.c
    before, loaded = dict[str, int](), dict[str, int]()
    for one in document_rows(connection, schema.documents.c.doc_id, doc_ids):
        if one.is_current and before.get(one.doc_id, one.content) != one.content:
            loaded[one.doc_id] = one.load
        before[one.doc_id] = one.content
    query = select(loads.load, loads.added_at).where(loads.load.in_(set(loaded.values())))
    added_at = dict(connection.execute(query).all())
    return {doc_id: added_at[load] for doc_id, load in loaded.items() if load in added_at}


def _made(connection: Connection, doc_ids: Sequence[str]) -> list[tuple[str, SettingChange, int]]:
    """Return the documents, their current tags and decisions, and the activities that made these."""
    made = list[tuple[str, SettingChange, int]]()
    for doc_id, field, value, number in current_tags(connection, schema.tags.c.doc_id.in_(doc_ids)):
        made.append((doc_id, SettingChange(TAG, doc_id, field, None, value), number))
    decisions, wanted = schema.decisions.c, set(doc_ids)
    is_on_them = decisions.subject.in_(doc_ids) | decisions.other.in_(doc_ids)
    for key, value, number in current_decisions(connection, decisions.kind.in_(_OF_TEXTS) & is_on_them):
        setting = SettingChange(*key, None, value)
        made += [(doc_id, setting, number) for doc_id in key[1:] if doc_id in wanted]
    return made


def _decided_at(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    table, found = schema.activity, dict[int, str]()
    for some in in_slices(numbers):
        rows = connection.execute(select(table).where(table.c.number.in_(some)))
        found |= {row[0]: row[1] for row in rows}
    return found
