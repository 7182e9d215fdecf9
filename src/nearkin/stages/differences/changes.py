"""All stretches of characters in which two texts differ, ignoring white space."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from nearkin.stages.differences.aligning import Alignment, align
from nearkin.stages.differences.words import Word, Wording, count_words, is_other_form

_LONGEST_SIGNS = 3  # punctuation characters between two changes that are merged
_MAX_COUNTED = 1_000_000  # characters of a change of which equal words at its ends are not counted
_LONG_CHUNK = 200  # characters; of a longer chunk only the differing part is reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stretch in which two texts differ: ``a[start_a:end_a]`` and ``b[start_b:end_b]``; one may be empty.

    Parameters
    ----------
    n_words_a, n_words_b
        Words that the alignment finds only on this side; both 0 if only the spelling differs: case, punctuation,
        Unicode form, invisible characters.
    """

    start_a: int
    end_a: int
    start_b: int
    end_b: int
    n_words_a: int
    n_words_b: int

    @property
    def span_a(self) -> tuple[int, int]:
        """Bounds in the first text."""
        return self.start_a, self.end_a

    @property
    def span_b(self) -> tuple[int, int]:
        """Bounds in the second text."""
        return self.start_b, self.end_b


@dataclass(frozen=True, slots=True)
class _WordPlaces:
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, words: Iterable[Word]) -> _WordPlaces:
        spans = [(word.start, word.end) for word in words if word.is_word]
        return cls([start for start, _ in spans], [end for _, end in spans])

    def count(self, start: int, end: int) -> int:
        return bisect_left(self.starts, end) - bisect_right(self.ends, start)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of the words in which two texts differ, the only ones that are shown anywhere."""

    a: Wording
    b: Wording
    only_a: _WordPlaces
    only_b: _WordPlaces
    is_whole: bool

    @classmethod
    def of(cls, a: Wording, b: Wording, alignment: Alignment) -> WordCounts:
        """Return the counts of an alignment."""
        only_a = _WordPlaces.of(word for difference in alignment.differences for word in difference.a)
        only_b = _WordPlaces.of(word for difference in alignment.differences for word in difference.b)
        return cls(a, b, only_a, only_b, alignment.is_whole)

    @property
    def n_words(self) -> tuple[int, int]:
        """Number of words that the alignment finds only in the first text, and only in the second."""
        return len(self.only_a.starts), len(self.only_b.starts)

    def change(self, span: Span, shown: Span | None = None) -> Change:
        """Return a stretch of both texts, of which ``shown`` is shown, as a change with its words."""
        start_a, end_a, start_b, end_b = shown or span
        if self.is_whole:
            n_words_a, n_words_b = self.only_a.count(*span[:2]), self.only_b.count(*span[2:])
        else:  # some of its words may not have been aligned at all
            n_words_a, n_words_b = _unaligned_words(self.a, self.b, shown or span)
        return Change(
            start_a=start_a, end_a=end_a, start_b=start_b, end_b=end_b, n_words_a=n_words_a, n_words_b=n_words_b
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences of two texts in order, with the alignment that they come from, and its counts of words."""

    changes: tuple[Change, ...]
    alignment: Alignment
    counts: WordCounts

    @property
    def is_whole(self) -> bool:
        """False if the texts were too long to be compared completely."""
        return self.alignment.is_whole


def find_changes(a: Wording, b: Wording) -> Changes:
    """Find every stretch in which two texts differ."""
    alignment = align(a, b)
    spans: list[Span] = []
    at_a = at_b = 0
    for difference in alignment.differences:
        start_a, start_b = max(at_a, difference.span_a[0]), max(at_b, difference.span_b[0])
        spans += written_differently(a, b, (at_a, start_a, at_b, start_b), is_whole=alignment.is_whole)
        at_a, at_b = max(start_a, difference.span_a[1]), max(start_b, difference.span_b[1])
        spans.append((start_a, at_a, start_b, at_b))
    spans += written_differently(a, b, (at_a, len(a.text), at_b, len(b.text)), is_whole=alignment.is_whole)
    counts = WordCounts.of(a, b, alignment)
    changes = [counts.change(span, _trimmed(a.text, b.text, span)) for span in _joined(spans, a.text)]
    return Changes(
        tuple(difference for difference in changes if _is_change(a.text, b.text, difference)), alignment, counts
    )


def _joined(spans: Sequence[Span], text_a: str) -> Iterator[Span]:
    current: Span | None = None
    for span in spans:
        if current is None:
            current = span
        elif _is_nothing(text_a[current[1] : span[0]]):
            current = (current[0], span[1], current[2], span[3])
        else:
            yield current
            current = span
    if current is not None:
        yield current


def _is_nothing(text: str) -> bool:
    short = text.strip()
    return not short or (len(short) <= _LONGEST_SIGNS and "\n" not in text and count_words(short) == 0)


def _is_change(text_a: str, text_b: str, change: Change) -> bool:
    """White space within a word splits it; within a line of punctuation it is ignored."""
    if change.n_words_a or change.n_words_b:
        return True
    return not is_same(text_a[change.start_a : change.end_a], text_b[change.start_b : change.end_b])


def _trimmed(text_a: str, text_b: str, span: Span) -> Span:
    start_a, end_a, start_b, end_b = span
    if start_a == end_a or start_b == end_b:
        return span
    a, b = (list(CHUNK.finditer(text, *ends)) for text, ends in ((text_a, span[:2]), (text_b, span[2:])))
    least, head, tail = min(len(a), len(b)), 0, 0
    while head < least and a[head].group() == b[head].group():
        head += 1
    while tail < least - head and a[-1 - tail].group() == b[-1 - tail].group():
        tail += 1
    start_a, end_a = _rest(text_a, span[:2], a, head, tail)
    start_b, end_b = _rest(text_b, span[2:], b, head, tail)
    if len(a) == len(b) == head + tail + 1 and min(end_a - start_a, end_b - start_b) > _LONG_CHUNK:
        same = shared_beginning(text_a[start_a:end_a], text_b[start_b:end_b])
        start_a, start_b = start_a + same, start_b + same
        same = shared_beginning(text_a[start_a:end_a][::-1], text_b[start_b:end_b][::-1])
        end_a, end_b = end_a - same, end_b - same
    return start_a, end_a, start_b, end_b


def _rest(text: str, ends: tuple[int, int], chunks: Sequence[re.Match[str]], head: int, tail: int) -> tuple[int, int]:
    if head + tail < len(chunks):
        return chunks[head].start(), chunks[-1 - tail].end()
    place = chunks[head - 1].end() if head else ends[0]
    while place > ends[0] and text[place - 1].isspace():
        place -= 1
    return place, place


def _unaligned_words(a: Wording, b: Wording, span: Span) -> tuple[int, int]:
    if max(span[1] - span[0], span[3] - span[2]) > _MAX_COUNTED:
        return count_words(a.text[span[0] : span[1]]), count_words(b.text[span[2] : span[3]])
    if is_other_form(a.text[span[0] : span[1]], b.text[span[2] : span[3]]):
        return 0, 0
    cores_a, cores_b = _words(a, *span[:2]), _words(b, *span[2:])
    head = sum(1 for _ in _while_same(cores_a, cores_b))
    cores_a, cores_b = cores_a[head:][::-1], cores_b[head:][::-1]
    tail = sum(1 for _ in _while_same(cores_a, cores_b))
    return len(cores_a) - tail, len(cores_b) - tail


def _words(wording: Wording, start: int, end: int) -> list[str]:
    return [word.core for word in wording.words(start, end) if word.is_word]


def _while_same(a: Sequence[str], b: Sequence[str]) -> Iterator[str]:
    for word, other in zip(a, b, strict=False):
        if word != other:
            return
        yield word


CHUNK = re.compile(r"\S+")
Span = tuple[int, int, int, int]
"""Bounds of a stretch in the first text, then in the second."""

_MAX_UNSURE = 20_000  # maximum characters of possibly uncompared text that are compared word by word


def written_differently(a: Wording, b: Wording, block: Span, *, is_whole: bool) -> Iterator[Span]:
    """Yield the stretches of a block with the same words where these, or what is between, are written differently.

    Examples
    --------
    >>> list(written_differently(Wording("Rent is due"), Wording("rent  is due"), (0, 11, 0, 12), is_whole=True))
    [(0, 4, 0, 4)]
    """
    start_a, end_a, start_b, end_b = block
    if is_same(a.text[start_a:end_a], b.text[start_b:end_b]):
        return
    start_a, end_a, start_b, end_b = block = _narrowed(a.text, b.text, block)
    if not is_whole and max(end_a - start_a, end_b - start_b) > _MAX_UNSURE:
        yield block  # a limit was reached, and this may not have been compared at all
        return
    for span_a, span_b in _pairs(a.text, b.text, block):
        yield from _differently_in(a, b, (*span_a, *span_b))


def _pairs(text_a: str, text_b: str, block: Span) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield what must be compared word by word: chunks that differ only in case; else everything."""
    start_a, end_a, start_b, end_b = block
    parts_a, parts_b = text_a[start_a:end_a].split(), text_b[start_b:end_b].split()
    unlike = [x != y for x, y in zip(parts_a, parts_b)] if len(parts_a) == len(parts_b) else []
    if not unlike or any(d and x.lower() != y.lower() for d, x, y in zip(unlike, parts_a, parts_b)):
        yield (start_a, end_a), (start_b, end_b)
        return
    chunks = zip(CHUNK.finditer(text_a, start_a, end_a), CHUNK.finditer(text_b, start_b, end_b))
    for is_unlike, (chunk_a, chunk_b) in zip(unlike, chunks):
        if is_unlike:
            yield chunk_a.span(), chunk_b.span()


def _differently_in(a: Wording, b: Wording, block: Span) -> Iterator[Span]:
    start_a, end_a, start_b, end_b = block
    tokens_a, tokens_b = list(_tokens(a, start_a, end_a)), list(_tokens(b, start_b, end_b))
    places_a = [start_a, *(token.end for token in tokens_a)]
    places_b = [start_b, *(token.end for token in tokens_b)]
    for first_a, last_a, first_b, last_b in _unlike(tokens_a, tokens_b):
        yield (
            tokens_a[first_a].start if last_a > first_a else places_a[first_a],
            places_a[last_a],
            tokens_b[first_b].start if last_b > first_b else places_b[first_b],
            places_b[last_b],
        )


def _narrowed(text_a: str, text_b: str, block: Span) -> Span:
    start_a, end_a, start_b, end_b = block
    head = _shared_words(text_a[start_a:end_a], text_b[start_b:end_b])
    start_a, start_b = start_a + head, start_b + head
    tail = _shared_words(text_a[start_a:end_a][::-1], text_b[start_b:end_b][::-1])
    return start_a, end_a - tail, start_b, end_b - tail


def _shared_words(a: str, b: str) -> int:
    """Count the common initial characters, up to a letter before a space."""
    length = shared_beginning(a, b)
    while length and not (
        a[length - 1].isalnum() and a[length : length + 1].isspace() and b[length : length + 1].isspace()
    ):
        length -= 1
    return length


def _tokens(wording: Wording, start: int, end: int) -> Iterator[_Token]:
    at, text = start, wording.text
    for word in wording.words(start, end):
        if word.start > at:
            yield from _between_words(text, at, word.start)
        core = word.core if " " not in word.core else "".join(word.core.split())
        yield _Token(core, _written(text[word.start : word.end]), word.start, word.end)
        at = word.end
    yield from _between_words(text, at, end)


def _between_words(text: str, start: int, end: int) -> Iterator[_Token]:
    for occurrence in CHUNK.finditer(text, start, end):
        yield _Token("", _written(occurrence.group()), occurrence.start(), occurrence.end())


def _unlike(a: Sequence[_Token], b: Sequence[_Token]) -> Iterator[Span]:
    """Yield the numbers of differing tokens, of two sequences whose cores are the same."""
    i = j = 0
    while i < len(a) and j < len(b):
        first_a, first_b = i, j
        word_a, word_b = a[i], b[j]
        if word_a.core == word_b.core:
            i, j = i + 1, j + 1
            if word_a.written != word_b.written:
                yield first_a, i, first_b, j
        elif not word_a.core:
            i += 1
            yield first_a, i, first_b, j
        elif not word_b.core:
            j += 1
            yield first_a, i, first_b, j
        else:
            i, j = _held_again(a, b, i, j)
            if "".join(t.written for t in a[first_a:i]) != "".join(t.written for t in b[first_b:j]):
                yield first_a, i, first_b, j
    if i < len(a) or j < len(b):
        yield i, len(a), j, len(b)


def _held_again(a: Sequence[_Token], b: Sequence[_Token], i: int, j: int) -> tuple[int, int]:
    """Return the end of several tokens of one text for one of the other, "(1)" and "⑴"."""
    first_a, first_b = i, j
    length_a = length_b = 0
    while length_a != length_b or not length_a:
        if length_a <= length_b and i < len(a):
            length_a, i = length_a + len(a[i].core), i + 1
        elif j < len(b):
            length_b, j = length_b + len(b[j].core), j + 1
        else:
            return len(a), len(b)
    if "".join(t.core for t in a[first_a:i]) != "".join(t.core for t in b[first_b:j]):
        return len(a), len(b)  # different words: a limit was reached before
    return i, j


@dataclass(frozen=True, slots=True)
class _Token:
    core: str
    written: str
    start: int
    end: int


def shared_beginning(a: str, b: str) -> int:
    """Count the common initial characters of two texts.

    Examples
    --------
    >>> shared_beginning("tenant", "tenor")
    3
    """
    low, high = 0, min(len(a), len(b))
    while low < high:  # bisection: each step is one memory comparison
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def is_same(a: str, b: str) -> bool:
    """Whether two texts have the same characters, ignoring white space."""
    return a == b or _written(a) == _written(b)


def _written(text: str) -> str:
    packed = "".join(text.split()) if not text.isalnum() else text
    return packed if packed.isascii() else unicodedata.normalize("NFC", packed)


SegmentKind = Literal["equal", "only_a", "only_b"]
_RUN = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Characters of both texts, or of one of them: ``kind`` is "equal", "only_a" or "only_b"."""

    kind: SegmentKind
    text: str


def exact_segments(text_a: str, text_b: str) -> Iterator[TextSegment]:
    """Yield the segments of two texts in order; at a difference, the segment of A comes first."""
    of_a, of_b = list[str](), list[str]()
    for segment in _segments(text_a, text_b):
        if segment.kind == "equal":
            yield from _of_change("".join(of_a), "".join(of_b))
            of_a.clear()
            of_b.clear()
            yield segment
        else:
            (of_a if segment.kind == "only_a" else of_b).append(segment.text)
    yield from _of_change("".join(of_a), "".join(of_b))


def _segments(text_a: str, text_b: str) -> Iterator[TextSegment]:
    at_a = at_b = 0
    for change in find_changes(Wording(text_a), Wording(text_b)).changes:
        yield from _of_common(text_a[at_a : change.start_a], text_b[at_b : change.start_b])
        yield from _of_change(text_a[change.start_a : change.end_a], text_b[change.start_b : change.end_b])
        at_a, at_b = change.end_a, change.end_b
    yield from _of_common(text_a[at_a:], text_b[at_b:])


def _of_change(a: str, b: str) -> Iterator[TextSegment]:
    if a:
        yield TextSegment("only_a", a)
    if b:
        yield TextSegment("only_b", b)


def _of_common(a: str, b: str) -> Iterator[TextSegment]:
    if a == b:
        if a:
            yield TextSegment("equal", a)
        return
    runs_a, runs_b = _RUN.findall(a), _RUN.findall(b)
    if _n_written(runs_a) != _n_written(runs_b):  # white space inside of punctuation
        yield from _of_change(a, b)
        return
    same = list[str]()
    for run_a, run_b in _paired(runs_a, runs_b):
        if run_a == run_b:
            same.append(run_a)
            continue
        if same:
            yield TextSegment("equal", "".join(same))
            same.clear()
        yield from _of_change(run_a, run_b)
    if same:
        yield TextSegment("equal", "".join(same))


def _n_written(runs: list[str]) -> int:
    return sum(not run.isspace() for run in runs)


def _paired(a: list[str], b: list[str]) -> Iterator[tuple[str, str]]:
    """White space of only one text has nothing beside it."""
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i].isspace() == b[j].isspace():
            yield a[i], b[j]
            i, j = i + 1, j + 1
        elif a[i].isspace():
            yield a[i], ""
            i += 1
        else:
            yield "", b[j]
            j += 1
    yield from zip_longest(a[i:], b[j:], fillvalue="")
