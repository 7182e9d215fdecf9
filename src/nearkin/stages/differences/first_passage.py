"""First passage in which two texts differ, and the number of all differences."""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.merged_view import View
from nearkin.stages.differences.moves import Moves, find_moves
from nearkin.stages.differences.passages import passage_of
from nearkin.stages.differences.wording import Wording


@dataclass(frozen=True, slots=True)
class FirstPassage:
    """First difference of two texts, and the numbers of all.

    Parameters
    ----------
    pieces : tuple of Piece
        First difference in words or in a sign of a number, or else a moved passage, or else a difference in spelling;
        empty if nothing differs.
    n_differences : int
        Number of differences, without those of moved passages.
    n_moves : int
        Number of passages that both texts have, in different places.
    """

    pieces: tuple[Piece, ...] = ()
    n_differences: int = 0
    n_moves: int = 0


def first_passage(text_a: str, text_b: str) -> FirstPassage:
    """Return the first difference of two texts, for answers that show only one passage.

    Examples
    --------
    >>> found = first_passage("Rent is due in 30 days", "Rent is due in 45 days, at noon")
    >>> [piece.text for piece in found.pieces], found.n_differences
    (['Rent is due in', ' 30', ' 45', ' days', ''], 2)
    >>> [piece.text for piece in first_passage("Pay a fee of -500 in May", "pay a fee of 500 in June").pieces]
    ['', ' a fee of', ' -', ' 500 in', '']
    """
    a, b = Wording(text_a), Wording(text_b)
    found = find_moves(a, b, find_changes(a, b)) if text_a != text_b else None
    if found is None or not found.changes:
        return FirstPassage()
    number = 1 + _first(text_a, text_b, found)
    # the passage ends at the following change, if not before
    pieces = passage_of(View(a, b, 0, 40).hunks(found.changes[: number + 1]), number)
    n_parts = len(found.counterpart)
    return FirstPassage(pieces, len(found.changes) - n_parts, n_parts // 2)


def _first(text_a: str, text_b: str, found: Moves) -> int:
    """Return the first change in words or in a sign of a number; else a moved passage, or a change in spelling."""
    own = [(i, one) for i, one in enumerate(found.changes) if i not in found.counterpart]
    with_words = next((i for i, one in own if one.n_words_a or one.n_words_b), None)
    before = [(i, one) for i, one in own if with_words is None or i < with_words]
    if before:
        from nearkin.stages.differences.kinds import kinds_of  # in most texts, the first difference has words
        from nearkin.stages.differences.particulars import Original

        a, b = Original(text_a), Original(text_b)
        of_signs = next((i for i, one in before if kinds_of(a, b, one) != ("formatting",)), None)
        if of_signs is not None:
            return of_signs
    return min(found.counterpart, default=0) if with_words is None else with_words
