"""Keys of very many texts → candidates: each text is compared with the most preferred texts of its key.

Their number is decided over all skewed keys of a band, as on one machine. The texts of a hot key, too many for one
task, are spread over all tasks; its most preferred texts are found first, and sent to every task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.stages import Stages
from nearkin.kernels.mixing import GOLDEN
from nearkin.records import U32
from nearkin.stages.search.linking import Linking, SkewedRuns
from nearkin.workflows.dedup.on_spark.entries import EntryMeetings, load_skewed, pairs_in_partition, texts_of_entries
from nearkin.workflows.dedup.on_spark.hot_keys import HotKeys, by_preference
from nearkin.workflows.dedup.on_spark.hubs import Hubs, SendPairsTask, Tally
from nearkin.workflows.dedup.on_spark.partitions import Partitions, each_partition
from nearkin.workflows.dedup.on_spark.streams import (
    HOT,
    HOT_RESTS,
    HUBS,
    LENGTHS,
    NOT_COMPARED,
    PAIRS,
    RANKED,
    SKEWED,
)
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.searching import max_pairs_of


def link_skewed(
    stages: Stages,
    linked: Blocks,
    partitions: Partitions,
    texts: Path,
    folder: Path,
    meetings: EntryMeetings,
    ratio: float,
) -> tuple[Blocks, int]:
    """Pair the texts of skewed keys as well.

    Parameters
    ----------
    linked : Blocks
        `PAIRS` of the other keys; `SKEWED`, `LENGTHS` and `HOT`.
    texts, folder : Path
        Folders of the texts of the partitions, and of the entries that stayed there.
    ratio : float
        See `Linking`.

    Returns
    -------
    pairs : Blocks
        `PAIRS` of all keys, some of them repeated.
    n_not_compared : int
        Number of skipped pairs that share a key.
    """
    pairs, max_pivots = linked.of(PAIRS.stream), _max_pivots(linked, meetings)
    if not max_pivots:
        return pairs, 0
    skewed = stages.parts(len(partitions), each_partition).and_those_of(linked.of(SKEWED.stream))
    n, n_targets = max(len(partitions), 1), max(stages.n_at_a_time, meetings.n_targets // 8)
    hot = HotKeys.of(linked.of(HOT.stream).collected(), max_pivots)
    if len(hot.keys):
        foremost = stages.kept(
            "foremost",
            lambda: skewed.shuffled(n, PreferInPartitionTask(texts, folder, hot)).shuffled(1, PreferOfAllTask(hot)),
        )
        hot = hot.with_pivots(foremost.collected())
    made = stages.kept(
        "crowds",
        lambda: skewed.shuffled(n, SendHotEntriesTask(texts, folder, hot, n_targets)).shuffled(
            n_targets, PairHotTextsTask(partitions, max_pivots, hot, ratio)
        ),
    )
    (n_pairs,) = NOT_COMPARED.joined(made.of(NOT_COMPARED.stream).collected())
    pairs = pairs.and_those_of(made.of(PAIRS.stream))
    hubs = Hubs.of(made.of(HUBS.stream).collected())
    if len(hubs):
        pairs = pairs.mapped(SendPairsTask(partitions, hubs))
    return pairs, int(n_pairs.sum()) + hot.n_not_compared(made.of(HOT_RESTS.stream).collected())


def _max_pivots(linked: Blocks, meetings: EntryMeetings) -> dict[int, int]:
    """Return the length up to which skewed keys of each band are compared in full."""
    band, length, n_leads, n = LENGTHS.joined(linked.of(LENGTHS.stream).collected())
    max_pivots = {}
    for one in np.unique(band).tolist():
        own = band == one
        runs = SkewedRuns(np.repeat(length[own], n[own]), np.repeat(n_leads[own], n[own]))
        max_pivots[one] = runs.affordable_pivots(max_pairs_of(one if one < meetings.n_bands else None))
    return max_pivots


def _ranked(texts: Path, folder: Path, partition: int, blocks: Sequence[Block]) -> tuple[Column, ...]:
    """Return the skewed entries of a partition, those that stayed and those received; columns of `RANKED`."""
    stayed, came = load_skewed(folder, partition), SKEWED.joined(blocks)
    columns = [np.concatenate(pair) for pair in zip(stayed, came, strict=True)]
    of_partition = PartitionTexts.load(texts, partition)
    at = of_partition.at(columns[2])
    return (*columns, of_partition.code[at], of_partition.best[at])


@dataclass(frozen=True, slots=True)
class PreferInPartitionTask:
    """Find the most preferred entries of each hot key in a partition."""

    texts: Path
    folder: Path
    hot: HotKeys

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from self.hot.foremost(_ranked(self.texts, self.folder, target, blocks))


@dataclass(frozen=True, slots=True)
class PreferOfAllTask:
    """Find the most preferred entries of each hot key over all partitions."""

    hot: HotKeys

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from self.hot.foremost(RANKED.joined(blocks))


@dataclass(frozen=True, slots=True)
class SendHotEntriesTask:
    """Send skewed entries to where those of their key meet, and those of hot keys to any task."""

    texts: Path
    folder: Path
    hot: HotKeys
    n_targets: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        columns = _ranked(self.texts, self.folder, target, blocks)
        band, key, node = columns[:3]
        spread = np.where(self.hot.index_of(band, key) >= 0, node, key + band)
        meeting = (spread * GOLDEN >> np.uint64(32)) % np.uint64(self.n_targets)
        yield from RANKED.scattered(meeting, *columns)


@dataclass(frozen=True, slots=True)
class PairHotTextsTask:
    """Pair the texts of skewed keys; in long runs only with the first texts."""

    partitions: Partitions
    max_pivots: dict[int, int]
    hot: HotKeys
    min_size_ratio: float

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        columns = RANKED.joined(blocks)
        tally = Tally()
        of_hot = self.hot.index_of(*columns[:2])
        for i in np.unique(of_hot[of_hot >= 0]).tolist():
            here = self.hot.with_members(i, tuple(column[of_hot == i] for column in columns))
            order = np.arange(len(here[0]), dtype=np.uint32)
            n_pivots = int(self.hot.n_pivots[i])
            yield from self._linked(here, order, n_pivots, [], tally)
            yield from self.hot.rest(target, i, here[4][n_pivots:])
        columns = tuple(column[of_hot < 0] for column in columns)
        band, _, _, _, sides, codes, best = columns
        n_not_compared: list[int] = []
        for one in np.unique(band).tolist():
            order = np.flatnonzero(band == one).astype(np.uint32)
            order = order[np.lexsort(by_preference(best[order], codes[order], sides[order]))]
            yield from self._linked(columns, order, self.max_pivots[one], n_not_compared, tally)
        yield from NOT_COMPARED.packed(target, np.array([sum(n_not_compared)]))
        yield from tally.told()

    def _linked(
        self, columns: Sequence[Column], order: U32, max_pivots: int, n_not_compared: list[int], tally: Tally
    ) -> Iterator[Block]:
        """Yield the pairs of entries in this order; add the skipped pairs to the list, and texts to the tally."""
        _, keys, nodes, sizes, sides, *_ = columns
        linking = Linking(sizes, sides, self.min_size_ratio, max_pivots)
        for pairs, n in linking.link(keys[order], order):
            n_not_compared.append(n)
            left, right = texts_of_entries(nodes, pairs)
            tally.add(left, right)
            yield from pairs_in_partition(self.partitions, left, right)
