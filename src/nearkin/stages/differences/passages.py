"""Shortened stretches of a comparison; the first difference as a one-line passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nearkin.errors import check_int
from nearkin.nouns import counted
from nearkin.stages.differences.comparison import Comparison, Hunk, Kind, Line, Piece
from nearkin.stages.differences.words import count_words, end_of_word, start_of_last_words

MIN_HIDDEN = 8
"""Minimum number of words hidden by a gap; a gap for fewer would be longer than they are."""
LONGEST_WORD = 20  # average length allowed per word; a huge one is cut
_LINES_AROUND = 2
_SIDES: tuple[Kind, Kind] = ("only_a", "only_b")
_GAP = Piece("gap", "")


def clipped(text: str, first: int, last: int) -> list[Piece]:
    """Return shared words, of many the first and the last around a gap that counts the rest.

    Examples
    --------
    >>> [(piece.kind, piece.text) for piece in clipped(" ".join("abcdefghijklmno"), 1, 2)]
    [('equal', 'a'), ('gap', '12 equal words'), ('equal', ' n o')]
    """
    low, high = _cut(text, first, last)
    if low == high:
        return [Piece("equal", text)]
    n_hidden = count_words(text[low:high])
    is_many = n_hidden >= MIN_HIDDEN
    hidden = counted(n_hidden, "equal word") if is_many else counted(high - low, "equal character")
    ends = [Piece("equal", text[:low]), Piece("gap", hidden), Piece("equal", text[high:])]
    return [piece for piece in ends if piece.text]


def _cut(text: str, first: int, last: int) -> tuple[int, int]:
    n_least = first + last + MIN_HIDDEN
    if len(text) <= n_least:
        return 0, 0
    n_words = count_words(text)
    if n_words < n_least and len(text) <= LONGEST_WORD * n_least:
        return 0, 0
    low = _end_of_first(text, first, n_words)
    high = max(low, _start_of_last(text, last, n_words))
    while high > low and text[high - 1].isspace():
        high -= 1
    return low, high


def _end_of_first(text: str, n: int, n_words: int) -> int:
    whole = end_of_word(text, n) if 0 < n <= n_words else len(text) * (n > 0)
    return min(whole, LONGEST_WORD * n)


def _start_of_last(text: str, n: int, n_words: int) -> int:
    whole = start_of_last_words(text, n) if 0 < n <= n_words else len(text) * (n == 0)
    return max(whole, len(text) - LONGEST_WORD * n)


def shortened(pieces: Sequence[Piece], most: int) -> tuple[Piece, ...]:
    """Return pieces; of a text of only one side with more than ``most`` words, the two ends.

    Examples
    --------
    >>> [piece.text for piece in shortened([Piece("only_a", " ".join("abcdefghijklmno"), 1)], 4)]
    ['a b', '11 more words only in A', ' n o']
    """
    pieces_kept, first = list[Piece](), most - most // 2
    for piece in pieces:
        if piece.kind not in _SIDES or (n_hidden := count_words(piece.text) - most) < MIN_HIDDEN:
            pieces_kept.append(piece)
            continue
        low, high = end_of_word(piece.text, first), start_of_last_words(piece.text, most // 2)
        gap = Piece("gap", f"{n_hidden:,} more words only in {piece.kind[-1].upper()}")
        pieces_kept += [replace(piece, text=piece.text[:low]), gap, replace(piece, text=f" {piece.text[high:]}")]
    return tuple(pieces_kept)


def first_difference(comparison: Comparison, max_words: int = 30) -> tuple[Piece, ...]:
    """Return the first difference in words or in a sign of a number, else a moved passage, or one in spelling.

    One line of about ``max_words`` words, at least 3; a gap without text marks omitted words.
    """
    check_int("max_words", max_words, 3)
    if not comparison.differences:
        return ()
    best = min(comparison.differences, key=lambda difference: (difference.has_same_words, difference.is_move))
    return passage_of(comparison.hunks, best.number, max_words)


def largest_difference(comparison: Comparison, max_words: int = 30) -> tuple[Piece, ...]:
    """Return the first difference with the most words, or else a moved passage, in the form of `first_difference`.

    Examples
    --------
    >>> from nearkin.stages.differences.comparing import compare_texts
    >>> found = compare_texts("Rent is due in May. No pets.", "Rent is due in June. No cats and no dogs.")
    >>> [piece.text for piece in largest_difference(found) if piece.kind == "only_b"]
    [' cats and no dogs']
    >>> longer = "Pets are welcome in every room of the house and in the whole garden, but not in the bath."
    >>> found = compare_texts("Rent is due.", f"Rent is due. {longer}")
    >>> "".join(piece.text or "…" for piece in largest_difference(found))
    'Rent is due.…in the whole garden, but not in the bath.'
    """
    if not comparison.differences:
        return ()
    largest = max(
        comparison.differences,
        key=lambda difference: (
            "negations" in difference.kinds,
            not difference.is_move,
            difference.n_words_a + difference.n_words_b,
        ),
    )
    return passage_of(comparison.hunks, largest.number, max_words, shows_negation="negations" in largest.kinds)


def passage_of(
    hunks: Sequence[Hunk], number: int, max_words: int = 30, *, shows_negation: bool = False
) -> tuple[Piece, ...]:
    """Return a difference as `first_difference` does; with ``shows_negation``, from shortly before the first."""
    pieces = _around(hunks, number)
    places = [i for i, piece in enumerate(pieces) if piece.difference == number]
    of_it = [piece for piece in pieces if piece.difference == number]
    texts = ["".join(piece.text for piece in of_it if piece.kind == kind) for kind in _SIDES]
    negations = (0, 0)
    if shows_negation:
        from nearkin.stages.differences.kinds import first_negations  # a search needs none of it

        negations = first_negations(*texts)
    marked: list[Piece] = []
    for kind, text, negation in zip(_SIDES, texts, negations, strict=True):
        marked += _shortened(kind, text, max_words // 3, number, negation)
    shared, is_more_before = _shared(pieces[: places[0]][::-1])
    before = "".join(piece.text for piece in shared[::-1])
    shared, is_more_after = _shared(pieces[places[-1] + 1 :])
    after = "".join(piece.text for piece in shared)
    n_left = max(2, max_words - sum(count_words(piece.text) for piece in marked))
    n_before, n_after = count_words(before), count_words(after)
    max_before = max(n_left // 2, n_left - n_after)
    max_after = n_left - min(max_before, n_before)
    start = max(0, _start_of_last(before, max_before, n_before))
    end = _end_of_first(after, max_after, n_after)
    shown = [
        *[_GAP] * (start > 0 or is_more_before),
        Piece("equal", before[start:]),
        *marked,
        Piece("equal", after[:end]),
        *[_GAP] * (end < len(after) or is_more_after),
    ]
    shown = [piece for piece in shown if piece.text or piece == _GAP]
    shown = [piece for i, piece in enumerate(shown) if not i or piece != _GAP or shown[i - 1] != _GAP]
    return (Piece(shown[0].kind, shown[0].text.lstrip(), shown[0].difference), *shown[1:])


def _around(hunks: Sequence[Hunk], number: int) -> list[Piece]:
    for hunk in hunks:
        rows = [i for i, line in enumerate(hunk.lines) if any(piece.difference == number for piece in line.pieces)]
        if rows:
            near = hunk.lines[max(0, rows[0] - _LINES_AROUND) : rows[-1] + 1 + _LINES_AROUND]
            return [piece for line in near for piece in with_space(line)]
    return []


def with_space(line: Line) -> Iterator[Piece]:
    """Yield the pieces of a line, with the space before it."""
    for i, piece in enumerate(line.pieces):
        yield piece if i else Piece(piece.kind, " " + piece.text, piece.difference)


def _shared(pieces: Sequence[Piece]) -> tuple[Sequence[Piece], bool]:
    n = next((i for i, piece in enumerate(pieces) if piece.kind != "equal"), len(pieces))
    return pieces[:n], n < len(pieces)


def _shortened(kind: Kind, text: str, most: int, number: int, place: int) -> Iterator[Piece]:
    start, end = 0, _end_of_first(text, most, count_words(text))
    if place >= end > 0:
        start = _start_of_last(text[:place], most // 2, count_words(text[:place]))
        end = start + _end_of_first(text[start:], most, count_words(text[start:]))
        yield _GAP
    if text:
        yield Piece(kind, text[start:end], number)
    if end < len(text):
        yield _GAP
