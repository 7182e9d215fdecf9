"""What differs in a verified pair: numbers, dates and ticks, one passage, or more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.frames import frames
from nearkin.kernels.overlap import n_common, shared_ends
from nearkin.records import I64, U8, U32, U64, Bool, Candidates, Matches
from nearkin.stages.number_words import ANSWERS, EVERY_DATE_WORD, MONEY_WORDS, NUMBER_WORDS, SIGNS, Signs
from nearkin.stages.verification.difference_names import DIFFERENCES

NOTHING, NUMBERS, WORDS_AND_NUMBERS, PASSAGE_ADDED, PASSAGE_REPLACED, NAMES, FIELDS, OTHER = map(
    np.uint8, range(len(DIFFERENCES))
)
UNKNOWN = np.uint8(255)
"""Code of pairs that were not compared, or not verified to be similar enough."""

_DIGESTS = ("frame", "digest")
_PASSAGE_WORDS = 5
_BLOCK_PAIRS = 1 << 18


@cache
def also_numbers() -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return the months, weekdays and numbers, and the ticks, in lower case and with a capital."""
    lists = (EVERY_DATE_WORD | NUMBER_WORDS | MONEY_WORDS, ANSWERS)
    words, ticks = (sorted({form.encode() for word in words for form in (word, word.capitalize())}) for words in lists)
    return tuple(words), tuple(ticks)


def with_ticks(texts: pa.LargeStringArray, signs: Signs = SIGNS) -> pa.LargeStringArray:
    """Write ticks and numbers for signs."""
    for pattern, written in signs.items():
        if isinstance(written, str):
            texts = pc.replace_substring_regex(texts, pattern, written)
        elif pc.any(has_it := pc.match_substring_regex(texts, pattern)).as_py():
            texts = pc.replace_with_mask(texts, has_it, with_ticks(texts.filter(has_it), written))
    return texts


@dataclass(frozen=True, slots=True)
class TextNumbers:
    """Texts without their numbers, and their numbers; see `nearkin.kernels.frames.frames`.

    Parameters
    ----------
    hashes, starts, ends : uint64 array, int64 arrays of shape (n_texts,)
        Numbers of each text, each occurrence another one.
    """

    frame: U64
    digest: U64
    hashes: U64
    starts: I64
    ends: I64

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> TextNumbers:
        """Find the numbers of normalised texts."""
        frame, digest, hashes, offsets = frames(*text_buffers(with_ticks(texts)), *also_numbers())
        return cls(frame, digest, hashes, offsets[:-1], offsets[1:])

    @classmethod
    def joined(cls, parts: list[TextNumbers], hashes: U64 | None = None) -> TextNumbers:
        """Join the texts of several parts; ``hashes`` are those of all parts, if they are elsewhere."""
        none = np.zeros(0, np.uint64)
        ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(part.ends - part.starts for part in parts)]))
        frame, digest = (np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in _DIGESTS)
        if hashes is None:
            hashes = np.concatenate([none, *(part.hashes for part in parts)])
        return cls(frame, digest, hashes, ends[:-1], ends[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Texts as their pairs were verified.

    Parameters
    ----------
    hashes, starts, ends : uint64 array, int64 arrays of shape (n_rows,)
        Shingle sets, each in order of first occurrence.
    number_rows : uint32 array or None
        The ascending rows of the texts in ``numbers``; None if it has all.
    """

    hashes: U64
    starts: I64
    ends: I64
    numbers: TextNumbers
    length: int
    unit_words: float
    number_rows: U32 | None = None

    def differences(self, matches: Matches) -> U8:
        """Return the code of each pair of distinct texts; an index into `DIFFERENCES`."""
        parts = [np.zeros(0, np.uint8)]
        for start in range(0, len(matches), _BLOCK_PAIRS):
            parts.append(self._block(matches.where(slice(start, start + _BLOCK_PAIRS))))
        return np.concatenate(parts)

    def _block(self, matches: Matches) -> U8:
        pairs = Candidates(matches.left, matches.right)
        if self.number_rows is not None:
            places = [np.searchsorted(self.number_rows, rows).astype(np.uint32) for rows in (pairs.left, pairs.right)]
            pairs = Candidates(*places)
        left, right, numbers = pairs.left, pairs.right, self.numbers
        is_frame = numbers.frame[left] == numbers.frame[right]
        is_same = is_frame & (numbers.digest[left] == numbers.digest[right])
        starts, ends = numbers.starts, numbers.ends
        n_numbers = n_common(numbers.hashes, starts, ends, left, right)
        n_left, n_right = (ends - starts)[left], (ends - starts)[right]
        is_added, is_replaced, is_left_part = self._passages(matches)
        is_added &= n_numbers == np.where(is_left_part, n_left, n_right)
        conditions = [is_same, is_frame, is_added, is_replaced, n_numbers < np.maximum(n_left, n_right)]
        codes = [OTHER, NUMBERS, PASSAGE_ADDED, PASSAGE_REPLACED, WORDS_AND_NUMBERS]
        return np.select(conditions, codes, OTHER).astype(np.uint8)

    def _passages(self, matches: Matches) -> tuple[Bool, Bool, Bool]:
        """Whether one text of each pair is the other with one run of words more, or with another; if so, which one."""
        n_first, n_last = (
            n.astype(np.int64) for n in shared_ends(self.hashes, self.starts, self.ends, matches.left, matches.right)
        )
        rest = [n.astype(np.int64) - n_first - n_last for n in (matches.n_left, matches.n_right)]
        n_joining = np.where((n_first > 0) & (n_last > 0), self.length - 1, 0)  # shingles across the passage
        is_added = (np.minimum(*rest) <= n_joining) & (n_first + n_last > 0)
        n_words = (np.minimum(*rest) - n_joining) * self.unit_words
        is_replaced = (n_words >= _PASSAGE_WORDS) & (matches.n_common == n_first + n_last)
        return is_added, is_replaced, rest[0] <= rest[1]


def difference_names(codes: U8) -> pa.StringArray:
    """Return the differences of pairs by their codes, null for UNKNOWN."""
    return pa.array(DIFFERENCES, pa.string()).take(pa.array(codes, mask=codes == UNKNOWN))


def difference_codes(names: pa.StringArray) -> U8:
    """Return the codes of differences by their names, UNKNOWN for null."""
    codes: U8 = pc.fill_null(pc.index_in(names, pa.array(DIFFERENCES)), int(UNKNOWN)).to_numpy().astype(np.uint8)
    return codes
