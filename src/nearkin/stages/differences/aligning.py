"""Alignment of two texts, which yields the stretches in which they differ.

Equal lines anchor the two texts, unless they are wrapped differently; between them runs of words that occur once in
each text, longer ones first; then single words, and last punctuation.

If a limit of work is reached, the rest is one difference, and the alignment is marked as incomplete.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

from nearkin.stages.differences.words import BLANK, Word, Wording, is_other_form_of

MAX_WORDS = 400_000
"""Maximum number of words of each text that are compared, besides equal lines."""
MAX_CELLS = 8_000_000
"""Maximum number of word pairs in the stretches that are compared word by word."""
MAX_STEPS = 8_000_000
"""Maximum number of equal word pairs looked at to find the longest shared runs, all passes together."""

_CELLS_AT_ONCE = 40_000
_RUNS = (8, 4, 2, 1)
_MIN_WORDS_OF_A_LINE = 4  # a shorter line, such as a page number, may be equal by chance
_MIN_SHARED_LINES = 0.3  # fewer are equal by chance, in texts that are wrapped differently
_Block = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class WordDifference:
    """A stretch in which two texts differ: its words and bounds, empty ones at the end of what precedes."""

    a: tuple[Word, ...]
    b: tuple[Word, ...]
    span_a: tuple[int, int]
    span_b: tuple[int, int]

    @property
    def at_a(self) -> int:
        """First character in the first text; if the stretch is empty, the last one before it."""
        return self.span_a[0] if self.a else max(0, self.span_a[0] - 1)

    @property
    def at_b(self) -> int:
        """First character in the second text; if the stretch is empty, the last one before it."""
        return self.span_b[0] if self.b else max(0, self.span_b[0] - 1)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Differences between two texts in order; if it is not whole, the last one is the rest."""

    differences: tuple[WordDifference, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _CodedWords:
    """Numbers of words or signs; ``beside`` numbers what is before each, and at the end."""

    codes: list[int]
    beside: list[int]

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, start: int, end: int) -> _CodedWords:
        return _CodedWords(self.codes[start:end], self.beside[start : end + 1])


@dataclass(slots=True)
class _Work:
    n_words: list[int] = field(default_factory=lambda: [MAX_WORDS, MAX_WORDS])
    n_cells: int = field(default_factory=lambda: MAX_CELLS)
    n_steps: int = field(default_factory=lambda: MAX_STEPS)
    is_whole: bool = True


def align(a: Wording, b: Wording) -> Alignment:
    """Find the stretches in which two texts differ."""
    work = _Work()
    differences: list[WordDifference] = []
    whole = (0, len(a.line_starts), 0, len(b.line_starts))
    for block in _unequal_lines(a.lines, b.lines) if _share_lines(a, b) else [whole]:
        differences += _compare_lines(a, b, block, work)
    return Alignment(tuple(differences), work.is_whole)


def _share_lines(a: Wording, b: Wording) -> bool:
    """In texts wrapped differently, few lines are equal, and by chance."""
    lines_a, lines_b = ({line for line in original.lines if " " in line} for original in (a, b))
    return len(lines_a & lines_b) >= _MIN_SHARED_LINES * min(len(lines_a), len(lines_b))


def _unequal_lines(a: Sequence[str], b: Sequence[str]) -> Iterator[_Block]:
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
    a_start, a_end = a.span_of_lines(*block[:2])
    b_start, b_end = b.span_of_lines(*block[2:])
    words_a, words_b = _some_words(a, a_start, a_end, 0, work), _some_words(b, b_start, b_end, 1, work)
    numbers: dict[str, int] = {}
    codes_a, codes_b = (
        [numbers.setdefault(word.core, _code(len(numbers), word)) for word in words] for words in (words_a, words_b)
    )

    def is_other_form(block: _Block) -> bool:
        return is_other_form_of(words_a[slice(*block[:2])], words_b[slice(*block[2:])], a.text, b.text)

    blocks = [piece for piece in _words_then_signs(codes_a, codes_b, work) if not is_other_form(piece)]
    for piece in _joined(blocks, words_a, words_b):
        a_from, a_to, b_from, b_to = part = _without_shared_ends(codes_a, codes_b, piece)
        if is_other_form(part):
            continue
        yield WordDifference(
            tuple(words_a[a_from:a_to]),
            tuple(words_b[b_from:b_to]),
            _span(a, words_a, a_from, a_to, a_start),
            _span(b, words_b, b_from, b_to, b_start),
        )


def _code(number: int, word: Word) -> int:
    return number if word.is_word or word.core == BLANK else ~number


def _some_words(wording: Wording, start: int, end: int, side: int, work: _Work) -> list[Word]:
    left = work.n_words[side]
    words = list(islice(wording.words(start, end), left + 1))
    if len(words) > left:
        work.is_whole = False
        words.pop()
    work.n_words[side] -= len(words)
    return words


def _span(wording: Wording, words: Sequence[Word], start: int, end: int, default: int) -> tuple[int, int]:
    if end > start:
        return words[start].start, words[end - 1].end
    place = words[start - 1].end if start else default
    while place and wording.text[place - 1].isspace():
        place -= 1
    return place, place


def _words_then_signs(a: list[int], b: list[int], work: _Work) -> Iterator[_Block]:
    """Yield blocks that differ: words and blanks first, then punctuation between aligned words."""
    for a_start, a_end, b_start, b_end in _between_aligned(a, b, False, work):
        for inner in _between_aligned(a[a_start:a_end], b[b_start:b_end], True, work):
            yield inner[0] + a_start, inner[1] + a_start, inner[2] + b_start, inner[3] + b_start


def _between_aligned(a: list[int], b: list[int], is_of_signs: bool, work: _Work) -> Iterator[_Block]:
    in_a, in_b = ([i for i, code in enumerate(codes) if (code < 0) == is_of_signs] for codes in (a, b))
    if not in_a or not in_b:
        if a != b:
            yield 0, len(a), 0, len(b)
        return
    at_a = at_b = 0
    numbers = dict[tuple[int, ...], int]()
    coded_a, coded_b = _coded(a, in_a, numbers), _coded(b, in_b, numbers)
    for i, j in [*_aligned(coded_a, coded_b, work), (len(in_a), len(in_b))]:
        to_a, to_b = in_a[i] if i < len(in_a) else len(a), in_b[j] if j < len(in_b) else len(b)
        if a[at_a:to_a] != b[at_b:to_b]:
            yield at_a, to_a, at_b, to_b
        at_a, at_b = to_a + 1, to_b + 1


def _coded(codes: list[int], places: list[int], numbers: dict[tuple[int, ...], int]) -> _CodedWords:
    """Return the numbers at some places; all between two of them together get one number."""
    bounds = zip([-1, *places], [*places, len(codes)], strict=True)
    between = (tuple(codes[start + 1 : end]) for start, end in bounds)
    return _CodedWords([codes[i] for i in places], [numbers.setdefault(text, len(numbers)) for text in between])


def _aligned(a: _CodedWords, b: _CodedWords, work: _Work) -> Iterator[tuple[int, int]]:
    at_a = at_b = 0
    for a_start, a_end, b_start, b_end in [*_unequal(a, b, 0, work), (len(a), len(a), len(b), len(b))]:
        yield from zip(range(at_a, a_start), range(at_b, b_start), strict=True)
        at_a, at_b = a_end, b_end


def _unequal(a: _CodedWords, b: _CodedWords, level: int, work: _Work) -> Iterator[_Block]:
    """Yield blocks of words that differ: split by shared runs, then word by word."""
    if len(a) * len(b) <= _CELLS_AT_ONCE or level == len(_RUNS):
        yield from _by_words(a, b, work)
        return
    for block in _between(a.codes, b.codes, _RUNS[level]):
        a_start, a_end, b_start, b_end = block
        if a_start == a_end or b_start == b_end:
            yield block
            continue
        for inner in _unequal(a.part(a_start, a_end), b.part(b_start, b_end), level + 1, work):
            yield inner[0] + a_start, inner[1] + a_start, inner[2] + b_start, inner[3] + b_start


def _by_words(a: _CodedWords, b: _CodedWords, work: _Work) -> Iterator[_Block]:
    """The longest shared run is aligned first, then the longest on either side."""
    n_cells = len(a) * len(b)
    if n_cells > work.n_cells:
        work.is_whole = False
        yield 0, len(a), 0, len(b)
        return
    work.n_cells -= n_cells
    places = defaultdict[int, list[int]](list)
    for j, code in enumerate(b.codes):
        places[code].append(j)
    left, runs = [(0, len(a), 0, len(b))], list[tuple[int, int, int]]()
    while left:
        a_start, a_end, b_start, b_end = block = left.pop()
        i, j, n = _longest_run(a, b, places, block, work)
        if n:
            runs.append((i, j, n))
            left += [(i + n, a_end, j + n, b_end), (a_start, i, b_start, j)]  # if work is spent, the end is left
    at_a = at_b = 0
    for i, j, n in [*sorted(runs), (len(a), len(b), 0)]:
        if i > at_a or j > at_b:
            yield at_a, i, at_b, j
        at_a, at_b = i + n, j + n


def _longest_run(
    a: _CodedWords, b: _CodedWords, places: Mapping[int, Sequence[int]], block: _Block, work: _Work
) -> tuple[int, int, int]:
    """Return the longest shared run in a block, with the most equal signs beside; an empty one if the work is spent."""
    a_start, a_end, b_start, b_end = block
    a_word = 2 * min(len(a), len(b)) + 1  # more than all signs count
    best, last_a, last_b = 0, a_start, b_start
    before = dict[int, int]()
    for i in range(a_start, a_end if b_start < b_end else a_start):
        here = dict[int, int]()
        there = places.get(a.codes[i], ())
        first = bisect_left(there, b_start)
        last = bisect_left(there, b_end, first)
        work.n_steps -= max(1, last - first)
        if work.n_steps < 0:
            work.is_whole = False
            return a_start, b_start, 0
        for j in there[first:last]:
            n_signs = (a.beside[i] == b.beside[j]) + (a.beside[i + 1] == b.beside[j + 1])
            here[j] = score = before.get(j - 1, 0) + a_word + n_signs
            if score > best:
                best, last_a, last_b = score, i, j
        before = here
    n = best // a_word
    return last_a - n + 1, last_b - n + 1, n


def _between(
    a: Sequence[Hashable], b: Sequence[Hashable], run: int, is_telling: Callable[[Hashable], bool] | None = None
) -> Iterator[_Block]:
    """Yield the parts between shared ends and runs that occur once in each text, in the same order."""
    head, tail = _shared_ends(a, b)
    end_a, end_b = len(a) - tail, len(b) - tail
    at_a, at_b = head, head
    for i, j in [*_anchors(a[head:end_a], b[head:end_b], run, is_telling), (end_a - head, end_b - head)]:
        i, j = i + head, j + head
        if i < at_a or j < at_b:
            continue  # inside the reach of the previous anchor
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
    """Return the largest set of runs that occur once in each text and keep their order (patience)."""
    in_a, in_b = _once(a, run), _once(b, run)
    shared = sorted((i, in_b[key]) for key, i in in_a.items() if key in in_b)
    if is_telling:
        shared = [(i, j) for i, j in shared if is_telling(a[i])]
    tops: list[int] = []  # lowest last place in b of an ascending chain of each length
    chain: list[int] = []  # index of the pair that ends it
    before: list[int] = []
    for index, (_, j) in enumerate(shared):
        length = bisect_left(tops, j)
        before.append(chain[length - 1] if length else -1)
        tops[length : length + 1] = [j]
        chain[length : length + 1] = [index]
    anchors, index = [], chain[-1] if chain else -1
    while index >= 0:
        anchors.append(shared[index])
        index = before[index]
    return anchors[::-1]


def _once(items: Sequence[Hashable], run: int) -> dict[Hashable, int]:
    seen: dict[Hashable, int] = {}
    keys = items if run == 1 else [tuple(items[i : i + run]) for i in range(len(items) - run + 1)]
    for i, key in enumerate(keys):
        seen[key] = -1 if key in seen else i
    return {key: i for key, i in seen.items() if i >= 0}


def _joined(blocks: list[_Block], words_a: Sequence[Word], words_b: Sequence[Word]) -> list[_Block]:
    """Merge blocks separated only by punctuation, or by two shared words between long blocks."""
    n_words, n_blanks = (
        [list(accumulate(counted, initial=0)) for counted in sides]
        for sides in (
            [(word.is_word for word in words) for words in (words_a, words_b)],
            [(word.core == BLANK for word in words) for words in (words_a, words_b)],
        )
    )
    result: list[_Block] = []
    for block in blocks:
        if result:
            last = result[-1]
            n_between = n_words[0][block[0]] - n_words[0][last[1]]
            most = min(max(pair[1] - pair[0], pair[3] - pair[2]) for pair in (last, block))
            if not n_between or (n_between <= 2 and most > 4 and not _are_added(last, block, n_words, n_blanks)):
                result[-1] = (last[0], block[1], last[2], block[3])
                continue
        result.append(block)
    return result


def _without_shared_ends(a: Sequence[int], b: Sequence[int], block: _Block) -> _Block:
    a_from, a_to, b_from, b_to = block
    head, tail = _shared_ends(a[a_from:a_to], b[b_from:b_to])
    return a_from + head, a_to - tail, b_from + head, b_to - tail


def _are_added(last: _Block, block: _Block, n_words: Sequence[list[int]], n_blanks: Sequence[list[int]]) -> bool:
    """Whether one text has no words in both blocks, or a blank in either."""

    def have_some(counts: Sequence[int], side: int) -> bool:
        return any(counts[pair[2 * side + 1]] > counts[pair[2 * side]] for pair in (last, block))

    if any(have_some(counts, side) for side, counts in enumerate(n_blanks)):
        return True
    return not all(have_some(counts, side) for side, counts in enumerate(n_words))
