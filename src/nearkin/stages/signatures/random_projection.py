"""Random projection of weighted terms: bits that estimate the angle between two vectors.

Source: Moses S. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nearkin.arguments import checking_records
from nearkin.errors import ParameterError, is_int
from nearkin.kernels.signatures import project_hashes
from nearkin.records import F64, I64, U64, BitSignatures
from nearkin.stages.signatures.bits import check_seed, packed_words

_UNIT = float(1 << 20)
_MAX_WEIGHT = float(1 << 20)
MAX_BITS = 65_528
"""Maximum length, because Hamming distances are stored in 16 bits."""


@checking_records
@dataclass(frozen=True, slots=True)
class TermVectors:
    """Weighted terms of a batch of documents.

    Parameters
    ----------
    hashes : uint64 array, shape (n_terms,)
        Well-mixed hashes of the terms, document after document.
    weights : float64 array, shape (n_terms,)
        Weights of the terms: absolute values of at most 2**20; differences below 2**-20 are ignored.
    offsets : int64 array, shape (n_documents + 1,)
        Document ``i`` has the terms from ``offsets[i]`` to ``offsets[i + 1]``.
    """

    hashes: U64
    weights: F64
    offsets: I64
    fingerprint: str

    def __len__(self) -> int:
        return len(self.offsets) - 1


@checking_records
@dataclass(frozen=True, slots=True)
class RandomProjection:
    """Random projection: a bit is 1 if the vector lies on the positive side of a random plane.

    Two signatures differ in a bit with probability ``angle / pi``, so a Hamming distance of ``d`` in ``n`` bits
    estimates a cosine of ``cos(pi * d / n)``. The entries of the planes, +1 and -1, are drawn from the hashes of the
    terms: no matrix is stored, and equal vectors have equal signatures on every machine.

    Parameters
    ----------
    bits
        Length of a signature, a multiple of 8 from 8 to 65,528.

    Raises
    ------
    ParameterError
        A parameter breaks its rule.

    Examples
    --------
    >>> hashes = np.array([11, 22, 33, 11, 22], np.uint64)
    >>> vectors = TermVectors(hashes, np.array([1.0, 2.0, 0.5, 2.0, 4.0]), np.array([0, 3, 5]), "terms")
    >>> signed = RandomProjection(1024).sign(vectors)
    >>> distance = int(np.unpackbits(signed.packed[0] ^ signed.packed[1]).sum())
    >>> round(float(np.cos(np.pi * distance / 1024)), 1), round(10 / 105**0.5, 1)  # estimated, exact
    (1.0, 1.0)
    """

    bits: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        if not is_int(self.bits) or not 8 <= self.bits <= MAX_BITS or self.bits % 8:
            raise ParameterError.of("bits", f"a multiple of 8 from 8 to {MAX_BITS}", self.bits)
        check_seed(self.seed)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the vectors."""
        return f"random-projection;bits={self.bits};seed={self.seed}"

    def sign(self, vectors: TermVectors) -> BitSignatures:
        """Return one signature per document; 0 for documents without terms.

        Raises
        ------
        ParameterError
            A weight is not finite or too large.
        """
        if len(vectors.weights) and not float(np.abs(vectors.weights).max()) <= _MAX_WEIGHT:
            worst = vectors.weights[np.argmax(~(np.abs(vectors.weights) <= _MAX_WEIGHT))]
            raise ParameterError.of("vectors", "weights from -2**20 to 2**20", float(worst))
        weights = _votes(vectors)
        words = project_hashes(vectors.hashes, weights, vectors.offsets, n_words=-(-self.bits // 32), seed=self.seed)
        packed = packed_words(words, self.bits)
        has_terms = np.diff(vectors.offsets) > 0
        packed[~has_terms] = 0
        return BitSignatures(packed, has_terms, f"{vectors.fingerprint};{self.fingerprint}")


def _votes(vectors: TermVectors) -> NDArray[np.int32] | I64:
    """Return the weights in 32 bits if no document's sum needs more: they are added twice as fast."""
    weights = np.rint(vectors.weights * _UNIT)
    filled = np.flatnonzero(np.diff(vectors.offsets))
    most = np.add.reduceat(np.abs(weights), vectors.offsets[filled]).max() if len(filled) else 0.0
    if most < 2**30:
        return weights.astype(np.int32)
    return weights.astype(np.int64)
