"""Kinds of a difference: numbers, dates, names, negations, formatting, other wording.

The rules use two texts and English words, and nothing learned:

- formatting: the words are the same, and capitals, punctuation, invisible characters or the Unicode form of characters
  differ: ½ and 1⁄2, ％ and %, but not m² and m2;
- dates: months, weekdays, and all numbers of a date: ``3 March 2027``, ``March 3, 2027``, ``3rd day of March``,
  ``2027-03-03``, ``3.3.2027``;
- numbers: other words with a digit, number words, and signs that change an amount (see :mod:`.signs`): 1.5 and 15, -500
  and 500, m² and m2, but not 1–2 and 1-2; in doubt, as in (500) and 500, a sign changes it;
- negations: not, no, never and so on, also in ``isn't`` beside ``is``;
- names: words with a capital inside a sentence that have one wherever they occur in the two texts, and such a word
  before another one at the beginning; not beside a word in capitals, as in a heading;
- wording: all other words.

A difference has every kind that one of its words has. Words that both sides have as often do not count, unless there
are no others: the order of words is wording.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nearkin.stages.differences.changes import Change
from nearkin.stages.differences.comparison import KINDS, DifferenceKind
from nearkin.stages.differences.particulars import DATES, JOINING, NUMBERS, PARTIES, Original
from nearkin.stages.differences.signs import amounts_in, raised_in
from nearkin.stages.differences.unicode_forms import is_other_form
from nearkin.stages.differences.wording import Word

NEGATIONS = frozenset(
    ("not", "no", "nor", "never", "none", "neither", "cannot", "without", "nothing", "nobody", "nowhere", "non")
)

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "|".join(
    form for month in sorted(DATES - {*_WEEKDAYS}, key=len, reverse=True) for form in (month.title(), month.upper())
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?<!\w)(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}(?P<between>[./-])\d{{1,2}}(?P=between)(?:\d{{4}}|\d{{2}})"
    rf"|(?:{_DAY}\s+(?:day\s+of\s+)?)?(?:{_MONTHS})\b\.?(?:\s+{_DAY}\b)?(?:,?\s+\d{{4}}\b)?)(?!\w)"
)
_LONGEST_DATE = 40
_MAX_READ = 200_000  # characters of a change; a longer one is other wording
_BEGINS_SENTENCE = re.compile(r"(?:[.!?:;]|\n[ \t]*\r?\n)\W*\Z")
_SHORT_WORD = re.compile(r"([^\W\d_]+)\.\W{0,3}\Z")
_LAST_WORD, _NEXT_WORD = re.compile(r"([^\W\d_]{2,})\s\Z"), re.compile(r"\s([^\W\d_]{2,})")
_LOOK_BACK = 24
_APOSTROPHES = ("'", "\u2019")
_CONTRACTED = {"won": "will", "shan": "shall"}


def kinds_of(a: Original, b: Original, change: Change) -> tuple[DifferenceKind, ...]:
    """Return the kinds of a difference, in the order of `KINDS`.

    Parameters
    ----------
    a, b : Original
        The two texts.
    change : Change
        A stretch in which they differ.

    Examples
    --------
    >>> from nearkin.stages.differences.changes import find_changes
    >>> a = Original("Rent is 100 crowns, due on 3 March 2027 and not later. Ada Kern pays it")
    >>> b = Original("rent is 250 crowns, due on 9 March 2027 and later. Bo Kern pays it")
    >>> [kinds_of(a, b, one) for one in find_changes(a, b).changes]
    [('formatting',), ('numbers',), ('dates',), ('negations',), ('names',)]
    """
    if not change.n_words_a and not change.n_words_b:
        return ("numbers",) if _has_other_amount(a.text, b.text, change) else ("formatting",)
    if max(change.end_a - change.start_a, change.end_b - change.start_b) > _MAX_READ:
        return ("wording",)
    sides = [_words(a, change.start_a, change.end_a), _words(b, change.start_b, change.end_b)]
    cores = [Counter(word.core for word in side) for side in sides]
    common = cores[0] & cores[1]
    found = set[DifferenceKind]()
    for own, side in zip((a, b), sides, strict=True):
        kinds = _of_words(own, side, (a, b))
        found |= {kind for word, kind in zip(side, kinds, strict=True) if word.core not in common}
    if not found:  # the same words in another order, or a word more often
        found = _more_often(sides, cores, (a, b)) or {"wording"}
    if found.isdisjoint(("numbers", "dates")) and _has_other_amount(a.text, b.text, change):
        found.add("numbers")  # a sign before or after other words: fee -500, rent 500
    return tuple(kind for kind in KINDS if kind in found)


def _more_often(
    sides: Sequence[Sequence[Word]], cores: Sequence[Counter[str]], texts: tuple[Original, Original]
) -> set[DifferenceKind]:
    """Return the kinds of words that both sides have, one of them more often."""
    found = set[DifferenceKind]()
    for own, side, more in zip(texts, sides, (cores[0] - cores[1], cores[1] - cores[0]), strict=True):
        kinds = _of_words(own, side, texts)
        found |= {kind for word, kind in zip(side, kinds, strict=True) if word.core in more}
    return found


def _has_other_amount(text_a: str, text_b: str, change: Change) -> bool:
    """Whether a difference in spelling changes an amount: 1.5 and 15, -500 and 500, 5 % and 5, m² and m2."""
    sides = (text_a, change.start_a, change.end_a), (text_b, change.start_b, change.end_b)
    parts = [text[start:end] for text, start, end in sides]
    if is_other_form(*parts) and raised_in(parts[0]) == raised_in(parts[1]):
        return False
    return amounts_in(*sides[0]) != amounts_in(*sides[1])


def _words(own: Original, start: int, end: int) -> list[Word]:
    """Return the words of a side; a word before the ``t`` of a negation is returned without it: isn't, is."""
    found = [word for word in own.words(start, end) if word.is_word]
    for i, (word, after) in enumerate(pairwise(found)):
        is_contracted = after.core == "t" and own.text[word.end : after.start] in _APOSTROPHES
        if is_contracted and word.core.endswith("n") and word.core != "can":
            found[i] = word._replace(core=_CONTRACTED.get(word.core, word.core[:-1]))
    return found


def _of_words(own: Original, words: Sequence[Word], texts: tuple[Original, Original]) -> list[DifferenceKind]:
    """Return the kind of each word of one side of a difference."""
    if not words:
        return []
    dates = list(_dates_in(own.text, words[0].start, words[-1].end))
    return [_kind_of(own, word, dates, texts) for word in words]


def _dates_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the dates in a part of a text and across its ends."""
    low, high = max(0, start - _LONGEST_DATE), min(len(text), end + _LONGEST_DATE)
    while 0 < low < start and text[low - 1].isalnum():  # not inside a word
        low += 1
    while end < high < len(text) and text[high - 1].isalnum() and text[high].isalnum():
        high -= 1
    yield from (found.span() for found in _DATE.finditer(text, low, high))


def _kind_of(
    own: Original, word: Word, dates: Sequence[tuple[int, int]], texts: tuple[Original, Original]
) -> DifferenceKind:
    text, core = own.text, word.core
    if any(start <= word.start and word.end <= end for start, end in dates):
        return "dates"
    if core in _WEEKDAYS and text[word.start].isupper():
        return "dates"
    if core in NUMBERS or any(character.isdigit() for character in core):
        return "numbers"
    if is_negation(text, word):
        return "negations"
    if not _may_be_name(own, word, texts):
        return "wording"
    is_name = not _begins_sentence(text, word.start) or _is_before_name(own, word, texts)
    return "names" if is_name else "wording"


def is_negation(text: str, word: Word) -> bool:
    """Return whether a word of a text is an English negation; of ``isn't``, the ``t`` is one."""
    is_contracted = word.core == "t" and word.start > 1 and text[word.start - 1] in _APOSTROPHES
    return word.core in NEGATIONS or (is_contracted and text[word.start - 2] in "nN")


def _is_before_name(own: Original, word: Word, texts: tuple[Original, Original]) -> bool:
    """Whether the next word may also be a name: this one is a first name at the beginning of a sentence."""
    after = next((one for one in own.words(word.end, word.end + _LOOK_BACK) if one.is_word), None)
    if after is None or own.text[word.end : after.start].strip(".\u00a0 "):
        return False
    return after.core not in DATES and _may_be_name(own, after, texts)


def _may_be_name(own: Original, word: Word, texts: tuple[Original, Original]) -> bool:
    """Whether a word has a capital here and wherever it occurs, and is not in a heading."""
    if not own.text[word.start].isupper() or word.core in JOINING or word.core == "i":
        return False
    if any(word.core in one.spelling.small for one in texts):
        return False
    return not (own.text[word.start : word.end].isupper() and _is_beside_capitals(own.text, word.start, word.end))


def _is_beside_capitals(text: str, start: int, end: int) -> bool:
    """Whether the previous or the next word is also in capitals, as in a heading."""
    before = _LAST_WORD.search(text[max(0, start - _LOOK_BACK) : start])
    after = _NEXT_WORD.match(text, end)
    return any(one is not None and one[1].isupper() for one in (before, after))


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a word at this place begins a sentence; the dot of an initial or a title does not end a sentence."""
    before = text[max(0, place - _LOOK_BACK) : place]
    short = _SHORT_WORD.search(before)
    if short is not None and (len(short[1]) == 1 or short[1].lower() in PARTIES):
        return False
    if place <= _LOOK_BACK and not re.search(r"\w", before):
        return True
    return _BEGINS_SENTENCE.search(before) is not None
