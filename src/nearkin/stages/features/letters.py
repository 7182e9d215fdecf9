"""Letter counts: a document represented by the frequency of each letter and digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from nearkin.errors import ParameterError, is_among
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.text import N_BUCKETS, N_LATIN, count_letters
from nearkin.records import LetterVectors

Alphabet = Literal["latin", "universal"]
MIN_LETTERS = 20
"""Minimum number of counted letters and digits; documents with fewer would all look similar."""
MIN_SHARE = 0.5
"""Minimum share of a document's letters and digits, in all scripts, that must be counted."""
_BUCKETS: dict[str, int] = {"latin": 0, "universal": N_BUCKETS}


@dataclass(frozen=True, slots=True)
class LetterCounts:
    """Counts letters and digits by code point; upper and lower case are separate.

    Parameters
    ----------
    alphabet : {"latin", "universal"}
        "latin": A to Z, a to z, 0 to 9, and nothing else. "universal": these, and 64 more for the letters and digits of
        all other scripts by a hash of the code point. Letters and digits are those of Unicode 14.0; combining marks are
        neither.

    Examples
    --------
    >>> texts = pa.array(["The cat sat on the mat, 7 times.", "Кот сидел на ковре, семь раз.", ""], pa.large_string())
    >>> LetterCounts("latin").count(texts).is_counted.tolist()
    [True, False, False]
    >>> LetterCounts("universal").count(texts).is_counted.tolist()
    [True, True, False]
    """

    alphabet: Alphabet = "latin"

    def __post_init__(self) -> None:
        if not is_among(self.alphabet, _BUCKETS):
            raise ParameterError.of("alphabet", "'latin' or 'universal'", self.alphabet)

    @property
    def n_dimensions(self) -> int:
        """Number of counts per document: 62 or 126."""
        return N_LATIN + _BUCKETS[self.alphabet]

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `count`."""
        return f"letters={self.alphabet};dimensions={self.n_dimensions};least={MIN_LETTERS};unicode=14.0"

    def count(self, texts: pa.LargeStringArray) -> LetterVectors:
        """Return the vector of each text.

        A count is at most 2**27 - 1. A text does not count (`LetterVectors.is_counted`), and must match nothing, if
        fewer than 20 of its letters and digits, or fewer than half of them, have a place in the vector.

        Parameters
        ----------
        texts
            Valid UTF-8, not normalised: case and forms of letters are part of the vector. A null has no letters.
        """
        data, offsets = text_buffers(texts)
        counts, n_counted, n_others = count_letters(data, offsets, n_buckets=_BUCKETS[self.alphabet])
        is_counted = (n_counted >= MIN_LETTERS) & (n_counted >= MIN_SHARE * (n_counted + n_others))
        return LetterVectors(counts, is_counted, n_counted, n_others, self.fingerprint)
