"""Sentences of the commands that show, list, search and remove documents, and of ``nearkin info`` and ``fsck``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, first_of, wave_text
from nearkin.reports.quantities import minute, word_changes_text
from nearkin.reports.sentences.exceptions import exception_counts
from nearkin.reports.sentences.groups import later_words
from nearkin.reports.sentences.sentence import Sentence, not_shown
from nearkin.stages.documents.members import origin_text

if TYPE_CHECKING:
    from nearkin.collection.decisions.removing import Removed
    from nearkin.collection.history import DocumentHistory, HistoryEntry
    from nearkin.collection.info import Info
    from nearkin.collection.integrity import IntegrityReport
    from nearkin.collection.listing.details import DocumentDetails, DocumentFamily
    from nearkin.collection.listing.lists import ListedDocuments
    from nearkin.collection.results import StoredDocument
    from nearkin.collection.word_search.searching import SearchResult
    from nearkin.stages.documents.members import Origin


_MAX_NAMED = 5


def state_of(document: StoredDocument, removed_at: str | None) -> str:
    """Say whether a version is current, was replaced by a newer one, or was removed."""
    if document.is_current:
        return "current"
    return "replaced by a newer version" if removed_at is None else f"removed {minute(removed_at)} UTC"


def mail_facts(origin: Origin) -> list[tuple[str, str]]:
    """Return the existing headers of a mail as labels and values; none for other files."""
    mail = origin.mail
    if mail is None:
        return []
    sent = None if mail.sent_at is None else f"{minute(mail.sent_at.isoformat())} UTC"
    headers = ("from", mail.sender), ("to", mail.to), ("cc", mail.cc), ("sent", sent), ("subject", mail.subject)
    return [(label, value) for label, value in headers if value]


def details_sentences(found: DocumentDetails, family: DocumentFamily) -> Iterator[Sentence]:
    """Describe a document: its version, its source, its length, its family and its copies."""
    one = found.document
    yield Sentence(f", version {one.version}, {state_of(one, found.removed_at)}", strong=one.doc_id)
    origin = origin_text(one.doc_id, one.source, one.line)
    yield Sentence(f"added {minute(found.added_at)} UTC in {wave_text(one.wave)}, from {origin}")
    few = "" if one.is_counted else "; too few letters for --measure letters"
    yield Sentence(f"{counted(one.n_characters, 'character')}{few}")
    if found.origin is not None:
        yield from _origin_sentences(found.origin)
    if found.parent is not None:
        yield Sentence(f"inside {found.parent}")
    if family.members:
        members = [one.doc_id if one.is_stored else f"{one.doc_id} (no text)" for one in family.members]
        more = "more than " if family.is_truncated else ""
        n = counted(len(members), "other document")
        yield Sentence(f"same family: {more}{n}: {first_of(members, _MAX_NAMED)}")
    if len(found.versions) > 1:
        versions = ", ".join(map(str, found.versions))
        yield Sentence(f"stored versions: {versions}; nearkin history lists their changes")
    if found.n_copies:
        copies = first_of(found.copies, _MAX_NAMED, found.n_copies)
        yield Sentence(f"same text: {counted(found.n_copies, 'other document')}: {copies}")
    if found.tags:
        yield Sentence("tags: " + ", ".join(f"{field}={value}" if value else field for field, value in _tags(found)))
    if found.note is not None:
        yield Sentence(f"note: {found.note}")
    for group in found.groups:
        place = "the principal" if group.principal == one.doc_id else f"principal {group.principal}"
        note = "" if group.note is None else f"; note: {group.note}"
        size = counted(group.n_documents, "document")
        yield Sentence(f"group {group.number} ({group.tolerance}): {size}, {place}{note}")
        if said := later_words(0, group.n_decisions):
            yield Sentence(f"{said}: run nearkin groups again", "warning")


def _origin_sentences(origin: Origin) -> Iterator[Sentence]:
    """Describe the file that a document was extracted from."""
    for label, value in mail_facts(origin):
        yield Sentence(f"{label}: {value}")
    declared = "" if origin.declared_kind is None else f" (named as {origin.declared_kind})"
    size = "" if origin.size_bytes is None else f", {counted(origin.size_bytes, 'byte')}"
    pages = "" if origin.n_pages is None else f", {counted(origin.n_pages, 'page')}"
    sha256 = "" if origin.sha256 is None else f", SHA-256 {origin.sha256}"
    yield Sentence(f"{origin.kind}{declared}{size}{pages}, extracted by {origin.extractor}{sha256}")
    told = "; ".join(one for one in (origin.sentence, origin.warnings) if one)
    if origin.is_partial:
        yield Sentence(f"only a part of the text, {origin.exception}: {told}", "warning")
    elif told:
        yield Sentence(f"noted: {told}")


def _tags(found: DocumentDetails) -> list[tuple[str, str]]:
    return sorted(found.tags.items())


def listed_sentences(found: ListedDocuments, *, is_written: bool) -> Iterator[Sentence]:
    """Count the documents, say how to see the others, and count those that are in no group yet."""
    missing = found.n_found - len(found.table)
    rest = f"; {not_shown(missing, has_out=not is_written)}" if missing else ""
    yield Sentence(rest, strong=counted(found.n_found, "document"))
    if said := later_words(found.n_not_grouped, found.n_decisions):
        yield Sentence(f"{said}: run nearkin groups again", "warning")


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


def history_sentences(found: DocumentHistory) -> Iterator[Sentence]:
    """Count the versions, and say whether the document is current, removed or erased."""
    last = found.versions[-1]
    ended = "" if last.removed_at is None else f"; removed {minute(last.removed_at)} UTC"
    yield Sentence(f" of {found.doc_id}{ended}", strong=counted(len(found.versions), "version"))
    if not all(one.change is None or one.change.is_whole for one in found.versions):
        yield Sentence(
            "Some texts are too long to compare to the end: some shared words may be counted as changed.", "warning"
        )


def removed_sentences(removed: Removed, n_shown: int) -> Iterator[Sentence]:
    """Count the removed documents, or those that would be removed."""
    n, more = counted(removed.n_documents, "document"), removed.n_documents + removed.n_unread - n_shown
    if removed.n_unread:
        n += f" and {counted(removed.n_unread, 'file')} without a text"
    if not removed.is_dry_run:
        yield Sentence("" if removed.number is None else f", activity {removed.number}", strong=f"{n} removed")
    elif more > 0:
        yield Sentence(not_shown(f"{more:,} more", has_out=False))
    if removed.is_dry_run:
        yield Sentence("; nothing was changed", strong=f"{n} would be removed")
    if earlier := removed.earlier_ids:
        them = agreeing(len(earlier), "it", "them")
        yield Sentence(
            f"{len(earlier):,} of these came in another wave, and got a new version in this one: "
            f"{first_of(earlier, _MAX_NAMED)}. To have {them} back with the earlier text, add the files of "
            "that wave again",
            "warning",
        )


def search_sentences(found: SearchResult, wave: str | None, n_shown: int, *, is_written: bool) -> Iterator[Sentence]:
    """Count the documents."""
    missing = found.n_found - n_shown
    yield Sentence(
        (f" of {wave_text(wave)}" if wave is not None else "")
        + (f"; {not_shown(missing, has_out=not is_written)}" if missing else "")
        + f"; {1000 * found.elapsed_s:,.0f} ms",
        strong=f"{counted(found.n_found, 'document')} with {found.query}",
    )


def info_sentences(told: Info) -> Iterator[Sentence]:
    """Count documents, versions and waves, and documents that could not be counted or stored."""
    n_replaced = told.n_versions - told.n_documents - told.n_removed
    others = ["older versions"] * (n_replaced > 0) + ["removed documents"] * (told.n_removed > 0)
    yield Sentence(
        f" in {counted(len(told.waves), 'wave')}; {counted(told.n_texts, 'distinct text')} "
        f"({told.size_bytes / 1e6:,.1f} MB)" + f", including {' and '.join(others)}" * bool(others),
        strong=counted(told.n_documents, "document"),
    )
    if not told.waves:
        yield Sentence("Empty: nothing was added, or the first nearkin add was killed: nearkin add COLLECTION INPUT...")
    erased = f"; {counted(told.n_erased, 'text')} erased" if told.n_erased else ""
    yield Sentence(f"{counted(n_replaced, 'older version')}, {told.n_removed:,} removed{erased}")
    parts = counted(told.n_segments, "part")
    yield Sentence(f"{told.place}: alphabet {told.alphabet}, schema version {told.schema}, search index in {parts}")
    indexed = _indexed(told.n_indexed, told.n_texts)
    yield Sentence(f"Similarity index {told.similarity_index}, for --measure index only: {indexed}")
    if told.ignored is not None:
        from nearkin.stages.documents.ignoring import Ignored  # only here, because it loads Arrow

        ignored = Ignored.restored(told.ignored)
        passages = [counted(len(ignored.passages), "passage")] if ignored.passages else []
        yield Sentence(f"Not counted: {' and '.join([*passages, *(['digits'] if ignored.numbers else [])])}")
    if n := told.n_extracted:
        by_ocr = f", {told.n_by_ocr:,} of them by OCR" if told.n_by_ocr else ""
        yield Sentence(f"{counted(n, 'document')} extracted from files{by_ocr}")
    if told.n_no_text or told.n_partial or told.n_not_stored:
        said = exception_counts(told.n_no_text, told.n_partial, told.n_not_stored)
        yield Sentence(f"{said}: nearkin exceptions COLLECTION", "warning")
    if n := told.n_uncounted:
        few = counted(n, "document has", "documents have")
        yield Sentence(f"{few} too few letters for --measure letters: nearkin info COLLECTION --uncounted", "warning")
    if n := told.n_problems:
        documents = counted(n, "document was not stored", "documents were not stored")
        yield Sentence(f"{documents}: nearkin info COLLECTION --problems", "warning")


def _indexed(n_indexed: int, n_texts: int) -> str:
    """Count the texts with a similarity index, and say why others have none.

    Examples
    --------
    >>> _indexed(160, 201)
    '41 of 201 texts have none, which is normal for texts of up to a few hundred words'
    >>> _indexed(158, 158)
    'all 158 texts have one'
    >>> _indexed(1, 1)
    'the only text has one'
    """
    n_others = n_texts - n_indexed
    if n_others <= 0:
        return "the only text has one" if n_indexed == 1 else f"all {counted(n_indexed, 'text')} have one"
    texts = f"{n_others:,} of {counted(n_texts, 'text')} {agreeing(n_others, 'has', 'have')} none"
    return f"{texts}, which is normal for texts of up to a few hundred words"


def fsck_sentences(found: IntegrityReport) -> Iterator[Sentence]:
    """Name the damage and what was rebuilt, and say whether the collection is undamaged."""
    for fault in (*found.faults, *(f"the text of {one} is damaged or missing" for one in found.damaged_documents)):
        yield Sentence(fault, "damage")
    for differing in found.rebuilt:
        yield Sentence(f"rebuilt: {differing}", "warning")
    for differing in found.not_rebuilt:
        yield Sentence(f"not rebuilt, because of --read-only: {differing}", "warning")
    if found.has_page_checksums is False:
        yield Sentence("The server has no page checksums: only texts and documents were compared", "quiet")
    checked = f"Checked {counted(found.n_texts, 'text')} and {counted(found.n_segments, 'part')} of the index"
    if found.is_whole:
        yield Sentence("", strong=f"{checked}: the collection is undamaged{' now' if found.rebuilt else ''}")
        return
    n_faults = len(found.faults) + len(found.damaged_documents) + len(found.not_rebuilt)
    what_to_do = ". Restore the database from a backup" if found.faults else ""
    if found.damaged_documents:
        what_to_do += ", or add the damaged documents again" if what_to_do else ". Add the damaged documents again"
    elif not what_to_do:
        what_to_do = ". Run nearkin fsck without --read-only"
    yield Sentence(what_to_do, strong=f"{checked}: {counted(n_faults, 'fault')}")
