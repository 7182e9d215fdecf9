"""Locality-sensitive hashing by bands: two documents are candidates if all slots of a band agree.

Source: Jure Leskovec, Anand Rajaraman, Jeffrey D. Ullman, "Mining of Massive Datasets", 2014, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearkin.arguments import checking_records
from nearkin.errors import ParameterError, check_int, is_number
from nearkin.kernels.sketch import band_keys, found_by_bands
from nearkin.records import F64, U64, Signatures

_MAX_SLOTS = 65_536
"""Maximum size of a signature by `MinHash`."""


@checking_records
@dataclass(frozen=True, slots=True)
class Bands:
    """``bands`` bands of ``rows`` slots each. More bands find more pairs; more rows per band find fewer.

    Parameters
    ----------
    bands, rows : int
        Number of bands, and of slots in a band; both at least 1, and at most 65,536 slots in all.

    Raises
    ------
    ParameterError
        A parameter breaks its rule.

    Examples
    --------
    >>> Bands(20, 5).probability(0.8).round(4)
    np.float64(0.9996)
    """

    bands: int
    rows: int

    def __post_init__(self) -> None:
        for name in ("bands", "rows"):
            value = getattr(self, name)
            check_int(name, value, 1, _MAX_SLOTS)
        if self.size > _MAX_SLOTS:
            raise ParameterError(f"Bands must have at most {_MAX_SLOTS:,} slots. Got {self.bands:,} x {self.rows:,}.")

    @property
    def size(self) -> int:
        """Number of slots that a signature must have."""
        return self.bands * self.rows

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the method, without the signatures."""
        return f"bands={self.bands};rows={self.rows}"

    def probability(self, similarity: F64 | float) -> F64:
        """Return the probability that a pair of this Jaccard similarity is a candidate: 1 − (1 − s^rows)^bands."""
        if not (is_number(similarity) or (isinstance(similarity, np.ndarray) and similarity.dtype.kind in "fiu")):
            raise ParameterError.of("similarity", "a number or an array of numbers", similarity)
        if np.isnan(similarity).any():
            raise ParameterError.of("similarity", "without NaN", similarity)
        return found_by_bands(similarity, self.bands, self.rows)

    def keys(self, signatures: Signatures) -> U64:
        """Return a 64-bit hash of the ordered slots of each band, shape (bands, n_documents)."""
        if signatures.slots.shape[1] < self.size:
            raise ParameterError.of(
                "signatures",
                f"signatures with at least {self.size} slots ({self.bands} bands of {self.rows})",
                signatures.slots.shape[1],
            )
        return band_keys(signatures.slots, bands=self.bands, rows=self.rows)
