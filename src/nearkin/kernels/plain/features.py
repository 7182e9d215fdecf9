"""The plain loops of `nearkin.kernels.features`."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from nearkin.kernels.plain.shingles import _shingles_one, units_of


def count_many(data, offsets, unit, length, hashes, counts, firsts, feature_offsets):
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        text = data[start:end].tobytes().decode()
        occurrences = _shingles_one(units_of(text, unit), length)
        counted = Counter(occurrences)  # in order of first occurrence
        first_of = {feature: at for at, feature in reversed(list(enumerate(occurrences)))}
        feature_offsets[i + 1] = feature_offsets[i] + len(counted)
        block = slice(feature_offsets[i], feature_offsets[i + 1])
        hashes[block], counts[block] = list(counted), list(counted.values())
        firsts[block] = [first_of[feature] for feature in counted]


def locate_many(data, offsets, documents, firsts, length, starts, ends):
    for i, (document, first) in enumerate(zip(documents.tolist(), firsts.tolist(), strict=True)):
        start = int(offsets[document])
        text = data[start : offsets[document + 1]].tobytes().decode()
        starts[i] = start + len(text[:first].encode())
        ends[i] = start + len(text[: first + length].encode())
