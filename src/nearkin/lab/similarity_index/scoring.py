"""The paper's score of a matrix of hits, and a stricter count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.lab.similarity_index.zones import Zones
from nearkin.records import Bool


@dataclass(frozen=True, slots=True)
class CountedPairs:
    """What a run got right and wrong, over all ordered pairs of files, each with itself too.

    Parameters
    ----------
    n_false_positives, n_false_negatives, n_correct : int
        As the paper counts; see `count`.
    n_as_expected : int
        Pairs that are what Tables 6 to 8 expect, of ``n_pairs``.
    n_pairs : int
    """

    n_false_positives: int
    n_false_negatives: int
    n_correct: int
    n_as_expected: int
    n_pairs: int

    @property
    def score(self) -> float:
        """Correct over false ones; where none is false, as if one were.

        Examples
        --------
        >>> CountedPairs(0, 10, 35, 225, 225).score
        3.5
        """
        return self.n_correct / max(1, self.n_false_positives + self.n_false_negatives)


def count(hits: Bool, zones: Zones) -> CountedPairs:
    """Count as the paper does.

    Inside a zone a hit is correct and a miss a false negative, also where none is expected. Outside the zones a file
    that finds itself is correct, any other hit is a false positive.

    Parameters
    ----------
    hits : bool array, shape (n_files, n_files)
        Whether the second file is similar to the first.
    zones : Zones

    Examples
    --------
    >>> zones = Zones(np.array([1, 1, 0]), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool), False)
    >>> count(np.array([[1, 0, 0], [1, 1, 1], [0, 0, 1]], bool), zones)
    CountedPairs(n_false_positives=1, n_false_negatives=1, n_correct=4, n_as_expected=7, n_pairs=9)
    """
    inside, itself = zones.inside, np.eye(len(hits), dtype=np.bool_)
    return CountedPairs(
        int((hits & ~inside & ~itself).sum()),
        int((~hits & inside).sum()),
        int((hits & (inside | itself)).sum()),
        int((hits == zones.expected).sum()),
        hits.size,
    )
