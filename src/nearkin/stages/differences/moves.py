"""Changes → moves: passages that both texts have, character for character, in different places.

A passage with a negation is a move only if its whole sentence is the same in both places: the negation could be about
something else otherwise. A passage beside which only signs changed, ≥ 500 and ≤ 500, is none.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from nearkin.stages.differences.changes import Change, Changes
from nearkin.stages.differences.ignoring import Ignored, what_counts
from nearkin.stages.differences.words import Word, Wording

MIN_MOVED_WORDS = 8
"""Shorter passages occur in two places by chance; they are shown as removed and added."""
_MAX_PLACES = 8  # equal passages that are compared for the longest
_MAX_TOKENS = 400_000  # of each side, which are held in memory
_NEAR = 64  # characters around a passage in which a sentence is looked for
_LONGEST_SENTENCE = 400  # characters of a sentence around a passage
_SENTENCE_ENDS = ".!?;:"
_WITHIN = re.compile(r"[.!?;:]\s|\n[^\S\n]*\r?\n")  # between two sentences of a passage, which can be wrapped
_DIGIT = re.compile(r"\d")
CLOSING = frozenset(".,;:!?)]}\"'”’»")
"""Punctuation that belongs to the words before it."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Changes cut so that a moved passage is one of its own."""

    changes: tuple[Change, ...]
    counterpart: dict[int, int]


@dataclass(frozen=True, slots=True)
class _ChangedToken:
    """A token of one side of a change; ``written`` are its characters that count.

    Between two tokens of one ``stretch``, there is no word that both texts share.
    """

    written: str
    start: int
    end: int
    stretch: tuple[int, int]
    is_word: bool

    @property
    def change(self) -> int:
        return self.stretch[0]


@dataclass(frozen=True, slots=True)
class _MovedRun:
    """Tokens from ``start_a`` of A and ``start_b`` of B that both sides have."""

    start_a: int
    end_a: int
    start_b: int

    @property
    def end_b(self) -> int:
        return self.start_b + self.end_a - self.start_a


def find_moves(a: Wording, b: Wording, changes: Changes, ignored: Collection[Ignored] = ()) -> Moves:
    """Find passages of at least `MIN_MOVED_WORDS` words that were removed in one place and added in another."""
    if changes.is_whole and min(changes.counts.n_words) < MIN_MOVED_WORDS:
        return Moves(changes.changes, {})
    tokens_a, tokens_b = _tokens(a, changes, ignored, is_a=True), _tokens(b, changes, ignored, is_a=False)
    if min(len(tokens_a), len(tokens_b)) < MIN_MOVED_WORDS or max(len(tokens_a), len(tokens_b)) > _MAX_TOKENS:
        return Moves(changes.changes, {})
    runs = [
        run
        for run in _runs(tokens_a, tokens_b)
        if _is_move(
            a,
            b,
            (tokens_a[run.start_a].start, tokens_a[run.end_a - 1].end),
            (tokens_b[run.start_b].start, tokens_b[run.end_b - 1].end),
            ignored,
        )
    ]
    while runs:
        moves = _cut(changes, tokens_a, tokens_b, runs)
        beside = _beside_signs(a, b, moves, ignored)
        if not beside:
            return moves
        starts = {moves.changes[i].start_a for i in beside}
        runs = [run for run in runs if tokens_a[run.start_a].start not in starts]
    return Moves(changes.changes, {})


def _tokens(wording: Wording, changes: Changes, ignored: Collection[Ignored], *, is_a: bool) -> list[_ChangedToken]:
    tokens = []
    for stretch, (change, words) in enumerate(_stretches(wording, changes, is_a=is_a)):
        for word in words:
            if counted := what_counts(wording.text, word.start, word.end, ignored):
                tokens.append(_ChangedToken(counted, word.start, word.end, (change, stretch), word.is_word))
    return tokens


def _stretches(wording: Wording, whole: Changes, *, is_a: bool) -> Iterator[tuple[int, Iterable[Word]]]:
    changes = whole.changes
    spans = [change.span_a if is_a else change.span_b for change in changes]
    if not whole.is_whole:  # some words may not have been aligned
        yield from ((i, wording.words(*span)) for i, span in enumerate(spans))
        return
    parts = (whole.counts.change((*change.span_a, *change.span_b)) for change in changes)
    is_counted = [
        (difference.n_words_a, difference.n_words_b) == (part.n_words_a, part.n_words_b)
        for difference, part in zip(changes, parts)
    ]
    i = 0
    for difference in whole.alignment.differences:
        words = difference.a if is_a else difference.b
        if not words:
            continue
        while i < len(spans) and spans[i][1] < words[-1].end:
            i += 1
        # of a change that is shown in another part of its words, the parts cannot be counted
        if i < len(spans) and spans[i][0] <= words[0].start and is_counted[i]:
            yield i, words


def _is_move(
    a: Wording, b: Wording, here: tuple[int, int], there: tuple[int, int], ignored: Collection[Ignored]
) -> bool:
    if what_counts(a.text, *here, ignored) != what_counts(b.text, *there, ignored):
        return False
    from nearkin.stages.differences.kinds import negations_in  # few texts have passages that moved

    negations = negations_in(a, tuple(a.words(*here)))
    if not negations:
        return True
    start, end = here
    return (
        _WITHIN.search(a.text, start, negations[0].start) is not None
        or _is_same(_before(a.text, start), _before(b.text, there[0]))
    ) and (
        _WITHIN.search(a.text, negations[-1].start, end) is not None
        or _is_same(_after(a.text, end), _after(b.text, there[1]))
    )


def _is_same(word: str | None, other: str | None) -> bool:
    return word is not None and word == other


def _before(text: str, place: int) -> str | None:
    low = max(0, place - _LONGEST_SENTENCE)
    ends = [occurrence.end() for occurrence in _WITHIN.finditer(text, low, place)]
    return None if low and not ends else "".join(text[ends[-1] if ends else 0 : place].split())


def _after(text: str, place: int) -> str | None:
    if text[place - 1] in _SENTENCE_ENDS and not text[place : place + 1].strip():
        return ""
    occurrence = _WITHIN.search(text, place, place + _LONGEST_SENTENCE)
    if occurrence is None and place + _LONGEST_SENTENCE < len(text):
        return None
    return "".join(text[place : occurrence.start() if occurrence else len(text)].split()).rstrip(_SENTENCE_ENDS)


def _beside_signs(a: Wording, b: Wording, moves: Moves, ignored: Collection[Ignored]) -> set[int]:
    numbers = set[int]()
    for i, change in enumerate(moves.changes):
        beside = [] if i in moves.counterpart else [j for j in (i - 1, i + 1) if j in moves.counterpart]
        for wording, is_a in ((a, True), (b, False)) if beside else ():
            start, end = change.span_a if is_a else change.span_b
            if not _is_sign(wording, start, end, ignored):
                continue
            for j in beside:
                low, high = moves.changes[j].span_a if is_a else moves.changes[j].span_b
                if low < high and not wording.text[min(end, high) : max(start, low)].strip():
                    numbers.add(j if is_a else moves.counterpart[j])
    return numbers


def _is_sign(wording: Wording, start: int, end: int, ignored: Collection[Ignored]) -> bool:
    words = tuple(wording.words(start, end))
    if not words or any(word.is_word for word in words) or not what_counts(wording.text, start, end, ignored):
        return False
    return is_telling_sign(wording.text, words)


def is_telling_sign(text: str, signs: Sequence[Word]) -> bool:
    """Whether some of the signs do more than close what precedes them, or belong to a number."""
    if any(sign.core not in CLOSING for sign in signs):
        return True
    start, end = signs[0].start, signs[-1].end
    if not _DIGIT.search(text, max(0, start - _NEAR), end + _NEAR):
        return False
    from nearkin.stages.differences.kinds import number_signs

    return bool(number_signs(text, start, end))


def _runs(tokens_a: Sequence[_ChangedToken], tokens_b: Sequence[_ChangedToken]) -> Iterator[_MovedRun]:
    """Find passages from left to right in A, the longest at each place, without overlaps."""
    places: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for j in range(len(tokens_b) - MIN_MOVED_WORDS + 1):
        places[_key(tokens_b, j)].append(j)
    is_used = [False] * len(tokens_b)
    i = 0
    while i <= len(tokens_a) - MIN_MOVED_WORDS:
        there = places.get(_key(tokens_a, i), deque())
        while there and is_used[there[0]]:
            there.popleft()
        lengths = {j: _length(tokens_a, tokens_b, is_used, i, j) for j in islice(there, _MAX_PLACES)}
        j = max(lengths, key=lambda j: lengths[j], default=-1)
        n = lengths.get(j, 0)
        if sum(token.is_word for token in tokens_a[i : i + n]) >= MIN_MOVED_WORDS:
            yield _MovedRun(i, i + n, j)
            is_used[j : j + n] = [True] * n
            i += n
        else:
            i += max(1, n - MIN_MOVED_WORDS + 1)


def _key(tokens: Sequence[_ChangedToken], i: int) -> tuple[str, ...]:
    return tuple(token.written for token in tokens[i : i + MIN_MOVED_WORDS])


def _length(
    tokens_a: Sequence[_ChangedToken], tokens_b: Sequence[_ChangedToken], is_used: Sequence[bool], i: int, j: int
) -> int:
    in_a, in_b, n = tokens_a[i].stretch, tokens_b[j].stretch, 0
    if tokens_a[i].change == tokens_b[j].change:
        return 0
    while (
        i + n < len(tokens_a)
        and j + n < len(tokens_b)
        and not is_used[j + n]
        and (tokens_a[i + n].stretch, tokens_b[j + n].stretch) == (in_a, in_b)
        and tokens_a[i + n].written == tokens_b[j + n].written
    ):
        n += 1
    return n


def _cut(
    changes: Changes,
    tokens_a: Sequence[_ChangedToken],
    tokens_b: Sequence[_ChangedToken],
    runs: Sequence[_MovedRun],
) -> Moves:
    of_a: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    of_b: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, run in enumerate(runs):
        first, last = tokens_a[run.start_a], tokens_a[run.end_a - 1]
        of_a[first.change].append((first.start, last.end, number))
        first, last = tokens_b[run.start_b], tokens_b[run.end_b - 1]
        of_b[first.change].append((first.start, last.end, number))
    cut: list[Change] = []
    moved_a: dict[int, int] = {}
    moved_b: dict[int, int] = {}
    for i, change in enumerate(changes.changes):
        if i not in of_a and i not in of_b:
            cut.append(change)
            continue
        at_a, at_b = change.start_a, change.start_b
        for start, end, number in sorted(of_a[i]):
            _add(cut, changes, (at_a, start, at_b, at_b))
            moved_a[number] = len(cut)
            _add(cut, changes, (start, end, at_b, at_b))
            at_a = end
        for start, end, number in sorted(of_b[i]):
            _add(cut, changes, (at_a, change.end_a, at_b, start))
            moved_b[number] = len(cut)
            at_a = change.end_a
            _add(cut, changes, (at_a, at_a, start, end))
            at_b = end
        _add(cut, changes, (at_a, change.end_a, at_b, change.end_b))
    pairs = [(moved_a[number], moved_b[number]) for number in range(len(runs))]
    return Moves(tuple(cut), {**dict(pairs), **{there: here for here, there in pairs}})


def _add(cut: list[Change], changes: Changes, span: tuple[int, int, int, int]) -> None:
    start_a, end_a = _stripped(changes.counts.a.text, *span[:2])
    start_b, end_b = _stripped(changes.counts.b.text, *span[2:])
    if end_a > start_a or end_b > start_b:
        cut.append(changes.counts.change((start_a, end_a, start_b, end_b)))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    stripped = inside.strip()
    if not stripped:
        return start, start
    first = start + len(inside) - len(inside.lstrip())
    return first, first + len(stripped)
