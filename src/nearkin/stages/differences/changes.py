"""All stretches of characters in which two texts differ, ignoring white space.

The alignment says which words differ. Words that it treats as equal may still be written differently: in capitals, with
a soft hyphen, as a blank of another length. Those are found here, so that every changed character is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nearkin.stages.differences.aligning import Alignment, align
from nearkin.stages.differences.spelling import CHUNK, Span, is_same, shared_beginning, written_differently
from nearkin.stages.differences.unicode_forms import is_other_form
from nearkin.stages.differences.wording import Word, Wording
from nearkin.stages.differences.words import count_words

_LONGEST_SIGNS = 3  # punctuation characters between two changes that are merged
_MAX_COUNTED = 1_000_000  # characters of a change of which equal words at its ends are not counted
_LONG_CHUNK = 200  # characters; of a longer chunk only the differing part is reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A stretch in which two texts differ: ``a[start_a:end_a]`` and ``b[start_b:end_b]``; one may be empty.

    Parameters
    ----------
    start_a, end_a, start_b, end_b : int
        An empty side is at the end of what precedes it.
    n_words_a, n_words_b : int
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
    """Bounds of some words of a text, in order."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, words: Iterable[Word]) -> _WordPlaces:
        """Return the bounds of the words, without punctuation."""
        spans = [(word.start, word.end) for word in words if word.is_word]
        return cls([start for start, _ in spans], [end for _, end in spans])

    def count(self, start: int, end: int) -> int:
        """Count the words that are in a stretch of the text, at least in part."""
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
        only_a = _WordPlaces.of(word for one in alignment.differences for word in one.a)
        only_b = _WordPlaces.of(word for one in alignment.differences for word in one.b)
        return cls(a, b, only_a, only_b, alignment.is_whole)

    @property
    def n_words(self) -> tuple[int, int]:
        """Number of words that the alignment finds only in the first text, and only in the second."""
        return len(self.only_a.starts), len(self.only_b.starts)

    def change(self, span: Span, shown: Span | None = None) -> Change:
        """Return a stretch of both texts as a change, with its words; ``shown`` is the part of it that is shown."""
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
    """Find every stretch in which two texts differ.

    Between two stretches both texts have the same characters, ignoring white space. Characters are the same
    if they are canonically equivalent (Unicode NFC).

    Examples
    --------
    >>> a, b = Wording("Rent is 100 crowns"), Wording("rent is 250  crowns")
    >>> [(a.text[one.start_a : one.end_a], one.n_words_a) for one in find_changes(a, b).changes]
    [('Rent', 0), ('100', 1)]
    """
    alignment = align(a, b)
    spans: list[Span] = []
    at_a = at_b = 0
    for one in alignment.differences:
        start_a, start_b = max(at_a, one.span_a[0]), max(at_b, one.span_b[0])
        spans += written_differently(a, b, (at_a, start_a, at_b, start_b), is_whole=alignment.is_whole)
        at_a, at_b = max(start_a, one.span_a[1]), max(start_b, one.span_b[1])
        spans.append((start_a, at_a, start_b, at_b))
    spans += written_differently(a, b, (at_a, len(a.text), at_b, len(b.text)), is_whole=alignment.is_whole)
    counts = WordCounts.of(a, b, alignment)
    told = [counts.change(span, _trimmed(a.text, b.text, span)) for span in _joined(spans, a.text)]
    return Changes(tuple(one for one in told if _is_change(a.text, b.text, one)), alignment, counts)


def _joined(spans: Sequence[Span], text_a: str) -> Iterator[Span]:
    """Merge changes that are separated by nothing, or only by a few punctuation characters."""
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


def _is_change(text_a: str, text_b: str, one: Change) -> bool:
    """Whether a change counts: white space within a word splits it; within a line of punctuation it is ignored."""
    if one.n_words_a or one.n_words_b:
        return True
    return not is_same(text_a[one.start_a : one.end_a], text_b[one.start_b : one.end_b])


def _trimmed(text_a: str, text_b: str, span: Span) -> Span:
    """Remove the common beginning and end from a change."""
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
    """Return the bounds of the rest between the first and last chunks; never inside white space."""
    if head + tail < len(chunks):
        return chunks[head].start(), chunks[-1 - tail].end()
    place = chunks[head - 1].end() if head else ends[0]
    while place > ends[0] and text[place - 1].isspace():
        place -= 1
    return place, place


def _unaligned_words(a: Wording, b: Wording, span: Span) -> tuple[int, int]:
    """Count the words of a stretch, without equal ones at its ends."""
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
    for one, other in zip(a, b, strict=False):
        if one != other:
            return
        yield one
