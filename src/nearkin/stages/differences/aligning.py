"""Two texts → the stretches in which they differ.

Lines first: those at both ends, and those that occur once in each text, hold the two together. Between them words,
regardless of how they are broken into lines: runs of words that occur once in each, longer runs before shorter ones,
and what then lies between two such runs is small and compared word by word.

Work is bounded. Where a bound is hit, the rest is one difference, and the alignment says that it is not whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice

from nearkin.stages.differences.wording import Word, Wording

MAX_WORDS = 400_000
"""Words of each text that are compared, beside the lines that are the same in both."""
MAX_CELLS = 8_000_000
"""Pairs of words of two texts that are compared one by one."""

_CELLS_AT_ONCE = 40_000
_RUNS = (8, 4, 2, 1)
_MIN_WORDS_OF_A_LINE = 4  # a line of fewer, a page number say, may be the same by chance
_Block = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class WordDifference:
    """A stretch in which two texts differ.

    Parameters
    ----------
    a, b : tuple of Word
        What the one text has there, and what the other has; one of them may be empty.
    span_a, span_b : tuple of int
        Where the stretch begins and ends in each text; an empty one stands at the end of what is before it.
    """

    a: tuple[Word, ...]
    b: tuple[Word, ...]
    span_a: tuple[int, int]
    span_b: tuple[int, int]

    @property
    def at_a(self) -> int:
        """The first character of the stretch in the one text; where it is empty, the last one before it."""
        return self.span_a[0] if self.a else max(0, self.span_a[0] - 1)

    @property
    def at_b(self) -> int:
        """The same in the other text."""
        return self.span_b[0] if self.b else max(0, self.span_b[0] - 1)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where two texts differ.

    Parameters
    ----------
    differences : tuple of WordDifference
        In the order of the texts.
    is_whole : bool
        False: a bound was hit, and what came after is told as one difference.
    """

    differences: tuple[WordDifference, ...]
    is_whole: bool


@dataclass(slots=True)
class _Work:
    """What is left to spend on two texts."""

    n_words: list[int] = field(default_factory=lambda: [MAX_WORDS, MAX_WORDS])
    n_cells: int = field(default_factory=lambda: MAX_CELLS)
    is_whole: bool = True


def align(a: Wording, b: Wording, *, by_lines: bool = True) -> Alignment:
    """Where two texts differ.

    Parameters
    ----------
    a, b : Wording
    by_lines : bool, default True
        Lines that are the same hold the texts together. False: words alone do, for texts that are wrapped differently.

    Examples
    --------
    >>> found = align(Wording("rent of 100 crowns"), Wording("a rent of 250 crowns"))
    >>> [([word.core for word in one.a], [word.core for word in one.b]) for one in found.differences]
    [([], ['a']), (['100'], ['250'])]
    """
    work = _Work()
    differences: list[WordDifference] = []
    blocks = _unequal_lines(a.lines, b.lines) if by_lines else [(0, len(a.line_starts), 0, len(b.line_starts))]
    for block in blocks:
        differences += _compare_lines(a, b, block, work)
    return Alignment(tuple(differences), work.is_whole)


def _unequal_lines(a: Sequence[str], b: Sequence[str]) -> Iterator[_Block]:
    """Runs of lines that are not held together; empty lines belong to none."""
    rows_a, rows_b = ([i for i, line in enumerate(lines) if line] for lines in (a, b))
    keys_a, keys_b = [a[i] for i in rows_a], [b[i] for i in rows_b]

    def is_telling(line: Hashable) -> bool:
        return str(line).count(" ") + 1 >= _MIN_WORDS_OF_A_LINE

    def place(rows: Sequence[int], lines: Sequence[str], i: int) -> int:
        return rows[i] if i < len(rows) else len(lines)

    for a_start, a_end, b_start, b_end in _between(keys_a, keys_b, 1, is_telling):
        first_a, first_b = place(rows_a, a, a_start), place(rows_b, b, b_start)
        last_a = rows_a[a_end - 1] + 1 if a_end > a_start else first_a
        last_b = rows_b[b_end - 1] + 1 if b_end > b_start else first_b
        yield first_a, last_a, first_b, last_b


def _compare_lines(a: Wording, b: Wording, block: _Block, work: _Work) -> Iterator[WordDifference]:
    """The differences within some lines, word by word."""
    a_start, a_end = a.span_of_lines(*block[:2])
    b_start, b_end = b.span_of_lines(*block[2:])
    words_a, words_b = _some_words(a, a_start, a_end, 0, work), _some_words(b, b_start, b_end, 1, work)
    numbers: dict[str, int] = {}
    codes_a, codes_b = ([numbers.setdefault(w.core, len(numbers)) for w in words] for words in (words_a, words_b))
    for a_from, a_to, b_from, b_to in _joined(list(_unequal(codes_a, codes_b, 0, work)), words_a):
        yield WordDifference(
            tuple(words_a[a_from:a_to]),
            tuple(words_b[b_from:b_to]),
            _span(a, words_a, a_from, a_to, a_start),
            _span(b, words_b, b_from, b_to, b_start),
        )


def _some_words(wording: Wording, start: int, end: int, side: int, work: _Work) -> list[Word]:
    """The words of a part, as many as may still be looked at."""
    left = work.n_words[side]
    words = list(islice(wording.words(start, end), left + 1))
    if len(words) > left:
        work.is_whole = False
        words.pop()
    work.n_words[side] -= len(words)
    return words


def _span(wording: Wording, words: Sequence[Word], start: int, end: int, default: int) -> tuple[int, int]:
    """Where a stretch begins and ends; an empty one, behind the last character that stands before it."""
    if end > start:
        return words[start].start, words[end - 1].end
    place = words[start - 1].end if start else default
    while place and wording.text[place - 1].isspace():
        place -= 1
    return place, place


def _unequal(a: list[int], b: list[int], level: int, work: _Work) -> Iterator[_Block]:
    """Blocks of words that differ: by shared runs of words while there are any, then word by word."""
    if len(a) * len(b) <= _CELLS_AT_ONCE or level == len(_RUNS):
        yield from _by_words(a, b, work)
        return
    for block in _between(a, b, _RUNS[level]):
        a_start, a_end, b_start, b_end = block
        if a_start == a_end or b_start == b_end:
            yield block
            continue
        for inner in _unequal(a[a_start:a_end], b[b_start:b_end], level + 1, work):
            yield inner[0] + a_start, inner[1] + a_start, inner[2] + b_start, inner[3] + b_start


def _by_words(a: list[int], b: list[int], work: _Work) -> Iterator[_Block]:
    n_cells = len(a) * len(b)
    if n_cells > work.n_cells:
        work.is_whole = False
        yield 0, len(a), 0, len(b)
        return
    work.n_cells -= n_cells
    for tag, a_start, a_end, b_start, b_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a_start, a_end, b_start, b_end


def _between(
    a: Sequence[Hashable], b: Sequence[Hashable], run: int, is_telling: Callable[[Hashable], bool] | None = None
) -> Iterator[_Block]:
    """What is left between the shared ends and the runs that occur once in each, in the same order in both."""
    head, tail = _shared_ends(a, b)
    end_a, end_b = len(a) - tail, len(b) - tail
    at_a, at_b = head, head
    for i, j in [*_anchors(a[head:end_a], b[head:end_b], run, is_telling), (end_a - head, end_b - head)]:
        i, j = i + head, j + head
        if i < at_a or j < at_b:
            continue  # within what the anchor before it has reached already
        start_a, start_b = i, j
        while start_a > at_a and start_b > at_b and a[start_a - 1] == b[start_b - 1]:
            start_a, start_b = start_a - 1, start_b - 1
        if start_a > at_a or start_b > at_b:
            yield at_a, start_a, at_b, start_b
        at_a, at_b = i, j
        while at_a < end_a and at_b < end_b and a[at_a] == b[at_b]:
            at_a, at_b = at_a + 1, at_b + 1


def _shared_ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int]:
    most = min(len(a), len(b))
    head = 0
    while head < most and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < most - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return head, tail


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], run: int, is_telling: Callable[[Hashable], bool] | None
) -> list[tuple[int, int]]:
    """Places of runs that occur once in each text, the most of them that keep their order (patience)."""
    in_a, in_b = _once(a, run), _once(b, run)
    shared = sorted((i, in_b[key]) for key, i in in_a.items() if key in in_b)
    if is_telling:
        shared = [(i, j) for i, j in shared if is_telling(a[i])]
    tops: list[int] = []  # the least last place in b of a rising chain of each length
    chain: list[int] = []  # index of the pair that ends it
    before: list[int] = []
    for index, (_, j) in enumerate(shared):
        length = bisect_left(tops, j)
        before.append(chain[length - 1] if length else -1)
        tops[length : length + 1] = [j]
        chain[length : length + 1] = [index]
    found, index = [], chain[-1] if chain else -1
    while index >= 0:
        found.append(shared[index])
        index = before[index]
    return found[::-1]


def _once(items: Sequence[Hashable], run: int) -> dict[Hashable, int]:
    """Each run that occurs once, with its place."""
    seen: dict[Hashable, int] = {}
    keys = items if run == 1 else [tuple(items[i : i + run]) for i in range(len(items) - run + 1)]
    for i, key in enumerate(keys):
        seen[key] = -1 if key in seen else i
    return {key: i for key, i in seen.items() if i >= 0}


def _joined(blocks: list[_Block], words_a: Sequence[Word]) -> list[_Block]:
    """Blocks as a reader sees them: signs alone part none, nor do two shared words between long blocks."""
    result: list[_Block] = []
    for block in blocks:
        if result:
            last = result[-1]
            n_between = sum(word.is_word for word in words_a[last[1] : block[0]])
            most = min(max(one[1] - one[0], one[3] - one[2]) for one in (last, block))
            if not n_between or (n_between <= 2 and most > 4):
                result[-1] = (last[0], block[1], last[2], block[3])
                continue
        result.append(block)
    return result
