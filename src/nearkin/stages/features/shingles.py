"""Sets of shingles: overlapping n-grams of words, characters or tokens of code.

Source: Andrei Z. Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from nearkin.arguments import checking_arguments, checking_methods, checking_types
from nearkin.errors import ParameterError, check_int
from nearkin.kernels import features
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.shingles import shingle_sets
from nearkin.records import FeatureCounts, ShingleSets

_MAX_UNITS = 64

MAX_BYTES_PER_CHARACTER = 40
"""Maximum memory per byte of a text during shingling: 8 for a shingle, up to 32 in the table of distinct ones.

Texts with repeated shingles, as in all prose, take far less: both grow with the distinct shingles.
"""


@dataclass(frozen=True, slots=True)
class Shingling:
    """Base of `Words`, `Characters` and `Code`; use one of these.

    Parameters
    ----------
    length
        Number of units in a shingle, 1 to 64. A shorter text that is not empty is a single shingle.
    """

    length: int
    unit: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_int("length", self.length, 1, _MAX_UNITS)

    def __str__(self) -> str:
        return f"{self.unit}:{self.length}"

    @property
    def length_in_words(self) -> tuple[int, float]:
        """Number of units in a shingle, and of words in a unit, on average."""
        return self.length, {"words": 1.0, "code": 0.5}.get(self.unit, 0.2)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `sets`."""
        return f"shingle={self};unicode=14.0"

    @checking_types
    def sets(self, texts: pa.LargeStringArray) -> ShingleSets:
        """Return the distinct shingles of each text, as 64-bit hashes.

        Examples
        --------
        >>> Words(2).sets(pa.array(["to be or to be", "", "to"], pa.large_string())).sizes.tolist()
        [3, 0, 1]
        """
        data, offsets = text_buffers(texts)
        sets = shingle_sets(data, offsets, unit=self.unit, length=self.length)
        return ShingleSets(*sets, self.fingerprint)


@checking_methods
@dataclass(frozen=True, slots=True)
class Words(Shingling):
    """Word n-grams.

    A word is a run of letters, digits and marks; in scripts without spaces each character is a word.

    Parameters
    ----------
    length : int, default 5
        Number of words in an n-gram, 1 to 64.

    Raises
    ------
    ParameterError
        ``length`` is no such number.
    """

    length: int = 5
    unit: ClassVar[str] = "words"


@checking_methods
@dataclass(frozen=True, slots=True)
class Characters(Shingling):
    """Character n-grams: code points of the normalised text, including punctuation and spaces.

    Parameters
    ----------
    length : int, default 5
        Number of characters in an n-gram, 1 to 64.

    Raises
    ------
    ParameterError
        ``length`` is no such number.
    """

    length: int = 5
    unit: ClassVar[str] = "chars"


@checking_methods
@dataclass(frozen=True, slots=True)
class Code(Shingling):
    """N-grams of tokens of source code.

    A token is a run of letters, digits, marks and underscores, as in names and numbers, or any other visible
    character, such as a bracket, an operator or a quotation mark. White space is none.

    Parameters
    ----------
    length : int, default 5
        Number of tokens in an n-gram, 1 to 64.

    Raises
    ------
    ParameterError
        ``length`` is no such number.

    Examples
    --------
    >>> sets = Code(3).sets(pa.array(["1+RATE", "1 + RATE", "1-RATE"], pa.large_string()))
    >>> plus, spaced, minus = sets.hashes.tolist()
    >>> plus == spaced, plus == minus
    (True, False)
    """

    length: int = 5
    unit: ClassVar[str] = "code"


def parse_shingling(text: str, *, parameter: str = "shingle") -> Shingling:
    """Parse ``"words:5"``, ``"chars:24"`` or ``"code:5"``; the parameter is for messages."""
    unit, _, length = text.partition(":") if isinstance(text, str) else ("", "", "")
    kinds: dict[str, type[Shingling]] = {"words": Words, "chars": Characters, "code": Code}
    is_number = length.isascii() and length.isdigit() and len(length) < 10  # Python refuses very long numbers
    if unit not in kinds or not is_number or not 1 <= int(length) <= _MAX_UNITS:
        rule = f"words:N, chars:N or code:N with N from 1 to {_MAX_UNITS}, such as words:5"
        raise ParameterError.of(parameter, rule, text)
    return kinds[unit](int(length))


@checking_arguments
@checking_types
def count_features(texts: pa.LargeStringArray, shingling: Shingling) -> FeatureCounts:
    """Count the distinct features of each text.

    Examples
    --------
    >>> counted = count_features(pa.array(["abcab", ""], pa.large_string()), Characters(2))
    >>> counted.counts.tolist(), counted.offsets.tolist(), counted.n_occurrences.tolist()
    ([2, 1, 1], [0, 3, 3], [4, 0])
    """
    data, offsets = text_buffers(texts)
    hashes, counts, firsts, feature_offsets = features.count_features(
        data, offsets, unit=shingling.unit, length=shingling.length
    )
    n_characters = shingling.length if isinstance(shingling, Characters) else 0
    return FeatureCounts(
        hashes=hashes,
        counts=counts,
        firsts=firsts,
        offsets=feature_offsets,
        texts=texts,
        n_characters=n_characters,
        fingerprint=shingling.fingerprint,
    )
