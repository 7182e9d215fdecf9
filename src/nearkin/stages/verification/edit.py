"""Edit similarity of two texts, from the number of characters that must change to turn one into the other.

Source: Michael Sperling, Rong Jin, Illya Rayvych, Jianghong Li, Jinfeng Yi, "Similar Document Detection and Electronic
Discovery: So Many Documents, So Little Time", 2013; the distance is that of Vladimir I. Levenshtein, "Binary codes
capable of correcting deletions, insertions, and reversals", 1966.
"""

from __future__ import annotations

from dataclasses import dataclass

from nearkin.errors import MissingExtraError, check_int

MAX_WORK = 5_000_000_000
"""Maximum number of character pairs compared for two texts: 70,000 times 70,000."""

_FIRST_HINT = 64  # edits tried first; doubled until they suffice


@dataclass(frozen=True, slots=True)
class EditSimilarity:
    """Similarity of two texts, character by character.

    Parameters
    ----------
    similarity
        In [0, 1]: 1 - distance / the longer length; 1 for two empty texts. None: the texts are too long and different.
    min_distance
        The distance, or a lower bound if it is unknown.
    """

    similarity: float | None
    distance: int | None
    length_a: int
    length_b: int
    min_distance: int


def edit_similarity(text_a: str, text_b: str, *, max_work: int = MAX_WORK) -> EditSimilarity:
    """Compute 1 - Levenshtein distance / length of the longer text, in characters.

    If the product of the lengths, without a common beginning and end, is at most ``max_work``, the similarity is always
    found: with the default for any two texts of up to 70,000 characters (40,000 beyond Latin-1). Longer ones are
    compared as far as that work allows.

    Examples
    --------
    >>> edit_similarity("in 30 days", "in 45 days").similarity
    0.8
    """
    try:
        from rapidfuzz.distance import Levenshtein, Postfix, Prefix
    except ImportError as error:
        raise MissingExtraError.of("The edit similarity", "collection") from error
    check_int("max_work", max_work, 0)
    length_a, length_b = len(text_a), len(text_b)
    start = int(Prefix.similarity(text_a, text_b))
    rest_a, rest_b = text_a[start:], text_b[start:]
    end = int(Postfix.similarity(rest_a, rest_b))
    rest_a, rest_b = rest_a[: len(rest_a) - end], rest_b[: len(rest_b) - end]
    longer = max(len(rest_a), len(rest_b))
    cost = max(_cost_of_character(rest_a), _cost_of_character(rest_b))
    if cost * len(rest_a) * len(rest_b) <= max_work:
        max_edits = longer
    else:
        max_edits = max_work // (2 * cost * longer)  # width of the band around the diagonal
    hint = min(_FIRST_HINT, max_edits)
    distance = Levenshtein.distance(rest_a, rest_b, score_cutoff=max_edits, score_hint=hint)
    if distance > max_edits:
        least = max(max_edits + 1, abs(length_a - length_b))
        return EditSimilarity(None, None, length_a, length_b, least)
    length = max(length_a, length_b)
    return EditSimilarity(1 - distance / length if length else 1.0, distance, length_a, length_b, distance)


def _cost_of_character(text: str) -> int:
    """Return the relative cost: RapidFuzz has a table for Latin-1 characters; others are looked up one by one."""
    n_beyond = 0 if text.isascii() else len(text) - len(text.encode("latin-1", "ignore"))
    return 3 if 10 * n_beyond > len(text) else 1
