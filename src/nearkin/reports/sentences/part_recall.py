"""Expected recall of a search for parts, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.quantities import share_percent_text
from nearkin.reports.sentences.sentence import Sentence, Tone

if TYPE_CHECKING:
    from nearkin.planning.part_recall import PartRecall


def part_recall_sentences(recall: PartRecall, containment: float, tone: Tone = "plain") -> Iterator[Sentence]:
    r"""State the expected recall of both directions, the second one at the length of its parts.

    Both are 0 only if none of the word 5-grams is sampled: then parts were not searched for, which is a warning.

    Examples
    --------
    >>> from nearkin.planning.part_recall import PartRecall
    >>> first, second = part_recall_sentences(PartRecall(0.0, 0.0, 59), 0.9)
    >>> first.text[:80], first.tone
    ('Not searched: stored texts that contain this one or are part of it. The search u', 'warning')
    >>> second.text[:77]
    'To search for them, with the text in FILE: nearkin dedup FILE --against COLLE'
    >>> print(*part_recall_sentences(PartRecall(0.9989, 0.9429, 100), 0.9), sep="\n")
    Texts that contain this one: an expected 99.8% are found at containment 0.9, more above it
    Stored parts of this one: an expected 94.2% of those with 100 words are found, fewer of shorter or repetitive ones
    """
    if recall.containing == recall.contained == 0:
        yield Sentence(
            "Not searched: stored texts that contain this one or are part of it. The search uses a sample of about 1 "
            "in 32 word 5-grams, and the sample has no word 5-gram of this text, which can happen with short texts. "
            "There may be such texts that are not listed",
            "warning",
        )
        yield Sentence(
            "To search for them, with the text in FILE: nearkin dedup FILE --against COLLECTION --measure containment "
            f"--threshold {containment:g} --drop either --out DIRECTORY",
            tone,
        )
        return
    containing, contained = share_percent_text(recall.containing, 1), share_percent_text(recall.contained, 1)
    words = counted(recall.n_words, "word")
    yield Sentence(
        f"Texts that contain this one: an expected {containing} are found at containment {containment:g}, more above "
        "it",
        tone,
    )
    yield Sentence(
        f"Stored parts of this one: an expected {contained} of those with {words} are found, fewer of shorter or "
        "repetitive ones",
        tone,
    )
