"""Kinds of a difference: numbers, dates, names, negations, formatting, other wording.

- formatting: the words are the same, and capitals, punctuation, invisible characters or the Unicode form of characters
  differ: ½ and 1⁄2, ％ and %, but not m² and m2;
- dates: months, weekdays, and all numbers of a date: ``3 March 2027``, ``March 3, 2027``, ``2027-03-03``, ``3.3.2027``;
- numbers: other words with a digit, number words, and signs that change an amount, in doubt any;
- negations: not, no, never and so on, also in ``isn't`` beside ``is``;
- names: by the evidence of :mod:`.particulars`;
- wording: all other words.

A difference has every kind that one of its words has. Words that both sides have as often do not count, unless there
are no others: the order of words is wording.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nearkin.kernels.characters import CURRENCIES
from nearkin.stages.differences.changes import Change
from nearkin.stages.differences.comparison import KINDS, DifferenceKind
from nearkin.stages.differences.particulars import Kind, Original, kinds_of_words, word_list
from nearkin.stages.differences.words import Word, Wording, as_compared, is_other_form
from nearkin.stages.number_words import DATE_WORDS, OTHER_DATE_WORDS

NEGATIONS = word_list(
    """not no nor never none neither cannot without nothing nobody nowhere non nicht kein keine keinen keinem keiner
    keines nie niemals ohne weder nichts niemand pas jamais aucun aucune sans rien"""
)

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = "|".join(
    form
    for month in sorted((DATE_WORDS - {*_WEEKDAYS}) | OTHER_DATE_WORDS, key=len, reverse=True)
    for form in (month.title(), month.upper(), *([month] if month in OTHER_DATE_WORDS else []))
)
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_DATE = re.compile(
    rf"(?<!\w)(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}(?P<between>[./-])\d{{1,2}}(?P=between)(?:\d{{4}}|\d{{2}})"
    rf"|(?:{_DAY}\s+(?:day\s+of\s+)?)?(?:{_MONTHS})\b\.?(?:\s+{_DAY}\b)?(?:,?\s+\d{{4}}\b)?)(?!\w)"
)
_LONGEST_DATE = 40
_MAX_READ = 200_000  # characters of a change; a longer one is other wording
_APOSTROPHES = ("'", "\u2019")
_CONTRACTED = {"won": "will", "shan": "shall"}


def kinds_of(a: Original, b: Original, change: Change) -> tuple[DifferenceKind, ...]:
    """Return the kinds of a difference, in the order of `KINDS`.

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
    kinds_found = set[DifferenceKind]()
    for original, side in zip((a, b), sides, strict=True):
        kinds = _of_words(original, side, (a, b))
        kinds_found |= {kind for word, kind in zip(side, kinds, strict=True) if word.core not in common}
    if not kinds_found:  # the same words in another order, or a word more often
        kinds_found = _more_often(sides, cores, (a, b)) or {"wording"}
    if kinds_found.isdisjoint(("numbers", "dates")) and _has_other_amount(a.text, b.text, change):
        kinds_found.add("numbers")  # a sign before or after other words: fee -500, rent 500
    return tuple(kind for kind in KINDS if kind in kinds_found)


def _more_often(
    sides: Sequence[Sequence[Word]], cores: Sequence[Counter[str]], texts: tuple[Original, Original]
) -> set[DifferenceKind]:
    kinds_found = set[DifferenceKind]()
    for original, side, more in zip(texts, sides, (cores[0] - cores[1], cores[1] - cores[0]), strict=True):
        kinds = _of_words(original, side, texts)
        kinds_found |= {kind for word, kind in zip(side, kinds, strict=True) if word.core in more}
    return kinds_found


def _has_other_amount(text_a: str, text_b: str, change: Change) -> bool:
    """Whether the spelling changes an amount: 1.5 and 15, -500 and 500, 5 % and 5, m² and m2."""
    sides = (text_a, change.start_a, change.end_a), (text_b, change.start_b, change.end_b)
    parts = [text[start:end] for text, start, end in sides]
    if is_other_form(*parts) and raised_in(parts[0]) == raised_in(parts[1]):
        return False
    return amounts_in(*sides[0]) != amounts_in(*sides[1])


def _words(original: Original, start: int, end: int) -> list[Word]:
    words = [word for word in original.words(start, end) if word.is_word]
    for i, (word, after) in enumerate(pairwise(words)):
        is_contracted = after.core == "t" and original.text[word.end : after.start] in _APOSTROPHES
        if is_contracted and word.core.endswith("n") and word.core != "can":
            words[i] = word._replace(core=_CONTRACTED.get(word.core, word.core[:-1]))
    return words


def _of_words(original: Original, words: Sequence[Word], texts: tuple[Original, Original]) -> list[DifferenceKind]:
    if not words:
        return []
    dates = list(_dates_in(original.text, words[0].start, words[-1].end))
    kinds = zip(words, kinds_of_words(words, original, texts), strict=True)
    return [_kind_of(original.text, word, kind, dates) for word, kind in kinds]


def _dates_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    low, high = max(0, start - _LONGEST_DATE), min(len(text), end + _LONGEST_DATE)
    while 0 < low < start and text[low - 1].isalnum():  # not inside a word
        low += 1
    while end < high < len(text) and text[high - 1].isalnum() and text[high].isalnum():
        high -= 1
    yield from (occurrence.span() for occurrence in _DATE.finditer(text, low, high))


def _kind_of(text: str, word: Word, kind: Kind, dates: Sequence[tuple[int, int]]) -> DifferenceKind:
    core = word.core
    if any(start <= word.start and word.end <= end for start, end in dates):
        return "dates"
    if kind == "date" and (core in _WEEKDAYS or core in OTHER_DATE_WORDS):
        return "dates"
    if core.isdecimal() or (kind == "number" and len(core) > 1):  # a letter in brackets is wording
        return "numbers"
    if is_negation(text, word):
        return "negations"
    return "names" if kind == "name" else "wording"


def is_negation(text: str, word: Word) -> bool:
    """Return whether a word of a text is an English negation; of ``isn't``, the ``t`` is one."""
    is_contracted = word.core == "t" and word.start > 1 and text[word.start - 1] in _APOSTROPHES
    return word.core in NEGATIONS or (is_contracted and text[word.start - 2] in "nN")


_OPENING = "([\"'“‘„«*_—–-"


@dataclass(frozen=True, slots=True)
class Negation:
    """Negation: its compared form (n't is not), its written form in lower case, and its place."""

    form: str
    written: str
    start: int


def more_negations(wording: Wording, words: Sequence[Word], other: Wording, others: Sequence[Word]) -> list[Negation]:
    """Return the negations of which one side of a difference has more."""
    mine, theirs = negations_in(wording, words), negations_in(other, others)
    more = Counter(negation.form for negation in mine) - Counter(negation.form for negation in theirs)
    return [negation for negation in mine if negation.form in more]


def first_negations(a: str, b: str) -> tuple[int, int]:
    """Return the place of the first negation of which each side of a difference has more, or 0.

    Examples
    --------
    >>> first_negations("shall pay the rent and not", "shall never pay"), first_negations("not here", "not there")
    ((23, 6), (0, 0))
    """
    sides = [(wording, tuple(wording.words(0, len(wording.text)))) for wording in (Wording(a), Wording(b))]
    mine, theirs = more_negations(*sides[0], *sides[1]), more_negations(*sides[1], *sides[0])
    return mine[0].start if mine else 0, theirs[0].start if theirs else 0


def negations_in(wording: Wording, words: Sequence[Word]) -> list[Negation]:
    """Return the negations among some words."""
    negations = list[Negation]()
    for word in words:
        if not word.is_word or not is_negation(wording.text, word):
            continue
        start = word.start
        while word.core == "t" and start and not wording.text[start - 1].isspace():  # isn't: from its beginning
            start -= 1
        form = "not" if word.core in ("t", "cannot") else word.core
        negations.append(Negation(form, wording.text[start : word.end].lower().lstrip(_OPENING), word.start))
    return negations


_DASHES = "\u2010-\u2015\u2212\u2043\u02d7\u2796\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_CURRENCY = f"${CURRENCIES}\ufdfc\uffe0\uffe1\uffe5\uffe6"  # and forms that normalisation replaces
_UNITS = f"{_CURRENCY}%\u2030\u2031\u066a"
# the one table of characters that change a number: before or after it, only after it, only directly before it
_SIGNS = "-+\u00b1<=>~\u00ac\u00d7\u00f7\u2200-\u22ff\u2a7d\u2a7e"
_AFTER = f"{_UNITS}\u00b0\u2032\u2033"
_DIRECTLY_BEFORE = "#\u00a7"
_POINTS = ".,\u00b7\u066b"

_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070-\u208e]")
_UNIT = re.compile(f"[{_UNITS}]")
_BULLETS = frozenset("-+\u2010\u2011\u2012\u2013\u2014\u2015\u2043")
_CONTEXT = 64  # characters on either side that show whether a sign belongs to a number
_WITHOUT_SIGNS = re.compile(r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f \t\r\n.,;:!?'\"]*")
_BESIDE = 4  # of these characters, only those closer to a digit can belong to it

_BLANK = r"[^\S\r\n]"
_DIGIT = re.compile(r"\d")  # every pattern below has one
_NUMBER = rf"[{_POINTS}]?\d"
_MARKS = re.compile(
    "|".join(
        (
            r"(?<=\d)[^\w\s]{1,3}(?=\d)",
            rf"(?<=\d){_BLANK}{{0,2}}[*/^](?={_BLANK}{{0,2}}\d)",
            rf"[{_SIGNS}{_CURRENCY}](?=(?:[{_SIGNS}{_CURRENCY}(]|{_BLANK}){{0,6}}{_NUMBER})",
            rf"(?<!\w)[{_SIGNS}](?={_BLANK}{{0,2}}[A-Z]{{1,3}}{_BLANK}?[{_CURRENCY}]{_BLANK}?{_NUMBER})",
            rf"(?<!\w)[{_SIGNS}](?={_BLANK}{{0,2}}[A-Z]{{3}}{_BLANK}?{_NUMBER})",
            rf"(?<![\w{_POINTS}])[{_POINTS}](?=\d)",
            rf"[{_DIRECTLY_BEFORE}](?=\d)",
            rf"(?<=\d){_BLANK}{{0,2}}[{_AFTER}]+(?:{_BLANK}?-(?![^\W\d]))?",
            rf"(?<=\d){_BLANK}{{0,2}}(?!-)[{_SIGNS}]",
            r"(?<=\d)-(?![^\W\d])",
            rf"(?<=\d){_BLANK}{{1,2}}-(?={_BLANK}{{0,2}}[\r\n])",
        )
    )
)
_BRACKETS = re.compile(
    rf"(\()(?:[{_SIGNS}{_CURRENCY}]|{_BLANK}){{0,6}}(?:[A-Z]{{1,3}}{_BLANK}?[{_CURRENCY}]?{_BLANK}?)?{_NUMBER}"
    rf"(?:[\d{_POINTS}'\u2019]|{_BLANK}(?=\d)){{0,30}}{_BLANK}?(?:[{_AFTER}-]|[A-Z]{{3}})?{_BLANK}?(\))"
)
_BULLET = re.compile(rf"(?<=[\r\n]){_BLANK}{{0,40}}([-+])(?={_BLANK}+{_NUMBER})")
_LIST_NUMBER = re.compile(rf"(?<=[\r\n]){_BLANK}{{0,40}}(\()\d{{1,2}}(\))(?={_BLANK}+\S)")


def _one_to_one() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    forms = [*range(0xFE50, 0xFE6C), *range(0x2070, 0x208F), 0xB2, 0xB3, 0xB9]
    table |= {code: plain for code in forms if len(plain := unicodedata.normalize("NFKC", chr(code))) == 1}
    numbers = [*range(0xBC, 0xBF), *range(0x2150, 0x2160), 0x2189, *range(0x2460, 0x249C), *range(0x24EA, 0x2500)]
    table |= dict.fromkeys(numbers, "0") | {0x2795: "+", 0x301C: "~", 0xFF5E: "~"}
    dashes = re.compile(f"[{_DASHES}\u207b\u208b]")
    ranges = (*range(0x2000, 0x2300), 0x2D7, 0x2796, 0x2E3A, 0x2E3B, 0xFE58, 0xFE63, 0xFF0D)
    return table | {code: "-" for code in ranges if dashes.match(chr(code))}


_PLAIN = _one_to_one()


def number_signs(text: str, start: int, end: int) -> dict[int, str]:
    """Return by their places the characters that change a number beside them, in plain form unless raised."""
    if _is_without_signs(text, start, end):
        return {}
    low, high = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    places, plain = _visible(text, low, high)
    # line breaks stand for the ends of the text, letters for the rest that is not read
    read = f"{'x' if low else chr(10)}{plain}{'x' if high < len(text) else chr(10)}"
    if not _DIGIT.search(read):
        return {}
    signs = {at - 1 for at in _places(read, text, places)}
    return {places[at]: _as_read(text[places[at]], plain[at]) for at in sorted(signs) if start <= places[at] < end}


def amounts_in(text: str, start: int, end: int) -> str:
    """Return digits with all that changes them: signs, units, and whether they are raised.

    Examples
    --------
    >>> amounts_in("pay -500 for 12 m²", 0, 18), amounts_in("pay −500; 12 m2", 0, 17)
    ('-50012²', '-500122')
    """
    if _is_without_signs(text, start, end):
        return ""
    signs, parts = number_signs(text, start, end), list[str]()
    for at, character in enumerate(text[start:end], start):
        if at in signs:
            parts.append(signs[at])
        elif _UNIT.match(plain := _PLAIN.get(ord(character), character)):
            parts.append(plain)
        elif character.isdecimal():
            parts.append(str(unicodedata.decimal(character)))
        elif _RAISED.match(character) or (unicodedata.category(character) == "No" and _is_beside_digit(text, at)):
            parts.append(character)
        elif unicodedata.category(character) == "No":
            parts.append(unicodedata.normalize("NFKC", character))
    return "".join(parts)


def _is_without_signs(text: str, start: int, end: int) -> bool:
    """Whether letters and punctuation are so far from digits that they change no number: at once."""
    return _WITHOUT_SIGNS.fullmatch(text, max(0, start - _BESIDE), min(len(text), end + _BESIDE)) is not None


def raised_in(text: str) -> list[str]:
    """Return the raised and lowered digits and signs of a text.

    Examples
    --------
    >>> raised_in("12 m² and 10⁻⁵")
    ['²', '⁻', '⁵']
    """
    return [] if text.isascii() else _RAISED.findall(text)


def _visible(text: str, low: int, high: int) -> tuple[range | list[int], str]:
    part = text[low:high]
    if part.isascii():
        return range(low, high), part
    if as_compared(part) == part:
        return range(low, high), part.translate(_PLAIN)
    places = [at for at, character in enumerate(part, low) if as_compared(character)]
    return places, "".join(text[at] for at in places).translate(_PLAIN)


def _places(read: str, text: str, places: range | list[int]) -> Iterator[int]:
    markers = {
        occurrence.start(1)
        for occurrence in _BULLET.finditer(read)
        if text[places[occurrence.start(1) - 1]] in _BULLETS
    }
    for matched in _LIST_NUMBER.finditer(read):
        markers |= {matched.start(1), matched.start(2)}
    for matched in _BRACKETS.finditer(read):
        yield from (at for at in (matched.start(1), matched.start(2)) if at not in markers)
    for matched in _MARKS.finditer(read):
        yield from (at for at in range(*matched.span()) if at not in markers and not read[at].isspace())


def _as_read(character: str, plain: str) -> str:
    return character if _RAISED.match(character) else plain


def _is_beside_digit(text: str, at: int) -> bool:
    return any(
        character.isdigit() or character.isnumeric() for character in text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    )
