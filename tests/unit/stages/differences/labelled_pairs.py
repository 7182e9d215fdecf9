"""Pairs of texts with the relation that they have by a written rule; the last ones were not seen before the rules.

A text has slots ``{KIND|one|other}``. A pair differs in some slots, and the kinds of these decide: names of parties or
places (P), with numbers or without, are "same form, other parties"; numbers, dates and sums (N) alone are "other
numbers or dates"; a sentence that is left out (D) makes a longer or shorter version; a blank that is filled in (B) is
"signature or date filled in"; a role (R), another word (W) or a turn of a sentence (T) makes every pair "revised".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

_SLOT = re.compile(r"\{([PNDBRWT])\|([^|}]*)\|?([^}]*)\}")
_MIXES = ("", "N", "NN", "P", "PP", "PN", "PPN", "D", "-D", "DD", "B", "R", "RR", "W", "T", "RP", "WP")
"""Kinds of the slots in which a pair differs; "-": the second text is the longer one."""


class LabelledPair(NamedTuple):
    language: str
    state: str
    mix: str
    relation: str
    has_names: bool
    a: str
    b: str


def labelled_pairs() -> Iterator[LabelledPair]:
    """Yield 255 pairs, 17 of each text."""
    random, told = Random(49), Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for block in told.strip().split("\n\n"):
        header, text = block.split("\n", 1)
        language, _, state = header.removeprefix("# ").partition(", ")
        kinds = [slot[1] for slot in _SLOT.finditer(text)]
        for mix in _MIXES:
            chosen = set[int]()
            for kind in mix.removeprefix("-"):
                places = [i for i, one in enumerate(kinds) if one == kind and i not in chosen]
                chosen |= {random.choice(places)} if places else set()
            a, b = _filled(text, set()), _filled(text, chosen)
            a, b = (b, a) if mix.startswith("-") else (a, b)
            yield LabelledPair(language, state, mix, relation_of_mix(mix), "P" in mix, a, b)


def relation_of_mix(mix: str) -> str:
    """The written rule."""
    if set(mix) & {"R", "W", "T"}:
        return "revised"
    if "D" in mix:
        return "longer version" if mix.startswith("-") else "shorter version or excerpt"
    if "B" in mix:
        return "signature or date filled in"
    return "same form, other parties" if "P" in mix else "other numbers or dates" if mix else "exact copy"


def _filled(text: str, chosen: set[int]) -> str:
    number = -1

    def value(slot: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return slot[3 if number in chosen else 2]

    return _SLOT.sub(value, text)
