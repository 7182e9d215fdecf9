"""Numbers in the margin: line numbers of pleading paper, and Bates numbers."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.lines import NUMBERS, line_flags

_MIN_LINES = 10  # with a number, so that a short list is none
_MAX_NUMBER = 60  # of the lines of a page
_MIN_SHARE, _MIN_SHARE_ALONE = 0.6, 0.4  # of the lines that have a number; a number may stand in a line of its own
_MIN_SMALL, _MAX_ENDED, _MIN_LENGTH = 0.4, 0.5, 25  # wrapped prose: lines begin and end within sentences
_MIN_PAGE = 8  # lines between two Bates numbers
_LINE_NUMBER = re.compile(r"[ \t]*([0-9]{1,2})(?:[ \t]+|\r?$)")
_BATES = re.compile(r"[ \t]*([A-Z][A-Z0-9 ._-]{0,30}?(?=0|\d{5})|(?=0\d{4}))(\d{4,12})[ \t]*\r?$", re.ASCII)
_ENDS = ".,;:!?)\"'”’»"


class _Numbered(NamedTuple):
    """A line with its number, and where its text begins."""

    line: int
    number: int
    start: int


def without_margins(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    r"""Remove line numbers and Bates numbers in the margin of most lines or pages of a text.

    Line numbers: most lines of the text begin with the numbers 1, 2, 3, …, without a full stop or bracket, at most to
    60, and then again from 1; and these lines are wrapped prose. A numbered list, a table, and verses are none. Bates
    numbers: lines of capitals and at least five digits, or fewer with a zero in front, which count upwards from page
    to page.

    Examples
    --------
    >>> page = "\n".join(f"{i} the river had risen, and the bridge was" for i in range(1, 29))
    >>> without_margins(pa.array([page], pa.large_string()))[0].as_py()[:45]
    'the river had risen, and the bridge was\nthe r'
    """
    may_have = pa.array((line_flags(*text_buffers(texts)) & NUMBERS) > 0)
    bare = [_without_numbers(text) for text in texts.filter(may_have).to_pylist()]
    return pc.replace_with_mask(texts, may_have, pa.array(bare, pa.large_string())) if bare else texts


def _without_numbers(text: str) -> str:
    lines = text.split("\n")
    is_full = [bool(line.strip()) for line in lines]
    bates = _bates_lines(lines, is_full)
    lines = ["" if i in bates else line for i, line in enumerate(lines)]
    numbered = _numbered_lines(lines)
    if _are_line_numbers(lines, numbered, sum(is_full) - len(bates)):
        for one in numbered:
            lines[one.line] = lines[one.line][one.start :]
    return "\n".join(lines)


def _numbered_lines(lines: list[str]) -> list[_Numbered]:
    """Return the lines whose numbers follow one another, or begin again at 1."""
    numbered: list[_Numbered] = []
    for i, line in enumerate(lines):
        found = _LINE_NUMBER.match(line)
        number = int(found[1]) if found else 0
        if found and (number == 1 or (numbered and number == numbered[-1].number + 1 <= _MAX_NUMBER)):
            numbered.append(_Numbered(i, number, found.end()))
    return numbered


def _are_line_numbers(lines: list[str], numbered: list[_Numbered], n_full: int) -> bool:
    """Whether most lines of wrapped prose have a number."""
    if len(numbered) < _MIN_LINES or all(one.number == 1 for one in numbered):
        return False
    texts = [line for one in numbered if (line := lines[one.line][one.start :].strip())]
    if 2 * len(texts) < len(numbered):  # numbers in lines of their own
        of_numbers = {one.line for one in numbered}
        texts = [line for i, line in enumerate(lines) if i not in of_numbers and line.strip()]
        is_most = len(numbered) >= _MIN_SHARE_ALONE * n_full
    else:
        is_most = len(numbered) >= _MIN_SHARE * n_full
    if not is_most or not texts:
        return False
    n_small, n_ended = sum(text[0].islower() for text in texts), sum(text[-1] in _ENDS for text in texts)
    is_long = sum(map(len, texts)) >= _MIN_LENGTH * len(texts)
    return n_small >= _MIN_SMALL * len(texts) and n_ended <= _MAX_ENDED * len(texts) and is_long


def _bates_lines(lines: list[str], is_full: list[bool]) -> set[int]:
    """Return the lines with a Bates number: the same letters, each number one more, a page between them."""
    by_form: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for i, line in enumerate(lines):
        if found := _BATES.match(line):
            by_form.setdefault((found[1], len(found[2])), []).append((i, int(found[2])))
    n_before = [0, *accumulate(is_full)]
    bates: set[int] = set()
    for stamps in by_form.values():
        pages = list(pairwise(stamps))
        follow = all(b[1] == a[1] + 1 and n_before[b[0]] - n_before[a[0]] > _MIN_PAGE for a, b in pages)
        if pages and follow:
            bates.update(line for line, _ in stamps)
    return bates
