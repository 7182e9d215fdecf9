"""Expected recall of a search for parts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.quantities import nearest_percent_text

if TYPE_CHECKING:
    from nearkin.planning.part_recall import PartRecall


def part_recall_lines(recall: PartRecall, containment: float) -> tuple[str, ...]:
    r"""State the expected recall of both directions, the second one at the length of its parts.

    Examples
    --------
    >>> from nearkin.planning.part_recall import PartRecall
    >>> part_recall_lines(PartRecall(0.0, 0.0, 27), 0.9)
    ('Not searched: stored texts that contain this one or are part of it; this text is too short for that',)
    >>> print(*part_recall_lines(PartRecall(0.998, 0.942, 100), 0.9), sep="\n")
    Texts that contain this one: an expected 99.8% are found at containment 0.9, more above it
    Stored parts of this one: an expected 94.2% of those with 100 words are found, fewer of shorter or repetitive ones
    """
    if recall.containing == recall.contained == 0:
        return ("Not searched: stored texts that contain this one or are part of it; this text is too short for that",)
    containing, contained = nearest_percent_text(recall.containing, 1), nearest_percent_text(recall.contained, 1)
    words = counted(recall.n_words, "word")
    return (
        f"Texts that contain this one: an expected {containing} are found at containment {containment:g}, more above "
        "it",
        f"Stored parts of this one: an expected {contained} of those with {words} are found, fewer of shorter or "
        "repetitive ones",
    )
