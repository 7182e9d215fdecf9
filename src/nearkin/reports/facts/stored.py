"""Facts about what a collection holds: loads, lists, single documents, exceptions, damage and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import first_of, wave_text
from nearkin.reports.facts.fact import Fact, counts_text, damage_facts, nonzero, not_shown, warning
from nearkin.reports.facts.queries import later_facts, time_ms
from nearkin.reports.quantities import minute, size_text, word_changes_text
from nearkin.stages.documents.members import origin_text

if TYPE_CHECKING:
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


def add_facts(added: Added, damaged: Sequence[DamagedFile]) -> Iterator[Fact]:
    """Count the documents of a wave, and those that are exceptions."""
    is_wave = bool(added.n_new or added.n_new_versions or added.n_exceptions)
    yield Fact("documents", added.n_documents, wave_text(added.wave) if is_wave else "nothing new")
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


def exceptions_facts(exceptions: StoredExceptions, n_shown: int) -> Iterator[Fact]:
    """Count the exceptions, and say how to see the others."""
    yield Fact(
        "exceptions",
        len(exceptions.exceptions),
        exception_kinds(exceptions.n_no_text, exceptions.n_partial, exceptions.n_not_stored),
    )
    yield from not_shown(len(exceptions.exceptions) - n_shown)


def exception_kinds(n_no_text: int, n_partial: int, n_not_stored: int = 0) -> str:
    """Count exceptions by kind: files without a text, those with a part of it, those that were read and not stored."""
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


def details_facts(details: DocumentDetails, family: DocumentFamily) -> Iterator[Fact]:
    """Describe a document: its version, its source, its length, its family and its copies."""
    document = details.document
    yield Fact("document", document.doc_id, f"version {document.version}, {state_of(document, details.removed_at)}")
    origin = origin_text(document.doc_id, document.source, document.line)
    yield Fact("added", f"{minute(details.added_at)} UTC", f"in {wave_text(document.wave)}, from {origin}")
    yield Fact(
        "characters", document.n_characters, "" if document.is_counted else "too few letters for --measure letters"
    )
    if details.origin is not None:
        yield from origin_facts(details.origin)
    if details.parent is not None:
        yield Fact("inside", details.parent)
    if family.members:
        members = [member.doc_id if member.is_stored else f"{member.doc_id} (no text)" for member in family.members]
        more = "more than " if family.is_truncated else ""
        yield Fact("same family", f"{more}{len(members):,}", first_of(members, _N_NAMED))
    if len(details.versions) > 1:
        yield Fact("stored versions", ", ".join(map(str, details.versions)), "nearkin history")
    yield from nonzero("same text", details.n_copies, first_of(details.copies, _N_NAMED, details.n_copies))
    for field, value in sorted(details.tags.items()):
        yield Fact("tag", f"{field}={value}" if value else field)
    if details.note is not None:
        yield Fact("note", details.note)
    for group in details.groups:
        place = "the principal" if group.principal == document.doc_id else f"principal {group.principal}"
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
    remarks = "; ".join(remark for remark in (origin.sentence, origin.warnings) if remark)
    if origin.is_partial:
        yield Fact("only a part of the text", str(origin.exception), remarks, "warning")
    elif remarks:
        yield Fact("remarks", remarks)


def listed_facts(documents: ListedDocuments) -> Iterator[Fact]:
    """Count the documents, and those that are in no group yet."""
    yield Fact("documents", documents.n_found)
    yield from not_shown(documents.n_found - len(documents.table))
    yield from later_facts(documents.n_not_grouped, documents.n_decisions)


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


def history_facts(history: DocumentHistory) -> Iterator[Fact]:
    """Count the versions, and say whether the document is removed."""
    removed_at = history.versions[-1].removed_at
    ended = "" if removed_at is None else f"removed {minute(removed_at)} UTC"
    yield Fact(f"versions of {history.doc_id}", len(history.versions), ended)
    if not all(version.change is None or version.change.is_whole for version in history.versions):
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


def search_facts(result: SearchResult, wave: str | None, n_shown: int) -> Iterator[Fact]:
    """Count the documents with some words."""
    yield Fact(
        "documents", result.n_found, f"with {result.query}" + ("" if wave is None else f", of {wave_text(wave)}")
    )
    yield from not_shown(result.n_found - n_shown)
    yield time_ms(result.elapsed_s)


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


def fsck_facts(report: IntegrityReport) -> Iterator[Fact]:
    """Name the damage and what was rebuilt, and say whether the collection is undamaged."""
    yield Fact("texts", report.n_texts)
    yield Fact("parts of the index", report.n_segments)
    yield Fact(
        "collection", "undamaged" if report.is_whole else "damaged", "now" * (report.is_whole and bool(report.rebuilt))
    )
    if report.has_page_checksums is False:
        yield Fact("page checksums", "none", "on this server: only texts and documents were compared", "quiet")
    for differing in report.rebuilt:
        yield Fact("rebuilt", differing, tone="warning")
    for differing in report.not_rebuilt:
        yield Fact("not rebuilt", differing, "run nearkin fsck without --read-only", "warning")
    for fault in report.faults:
        yield Fact("fault", fault, "restore the database from a backup", "damage")
    for doc_id in report.damaged_documents:
        yield Fact("damaged or missing text", str(doc_id), "add the document again", "damage")
