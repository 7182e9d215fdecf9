"""Sampled shingles, for containment: the shingles of every set whose hash is below a common bound.

Source: Andrei Z. Broder, "On the resemblance and containment of documents", 1997 (its "0 mod m" samples).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.sketch import found_by_sample, round_constants
from nearkin.records import F64, I64, U64, ShingleSets

_SALT = np.uint64(0xA0761D6478BD642F)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Keeps each shingle with probability ``rate``; documents that share a kept shingle are candidates.

    Parameters
    ----------
    seed
        In [0, 2**64). A different seed samples other shingles.
    """

    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ParameterError.of("rate", "a number > 0 and <= 1", self.rate)
        if not 0 <= self.seed < 2**64:
            raise ParameterError.of("seed", "an int from 0 to 2**64 - 1", self.seed)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the sets."""
        return f"sampling={self.rate!r}" + (f";seed={self.seed}" if self.seed else "")

    def probability(self, n_common: I64 | F64) -> F64:
        """Return the probability that a pair with this many common shingles is a candidate: 1 − (1 − rate)^n."""
        return found_by_sample(n_common, self.rate)

    @property
    def _salt(self) -> np.uint64:
        """Odd number: for seed 0 that of all stored samples, for other seeds a random one."""
        if not self.seed:
            return _SALT
        return np.uint64(int(round_constants(1, self.seed)[0]) | 1)

    def keys(self, sets: ShingleSets) -> tuple[U64, I64]:
        """Return the sampled shingles, and the set of each; shapes (n_keys,)."""
        bound = min(int(self.rate * 2.0**64), 2**64 - 1)
        # the salt keeps the sample independent of other uses of the hash's upper bits; multiplication by an odd
        # number is a bijection
        is_kept = (sets.hashes * self._salt) <= np.uint64(bound)
        set_of_shingle = np.repeat(np.arange(len(sets), dtype=np.int64), sets.sizes)
        return sets.hashes[is_kept], set_of_shingle[is_kept]
