"""Sentences of ``nearkin info`` and ``nearkin fsck``: contents and damage of a collection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted
from nearkin.reports.sentences.exceptions import exception_counts
from nearkin.reports.sentences.sentence import Sentence
from nearkin.stages.documents.ignoring import Ignored

if TYPE_CHECKING:
    from nearkin.collection.info import Info
    from nearkin.collection.integrity.fsck import IntegrityReport


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
    yield Sentence(f"Similarity index {told.similarity_index}, for --measure si and --method si only: {indexed}")
    if told.ignored is not None:
        ignored = Ignored.restored(told.ignored)
        passages = [counted(len(ignored.passages), "passage")] if ignored.passages else []
        yield Sentence(f"Not counted: {' and '.join([*passages, *(['digits'] if ignored.numbers else [])])}")
    if n := told.n_extracted:
        by_ocr = f", {told.n_by_ocr:,} of them by OCR" if told.n_by_ocr else ""
        yield Sentence(f"{counted(n, 'document')} extracted from files{by_ocr}")
    if n := told.n_older_extractors:
        texts = counted(n, "text is", "texts are")
        yield Sentence(f"{texts} of another version of an extractor: nearkin add COLLECTION … --re-extract", "warning")
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
    """Name the damage and the repairs, and say whether the collection is undamaged."""
    for fault in (
        *found.faults,
        *found.group_faults,
        *(f"the text of {one} is damaged" for one in found.damaged_documents),
    ):
        yield Sentence(fault, "damage")
    for row in found.mended_rows:
        yield Sentence(f"repaired: {row}", "warning")
    for segment in found.remade_segments:
        yield Sentence(f"rebuilt: {segment}", "warning")
    if found.mended_texts:
        yield Sentence(f"repaired: counts, signatures or indexes of {counted(found.mended_texts, 'text')}", "warning")
    for fault in found.repairable:
        yield Sentence(f"not repaired, because of --read-only: {fault}", "warning")
    if found.sealed_since is not None:
        since = found.sealed_since.replace("T", " ")[:16]
        yield Sentence(f"Rows that were changed or lost before {since} UTC cannot be detected", "quiet")
    yield _verdict(found)


def _verdict(found: IntegrityReport) -> Sentence:
    """Say what was checked, whether it is damaged, and what to do."""
    damage = []
    if n := len(found.damaged_documents):
        texts, are = agreeing(n, "the text", "the texts"), agreeing(n, "is", "are")
        damage.append(f"{texts} of {counted(n, 'document version')} {are} damaged")
    if n := len(found.faults):
        damage.append(f"{counted(n, 'other fault') if damage else counted(n, 'fault')} cannot be repaired")
    what_to_do = ""
    if damage and found.repairable:
        what_to_do = ". Run nearkin fsck without --read-only to repair what it can; restore a backup for the rest"
    elif damage:
        what_to_do = ". Restore the database from a backup"
    elif found.repairable:
        damage.append("the collection is damaged")
        what_to_do = ". Run nearkin fsck without --read-only to repair it"
    if damage and found.damaged_documents and not found.repairable:
        what_to_do += ", or add the damaged documents again"
    if n := len(found.group_faults):
        commands = agreeing(n, "the command", "the commands")
        of_groups = f". Run {commands} above to compute the groups; only a backup can restore their numbers and history"
        if found.is_only_seal_of_groups:
            of_groups = ". Their seal was written again; you need not do anything"
        what_to_do = what_to_do or of_groups
        have = "had" if found.is_only_seal_of_groups else "have"
        damage.append(f"the stored groups {have} {counted(n, 'fault')}")
    was_repaired = found.mended_rows or found.remade_segments or found.mended_texts
    said = " and ".join(damage) or f"the collection is undamaged{' now' if was_repaired else ''}"
    checked = f"Checked {counted(found.n_texts, 'text')} and {counted(found.n_segments, 'part')} of the index"
    return Sentence(what_to_do, strong=f"{checked}: {said}")
