"""Sentences of ``nearkin similar``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.collection.tolerance import THRESHOLD
from nearkin.nouns import agreeing, counted
from nearkin.planning.part_recall import PART_WORDS
from nearkin.reports.quantities import recall_at_text, share_percent_text
from nearkin.reports.sentences.sentence import Sentence, Tone, not_shown

if TYPE_CHECKING:
    from nearkin.collection.results import SimilarDocuments
    from nearkin.planning.part_recall import MeanPartRecall, PartRecall


def similar_sentences(found: SimilarDocuments, name: str) -> Iterator[Sentence]:
    """Count the similar documents, and describe the limits of the answer."""
    n, missing = found.n_found, found.n_found - len(found.documents)
    yield Sentence(
        (f"; {not_shown(missing)}" if missing else "") + f"; {1000 * found.elapsed_s:,.0f} ms",
        strong=f"{counted(n, 'document')} similar to {name} {found.tolerance.in_words()}",
    )
    if any(one.edit_similarity is None for one in found.documents):
        yield Sentence("edit –: not computed; the texts are too long and too different", "quiet")
    if found.tolerance.measure == "index":
        yield _on_index(found)
    elif not found.is_answered:
        said = "Too few letters for this measure: only identical texts are listed. Try the measure jaccard."
        if found.tolerance.measure != "letters":  # and so no letters
            said = "The text has no words to compare: only identical texts are listed."
        yield Sentence(said, "warning")
    elif found.tolerance.recall is not None and found.tolerance.recall < 1:
        recall = recall_at_text(found.tolerance.recall, found.tolerance.value, at="Jaccard ")
        yield Sentence(f"Expected recall: {recall}")
    if found.expected_recall_of_parts is not None:
        yield from part_recall_sentences(found.expected_recall_of_parts, found.tolerance.value)
        yield Sentence("To measure the recall: nearkin audit COLLECTION --measure containment")
    elif found.tolerance.measure == "containment" and found.is_answered:
        yield Sentence(
            "Every listed document is verified. Short parts may be missed; nearkin audit COLLECTION --measure "
            "containment measures how many"
        )
    if found.n_hot_keys:
        n = found.n_hot_keys
        is_, was = agreeing(n, "is", "are"), agreeing(n, "was", "were")
        yield Sentence(
            f"{counted(n, 'passage')} {is_} common to very many documents and {was} only partly searched; similar "
            "documents may be missing",
            "warning",
        )
    if found.n_not_compared:
        yield not_compared_sentence(found.n_not_compared)
    n_letters_only = sum(one.is_letters_only for one in found.documents)
    if n_letters_only:
        yield Sentence(
            f"{counted(n_letters_only, 'document')}{' of those shown' * (missing > 0)} with similar letters but "
            f"different wording (Jaccard below {THRESHOLD:g})",
            "warning",
        )


def not_compared_sentence(n_texts: int) -> Sentence:
    """Count the texts that a query by words did not compare."""
    return Sentence(
        f"Not compared word by word: {counted(n_texts, 'text')}, because there were too many candidates; the "
        "most similar ones were compared. A higher threshold gives fewer candidates.",
        "warning",
    )


def _on_index(found: SimilarDocuments) -> Sentence:
    if found.is_answered:
        return Sentence(
            f"Similarity index {found.similarity_index}. One number is weak evidence: similar documents may be "
            "missing, and listed ones may differ; check the other columns"
        )
    if found.similarity_index == 0:
        said = "Similarity index 0 has no neighbours: only identical texts are listed. Try the measure letters."
    else:
        said = (
            "The text has no similarity index: it has too few words, or the method drops all its hashes. Only "
            "identical texts are listed. Try the measure letters, or a new collection with a smaller k: nearkin add "
            "NEW INPUT... --index 43B:k=4"
        )
    return Sentence(said, "warning")


def part_recall_sentences(recall: PartRecall, containment: float, tone: Tone = "plain") -> Iterator[Sentence]:
    r"""State the expected recall of both directions, the second one at the length of its parts.

    Both are 0 only if none of the word 5-grams is sampled: then parts were hardly searched for, which is a warning.

    Examples
    --------
    >>> from nearkin.planning.part_recall import PartRecall
    >>> first, second = part_recall_sentences(PartRecall(0.0, 0.0, 59), 0.9)
    >>> first.text[:62], first.tone
    ('Parts are found by a sample of word 5-grams, about 1 in 32. Th', 'warning')
    >>> second.text[:77]
    'To search for them, with the text in FILE: nearkin dedup FILE --against COLLE'
    >>> print(*part_recall_sentences(PartRecall(0.9989, 0.9429, 100), 0.9), sep="\n")  # doctest: +NORMALIZE_WHITESPACE
    Expected recall of texts that contain this one: 99.8% at containment 0.9, higher above
    Expected recall of stored texts that are part of this one: 94.2% for parts of 100 words, lower for shorter or
    repetitive ones
    """
    if recall.containing_texts == recall.parts == 0:
        yield Sentence(
            "Parts are found by a sample of word 5-grams, about 1 in 32. This text is short, and none of its 5-grams "
            "is in the sample. So a stored text that contains this one, or is part of it, may have been missed, "
            "unless the two are similar as a whole",
            "warning",
        )
        yield Sentence(
            "To search for them, with the text in FILE: nearkin dedup FILE --against COLLECTION --measure containment "
            f"--threshold {containment:g} --drop either --out DIRECTORY",
            tone,
        )
        return
    containing, contained = share_percent_text(recall.containing_texts, 1), share_percent_text(recall.parts, 1)
    words = counted(recall.n_words, "word")
    yield Sentence(
        f"Expected recall of texts that contain this one: {containing} at containment {containment:g}, higher above",
        tone,
    )
    yield Sentence(
        f"Expected recall of stored texts that are part of this one: {contained} for parts of {words}, lower for "
        "shorter or repetitive ones",
        tone,
    )


def mean_part_recall_sentences(parts: MeanPartRecall, containment: float) -> Iterator[Sentence]:
    """State the mean expected recall of both directions, for the documents of a stream.

    Examples
    --------
    >>> from nearkin.planning.part_recall import MeanPartRecall
    >>> (one,) = mean_part_recall_sentences(MeanPartRecall(2, 1, 1.8, 0.94), 0.9)
    >>> one.text[:101]
    'Mean expected recall at containment 0.9: 90.0% for stored texts that contain a document of the stream'
    >>> one.text[101:]
    ', and 94.0% for stored parts of 100 words, lower for shorter ones. Each answer has the recall of its document'
    """
    means = parts.to_dict()
    if means["containing_texts"] is None:
        return
    of_parts = ""
    if means["parts"] is not None:
        contained, words = share_percent_text(means["parts"], 1), counted(PART_WORDS, "word")
        of_parts = f", and {contained} for stored parts of {words}, lower for shorter ones"
    containing = share_percent_text(means["containing_texts"], 1)
    yield Sentence(
        f"Mean expected recall at containment {containment:g}: {containing} for stored texts that contain a document "
        f"of the stream{of_parts}. Each answer has the recall of its document",
        "quiet",
    )
