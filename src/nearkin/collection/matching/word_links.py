"""Connection of stored texts whose wording matches, with bounded work where very many texts are nearly alike.

Candidates are pairs of signatures with few different bits, and each is compared exactly. Two things bound the work.
Texts that are connected are not compared with one another. A hot text, which has very many candidates (a form of
which each copy has as many words of its own), is compared with its nearest ones among other hot texts only. Pairs of
two components are compared until some did not match, and the others only if they are few. The pairs left out are
counted.
"""

from __future__ import annotations

import numpy as np

from nearkin.collection.matching.by_signature import near_signatures
from nearkin.collection.matching.forest import Forest
from nearkin.collection.stored.word_sets import WordSets
from nearkin.kernels.signature_tiles import near_in_tiles, tiled
from nearkin.records import I64, U64, Bool
from nearkin.runs.progress import Progress

MAX_CANDIDATES = 2_048
"""Number of candidates in other components above which a text is hot; estimated from a sample."""
MAX_NEAREST = 256
"""Number of hot texts, the nearest signatures first, with which a hot one is compared."""
_TRIES = (1, 3, 12)
"""Numbers of pairs, the nearest signatures first, by which two components are compared before they are left apart."""
MAX_REST = 1 << 16
"""Maximum number of pairs that are compared in a call although their components were compared often enough."""
_BAND_BITS = 32
_MIN_SAMPLE, _SAMPLED = 1 << 10, 64
"""A sample has at least so many texts, and one in so many."""
_ROOM, _QUERIES_AT_A_TIME = 1 << 17, 1 << 12
_MAX_KEPT = 1 << 20
"""Maximum number of pairs of components that are remembered to be counted in the end."""


class WordLinks:
    """Connects texts by their wording.

    Parameters
    ----------
    words : uint64 array, shape (n_contents, n_words)
        Signatures.
    sets : WordSets
    threshold : float
        Minimum Jaccard similarity of a match.
    reach : int
        Maximum number of different bits of a candidate.
    """

    def __init__(self, words: U64, sets: WordSets, threshold: float, reach: int) -> None:
        self._words, self._sets, self._threshold, self._reach = words, sets, threshold, reach
        self._n_rest_left = MAX_REST

    def link(self, forest: Forest, asked: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect the asked contents with all live ones that match; return the number of pairs left uncompared."""
        if not len(asked):
            return 0
        self._link_buckets(forest, asked, is_live)
        is_hot = self._hot(forest, asked, is_live)
        apart = _Apart(forest)
        for left, right, bits in near_signatures(
            self._words, asked, is_live, self._reach, forest=forest, threads=threads, progress=progress
        ):
            is_near = ~(is_hot[left] & is_hot[right])
            hot = np.flatnonzero(~is_near)
            is_near[hot[_nearest_of_each(left[hot], bits[hot], MAX_NEAREST)]] = True
            apart.add(left[~is_near], right[~is_near])
            apart.add(*self._settle(forest, left[is_near], right[is_near], bits[is_near]))
        return apart.count()

    def _link_buckets(self, forest: Forest, asked: I64, is_live: Bool) -> None:
        """Connect texts that share a part of their signatures with the first such text, if they match."""
        live = np.flatnonzero(is_live)
        is_asked = np.zeros(len(is_live), np.bool_)
        is_asked[asked] = True
        bands = np.ascontiguousarray(self._words[live]).view(np.uint32)
        for band in bands.T:
            _, firsts, of_band = np.unique(band, return_index=True, return_inverse=True)
            left, right = live[firsts[of_band]], live
            is_news = (left != right) & (is_asked[left] | is_asked[right])
            left, right = left[is_news], right[is_news]
            is_news = forest.are_apart(left, right)
            self._connect(forest, left[is_news], right[is_news])

    def _hot(self, forest: Forest, asked: I64, is_live: Bool) -> Bool:
        """Return which texts have very many candidates in other components, estimated from a sample."""
        is_hot = np.zeros(len(is_live), np.bool_)
        live = np.flatnonzero(is_live)
        if len(live) <= MAX_CANDIDATES:
            return is_hot
        n_sampled = max(_MIN_SAMPLE, len(live) // _SAMPLED)
        sample = np.random.default_rng(0).choice(live, n_sampled, replace=False)
        tiles, room = tiled(self._words, sample), (np.empty(_ROOM, np.uint64), np.empty(_ROOM, np.uint16))
        limit = MAX_CANDIDATES * n_sampled / len(live)
        for start in range(0, len(live), _QUERIES_AT_A_TIME):
            some = live[start : start + _QUERIES_AT_A_TIME]
            n_near = np.zeros(len(some), np.int64)
            starts, ends = np.zeros(len(some), np.int64), np.full(len(some), n_sampled)
            for n in near_in_tiles(
                self._words[some], tiles, starts, ends, distance=self._reach, pairs=room[0], distances=room[1]
            ):
                at = (room[0][:n] >> np.uint64(32)).astype(np.int64)
                others = sample[(room[0][:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
                n_near += np.bincount(at[forest.are_apart(some[at], others)], minlength=len(some))
            is_hot[some] = n_near > limit
        return is_hot

    def _settle(self, forest: Forest, left: I64, right: I64, bits: I64) -> tuple[I64, I64]:
        """Compare pairs until their components are one, or were compared often enough; return what is left apart.

        If few pairs are left, they are compared, too.
        """
        nearest = np.lexsort((bits, right))
        firsts = nearest[np.unique(right[nearest], return_index=True)[1]]
        is_left = np.ones(len(left), np.bool_)
        is_left[firsts] = False
        self._connect(forest, left[firsts], right[firsts])
        for n_tries in _TRIES:
            left, right, bits = left[is_left], right[is_left], bits[is_left]
            a, b = forest.roots(left), forest.roots(right)
            is_apart = a != b
            left, right, bits, a, b = (column[is_apart] for column in (left, right, bits, a, b))
            chosen = _first_of_each(np.minimum(a, b), np.maximum(a, b), bits, n_tries)
            self._connect(forest, left[chosen], right[chosen])
            is_left = np.ones(len(left), np.bool_)
            is_left[chosen] = False
        left, right = left[is_left], right[is_left]
        is_apart = forest.are_apart(left, right)
        left, right = left[is_apart], right[is_apart]
        if len(left) > self._n_rest_left:
            return left, right
        self._n_rest_left -= len(left)
        self._connect(forest, left, right)
        return left[:0], right[:0]

    def _connect(self, forest: Forest, left: I64, right: I64) -> None:
        is_one = self._sets.jaccards(left, right) >= self._threshold
        forest.connect(left[is_one], right[is_one])


def _nearest_of_each(left: I64, bits: I64, n: int) -> I64:
    """Return the places of about the ``n`` pairs of each left text with the fewest bits, and of no more.

    Examples
    --------
    >>> _nearest_of_each(np.array([7, 7, 7, 8]), np.array([5, 3, 5, 9]), 2).tolist()
    [1, 3]
    """
    if not len(left):
        return left
    is_left = np.zeros(int(left.max()) + 1, np.bool_)
    is_left[left] = True
    own = (np.cumsum(is_left) - 1)[left]
    n_bits = int(bits.max()) + 1
    n_of = np.bincount(own * n_bits + bits, minlength=(int(own.max()) + 1) * n_bits).reshape(-1, n_bits)
    is_chosen = np.cumsum(n_of, axis=1) <= n
    return np.flatnonzero(is_chosen[own, bits])


def _first_of_each(low: I64, high: I64, bits: I64, n: int) -> I64:
    """Return the places of the first ``n`` pairs of each pair of components, by bits."""
    order = np.lexsort((bits, high, low))
    starts = np.flatnonzero(np.diff(low[order], prepend=-1) | np.diff(high[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return order[rank < n]


class _Apart:
    """Counts pairs that were not compared and whose components are still apart in the end.

    Pairs of components are remembered while they are few; of more, some may be counted that are connected later.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._pairs = list[tuple[I64, I64, I64]]()
        self._n_kept = self._n_others = 0

    def add(self, left: I64, right: I64) -> None:
        """Add pairs of contents."""
        a, b = self._forest.roots(left), self._forest.roots(right)
        is_apart = a != b
        if self._n_kept > _MAX_KEPT:
            self._n_others += int(is_apart.sum())
            return
        low, high = np.minimum(a, b)[is_apart], np.maximum(a, b)[is_apart]
        keys, n = np.unique(low << 32 | high, return_counts=True)
        self._pairs.append((keys >> 32, keys & 0xFFFFFFFF, n))
        self._n_kept += len(keys)

    def count(self) -> int:
        """Count the pairs whose components are still apart."""
        return self._n_others + sum(int(n[self._forest.are_apart(a, b)].sum()) for a, b, n in self._pairs)
