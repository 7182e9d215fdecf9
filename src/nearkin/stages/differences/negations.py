"""Negations of two texts, at their differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nearkin.stages.differences.kinds import is_negation
from nearkin.stages.differences.wording import Word, Wording

_OPENING = "([\"'“‘„«*_—–-"


@dataclass(frozen=True, slots=True)
class Negation:
    """Negation: the form that is compared (n't is not), as it is written in lower case, and its place."""

    form: str
    written: str
    start: int


def more_negations(own: Wording, words: Sequence[Word], other: Wording, others: Sequence[Word]) -> list[Negation]:
    """Return the negations of which one side of a difference has more."""
    mine, theirs = negations_in(own, words), negations_in(other, others)
    more = Counter(one.form for one in mine) - Counter(one.form for one in theirs)
    return [one for one in mine if one.form in more]


def first_negations(a: str, b: str) -> tuple[int, int]:
    """Return the place of the first negation of which each side of a difference has more; 0 if there is none.

    Examples
    --------
    >>> first_negations("shall pay the rent and not", "shall never pay"), first_negations("not here", "not there")
    ((23, 6), (0, 0))
    """
    sides = [(own, tuple(own.words(0, len(own.text)))) for own in (Wording(a), Wording(b))]
    mine, theirs = more_negations(*sides[0], *sides[1]), more_negations(*sides[1], *sides[0])
    return mine[0].start if mine else 0, theirs[0].start if theirs else 0


def negations_in(own: Wording, words: Sequence[Word]) -> list[Negation]:
    """Return the negations among some words."""
    found = list[Negation]()
    for word in words:
        if not word.is_word or not is_negation(own.text, word):
            continue
        start = word.start
        while word.core == "t" and start and not own.text[start - 1].isspace():  # isn't: from its beginning
            start -= 1
        form = "not" if word.core in ("t", "cannot") else word.core
        found.append(Negation(form, own.text[start : word.end].lower().lstrip(_OPENING), word.start))
    return found
