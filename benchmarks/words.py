"""What a word is: Nearkin's rule, which is the common measure, and the peers' own rules, written again from their text.

Rules differ, so the "same" Jaccard differs between tools. Recall and precision are judged by Nearkin's rule for all; a
peer can also be judged by its own (``run.py --own-rules``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

FIRST_MARK = 0x300
_SCRIPTS_WITHOUT_SPACES = (  # first and last code point: Thai, Lao, Myanmar, Khmer, kana, Han
    *((0x0E01, 0x0E4E), (0x0E81, 0x0EDF), (0x1000, 0x109F), (0x1780, 0x17DC)),
    *((0x3041, 0x309F), (0x30A1, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F)),
)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(A letter that is a word by itself, with its marks; marks with nothing before them)."""
    inside = (code for first, last in _SCRIPTS_WITHOUT_SPACES for code in range(first, last + 1))
    letters, marks = _class_of("L", inside), _class_of("M", range(FIRST_MARK, 0x110000))
    return re.compile(f"({letters}{marks}*)"), re.compile(f"(?<!\\S){marks}+")


def _class_of(category: str, codes: Iterable[int]) -> str:
    """A character class of the code points of one category, as ranges."""
    ranges: list[list[int]] = []
    for code in codes:
        if unicodedata.category(chr(code))[0] == category:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]"


class _ByCategory(dict[int, str]):
    """Letters, marks and numbers stay, invisible marks of format go, anything else becomes a space; learnt as met."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        self[code] = chr(code) if category[0] in "LMN" else "" if category == "Cf" else " "
        return self[code]


_BY_CATEGORY = _ByCategory()
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_NOT_WORD = re.compile(r"\W")
_NUMBER = re.compile(r"\d+([.,]\d+)?")


def nearkin(text: str) -> list[str]:
    """Runs of letters and numbers of the NFKC lower-cased text, with the marks that follow them."""
    text = unicodedata.normalize("NFKC", text).lower().translate(_BY_CATEGORY)
    if max(text, default="") >= chr(FIRST_MARK):
        alone, stray_marks = _patterns()
        text = stray_marks.sub("", alone.sub(r" \1 ", text))
    return text.split()


def text_dedup(text: str) -> list[str]:
    r"""Split at every ``\W``: a comma and a space leave an empty word between them."""
    return _NOT_WORD.split(text.lower())


def datatrove(text: str) -> list[str]:
    """Numbers become 0, punctuation becomes space, diacritics go; spaCy's few contractions are left out."""
    text = _PUNCTUATION.sub(" ", _NUMBER.sub("0", text.lower()))
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return text.split()


def daft(text: str) -> list[str]:
    """Punctuation vanishes, so a hyphen joins its words; then split at white space."""
    return _PUNCTUATION.sub("", unicodedata.normalize("NFD", text).lower()).split()


RULES: dict[str, Callable[[str], list[str]]] = {
    "nearkin": nearkin,
    "text-dedup": text_dedup,
    "datatrove": datatrove,
    "daft": daft,
}
"""Rule → words of a text."""
