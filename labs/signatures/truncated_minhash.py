"""The simple MinHash of the article on due diligence, included only for comparison.

Source: Adam Roegiest and Edward Lee, "On Tradeoffs Between Document Signature Methods for a Legal Due Diligence
Corpus", SIGIR 2019.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from nearkin.records import I64, U8, BitSignatures, FeatureCounts
from nearkin.stages.signatures.bits import check_bits, signatures
from nearkin.stages.signatures.simhash import FeatureVectors, spell

HASHES = ("md5", "sha1", "sha256", "sha512")
_PART_BYTES = 32  # 1024 bits / 4


@dataclass(frozen=True, slots=True)
class TruncatedMinHash:
    """The minimum MD5, SHA-1, SHA-256 and SHA-512 of all features, each cut to a quarter of the bits and concatenated.

    MD5 has 128 bits and SHA-1 160: beyond 512 bits their missing bits are 0.

    Parameters
    ----------
    bits : int
        Length of a signature, a multiple of 8 from 8 to 1024.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> counted = count_features(pa.array(["This Agreement"], pa.large_string()), Characters(4))
    >>> bytes(TruncatedMinHash(32).sign(counted).packed[0]).hex()
    '10161003'
    """

    bits: int = 64
    _vectors: FeatureVectors = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_bits(self.bits, "TruncatedMinHash")
        object.__setattr__(self, "_vectors", FeatureVectors(_digests, _PART_BYTES * len(HASHES)))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""
        return f"truncated-minhash={'+'.join(HASHES)};bits={self.bits}"

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; 0 for documents without features."""
        rows, row_of = self._vectors.rows_of(counted)
        words = rows.view(np.uint64).reshape(-1, len(HASHES), _PART_BYTES // 8)
        least = np.full((len(counted), *words.shape[1:]), np.iinfo(np.uint64).max, np.uint64)
        for document, (start, end) in enumerate(pairwise(counted.offsets.tolist())):
            if end > start:
                own = words[row_of[start:end]]
                for part in range(len(HASHES)):
                    least[document, part] = own[np.lexsort(own[:, part].T[::-1])[0], part]
        parts = least.astype(">u8").view(np.uint8).reshape(len(counted), len(HASHES), _PART_BYTES)
        bits = np.unpackbits(parts, axis=2)[:, :, : self.bits // len(HASHES)]
        return signatures(np.packbits(bits.reshape(len(counted), -1), axis=1), counted, self)


def _digests(counted: FeatureCounts, chosen: I64) -> U8:
    """Return the four hashes of some features, each padded with zeros or cut to 32 bytes."""
    data, starts, ends = spell(counted, chosen)
    view = data.data
    parts = [getattr(hashlib, name) for name in HASHES]
    joined = b"".join(
        [
            part(view[a:b], usedforsecurity=False).digest()[:_PART_BYTES].ljust(_PART_BYTES, b"\0")
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
            for part in parts
        ]
    )
    words = np.frombuffer(joined, ">u8").astype(np.uint64)  # numbers in the order of the bytes
    return words.view(np.uint8).reshape(len(chosen), -1)
