"""Candidates → possible matches, selected by profiles, which are a fraction of the size of the sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.layout import Block
from nearkin.records import U8, U32, Matches
from nearkin.workflows.dedup.on_spark.keying import PartitionSizes
from nearkin.workflows.dedup.on_spark.partitions import Partitions
from nearkin.workflows.dedup.on_spark.profiles import most_common
from nearkin.workflows.dedup.on_spark.streams import ASKS, CANDIDATES, PAIRS, PROFILES
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.options import DedupOptions

_BYTES_A_BLOCK = 1 << 18
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class AskProfilesTask:
    """Keep each pair once, and ask for the profile of its right text."""

    partitions: Partitions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        left, right, tag = PAIRS.joined(blocks)
        order = np.lexsort((right, left))
        left, right, tag = left[order], right[order], tag[order]
        is_first = np.ones(len(left), np.bool_)
        is_first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        yield from PAIRS.packed(target, left[is_first], right[is_first], tag[is_first])
        yield from CANDIDATES.packed(target, np.array([is_first.sum()]))
        yield from _wanted(self.partitions, target, right)


@dataclass(frozen=True, slots=True)
class SendProfilesTask:
    """Send the requested profiles; other blocks stay."""

    texts: Path
    sizes: Path

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream != ASKS.stream)
        nodes, reply_to = ASKS.joined(blocks)
        if not len(nodes):
            return
        texts, sizes = PartitionTexts.load(self.texts, target), PartitionSizes.load(self.sizes, target)
        step = max(1, _BYTES_A_BLOCK // sizes.profiles.shape[1])
        for partition in np.unique(reply_to).tolist():
            wanted = nodes[reply_to == partition]
            at = texts.at(wanted)
            for start in range(0, len(at), step):
                some = at[start : start + step]
                yield PROFILES.block(partition, (texts.first[some], sizes.n_shingles[some]), sizes.profiles[some])


@dataclass(frozen=True, slots=True)
class ScreenCandidatesTask:
    """Keep the candidates that may be matches, and ask for the sets of their right texts."""

    partitions: Partitions
    texts: Path
    sizes: Path
    options: DedupOptions

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        yield from (block for block in blocks if block.stream == CANDIDATES.stream)
        left, right, tag = PAIRS.joined(blocks)
        if not len(left):
            return
        nodes, n_shingles, profiles = self._known(target, blocks)
        by_node = np.argsort(nodes)
        a, b = (by_node[np.searchsorted(nodes, column, sorter=by_node)] for column in (left, right))
        most, is_unknown = most_common(profiles, a, b)
        at_most = Matches(left, right, most.astype(np.uint32), n_shingles[a], n_shingles[b])
        passes = self.options.measure.similarity(at_most) >= self.options.threshold - _ROUNDING
        passes |= is_unknown
        yield from PAIRS.packed(target, left[passes], right[passes], tag[passes])
        yield from _wanted(self.partitions, target, right[passes])

    def _known(self, target: int, blocks: Sequence[Block]) -> tuple[U32, U32, U8]:
        """Return rows, numbers of shingles and profiles of the texts of this partition and of those received."""
        texts, sizes = PartitionTexts.load(self.texts, target), PartitionSizes.load(self.sizes, target)
        (nodes, n_shingles), came = PROFILES.joined(blocks, np.uint8)
        n_bins = sizes.profiles.shape[1]
        return (
            np.concatenate([texts.first, nodes]),
            np.concatenate([sizes.n_shingles, n_shingles]),
            np.concatenate([sizes.profiles, *(profiles.reshape(-1, n_bins) for profiles in came)]),
        )


def _wanted(partitions: Partitions, target: int, right: U32) -> Iterator[Block]:
    """Ask for texts of other partitions."""
    wanted = np.unique(right)
    partition = partitions.at(wanted)
    is_elsewhere = partition != target
    yield from ASKS.scattered(partition[is_elsewhere], wanted[is_elsewhere], np.full(int(is_elsewhere.sum()), target))
