"""Text that only one of two texts has, with the negations in it; moved passages are counted apart."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter

from nearkin.stages.differences.changes import Changes
from nearkin.stages.differences.kinds import Negation, more_negations
from nearkin.stages.differences.moves import CLOSING, find_moves, is_telling_sign
from nearkin.stages.differences.words import Word, Wording, count_words

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters that are kept of one side; the negations are named in any case."""


_GAP, _OPENING = " … ", "… "
_Part = tuple[Sequence[Word], Sequence[Negation]]
"""Words of one side of a difference, between moved passages, and the negations among them of which it has more."""


@dataclass(frozen=True, slots=True)
class OneSidedText:
    """Text that only one of two texts has.

    Parameters
    ----------
    negations
        English negations of which this text has more at a difference, each once; without moved passages.
    negations_at
        Passages with such a negation: the number of each, from 0, and the place of its first negation.
    """

    passages: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    n_words_left_out: int = 0
    negations_at: tuple[tuple[int, int], ...] = ()
    n_words_moved: int = 0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Beginning of the passages of a side, and the number of words that are not in it."""

    text: str
    n_words_left: int


@dataclass(frozen=True, slots=True)
class FirstPassages:
    """Beginnings of the first passages of a side, and places of negations; see `OneSidedText`."""

    passages: tuple[str, ...]
    negations_at: tuple[tuple[int, int], ...]


def one_sided_texts(a: Wording, b: Wording, changes: Changes) -> tuple[OneSidedText, OneSidedText]:
    """Return what only the first text has, and what only the second one has."""
    moves = find_moves(a, b, changes)
    moved = [moves.changes[i] for i in sorted(moves.counterpart)]
    moved_a = [part.span_a for part in moved if part.end_a > part.start_a]
    moved_b = [part.span_b for part in moved if part.end_b > part.start_b]
    of_a, of_b = list[_Part](), list[_Part]()
    for part in changes.alignment.differences:
        parts_a, parts_b = list(_not_moved(part.a, moved_a)), list(_not_moved(part.b, moved_b))
        rest_a, rest_b = list(chain(*parts_a)), list(chain(*parts_b))
        of_a += _with_negations(parts_a, more_negations(a, rest_a, b, rest_b))
        of_b += _with_negations(parts_b, more_negations(b, rest_b, a, rest_a))
    return (
        _side(a, of_a, sum(part.n_words_a for part in moved)),
        _side(b, of_b, sum(part.n_words_b for part in moved)),
    )


def _not_moved(words: tuple[Word, ...], moved: Sequence[tuple[int, int]]) -> Iterator[tuple[Word, ...]]:
    if not words:
        return
    first_moved = bisect_right(moved, words[0].start, key=itemgetter(1))
    after_moved = bisect_left(moved, words[-1].end, first_moved, key=itemgetter(0))
    at = 0
    for start, end in moved[first_moved:after_moved]:
        first, last = (bisect_left(words, place, key=attrgetter("start")) for place in (start, end))
        if first > at:
            yield words[at:first]
        at = last
    if at < len(words):
        yield words[at:]


def _with_negations(parts: Iterable[Sequence[Word]], negations: Sequence[Negation]) -> Iterator[_Part]:
    for words in parts:
        bounds = words[0].start, words[-1].end
        first, last = (bisect_left(negations, place, key=attrgetter("start")) for place in bounds)
        yield words, negations[first:last]


def excerpt(passages: Sequence[str], negations_at: Sequence[tuple[int, int]], n_words: int, most: int) -> Excerpt:
    """Return the first passages, those with a negation first, cut after at most ``most`` characters."""
    if sum(map(len, passages)) + len(_GAP) * (len(passages) - 1) <= most:
        whole = joined(passages[number] for number in _order(passages, negations_at))
        if not (n_left := n_words - sum(map(count_words, passages))):
            return Excerpt(whole, n_left)
    else:
        whole = joined(first_passages(passages, negations_at, most).passages)
    shown = _cut(whole, most - 2).rstrip(" …")
    return Excerpt(f"{shown} …", n_words - count_words(shown))


def joined(passages: Iterable[str]) -> str:
    """Return passages as one line, with an ellipsis between any two.

    Examples
    --------
    >>> joined(("… shall not pay", "… shall not paint", "new word"))
    '… shall not pay … shall not paint … new word'
    """
    return _GAP.join(passage.removeprefix(_OPENING) if i else passage for i, passage in enumerate(passages))


def first_passages(passages: Sequence[str], negations_at: Sequence[tuple[int, int]], most: int) -> FirstPassages:
    """Return about the first ``most`` characters of passages, as `excerpt` has them.

    Examples
    --------
    >>> first_passages(("new word", "the tenant of the cellar shall not pay"), ((1, 31),), 20)
    FirstPassages(passages=('… shall not pay', 'new word'), negations_at=((0, 8),))
    """
    place_in, pieces, places, n_characters = dict(negations_at), list[str](), list[tuple[int, int]](), 0
    for number in _order(passages, negations_at):
        if n_characters >= most:
            break
        start = _start_near(passages[number], place_in.get(number, 0), most)
        opening = _OPENING if start else ""
        piece = opening + _cut(passages[number][start : start + most + 1], most)
        if number in place_in and (place := place_in[number] - start + len(opening)) < len(piece):
            places.append((len(pieces), place))
        pieces.append(piece)
        n_characters += len(piece) + len(_GAP)
    return FirstPassages(tuple(pieces), tuple(places))


def _order(passages: Sequence[str], negations_at: Sequence[tuple[int, int]]) -> list[int]:
    first = dict.fromkeys(number for number, _ in negations_at if number < len(passages))
    return [*first, *(number for number in range(len(passages)) if number not in first)]


def _start_near(passage: str, place: int, most: int) -> int:
    if place <= most // 2:
        return 0
    return passage.find(" ", place - most // 2 - 1, place) + 1 or place


def _side(wording: Wording, differences: Iterable[_Part], n_moved: int) -> OneSidedText:
    passages, places, n_left_out, n_characters = list[str](), list[tuple[int, int]](), 0, 0
    negations = dict[str, None]()
    for words, more in _words_before_signs(wording, differences):
        negations |= dict.fromkeys(negation.written for negation in more)
        text = " ".join(wording.text[words[0].start : words[-1].end].split())
        kept = _cut(text, MAX_CHARACTERS - n_characters)
        n_left_out += count_words(text) - count_words(kept) if len(kept) < len(text) else 0
        n_characters += len(kept)
        if not kept:
            continue
        if more and (place := _spaced_length(wording.text[words[0].start : more[0].start])) < len(kept):
            places.append((len(passages), place))
        passages.append(kept)
    return OneSidedText(tuple(passages), tuple(negations), n_left_out, tuple(places), n_moved)


def _words_before_signs(wording: Wording, differences: Iterable[_Part]) -> list[_Part]:
    with_words, signs = list[_Part](), list[_Part]()
    for words, more in differences:
        if any(word.is_word for word in words):
            with_words.append((_without_closing(words), more))
        elif words and is_telling_sign(wording.text, words):
            signs.append((words, more))
    return [*with_words, *signs]


def _without_closing(words: Sequence[Word]) -> Sequence[Word]:
    """Return words from the first on, or a sign directly before it: others close what precedes."""
    first = next((i for i, word in enumerate(words) if word.core not in CLOSING), 0)
    while first and words[first - 1].end == words[first].start:
        first -= 1
    return words[first:]


def _spaced_length(before: str) -> int:
    return len(" ".join(before.split())) + (before[-1:].isspace() and not before.isspace())


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[: max(0, most + 1)].rpartition(" ")[0] or text[: max(0, most)]
