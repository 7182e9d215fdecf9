"""Decisions and stored groups: principals that people chose, and what stored groups do not follow yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
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
from nearkin.collection.stored import group_state
from nearkin.collection.stored.documents import current_rows, document_rows
from nearkin.collection.stored.group_state import GroupState
from nearkin.records import I64
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.schema import activity, contents, decisions, documents, groupings, members

PrincipalChange = tuple[str, str, str]
"""A tolerance, and the ids of the former and the current principal of a group at this tolerance."""
N_LETTERS = contents.c.n_letters + contents.c.n_other_letters
"""Length of a text in letters and digits, without white space, by which principals are proposed."""


def chosen_principals(connection: Connection) -> dict[str, int]:
    """Return the chosen documents; if a group has two of them, the one with the higher number is its principal."""
    chosen = current_decisions(connection, decisions.c.kind == PRINCIPAL)
    return {doc_id: int(value) for (_, doc_id, _), value, _ in chosen}


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


def make_principal_everywhere(connection: Connection, doc_id: str) -> list[PrincipalChange]:
    """Make a document the principal of its groups at every tolerance; return the former ones, which may be the same."""
    document_rows(connection, documents.c.doc_id, [doc_id])  # refuses a changed row
    stored = select(groupings.c.tolerance).where(groupings.c.call == 1).order_by(groupings.c.grouping)
    tolerances = connection.execute(stored).scalars().all()
    made = [(tolerance, _make(connection, tolerance, doc_id, None), doc_id) for tolerance in tolerances]
    return [(tolerance, former, now) for tolerance, former, now in made if former is not None]


def restore_principals(connection: Connection, changes: Sequence[PrincipalChange]) -> list[PrincipalChange]:
    """Restore former principals, unless another choice has replaced them; return the changes."""
    restored = list[PrincipalChange]()
    for tolerance, former, now in changes:
        if _make(connection, tolerance, former, now) is not None:
            restored.append((tolerance, now, former))
    return restored


def propose_anew(
    connection: Connection, changes: Sequence[SettingChange], known: Collection[str]
) -> list[PrincipalChange]:
    """Replace principals whose choice is about to be undone, in groups made after the choice; return the changes.

    The new principal is the member chosen last, otherwise the one with the most letters and digits.

    Parameters
    ----------
    connection : Connection
    changes : sequence of SettingChange
        Changes of the undo.
    known : collection of str
        Tolerances of groups whose former principal is known; they are left as they are.
    """
    withdrawn = [one for one in changes if one.kind == PRINCIPAL]
    chosen, changed = chosen_principals(connection) if withdrawn else {}, list[PrincipalChange]()
    chosen |= {one.subject: int(one.now or 0) for one in withdrawn}
    for one in withdrawn:
        columns = groupings.c.tolerance, members.c.grouping, members.c.group_number
        is_principal = members.c.is_principal & members.c.until.is_(None) & (documents.c.doc_id == one.subject)
        query = select(*columns).select_from(_STORED.join(documents)).where(is_principal, groupings.c.call == 1)
        query = query.order_by(members.c.grouping, members.c.group_number)
        for tolerance, grouping, number in connection.execute(query).all():
            rows = [] if tolerance in known else _documents_of(connection, grouping, number)
            best = max(rows, key=lambda row: (chosen.get(row.doc_id, 0), row.n_letters, -row.row), default=None)
            if best is not None and best.doc_id != one.subject:
                group_state.make_principal(connection, grouping, number, best.row)
                changed.append((tolerance, one.subject, best.doc_id))
    return changed


_STORED = members.join(groupings, groupings.c.grouping == members.c.grouping)


def _documents_of(connection: Connection, grouping: int, number: int) -> Sequence[Any]:
    """Return the current documents of a stored group: id, length and row."""
    is_member = (members.c.grouping == grouping) & (members.c.group_number == number) & members.c.until.is_(None)
    texts = select(documents.c.content).select_from(documents.join(members)).where(is_member)
    query = select(documents.c.doc_id, N_LETTERS.label("n_letters"), documents.c.row)
    query = query.select_from(documents.join(contents))
    return connection.execute(query.where(documents.c.content.in_(texts) & documents.c.is_current)).all()


def _make(connection: Connection, tolerance: str, doc_id: str, instead_of: str | None) -> str | None:
    """Make a document the principal of its group; return the former principal, or None if it must not be replaced."""
    row = next((one for one in current_rows(connection, documents.c.doc_id, [doc_id])), None)
    if row is None:
        return None
    is_now = (groupings.c.tolerance == tolerance) & (groupings.c.call == 1) & members.c.until.is_(None)
    of_text = select(members.c.grouping, members.c.group_number).select_from(_STORED.join(documents))
    found = connection.execute(of_text.where(is_now, documents.c.content == row.content)).first()
    if found is None:
        return None
    is_group = (members.c.grouping == found.grouping) & (members.c.group_number == found.group_number)
    former = select(documents.c.doc_id).select_from(_STORED.join(documents))
    was = connection.execute(former.where(is_now, is_group, members.c.is_principal)).scalar()
    if was is None or (instead_of is not None and was != instead_of):
        return None
    if was != doc_id:
        group_state.make_principal(connection, found.grouping, found.group_number, row.row)
    return str(was)


class ShownPrincipal(NamedTuple):
    """A current document that represents a stored group."""

    row: int
    content: int
    doc_id: str


def shown_principals(connection: Connection, state: GroupState, numbers: Collection[int]) -> dict[int, ShownPrincipal]:
    """Return the principals of some stored groups; groups without a current document are omitted.

    If the stored principal was removed, erased or replaced by another version, it is the first of these in the group:
    the current version of it; the member that somebody chose as a principal last; the member with the most letters and
    digits, the earliest of several. The next update of the groups makes this one the principal.
    The view ``group_of_documents`` of ``plain_sql.sql`` has the same rule.

    Parameters
    ----------
    connection : Connection
    state : GroupState
    numbers : collection of int
        Numbers of groups at its tolerance.
    """
    stored = {number: state.principals[number] for number in numbers if number in state.principals}
    current, former_ids = dict[int, ShownPrincipal](), dict[int, str]()
    for one in document_rows(connection, documents.c.row, stored.values()):
        if one.is_current:
            current[one.row] = ShownPrincipal(one.row, one.content, one.doc_id)
        else:
            former_ids[one.row] = one.doc_id
    shown = {number: current[row] for number, row in stored.items() if row in current}
    gone = {number: former_ids.get(row, "") for number, row in stored.items() if row not in current}
    return shown | _standing_in(connection, state, gone)


def _standing_in(connection: Connection, state: GroupState, gone: Mapping[int, str]) -> dict[int, ShownPrincipal]:
    """Return the members that represent groups whose principals, with these ids, are gone."""
    if not gone:
        return {}
    is_wanted = np.isin(state.member_groups, list(gone))
    group_of = dict(zip(state.member_contents[is_wanted].tolist(), state.member_groups[is_wanted].tolist()))
    chosen = chosen_principals(connection)
    n_letters = dict[int, int]()
    for some in in_slices(list(group_of)):
        lengths = select(contents.c.content, N_LETTERS).where(contents.c.content.in_(some))
        n_letters |= dict(connection.execute(lengths).all())
    ranked = list[tuple[int, tuple[bool, int, int, int], ShownPrincipal]]()
    for one in current_rows(connection, documents.c.content, group_of):
        number = group_of[one.content]
        rank = one.doc_id == gone[number], chosen.get(one.doc_id, 0), n_letters.get(one.content, 0), -one.row
        ranked.append((number, rank, ShownPrincipal(one.row, one.content, one.doc_id)))
    return {number: one for number, _, one in sorted(ranked)}  # the last one is the best


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
