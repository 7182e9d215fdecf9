"""Words of a text, found by the character classes that shingles use."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from nearkin.kernels.characters import ALONE, FORMAT, MARK, SPACE, WORD, case_folding, character_classes

_PIECE = 1 << 12  # characters
_SPACE = re.compile("[ \n]")


@cache
def _tokens() -> re.Pattern[str]:
    word, alone, mark, ignored, space = map(_ranges_of, (WORD, ALONE, MARK, FORMAT, SPACE))
    words = f"[{alone}][{mark}{ignored}]*|[{word}{mark}][{word}{mark}{ignored}]*"
    return re.compile(rf"({words})|[^\s{space}][{mark}{ignored}]*")


@cache
def _ascii_tokens() -> re.Pattern[str]:
    """The same for ASCII is twenty times as fast."""
    letters = "".join(map(chr, np.flatnonzero(character_classes()[:128] == WORD).tolist()))
    return re.compile(rf"([{letters}]+)|\S")


@cache
def _only_words() -> bytes:
    is_word = character_classes()[:128] == WORD
    return bytes(byte if byte < 128 and is_word[byte] else 32 for byte in range(256))


def _ranges_of(wanted: int) -> str:
    inside = np.flatnonzero(np.diff(np.concatenate(([False], character_classes() == wanted, [False])).astype(np.int8)))
    return "".join(f"\\U{start:08x}-\\U{end - 1:08x}" for start, end in inside.reshape(-1, 2).tolist())


@cache
def _ignored() -> dict[int, None]:
    return dict.fromkeys(np.flatnonzero(character_classes() == FORMAT).tolist())


def count_words(text: str) -> int:
    """Count the words of a text, without punctuation."""
    if text.isascii():
        return len(text.encode().translate(_only_words()).split())
    return sum(len([word for word in tokens.findall(text, a, b) if word]) for tokens, a, b in _pieces(text))


def _pieces(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[re.Pattern[str], int, int]]:
    """Yield a part in pieces that split no word, with the pattern for each."""
    stop = len(text) if end is None else min(end, len(text))
    while start < stop:
        end = min(stop, _next_space(text, start + _PIECE))
        yield _ascii_tokens() if text[start:end].isascii() else _tokens(), start, end
        start = end


def _next_space(text: str, start: int) -> int:
    occurrence = _SPACE.search(text, start)
    return occurrence.start() if occurrence else len(text)


def find_tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the words and punctuation characters of a text, or of a part of it, in order."""
    for tokens, first, last in _pieces(text, start, end):
        yield from tokens.finditer(text, first, last)


def _find_words(text: str) -> Iterator[re.Match[str]]:
    return (occurrence for occurrence in find_tokens(text) if occurrence[1])


def is_word(token: str) -> bool:
    """Whether a token is a word instead of punctuation."""
    occurrence = (_ascii_tokens() if token.isascii() else _tokens()).match(token)
    return occurrence is not None and occurrence[1] is not None


def as_compared(token: str) -> str:
    """Return the token without the invisible characters that shingles ignore."""
    return token.translate(_ignored())


def end_of_word(text: str, number: int) -> int:
    """Return the end of the word with this number, counted from 1."""
    return max(occurrence.end() for occurrence in islice(_find_words(text), number))


def start_of_last_words(text: str, number: int) -> int:
    """Return the start of the last ``number`` words, reading no more of the text than necessary."""
    length = 16 * number
    while True:
        length *= 4
        start = _next_space(text, len(text) - length) if length < len(text) else 0
        starts = [start + occurrence.start() for occurrence in _find_words(text[start:])]
        if len(starts) >= number or not start:
            return starts[-number]


BLANK = "____"
"""Core of every blank to be filled in."""

_LINE_END = re.compile(r"\r\n?|\n")
_DRAWN = re.compile(
    r"(?P<blank>_{2,}|\.{4,}|\u2026{2,}|\[[\s_.*\u2022\u25cf]*\])|(?P<rule>-{3,}|={3,}|\*{3,}|[\u2014\u2500\u2501]{2,})"
)
_LONGEST_KEPT = 40  # maximum length of a token whose core is cached


class Word(NamedTuple):
    """A word, a punctuation character or a blank with its compared form; a tuple, because texts have so many."""

    core: str
    start: int
    end: int
    is_word: bool


@dataclass(frozen=True)
class Wording:
    """A text with its lines and words."""

    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """Start of each line; there is at least one."""
        return [0, *(occurrence.end() for occurrence in _LINE_END.finditer(self.text))]

    @cached_property
    def lines(self) -> list[str]:
        """Compared form of each line; empty if there is nothing to compare."""
        ends = [*self.line_starts[1:], len(self.text)]
        return [_compared_line(self.text[a:b]) for a, b in zip(self.line_starts, ends, strict=True)]

    def span_of_lines(self, first: int, last: int) -> tuple[int, int]:
        """Return the bounds, in the text, of the lines from ``first`` to before ``last``, counted from 0."""
        starts = self.line_starts
        return (
            starts[first] if first < len(starts) else len(self.text),
            starts[last] if last < len(starts) else len(self.text),
        )

    def line_of(self, place: int) -> int:
        """Return the number of the line that contains a character, counted from 1."""
        return bisect_right(self.line_starts, place)

    def words(self, start: int, end: int) -> Iterator[Word]:
        r"""Yield the words, punctuation characters and blanks in a part of the text.

        Examples
        --------
        >>> [word.core for word in Wording("By: _______\n-------\nDATE").words(0, 24)]
        ['by', ':', '____', 'date']
        """
        at = start
        for drawn in _DRAWN.finditer(self.text, start, end):
            yield from _plain_words(self.text, at, drawn.start())
            if drawn["blank"] is not None:
                yield Word(BLANK, drawn.start(), drawn.end(), False)
            at = drawn.end()
        yield from _plain_words(self.text, at, end)


def _plain_words(text: str, start: int, end: int) -> Iterator[Word]:
    for occurrence in find_tokens(text, start, end):
        token = occurrence.group()
        core, is_plain = _known(token) if len(token) <= _LONGEST_KEPT else _known.__wrapped__(token)
        if core:
            yield Word(core, *occurrence.span(), is_plain)


@lru_cache(maxsize=1 << 17)
def _known(token: str) -> tuple[str, bool]:
    """Cached, because texts repeat few tokens."""
    return as_compared(folded(token)), is_word(token)


def _compared_line(line: str) -> str:
    plain = _DRAWN.sub(lambda drawn: BLANK if drawn["blank"] is not None else " ", line)
    return " ".join(as_compared(folded(plain)).split())


def folded(text: str) -> str:
    """Return a text after NFKC and case folding, as in normalised texts."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).translate(case_folding())


_SAME_NUMBER = ("", "<wide>", "<font>")  # decompositions that leave a digit what it is


def is_other_form(text_a: str, text_b: str) -> bool:
    r"""Whether passages are the same after NFKC, in lower case, and mean the same numbers.

    A superscript or a fraction beside a digit is another number: 10⁵ is not 105. See :func:`.kinds.amounts_in` for m².

    Examples
    --------
    >>> is_other_form("½ cup", "1\N{FRACTION SLASH}2 cup"), is_other_form("12 m²", "12 m2"), is_other_form("10⁵", "105")
    (True, True, False)
    """
    if text_a.isascii() and text_b.isascii():
        return False
    folded_a, folded_b = folded(text_a), folded(text_b)
    if "".join(folded_a.split()) != "".join(folded_b.split()) or _joins_numbers(text_a) or _joins_numbers(text_b):
        return False
    return [occurrence.group() for occurrence in find_tokens(folded_a)] == [
        occurrence.group() for occurrence in find_tokens(folded_b)
    ]


def is_other_form_of(a: Sequence[Word], b: Sequence[Word], text_a: str, text_b: str) -> bool:
    """Whether two runs of words are the same words in another Unicode form."""
    if not a or not b or "".join(word.core for word in a) != "".join(word.core for word in b):
        return False
    return is_other_form(text_a[a[0].start : a[-1].end], text_b[b[0].start : b[-1].end])


def _joins_numbers(text: str) -> bool:
    """Whether NFKC makes one number of digits written differently, such as ``10⁵`` or ``2½``."""
    return any(
        character.isnumeric() and following.isnumeric() and _written_as(character) != _written_as(following)
        for character, following in pairwise(text)
        if not (character.isascii() and following.isascii())
    )


def _written_as(digit: str) -> str:
    kind = unicodedata.decomposition(digit).partition(" ")[0]
    return "" if kind in _SAME_NUMBER else kind
