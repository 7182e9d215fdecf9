"""Expected recall of a search for parts, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.planning.part_recall import PART_WORDS
from nearkin.reports.quantities import share_percent_text
from nearkin.reports.sentences.sentence import Sentence, Tone

if TYPE_CHECKING:
    from nearkin.planning.part_recall import MeanPartRecall, PartRecall


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
