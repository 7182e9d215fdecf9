"""Exact similarity of candidate pairs, from the shingle hashes of both documents."""

from __future__ import annotations

import numpy as np

from nearkin.kernels.overlap import n_common
from nearkin.records import I64, U64, Candidates, Matches


def verify(candidates: Candidates, hashes: U64, starts: I64, ends: I64) -> Matches:
    """Count the shingles that the two documents of each candidate share, whatever the similarity."""
    left, right = candidates.left, candidates.right
    common = n_common(hashes, starts, ends, left, right)
    n_left, n_right = (ends[left] - starts[left]).astype(np.uint32), (ends[right] - starts[right]).astype(np.uint32)
    return Matches(left, right, common, n_left, n_right)
