"""Candidates → matches: the shingles of one text of each pair are sent to the partition of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.options.dedup import DedupOptions
from nearkin.records import I64, U32, U64, Candidates, Matches
from nearkin.runs.spool import load_arrays, save_arrays
from nearkin.stages.verification.overlap import verify
from nearkin.stages.verification.what_differs import Compared, TextNumbers
from nearkin.workflows.dedup.on_spark.keying import PartitionSizes, most_common, texts_at
from nearkin.workflows.dedup.on_spark.partitions import (
    ASKS,
    CANDIDATES,
    MATCHES,
    PAIRS,
    PROFILES,
    SETS,
    Partitions,
)
from nearkin.workflows.dedup.outcome import differences_of

_HASHES_A_BLOCK = 1 << 15  # Java handles larger blocks separately, which is slower


def verify_all(stages: Stages, pairs: Blocks, partitions: Partitions, options: DedupOptions) -> tuple[Matches, int]:
    """Verify candidates, which lie in the partitions of their left texts; also return the number of distinct ones."""
    n = max(len(partitions), 1)
    verified = stages.kept(
        "matches",
        lambda: (
            pairs.shuffled(n, partial(ask_profiles, partitions))
            .shuffled(n, partial(send_profiles, partitions))
            .shuffled(n, partial(screen_candidates, partitions, options))
            .shuffled(n, partial(send_sets, partitions, options))
            .shuffled(n, partial(verify_pairs, partitions, options))
        ),
    )
    (n_pairs,) = CANDIDATES.joined(verified.of(CANDIDATES.stream).collected())
    return _collected(verified), int(n_pairs.sum())


def compare_inside(
    stages: Stages, partitions: Partitions, options: DedupOptions, pairs: Iterable[Candidates]
) -> Iterator[Matches]:
    """Yield the similarity of the texts of each pair, without a threshold; the driver writes the pairs to files."""
    parts = [(np.zeros(0, np.uint32), np.zeros(0, np.uint32)), *((pair.left, pair.right) for pair in pairs)]
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(left):
        return
    order = np.argsort(left, kind="stable")
    left, right = left[order], right[order]
    bounds = np.searchsorted(left, partitions.first_node).tolist()
    for partition in range(len(partitions)):
        here = slice(*bounds[partition : partition + 2])
        save_arrays(partitions.inside(partition), {"left": left[here], "right": right[here]})
    n = len(partitions)
    compared = stages.kept(
        "inside",
        lambda: (
            stages.parts(n, partial(ask_inside, partitions))
            .shuffled(n, partial(send_sets, partitions, options))
            .shuffled(n, partial(verify_pairs, partitions, options, keeps_all=True))
        ),
    )
    yield replace(_collected(compared), differs=None)


def _collected(blocks: Blocks) -> Matches:
    matches = Matches(*MATCHES.joined(blocks.of(MATCHES.stream).collected()))
    return matches.where(np.lexsort((matches.right, matches.left)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSets:
    """Shingle sets of some texts, each followed by its numbers; see `what_differs.TextNumbers`."""

    nodes: U32
    offsets: I64
    n_shingles: I64
    hashes: U64
    frame: U64
    digest: U64

    @classmethod
    def in_partition(cls, partitions: Partitions, partition: int, nodes: U32, options: DedupOptions) -> TextSets:
        """Read texts of a partition, in ascending order, from the spool."""
        sizes, hashes, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)], list[TextNumbers]()
        texts = partitions.texts(partition)
        rows = texts.rows[texts.at(nodes)]
        for chunk in partitions.chunks(partition):
            here = rows[slice(*np.searchsorted(rows, [chunk.start, chunk.end]).tolist())]
            if len(here):
                found = texts_at(chunk, here)
                sets = options.shingle.sets(found)
                sizes.append(sets.sizes)
                hashes.append(sets.hashes)
                numbers.append(TextNumbers.of(found))
        of_numbers, n_shingles = TextNumbers.joined(numbers), np.concatenate(sizes)
        n_numbers = of_numbers.ends - of_numbers.starts
        offsets = np.concatenate([[0], np.cumsum(n_shingles + n_numbers)]).astype(np.int64)
        together = np.empty(offsets[-1], np.uint64)
        together[ranges(offsets[:-1], n_shingles)] = np.concatenate(hashes)
        together[ranges(offsets[:-1] + n_shingles, n_numbers)] = of_numbers.hashes
        return cls(
            nodes=nodes, offsets=offsets, n_shingles=n_shingles, hashes=together, frame=of_numbers.frame,
            digest=of_numbers.digest,
        )  # fmt: skip

    def sent(self, target: int, wanted: U32) -> Iterator[Block]:
        """Yield some of the texts, as blocks."""
        at = np.searchsorted(self.nodes, wanted)
        sizes = self.offsets[at + 1] - self.offsets[at]
        of_block = (np.cumsum(sizes) - sizes) // _HASHES_A_BLOCK
        for part in np.split(np.arange(len(at)), np.flatnonzero(np.diff(of_block)) + 1):
            places = at[part]
            n_shingles = self.n_shingles[places]
            columns = self.nodes[places], n_shingles, sizes[part] - n_shingles, self.frame[places], self.digest[places]
            yield SETS.block(target, columns, self.hashes[ranges(self.offsets[places], sizes[part])])

    @classmethod
    def joined(cls, blocks: Sequence[Block], mine: TextSets) -> TextSets:
        """Join the received texts, after those of this partition."""
        (nodes, n_shingles, n_numbers, frame, digest), hashes = SETS.joined(blocks, np.uint64)
        sizes = n_shingles.astype(np.int64) + n_numbers
        offsets = np.concatenate([mine.offsets, mine.offsets[-1] + np.cumsum(sizes)])
        return cls(
            nodes=np.concatenate([mine.nodes, nodes]), offsets=offsets,
            n_shingles=np.concatenate([mine.n_shingles, n_shingles]).astype(np.int64),
            hashes=np.concatenate([mine.hashes, *hashes]), frame=np.concatenate([mine.frame, frame]),
            digest=np.concatenate([mine.digest, digest]),
        )  # fmt: skip

    def compared(self, options: DedupOptions) -> Compared:
        """Return the texts as their pairs are verified."""
        middles = self.offsets[:-1] + self.n_shingles
        numbers = TextNumbers(self.frame, self.digest, self.hashes, middles, self.offsets[1:])
        length, unit_words = options.shingle.length_in_words
        return Compared(
            hashes=self.hashes, starts=self.offsets[:-1], ends=middles, numbers=numbers, length=length,
            unit_words=unit_words,
        )  # fmt: skip


def ranges(starts: I64, sizes: I64) -> I64:
    """Return consecutive numbers from each start, ``sizes`` of them, concatenated.

    Examples
    --------
    >>> ranges(np.array([10, 3]), np.array([2, 3])).tolist()
    [10, 11, 3, 4, 5]
    """
    ends = np.cumsum(sizes)
    positions: I64 = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
    return positions


def send_sets(partitions: Partitions, options: DedupOptions, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Send shingle sets to where they are requested."""
    yield from (block for block in blocks if block.stream != ASKS.stream)
    nodes, reply_to = ASKS.joined(blocks)
    if len(nodes):
        sets = TextSets.in_partition(partitions, target, np.unique(nodes), options)
        for partition in np.unique(reply_to).tolist():
            yield from sets.sent(partition, np.sort(nodes[reply_to == partition]))


def verify_pairs(
    partitions: Partitions, options: DedupOptions, target: int, blocks: Sequence[Block], *, keeps_all: bool = False
) -> Iterator[Block]:
    """Verify the pairs whose left text is in this partition; the left text of a match is the lower one."""
    yield from (block for block in blocks if block.stream == CANDIDATES.stream)
    left, right = PAIRS.joined(blocks)
    if not len(left):
        return
    mine = np.unique(np.concatenate([left, right[partitions.at(right) == target]]))
    sets = TextSets.joined(blocks, TextSets.in_partition(partitions, target, mine, options))
    left, right = np.minimum(left, right), np.maximum(left, right)
    by_node = np.argsort(sets.nodes)
    place = by_node[np.searchsorted(sets.nodes, np.stack([left, right]), sorter=by_node)].astype(np.uint32)
    compared = sets.compared(options)
    found = verify(Candidates(place[0], place[1]), compared.hashes, compared.starts, compared.ends)
    if not keeps_all:
        found = found.where(options.is_match(found))
        found = replace(found, differs=compared.differences(found))
    counts = found.n_common, found.n_left, found.n_right, differences_of(found)
    yield from MATCHES.packed(target, sets.nodes[found.left], sets.nodes[found.right], *counts)


_BYTES_A_BLOCK = 1 << 18
_ROUNDING = 1e-9


def ask_profiles(partitions: Partitions, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Keep each pair once, and ask for the profile of its right text."""
    left, right = PAIRS.joined(blocks)
    order = np.lexsort((right, left))
    left, right = left[order], right[order]
    is_first = np.ones(len(left), np.bool_)
    is_first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    yield from PAIRS.packed(target, left[is_first], right[is_first])
    yield from CANDIDATES.packed(target, np.array([is_first.sum()]))
    yield from _asks(partitions, target, right)


def ask_inside(partitions: Partitions, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Give the pairs that the driver wrote for this partition, and ask for the sets of their right texts."""
    pairs = load_arrays(partitions.inside(target))
    yield from PAIRS.packed(target, pairs["left"], pairs["right"])
    yield from _asks(partitions, target, pairs["right"])


def send_profiles(partitions: Partitions, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Send the requested profiles; other blocks stay."""
    yield from (block for block in blocks if block.stream != ASKS.stream)
    nodes, reply_to = ASKS.joined(blocks)
    if not len(nodes):
        return
    texts, sizes = partitions.texts(target), PartitionSizes.load(partitions, target)
    step = max(1, _BYTES_A_BLOCK // sizes.profiles.shape[1])
    for partition in np.unique(reply_to).tolist():
        wanted = nodes[reply_to == partition]
        for start in range(0, len(wanted), step):
            some = wanted[start : start + step]
            at = texts.at(some)
            yield PROFILES.block(partition, (some, sizes.n_shingles[at]), sizes.profiles[at])


def screen_candidates(
    partitions: Partitions, options: DedupOptions, target: int, blocks: Sequence[Block]
) -> Iterator[Block]:
    """Keep the candidates that may be matches, and ask for the sets of their right texts."""
    yield from (block for block in blocks if block.stream == CANDIDATES.stream)
    left, right = PAIRS.joined(blocks)
    if not len(left):
        return
    sizes = PartitionSizes.load(partitions, target)
    (nodes, n_shingles), profiles = PROFILES.joined(blocks, np.uint8)
    nodes = np.concatenate([partitions.texts(target).nodes, nodes])
    n_shingles = np.concatenate([sizes.n_shingles, n_shingles])
    received = (profile.reshape(-1, sizes.profiles.shape[1]) for profile in profiles)
    by_node = np.argsort(nodes)
    a, b = (by_node[np.searchsorted(nodes, column, sorter=by_node)] for column in (left, right))
    most, is_unknown = most_common(np.concatenate([sizes.profiles, *received]), a, b)
    at_most = Matches(left, right, most.astype(np.uint32), n_shingles[a], n_shingles[b])
    passes = options.measure.similarity(at_most) >= options.threshold - _ROUNDING
    passes |= is_unknown
    yield from PAIRS.packed(target, left[passes], right[passes])
    yield from _asks(partitions, target, right[passes])


def _asks(partitions: Partitions, target: int, right: U32) -> Iterator[Block]:
    wanted = np.unique(right)
    partition = partitions.at(wanted)
    is_elsewhere = partition != target
    yield from ASKS.scattered(partition[is_elsewhere], wanted[is_elsewhere], np.full(int(is_elsewhere.sum()), target))
