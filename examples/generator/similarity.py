"""Similarity of two texts, from its definition and with nothing of Nearkin's: the truth that the examples carry."""

from __future__ import annotations

import functools
import unicodedata

WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
)


def words(text: str) -> list[str]:
    """Words after Unicode NFKC and lower case; a character of a script without spaces is a word, with its marks.

    >>> words("Ｔｈｅ tenant’s 2 keys: 鍵")
    ['the', 'tenant', 's', '2', 'keys', '鍵']
    """
    found: list[str] = []
    inside = False
    for character in unicodedata.normalize("NFKC", text).lower():
        kind = unicodedata.category(character)[0]
        alone = character > "\u0dff" and kind in "LN" and any(a <= ord(character) <= b for a, b in WITHOUT_SPACES)
        if kind == "M" and found:
            found[-1] += character
        elif alone or (kind in "LN" and not inside):
            found.append(character)
        elif kind in "LN":
            found[-1] += character
        inside = kind in "LNM" and not alone and (kind != "M" or inside)
    return found


@functools.cache  # asked for the same texts again and again
def shingles(text: str, n: int) -> frozenset[tuple[str, ...]]:
    """The distinct runs of ``n`` words; of a text with fewer words the one run there is.

    >>> sorted(shingles("to be or not to be", 2))
    [('be', 'or'), ('not', 'to'), ('or', 'not'), ('to', 'be')]
    """
    found = words(text)
    if not found:
        return frozenset()
    return frozenset(tuple(found[i : i + n]) for i in range(max(1, len(found) - n + 1)))


def jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    """Shared shingles as a part of all, in [0, 1]; 0 when there are none."""
    return len(a & b) / len(a | b) if a or b else 0.0


def containment(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    """The part of ``a`` that ``b`` holds too, in [0, 1]."""
    return len(a & b) / len(a) if a else 0.0
