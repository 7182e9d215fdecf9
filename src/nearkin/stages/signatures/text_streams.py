"""Text as a stream of characters, words, or Soundex codes of words, optionally with parts omitted.

Source: M. Scott Roth, "Identifying similar documents with a similarity index", Armedia; sections 3.4 and 3.5.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.errors import ParameterError, is_among
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.java_hash import character_shingles, hash_words, word_shingles
from nearkin.kernels.word_ids import are_among, bare_word, first_ids, frequent_ids, without_words, word_ids
from nearkin.records import I32, I64, U8, Bool
from nearkin.stages.documents.normalisation import Normalisation

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
    stops
        Stop words in the form of `bare_words`; by default `stop_words`.

    Examples
    --------
    >>> texts = pa.array(["Four score, and seven! Years; the fore-score"], pa.large_string())
    >>> TextStream("words", "A").words(texts)
    [['four', 'score', 'and', 'seven', 'years', 'the', 'fore-score']]
    >>> TextStream("soundex", "A").words(texts)
    [['F600', 'S600', 'A530', 'S150', 'Y620', 'T000', 'F626']]
    >>> TextStream("words", "B").words(texts)
    [['score', 'fore-score']]
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
            return character_shingles(data, offsets, length=k, without_vowels=self.leaves_out_more)
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
        """Return the words without some distinct words."""
        is_kept = ~is_left_out[self.ids]
        n_kept = np.concatenate([[0], np.cumsum(is_kept)])
        return replace(self, ids=self.ids[is_kept], offsets=n_kept[self.offsets])

    def coded(self) -> _Words:
        """Replace each word by its Soundex code; equal codes have the same number."""
        numbers, spelt = dict[str, int](), self.data.tobytes()
        codes = [_code(spelt[a:b]) for a, b in self.bounds.tolist()]
        becomes = np.array([numbers.setdefault(code, len(numbers)) for code in codes], np.int32)
        joined = [code.encode() for code in numbers]
        ends = np.cumsum([0, *map(len, joined)], dtype=np.int64)
        data = np.frombuffer(b"".join(joined), np.uint8)
        return _Words(data, becomes[self.ids], self.offsets, np.stack([ends[:-1], ends[1:]], axis=1))

    def first_occurrences(self) -> _Words:
        """Return each word of a text once."""
        ids, offsets = first_ids(self.ids, self.offsets, n_distinct=len(self.bounds))
        return replace(self, ids=ids, offsets=offsets)

    def most_frequent(self, most: int) -> _Words:
        """Return the most frequent words of each text."""
        ids, offsets = frequent_ids(self.ids, self.offsets, n_distinct=len(self.bounds), most=most)
        return replace(self, ids=ids, offsets=offsets)

    def shingles(self, k: int) -> tuple[I32, I64]:
        """Return the hash of every k-gram."""
        return word_shingles(self.ids, self.offsets, *hash_words(self.data, self.bounds), length=k)


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
    """Return a code; see `soundex`."""
    code = _codes.get(word)
    if code is None:
        if len(_codes) >= _MAX_CODES:
            _codes.clear()
        code = _codes[word] = soundex(word.decode())
    return code
