"""Kinds of text for which word shingles are wrong: source code, and text from OCR."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_SIGNS = re.compile(r"[(){}\[\]=<>;_/*#&|+\\]+")
_MAX_CHARACTERS, _MAX_WORDS = 4000, 400
_CODE_SHARE = 0.2
_OCR_SHARE = 0.03
_LENGTHS = range(5, 21)
"""Lengths of the words that are judged: short words have too many neighbours."""
_MORE_OFTEN = 4
_VOWELS = frozenset("aeiouyàáâäåæèéêëìíîïòóôöøùúûü")
_NAMED_SHARE = 0.2


def kinds_in(texts: Sequence[str]) -> dict[str, int]:
    """Count the texts of a sample that look like code, and like OCR, if more than a fifth.

    Examples
    --------
    >>> kinds_in(["gross = net * (1 + RATE)", "net = gross / (1 + RATE)"])
    {'code': 2}
    """
    is_code = look_like_code(texts)
    is_ocr = [not code and ocr for code, ocr in zip(is_code, look_like_ocr(texts), strict=True)]
    counts = {"code": sum(is_code), "ocr": sum(is_ocr)}
    return {kind: n for kind, n in counts.items() if n > _NAMED_SHARE * len(texts)}


def look_like_code(texts: Sequence[str]) -> list[bool]:
    """Whether each text has many signs of programs: one run of them for five words.

    Examples
    --------
    >>> look_like_code(["gross = net * (1 + RATE)", "The rent is due on the first day (or the second)."])
    [True, False]
    """
    parts = [text[:_MAX_CHARACTERS] for text in texts]
    return [len(_SIGNS.findall(part)) > _CODE_SHARE * max(len(_WORD.findall(part)), 1) for part in parts]


def look_like_ocr(texts: Sequence[str]) -> list[bool]:
    """Whether each text has many misread words: 3 in 100 words of five letters and more.

    A word counts as misread if it has letters and digits, or if another word that occurs at least four times as often
    has another letter at one place.
    """
    words = [_WORD.findall(text[:_MAX_CHARACTERS].lower())[:_MAX_WORDS] for text in texts]
    counts = Counter(word for of_text in words for word in of_text if len(word) in _LENGTHS)
    neighbours: dict[tuple[str, str, bool], int] = {}
    for word, n in counts.items():
        for start, end, is_vowel in _gaps(word):
            neighbours[start, end, is_vowel] = max(n, neighbours.get((start, end, is_vowel), 0))
    misread = {word for word, n in counts.items() if _has_both(word) or _most(neighbours, word) >= _MORE_OFTEN * n}
    return [_share_of(misread, of_text) > _OCR_SHARE for of_text in words]


def _gaps(word: str) -> list[tuple[str, str, bool]]:
    return [(word[:i], word[i + 1 :], word[i] in _VOWELS) for i in range(1, len(word) - 2)]


def _most(neighbours: dict[tuple[str, str, bool], int], word: str) -> int:
    gaps = _gaps(word)
    n_others = [neighbours.get((start, end, not is_vowel), 0) for start, end, is_vowel in gaps]
    return max([0, *n_others, *(neighbours[gap] for gap in gaps if not gap[2])])


def _has_both(word: str) -> bool:
    return not word.isalpha() and not word.isdigit()


def _share_of(misread: set[str], words: Sequence[str]) -> float:
    judged = [word for word in words if len(word) in _LENGTHS and not word.isdigit()]
    return sum(word in misread for word in judged) / max(len(judged), 1)
