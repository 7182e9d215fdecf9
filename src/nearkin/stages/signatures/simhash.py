"""Simhash: every occurrence of a feature votes with the bits of the feature's hash.

Source: Moses S. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; with SHAKE-256 as in
Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence Corpus", SIGIR
2019, and the code that the authors published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal, get_args

import numpy as np

from nearkin.arguments import checking_records
from nearkin.errors import ParameterError, is_among
from nearkin.kernels.buffers import text_buffers
from nearkin.kernels.features import locate_characters
from nearkin.kernels.hashing import MAX_MESSAGE_BYTES, shake256
from nearkin.kernels.signatures import project_hashes, project_rows
from nearkin.nouns import one_of
from nearkin.records import I64, U8, U32, BitSignatures, FeatureCounts
from nearkin.stages.signatures.bits import check_bits, check_seed, packed_words, signatures, votes
from nearkin.stages.signatures.numbering import FeatureNumbers

Hash = Literal["shake256", "fast"]


@checking_records
@dataclass(frozen=True, slots=True)
class Simhash:
    """Simhash: a bit is 1 if more occurrences of features have a 1 than a 0 in that bit of their hash.

    Parameters
    ----------
    bits : int, default 64
        Length of a signature, a multiple of 8 from 8 to 1024.
    hash : {"shake256", "fast"}
        "shake256", as in the article: SHAKE-256 of the feature's bytes, first bit first, computed once for each
        distinct feature and cached. "fast": bits drawn from the feature's 64-bit hash with the finaliser of SplitMix64;
        an equally good projection that needs no cache and is several times as fast.
    seed : int, default 0
        Random seed, in [0, 2**64); only for "fast".

    Raises
    ------
    ParameterError
        A parameter breaks its rule.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> texts = pa.array(["This Agreement is made on 1 May", "This Agreement is made on 2 May", ""], pa.large_string())
    >>> signed = Simhash(64).sign(count_features(texts, Characters(4)))
    >>> [bytes(row).hex() for row in signed.packed], signed.has_features.tolist()
    (['1b60bb29110a6951', '4b610ba955082175', '0000000000000000'], [True, True, False])
    """

    bits: int = 64
    hash: Hash = "shake256"
    seed: int = 0
    _vectors: FeatureVectors = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_bits(self.bits, "Simhash")
        check_seed(self.seed)
        if not is_among(self.hash, get_args(Hash)):
            raise ParameterError.of("hash", one_of(get_args(Hash)), self.hash)
        object.__setattr__(self, "_vectors", FeatureVectors(self._digests, 4 * self._n_words))

    @property
    def _n_words(self) -> int:
        return -(-self.bits // 32)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""
        how = self.hash if self.hash == "shake256" else f"{self.hash};seed={self.seed}"
        return f"simhash={how};bits={self.bits}"

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; 0 for documents without features."""
        if self.hash == "fast":
            words = project_hashes(
                counted.hashes, votes(counted), counted.offsets, n_words=self._n_words, seed=self.seed
            )
        else:
            rows, row_of = self._vectors.rows_of(counted)
            words = project_rows(as_words(rows), row_of, votes(counted), counted.offsets)
        return signatures(packed_words(words, self.bits), counted, self)

    def _digests(self, counted: FeatureCounts, chosen: I64) -> U8:
        data, starts, ends = spell(counted, chosen)
        n_bytes = 4 * self._n_words
        is_long = ends - starts > MAX_MESSAGE_BYTES
        digests = shake256(data, np.where(is_long, ends, starts), ends, n_bytes=n_bytes)
        for i in np.flatnonzero(is_long).tolist():  # n-grams of at least 34 characters
            message = data[starts[i] : ends[i]].tobytes()
            digests[i] = np.frombuffer(hashlib.shake_256(message).digest(n_bytes), np.uint8)
        return digests


MAX_FEATURES = 1 << 22
"""Maximum number of cached rows; with 1,024 bits each they take about 640 MB. Beyond it, the cache is cleared."""

Hashing = Callable[[FeatureCounts, I64], U8]
"""Returns a row of bytes for each selected feature."""


class FeatureVectors:
    """A row of bytes for each feature seen so far, by its 64-bit hash."""

    def __init__(self, hashing: Hashing, row_bytes: int, max_features: int = MAX_FEATURES) -> None:
        self._hashing = hashing
        self._row_bytes = row_bytes
        self._max_features = max_features
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._numbers = FeatureNumbers()
        self._rows = np.zeros((1024, self._row_bytes), np.uint8)

    def rows_of(self, counted: FeatureCounts) -> tuple[U8, I64]:
        """Return the cached rows, which do not change any more, and the row of each feature."""
        with self._lock:
            try:
                known = len(self._numbers)
                row_of = self._numbers.add(counted.hashes)
                if len(self._numbers) > self._max_features and known:
                    self._forget()
                    known, row_of = 0, self._numbers.add(counted.hashes)
                self._fill(known, counted, row_of)
            except BaseException:  # interrupted: some features have a number but no row
                self._forget()
                raise
            return self._rows, row_of

    def _fill(self, known: int, counted: FeatureCounts, row_of: I64) -> None:
        n = len(self._numbers)
        if n == known:
            return
        if n > len(self._rows):  # a new array: earlier results keep the old one unchanged
            rows = np.zeros((1 << (n - 1).bit_length(), self._row_bytes), np.uint8)
            rows[:known] = self._rows[:known]
            self._rows = rows
        new = np.flatnonzero(row_of >= known)
        first_seen = np.full(n - known, len(row_of), np.int64)
        np.minimum.at(first_seen, row_of[new] - known, new)
        order = np.argsort(first_seen)
        self._rows[known + order] = self._hashing(counted, first_seen[order])


def as_words(rows: U8) -> U32:
    """Return rows of bytes, a multiple of four each, as 32-bit words."""
    return rows.view("<u4").astype(np.uint32, copy=False)


def spell(counted: FeatureCounts, chosen: I64) -> tuple[U8, I64, I64]:
    """Return the bytes of some features, ascending indices, as input of hashes that need more than 64 bits.

    Returns
    -------
    data, starts, ends : uint8 array, int64 arrays of shape (n,)
        Feature ``i`` is ``data[starts[i]:ends[i]]``.
    """
    if not counted.n_characters:
        starts = np.arange(0, 8 * len(chosen), 8)
        return counted.hashes[chosen].astype("<u8").view(np.uint8), starts, starts + 8
    data, offsets = text_buffers(counted.texts)
    documents = np.searchsorted(counted.offsets, chosen, side="right") - 1
    starts, ends = locate_characters(data, offsets, documents, counted.firsts[chosen], length=counted.n_characters)
    return data, starts, ends
