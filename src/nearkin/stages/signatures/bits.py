"""Interface and helpers of all bit signatures."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nearkin.errors import ParameterError, is_int
from nearkin.records import I64, U8, U32, BitSignatures, FeatureCounts

MAX_BITS = 1024


class BitMethod(Protocol):
    """A method that makes bit signatures from counted features."""

    @property
    def bits(self) -> int:
        """Length of a signature, a multiple of 8 from 8 to 1024."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; 0 for documents without features."""


def check_bits(bits: int, name: str) -> None:
    """Refuse a length that is not a multiple of 8 from 8 to 1024."""
    if not is_int(bits) or not 8 <= bits <= MAX_BITS or bits % 8:
        raise ParameterError.of("bits", f"a multiple of 8 from 8 to {MAX_BITS}", bits)


def check_seed(seed: int) -> None:
    """Refuse a seed beyond 64 bits."""
    if not is_int(seed) or not 0 <= seed < 2**64:
        raise ParameterError.of("seed", "an int from 0 to 2**64 - 1", seed)


def packed_words(words: U32, bits: int) -> U8:
    """Return as many bytes of 32-bit words as the signature has."""
    return np.ascontiguousarray(words.astype("<u4", copy=False).view(np.uint8)[:, : bits // 8])


def signatures(packed: U8, counted: FeatureCounts, method: BitMethod) -> BitSignatures:
    """Make signatures, with those of documents without features set to 0."""
    has_features = counted.has_features
    packed[~has_features] = 0
    return BitSignatures(packed, has_features, f"{counted.fingerprint};{method.fingerprint}")


def votes(counted: FeatureCounts) -> NDArray[np.int32] | I64:
    """Return the counts as signed integers, in 32 bits unless the sum of a document needs more."""
    n_most = int(counted.n_occurrences.max(initial=0))
    if n_most < 2**30:
        return counted.counts.astype(np.int32)
    return counted.counts.astype(np.int64)
