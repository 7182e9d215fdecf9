"""Candidates → matches: texts that may be alike are sent to one partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.kernels.buffers import integers, large_strings, text_buffers
from nearkin.kernels.hashing import spread
from nearkin.kernels.linking import components
from nearkin.options.dedup import DedupOptions
from nearkin.records import U32, Candidates, Matches, ShingleSets
from nearkin.runs.spool import Arrays, load_arrays, save_arrays
from nearkin.stages.verification.overlap import verify
from nearkin.stages.verification.what_differs import Compared, TextNumbers
from nearkin.workflows.dedup.on_spark.keying import PartitionSizes, most_common, texts_at
from nearkin.workflows.dedup.on_spark.partitions import (
    ASKS,
    CANDIDATES,
    MATCHES,
    PAIRS,
    PROFILES,
    TEXTS,
    Partitions,
    each_partition,
)
from nearkin.workflows.dedup.outcome import differences_of

_PARTS_OF_A_PARTITION = 8
"""A component with more texts than this part of a partition is verified where its left texts lie."""
_BYTES_A_BLOCK = 1 << 18  # Java handles larger blocks separately, which is slower


def verify_all(stages: Stages, pairs: Blocks, partitions: Partitions, options: DedupOptions) -> tuple[Matches, int]:
    """Verify candidates, which lie in the partitions of their left texts; also return the number of distinct ones."""
    n = max(len(partitions), 1)
    screened = stages.kept(
        "candidates",
        lambda: (
            pairs.shuffled(n, partial(ask_profiles, partitions))
            .shuffled(n, partial(send_profiles, partitions))
            .shuffled(n, partial(screen_candidates, partitions, options))
        ),
    )
    (n_pairs,) = CANDIDATES.joined(screened.of(CANDIDATES.stream).collected())

    def candidates() -> Candidates:
        return Candidates(*PAIRS.joined(screened.of(PAIRS.stream).collected()))

    return _verified(stages, "matches", partitions, options, candidates), int(n_pairs.sum())


def compare_inside(
    stages: Stages, partitions: Partitions, options: DedupOptions, pairs: Iterable[Candidates]
) -> Iterator[Matches]:
    """Yield the similarity of the texts of each pair, without a threshold."""
    parts = [(np.zeros(0, np.uint32), np.zeros(0, np.uint32)), *((pair.left, pair.right) for pair in pairs)]
    compared = Candidates(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    if len(compared):
        matches = _verified(stages, "inside", partitions, options, lambda: compared, keeps_all=True)
        yield replace(matches, differs=None)


def _verified(
    stages: Stages,
    name: str,
    partitions: Partitions,
    options: DedupOptions,
    pairs: Callable[[], Candidates],
    *,
    keeps_all: bool = False,
) -> Matches:
    """Verify pairs of a component in one partition, so that a text is sent and read once for all of its pairs."""
    folder, n = partitions.work / f"{name} to verify", max(len(partitions), 1)
    sending = partial(send_texts, partitions, folder)
    verifying = partial(verify_pairs, partitions, options, folder, keeps_all=keeps_all)

    def make() -> Blocks:
        _write_pairs(folder, partitions, pairs())
        return stages.parts(len(partitions), sending).shuffled(n, verifying)

    matches = Matches(*MATCHES.joined(stages.kept(name, make).collected()))
    return matches.where(np.lexsort((matches.right, matches.left)))


def _write_pairs(folder: Path, partitions: Partitions, pairs: Candidates) -> None:
    """Write for each partition the pairs that it verifies, and the texts that it sends for them to others."""
    folder.mkdir(exist_ok=True)
    at = partitions.at(_hosts(pairs, partitions))
    by_partition = np.argsort(at, kind="stable")
    left, right, at = pairs.left[by_partition], pairs.right[by_partition], at[by_partition]
    needed = np.concatenate([at, at]).astype(np.uint64) << np.uint64(32) | np.concatenate([left, right])
    needed = np.unique(needed)
    nodes, reply_to = needed.astype(np.uint32), (needed >> np.uint64(32)).astype(np.int64)
    home = partitions.at(nodes)
    sent = np.flatnonzero(home != reply_to)
    sent = sent[np.argsort(home[sent], kind="stable")]
    nodes, reply_to, home = nodes[sent], reply_to[sent], home[sent]
    for partition in range(len(partitions)):
        here, out = (slice(*np.searchsorted(of, [partition, partition + 1]).tolist()) for of in (at, home))
        columns: Arrays = {"left": left[here], "right": right[here], "sent": nodes[out], "reply_to": reply_to[out]}
        save_arrays(_place(folder, partition), columns)


def _hosts(pairs: Candidates, partitions: Partitions) -> U32:
    """Return for each pair the text to whose partition it goes: any one of its component, or its left text.

    Each text of a component is as likely to be taken, so that no partition gets more than its share.
    """
    n_texts = int(partitions.first_node[-1])
    component = components(pairs.left, pairs.right, n_texts)
    nodes = np.unique(np.concatenate([pairs.left, pairs.right]))
    drawn = nodes[np.argsort(spread(nodes.astype(np.uint64)))]
    host = np.arange(n_texts, dtype=np.uint32)
    host[component[drawn]] = drawn
    n_at_most = n_texts // max(_PARTS_OF_A_PARTITION * len(partitions), 1)
    is_large = np.bincount(component[nodes], minlength=n_texts) > n_at_most
    return np.where(is_large[component[pairs.left]], pairs.left, host[component[pairs.left]])


def _place(folder: Path, partition: int) -> Path:
    return folder / f"{partition:09d}.arrow"


def texts_of(partitions: Partitions, partition: int, nodes: U32) -> Iterator[tuple[U32, pa.LargeStringArray]]:
    """Yield texts of a partition, in ascending order, from each chunk."""
    texts = partitions.texts(partition)
    rows = texts.rows[texts.at(nodes)]
    for chunk in partitions.chunks(partition):
        here = slice(*np.searchsorted(rows, [chunk.start, chunk.end]).tolist())
        if here.start < here.stop:
            yield nodes[here], texts_at(chunk, rows[here])


def send_texts(partitions: Partitions, folder: Path, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
    """Send texts to the partitions that verify pairs of them."""
    yield from each_partition(target, blocks)
    columns = load_arrays(_place(folder, target), ("sent", "reply_to"))
    nodes, reply_to = columns["sent"], columns["reply_to"]
    if not len(nodes):
        return
    wanted = np.unique(nodes)
    texts = pa.concat_arrays([texts for _, texts in texts_of(partitions, target, wanted)])
    sizes = np.diff(text_buffers(texts)[1])
    places = np.searchsorted(wanted, nodes)
    of_block = (np.cumsum(sizes[places]) - sizes[places]) // _BYTES_A_BLOCK
    is_new = (np.diff(of_block) != 0) | (np.diff(reply_to) != 0)
    for part in np.split(np.arange(len(places)), np.flatnonzero(is_new) + 1):
        at = places[part]
        data, offsets = text_buffers(texts.take(integers(at)))
        yield TEXTS.block(int(reply_to[part[0]]), (wanted[at], sizes[at]), data[offsets[0] : offsets[-1]])


def verify_pairs(
    partitions: Partitions,
    options: DedupOptions,
    folder: Path,
    target: int,
    blocks: Sequence[Block],
    *,
    keeps_all: bool,
) -> Iterator[Block]:
    """Verify the pairs of a partition; the left text of a match is the lower one."""
    columns = load_arrays(_place(folder, target), ("left", "right"))
    left, right = columns["left"], columns["right"]
    if not len(left):
        return
    mine = np.unique(np.concatenate([left, right]))
    mine = mine[partitions.at(mine) == target]
    nodes, parts, numbers = list[U32](), list[ShingleSets](), list[TextNumbers]()
    for some, texts in chain(texts_of(partitions, target, mine), _received(blocks)):
        nodes.append(some)
        parts.append(options.shingle.sets(texts))
        if not keeps_all:
            numbers.append(TextNumbers.of(texts))
    of_text, hashes = np.concatenate(nodes), np.concatenate([sets.hashes for sets in parts])
    sizes = np.concatenate([sets.sizes for sets in parts])
    parts.clear()
    ends = np.cumsum(sizes)
    starts = ends - sizes
    left, right = np.minimum(left, right), np.maximum(left, right)
    by_node = np.argsort(of_text)
    place = by_node[np.searchsorted(of_text, np.stack([left, right]), sorter=by_node)].astype(np.uint32)
    found = verify(Candidates(place[0], place[1]), hashes, starts, ends)
    if not keeps_all:
        found = found.where(options.is_match(found))
        length, unit_words = options.shingle.length_in_words
        compared = Compared(
            hashes=hashes, starts=starts, ends=ends, numbers=TextNumbers.joined(numbers), length=length,
            unit_words=unit_words,
        )  # fmt: skip
        found = replace(found, differs=compared.differences(found))
    counts = found.n_common, found.n_left, found.n_right, differences_of(found)
    yield from MATCHES.packed(target, of_text[found.left], of_text[found.right], *counts)


def _received(blocks: Sequence[Block]) -> Iterator[tuple[U32, pa.LargeStringArray]]:
    """Yield the texts that other partitions sent."""
    for (nodes, sizes), data in TEXTS.parts(blocks, np.uint8):
        yield nodes, large_strings(data, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


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
    wanted = np.unique(right)
    partition = partitions.at(wanted)
    is_elsewhere = partition != target
    yield from ASKS.scattered(partition[is_elsewhere], wanted[is_elsewhere], np.full(int(is_elsewhere.sum()), target))


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
    """Keep the candidates that may be matches."""
    yield from (block for block in blocks if block.stream == CANDIDATES.stream)
    left, right = PAIRS.joined(blocks)
    if not len(left):
        return
    sizes = PartitionSizes.load(partitions, target)
    received = list(PROFILES.parts(blocks, np.uint8))
    nodes = np.concatenate([partitions.texts(target).nodes, *(columns[0] for columns, _ in received)])
    n_shingles = np.concatenate([sizes.n_shingles, *(columns[1] for columns, _ in received)])
    profiles = (profile.reshape(-1, sizes.profiles.shape[1]) for _, profile in received)
    by_node = np.argsort(nodes)
    a, b = (by_node[np.searchsorted(nodes, column, sorter=by_node)] for column in (left, right))
    most, is_unknown = most_common(np.concatenate([sizes.profiles, *profiles]), a, b)
    at_most = Matches(left, right, most.astype(np.uint32), n_shingles[a], n_shingles[b])
    passes = options.measure.similarity(at_most) >= options.threshold - _ROUNDING
    passes |= is_unknown
    yield from PAIRS.packed(target, left[passes], right[passes])
