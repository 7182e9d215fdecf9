"""The plain loops of `nearkin.kernels.identity`."""

from __future__ import annotations

from itertools import pairwise

from nearkin.kernels.plain.mixing import GOLDEN, MASK, mix


def hash_many(data, offsets, hashes):
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        value = mix((end - start + GOLDEN) & MASK)
        for byte in data[start:end].tobytes():
            value = ((value ^ byte) * GOLDEN) & MASK
        hashes[i] = mix(value)
