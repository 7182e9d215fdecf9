"""Keys of very many texts → candidates: each text is compared with the most preferred texts of its key.

The texts of a hot key are spread over all tasks; its most preferred texts are sent to every task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.kernels.hashing import GOLDEN
from nearkin.records import I64, U8, U32, U64
from nearkin.stages.search.linking import FOLLOWS, Linking, SkewedRuns, sorted_distinct
from nearkin.workflows.dedup.corpus import MINE, THEIRS
from nearkin.workflows.dedup.on_spark.keying import EntryMeetings, load_skewed, texts_of_entries
from nearkin.workflows.dedup.on_spark.partitions import (
    HOT,
    HOT_RESTS,
    HUBS,
    LENGTHS,
    NOT_COMPARED,
    PAIRS,
    RANKED,
    SKEWED,
    Partitions,
    each_partition,
)
from nearkin.workflows.dedup.searching import max_pairs_of


def link_skewed(
    stages: Stages, linked: Blocks, partitions: Partitions, meetings: EntryMeetings, ratio: float
) -> tuple[Blocks, int]:
    """Pair the texts of skewed keys as well; also return the number of skipped pairs.

    Parameters
    ----------
    linked
        `PAIRS` of the other keys; `SKEWED`, `LENGTHS` and `HOT`.
    """
    pairs, max_pivots = linked.of(PAIRS.stream), _max_pivots(linked, meetings)
    if not max_pivots:
        return pairs, 0
    skewed = stages.parts(len(partitions), each_partition).and_those_of(linked.of(SKEWED.stream))
    n, n_targets = max(len(partitions), 1), max(stages.n_at_a_time, meetings.n_targets // 8)
    hot = HotKeys.of(linked.of(HOT.stream).collected(), max_pivots)
    if len(hot.keys):
        preferring = partial(prefer_in_partition, partitions, hot)
        foremost = stages.kept(
            "foremost", lambda: skewed.shuffled(n, preferring).shuffled(1, partial(prefer_of_all, hot))
        )
        hot = hot.with_pivots(foremost.collected())
    sending = partial(send_hot_entries, partitions, hot, n_targets)
    pairing = partial(pair_hot_texts, partitions, max_pivots, hot, ratio)
    made = stages.kept("crowds", lambda: skewed.shuffled(n, sending).shuffled(n_targets, pairing))
    (n_pairs,) = NOT_COMPARED.joined(made.of(NOT_COMPARED.stream).collected())
    pairs = pairs.and_those_of(made.of(PAIRS.stream))
    hubs = Hubs.of(made.of(HUBS.stream).collected())
    if len(hubs):
        pairs = pairs.mapped(partial(send_pairs, partitions, hubs))
    return pairs, int(n_pairs.sum()) + hot.n_not_compared(made.of(HOT_RESTS.stream).collected())


def _max_pivots(linked: Blocks, meetings: EntryMeetings) -> dict[int, int]:
    """Return the length up to which skewed keys of each band are compared in full."""
    band, length, n_leads, n = LENGTHS.joined(linked.of(LENGTHS.stream).collected())
    max_pivots = {}
    for band_number in np.unique(band).tolist():
        is_of_band = band == band_number
        runs = SkewedRuns(np.repeat(length[is_of_band], n[is_of_band]), np.repeat(n_leads[is_of_band], n[is_of_band]))
        max_pivots[band_number] = runs.affordable_pivots(
            max_pairs_of(band_number if band_number < meetings.n_bands else None)
        )
    return max_pivots


def _ranked(partitions: Partitions, partition: int, blocks: Sequence[Block]) -> tuple[Column, ...]:
    stayed, came = load_skewed(partitions, partition), SKEWED.joined(blocks)
    columns = [np.concatenate(pair) for pair in zip(stayed, came, strict=True)]
    texts = partitions.texts(partition)
    return (*columns, texts.rank[texts.at(columns[2])])


def prefer_in_partition(partitions: Partitions, hot: HotKeys, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Find the most preferred entries of each hot key in a partition."""
    yield from hot.foremost(_ranked(partitions, target, blocks))


def prefer_of_all(hot: HotKeys, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Find the most preferred entries of each hot key over all partitions."""
    yield from hot.foremost(RANKED.joined(blocks))


def send_hot_entries(
    partitions: Partitions, hot: HotKeys, n_targets: int, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Send skewed entries to where those of their key meet, those of hot keys to any task."""
    columns = _ranked(partitions, target, blocks)
    band, key, node = columns[:3]
    spread = np.where(hot.index_of(band, key) >= 0, node, key + band)
    meeting = (spread * GOLDEN >> np.uint64(32)) % np.uint64(n_targets)
    yield from RANKED.scattered(meeting, *columns)


def pair_hot_texts(
    partitions: Partitions,
    max_pivots: dict[int, int],
    hot: HotKeys,
    min_size_ratio: float,
    target: int,
    blocks: Sequence[Block],
) -> Iterator[Block]:
    """Pair the texts of skewed keys; in long runs only with the first texts."""
    columns = RANKED.joined(blocks)
    tally, n_not_compared = Tally(), list[int]()

    def linked(entries: Sequence[Column], order: U32, n_pivots: int) -> Iterator[Block]:
        _, keys, nodes, sizes, sides, *_ = entries
        for pairs, n in Linking(sizes, sides, min_size_ratio, n_pivots).link(keys[order], order):
            n_not_compared.append(n)
            left, right = texts_of_entries(nodes, pairs)
            tally.add(left, right)
            yield from PAIRS.scattered(partitions.at(left), left, right)

    of_hot = hot.index_of(*columns[:2])
    for i in np.unique(of_hot[of_hot >= 0]).tolist():
        here = hot.with_members(i, tuple(column[of_hot == i] for column in columns))
        n_pivots = int(hot.n_pivots[i])
        yield from linked(here, np.arange(len(here[0]), dtype=np.uint32), n_pivots)
        yield from hot.rest(target, i, here[4][n_pivots:])
    n_not_compared.clear()  # what a hot key skips is counted over all tasks
    columns = tuple(column[of_hot < 0] for column in columns)
    band, _, _, _, sides, rank = columns
    for band_number in np.unique(band).tolist():
        order = np.flatnonzero(band == band_number).astype(np.uint32)
        order = order[np.lexsort((rank[order], sides[order] & FOLLOWS))]
        yield from linked(columns, order, max_pivots[band_number])
    yield from NOT_COMPARED.packed(target, np.array([sum(n_not_compared)]))
    yield from tally.told()


@dataclass(frozen=True, slots=True)
class HotKeys:
    """Keys, each of a band.

    Parameters
    ----------
    bands, keys : uint32 and uint64 arrays, shape (n_keys,)
        Sorted by `_codes`.
    n_pivots : int64 array, shape (n_keys,)
        Number of its texts with which all others are compared.
    pivots : tuple of arrays
        Columns of `RANKED` of those texts, once known; the most preferred text of a key first.
    """

    bands: U32
    keys: U64
    runs: SkewedRuns
    n_pivots: I64
    pivots: tuple[Column, ...] = ()

    @classmethod
    def of(cls, blocks: Sequence[Block], max_pivots: Mapping[int, int]) -> HotKeys:
        """Make the keys from blocks of `HOT`; ``max_pivots`` by band."""
        bands, keys, lengths, n_leads = HOT.joined(blocks)
        order = np.argsort(_codes(bands, keys))
        bands, keys, runs = bands[order], keys[order], SkewedRuns(lengths[order], n_leads[order])
        most = np.array([max_pivots[band] for band in bands.tolist()], np.int64)
        return cls(bands, keys, runs, runs.pivots(most))

    def rest(self, target: int, i: int, sides: U8) -> Iterator[Block]:
        """Yield counts by side of the texts of a key that are compared with its pivots only."""
        side_bits, follows = sides & (MINE | THEIRS), (sides & FOLLOWS) != 0
        is_first, is_second = side_bits == MINE, side_bits == THEIRS
        counted = (np.ones(len(sides), np.bool_), is_first, is_second, follows, is_first & follows, is_second & follows)
        counts = np.array([[is_one.sum()] for is_one in counted], np.int64)
        yield from HOT_RESTS.packed(target, np.array([i], np.uint32), *counts)

    def n_not_compared(self, blocks: Sequence[Block]) -> int:
        """Return the number of skipped pairs, from blocks of `HOT_RESTS`."""
        of_key, *counted = HOT_RESTS.joined(blocks)
        totals = [np.bincount(of_key, n, len(self.keys)).astype(np.int64) for n in counted]
        n, n_first, n_second, *following = (total * (total - 1) // 2 for total in totals)
        n_following, n_first_following, n_second_following = following
        n_among_following = n_following - n_first_following - n_second_following
        return int((n - n_first - n_second - n_among_following).sum())

    def index_of(self, bands: U32, keys: U64) -> I64:
        """Return the index of the key of each entry; -1 if it is not there."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.searchsorted(_codes(self.bands, self.keys), _codes(bands, keys))
        at = np.minimum(at, len(self.keys) - 1)
        return np.where((self.bands[at] == bands) & (self.keys[at] == keys), at, -1)

    def foremost(self, entries: tuple[Column, ...]) -> Iterator[Block]:
        """Yield the most preferred entries of each key, as many as its pivots."""
        bands, keys, _, _, sides, rank = entries
        of_key = self.index_of(bands, keys)
        order = np.lexsort((rank, sides & FOLLOWS, of_key))
        order = order[of_key[order] >= 0]
        of_key = of_key[order]
        is_first = np.ones(len(of_key), np.bool_)
        is_first[1:] = of_key[1:] != of_key[:-1]
        starts = np.flatnonzero(is_first)
        place = np.arange(len(of_key)) - np.repeat(starts, np.diff(np.append(starts, len(of_key))))
        chosen = order[place < self.n_pivots[of_key]]
        yield from RANKED.packed(0, *(column[chosen] for column in entries))

    def with_pivots(self, blocks: Sequence[Block]) -> HotKeys:
        """Return the keys with the entries chosen from all partitions."""
        return replace(self, pivots=RANKED.joined(blocks))

    def with_members(self, i: int, members: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the pivots of a key, followed by other entries of it."""
        is_pivot = self.index_of(*self.pivots[:2]) == i
        pivots = tuple(column[is_pivot] for column in self.pivots)
        is_other = ~np.isin(members[2], pivots[2])
        return tuple(np.concatenate([a, b[is_other]]) for a, b in zip(pivots, members, strict=True))


def _codes(bands: U32, keys: U64) -> U64:
    return keys ^ (bands + np.uint64(1)) * GOLDEN


MANY = 1 << 14
"""Pairs of one text above which it is a hub; fewer stay in its partition."""
_SOME = 256


class Tally:
    """Number of pairs of each text in a task."""

    def __init__(self) -> None:
        self._parts: list[tuple[U32, I64]] = []

    def add(self, left: U32, right: U32) -> None:
        """Count some pairs."""
        nodes, n_pairs = np.unique(np.concatenate([left, right]), return_counts=True)
        is_worth_it = n_pairs >= _SOME
        self._parts.append((nodes[is_worth_it].astype(np.uint32), n_pairs[is_worth_it]))

    def told(self) -> Iterator[Block]:
        """Yield the texts with more than a few pairs."""
        for nodes, n_pairs in self._parts:
            yield from HUBS.packed(0, nodes, n_pairs)


@dataclass(frozen=True, slots=True)
class Hubs:
    """Texts with very many pairs, ascending."""

    nodes: U32
    n_pairs: I64

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Hubs:
        """Make the hubs from blocks of `HUBS`."""
        hubs, n_told = HUBS.joined(blocks)
        nodes, place = np.unique(hubs, return_inverse=True)
        n_pairs = np.bincount(place, n_told, len(nodes)).astype(np.int64)
        is_popular = n_pairs >= MANY
        return cls(nodes[is_popular], n_pairs[is_popular])

    def __len__(self) -> int:
        return len(self.nodes)

    def n_of(self, nodes: U32) -> I64:
        """Return the number of pairs of each text; 0 for those with fewer than `MANY`."""
        at = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[at] == nodes, self.n_pairs[at], 0)


def send_pairs(partitions: Partitions, hubs: Hubs, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Send each pair once, to the partition of the text that has fewer pairs."""
    left, right = PAIRS.joined(blocks)
    pairs = sorted_distinct(left.astype(np.uint64) << np.uint64(32) | right)
    left, right = (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
    n_left, n_right = hubs.n_of(left), hubs.n_of(right)
    is_even = (left ^ right) & np.uint32(1) == 0  # a tie-break: if all are compared with all, no text has fewer
    swap = (n_left > n_right) | (is_even & (n_left == n_right) & (n_left > 0))
    here, there = np.where(swap, right, left), np.where(swap, left, right)
    yield from PAIRS.scattered(partitions.at(here), here, there)
