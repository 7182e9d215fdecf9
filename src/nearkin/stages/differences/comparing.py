"""Word-by-word comparison of two documents: their common words, the words that only one has, and their places.

Every character counts except white space: a comma, a capital, a soft hyphen is shown if it differs, and distinguished
from differing words. Line breaks do not matter, nor canonically equivalent forms (Unicode NFC) of a
character. The lines shown are those of A wherever both texts have the words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace

from nearkin.errors import check_int
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.comparison import Comparison, Difference, Piece
from nearkin.stages.differences.ignoring import Ignored, check_ignored, what_counts, without_ignored
from nearkin.stages.differences.kinds import kinds_of
from nearkin.stages.differences.merged_view import View
from nearkin.stages.differences.moves import Moves, find_moves
from nearkin.stages.differences.particulars import Original
from nearkin.stages.differences.passages import passage_of
from nearkin.stages.differences.words import Wording, count_words


def compare_texts(
    text_a: str,
    text_b: str,
    *,
    context_lines: int = 2,
    context_words: int = 40,
    with_moves: bool = False,
    ignore: Collection[str] = (),
) -> Comparison:
    r"""Find the differences of two texts word by word, with the lines around each difference.

    Words are compared as everywhere in Nearkin: by letters and digits, after NFKC and in lower case; a punctuation
    character is separate. If equal words are written differently, that is a difference in spelling. White
    space between words is ignored.

    Parameters
    ----------
    text_a, text_b : str
        Unchanged texts. Up to 400,000 words of each are compared, besides lines that are equal in both.
    context_lines : int, default 2
        Non-empty lines shown before and after each difference.
    context_words : int, default 40
        Maximum number of words of such a line that are shown beside a difference; the rest becomes a counted gap.
    with_moves : bool, default False
        Whether a passage that was removed in one place and added in another is a move; see :mod:`.moves`.
    ignore : collection of {"case", "punctuation", "numbers"}
        Differences that do not count. A difference that is also of another kind counts as a whole, and so does a sign
        of a number: 1.5 is not 15. Where a difference is ignored, the words of A are shown.

    Returns
    -------
    Comparison
        Without hunks if the texts are identical except for white space. Text of only one side is never cut.

    Raises
    ------
    ParameterError
        A parameter is not an integer of at least 0, or a kind to ignore is unknown.

    Examples
    --------
    >>> found = compare_texts("Rent\nis due in 30 days", "Rent is due\nin 45 days at once")
    >>> found.n_words_only_a, found.n_words_only_b, found.n_differences
    (1, 3, 2)
    >>> for line in found.hunks[0].lines:
    ...     print(line.line_a, line.line_b, [piece.text for piece in line.pieces if piece.kind != "only_a"])
    1 1 ['Rent']
    2 1 ['is due in', ' 45', ' days', ' at once']
    """
    for name, value in (("context_lines", context_lines), ("context_words", context_words)):
        check_int(name, value, 0)
    ignored = check_ignored(ignore)
    n_words_a = count_words(text_a)
    if text_a == text_b:
        return Comparison(
            hunks=(), differences=(), n_words_a=n_words_a, n_words_b=n_words_a, is_identical=True, is_whole=True
        )
    a, b, n_ignored = Original(text_a), Original(text_b), 0
    found = find_changes(a, b)
    if ignored and _has_same_counting(text_a, text_b, ignored):
        # the words may be aligned so that a single difference is also of another kind
        found, n_ignored = replace(found, changes=()), len(found.changes)
    elif ignored:
        shown_b, n_ignored = without_ignored(text_a, text_b, found, ignored)
        if n_ignored:
            b = Original(shown_b)
            found = find_changes(a, b)
    moves = find_moves(a, b, found, ignored) if with_moves else Moves(found.changes, {})
    differences = tuple(
        Difference(
            number=number,
            line_a=a.line_of(one.start_a),
            line_b=b.line_of(one.start_b),
            n_words_a=one.n_words_a,
            n_words_b=one.n_words_b,
            start_a=one.start_a,
            counterpart=moves.counterpart.get(number - 1, -1) + 1,
            kinds=("moves",) if number - 1 in moves.counterpart else kinds_of(a, b, one),
        )
        for number, one in enumerate(moves.changes, 1)
    )
    return Comparison(
        hunks=View(a, b, context_lines, context_words).hunks(moves.changes),
        differences=differences,
        n_words_a=n_words_a,
        n_words_b=count_words(text_b),
        is_identical=False,
        is_whole=found.is_whole,
        n_ignored=n_ignored,
        ignored=ignored,
        not_compared="white space" if differences else _not_compared(text_a, text_b),
    )


def _not_compared(text_a: str, text_b: str) -> str:
    r"""Name what differs between two texts with the same words.

    Examples
    --------
    >>> _not_compared("in 30 days", "in 30  days"), _not_compared("é", "e\u0301")
    ('white space', 'the Unicode form of characters')
    >>> _not_compared(" é", "e\u0301")
    'white space and the Unicode form of characters'
    """
    form = "the Unicode form of characters"
    if unicodedata.normalize("NFC", text_a) == unicodedata.normalize("NFC", text_b):
        return form
    return "white space" if "".join(text_a.split()) == "".join(text_b.split()) else f"white space and {form}"


def _has_same_counting(text_a: str, text_b: str, ignored: Collection[Ignored]) -> bool:
    """Whether the texts have the same characters, ignoring those that do not count."""
    return what_counts(text_a, 0, len(text_a), ignored) == what_counts(text_b, 0, len(text_b), ignored)


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
