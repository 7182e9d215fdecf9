"""Two documents word by word: what they share, what only one of them has, and where.

Every character counts but white space: a comma, a capital, a soft hyphen is shown where it differs, and told apart from
words that differ. Where lines break does not matter, nor which of two canonically equivalent forms (Unicode NFC) a
character has. The lines shown are those of A wherever both texts have the words.
"""

from __future__ import annotations

from nearkin.errors import ParameterError
from nearkin.stages.differences.changes import find_changes
from nearkin.stages.differences.comparison import Comparison, Difference
from nearkin.stages.differences.merged_view import View
from nearkin.stages.differences.wording import Wording
from nearkin.stages.differences.words import count_words


def compare_texts(text_a: str, text_b: str, *, context_lines: int = 2, context_words: int = 40) -> Comparison:
    r"""Where two texts differ, by word, with the lines around each difference.

    Words are compared as everywhere in Nearkin: by letters and digits, after NFKC and in lower case; a sign stands by
    itself. Where words that are the same are written differently, that is a difference too, one in spelling. White
    space is none, wherever it stands between words.

    Parameters
    ----------
    text_a, text_b : str
        As they came. Up to 400,000 words of each are compared, beside lines that are the same in both.
    context_lines : int, default 2
        Lines with something in them that are shown before and after each difference.
    context_words : int, default 40
        Words of such a line that are shown at most, beside a difference; the rest becomes a gap that says how many.

    Returns
    -------
    Comparison
        No hunk where the texts are the same, white space apart. What only one text has is never cut.

    Raises
    ------
    ParameterError
        A parameter is not a whole number of at least 0.

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
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ParameterError.of(name, "compare_texts", "an int >= 0", value)
    a, b = Wording(text_a), Wording(text_b)
    n_words_a = count_words(text_a)
    if text_a == text_b:
        return Comparison(
            hunks=(), differences=(), n_words_a=n_words_a, n_words_b=n_words_a, is_identical=True, is_whole=True
        )
    found = find_changes(a, b)
    differences = tuple(
        Difference(number, a.line_of(one.start_a), b.line_of(one.start_b), one.n_words_a, one.n_words_b)
        for number, one in enumerate(found.changes, 1)
    )
    hunks = View(a, b, context_lines, context_words).hunks(found.changes)
    return Comparison(
        hunks=hunks,
        differences=differences,
        n_words_a=n_words_a,
        n_words_b=count_words(text_b),
        is_identical=False,
        is_whole=found.is_whole,
    )
