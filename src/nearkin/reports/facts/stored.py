"""Facts about what a collection holds: loads, lists, single documents, exceptions, damage and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nearkin.collection.decisions.log import (
    BATCH,
    CODE,
    CODING,
    FIRST,
    GROUP_NOTE,
    NEVER_GROUP,
    NO_VERSION,
    NOTE,
    OF_DOCUMENTS,
    PRINCIPAL,
    PURGE,
    REMOVE,
    SAME_GROUP,
    SEARCH,
    SECOND,
    SECOND_LOOK,
    STORE,
    TAG,
    Activity,
    ActivityResult,
    SettingChange,
)
from nearkin.nouns import counted, first_of, wave_text
from nearkin.reports.facts.fact import Fact, counts_text, damage_facts, nonzero, not_shown, warning
from nearkin.reports.facts.queries import later_facts, time_ms
from nearkin.reports.quantities import minute, size_text, word_changes_text
from nearkin.stages.documents.members import origin_text

if TYPE_CHECKING:
    import pyarrow as pa

    from nearkin.collection.decisions.purging import Purged
    from nearkin.collection.decisions.removing import Removed
    from nearkin.collection.history import DocumentHistory, HistoryEntry
    from nearkin.collection.info import Info
    from nearkin.collection.integrity import IntegrityReport
    from nearkin.collection.listing.details import DocumentDetails, DocumentFamily
    from nearkin.collection.listing.exceptions import StoredExceptions
    from nearkin.collection.listing.lists import ListedDocuments
    from nearkin.collection.loads.adding import Added
    from nearkin.collection.results import StoredDocument
    from nearkin.collection.word_search.searching import SearchResult
    from nearkin.manifests.stored import DamagedFile
    from nearkin.stages.documents.members import Origin


_N_NAMED = 5
_DRY_RUN = Fact("dry run", note="nothing was changed", tone="warning")


def add_facts(added: Added, damaged: Sequence[DamagedFile]) -> Iterator[Fact]:
    """Count the documents of a wave, and those that are exceptions."""
    yield Fact("documents", added.n_documents, wave_text(added.wave))
    yield Fact("new", added.n_new)
    yield Fact(
        "changed", added.n_new_versions, "the older texts are kept: nearkin history" * bool(added.n_new_versions)
    )
    yield Fact("unchanged", added.n_unchanged)
    yield Fact("new distinct texts", added.n_contents)
    listed = "" if added.is_dry_run else "; nearkin exceptions COLLECTION"
    yield from warning("exceptions", added.n_exceptions, f"{added.n_problems:,} not stored{listed}")
    yield from damage_facts(damaged)
    if added.is_dry_run:
        yield Fact("dry run", note="nothing was stored", tone="warning")


def exceptions_facts(found: StoredExceptions, n_shown: int) -> Iterator[Fact]:
    """Count the exceptions, and say how to see the others."""
    yield Fact(
        "exceptions", len(found.exceptions), exception_kinds(found.n_no_text, found.n_partial, found.n_not_stored)
    )
    yield from not_shown(len(found.exceptions) - n_shown)


def exception_kinds(n_no_text: int, n_partial: int, n_not_stored: int = 0) -> str:
    """Count exceptions by kind: files without a text, those with a part of it, those that were read and not stored.

    Examples
    --------
    >>> exception_kinds(19, 3), exception_kinds(1, 0, 2)
    ('19 without text, 3 partial', '1 without text, 2 not stored')
    """
    return counts_text({"without text": n_no_text, "partial": n_partial, "not stored": n_not_stored})


def state_of(document: StoredDocument, removed_at: str | None) -> str:
    """Say whether a version is current, was replaced by a newer one, or was removed."""
    if document.is_current:
        return "current"
    return "replaced by a newer version" if removed_at is None else f"removed {minute(removed_at)} UTC"


def _mail_facts(origin: Origin) -> list[Fact]:
    mail = origin.mail
    if mail is None:
        return []
    sent = None if mail.sent_at is None else f"{minute(mail.sent_at.isoformat())} UTC"
    headers = ("from", mail.sender), ("to", mail.to), ("cc", mail.cc), ("sent", sent), ("subject", mail.subject)
    return [Fact(label, value) for label, value in headers if value]


def details_facts(found: DocumentDetails, family: DocumentFamily) -> Iterator[Fact]:
    """Describe a document: its version, its source, its length, its family and its copies."""
    one = found.document
    yield Fact("document", one.doc_id, f"version {one.version}, {state_of(one, found.removed_at)}")
    origin = origin_text(one.doc_id, one.source, one.line)
    yield Fact("added", f"{minute(found.added_at)} UTC", f"in {wave_text(one.wave)}, from {origin}")
    yield Fact("characters", one.n_characters, "" if one.is_counted else "too few letters for --measure letters")
    if found.origin is not None:
        yield from origin_facts(found.origin)
    if found.parent is not None:
        yield Fact("inside", found.parent)
    if family.members:
        members = [one.doc_id if one.is_stored else f"{one.doc_id} (no text)" for one in family.members]
        more = "more than " if family.is_truncated else ""
        yield Fact("same family", f"{more}{len(members):,}", first_of(members, _N_NAMED))
    if len(found.versions) > 1:
        yield Fact("stored versions", ", ".join(map(str, found.versions)), "nearkin history")
    yield from nonzero("same text", found.n_copies, first_of(found.copies, _N_NAMED, found.n_copies))
    for field, value in sorted(found.tags.items()):
        yield Fact("tag", f"{field}={value}" if value else field)
    if found.note is not None:
        yield Fact("note", found.note)
    for group in found.groups:
        place = "the principal" if group.principal == one.doc_id else f"principal {group.principal}"
        note = "" if group.note is None else f"; note: {group.note}"
        yield Fact(f"group {group.number}", f"{group.n_documents:,} documents", f"{group.tolerance}; {place}{note}")
        yield from later_facts(0, group.n_decisions)


def origin_facts(origin: Origin) -> Iterator[Fact]:
    """Describe the file that a document was extracted from."""
    yield from _mail_facts(origin)
    declared = "" if origin.declared_kind is None else f", named as {origin.declared_kind}"
    yield Fact("kind", f"{origin.kind}{declared}", f"extracted by {origin.extractor}")
    if origin.size_bytes is not None:
        yield Fact("size", size_text(origin.size_bytes))
    if origin.n_pages is not None:
        yield Fact("pages", origin.n_pages)
    if origin.sha256 is not None:
        yield Fact("SHA-256", origin.sha256)
    remarks = "; ".join(one for one in (origin.sentence, origin.warnings) if one)
    if origin.is_partial:
        yield Fact("only a part of the text", str(origin.exception), remarks, "warning")
    elif remarks:
        yield Fact("remarks", remarks)


def listed_facts(found: ListedDocuments) -> Iterator[Fact]:
    """Count the documents, and those that are in no group yet."""
    yield Fact("documents", found.n_found)
    yield from not_shown(found.n_found - len(found.table))
    yield from later_facts(found.n_not_grouped, found.n_decisions)


def change_text(entry: HistoryEntry) -> str:
    """Count the words that a version changed; empty for the first."""
    if entry.is_erased:
        return "text erased"
    change = entry.change
    if change is None:
        return ""
    if change.is_same_text:
        return "the same text"
    if not change.n_differences and not change.n_words_moved:
        return "the same text except for white space"
    return word_changes_text(change.n_words_removed, change.n_words_added, change.n_words_moved, change.n_differences)


def history_facts(found: DocumentHistory) -> Iterator[Fact]:
    """Count the versions, and say whether the document is removed."""
    removed_at = found.versions[-1].removed_at
    ended = "" if removed_at is None else f"removed {minute(removed_at)} UTC"
    yield Fact(f"versions of {found.doc_id}", len(found.versions), ended)
    if not all(one.change is None or one.change.is_whole for one in found.versions):
        yield Fact("too long to compare to the end", note="some shared words may be counted as changed", tone="warning")


def removed_facts(removed: Removed, n_shown: int) -> Iterator[Fact]:
    """Count the removed documents, or those that would be removed."""
    if removed.is_dry_run:
        yield from not_shown(removed.n_documents + removed.n_unread - n_shown, "raise --limit")
    unread = f"and {removed.n_unread:,} files without a text" if removed.n_unread else ""
    activity = "nothing was changed" if removed.is_dry_run else ""
    if removed.number is not None:
        activity = f"activity {removed.number}"
    label = "would be removed" if removed.is_dry_run else "removed"
    yield Fact(label, removed.n_documents, "; ".join(filter(None, (unread, activity))))
    if earlier := removed.earlier_ids:
        how = f"add the files of that wave again: {first_of(earlier, _N_NAMED)}"
        yield Fact("with a text of another wave", len(earlier), how, "warning")


def search_facts(found: SearchResult, wave: str | None, n_shown: int) -> Iterator[Fact]:
    """Count the documents with some words."""
    yield Fact("documents", found.n_found, f"with {found.query}" + ("" if wave is None else f", of {wave_text(wave)}"))
    yield from not_shown(found.n_found - n_shown)
    yield time_ms(found.elapsed_s)


def info_facts(info: Info) -> Iterator[Fact]:
    """Count documents, versions and waves, and documents that could not be counted or stored."""
    yield Fact("collection", info.place, f"schema version {info.schema}, alphabet {info.alphabet}")
    yield Fact("documents", info.n_documents)
    yield Fact("older versions", info.n_versions - info.n_documents - info.n_removed)
    yield Fact("removed", info.n_removed)
    yield from nonzero("erased texts", info.n_erased)
    yield Fact("waves", len(info.waves), "" if info.waves else "to add documents: nearkin add COLLECTION INPUT...")
    yield Fact("distinct texts", info.n_texts, f"{info.size_bytes / 1e6:,.1f} MB, older and removed ones included")
    yield Fact("parts of the index", info.n_segments)
    yield Fact("similarity index", info.similarity_index, f"of {info.n_indexed:,} texts; short texts have none")
    if info.ignored is not None:
        from nearkin.stages.documents.ignoring import Ignored  # only here, because it loads Arrow

        ignored = Ignored.restored(info.ignored)
        yield Fact("passages that do not count", len(ignored.passages), "and digits" * ignored.numbers)
    yield from nonzero("extracted from files", info.n_extracted, f"{info.n_by_ocr:,} by OCR" * bool(info.n_by_ocr))
    kinds = exception_kinds(info.n_no_text, info.n_partial, info.n_not_stored)
    yield from warning(
        "exceptions", info.n_no_text + info.n_partial + info.n_not_stored, f"{kinds}: nearkin exceptions COLLECTION"
    )
    yield from warning("too few letters", info.n_uncounted, "for --measure letters")
    yield from warning("not stored", info.n_problems, "nearkin exceptions COLLECTION")


def fsck_facts(found: IntegrityReport) -> Iterator[Fact]:
    """Name the damage and what was rebuilt, and say whether the collection is undamaged."""
    yield Fact("texts", found.n_texts)
    yield Fact("parts of the index", found.n_segments)
    yield Fact(
        "collection", "undamaged" if found.is_whole else "damaged", "now" * (found.is_whole and bool(found.rebuilt))
    )
    if found.has_page_checksums is False:
        yield Fact("page checksums", "none", "on this server: only texts and documents were compared", "quiet")
    for differing in found.rebuilt:
        yield Fact("rebuilt", differing, tone="warning")
    for differing in found.not_rebuilt:
        yield Fact("not rebuilt", differing, "run nearkin fsck without --read-only", "warning")
    for fault in found.faults:
        yield Fact("fault", fault, "restore the database from a backup", "damage")
    for doc_id in found.damaged_documents:
        yield Fact("damaged or missing text", str(doc_id), "add the document again", "damage")


def result_facts(found: ActivityResult, n_shown: int, *, is_asked_dry: bool) -> Iterator[Fact]:
    """Describe the changes made, or that would be, and how to undo them; ``is_asked_dry``: a dry run was requested."""
    if found.is_dry_run:
        yield from not_shown(len(found.changes) - n_shown, "raise --limit")
    if not found.changes:
        yield Fact("nothing to change", note="the collection has these values")
        return
    label = "would change" if found.is_dry_run else f"activity {found.number}"
    yield Fact(label, in_words(found.kind, found.data, found.changes))
    if found.is_dry_run:
        yield from [_DRY_RUN] * is_asked_dry
        return
    yield from nonzero("unchanged", found.n_unchanged)
    if any(one.kind in (NEVER_GROUP, SAME_GROUP) for one in found.changes):
        yield Fact("to update the groups", "nearkin groups COLLECTION")
    yield Fact("to undo it", f"nearkin undo COLLECTION {found.number}", tone="quiet")


def purged_facts(found: Purged, *, is_asked_dry: bool) -> Iterator[Fact]:
    """Count the texts that were erased, or would be; see `result_facts`."""
    if not found.n_texts and not found.unread:
        yield Fact("nothing to erase", note="the texts of these documents were erased before")
        return
    done, was = ("would erase", "would be removed") if found.is_dry_run else ("erased", "removed")
    holders = f"of {len(found.holders):,} documents: {first_of(list(found.holders), _N_NAMED)}" if found.holders else ""
    yield Fact(f"{done}, texts", found.n_texts, holders)
    if found.unread:
        yield Fact(f"{done}, files without a text", len(found.unread), first_of(found.unread, _N_NAMED))
    yield from warning(
        "still stored, inside of these", (len(found.inside)), f"purge them, too: {first_of(found.inside, _N_NAMED)}"
    )
    yield from warning(f"copies, {was}", len(found.copies), f"the same text: {first_of(found.copies, _N_NAMED)}")
    if is_asked_dry:
        yield _DRY_RUN
    elif not found.is_dry_run:
        yield Fact("activity", f"{found.number}", "backups, and copies that other tools made, still have the texts")


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
    if kind == CODE and isinstance(values := data.get("values"), Mapping):
        listed = ", ".join(f"{field}={value}" for field, value in values.items()) or "nothing"
        again = f" again (second look {data['second_look']})" if "second_look" in data else ""
        return f"code {counted(len({one.subject for one in changes}), 'document')}{again}: {listed}"
    if kind == BATCH and "n_batches" in data:
        n_here, name = counted(int(str(data["n_documents"])), "document"), data["name"]
        if "of" in data:
            whose = f"{n_here} of {data['n_calls']} coded by {data['of']}"
            return f"draw {name} {data['number']}: {whose}, seed {data['seed']}"
        return f"make {counted(int(str(data['n_batches'])), 'batch', 'batches')} of {name}, {n_here}"
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
    if change.kind == CODING:
        return "set the fields of the coding panel" if change.now else "remove the coding panel"
    if change.kind == SEARCH:
        return f"save the search {change.other}: {change.now}" if change.now else f"forget the search {change.other}"
    if change.kind == BATCH:
        return f"check batch {change.subject} {f'out to {change.now}' if change.now else 'in'}"
    if change.kind in (SECOND, SECOND_LOOK):
        return f"{change.kind.replace('-', ' ')} {change.other}: {value_words(change.kind, change.now)}"
    if change.kind == PRINCIPAL:
        return f"make {change.subject} the principal of its group"
    whose = f"group {change.other} ({change.subject})" if change.kind == GROUP_NOTE else change.subject
    note = f"note on {whose}" if change.kind in (NOTE, GROUP_NOTE) else change.kind
    return f"{note}: {change.now}" if change.now else f"remove the {note}"


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
    if kind == CODING and value:
        return "set"
    if value == "" and kind in _EMPTY:
        return _EMPTY[kind]
    return "not set" if value is None else value or "set"


_EMPTY = {BATCH: "held by nobody", SECOND: "no value", SECOND_LOOK: "the same values"}
"""Empty values of kinds of changes, in words."""


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
    if change.kind in (CODING, BATCH):
        return ("coding panel" if change.kind == CODING else f"batch {change.subject}",)
    if change.kind == SEARCH:
        return (f"search {change.other}",)
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
        found += [] if change.kind in (GROUP_NOTE, BATCH) else pair
    return list(dict.fromkeys(found))


def log_in_words(listed: Sequence[Activity]) -> pa.Table:
    """Return the table of changed values, with their words in the column ``change``."""
    import pyarrow as pa

    from nearkin.collection.decisions.log import table_of_log

    words = [change_words(change) for one in listed for change in one.changes]
    return table_of_log(listed).append_column("change", pa.array(words, pa.large_string()))
