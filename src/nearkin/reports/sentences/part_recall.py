"""Expected recall of a search for parts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.quantities import nearest_percent_text

if TYPE_CHECKING:
    from nearkin.planning.part_recall import PartRecall


def part_recall_text(recall: PartRecall, containment: float) -> str:
    """State the recall of both directions, the second one at the length of its parts.

    Examples
    --------
    >>> from nearkin.planning.part_recall import PartRecall
    >>> part_recall_text(PartRecall(0.0, 0.0, 27), 0.9)
    'Other texts that contain it, and its parts, are not found: a text this short has no sampled word 5-gram'
    """
    if recall.containing == recall.contained == 0:
        return "Other texts that contain it, and its parts, are not found: a text this short has no sampled word 5-gram"
    containing, contained = nearest_percent_text(recall.containing, 1), nearest_percent_text(recall.contained, 1)
    return (
        f"Expected recall at containment {containment:g}: {containing} of the texts that contain this one, {contained} "
        f"of its parts with {counted(recall.n_words, 'word')}; higher above, lower for parts that are shorter or "
        "repeat themselves"
    )
