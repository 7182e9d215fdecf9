"""What may differ in a verified pair, as the column ``differs`` names it; imports no array library, as `measures`."""

from __future__ import annotations

from typing import Literal, get_args

Difference = Literal[
    "nothing", "numbers", "words and numbers", "passage added", "passage replaced", "names", "fields", "other"
]
DIFFERENCES: tuple[Difference, ...] = get_args(Difference)
"""Values of the column ``differs``, the index of each is its code."""
KeepApart = Literal["numbers", "numbers,names", "none"]
_NUMBERS: tuple[Difference, ...] = ("numbers", "words and numbers", "passage replaced")
APART: dict[str, tuple[Difference, ...]] = {
    "numbers": _NUMBERS,
    "numbers,names": (*_NUMBERS, "names", "fields"),
    "none": (),
}
"""Values of ``--keep-apart``, with the differences of pairs that are no matches."""
