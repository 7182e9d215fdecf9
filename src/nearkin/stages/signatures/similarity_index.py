"""The similarity index: one number per document, so that one SQL query finds documents like it.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia. How good one number can be is
measured in docs/lab/similarity-index.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa

from nearkin.errors import FingerprintError, ParameterError
from nearkin.kernels import fingerprint_sketches
from nearkin.records import I32, I64, Bool
from nearkin.stages.signatures.bits import check_seed
from nearkin.stages.signatures.text_streams import STREAMS, StreamName, TextStream, Variation

TOLERANCE = 0.3
"""The paper's."""
DIVISOR, EXTREMES, FREQUENT_WORDS = 25, 400, 200
MAX_SUPER_SHINGLED = 1 << 18
"""Shingles that method 14 takes: its time grows with their square, and is a few seconds then."""
METHODS = {
    1: "the sum of all shingles",
    2: "the Rabin fingerprint of all shingles",
    3: "the sum of those that 25 divides",
    4: "the Rabin fingerprint of those that 25 divides",
    5: "the sum of the winnowed",
    6: "the Rabin fingerprint of the winnowed",
    7: "the sum of the 400 lowest",
    8: "the Rabin fingerprint of the 400 lowest",
    9: "the sum of the 400 highest",
    10: "the Rabin fingerprint of the 400 highest",
    11: "the sum of a random third",
    12: "the Rabin fingerprint of a random third",
    13: "the sum over the 200 most frequent words",
    14: "the super shingle of all shingles",
}
_OF_RABIN = {2, 4, 6, 8, 10, 12}
_SPEC = re.compile(r"([1-9][0-9]?)([A-D])(?::(.+))?")


@dataclass(frozen=True, slots=True)
class SimilarityIndexes:
    """One number per document.

    Parameters
    ----------
    values : int64 array, shape (n_documents,)
        0 where there is none.
    has_value : bool array, shape (n_documents,)
        False: the text has too few characters or words for a single k-gram, or the method keeps none of its shingles;
        with method 14 also that it has too many.
    fingerprint : str
        Of the method: numbers of two methods say nothing about one another.
    """

    values: I64
    has_value: Bool
    fingerprint: str

    def __len__(self) -> int:
        return len(self.values)

    def similar(self, others: SimilarityIndexes, tolerance: float = TOLERANCE) -> Bool:
        """Which of the others are similar to each of these, shape (n_documents, n_others); it is not symmetric.

        Raises
        ------
        FingerprintError
            If they were made by different methods.
        """
        if self.fingerprint != others.fingerprint:
            raise FingerprintError(
                f"Similarity indexes of different methods cannot be compared: {self.fingerprint!r} and "
                f"{others.fingerprint!r}."
            )
        found = np.zeros((len(self), len(others)), np.bool_)
        for row in np.flatnonzero(self.has_value):
            low, high = interval(int(self.values[row]), tolerance)
            found[row] = others.has_value & (others.values >= low) & (others.values <= high)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityIndex:
    """Text → stream → k-grams → shingles → sketch → one number.

    A shingle is Java's ``String.hashCode`` of a k-gram, a signed number of 32 bits; sums are made in 64. Equal shingles
    of a text count as often as they come.

    Parameters
    ----------
    method : int
        1 to 14, see `METHODS`.
    stream : {"characters", "words", "soundex"}
        See `TextStream`. Method 13 is of words or codes only.
    variation : {"A", "B", "C", "D"}
        See `TextStream`.
    k : int
        Characters, words or codes in a k-gram, at least 1. A text with fewer has no index.
    w : int
        Window of methods 5 and 6, at least 1; it plays no part in the others.
    seed : int
        Of methods 11 and 12, in [0, 2**64).

    Examples
    --------
    >>> texts = pa.array(["The tenant shall pay the rent on the first day of the month", "the rent"], pa.large_string())
    >>> made = SimilarityIndex(method=1, stream="words", variation="A", k=4).index(texts)
    >>> made.values.tolist(), made.has_value.tolist()
    ([-34418020, 0], [True, False])
    >>> SimilarityIndex().name, SimilarityIndex.parse("47C:k=16").tracking_number
    ('43B', 47)
    """

    method: int = 3
    stream: StreamName = "soundex"
    variation: Variation = "B"
    k: int = 40
    w: int = 100
    seed: int = 0
    _text_stream: TextStream = field(init=False, repr=False, compare=False)
    _OFFSETS: ClassVar[dict[str, int]] = {name: 20 * place for place, name in enumerate(STREAMS)}

    def __post_init__(self) -> None:
        owner = "SimilarityIndex"
        if not _is_int(self.method) or self.method not in METHODS:
            raise ParameterError.of("method", owner, "an int from 1 to 14", self.method)
        object.__setattr__(self, "_text_stream", TextStream(self.stream, self.variation))
        if self.method == 13 and self.stream == "characters":
            raise ParameterError.of("method", owner, "one that reads characters; 13 reads words", self.method)
        for name in ("k", "w"):
            if not _is_int(getattr(self, name)) or not 1 <= getattr(self, name) < 2**31:
                raise ParameterError.of(name, owner, "an int from 1 to 2**31 - 1", getattr(self, name))
        check_seed(self.seed, owner)

    @classmethod
    def parse(cls, spec: str) -> SimilarityIndex:
        """From the paper's name, ``"43B"``, to which ``:k=8``, ``:k=8,w=12`` or ``:seed=1`` may be added.

        Raises
        ------
        ParameterError
        """
        rule = "a tracking number and a variation, such as 43B, 43B:k=8 or 45C:k=8,w=12"
        found = _SPEC.fullmatch(spec.strip()) if isinstance(spec, str) else None
        is_known = found is not None and 1 <= int(found[1]) % 20 <= 14 and int(found[1]) <= 54 and int(found[1]) != 13
        if found is None or not is_known:
            raise ParameterError.of("index", "SimilarityIndex", rule, spec)
        stream = STREAMS[int(found[1]) // 20]
        numbers = dict[str, int]()
        for part in (found[3] or "").split(",") if found[3] else ():
            name, _, value = part.partition("=")
            is_number = value.isascii() and value.isdecimal() and len(value) <= 20
            if name not in ("k", "w", "seed") or name in numbers or not is_number:
                raise ParameterError.of("index", "SimilarityIndex", rule, spec)
            numbers[name] = int(value)
        return cls(method=int(found[1]) % 20, stream=stream, variation=found[2], **numbers)  # type: ignore[arg-type]  # the pattern has them

    @property
    def tracking_number(self) -> int:
        """The paper's: of characters 1 to 14, of words 21 to 34, of Soundex codes 41 to 54."""
        return self.method + self._OFFSETS[self.stream]

    @property
    def name(self) -> str:
        """The tracking number and the variation."""
        return f"{self.tracking_number}{self.variation}"

    @property
    def spec(self) -> str:
        """What `parse` reads as the same."""
        return f"{self.name}:k={self.k},w={self.w}" + (f",seed={self.seed}" if self.seed else "")

    @property
    def fingerprint(self) -> str:
        """What decides the result of `index`."""
        more = f";w={self.w}" if self.method in (5, 6) else ""
        more += f";seed={self.seed}" if self.method in (11, 12) else ""
        return f"similarity-index={self.tracking_number};k={self.k}{more};{self._text_stream.fingerprint}"

    def __str__(self) -> str:
        of_window = f", w {self.w}" if self.method in (5, 6) else ""
        return f"{self.name}, k {self.k}{of_window}"

    def index(self, texts: pa.LargeStringArray) -> SimilarityIndexes:
        """The number of each text.

        Parameters
        ----------
        texts : LargeStringArray
            As they came; valid UTF-8. A null counts as empty. For bytes that are no text see `text_of_bytes`.
        """
        if self.method == 13:
            shingles, offsets = self._text_stream.frequent_words(texts, FREQUENT_WORDS)
        else:
            shingles, offsets = self._text_stream.shingles(texts, self.k)
        return self.index_of_shingles(shingles, offsets)

    def index_of_shingles(self, shingles: I32, offsets: I64) -> SimilarityIndexes:
        """The number of each text of which the shingles are known.

        Parameters
        ----------
        shingles : int32 array
            Java's hashes of the k-grams of all texts, or of their most frequent words for method 13.
        offsets : int64 array, shape (n_texts + 1,)
        """
        if self.method == 14:
            sizes = np.diff(offsets)
            has_value = (sizes > 0) & (sizes <= MAX_SUPER_SHINGLED)
            shingles, offsets = _where(shingles, offsets, has_value)
            values = fingerprint_sketches.super_shingles(shingles, offsets, length=max(2, self.k))
        else:
            shingles, offsets = self._sketches(shingles, offsets)
            has_value = np.diff(offsets) > 0
            reduced = fingerprint_sketches.rabin if self.method in _OF_RABIN else fingerprint_sketches.sums
            values = reduced(shingles, offsets)
        return SimilarityIndexes(np.where(has_value, values, 0), has_value, self.fingerprint)

    def _sketches(self, shingles: I32, offsets: I64) -> tuple[I32, I64]:
        """What the method keeps of the shingles."""
        kept: tuple[I32, I64] = shingles, offsets
        if self.method in (3, 4):
            kept = fingerprint_sketches.divisible(shingles, offsets, by=DIVISOR)
        elif self.method in (5, 6):
            kept = fingerprint_sketches.winnowed(shingles, offsets, window=self.w)
        elif self.method in (7, 8):
            kept = fingerprint_sketches.lowest(shingles, offsets, most=EXTREMES)
        elif self.method in (9, 10):
            kept = fingerprint_sketches.highest(shingles, offsets, most=EXTREMES)
        elif self.method in (11, 12):
            kept = fingerprint_sketches.random_third(shingles, offsets, seed=self.seed)
        return kept


def interval(si: int, tolerance: float = TOLERANCE) -> tuple[int, int]:
    """The least and the greatest whole number that is similar to an index; the first is above the second if none is.

    The paper's rule, ``si - |tolerance * si| < x < si + |tolerance * si|``, exact; the tolerance means the decimal
    number that it is written as.

    Parameters
    ----------
    si : int
    tolerance : float
        Above 0, finite.

    Examples
    --------
    >>> interval(1000), interval(-10), interval(0)
    ((701, 1299), (-12, -8), (1, -1))
    """
    is_number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    if not is_number or not math.isfinite(tolerance) or tolerance <= 0:
        raise ParameterError.of("tolerance", "interval", "finite and above 0", tolerance)
    reach = abs(Fraction(repr(float(tolerance))) * si)
    return math.floor(si - reach) + 1, math.ceil(si + reach) - 1


def text_of_bytes(data: bytes) -> str:
    r"""Bytes as a text: as UTF-8 if they are that, else each byte as the character of its number (Latin-1).

    So a compiled class, or an image, has an index too.

    Examples
    --------
    >>> text_of_bytes("née".encode()), text_of_bytes(b"\xca\xfe\xba\xbe")
    ('née', 'Êþº¾')
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _where(shingles: I32, offsets: I64, mask: Bool) -> tuple[I32, I64]:
    """The shingles of some texts; the others have none."""
    sizes = np.diff(offsets)
    kept = np.concatenate([[0], np.cumsum(sizes * mask)]).astype(np.int64)
    return shingles[np.repeat(mask, sizes)], kept


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
