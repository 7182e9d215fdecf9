"""The plain twins of the loops of `nearkin.kernels.overlap`."""

from __future__ import annotations

from itertools import takewhile

import numpy as np


def common_many(hashes, starts, ends, left, right, common):
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        common[i] = len(np.intersect1d(hashes[starts[a] : ends[a]], hashes[starts[b] : ends[b]]))


def ends_many(hashes, starts, ends, left, right, n_first, n_last):
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        one, other = hashes[starts[a] : ends[a]].tolist(), hashes[starts[b] : ends[b]].tolist()
        n_first[i] = _n_equal(one, other)
        n_last[i] = _n_equal(one[n_first[i] :][::-1], other[n_first[i] :][::-1])


def _n_equal(one, other):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
