"""What may differ in a verified pair, as the column ``differs`` names it; imports no array library, as `measures`."""

from __future__ import annotations

from typing import Literal, get_args

Difference = Literal["nothing", "numbers", "mostly numbers", "passage added", "passage replaced", "other"]
DIFFERENCES: tuple[Difference, ...] = get_args(Difference)
"""Values of the column ``differs``, the index of each is its code."""
MEANINGS: dict[Difference, str] = {
    "nothing": "the same text once normalised",
    "numbers": "every word that differs is a number or belongs to a date",
    "mostly numbers": "numbers replace numbers, and more than twice as large a share of them differs as of the words",
    "passage added": "one text is the other with one run of words more",
    "passage replaced": "one run of at least five words differs, the rest does not",
    "other": "anything else, such as other words, or other punctuation with the same words",
}
KeepApart = Literal["numbers", "none"]
APART: dict[str, tuple[Difference, ...]] = {"numbers": ("numbers", "mostly numbers"), "none": ()}
"""Values of ``--keep-apart``, with the differences of pairs that are no matches."""
