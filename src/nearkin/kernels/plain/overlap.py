"""The plain twins of the loops of `nearkin.kernels.overlap`."""

from __future__ import annotations

import numpy as np


def common_many(hashes, starts, ends, left, right, common):
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        common[i] = len(np.intersect1d(hashes[starts[a] : ends[a]], hashes[starts[b] : ends[b]]))
