"""Words for the changed values of activities, the same on the page "Log", in its exports and on "Defensibility"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nearkin.collection.decisions.log import (
    FIRST,
    GROUP_NOTE,
    NEVER_GROUP,
    OF_DOCUMENTS,
    PRINCIPAL,
    PURGE,
    SAME_GROUP,
    TAG,
    Activity,
    SettingChange,
)

if TYPE_CHECKING:
    import pyarrow as pa


def kinds_in_words(listed: Sequence[Activity]) -> list[str]:
    """Count the activities by kind.

    Examples
    --------
    >>> kinds_in_words([])
    []
    """
    return [f"{kind}: {n:,}" for kind, n in sorted(Counter(one.kind for one in listed).items())]


def value_words(kind: str, value: str | None) -> str:
    """Write a value before or after a change.

    Examples
    --------
    >>> value_words("tag", None), value_words("tag", ""), value_words("tag", "yes"), value_words("never-group", "a")
    ('not set', 'set', 'yes', 'a split off')
    >>> value_words("principal", "16")
    'set by activity 16'
    """
    if kind == PRINCIPAL and value:
        return f"set by activity {value}"
    if kind == NEVER_GROUP and value:
        return f"{value} split off"
    return "not set" if value is None else value or "set"


def change_words(change: SettingChange) -> str:
    """Write the values before and after a change.

    Examples
    --------
    >>> change_words(SettingChange("tag", "a", "responsive", None, ""))
    'not set → set'
    >>> change_words(SettingChange("purge", "a", "ab12", None, "version 1"))
    'version 1 → erased'
    >>> change_words(SettingChange("remove", "a", "", "version 2", None))
    'version 2 → removed'
    >>> change_words(SettingChange("store", "a", "", None, "version 1"))
    'not stored → version 1'
    """
    if change.kind == PURGE:  # is stored with what it erased as its value
        return f"{change.now} → erased"
    if change.kind in OF_DOCUMENTS:
        return f"{change.was or 'not stored'} → {change.now or 'removed'}"
    return f"{value_words(change.kind, change.was)} → {value_words(change.kind, change.now)}"


def changed_names(change: SettingChange) -> tuple[str, ...]:
    """Return the document, and the field or the other document, whose value a change is of; of a note, the group.

    Examples
    --------
    >>> changed_names(SettingChange("purge", "a", "ab12", None, "version 1"))
    ('a', 'SHA-256 ab12')
    >>> changed_names(SettingChange("group-note", "jaccard 0.5", "1", None, "look again"))
    ('group 1 (jaccard 0.5)',)
    """
    if change.kind == GROUP_NOTE:
        return (f"group {change.other} ({change.subject})",)
    other = f"SHA-256 {change.other}" if change.kind == PURGE and change.other else change.other
    return (change.subject, other) if other else (change.subject,)


def change_cells(change: SettingChange) -> tuple[str, str, str | None, str | None]:
    """Return a row of a dry run: the document, what changes, and the values before and after.

    Examples
    --------
    >>> change_cells(SettingChange("never-group", "a", "b", None, "b"))
    ('b', 'split off from a', None, '')
    >>> change_cells(SettingChange("tag", "a", "responsive", "no", "yes"))
    ('a', 'responsive', 'no', 'yes')
    """
    leaving = (change.now or change.was) if change.kind == NEVER_GROUP else None
    if leaving:
        stays = change.other if leaving == change.subject else change.subject
        return leaving, f"split off from {stays}", _split_off(change.was), _split_off(change.now)
    what = change.other if change.kind == TAG else f"{change.kind} {change.other}".strip()
    return change.subject, what, change.was, change.now


def _split_off(value: str | None) -> str | None:
    return None if value is None else "" if value else NEVER_GROUP


def changed_documents(one: Activity, most: int) -> list[str]:
    """Return the first documents that an activity changed; of a decision on two, both, in the order of its words.

    Examples
    --------
    >>> split = (SettingChange("never-group", "a", "b", None, "b"),)
    >>> told = {"number": 1, "at": "", "by": "", "kind": "never-group", "data": {}, "undoes": None, "undone_by": None}
    >>> changed_documents(Activity(**told, changes=split), 3)
    ['b', 'a']
    """
    found = list[str]()
    for change in one.changes[:most]:
        pair = [change.subject, change.other] if change.kind in (NEVER_GROUP, SAME_GROUP) else [change.subject]
        is_second = (change.now or change.was) == change.other if change.kind == NEVER_GROUP else False
        if len(pair) == 2 and (FIRST in one.data or is_second):
            pair.reverse()
        found += [] if change.kind == GROUP_NOTE else pair
    return list(dict.fromkeys(found))


def log_in_words(listed: Sequence[Activity]) -> pa.Table:
    """Return the table of changed values, with their words in the column ``change``."""
    import pyarrow as pa

    from nearkin.collection.decisions.log import table_of_log

    words = [change_words(change) for one in listed for change in one.changes]
    return table_of_log(listed).append_column("change", pa.array(words, pa.large_string()))
