"""Sentences about damaged files that were used in part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nearkin.nouns import counted
from nearkin.reports.sentences.sentence import Sentence

if TYPE_CHECKING:
    from nearkin.manifests.inputs import DamagedFile

_MAX_NAMED = 5


def damage_sentences(damaged: Sequence[DamagedFile], who: str) -> Iterator[Sentence]:
    """Name the damaged files; ``who`` says what lacks the rest, such as "The results have"."""
    for one in damaged[:_MAX_NAMED]:
        place = "" if one.line is None else f", line {one.line:,}"
        has = "None of its documents was read." if one.line == 1 else f"{who} only the documents before it."
        what = f"Incomplete: {one.path}{place}: {one.problem}. {has}"
        yield Sentence("", "damage", strong=what)
    if len(damaged) > _MAX_NAMED:
        yield Sentence("", "damage", strong=f"Incomplete: {counted(len(damaged) - _MAX_NAMED, 'more damaged file')}.")
