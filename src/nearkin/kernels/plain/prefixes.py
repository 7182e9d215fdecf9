"""The plain twins of the loops of `nearkin.kernels.prefixes`."""

from __future__ import annotations

from itertools import pairwise


def prefix_many(hashes, offsets, counts, lengths, shift, elements):
    found = []
    for (start, end), length in zip(pairwise(offsets), lengths, strict=True):
        one = [int(h) for h in hashes[start:end]]
        found += sorted(one, key=lambda h: (counts[h >> shift], h))[:length]
    elements[:] = found
