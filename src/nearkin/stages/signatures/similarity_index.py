"""Similarity index: one number per document, with which a single SQL query finds similar documents.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.arguments import checking_records
from nearkin.errors import FingerprintError, ParameterError, is_among, is_int, is_number
from nearkin.kernels import similarity_index
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.words import are_among, bare_word, first_ids, frequent_ids, without_words, word_ids
from nearkin.records import I32, I64, U8, Bool
from nearkin.stages.documents.normalisation import Normalisation
from nearkin.stages.signatures.bits import check_seed

StreamName = Literal["characters", "words", "soundex"]
Variation = Literal["A", "B", "C", "D"]
STREAMS: tuple[StreamName, ...] = ("characters", "words", "soundex")
VARIATIONS: tuple[Variation, ...] = ("A", "B", "C", "D")
_SPACE = Normalisation.parse("space")
_MAX_CODES = 1 << 20
_codes: dict[bytes, str] = {}
_STOP_WORDS_FINGERPRINT = "stopwordsiso-en-f010d197"
"""That of `stop_words`: every question to a collection needs it, and computing it from the words takes 8 ms."""
_OTHER_CHARACTERS = re.compile("[^a-z]+")
_SOUNDEX_DIGITS = bytes.maketrans(b"aeiouybfpvcgjkqsxzdtlmnr", b"000000111122222222334556")
_REPEATED = re.compile(rb"(.)\1+")


def _in_lower_case(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return _SPACE.apply(pc.utf8_lower(texts))


@dataclass(frozen=True, slots=True)
class TextStream:
    """Units into which a text is divided, in lower case.

    Parameters
    ----------
    name : {"characters", "words", "soundex"}
        A word is the text between white space, stripped of all but letters, digits and marks at both ends. Its Soundex
        code is that of its letters A to Z, ignoring accents; a word without such letters is unchanged.
    variation : {"A", "B", "C", "D"}
        A: everything. B: without stop words. C: characters without the vowels a, e, i, o, u; words or codes
        only at their first occurrence. D: B and C together.
    """

    name: StreamName
    variation: Variation = "A"
    stops: tuple[bytes, ...] | None = None

    def __post_init__(self) -> None:
        if not is_among(self.name, STREAMS):
            raise ParameterError.of("stream", f"one of {', '.join(STREAMS)}", self.name)
        if not is_among(self.variation, VARIATIONS):
            raise ParameterError.of("variation", f"one of {', '.join(VARIATIONS)}", self.variation)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parameters that determine the result of `shingles`, except the length of k-grams."""
        list_of = _STOP_WORDS_FINGERPRINT if self.stops is None else f"given-{_digest(self.stops)}"
        stops = f";stop-words={list_of}" if self.leaves_out_stop_words else ""
        return f"stream={self.name};variation={self.variation}{stops};unicode=14.0"

    @property
    def leaves_out_stop_words(self) -> bool:
        """Whether stop words are omitted: variations B and D."""
        return self.variation in ("B", "D")

    @property
    def leaves_out_more(self) -> bool:
        """Whether vowels or repeated words are omitted: variations C and D."""
        return self.variation in ("C", "D")

    def shingles(self, texts: pa.LargeStringArray, k: int) -> tuple[I32, I64]:
        """Java's ``String.hashCode`` of every k-gram of UTF-16 units, words or codes, and the start of each text."""
        if self.name == "characters":
            data, offsets = text_buffers(_in_lower_case(texts))
            if self.leaves_out_stop_words:
                data, offsets = without_words(data, offsets, self._stops)
            return similarity_index.character_shingles(data, offsets, length=k, without_vowels=self.leaves_out_more)
        return self._words(texts).shingles(k)

    def frequent_words(self, texts: pa.LargeStringArray, most: int) -> tuple[I32, I64]:
        """Return Java's ``String.hashCode`` of the most frequent words, or codes, of each text."""
        return self._words(texts).most_frequent(most).shingles(1)

    def words(self, texts: pa.LargeStringArray) -> list[list[str]]:
        """Return the words, or codes, of each text, for display."""
        words = self._words(texts)
        spelt = [words.data[a:b].tobytes().decode() for a, b in words.bounds]
        return [[spelt[i] for i in words.ids[a:b]] for a, b in pairwise(words.offsets)]

    @property
    def _stops(self) -> tuple[bytes, ...]:
        return stop_words() if self.stops is None else self.stops

    def _words(self, texts: pa.LargeStringArray) -> _Words:
        data, offsets = text_buffers(_in_lower_case(texts))
        words = _Words(data, *word_ids(data, offsets))
        if self.leaves_out_stop_words:
            words = words.without(are_among(data, words.bounds, self._stops))
        if self.name == "soundex":
            words = words.coded()
        return words.first_occurrences() if self.leaves_out_more else words


@dataclass(frozen=True, slots=True)
class _Words:
    data: U8
    ids: I32
    offsets: I64
    bounds: I64

    def without(self, is_left_out: Bool) -> _Words:
        is_kept = ~is_left_out[self.ids]
        n_kept = np.concatenate([[0], np.cumsum(is_kept)])
        return replace(self, ids=self.ids[is_kept], offsets=n_kept[self.offsets])

    def coded(self) -> _Words:
        numbers, spelt = dict[str, int](), self.data.tobytes()
        codes = [_code(spelt[a:b]) for a, b in self.bounds.tolist()]
        becomes = np.array([numbers.setdefault(code, len(numbers)) for code in codes], np.int32)
        joined = [code.encode() for code in numbers]
        ends = np.cumsum([0, *map(len, joined)], dtype=np.int64)
        data = np.frombuffer(b"".join(joined), np.uint8)
        return _Words(data, becomes[self.ids], self.offsets, np.stack([ends[:-1], ends[1:]], axis=1))

    def first_occurrences(self) -> _Words:
        ids, offsets = first_ids(self.ids, self.offsets, n_distinct=len(self.bounds))
        return replace(self, ids=ids, offsets=offsets)

    def most_frequent(self, most: int) -> _Words:
        ids, offsets = frequent_ids(self.ids, self.offsets, n_distinct=len(self.bounds), most=most)
        return replace(self, ids=ids, offsets=offsets)

    def shingles(self, k: int) -> tuple[I32, I64]:
        return similarity_index.word_shingles(
            self.ids, self.offsets, *similarity_index.hash_words(self.data, self.bounds), length=k
        )


@cache
def stop_words() -> tuple[bytes, ...]:
    """Return the English list of stopwords-iso, each word in the form of a `TextStream`."""
    lines = Path(__file__).with_name("english_stop_words.txt").read_text(encoding="utf-8").splitlines()
    return bare_words(line for line in lines if not line.startswith("#"))


def bare_words(words: Iterable[str]) -> tuple[bytes, ...]:
    """Return the distinct words of a list in the form of a `TextStream`."""
    bare = {bare_word(word.lower()) for word in words} - {""}
    return tuple(word.encode() for word in sorted(bare))


def _digest(words: tuple[bytes, ...]) -> str:
    return hashlib.sha256(b" ".join(words)).hexdigest()[:8]


def soundex(word: str) -> str:
    """Return the American Soundex code of a word's letters A to Z, ignoring accents; without letters the word itself.

    Vowels separate equal digits, h and w do not.

    Examples
    --------
    >>> [soundex(word) for word in ("robert", "rupert", "ashcraft", "née", "1787", "слово")]
    ['R163', 'R163', 'A261', 'N000', '1787', 'слово']
    """
    letters = word
    if not (word.isascii() and word.isalpha()):
        letters = _OTHER_CHARACTERS.sub("", unicodedata.normalize("NFKD", word))
    if not letters:
        return word
    digits = letters.encode().translate(_SOUNDEX_DIGITS, b"hw")
    if letters[0] in "hw":
        digits = b"0" + digits
    later = _REPEATED.sub(rb"\1", digits)[1:].replace(b"0", b"").decode()
    return letters[0].upper() + (later + "000")[:3]


def _code(word: bytes) -> str:
    code = _codes.get(word)
    if code is None:
        if len(_codes) >= _MAX_CODES:
            _codes.clear()
        code = _codes[word] = soundex(word.decode())
    return code


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
        is_similar = np.zeros((len(self), len(others)), np.bool_)
        for row in np.flatnonzero(self.has_value):
            low, high = interval(int(self.values[row]), tolerance)
            is_similar[row] = others.has_value & (others.values >= low) & (others.values <= high)
        return is_similar


@checking_records
@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityIndex:
    """Method that turns a text into a stream, k-grams, shingles, a sketch, and finally one number.

    A shingle is Java's ``String.hashCode`` of a k-gram, a signed 32-bit number; sums have 64 bits. A repeated shingle
    counts each time.

    Parameters
    ----------
    method : int, default 3
        Method of the paper, 1 to 14.
    stream : {"characters", "words", "soundex"}
        Units of the text: characters, words, or Soundex codes of words. Method 13 needs words or codes.
    variation : {"A", "B", "C", "D"}
        Omitted units. A: none. B: stop words. C: vowels, or repeated words or codes. D: those of B and C.
    k : int, default 40
        Number of characters, words or codes in a k-gram, at least 1. A shorter text has no index.
    w : int, default 100
        Window of methods 5 and 6, at least 1; ignored by the others.
    seed : int, default 0
        Random seed of methods 11 and 12, in [0, 2**64).

    Raises
    ------
    ParameterError
        A parameter breaks its rule.

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
        """Parse the paper's name, ``"43B"``, to which ``:k=8``, ``:k=8,w=12`` or ``:seed=1`` may be added.

        Raises
        ------
        ParameterError
            ``spec`` is no such name.
        """
        rule = "a tracking number and a variation, such as 43B, 43B:k=8 or 45C:k=8,w=12"
        matched = _SPEC.fullmatch(spec.strip()) if isinstance(spec, str) else None
        is_known = (
            matched is not None and 1 <= int(matched[1]) % 20 <= 14 and int(matched[1]) <= 54 and int(matched[1]) != 13
        )
        if matched is None or not is_known:
            raise ParameterError.of("index", rule, spec)
        stream = STREAMS[int(matched[1]) // 20]
        numbers = dict[str, int]()
        for part in (matched[3] or "").split(",") if matched[3] else ():
            name, _, value = part.partition("=")
            is_decimal = value.isascii() and value.isdecimal() and len(value) <= 20
            if name not in ("k", "w", "seed") or name in numbers or not is_decimal:
                raise ParameterError.of("index", rule, spec)
            numbers[name] = int(value)
        return cls(method=int(matched[1]) % 20, stream=stream, variation=matched[2], **numbers)  # type: ignore[arg-type]  # the pattern has them

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
            values = similarity_index.super_shingles(shingles, offsets, length=max(2, self.k))
        else:
            shingles, offsets = self._sketches(shingles, offsets)
            has_value = np.diff(offsets) > 0
            reduced = similarity_index.rabin if self.method in _OF_RABIN else similarity_index.sums
            values = reduced(shingles, offsets)
        return SimilarityIndexes(np.where(has_value, values, 0), has_value, self.fingerprint)

    def _sketches(self, shingles: I32, offsets: I64) -> tuple[I32, I64]:
        kept: tuple[I32, I64] = shingles, offsets
        if self.method in (3, 4):
            kept = similarity_index.divisible(shingles, offsets, by=DIVISOR)
        elif self.method in (5, 6):
            kept = similarity_index.winnowed(shingles, offsets, window=self.w)
        elif self.method in (7, 8):
            kept = similarity_index.lowest(shingles, offsets, most=EXTREMES)
        elif self.method in (9, 10):
            kept = similarity_index.highest(shingles, offsets, most=EXTREMES)
        elif self.method in (11, 12):
            kept = similarity_index.random_third(shingles, offsets, seed=self.seed)
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
