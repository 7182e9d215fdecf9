"""Decisions on groups, principals and notes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.contradictions import refuse_contradicting
from nearkin.collection.decisions.log import (
    FIRST,
    GROUP_NOTE,
    NEVER_GROUP,
    NOTE,
    PRINCIPAL,
    PURGE,
    REMOVE,
    SAME_GROUP,
    SPLIT_OFF,
    STORE,
    ActivityResult,
    SettingChange,
    changes_of,
    checked_by,
    data_of_undo,
    next_number,
    record,
    undone,
    values_of,
)
from nearkin.collection.decisions.principals import (
    chosen_principals,
    make_principal_everywhere,
    propose_anew,
    restore_principals,
)
from nearkin.collection.decisions.tags import members_of
from nearkin.collection.stored.documents import document
from nearkin.collection.tolerance import Tolerance
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices, is_storable
from nearkin.store.store import Store

_MAX_OF_A_NOTE = 2_000


def decide(
    store: Store,
    *,
    never_group: Sequence[str] | None,
    split_off: Sequence[str] | None,
    same_group: Sequence[str] | None,
    principal: str | None,
    note: tuple[str, str] | None,
    group_note: tuple[int, str] | None,
    tolerance: Tolerance,
    by: str | None,
    dry_run: bool,
) -> ActivityResult:
    """Store a decision or a note; see `Collection.decide`."""
    given = {
        NEVER_GROUP: never_group,
        SPLIT_OFF: split_off,
        SAME_GROUP: same_group,
        PRINCIPAL: principal,
        NOTE: note,
        GROUP_NOTE: group_note,
    }
    kinds = [kind for kind, value in given.items() if value is not None]
    if len(kinds) != 1:
        *others, last = (kind.replace("-", "_") for kind in given)
        raise ParameterError(f"Give one decision: {', '.join(others)} or {last}.")
    kind, who, data = kinds[0], checked_by(by), dict[str, object]()
    with store.reading() if dry_run else store.writing() as connection:
        if kind in (NEVER_GROUP, SPLIT_OFF, SAME_GROUP):
            wanted = _of_pair(connection, kind, given[kind])
            kind = wanted.kind
            pair = never_group or same_group
            if pair and pair[0] != wanted.subject:
                data[FIRST] = pair[0]  # ids are stored in their order, and told as they were given
        elif principal is not None:
            wanted = _of_principal(connection, document(connection, principal).doc_id)
        elif note is not None:
            _check_pair(kind, note, "an id and a text")
            document(connection, note[0])
            wanted = SettingChange(kind, note[0], "", None, _checked_note(note[1]))
        elif group_note is not None:
            wanted = _of_group(connection, kind, group_note, tolerance)
        was = values_of(connection, [wanted.key]).get(wanted.key)
        changes = (SettingChange(*wanted.key, was, wanted.now),) if was != wanted.now else ()
        refuse_contradicting(connection, changes)
        number = None
        if changes and not dry_run:
            if principal is not None:
                data["former"] = make_principal_everywhere(connection, principal)
            number = record(connection, kind, changes, by=who, data=data)
    return ActivityResult(
        number=number, kind=kinds[0], changes=changes, n_unchanged=1 - len(changes), is_dry_run=dry_run, data=data
    )  # fmt: skip


def record_principal(connection: Connection, doc_id: str) -> None:
    """Store the choice of a document as principal, in the caller's transaction."""
    wanted = _of_principal(connection, doc_id)
    was = values_of(connection, [wanted.key]).get(wanted.key)
    if was != wanted.now:
        former = make_principal_everywhere(connection, doc_id)
        change = SettingChange(*wanted.key, was, wanted.now)
        record(connection, PRINCIPAL, [change], by=checked_by(None), data={"former": former})


def _of_principal(connection: Connection, doc_id: str) -> SettingChange:
    """Return the choice of a principal. Its value is a number: of two principals in one group, the higher counts."""
    chosen = chosen_principals(connection)
    highest = max(chosen.values(), default=0)
    value = highest if doc_id in chosen and chosen[doc_id] == highest else next_number(connection)
    return SettingChange(PRINCIPAL, doc_id, "", None, str(value))


def _of_pair(connection: Connection, kind: str, pair: object) -> SettingChange:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
        raise ParameterError.of(kind.replace("-", "_"), "two different ids", pair)
    first, second = sorted(document(connection, doc_id).doc_id for doc_id in pair)
    if kind == SPLIT_OFF:
        return SettingChange(NEVER_GROUP, first, second, None, pair[0])
    return SettingChange(kind, first, second, None, "")


def _of_group(connection: Connection, kind: str, group_note: tuple[int, str], tolerance: Tolerance) -> SettingChange:
    _check_pair(kind, group_note, "a group and a text")
    number, text = group_note
    members_of(connection, number, str(tolerance))
    return SettingChange(kind, str(tolerance), str(number), None, _checked_note(text))


def _check_pair(kind: str, value: object, rule: str) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ParameterError.of(kind.replace("-", "_"), rule, value)


def _checked_note(text: object) -> str | None:
    """Return a note; None for an empty one, which removes the current note."""
    if not isinstance(text, str) or not is_storable(text) or len(text) > _MAX_OF_A_NOTE:
        raise ParameterError.of("note", f"a text of at most {_MAX_OF_A_NOTE:,} characters", text)
    return text.strip() or None


def undo(store: Store, number: int, *, by: str | None, dry_run: bool, max_changes: int | None) -> ActivityResult:
    """Undo an activity; see `Collection.undo`."""
    who, table = checked_by(by), schema.activity
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**63:
        raise ParameterError.of("number", "the number of an activity", number)
    with store.reading() if dry_run else store.writing() as connection:
        found = connection.execute(select(table).where(table.c.number == number)).first()
        if found is None:
            last = connection.execute(select(func.max(table.c.number))).scalar() or 0
            raise ParameterError(
                f"There is no activity {number}; the last one is {last}. List them: nearkin log COLLECTION"
            )
        _, _, _, kind, data, _ = found
        if kind == PURGE:
            raise ParameterError(f"Activity {number} erased texts. It cannot be undone.")
        if kind == REMOVE:
            raise ParameterError(
                f"Activity {number} removed documents. It cannot be undone. Add the documents again; this prints the "
                "text of one: nearkin show COLLECTION DOC_ID --version N --text-only"
            )
        if kind == STORE:
            raise ParameterError(
                f"Activity {number} stored documents. It cannot be undone. Remove them with nearkin remove."
            )
        made = changes_of(connection, [number])[number]
        _refuse_changed(connection, number, made)
        changes = tuple(SettingChange(*one.key, one.now, one.was) for one in made)
        refuse_contradicting(connection, changes)
        told: dict[str, object] = {"activity": number, "kind": kind}
        done, is_dry_run = None, dry_run or (max_changes is not None and len(changes) > max_changes)
        if not is_dry_run:
            former = json.loads(data).get("former", [])
            anew = propose_anew(connection, changes, {tolerance for tolerance, *_ in former})
            if restored := [*restore_principals(connection, former), *anew]:
                told["former"] = restored
            done = record(connection, "undo", changes, by=who, data=told, undoes=number)
    data_shown = data_of_undo(told, changes)
    return ActivityResult(number=done, kind="undo", changes=changes, is_dry_run=is_dry_run, data=data_shown)


def _refuse_changed(connection: Connection, number: int, made: Sequence[SettingChange]) -> None:
    """Refuse to undo an activity if a later one, which is not undone itself, changed the same value."""
    changes, keys, undoes = schema.changes, {one.key for one in made}, _undos(connection)
    table, by = changes.c, undone(undoes)
    for some in in_slices(sorted({one.subject for one in made})):
        is_later = table.subject.in_(some) & (table.activity > number)
        query = select(changes).where(is_later).order_by(table.activity)
        for later, _, *key, _, _ in connection.execute(query):
            if tuple(key) not in keys or later in by or undoes.get(later, 0) > number:
                continue
            if undoes.get(later) == number:
                raise ParameterError(
                    f"Activity {number} was undone by activity {later}. To do it again: nearkin undo COLLECTION {later}"
                )
            raise ParameterError(
                f"Activity {number} cannot be undone: activity {later} changed {key[1]!r} afterwards. Undo activity "
                f"{later} first."
            )


def _undos(connection: Connection) -> dict[int, int]:
    """Return the activities that are undos, with the activity that each undid."""
    table = schema.activity
    query = select(table.c.number, table.c.undoes).where(table.c.undoes.is_not(None))
    return dict(connection.execute(query).all())
