"""The paper's score of a matrix of hits, and a stricter count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labs.similarity_index.zones import Zones
from nearkin.records import Bool


@dataclass(frozen=True, slots=True)
class CountedPairs:
    """Correct and false results of a run, over all ordered pairs of files, including each with itself.

    Parameters
    ----------
    n_false_positives, n_false_negatives, n_correct : int
        Counted as in the paper; see `count`.
    n_as_expected : int
        Number of pairs, of ``n_pairs``, that agree with Tables 6 to 8.
    n_pairs : int
    """

    n_false_positives: int
    n_false_negatives: int
    n_correct: int
    n_as_expected: int
    n_pairs: int

    @property
    def score(self) -> float:
        """Correct results divided by false ones, or by 1 if there are none.

        Examples
        --------
        >>> CountedPairs(0, 10, 35, 225, 225).score
        3.5
        """
        return self.n_correct / max(1, self.n_false_positives + self.n_false_negatives)


def count(hits: Bool, zones: Zones) -> CountedPairs:
    """Count as in the paper.

    Inside a zone a hit is correct and a miss a false negative, even if none is expected. Outside the zones a file
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
