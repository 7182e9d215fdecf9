"""Lines and words of an unchanged text, with their positions.

The comparison uses NFKC, lower case, and ignores white space, as for similarity. In addition, a run of
underscores or dots counts as one blank, whatever its length, and lines drawn with hyphens, equals signs or asterisks
are ignored.
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
"""Core of every blank to be filled in."""

_LINE_END = re.compile(r"\r\n?|\n")
_DRAWN = re.compile(
    r"(?P<blank>_{2,}|\.{4,}|\u2026{2,}|\[[\s_.*\u2022\u25cf]*\])|(?P<rule>-{3,}|={3,}|\*{3,}|[\u2014\u2500\u2501]{2,})"
)
_LONGEST_KEPT = 40  # maximum length of a token whose core is cached


class Word(NamedTuple):
    """A word, a punctuation character or a blank of a text; a tuple, because long texts have hundreds of thousands.

    Parameters
    ----------
    core : str
        Compared form.
    start, end : int
        ``text[start:end]`` is the original form.
    is_word : bool
        Whether it consists of letters or digits.
    """

    core: str
    start: int
    end: int
    is_word: bool


@dataclass(frozen=True)
class Wording:
    """A text with its lines and words.

    Parameters
    ----------
    text : str
        Unchanged text.
    """

    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """Start of each line; there is at least one."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

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
    for found in find_tokens(text, start, end):
        token = found.group()
        core, is_plain = _known(token) if len(token) <= _LONGEST_KEPT else _known.__wrapped__(token)
        if core:
            yield Word(core, *found.span(), is_plain)


@lru_cache(maxsize=1 << 17)
def _known(token: str) -> tuple[str, bool]:
    """Return the compared form of a token, and whether it is a word; cached, because texts repeat few tokens."""
    return as_compared(folded(token)), is_word(token)


def _compared_line(line: str) -> str:
    plain = _DRAWN.sub(lambda drawn: BLANK if drawn["blank"] is not None else " ", line)
    return " ".join(as_compared(folded(plain)).split())


def folded(text: str) -> str:
    """Return a text after NFKC and in lower case."""
    if text.isascii():
        return text.lower()
    # Python makes i and a combining dot of the capital, normalisation of texts an i
    return unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
