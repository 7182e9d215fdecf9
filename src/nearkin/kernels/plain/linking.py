"""The plain twins of the loops of `nearkin.kernels.linking`."""

from __future__ import annotations

from itertools import groupby, takewhile

import numpy as np


def sort_by_key(keys, rows):
    order = np.argsort(keys, kind="stable")
    return keys[order], rows[order]


def link_many(keys, rows, sizes, sides, start, min_size_ratio, max_pivots, max_pairs, pairs):
    n_pairs = n_not_compared = 0
    for _, run in groupby(range(start, len(keys)), key=lambda i: int(keys[i])):
        members = [int(rows[i]) for i in run]
        n_leads = len(list(takewhile(lambda row: not sides[row] & 4, members)))
        pivots = min(n_leads, max_pivots, max(1, max_pairs // len(members)))
        linked, possible = (
            [(a, b) for i, a in enumerate(members[:n_first]) for b in members[i + 1 :]] for n_first in (pivots, n_leads)
        )
        if n_pairs + len(linked) > len(pairs):
            break
        start += len(members)
        n_not_compared += sum(_is_crossing(sides, a, b) for a, b in possible[len(linked) :])
        for a, b in linked:
            small, large = sorted((int(sizes[a]), int(sizes[b])))
            if a != b and _is_crossing(sides, a, b) and small >= min_size_ratio * large:
                pairs[n_pairs] = (min(a, b) << 32) | max(a, b)
                n_pairs += 1
    return n_pairs, start, n_not_compared


def _is_crossing(sides, a, b):
    return bool((sides[a] & 1 and sides[b] & 2) or (sides[a] & 2 and sides[b] & 1))
