"""MinHash in bits: a sketch that keeps one bit of each slot.

Source: Ping Li and Arnd Christian König, "b-Bit Minwise Hashing", WWW 2010; the slots are those of `minhash`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nearkin.arguments import checking_records
from nearkin.kernels.mixing import GOLDEN
from nearkin.records import BitSignatures, FeatureCounts
from nearkin.stages.signatures.bits import check_bits, signatures
from nearkin.stages.signatures.minhash import MinHash


@checking_records
@dataclass(frozen=True, slots=True)
class BitMinHash:
    """One bit of each slot of a MinHash: two signatures agree in a bit with probability ``(1 + J) / 2``.

    So a Hamming distance of ``d`` in ``n`` bits estimates a Jaccard similarity of ``1 - 2 * d / n``. Counts of features
    are ignored.

    Parameters
    ----------
    bits : int
        Length of a signature, a multiple of 8 from 8 to 1024.
    seed : int
        Random seed, in [0, 2**64).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from nearkin.stages.features.shingles import count_features
    >>> from nearkin.stages.features.shingles import Characters
    >>> texts = pa.array(["This Agreement is made on 1 May", "This Agreement is made on 2 May"], pa.large_string())
    >>> signed = BitMinHash(1024).sign(count_features(texts, Characters(4)))
    >>> distance = int(np.unpackbits(signed.packed[0] ^ signed.packed[1]).sum())
    >>> round(1 - 2 * distance / 1024, 2)  # exactly 0.76
    0.78
    """

    bits: int = 64
    seed: int = 0
    _minhash: MinHash = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_bits(self.bits, "BitMinHash")
        object.__setattr__(self, "_minhash", MinHash(self.bits, self.seed))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the features."""
        return f"bit-minhash;{self._minhash.fingerprint}"

    def sign(self, counted: FeatureCounts) -> BitSignatures:
        """Return one signature per document; documents without features get 0."""
        slots = self._minhash.sign(counted.sets).slots
        bits = ((slots * GOLDEN) >> np.uint64(63)).astype(np.uint8)
        return signatures(np.packbits(bits, axis=1), counted, self)
