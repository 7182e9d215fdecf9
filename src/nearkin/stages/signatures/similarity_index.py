"""Similarity index: one number per document, with which a single SQL query finds similar documents.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia. The quality of such a number is
measured in labs/pages/similarity-index.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa

from nearkin.arguments import checking_records
from nearkin.errors import FingerprintError, ParameterError, is_int, is_number
from nearkin.kernels import fingerprint_sketches
from nearkin.records import I32, I64, Bool
from nearkin.stages.signatures.bits import check_seed
from nearkin.stages.signatures.text_streams import STREAMS, StreamName, TextStream, Variation

TOLERANCE = 0.3
"""Tolerance of the paper."""
DIVISOR, EXTREMES, FREQUENT_WORDS = 25, 400, 200
MAX_SUPER_SHINGLED = 1 << 18
"""Maximum number of shingles for method 14. Its time grows quadratically, and takes a few seconds at the limit."""
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
        0 if a document has no number.
    has_value : bool array, shape (n_documents,)
        False: too few characters or words for a k-gram, no shingle that the method keeps, or, with method 14, too many.
    """

    values: I64
    has_value: Bool
    fingerprint: str

    def __len__(self) -> int:
        return len(self.values)

    def similar(self, others: SimilarityIndexes, tolerance: float = TOLERANCE) -> Bool:
        """Return whether each of the others is similar to each document: (n_documents, n_others); not symmetric."""
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


@checking_records
@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityIndex:
    """Method that turns a text into a stream, k-grams, shingles, a sketch, and finally one number.

    A shingle is Java's ``String.hashCode`` of a k-gram, a signed 32-bit number; sums have 64 bits. A repeated shingle
    counts each time.

    Parameters
    ----------
    method
        Method of the paper, 1 to 14.
    stream : {"characters", "words", "soundex"}
        Units of the text: characters, words, or Soundex codes of words. Method 13 needs words or codes.
    variation : {"A", "B", "C", "D"}
        Omitted units. A: none. B: stop words. C: vowels, or repeated words or codes. D: those of B and C.
    k
        Number of characters, words or codes in a k-gram, at least 1. A shorter text has no index.
    w
        Window of methods 5 and 6, at least 1; ignored by the others.
    seed
        Random seed of methods 11 and 12, in [0, 2**64).

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
        if not is_int(self.method) or self.method not in METHODS:
            raise ParameterError.of("method", "an int from 1 to 14", self.method)
        object.__setattr__(self, "_text_stream", TextStream(self.stream, self.variation))
        if self.method == 13 and self.stream == "characters":
            raise ParameterError.of("method", "one that reads characters; 13 reads words", self.method)
        for name in ("k", "w"):
            if not is_int(getattr(self, name)) or not 1 <= getattr(self, name) < 2**31:
                raise ParameterError.of(name, "an int from 1 to 2**31 - 1", getattr(self, name))
        check_seed(self.seed)

    @classmethod
    def parse(cls, spec: str) -> SimilarityIndex:
        """Parse the paper's name, ``"43B"``, to which ``:k=8``, ``:k=8,w=12`` or ``:seed=1`` may be added."""
        rule = "a tracking number and a variation, such as 43B, 43B:k=8 or 45C:k=8,w=12"
        found = _SPEC.fullmatch(spec.strip()) if isinstance(spec, str) else None
        is_known = found is not None and 1 <= int(found[1]) % 20 <= 14 and int(found[1]) <= 54 and int(found[1]) != 13
        if found is None or not is_known:
            raise ParameterError.of("index", rule, spec)
        stream = STREAMS[int(found[1]) // 20]
        numbers = dict[str, int]()
        for part in (found[3] or "").split(",") if found[3] else ():
            name, _, value = part.partition("=")
            is_decimal = value.isascii() and value.isdecimal() and len(value) <= 20
            if name not in ("k", "w", "seed") or name in numbers or not is_decimal:
                raise ParameterError.of("index", rule, spec)
            numbers[name] = int(value)
        return cls(method=int(found[1]) % 20, stream=stream, variation=found[2], **numbers)  # type: ignore[arg-type]  # the pattern has them

    @property
    def tracking_number(self) -> int:
        """Number in the paper: 1 to 14 for characters, 21 to 34 for words, 41 to 54 for Soundex codes."""
        return self.method + self._OFFSETS[self.stream]

    @property
    def name(self) -> str:
        """Tracking number and variation."""
        return f"{self.tracking_number}{self.variation}"

    @property
    def spec(self) -> str:
        """Specification that `parse` reads as the same method."""
        return f"{self.name}:k={self.k},w={self.w}" + (f",seed={self.seed}" if self.seed else "")

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `index`."""
        more = f";w={self.w}" if self.method in (5, 6) else ""
        more += f";seed={self.seed}" if self.method in (11, 12) else ""
        return f"similarity-index={self.tracking_number};k={self.k}{more};{self._text_stream.fingerprint}"

    def __str__(self) -> str:
        of_window = f", w {self.w}" if self.method in (5, 6) else ""
        return f"{self.name}, k {self.k}{of_window}"

    def index(self, texts: pa.LargeStringArray) -> SimilarityIndexes:
        """Return the number of each text.

        Parameters
        ----------
        texts
            Unchanged texts; valid UTF-8. A null counts as empty. For binary data see `text_of_bytes`.
        """
        if self.method == 13:
            shingles, offsets = self._text_stream.frequent_words(texts, FREQUENT_WORDS)
        else:
            shingles, offsets = self._text_stream.shingles(texts, self.k)
        return self.index_of_shingles(shingles, offsets)

    def index_of_shingles(self, shingles: I32, offsets: I64) -> SimilarityIndexes:
        """Return the number of each text from its shingles.

        Parameters
        ----------
        shingles : int32 array
            Java's hashes of the k-grams of all texts, or of their most frequent words for method 13.
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
    """Return the smallest and largest integer similar to an index; if there is none, the first exceeds the second.

    The paper's rule, ``si - |tolerance * si| < x < si + |tolerance * si|``, is computed exactly; the tolerance, above
    0, is taken as the decimal number that its text shows.

    Examples
    --------
    >>> interval(1000), interval(-10), interval(0)
    ((701, 1299), (-12, -8), (1, -1))
    """
    if not is_number(tolerance) or not math.isfinite(tolerance) or tolerance <= 0:
        raise ParameterError.of("tolerance", "finite and above 0", tolerance)
    reach = abs(Fraction(repr(float(tolerance))) * si)
    return math.floor(si - reach) + 1, math.ceil(si + reach) - 1


def text_of_bytes(data: bytes) -> str:
    r"""Decode bytes to a text: as UTF-8 if valid, otherwise each byte as the character of its number (Latin-1).

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
    sizes = np.diff(offsets)
    kept = np.concatenate([[0], np.cumsum(sizes * mask)]).astype(np.int64)
    return shingles[np.repeat(mask, sizes)], kept
