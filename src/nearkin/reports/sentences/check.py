"""Sentences of ``nearkin check``: whether a similar document is stored, and limits of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import agreeing, counted, first_of
from nearkin.reports.quantities import recall_at_text
from nearkin.reports.sentences.sentence import Sentence, missing_sentences, not_shown
from nearkin.reports.sentences.similar import mean_part_recall_sentences, part_recall_sentences

if TYPE_CHECKING:
    from nearkin.collection.check_in.results import Checked, CheckedDocument, StreamSummary

_SHOWN = 5
_VERDICTS = {
    "exact": "is already stored: {}",
    "near": "is nearly the same as {}",
    "contained": "is contained in {}",
    "contains": "contains {}",
}

_SAME_ONCE_NORMALISED = "is already stored, the same text once normalised: {}"


def copy_in_words(one: CheckedDocument) -> str:
    """Say whether an exact copy is the same text, or the same only once normalised, as by case and white space."""
    return "same text" if one.is_same_text else "once normalised"


def verdict_sentence(found: Checked, name: str) -> Sentence:
    """Describe the relation of the checked document to the most similar stored document."""
    elapsed = f"; {1000 * found.elapsed_s:,.0f} ms"
    if not found.documents:
        erased = "; its text was erased by nearkin purge" if found.is_purged else ""
        return Sentence(elapsed, strong=f"{name}: new, no match in the collection{erased}")
    most_similar = found.documents[0]
    is_same_once_normalised = found.verdict == "exact" and not most_similar.is_same_text
    said = _SAME_ONCE_NORMALISED if is_same_once_normalised else _VERDICTS[found.verdict]
    first = said.format(most_similar.document)
    return Sentence(_also(found) + elapsed, strong=f"{name} {first}")


def _also(found: Checked) -> str:
    """Count the matches other than the first: exact copies, which are listed first, and similar documents."""
    others, n_others = found.documents[1:], found.n_found - 1
    n_copies = sum(one.relation == "exact" for one in others)
    if found.verdict == "exact" and n_copies == len(others) < n_others:  # what is not listed may be a copy, too
        return f" (and {counted(n_others, 'more match', 'more matches')})"
    copies = [counted(n_copies, "more exact copy", "more exact copies")] * (n_copies > 0)
    similar = [counted(n_others - n_copies, "similar document")] * (n_others > n_copies)
    return f" (and {', '.join([*copies, *similar])})" if n_others else ""


def truncated_sentences(found: Checked) -> Iterator[Sentence]:
    """Count the documents that are not shown, if there are any."""
    if found.is_truncated:
        yield Sentence(not_shown(found.n_found - len(found.documents), has_out=False), "quiet")


def check_sentences(
    found: Checked, *, is_storing: bool, is_read_only: bool = False, is_empty: bool = False
) -> Iterator[Sentence]:
    """Describe the limits of the answer, for a text that may be empty, and the stored document."""
    yield from missing_sentences("the text", found.missing)
    if found.not_checked:
        n, shown = len(found.not_checked), first_of(found.not_checked, _SHOWN)
        what = f"{counted(n, 'document')} inside it {agreeing(n, 'was', 'were')} not checked: {shown}"
        yield Sentence(f"{what}; check {agreeing(n, 'it', 'each')} by itself", "warning")
    if any(one.edit_similarity is None and one.relation in ("contained", "contains") for one in found.documents):
        yield Sentence("edit –: not computed where one text is a part of the other", "quiet")
    yield from _on_limits(found, is_empty=is_empty)
    if found.stored_as is not None:
        if found.is_resent:
            of = f" (version {found.version})" if (found.version or 1) > 1 else ""
            yield Sentence("", strong=f"already stored as {found.stored_as}{of}")
        elif (found.version or 1) > 1:
            stored = f"stored as version {found.version} of {found.stored_as}"
            yield Sentence("; to list its versions: nearkin history", strong=stored)
        else:
            yield Sentence("", strong=f"stored as {found.stored_as}")
    elif is_storing and found.is_resent:
        yield Sentence("", strong="already stored under the same id")
    elif is_storing:
        yield Sentence("not stored, because of --only-new")
    elif found.is_purged:
        erased = "" if found.verdict == "new" else "; its text was erased by nearkin purge"
        yield Sentence(f"not stored{erased}; it cannot be stored again", "warning")
    else:
        yield Sentence("not stored" if is_read_only else "not stored; use --store to store it", "quiet")


def stream_sentences(summary: StreamSummary, *, is_kept: bool) -> Iterator[Sentence]:
    """Summarise a stream; count the kept documents only if ``is_kept``."""
    told = summary.verdicts
    each_ms = 1000 * summary.elapsed_s / max(1, summary.n_documents)
    n_copies = told["exact"] - summary.n_already_stored
    copies, near = counted(n_copies, "exact copy", "exact copies"), counted(told["near"], "near-duplicate")
    counts = f"{told['new']:,} new, {copies}, {near}"
    if summary.containment is not None:
        parts = counted(told["contained"], "part of a stored document", "parts of stored documents")
        counts += f", {parts}, {told['contains']:,} with a stored document inside"
    if n_before := summary.n_already_stored - summary.n_repeated:
        counts += f", {n_before:,} already stored with the same id and text"
    if summary.n_repeated:
        counts += f", {counted(summary.n_repeated, 'repeated line')}"
    kept = f", {summary.n_kept:,} kept" if is_kept else ""
    yield Sentence(
        f": {counts}; {summary.n_stored:,} stored{kept}; {each_ms:.1f} ms per document",
        strong=counted(summary.n_documents, "document"),
    )
    near = f"Near-duplicates have a Jaccard similarity of at least {summary.threshold:g}"
    if summary.expected_recall is not None:
        near += f" (expected recall: {recall_at_text(summary.expected_recall, summary.threshold)})"
    if summary.containment is None:
        yield Sentence(f"{near}; parts of texts were not looked for (--containment off)", "quiet")
    else:
        yield Sentence(f"{near}; parts have a containment of at least {summary.containment:g}", "quiet")
        yield from mean_part_recall_sentences(summary.parts, summary.containment)
    if n := summary.n_purged:
        erased = (
            f"The {agreeing(n, 'text', 'texts')} of {counted(n, 'document')} {agreeing(n, 'was', 'were')} erased by"
        )
        yield Sentence(f"{erased} nearkin purge; {agreeing(n, 'it', 'they')} cannot be stored again.", "warning")
    if summary.n_hot:
        yield Sentence(
            f"{counted(summary.n_hot, 'document')} {agreeing(summary.n_hot, 'has', 'have')} passages that very many "
            "stored texts have, too. Only some of those texts were compared, so similar documents may have been missed "
            "(n_hot_keys in the answers)",
            "warning",
        )
    if summary.n_problems:
        n = summary.n_problems
        yield Sentence(f"Could not check {counted(n, 'document')}: see the answers with an error.", "warning")


def recall_sentences(found: Checked) -> Iterator[Sentence]:
    """State the expected recall of near-duplicates and of parts, unless a copy or a near-duplicate was found."""
    if found.expected_recall is None or found.verdict not in ("new", "contained", "contains"):
        return
    recall = recall_at_text(found.expected_recall, found.options.threshold, at="Jaccard ")
    yield Sentence(f"Expected recall of near-duplicates: {recall}", "quiet")
    if found.expected_recall_of_parts is not None and found.options.containment is not None:
        yield from part_recall_sentences(found.expected_recall_of_parts, found.options.containment, "quiet")


def _on_limits(found: Checked, *, is_empty: bool) -> Iterator[Sentence]:
    if not found.is_answered:
        listed = "an empty text matches no other document" if is_empty else "only identical texts are listed"
        yield Sentence(f"Too few words to compare: {listed}.", "warning")
    elif found.options.measure == "index":
        yield Sentence(
            "Searched by the similarity index, which misses most matches; omit --measure index to find more.", "quiet"
        )
    else:
        yield from recall_sentences(found)
    if found.n_hot_keys and found.verdict != "exact":
        n = found.n_hot_keys
        yield Sentence(
            f"{counted(n, 'passage')} {agreeing(n, 'is', 'are')} common to very many documents and "
            f"{agreeing(n, 'was', 'were')} only partly searched; a similar document may have been missed",
            "warning",
        )
    if found.n_compared < found.n_candidates:
        yield Sentence(
            f"compared {found.n_compared:,} of {counted(found.n_candidates, 'candidate')}, the most promising first",
            "warning",
        )
