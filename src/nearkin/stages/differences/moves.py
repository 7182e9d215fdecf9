"""Changes → moves: passages that both texts have, character for character, in different places."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from nearkin.stages.differences.changes import Change, Changes, count_change
from nearkin.stages.differences.ignoring import Ignored, what_counts
from nearkin.stages.differences.wording import Wording

MIN_MOVED_WORDS = 8
"""Shorter passages occur in two places by chance; they are shown as removed and added."""
_MAX_PLACES = 8  # equal passages that are compared for the longest
_MAX_TOKENS = 400_000  # of each side, which are held in memory


@dataclass(frozen=True, slots=True)
class Moves:
    """Changes cut so that a moved passage is a change of its own.

    Parameters
    ----------
    changes : tuple of Change
    counterpart : dict of int to int
        Indices of changes: where a passage was, to where it is, and back.
    """

    changes: tuple[Change, ...]
    counterpart: dict[int, int]


@dataclass(frozen=True, slots=True)
class _ChangedToken:
    """A token of one side of a change; ``written`` are its characters that count."""

    written: str
    start: int
    end: int
    change: int
    is_word: bool


@dataclass(frozen=True, slots=True)
class _MovedRun:
    """A passage that both sides have: tokens ``start_a`` to ``end_a - 1`` of A, and those from ``start_b`` of B."""

    start_a: int
    end_a: int
    start_b: int

    @property
    def end_b(self) -> int:
        """The token after the last one, in B."""
        return self.start_b + self.end_a - self.start_a


def find_moves(a: Wording, b: Wording, found: Changes, ignored: Collection[Ignored] = ()) -> Moves:
    """Find passages of at least `MIN_MOVED_WORDS` words that were removed in one place and added in another.

    A moved passage has the same characters in both texts, except for white space and for what is ignored, so no other
    change hides in it. Of equal passages each is paired with at most one.

    Examples
    --------
    >>> from nearkin.stages.differences.changes import find_changes
    >>> rent, garden = "Rent is due on the first of each month.", "The tenant shall keep the garden in good order."
    >>> a, b = Wording(f"{rent} {garden}"), Wording(f"{garden} {rent}")
    >>> moves = find_moves(a, b, find_changes(a, b))
    >>> [b.text[one.start_b : one.end_b] for one in moves.changes], moves.counterpart
    (['The tenant shall keep the garden in good order.', ''], {1: 0, 0: 1})
    """
    tokens_a, tokens_b = _tokens(a, found, ignored, is_a=True), _tokens(b, found, ignored, is_a=False)
    if min(len(tokens_a), len(tokens_b)) < MIN_MOVED_WORDS or max(len(tokens_a), len(tokens_b)) > _MAX_TOKENS:
        return Moves(found.changes, {})
    runs = [
        run
        for run in _runs(tokens_a, tokens_b)
        if what_counts(a.text, tokens_a[run.start_a].start, tokens_a[run.end_a - 1].end, ignored)
        == what_counts(b.text, tokens_b[run.start_b].start, tokens_b[run.end_b - 1].end, ignored)
    ]
    return _cut(a, b, found.changes, tokens_a, tokens_b, runs) if runs else Moves(found.changes, {})


def _tokens(wording: Wording, found: Changes, ignored: Collection[Ignored], *, is_a: bool) -> list[_ChangedToken]:
    """Return the tokens of one side of all changes, without those that do not count."""
    tokens = []
    for i, one in enumerate(found.changes):
        span = (one.start_a, one.end_a) if is_a else (one.start_b, one.end_b)
        for word in wording.words(*span):
            if counted := what_counts(wording.text, word.start, word.end, ignored):
                tokens.append(_ChangedToken(counted, word.start, word.end, i, word.is_word))
    return tokens


def _runs(tokens_a: Sequence[_ChangedToken], tokens_b: Sequence[_ChangedToken]) -> Iterator[_MovedRun]:
    """Find passages from left to right in A, the longest at each place; passages do not overlap.

    Of places in B that begin alike, `_MAX_PLACES` are compared. A passage that has too few words is not looked into
    again, so that the time is linear in the tokens.
    """
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
    """Count the equal tokens of both texts from two places, within one change of each; 0 within the same change."""
    in_a, in_b, n = tokens_a[i].change, tokens_b[j].change, 0
    if in_a == in_b:
        return 0
    while (
        i + n < len(tokens_a)
        and j + n < len(tokens_b)
        and not is_used[j + n]
        and (tokens_a[i + n].change, tokens_b[j + n].change) == (in_a, in_b)
        and tokens_a[i + n].written == tokens_b[j + n].written
    ):
        n += 1
    return n


def _cut(
    a: Wording,
    b: Wording,
    changes: Sequence[Change],
    tokens_a: Sequence[_ChangedToken],
    tokens_b: Sequence[_ChangedToken],
    runs: Sequence[_MovedRun],
) -> Moves:
    """Cut the changes at the ends of moved passages."""
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
    for i, change in enumerate(changes):
        if i not in of_a and i not in of_b:
            cut.append(change)
            continue
        at_a, at_b = change.start_a, change.start_b
        for start, end, number in sorted(of_a[i]):
            _add(cut, a, b, (at_a, start, at_b, at_b))
            moved_a[number] = len(cut)
            _add(cut, a, b, (start, end, at_b, at_b))
            at_a = end
        for start, end, number in sorted(of_b[i]):
            _add(cut, a, b, (at_a, change.end_a, at_b, start))
            moved_b[number] = len(cut)
            at_a = change.end_a
            _add(cut, a, b, (at_a, at_a, start, end))
            at_b = end
        _add(cut, a, b, (at_a, change.end_a, at_b, change.end_b))
    pairs = [(moved_a[number], moved_b[number]) for number in range(len(runs))]
    return Moves(tuple(cut), {**dict(pairs), **{there: here for here, there in pairs}})


def _add(cut: list[Change], a: Wording, b: Wording, span: tuple[int, int, int, int]) -> None:
    """Add a part of a change without the white space around it, unless it is empty."""
    start_a, end_a = _stripped(a.text, *span[:2])
    start_b, end_b = _stripped(b.text, *span[2:])
    if end_a > start_a or end_b > start_b:
        cut.append(count_change(a, b, (start_a, end_a, start_b, end_b)))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    stripped = inside.strip()
    if not stripped:
        return start, start
    first = start + len(inside) - len(inside.lstrip())
    return first, first + len(stripped)
