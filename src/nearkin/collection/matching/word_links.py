"""Connection of stored texts whose wording matches, with bounded work where very many texts are nearly alike.

Texts that are connected are not compared with one another. A hot text, which has very many candidates, is compared with
its nearest ones among other hot texts only. Pairs of two components are compared until some did not match, and the
others only if they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from nearkin.collection.matching.constraints import Forest
from nearkin.collection.stored.word_sets import WordSets
from nearkin.engines.local import map_ordered
from nearkin.kernels.hamming import near_in_tiles, tiled
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
_MIN_SAMPLE, _SAMPLED = 1 << 10, 64
"""A sample has at least so many texts, and one in so many."""
_ROOM, _QUERIES_AT_A_TIME = 1 << 17, 1 << 12
_MAX_KEPT = 1 << 20
"""Maximum number of pairs of components that are remembered to be counted in the end."""


class WordLinks:
    """Connects texts by their wording; candidates differ in at most ``reach`` bits."""

    def __init__(self, words: U64, sets: WordSets, threshold: float, reach: int) -> None:
        self._words, self._sets, self._threshold, self._reach = words, sets, threshold, reach
        self._n_rest_left = MAX_REST

    def link(self, forest: Forest, queries: I64, is_live: Bool, *, threads: int, progress: Progress) -> int:
        """Connect the asked contents with all live matches; return the number of pairs left uncompared."""
        if not len(queries):
            return 0
        self._link_buckets(forest, queries, is_live)
        is_hot = self._hot(forest, queries, is_live)
        apart = _Apart(forest)
        for left, right, bits in near_signatures(
            self._words, queries, is_live, self._reach, forest=forest, threads=threads, progress=progress
        ):
            is_near = ~(is_hot[left] & is_hot[right])
            hot = np.flatnonzero(~is_near)
            is_near[hot[_nearest_of_each(left[hot], bits[hot], MAX_NEAREST)]] = True
            apart.add(left[~is_near], right[~is_near])
            apart.add(*self._settle(forest, left[is_near], right[is_near], bits[is_near]))
        return apart.count()

    def _link_buckets(self, forest: Forest, queries: I64, is_live: Bool) -> None:
        """Connect texts that share a part of their signatures with the first such text, if they match."""
        live = np.flatnonzero(is_live)
        is_asked = np.zeros(len(is_live), np.bool_)
        is_asked[queries] = True
        bands = np.ascontiguousarray(self._words[live]).view(np.uint32)
        for band in bands.T:
            _, firsts, of_band = np.unique(band, return_index=True, return_inverse=True)
            left, right = live[firsts[of_band]], live
            is_news = (left != right) & (is_asked[left] | is_asked[right])
            left, right = left[is_news], right[is_news]
            is_news = forest.are_apart(left, right)
            self._connect(forest, left[is_news], right[is_news])

    def _hot(self, forest: Forest, queries: I64, is_live: Bool) -> Bool:
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
            block = live[start : start + _QUERIES_AT_A_TIME]
            n_near = np.zeros(len(block), np.int64)
            starts, ends = np.zeros(len(block), np.int64), np.full(len(block), n_sampled)
            for n in near_in_tiles(
                self._words[block], tiles, starts, ends, distance=self._reach, pairs=room[0], distances=room[1]
            ):
                at = (room[0][:n] >> np.uint64(32)).astype(np.int64)
                others = sample[(room[0][:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
                n_near += np.bincount(at[forest.are_apart(block[at], others)], minlength=len(block))
            is_hot[block] = n_near > limit
        return is_hot

    def _settle(self, forest: Forest, left: I64, right: I64, bits: I64) -> tuple[I64, I64]:
        """Compare pairs until their components are one, or were compared often; a few left are compared, too."""
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
    """Return the places of about the ``n`` pairs of each left text with the fewest bits, and of no more."""
    if not len(left):
        return left
    is_left = np.zeros(int(left.max()) + 1, np.bool_)
    is_left[left] = True
    place = (np.cumsum(is_left) - 1)[left]
    n_bits = int(bits.max()) + 1
    n_of = np.bincount(place * n_bits + bits, minlength=(int(place.max()) + 1) * n_bits).reshape(-1, n_bits)
    is_chosen = np.cumsum(n_of, axis=1) <= n
    return np.flatnonzero(is_chosen[place, bits])


def _first_of_each(low: I64, high: I64, bits: I64, n: int) -> I64:
    order = np.lexsort((bits, high, low))
    starts = np.flatnonzero(np.diff(low[order], prepend=-1) | np.diff(high[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return order[rank < n]


class _Apart:
    """Counts pairs that were not compared and whose components are still apart in the end."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._pairs = list[tuple[I64, I64, I64]]()
        self._n_kept = self._n_others = 0

    def add(self, left: I64, right: I64) -> None:
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
        return self._n_others + sum(int(n[self._forest.are_apart(a, b)].sum()) for a, b, n in self._pairs)


Near = tuple[I64, I64, I64]
_PAIRS_AT_A_TIME = 1 << 20
"""Maximum number of pairs that a batch holds if all texts are similar to one another."""
_FEWEST_QUERIES, _MAX_QUERIES = 8, 512
_ROOM_OF_PAIRS = 1 << 17
_MAX_CONNECTED = 1 << 22
"""Minimum number of pairs found although they were connected meanwhile, before the rest is laid out again."""


def near_signatures(
    words: U64,
    queries: I64,
    is_live: Bool,
    reach: int,
    *,
    forest: Forest,
    threads: int,
    progress: Progress,
) -> Iterator[Near]:
    """Yield batches of pairs with their number of different bits; every pair occurs at most once.

    None is missed of two texts that the forest does not connect yet; those of one component are not compared. The
    batches are the same for every number of threads.
    """
    queries = np.unique(queries)
    others = is_live.copy()
    others[queries] = False
    ordered = _SignatureOrders(words, np.flatnonzero(others), forest)
    progress.start("compare", len(queries), "documents")
    while len(queries):
        texts, n_done, n_connected = ordered(queries), 0, 0

        def pairs_of(part: slice, texts: _SignatureOrder = texts) -> tuple[Near, int]:
            return texts.pairs_of(part, reach, forest.are_apart)

        parts = _parts(len(queries), _PAIRS_AT_A_TIME // max(1, len(texts.order)))
        with closing(map_ordered(pairs_of, parts, threads=threads)) as results:
            for part, (pairs, n_dropped) in zip(parts, results, strict=False):
                progress.advance(part.stop - part.start)
                # more or fewer were dropped, depending on the batches that the caller had connected by then
                is_apart = forest.are_apart(*pairs[:2])
                n_dropped += len(is_apart) - int(is_apart.sum())
                left, right, bits = (column[is_apart] for column in pairs)
                yield left, right, bits
                n_done, n_connected = part.stop, n_connected + n_dropped
                if n_connected > max(_MAX_CONNECTED, len(texts.order)):
                    break
        queries = np.sort(texts.order[n_done : len(queries)])
    progress.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _SignatureOrder:
    """Texts in the order of comparison: those asked for, by component, then all others, by component."""

    words: U64
    tiles: U64
    order: I64
    n_asked: int
    after_own: I64
    others_start: I64
    others_end: I64

    def pairs_of(self, part: slice, reach: int, is_wanted: Callable[[I64, I64], Bool]) -> tuple[Near, int]:
        """Return the wanted pairs of some texts with later ones of other components, and the number of others."""
        words = self.words[self.order[part]]
        room = np.empty(_ROOM_OF_PAIRS, np.uint64), np.empty(_ROOM_OF_PAIRS, np.uint16)
        pairs: list[Near] = [(self.order[:0],) * 3]
        n_dropped = 0
        ends = np.full(len(words), len(self.order))
        for starts, stops in ((self.after_own[part], self.others_start[part]), (self.others_end[part], ends)):
            for n in near_in_tiles(words, self.tiles, starts, stops, distance=reach, pairs=room[0], distances=room[1]):
                left = self.order[part.start + (room[0][:n] >> np.uint64(32)).astype(np.int64)]
                right = self.order[(room[0][:n] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
                is_new = is_wanted(left, right)
                n_dropped += n - int(is_new.sum())
                pairs.append((left[is_new], right[is_new], room[1][:n][is_new].astype(np.int64)))
        lefts, rights, bits = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return (lefts, rights, bits), n_dropped


@dataclass(frozen=True, slots=True)
class _SignatureOrders:
    words: U64
    others: I64
    forest: Forest

    def __call__(self, asked: I64) -> _SignatureOrder:
        ordered_queries, own_roots = self._by_component(asked)
        others, roots = self._by_component(self.others)
        order = np.concatenate([ordered_queries, others])
        return _SignatureOrder(
            words=self.words,
            tiles=tiled(self.words, order),
            order=order,
            n_asked=len(ordered_queries),
            after_own=np.searchsorted(own_roots, own_roots, side="right").astype(np.int64),
            others_start=len(ordered_queries) + np.searchsorted(roots, own_roots, side="left").astype(np.int64),
            others_end=len(ordered_queries) + np.searchsorted(roots, own_roots, side="right").astype(np.int64),
        )

    def _by_component(self, contents: I64) -> tuple[I64, I64]:
        roots = self.forest.roots(contents)
        order = np.argsort(roots, kind="stable")
        return contents[order], roots[order]


def _parts(n_asked: int, most: int) -> Sequence[slice]:
    """Divide the queries; the first parts are short, as what they find spares the others work."""
    parts, start, size = list[slice](), 0, _FEWEST_QUERIES
    most = min(_MAX_QUERIES, max(_FEWEST_QUERIES, most))
    while start < n_asked:
        parts.append(slice(start, min(start + size, n_asked)))
        start, size = parts[-1].stop, min(2 * size, most)
    return parts
