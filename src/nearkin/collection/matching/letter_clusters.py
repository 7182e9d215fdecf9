"""Connection of very many texts with nearly the same letters, without a search for each of them.

All texts near a centre are settled by one wide search: whatever matches one of them is within reach of the centre, by
the triangle inequality. What is found there and not connected with the centre is compared with each of them. The result
is exact; it only spares searches.
"""

from __future__ import annotations

import numpy as np

from nearkin.collection.matching.forest import Forest
from nearkin.collection.matching.pairs import RangePairs
from nearkin.records import I64, Bool

_MAX_GAMMA = 0.25
"""Above it, the wide search reaches nearly everything."""
_CENTRES = 64
"""Number of texts that are tried as centres at a time."""
_MIN_CLUSTER = 256
"""Minimum number of matches of a centre: it spares as many searches."""
_MIN_SETTLED = 1 / 8
"""Minimum share of the texts that a round must settle for another round to follow."""
_MAX_COMPARED = 1 << 22
"""Maximum number of pairs compared around one centre."""
_ROUNDING = 1e-9


def link_clusters(search: RangePairs, gamma: float, forest: Forest) -> I64:
    """Connect all matches of texts in dense clusters, and return the asked contents that are left to be searched for.

    Parameters
    ----------
    search : RangePairs
    gamma : float
    forest : Forest
    """
    left = search.asked
    if gamma > _MAX_GAMMA:
        return left
    is_open = np.zeros(len(search.is_live), np.bool_)
    is_open[left] = True
    chance = np.random.default_rng(0)
    while len(left) > _MIN_CLUSTER:
        for centre in chance.choice(left, min(_CENTRES, len(left)), replace=False).tolist():
            if is_open[centre]:
                _settle_around(search, gamma, forest, centre, is_open)
        before, left = len(left), left[is_open[left]]
        if before - len(left) < _MIN_SETTLED * before:
            break
    return left


def _settle_around(search: RangePairs, gamma: float, forest: Forest, centre: int, is_open: Bool) -> None:
    """Connect all matches of the open texts within half of gamma of a centre, if there are many, and close them."""
    length = search.length_of(centre)
    matches, squares = search.reached(centre, gamma)
    if len(matches) < _MIN_CLUSTER:
        return
    forest.connect(np.full(len(matches), centre), matches)
    half = gamma / 2 * length * (1 - _ROUNDING)
    near = matches[is_open[matches] & (squares <= half * half)]
    reach = gamma / 2 + gamma * (1 + gamma / 2) / (1 - gamma)
    around, _ = search.reached(centre, reach * (1 + _ROUNDING))
    others = around[forest.are_apart(np.full(len(around), centre), around)]
    if len(near) * len(others) > _MAX_COMPARED:
        return
    if len(others):
        a, b = np.nonzero(search.are_pairs(near, others))
        forest.connect(near[a], others[b])
    is_open[near] = False
