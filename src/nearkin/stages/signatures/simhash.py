"""Simhash: every occurrence of a feature votes with the bits of the feature's hash.

Source: Moses S. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; with SHAKE-256 as in
Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence Corpus", SIGIR
2019, and the code that the authors published.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from nearkin.arguments import checking_records
from nearkin.errors import ParameterError, is_among
from nearkin.kernels.keccak import MAX_MESSAGE_BYTES, shake256
from nearkin.kernels.projections import project_hashes, project_rows
from nearkin.nouns import one_of
from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.stages.signatures.bits import check_bits, check_seed, packed_words, signatures, votes
from nearkin.stages.signatures.vectors import FeatureVectors, as_words, spell

Hash = Literal["shake256", "fast"]


@checking_records
@dataclass(frozen=True, slots=True)
class Simhash:
    """Simhash: a bit is 1 if more occurrences of features have a 1 than a 0 in that bit of their hash.

    Shorter signatures are prefixes of longer ones, because they use the first bits of the hashes.

    Parameters
    ----------
    bits : int
        Length of a signature, a multiple of 8 from 8 to 1024.
    hash : {"shake256", "fast"}
        "shake256", as in the article: SHAKE-256 of the feature's bytes, first bit first, computed once for each
        distinct feature and cached. "fast": bits drawn from the feature's 64-bit hash with the finaliser of SplitMix64;
        an equally good projection that needs no cache and is several times as fast.
    seed : int
        Random seed, in [0, 2**64); only for "fast".

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
        """Return SHAKE-256 of some features."""
        data, starts, ends = spell(counted, chosen)
        n_bytes = 4 * self._n_words
        is_long = ends - starts > MAX_MESSAGE_BYTES
        digests = shake256(data, np.where(is_long, ends, starts), ends, n_bytes=n_bytes)
        for i in np.flatnonzero(is_long).tolist():  # n-grams of at least 34 characters
            message = data[starts[i] : ends[i]].tobytes()
            digests[i] = np.frombuffer(hashlib.shake_256(message).digest(n_bytes), np.uint8)
        return digests
