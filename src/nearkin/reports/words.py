"""The words of a text, found by the same classes of characters that shingles are made by.

A word is a run of letters, digits and marks; in scripts written without spaces it is one character with its marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, WORD, character_classes

_PIECE = 1 << 20  # characters


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A pattern for words and one for all tokens, from the same classes of characters that shingles are made by."""
    word, alone, mark, ignored, space = map(_ranges_of, (WORD, ALONE, MARK, FORMAT, SPACE))
    words = f"[{alone}][{mark}{ignored}]*|[{word}{mark}][{word}{mark}{ignored}]*"
    return re.compile(words), re.compile(rf"{words}|[^\s{space}][{mark}{ignored}]*")


def _ranges_of(wanted: int) -> str:
    """The code points of a class as the inside of a regular expression's brackets."""
    inside = np.flatnonzero(np.diff(np.concatenate(([False], character_classes() == wanted, [False])).astype(np.int8)))
    return "".join(f"\\U{start:08x}-\\U{end - 1:08x}" for start, end in inside.reshape(-1, 2).tolist())


@cache
def _ignored() -> dict[int, None]:
    """A table for ``str.translate`` that takes out the characters which shingles ignore."""
    return dict.fromkeys(np.flatnonzero(character_classes() == FORMAT).tolist())


def count_words(text: str) -> int:
    """Words of a text; punctuation does not count.

    Examples
    --------
    >>> count_words("Don't panic: 東京 2026")
    6
    """
    pattern, n_words, start = _patterns()[0], 0, 0
    while start < len(text):  # a piece at a time, so that a huge document does not become a huge list
        end = _next_space(text, start + _PIECE)
        n_words += len(pattern.findall(text, start, end))
        start = end
    return n_words


def _next_space(text: str, start: int) -> int:
    """Where the next ASCII space or line feed is, else the end: no word spans it."""
    places = [place for place in (text.find(" ", start), text.find("\n", start)) if place >= 0]
    return min(places, default=len(text))


def find_tokens(text: str) -> Iterator[re.Match[str]]:
    """The words and signs of a text, one after another.

    Examples
    --------
    >>> [found.group() for found in find_tokens("Don't panic")]
    ['Don', "'", 't', 'panic']
    """
    return _patterns()[1].finditer(text)


def is_word(token: str) -> bool:
    """Whether a token is a word, not a sign."""
    return _patterns()[0].match(token) is not None


def as_compared(token: str) -> str:
    """The token without the invisible characters that shingles ignore."""
    return token.translate(_ignored())


def end_of_word(text: str, number: int) -> int:
    """Where the word of that number ends, counted from 1."""
    return max(found.end() for found in islice(_patterns()[0].finditer(text), number))


def start_of_last_words(text: str, number: int) -> int:
    """Where the last words of that number start, looking at no more of the text than is needed."""
    length = 16 * number
    while True:
        length *= 4
        start = _next_space(text, len(text) - length) if length < len(text) else 0
        starts = [found.start() for found in _patterns()[0].finditer(text, start)]
        if len(starts) >= number or not start:
            return starts[-number]
