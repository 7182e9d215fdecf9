"""Search by containment and by edit similarity: candidates found by another measure, each verified by its own.

Containment: candidates share keys of check-ins, some of which a text has in common with its parts. Edit similarity:
candidates are the nearest by signatures of words, and by letter counts; how many similar texts are among neither is not
known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from nearkin.records import I64
from nearkin.stages.verification.edit import edit_similarity
from nearkin.store.store import Store

MAX_CONTAINING = 2_000
"""Maximum number of candidates compared by containment, the most promising first."""
MAX_EDITED = 1_000
"""Maximum number of candidates found by words, and of candidates found by letters; the nearest first."""
CANDIDATE_THRESHOLD, CANDIDATE_GAMMA = 0.35, 0.1
"""Jaccard similarity and letter distance up to which texts are candidates for edit similarity."""
MAX_EDIT_WORK = 500_000_000
"""Maximum product of the lengths of two texts whose edit similarity is always computed; see `edit_similarity`."""


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
    contents = _by_size(found)
    n_left = len(candidates.contents) - len(some) + len(candidates.lost)
    stages = ("texts that share keys", len(candidates.contents)), ("matches", len(contents))
    return Near(
        contents=contents,
        stages=stages,
        is_answered=True,
        n_not_compared=n_left,
        found_by=dict.fromkeys(contents.tolist(), "keys"),
        n_hot_keys=candidates.n_skewed,
        part_recall=None if n_left else candidates.part_recall,
    )


def near_by_edit(
    connection: Connection,
    query: Content,
    minimum: float,
    *,
    by_words: Near,
    by_letters: Near,
    current: Callable[[I64], Sequence[int]],
) -> Near:
    """Return the contents with sufficient edit similarity among the nearest by words and by letters.

    Parameters
    ----------
    connection : Connection
    query : Content
    minimum : float
    by_words, by_letters : Near
        Candidates, the nearest first.
    current : callable
        Returns the contents that a current document has, in the same order.
    """
    words, letters = (current(one.contents) for one in (by_words, by_letters))
    some = sorted({*words[:MAX_EDITED], *letters[:MAX_EDITED]})
    n_left = len({*words, *letters}) - len(some)
    found, in_words, in_letters = dict[int, float](), set(words), set(letters)
    for lot in some_at_a_time(connection, some):
        for one in contents_of(connection, lot).values():
            longer, shorter = sorted((len(one.text), len(query.text)), reverse=True)
            if longer and shorter / longer < minimum:
                continue  # every additional character is an edit
            similarity = edit_similarity(query.text, one.text, max_work=MAX_EDIT_WORK).similarity
            n_left += similarity is None
            if similarity is not None and similarity >= minimum:
                found[one.number] = similarity
    contents = _by_size(found)
    by = {
        number: " and ".join(name for name, of in (("words", in_words), ("letters", in_letters)) if number in of)
        for number in contents.tolist()
    }
    stages = ("candidates by words", len(words)), ("candidates by letters", len(letters)), ("matches", len(contents))
    return Near(
        contents=contents,
        stages=stages,
        is_answered=by_words.is_answered or by_letters.is_answered,
        n_not_compared=n_left,
        found_by=by,
    )


def _by_size(found: dict[int, float]) -> I64:
    return np.array(sorted(found, key=lambda number: (-found[number], number)), np.int64)
