"""Facts about activities: what a decision changed, and the log in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from nearkin.collection.decisions import log
from nearkin.nouns import counted, first_of, wave_text
from nearkin.reports.facts.fact import Fact, nonzero, not_shown, warning

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.collection.decisions.purging import Purged

_N_NAMED = 5
_DRY_RUN = Fact("dry run", note="nothing was changed", tone="warning")


def result_facts(result: log.ActivityResult, n_shown: int, *, is_asked_dry: bool) -> Iterator[Fact]:
    """Describe the changes made, or that would be, and how to undo them; ``is_asked_dry``: a dry run was requested."""
    if result.is_dry_run:
        yield from not_shown(len(result.changes) - n_shown, "raise --limit")
    if not result.changes and result.number is None:
        yield Fact("nothing to change", note="the collection has these values")
        return
    label = "would change" if result.is_dry_run else f"activity {result.number}"
    yield Fact(label, in_words(result.kind, result.data, result.changes or result.agreements))
    if result.is_dry_run:
        yield from [_DRY_RUN] * is_asked_dry
        return
    yield from nonzero("unchanged", result.n_unchanged)
    if any(change.kind in (log.NEVER_GROUP, log.SAME_GROUP) for change in result.changes):
        yield Fact("to update the groups", "nearkin groups COLLECTION")
    yield Fact("to undo it", f"nearkin undo COLLECTION {result.number}", tone="quiet")


def purged_facts(purged: Purged, *, is_asked_dry: bool) -> Iterator[Fact]:
    """Count the texts that were erased, or would be; see `result_facts`."""
    if not purged.n_texts and not purged.unread:
        yield Fact("nothing to erase", note="the texts of these documents were erased before")
        return
    done, was = ("would erase", "would be removed") if purged.is_dry_run else ("erased", "removed")
    holders = (
        f"of {len(purged.holders):,} documents: {first_of(list(purged.holders), _N_NAMED)}" if purged.holders else ""
    )
    yield Fact(f"{done}, texts", purged.n_texts, holders)
    if purged.unread:
        yield Fact(f"{done}, files without a text", len(purged.unread), first_of(purged.unread, _N_NAMED))
    yield from warning(
        "still stored, inside of these", (len(purged.inside)), f"purge them, too: {first_of(purged.inside, _N_NAMED)}"
    )
    yield from warning(f"copies, {was}", len(purged.copies), f"the same text: {first_of(purged.copies, _N_NAMED)}")
    if is_asked_dry:
        yield _DRY_RUN
    elif not purged.is_dry_run:
        yield Fact("activity", f"{purged.number}", "backups, and copies that other tools made, still have the texts")


def activity_in_words(activity: log.Activity) -> str:
    """Describe an activity, in a row of the log."""
    return in_words(activity.kind, activity.data, activity.changes)


def in_words(kind: str, data: Mapping[str, object], changes: Sequence[log.SettingChange]) -> str:
    """Describe the changes."""
    n = counted(len({change.subject for change in changes}), "document")
    if kind == "undo":
        return f"undo activity {data.get('activity')} ({data.get('kind')}), {counted(len(changes), 'change')}"
    if kind == "tag":
        value = data.get("value")
        if "n_values" in data:
            return f"tag {data.get('field')} with {counted(int(str(data['n_values'])), 'value')}, {n}"
        return f"tag {data.get('field')}{f'={value}' if value else ''}, {n}"
    if kind == log.CODE and isinstance(values := data.get("values"), Mapping):
        listed = ", ".join(f"{field}={value}" for field, value in values.items()) or "nothing"
        again = f" again (second look {data['second_look']})" if "second_look" in data else ""
        return f"code {n}{again}: {listed}"
    if kind == log.BATCH and "n_batches" in data:
        what = f"make {counted(int(str(data['n_batches'])), 'batch', 'batches')} of {data['name']}"
        return f"{what}, {counted(int(str(data['n_documents'])), 'document')}" + (
            f" of {data['n_calls']} coded by {data['of']}, seed {data['seed']}" if "of" in data else ""
        )
    if kind == "untag":
        return f"remove the tag {data.get('field')}, {n}"
    if kind == log.REMOVE:
        return f"remove {n}" + (f" of {wave_text(data['wave'])}" if "wave" in data else "")
    if kind == log.STORE:
        what = f"{changes[0].subject}, {changes[0].now}" if len(changes) == 1 else n
        return f"store {what} in {wave_text(data.get('wave'))}"
    if kind == log.PURGE:
        n_unread = sum(change.now == log.NO_VERSION for change in changes)
        counts = {"text": int(str(data.get("n_texts", 0))), "version": len(changes) - n_unread, "file": n_unread}
        erased = [counted(n, what) + " without a text" * (what == "file") for what, n in counts.items() if n]
        return f"erase {', '.join(erased)}"
    if not changes:
        return kind
    only = changes[0]
    return _of_one(replace(only, subject=only.other, other=only.subject) if log.FIRST in data else only)


def setting_words(setting: log.SettingChange) -> str:
    """Describe a tag or a decision, in the list of a document.

    Examples
    --------
    >>> setting_words(log.SettingChange("tag", "a", "responsive", None, "yes"))
    'tag responsive=yes'
    """
    if setting.kind == log.TAG:
        return f"tag {setting.other}{f'={setting.now}' if setting.now else ''}"
    return _of_one(setting)


def _of_one(change: log.SettingChange) -> str:
    if change.kind == log.NEVER_GROUP and change.now:
        stays = change.other if change.now == change.subject else change.subject
        return f"split {change.now} off from {stays}"
    if change.kind == log.NEVER_GROUP:
        return f"never group {change.subject} with {change.other}"
    if change.kind == log.SAME_GROUP:
        return f"same group: {change.subject} and {change.other}"
    if change.kind == log.CODING:
        return "set the fields of the coding panel" if change.now else "remove the coding panel"
    if change.kind == log.SEARCH:
        return f"save the search {change.other}: {change.now}" if change.now else f"forget the search {change.other}"
    if change.kind == log.BATCH:
        return f"check batch {change.subject} {f'out to {change.now}' if change.now else 'in'}"
    if change.kind == log.PRINCIPAL:
        return f"make {change.subject} the principal of its group"
    whose = f"group {change.other} ({change.subject})" if change.kind == log.GROUP_NOTE else change.subject
    note = f"note on {whose}" if change.kind in (log.NOTE, log.GROUP_NOTE) else change.kind
    return f"{note}: {change.now}" if change.now else f"remove the {note}"


def value_words(kind: str, value: str | None) -> str:
    """Write a value before or after a change."""
    if kind == log.PRINCIPAL and value:
        return f"set by activity {value}"
    if kind == log.NEVER_GROUP and value:
        return f"{value} split off"
    if kind == log.CODING and value:
        return "set"
    if value == log.TAKEN_AWAY:
        return "no value"
    if value == "" and kind in _EMPTY:
        return _EMPTY[kind]
    return "not set" if value is None else value or "set"


_EMPTY = {log.BATCH: "held by nobody", log.SECOND_LOOK: "the same values"}
"""Empty values of kinds of changes, in words."""


def change_words(change: log.SettingChange) -> str:
    """Write the values before and after a change."""
    if change.kind == log.PURGE:  # is stored with what it erased as its value
        return f"{change.now} → erased"
    if change.kind in log.OF_DOCUMENTS:
        return f"{change.was or 'not stored'} → {change.now or 'removed'}"
    return f"{value_words(change.kind, change.was)} → {value_words(change.kind, change.now)}"


def changed_names(change: log.SettingChange) -> tuple[str, ...]:
    """Return the document, and the field or the other document, whose value a change is of; of a note, the group."""
    names = {
        log.GROUP_NOTE: f"group {change.other} ({change.subject})",
        log.CODING: "coding panel",
        log.BATCH: f"batch {change.subject}",
        log.SEARCH: f"search {change.other}",
    }
    if change.kind in names:
        return (names[change.kind],)
    other = f"SHA-256 {change.other}" if change.kind == log.PURGE and change.other else change.other
    if change.kind == log.SECOND:
        other = " of ".join(other.split("=", 1))
    return (change.subject, other) if other else (change.subject,)


def changed_documents(activity: log.Activity, most: int) -> list[str]:
    """Return the first documents that an activity changed; of a decision on two, both, in the order of its words."""
    doc_ids = list[str]()
    for change in activity.changes[:most]:
        pair = [change.subject, change.other] if change.kind in (log.NEVER_GROUP, log.SAME_GROUP) else [change.subject]
        is_second = (change.now or change.was) == change.other if change.kind == log.NEVER_GROUP else False
        if len(pair) == 2 and (log.FIRST in activity.data or is_second):
            pair.reverse()
        doc_ids += [] if change.kind in (log.GROUP_NOTE, log.BATCH) else pair
    return list(dict.fromkeys(doc_ids))


def log_in_words(listed: Sequence[log.Activity]) -> pa.Table:
    """Return a row for each changed value, with its kind in ``changed`` and its words in the column ``change``."""
    import pyarrow as pa

    from nearkin.collection.results import columns

    schema = pa.schema([
        *columns("activity at by kind", nullable=False), *columns("undoes undone_by"),
        *columns("changed subject other", nullable=False), *columns("was now"),
    ])  # fmt: skip
    heads = attrgetter("number", "at", "by", "kind", "undoes", "undone_by")
    changes = [(activity, change) for activity in listed for change in activity.changes]
    rows = [(*heads(activity), *change.key, change.was, change.now) for activity, change in changes]
    values = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=schema)
    words = [change_words(change) for _, change in changes]
    return table.append_column("change", pa.array(words, pa.large_string()))
