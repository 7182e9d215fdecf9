"""Sampled shingles, for containment: of every set, the shingles whose hash falls below one and the same bound.

If A lies in B, what is sampled of A is sampled of B too, however much longer B is; bands, which need a high Jaccard
similarity, would not see it.

Source: Andrei Z. Broder, "On the resemblance and containment of documents", 1997 (its "0 mod m" samples).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.errors import ParameterError
from nearkin.kernels.chances import found_by_sample
from nearkin.kernels.sketch import round_constants
from nearkin.records import F64, I64, U64, ShingleSets

_SALT = np.uint64(0xA0761D6478BD642F)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Keep each shingle with probability ``rate``; documents that share a kept one are candidates.

    Parameters
    ----------
    rate : float
        In (0, 1].
    seed : int, default 0
        In [0, 2**64). Another seed samples other shingles.

    Examples
    --------
    >>> Sampling(0.25).probability(np.array([0, 1, 16])).round(3).tolist()
    [0.0, 0.25, 0.99]
    """

    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ParameterError.of("rate", "Sampling", "a number > 0 and <= 1", self.rate)
        if not 0 <= self.seed < 2**64:
            raise ParameterError.of("seed", "Sampling", "an int from 0 to 2**64 - 1", self.seed)

    @property
    def fingerprint(self) -> str:
        """What decides the result of `keys`, but for the sets."""
        return f"sampling={self.rate!r}" + (f";seed={self.seed}" if self.seed else "")

    def probability(self, n_common: I64 | F64) -> F64:
        """The probability that a pair with so many common shingles becomes a candidate: 1 − (1 − rate)^n."""
        return found_by_sample(n_common, self.rate)

    @property
    def _salt(self) -> np.uint64:
        """An odd number: that of all samples ever stored for seed 0, a random one for any other."""
        if not self.seed:
            return _SALT
        return np.uint64(int(round_constants(1, self.seed)[0]) | 1)

    def keys(self, sets: ShingleSets) -> tuple[U64, I64]:
        """The sampled shingles, and the set each comes from; shapes (n_keys,)."""
        bound = min(int(self.rate * 2.0**64), 2**64 - 1)
        # the salt keeps the sample independent of any other use of the hash's upper bits; a product with an odd
        # number is a bijection
        is_kept = (sets.hashes * self._salt) <= np.uint64(bound)
        set_of_shingle = np.repeat(np.arange(len(sets), dtype=np.int64), sets.sizes)
        return sets.hashes[is_kept], set_of_shingle[is_kept]
