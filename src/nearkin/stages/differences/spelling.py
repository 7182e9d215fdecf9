"""Equal words written differently: in capitals, with a soft hyphen, as a blank of another length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nearkin.stages.differences.wording import Wording

CHUNK = re.compile(r"\S+")
Span = tuple[int, int, int, int]
"""Bounds of a stretch in the first text, then in the second."""

_MAX_UNSURE = 20_000  # maximum characters of possibly uncompared text that are compared word by word


def written_differently(a: Wording, b: Wording, block: Span, *, is_whole: bool) -> Iterator[Span]:
    """Yield the stretches where equal words, or characters between words, are written differently.

    Parameters
    ----------
    a, b : Wording
    block : tuple of int
        A stretch of both texts with the same words.
    is_whole : bool
        False: a limit was reached, and the words may differ.

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
    for one, other in _pairs(a.text, b.text, block):
        yield from _differently_in(a, b, (*one, *other))


def _pairs(text_a: str, text_b: str, block: Span) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield what must be compared word by word: the differing chunks, if they differ only in case; else everything."""
    start_a, end_a, start_b, end_b = block
    parts_a, parts_b = text_a[start_a:end_a].split(), text_b[start_b:end_b].split()
    unlike = [x != y for x, y in zip(parts_a, parts_b)] if len(parts_a) == len(parts_b) else []
    if not unlike or any(d and x.lower() != y.lower() for d, x, y in zip(unlike, parts_a, parts_b)):
        yield (start_a, end_a), (start_b, end_b)
        return
    chunks = zip(CHUNK.finditer(text_a, start_a, end_a), CHUNK.finditer(text_b, start_b, end_b))
    for is_unlike, (one, other) in zip(unlike, chunks):
        if is_unlike:
            yield one.span(), other.span()


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
    """Return the block without its common beginning and end, cut at words."""
    start_a, end_a, start_b, end_b = block
    head = _shared_words(text_a[start_a:end_a], text_b[start_b:end_b])
    start_a, start_b = start_a + head, start_b + head
    tail = _shared_words(text_a[start_a:end_a][::-1], text_b[start_b:end_b][::-1])
    return start_a, end_a - tail, start_b, end_b - tail


def _shared_words(a: str, b: str) -> int:
    """Count the common initial characters, up to a letter before a space, which is inside no word or blank."""
    length = shared_beginning(a, b)
    while length and not (
        a[length - 1].isalnum() and a[length : length + 1].isspace() and b[length : length + 1].isspace()
    ):
        length -= 1
    return length


def _tokens(wording: Wording, start: int, end: int) -> Iterator[_Token]:
    """Yield everything except white space, in order."""
    at, text = start, wording.text
    for word in wording.words(start, end):
        if word.start > at:
            yield from _between_words(text, at, word.start)
        core = word.core if " " not in word.core else "".join(word.core.split())
        yield _Token(core, _written(text[word.start : word.end]), word.start, word.end)
        at = word.end
    yield from _between_words(text, at, end)


def _between_words(text: str, start: int, end: int) -> Iterator[_Token]:
    for found in CHUNK.finditer(text, start, end):
        yield _Token("", _written(found.group()), found.start(), found.end())


def _unlike(a: Sequence[_Token], b: Sequence[_Token]) -> Iterator[Span]:
    """Yield the numbers of differing tokens, of two sequences whose cores are the same."""
    i = j = 0
    while i < len(a) and j < len(b):
        first_a, first_b = i, j
        one, other = a[i], b[j]
        if one.core == other.core:
            i, j = i + 1, j + 1
            if one.written != other.written:
                yield first_a, i, first_b, j
        elif not one.core:
            i += 1
            yield first_a, i, first_b, j
        elif not other.core:
            j += 1
            yield first_a, i, first_b, j
        else:
            i, j = _held_again(a, b, i, j)
            if "".join(t.written for t in a[first_a:i]) != "".join(t.written for t in b[first_b:j]):
                yield first_a, i, first_b, j
    if i < len(a) or j < len(b):
        yield i, len(a), j, len(b)


def _held_again(a: Sequence[_Token], b: Sequence[_Token], i: int, j: int) -> tuple[int, int]:
    """Return the point up to which one text has several tokens for one of the other, "(1)" and "⑴"; else the end."""
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
    """A word, or the characters between words, which have no core."""

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
    """Return the compared form of a token: its characters, canonically composed, without white space."""
    packed = "".join(text.split()) if not text.isalnum() else text
    return packed if packed.isascii() else unicodedata.normalize("NFC", packed)
