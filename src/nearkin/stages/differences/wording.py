"""A text as it came → lines and words that know where they stand.

What is compared is what was compared before: NFKC, lower case, white space of no account. Beyond that a run of
underscores or dots counts as one blank, however long, and lines drawn with hyphens, equals signs or asterisks do not
count at all.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from nearkin.stages.differences.words import as_compared, find_tokens, is_word

BLANK = "____"
"""The core of every blank to be filled in."""

_LINE_END = re.compile(r"\r\n?|\n")
_DRAWN = re.compile(
    r"(?P<blank>_{2,}|\.{4,}|\u2026{2,}|\[[\s_.*\u2022\u25cf]*\])|(?P<rule>-{3,}|={3,}|\*{3,}|[\u2014\u2500\u2501]{2,})"
)
_LONGEST_KEPT = 40  # characters of a token whose core is remembered


class Word(NamedTuple):
    """A word, a sign or a blank of a text; a tuple, since long texts have hundreds of thousands.

    Parameters
    ----------
    core : str
        What is compared.
    start, end : int
        ``text[start:end]`` is how it is written.
    is_word : bool
        Made of letters or digits.
    """

    core: str
    start: int
    end: int
    is_word: bool


@dataclass(frozen=True)
class Wording:
    """A text, its lines and its words.

    Parameters
    ----------
    text : str
        As it came.
    """

    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """Where each line begins; there is at least one."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def lines(self) -> list[str]:
        """Each line as it is compared; an empty one has nothing to compare."""
        ends = [*self.line_starts[1:], len(self.text)]
        return [_compared_line(self.text[a:b]) for a, b in zip(self.line_starts, ends, strict=True)]

    def span_of_lines(self, first: int, last: int) -> tuple[int, int]:
        """Where the lines from ``first`` on, before ``last``, stand in the text; lines are counted from 0."""
        starts = self.line_starts
        return (
            starts[first] if first < len(starts) else len(self.text),
            starts[last] if last < len(starts) else len(self.text),
        )

    def line_of(self, place: int) -> int:
        """The number of the line, counted from 1, that a character stands in."""
        return bisect_right(self.line_starts, place)

    def words(self, start: int, end: int) -> Iterator[Word]:
        r"""The words, signs and blanks in a part of the text.

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
    for found in find_tokens(text[start:end]):
        token = found.group()
        core, is_plain = _known(token) if len(token) <= _LONGEST_KEPT else _known.__wrapped__(token)
        if core:
            first, last = found.span()
            yield Word(core, start + first, start + last, is_plain)


@lru_cache(maxsize=1 << 17)
def _known(token: str) -> tuple[str, bool]:
    """How a token is compared, and whether it is a word: few tokens make up a text."""
    return as_compared(_folded(token)), is_word(token)


def _compared_line(line: str) -> str:
    plain = _DRAWN.sub(lambda drawn: BLANK if drawn["blank"] is not None else " ", line)
    return " ".join(as_compared(_folded(plain)).split())


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()
