"""Figure 1: similarity of the texts of documents that match by letter counts.

The similarity is the paper's: 1 - Levenshtein distance / length of the longer text, in characters. The work is limited:
only some matches of each query are drawn; for long texts below `FLOOR`, only that fact is determined; and texts beyond
a length are not compared at all. Omissions are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from labs.range_search.projections import ExhaustiveTruth
from nearkin.records import F64, I64, Bool
from nearkin.runs.progress import Progress
from nearkin.stages.verification.edit import edit_similarity

FLOOR = 0.8
"""Similarity below which long texts are not compared exactly: dissimilar texts would take most of the time."""
EXACT_UP_TO = 20_000
"""Characters of the longer text up to which the similarity is always exact."""
EDGES = (0.0, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)
"""Start of each interval of Figure 1; the last one contains only 1."""
N_LOWEST = 10
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of the comparison of texts.

    Parameters
    ----------
    max_matches : int
        Maximum number of matches drawn per query; at least 1.
    longest : int
        Maximum number of characters of a compared text; at least 1.
    """

    max_matches: int = 20
    longest: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Alikeness:
    """Edit similarity of the matches at one tolerance, without the queries themselves.

    Parameters
    ----------
    gamma : float
    n_others : int64 array, shape (n_queries,)
        Number of matches of each query other than itself.
    n_drawn, n_too_long : int
        Number of drawn matches, and of those not compared because a text is too long.
    query, row : int64 arrays, shape (n_compared,)
        Positions of the queries among all queries, and rows of the matches.
    similarity : float64 array, shape (n_compared,)
        NaN: below `FLOOR`, for texts of more than `EXACT_UP_TO` characters.
    texts : int64 array, shape (n_compared, 2)
        Rows of the first documents with these two texts, ascending.
    """

    gamma: float
    n_others: I64
    n_drawn: int
    n_too_long: int
    query: I64
    row: I64
    similarity: F64
    texts: I64

    @property
    def is_copy(self) -> Bool:
        """Whether the texts are identical, shape (n_compared,)."""
        is_copy: Bool = self.texts[:, 0] == self.texts[:, 1]
        return is_copy

    def at_least(self, similarity: float, *, without_copies: bool = False) -> float:
        """Return the share of matches with at least this similarity (`FLOOR` or more): the mean over queries.

        NaN if there are none. ``without_copies``: only matches with another text.
        """
        chosen = ~self.is_copy if without_copies else np.ones(len(self.query), np.bool_)
        return _mean(_by_query(self.query[chosen], self.similarity[chosen] >= similarity, len(self.n_others)))

    def at_least_with_itself(self, similarity: float) -> float:
        """Return the same over all queries, each counted as its own match; queries without comparisons are omitted."""
        others = _by_query(self.query, self.similarity >= similarity, len(self.n_others))
        others[self.n_others == 0] = 0
        return _mean((1 + self.n_others * others) / (1 + self.n_others))

    def at_least_pooled(self, similarity: float) -> float:
        """Return the share among all compared matches together; NaN if there are none."""
        return float((self.similarity >= similarity).mean()) if len(self.query) else float("nan")

    def histogram(self) -> tuple[F64, I64]:
        """Return shares (means over queries) and numbers of matches in the intervals of `EDGES`."""
        known = np.nan_to_num(self.similarity, nan=0.0)
        places = np.searchsorted(EDGES, known, side="right") - 1
        shares = [_mean(_by_query(self.query, places == b, len(self.n_others))) for b in range(len(EDGES))]
        return np.array(shares), np.bincount(places, minlength=len(EDGES))

    def lowest(self, n: int = N_LOWEST) -> I64:
        """Return the least similar matches, each pair of texts once, ascending, those of unknown similarity last."""
        order = np.lexsort((self.row, self.query, self.similarity))
        _, first = np.unique(self.texts[order], axis=0, return_index=True)
        return order[np.sort(first)][:n]


def compare_texts(
    texts: pa.LargeStringArray,
    first_with_text: I64,
    queries: I64,
    truth: ExhaustiveTruth,
    bounds: Bounds,
    *,
    seed: int,
    progress: Progress,
) -> tuple[Alikeness, ...]:
    """Compute the edit similarity of queries and a sample of their matches, at each tolerance.

    Parameters
    ----------
    texts : array of large strings, shape (n_documents,)
    first_with_text : int64 array, shape (n_documents,)
        Row of the first document with the same text.
    queries : int64 array, shape (n_queries,)
        Rows of the queries.
    truth : ExhaustiveTruth
    bounds : Bounds
    seed : int
        Seed of the sample.
    progress : Progress
    """
    lengths = pc.utf8_length(texts).to_numpy().astype(np.int64)
    drawn = {gamma: _drawn(queries, matches, bounds.max_matches, seed) for gamma, matches in truth.matches.items()}
    fits = {
        gamma: np.maximum(lengths[queries[places]], lengths[rows]) <= bounds.longest
        for gamma, (places, rows) in drawn.items()
    }
    keys = {
        gamma: _text_pairs(first_with_text[queries[places[fits[gamma]]]], first_with_text[rows[fits[gamma]]])
        for gamma, (places, rows) in drawn.items()
    }
    known = _similarities(texts, lengths, {pair for pairs in keys.values() for pair in pairs}, progress)
    return tuple(
        Alikeness(
            gamma=gamma,
            n_others=truth.n_true(gamma) - 1,
            n_drawn=len(rows),
            n_too_long=int((~fits[gamma]).sum()),
            query=places[fits[gamma]],
            row=rows[fits[gamma]],
            similarity=np.array([known[pair] for pair in keys[gamma]], np.float64),
            texts=np.array(keys[gamma], np.int64).reshape(-1, 2),
        )
        for gamma, (places, rows) in drawn.items()
    )


def _text_pairs(a: I64, b: I64) -> list[Pair]:
    """Return pairs of texts, the smaller row first."""
    return list(zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True))


def _drawn(queries: I64, matches: Sequence[I64], most: int, seed: int) -> tuple[I64, I64]:
    """Draw at most ``most`` matches of each query other than itself; return positions of the queries, and rows."""
    places, rows = [], []
    for i, (query, found) in enumerate(zip(queries.tolist(), matches, strict=True)):
        others = found[found != query]
        if len(others) > most:
            others = np.sort(np.random.default_rng([seed, i]).choice(others, most, replace=False))
        places.append(np.full(len(others), i, np.int64))
        rows.append(others)
    return np.concatenate(places), np.concatenate(rows)


def _similarities(texts: pa.LargeStringArray, lengths: I64, pairs: set[Pair], progress: Progress) -> dict[Pair, float]:
    """Return the similarity of every pair of texts; NaN if it is below `FLOOR` and not computed."""
    known: dict[Pair, float] = {}
    progress.start("compare texts", len(pairs), "pairs")
    for a, b in sorted(pairs):
        if a == b:
            known[a, b] = 1.0
        else:
            # a band of that many edits around the diagonal: with more edits the similarity is below the floor
            work = max(EXACT_UP_TO**2, ceil(2 * (1 - FLOOR) * int(max(lengths[a], lengths[b])) ** 2))
            found = edit_similarity(texts[a].as_py(), texts[b].as_py(), max_work=work).similarity
            known[a, b] = nan if found is None else found
        progress.advance(1)
    progress.finish()
    return known


def _by_query(query: I64, wanted: Bool, n_queries: int) -> F64:
    """Return for each query the share of its matches that are wanted; NaN if it has none."""
    n = np.bincount(query, minlength=n_queries)
    with np.errstate(invalid="ignore"):
        shares: F64 = np.bincount(query, weights=wanted, minlength=n_queries) / n
    return shares


def _mean(shares: F64) -> float:
    """Return the mean of the shares that are not NaN; NaN if there are none."""
    there = shares[~np.isnan(shares)]
    return float(there.mean()) if len(there) else float("nan")
