"""Sentences of the commands for decisions of people: the changes that were made, or would be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nearkin.collection.decisions.log import (
    FIRST,
    GROUP_NOTE,
    NEVER_GROUP,
    NO_VERSION,
    NOTE,
    PRINCIPAL,
    PURGE,
    REMOVE,
    SAME_GROUP,
    STORE,
    TAG,
    Activity,
    ActivityResult,
    SettingChange,
)
from nearkin.nouns import agreeing, counted, first_of, wave_text
from nearkin.reports.sentences.sentence import Sentence, not_shown

if TYPE_CHECKING:
    from nearkin.collection.decisions.purging import Purged

_DRY = Sentence("Nothing was changed: this is a dry run.", "warning")


def result_sentences(found: ActivityResult, n_shown: int, *, is_asked_dry: bool) -> Iterator[Sentence]:
    """Describe the changes made, or that would be, and how to undo them; ``is_asked_dry``: a dry run was requested."""
    what = in_words(found.kind, found.data, found.changes)
    more = len(found.changes) - n_shown
    if found.is_dry_run and more > 0:
        yield Sentence(not_shown(f"{more:,} more", has_out=False))
    if not found.changes:
        yield Sentence("Nothing to change: the collection already has these values")
        return
    if found.is_dry_run:
        yield Sentence(what, strong="Would change: ")
        yield from _remarks(found)
        if is_asked_dry:
            yield _DRY
        return
    yield Sentence(what, strong=f"Activity {found.number}: ")
    yield from _remarks(found)
    if found.n_unchanged:
        n = found.n_unchanged
        yield Sentence(f"{counted(n, 'document')} had it already" if found.kind == "tag" else _without(n))
    if any(one.kind in (NEVER_GROUP, SAME_GROUP) for one in found.changes):
        yield Sentence("The groups do not change until you update them: nearkin groups COLLECTION")
    yield Sentence(f"To undo it: nearkin undo COLLECTION {found.number}", "quiet")


def _remarks(found: ActivityResult) -> Iterator[Sentence]:
    """Say what may be unexpected: of two documents, or that the name of a tag has blanks and no value."""
    name = str(found.data.get("field", "")) if found.kind == TAG and not found.data.get("value") else ""
    field, _, value = name.partition(" ")
    if value and "n_values" not in found.data:
        yield Sentence(
            f"This tag is named {name!r} and has no value. If {value!r} is a value: '{field}={value}'", "warning"
        )


def _without(n: int) -> str:
    return f"{counted(n, 'document')} did not have it"


def purged_sentences(found: Purged, n_shown: int = 5, *, is_asked_dry: bool) -> Iterator[Sentence]:
    """Count the texts that were erased, or would be; see `result_sentences`."""
    if not found.n_texts and not found.unread:
        yield Sentence("Nothing to erase: the texts of these documents were erased before")
        return
    done = "Would erase " if found.is_dry_run else "Erased "
    if found.n_texts:
        of_several = f"{counted(len(found.holders), 'document')}: " if len(found.holders) > 1 else ""
        holders = f" of {of_several}{first_of(list(found.holders), n_shown)}" if found.holders else ""
        yield Sentence(holders, strong=f"{done}{counted(found.n_texts, 'text')}")
    if found.unread:
        told = f"{done}{counted(len(found.unread), 'file')} without a text"
        yield Sentence(f" from the list of exceptions: {first_of(found.unread, n_shown)}", strong=told)
    if found.inside:
        inside, them = counted(len(found.inside), "document"), agreeing(len(found.inside), "it", "them")
        told = f"Still stored: {inside} inside of these; purge {them}, too: {first_of(found.inside, n_shown)}"
        yield Sentence(told, "warning")
    if found.copies:
        listed = ", ".join(found.copies[:n_shown]) + (", …" if len(found.copies) > n_shown else "")
        removed = "would be removed" if found.is_dry_run else agreeing(len(found.copies), "was removed", "were removed")
        yield Sentence(
            f"{counted(len(found.copies), 'other document')} with the same text {removed}: {listed}", "warning"
        )
    if is_asked_dry:
        yield _DRY
    elif not found.is_dry_run:
        yield Sentence(
            f"Activity {found.number} records it. Backups of the collection, and copies that other tools made, still "
            "have the texts."
        )


def activity_in_words(one: Activity) -> str:
    """Describe an activity, in a row of the log."""
    return in_words(one.kind, one.data, one.changes)


def in_words(kind: str, data: Mapping[str, object], changes: Sequence[SettingChange]) -> str:
    """Describe the changes.

    Examples
    --------
    >>> in_words("tag", {"field": "responsive", "value": "yes"}, [SettingChange("tag", "a", "responsive", None, "yes")])
    'tag responsive=yes, 1 document'
    >>> in_words("never-group", {}, [SettingChange("never-group", "a", "b", None, "")])
    'never group a with b'
    >>> in_words("never-group", {}, [SettingChange("never-group", "a", "b", None, "b")])
    'split b off from a'
    >>> in_words("undo", {"activity": 2, "kind": "split-off"}, [SettingChange("never-group", "a", "b", "b", None)])
    'undo activity 2 (split-off), 1 change'
    >>> in_words("same-group", {"first": "b"}, [SettingChange("same-group", "a", "b", None, "")])
    'same group: b and a'
    """
    n = counted(len(changes), "document")
    if kind == "undo":
        return f"undo activity {data.get('activity')} ({data.get('kind')}), {counted(len(changes), 'change')}"
    if kind == "tag":
        value = data.get("value")
        if "n_values" in data:
            return f"tag {data.get('field')} with {counted(int(str(data['n_values'])), 'value')}, {n}"
        return f"tag {data.get('field')}{f'={value}' if value else ''}, {n}"
    if kind == "untag":
        return f"remove the tag {data.get('field')}, {n}"
    if kind == REMOVE:
        return f"remove {n}" + (f" of {wave_text(data['wave'])}" if "wave" in data else "")
    if kind == STORE:
        what = f"{changes[0].subject}, {changes[0].now}" if len(changes) == 1 else n
        return f"store {what} in {wave_text(data.get('wave'))}"
    if kind == PURGE:
        n_unread = sum(one.now == NO_VERSION for one in changes)
        counts = {"text": int(str(data.get("n_texts", 0))), "version": len(changes) - n_unread, "file": n_unread}
        told = [counted(n, what) + " without a text" * (what == "file") for what, n in counts.items() if n]
        return f"erase {', '.join(told)}"
    if not changes:
        return kind
    only = changes[0]
    return _of_one(replace(only, subject=only.other, other=only.subject) if FIRST in data else only)


def setting_words(setting: SettingChange) -> str:
    """Describe a tag or a decision, in the list of a document.

    Examples
    --------
    >>> setting_words(SettingChange("tag", "a", "responsive", None, "yes"))
    'tag responsive=yes'
    """
    if setting.kind == TAG:
        return f"tag {setting.other}{f'={setting.now}' if setting.now else ''}"
    return _of_one(setting)


def _of_one(change: SettingChange) -> str:
    if change.kind == NEVER_GROUP and change.now:
        stays = change.other if change.now == change.subject else change.subject
        return f"split {change.now} off from {stays}"
    if change.kind == NEVER_GROUP:
        return f"never group {change.subject} with {change.other}"
    if change.kind == SAME_GROUP:
        return f"same group: {change.subject} and {change.other}"
    if change.kind == PRINCIPAL:
        return f"make {change.subject} the principal of its group"
    whose = f"group {change.other} ({change.subject})" if change.kind == GROUP_NOTE else change.subject
    note = f"note on {whose}" if change.kind in (NOTE, GROUP_NOTE) else change.kind
    return f"{note}: {change.now}" if change.now else f"remove the {note}"
