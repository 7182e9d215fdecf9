"""Words of a text, found by the character classes that shingles use.

A word is a run of letters, digits and marks; in scripts written without spaces it is one character with its marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, WORD, character_classes

_PIECE = 1 << 12  # characters
_SPACE = re.compile("[ \n]")


@cache
def _tokens() -> re.Pattern[str]:
    """Return a pattern for all tokens, whose group is a word, by the character classes that shingles use.

    Words are not searched for alone: a mark after punctuation, as in an emoji, would be one.
    """
    word, alone, mark, ignored, space = map(_ranges_of, (WORD, ALONE, MARK, FORMAT, SPACE))
    words = f"[{alone}][{mark}{ignored}]*|[{word}{mark}][{word}{mark}{ignored}]*"
    return re.compile(rf"({words})|[^\s{space}][{mark}{ignored}]*")


@cache
def _ascii_tokens() -> re.Pattern[str]:
    """Return the same for ASCII, which has few characters: twenty times as fast."""
    letters = "".join(map(chr, np.flatnonzero(character_classes()[:128] == WORD).tolist()))
    return re.compile(rf"([{letters}]+)|\S")


@cache
def _only_words() -> bytes:
    """Return a table for ``bytes.translate`` that leaves spaces between the words of ASCII."""
    is_word = character_classes()[:128] == WORD
    return bytes(byte if byte < 128 and is_word[byte] else 32 for byte in range(256))


def _ranges_of(wanted: int) -> str:
    """Return the code points of a class as the inside of a regular expression's brackets."""
    inside = np.flatnonzero(np.diff(np.concatenate(([False], character_classes() == wanted, [False])).astype(np.int8)))
    return "".join(f"\\U{start:08x}-\\U{end - 1:08x}" for start, end in inside.reshape(-1, 2).tolist())


@cache
def _ignored() -> dict[int, None]:
    """Return a table for ``str.translate`` that removes the characters which shingles ignore."""
    return dict.fromkeys(np.flatnonzero(character_classes() == FORMAT).tolist())


def count_words(text: str) -> int:
    """Count the words of a text, without punctuation.

    Examples
    --------
    >>> count_words("Don't panic: 東京 2026")
    6
    >>> count_words("I \u2764\ufe0f words")
    2
    """
    if text.isascii():
        return len(text.encode().translate(_only_words()).split())
    return sum(len([word for word in tokens.findall(text, a, b) if word]) for tokens, a, b in _pieces(text))


def _pieces(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[re.Pattern[str], int, int]]:
    """Yield a part in pieces that split no word, with the pattern for each, so that huge texts need no huge list."""
    stop = len(text) if end is None else min(end, len(text))
    while start < stop:
        end = min(stop, _next_space(text, start + _PIECE))
        yield _ascii_tokens() if text[start:end].isascii() else _tokens(), start, end
        start = end


def _next_space(text: str, start: int) -> int:
    """Return the position of the next ASCII space or line feed, else the end: no word spans it."""
    found = _SPACE.search(text, start)
    return found.start() if found else len(text)


def find_tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the words and punctuation characters of a text, or of a part of it, in order.

    Examples
    --------
    >>> [found.group() for found in find_tokens("Don't panic")]
    ['Don', "'", 't', 'panic']
    """
    for tokens, first, last in _pieces(text, start, end):
        yield from tokens.finditer(text, first, last)


def _find_words(text: str) -> Iterator[re.Match[str]]:
    return (found for found in find_tokens(text) if found[1])


def is_word(token: str) -> bool:
    """Whether a token is a word instead of punctuation."""
    found = (_ascii_tokens() if token.isascii() else _tokens()).match(token)
    return found is not None and found[1] is not None


def as_compared(token: str) -> str:
    """Return the token without the invisible characters that shingles ignore."""
    return token.translate(_ignored())


def end_of_word(text: str, number: int) -> int:
    """Return the end of the word with this number, counted from 1."""
    return max(found.end() for found in islice(_find_words(text), number))


def start_of_last_words(text: str, number: int) -> int:
    """Return the start of the last ``number`` words, reading no more of the text than necessary."""
    length = 16 * number
    while True:
        length *= 4
        start = _next_space(text, len(text) - length) if length < len(text) else 0
        starts = [start + found.start() for found in _find_words(text[start:])]
        if len(starts) >= number or not start:
            return starts[-number]
