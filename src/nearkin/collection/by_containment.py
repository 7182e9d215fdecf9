"""Search by containment: candidates share keys of check-ins, some of which a text has in common with its parts."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from nearkin.collection.check_in.candidates import PARTS_JACCARD, Query, candidates_of
from nearkin.collection.check_in.results import MIN_COMMON, CheckOptions
from nearkin.collection.check_in.shared_keys import Searched
from nearkin.collection.counting import TextCounting
from nearkin.collection.matching.near import Near
from nearkin.collection.stored.contents import Content, contents_of
from nearkin.collection.stored.key_table import KEYS
from nearkin.collection.stored.word_sets import shares, some_at_a_time, word_sets
from nearkin.store.store import Store

MAX_CONTAINING = 2_000
"""Maximum number of candidates compared by containment, the most promising first."""


def near_by_containment(
    connection: Connection, store: Store, counting: TextCounting, query: Content, minimum: float
) -> Near:
    """Return the contents that share word 5-grams with the query, by containment; the largest share first."""
    asked = Query.of(counting, query.text)
    if asked.signature is None:
        return Near(
            contents=np.zeros(0, np.int64), stages=(("texts that share keys", 0), ("matches", 0)), is_answered=False
        )
    searched = Searched(connection, store, counting, KEYS.reach(connection, store))
    options = CheckOptions(threshold=PARTS_JACCARD, containment=minimum)
    candidates = candidates_of(searched, asked, options)
    some = candidates.contents[:MAX_CONTAINING]
    (own,) = word_sets(counting, [query.text])
    found = dict[int, float]()
    for lot in some_at_a_time(connection, sorted(some)):
        stored = list(contents_of(connection, lot).values())
        for one, other in zip(stored, word_sets(counting, [one.text for one in stored]), strict=True):
            n_both = len(np.intersect1d(own, other, assume_unique=True))
            share = max(shares(own, other)[1:])
            if one.digest == query.digest or (share >= minimum and n_both >= MIN_COMMON):
                found[one.number] = share
    contents = np.array(sorted(found, key=lambda number: (-found[number], number)), np.int64)
    n_left = len(candidates.contents) - len(some) + len(candidates.lost)
    stages = ("texts that share keys", len(candidates.contents)), ("matches", len(contents))
    return Near(
        contents=contents,
        stages=stages,
        is_answered=True,
        n_not_compared=n_left,
        n_hot_keys=candidates.n_skewed,
        part_recall=None if n_left else candidates.part_recall,
    )
