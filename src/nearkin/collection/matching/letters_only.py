"""Matches by letters whose wording does not match."""

from __future__ import annotations

from nearkin.collection.tolerance import THRESHOLD, Tolerance

LETTERS_ONLY = "letters alike, wording not"
"""Remark on a match by letters that is no match by wording."""


def is_letters_only(jaccard: float, tolerance: Tolerance) -> bool:
    """Whether a match by letters is below the default threshold of wording.

    Examples
    --------
    >>> is_letters_only(0.1, Tolerance.of(gamma=0.05)), is_letters_only(0.1, Tolerance.of(threshold=0.05))
    (True, False)
    """
    return tolerance.method == "range" and jaccard < THRESHOLD
