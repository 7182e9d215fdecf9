"""Decisions on groups that stored groups do not follow yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select

from nearkin.collection.decisions.records import NEVER_GROUP, SAME_GROUP
from nearkin.store.bulk import in_slices
from nearkin.store.facts import read_facts
from nearkin.store.schema import activity

_OF_GROUPS = (NEVER_GROUP, SAME_GROUP)


def n_later_decisions(connection: Connection, tolerance: str) -> int:
    """Return the number of decisions that the groups at a tolerance do not follow yet; see `later_decisions`."""
    return len(later_decisions(connection, tolerance))


def later_decisions(connection: Connection, tolerance: str) -> list[int]:
    """Return the activities that made or undid decisions which the groups at a tolerance do not follow yet.

    Only activities are read: there may be millions of changes. An undo is about what the undone activity was about.
    """
    of_groups = activity.c.kind.in_(_OF_GROUPS) | activity.c.undoes.is_not(None)
    is_later = activity.c.number > seen_activity(connection, tolerance)
    known = _kinds(connection, is_later & of_groups)
    later = list(known)
    while undone := {one.undoes for one in known.values() if one.undoes is not None} - known.keys():
        for some in in_slices(sorted(undone)):
            known |= _kinds(connection, activity.c.number.in_(some))
    return [number for number in later if _kind_at_the_end(known, number) in _OF_GROUPS]


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


def seen_activity(connection: Connection, tolerance: str) -> int:
    """Return the last activity that the stored groups follow; 0 if there was none."""
    name = fact_of_decisions(tolerance)
    return int(read_facts(connection, [name]).get(name, "0"))


def fact_of_decisions(tolerance: str) -> str:
    """Return the name of the fact with this activity."""
    return f"decisions of groups at {tolerance}"
