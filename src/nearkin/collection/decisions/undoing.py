"""Undoing an activity: the values that it changed are set back; the undo is itself an activity."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from nearkin.collection.decisions.activity import checked_by, record
from nearkin.collection.decisions.contradictions import refuse_contradicting
from nearkin.collection.decisions.log import changes_of, undone
from nearkin.collection.decisions.principals import propose_anew, restore_principals
from nearkin.collection.decisions.records import PURGE, REMOVE, STORE, ActivityResult, SettingChange, data_of_undo
from nearkin.errors import ParameterError
from nearkin.store import schema
from nearkin.store.bulk import in_slices
from nearkin.store.store import Store


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
