"""First passage in which two texts differ; the kinds of differences and the moves are not loaded for it."""

from __future__ import annotations

from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.comparison import Piece
from nearkin.stages.differences.merged_view import View
from nearkin.stages.differences.passages import passage_of
from nearkin.stages.differences.wording import Wording


def first_passage(text_a: str, text_b: str) -> tuple[Piece, ...]:
    """Return the first difference of two texts, for answers that show only one passage.

    Examples
    --------
    >>> [piece.text for piece in first_passage("Rent is due in 30 days", "Rent is due in 45 days")]
    ['Rent is due in', ' 30', ' 45', ' days']
    """
    a, b = Wording(text_a), Wording(text_b)
    changes = find_changes(a, b).changes if text_a != text_b else ()
    if not changes:
        return ()
    number = next((i for i, one in enumerate(changes, 1) if one.n_words_a or one.n_words_b), 1)
    # the passage ends at the following change, if not before
    return passage_of(View(a, b, 0, 40).hunks(changes[: number + 1]), number)
