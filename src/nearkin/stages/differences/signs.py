r"""Characters that change a number beside them: signs, currencies, decimal points, brackets around an amount.

In doubt a character counts: a dash with a blank before a number inside a line may be a minus. Three kinds of characters
do not count, because they mark the items of a list: a dash or ``+`` and a blank before a number at the beginning of a
line, and there the brackets in ``(1) the rent``. A dash before a letter, ``5-year``, joins words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from nearkin.stages.differences.words import as_compared

_DASHES = "\u2010-\u2015\u2212\u2043\u02d7\u2796\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_CURRENCY = "$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20cf\ufdfc\uffe0\uffe1\uffe5\uffe6"
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
    """Return a table for ``str.translate`` from other forms of digits, dashes and ASCII to the plain ones."""
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
    """Return the characters of a part of a text that change a number beside them, by their places.

    Dashes are returned as ``-``, and other forms of a character as the plain one, but not raised and lowered ones.

    Examples
    --------
    >>> number_signs("pay -$500 (100) or 5-year 1.5 %", 0, 31)
    {4: '-', 5: '$', 10: '(', 14: ')', 27: '.', 30: '%'}
    >>> number_signs("- 5 apples", 0, 10), number_signs("– $5", 0, 4)
    ({}, {0: '-', 2: '$'})
    """
    if _is_without_signs(text, start, end):
        return {}
    low, high = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    places, plain = _visible(text, low, high)
    # line breaks stand for the ends of the text, letters for the rest that is not read
    read = f"{'x' if low else chr(10)}{plain}{'x' if high < len(text) else chr(10)}"
    if not _DIGIT.search(read):
        return {}
    found = {at - 1 for at in _places(read, text, places)}
    return {places[at]: _as_read(text[places[at]], plain[at]) for at in sorted(found) if start <= places[at] < end}


def amounts_in(text: str, start: int, end: int) -> str:
    """Return the digits of a part of a text with all that changes them: signs, units, and whether they are raised.

    Examples
    --------
    >>> amounts_in("pay -500 for 12 m²", 0, 18), amounts_in("pay \N{MINUS SIGN}500; 12 m2", 0, 17)
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
    """Whether letters and punctuation in a part are so far from digits that they cannot change a number: at once."""
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
    """Return the places of the visible characters of a part, and the characters in plain form."""
    part = text[low:high]
    if part.isascii():
        return range(low, high), part
    if as_compared(part) == part:
        return range(low, high), part.translate(_PLAIN)
    places = [at for at, character in enumerate(part, low) if as_compared(character)]
    return places, "".join(text[at] for at in places).translate(_PLAIN)


def _places(read: str, text: str, places: range | list[int]) -> Iterator[int]:
    """Yield the places in ``read`` of characters that change a number."""
    markers = {found.start(1) for found in _BULLET.finditer(read) if text[places[found.start(1) - 1]] in _BULLETS}
    for found in _LIST_NUMBER.finditer(read):
        markers |= {found.start(1), found.start(2)}
    for found in _BRACKETS.finditer(read):
        yield from (at for at in (found.start(1), found.start(2)) if at not in markers)
    for found in _MARKS.finditer(read):
        yield from (at for at in range(*found.span()) if at not in markers and not read[at].isspace())


def _as_read(character: str, plain: str) -> str:
    return character if _RAISED.match(character) else plain


def _is_beside_digit(text: str, at: int) -> bool:
    return any(one.isdigit() or one.isnumeric() for one in text[max(0, at - 1) : at] + text[at + 1 : at + 2])
