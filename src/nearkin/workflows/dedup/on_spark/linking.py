"""Keys → candidates: the texts that have a key in common meet, and those of a crowded key meet its first ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks
from nearkin.engines.spark.layout import Block
from nearkin.engines.spark.stages import Stages
from nearkin.planning.search import BandPlan, Sample
from nearkin.records import U8, U32, U64
from nearkin.runs.files import published
from nearkin.stages.search.linking import LEAST_PIVOTS, Linking, affordable_pivots, sort_entries
from nearkin.stages.search.prefixes import COUNT_BITS
from nearkin.workflows.dedup.band_search import BandKeys
from nearkin.workflows.dedup.on_spark.homes import Homes
from nearkin.workflows.dedup.on_spark.keying import Keying, Meetings, PrefixKeying, counts_place
from nearkin.workflows.dedup.on_spark.profiles import n_bins_for
from nearkin.workflows.dedup.on_spark.streams import (
    CROWDED,
    ENTRIES,
    LENGTHS,
    NOT_COMPARED,
    OCCURRENCES,
    PAIRS,
    RANKED,
)
from nearkin.workflows.dedup.on_spark.texts import HomeTexts
from nearkin.workflows.dedup.options import DedupOptions
from nearkin.workflows.dedup.plans import Plan
from nearkin.workflows.dedup.searching import most_pairs_of

_HASH = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Linked:
    """Candidates on a cluster.

    Parameters
    ----------
    pairs : Blocks
        `PAIRS`, each at the home of its left text, some of them more than once.
    n_not_compared : int
        See `workflows.dedup.searching.Runs`.
    """

    pairs: Blocks
    n_not_compared: int


def link_all(
    stages: Stages,
    homes: Homes,
    texts: Path,
    folder: Path,
    options: DedupOptions,
    plan: Plan,
    sample: Sample,
) -> Linked:
    """Pair the texts that share a key."""
    folder.mkdir(exist_ok=True)
    meetings = Meetings.of(plan, sample.n_documents, stages.n_at_a_time)
    ratio = options.threshold if options.measure == "jaccard" else 0.0
    meeting = Meeting(homes, meetings, ratio)
    keying = Keying(homes, texts, folder, options, plan, meetings, n_bins_for(sample.mean_size))
    linked = stages.kept("bands", lambda: stages.parts(len(homes), keying).exchanged(meetings.n_targets, meeting))
    if isinstance(plan, BandPlan) and _save_counts(linked, folder):
        prefixes = PrefixKeying(folder, BandKeys(plan, options), meetings)
        short = stages.kept(
            "prefixes", lambda: stages.parts(len(homes), prefixes).exchanged(meetings.n_targets, meeting)
        )
        linked = linked.and_those_of(short)
    crowds = _most_pivots(linked, meetings)
    if not crowds:
        return Linked(linked.of(PAIRS.stream), 0)
    n_crowds = max(stages.n_at_a_time, meetings.n_targets // 8)
    crowded = stages.kept(
        "crowds",
        lambda: (
            linked.of(CROWDED.stream)
            .exchanged(len(homes), Ranking(texts, n_crowds))
            .exchanged(n_crowds, Crowd(homes, crowds, ratio))
        ),
    )
    (n_pairs,) = NOT_COMPARED.joined(crowded.of(NOT_COMPARED.stream).collected())
    return Linked(linked.of(PAIRS.stream).and_those_of(crowded.of(PAIRS.stream)), int(n_pairs.sum()))


def _save_counts(linked: Blocks, folder: Path) -> bool:
    """Write down how often each shingle of short texts occurs; whether there is any."""
    buckets, n = OCCURRENCES.joined(linked.of(OCCURRENCES.stream).collected())
    if len(buckets):
        counts = np.bincount(buckets, n, 1 << COUNT_BITS).astype(np.uint32)
        with published(counts_place(folder), durable=False) as aside, open(aside, "wb") as file:
            np.save(file, counts)
    return len(buckets) > 0


def _most_pivots(linked: Blocks, meetings: Meetings) -> dict[int, int]:
    """Up to which length crowded keys of each band are compared in full."""
    band, length, n = LENGTHS.joined(linked.of(LENGTHS.stream).collected())
    return {
        one: affordable_pivots(
            np.repeat(length[band == one], n[band == one]),
            most_pairs_of(one if one < meetings.n_bands else None),
        )
        for one in np.unique(band).tolist()
    }


@dataclass(frozen=True, slots=True)
class Meeting:
    """Pair the texts that have a key in common; those of crowded keys are set aside."""

    homes: Homes
    meetings: Meetings
    least_size_ratio: float

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        buckets, n = OCCURRENCES.joined(blocks)
        if len(buckets):
            counts = np.bincount(buckets, n, 1 << COUNT_BITS)
            present = np.flatnonzero(counts)
            yield from OCCURRENCES.packed(target, present, counts[present])
        for band in range(self.meetings.n_bands + 1):
            keys, nodes, sizes, sides = ENTRIES.of(band).joined(blocks)
            if len(keys):
                yield from self._linked(band, keys, nodes, sizes, sides)

    def _linked(self, band: int, keys: U64, nodes: U32, sizes: U32, sides: U8) -> Iterator[Block]:
        """Pairs of one band, and its crowded keys."""
        keys, order = sort_entries(keys, np.arange(len(keys), dtype=np.uint32))
        bounds = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]]))
        lengths = np.diff(bounds)
        is_crowded = np.repeat(lengths > LEAST_PIVOTS, lengths)
        if is_crowded.any():
            aside = order[is_crowded]
            columns = np.full(len(aside), band), keys[is_crowded], nodes[aside], sizes[aside], sides[aside]
            yield from CROWDED.scattered(self.homes.at(nodes[aside]), *columns)
            found, n_keys = np.unique(lengths[lengths > LEAST_PIVOTS], return_counts=True)
            yield from LENGTHS.packed(0, np.full(len(found), band), found, n_keys)
            keys, order = keys[~is_crowded], order[~is_crowded]
        linking = Linking(sizes, sides, self.least_size_ratio)
        for pairs, _ in linking.link_sorted(keys, order):
            yield from _pairs(self.homes, nodes, pairs)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Tell of entries of crowded keys how much their texts are preferred."""

    texts: Path
    n_targets: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts = HomeTexts.load(self.texts, target)
        columns = CROWDED.joined(blocks)
        band, key, node = columns[:3]
        at = texts.at(node)
        meeting = ((key + band) * _HASH >> np.uint64(32)) % np.uint64(self.n_targets)
        yield from RANKED.scattered(meeting, *columns, texts.code[at], texts.best[at])


@dataclass(frozen=True, slots=True)
class Crowd:
    """Pair the texts of crowded keys, in long runs each with the first ones only."""

    homes: Homes
    most_pivots: dict[int, int]
    least_size_ratio: float

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        band, keys, nodes, sizes, sides, codes, best = RANKED.joined(blocks)
        n_not_compared = 0
        for one in np.unique(band).tolist():
            here = np.flatnonzero(band == one).astype(np.uint32)
            # where there is another collection its texts come first: they are what others are compared with
            here = here[np.lexsort((best[here], codes[here], sides[here] < 2))]
            linking = Linking(sizes, sides, self.least_size_ratio, self.most_pivots[one])
            for pairs, n in linking.link(keys[here], here):
                n_not_compared += n
                yield from _pairs(self.homes, nodes, pairs)
        yield from NOT_COMPARED.packed(target, np.array([n_not_compared]))


def _pairs(homes: Homes, nodes: U32, pairs: U64) -> Iterator[Block]:
    """Pairs of entries as pairs of texts, at the home of the left one."""
    a, b = nodes[pairs >> np.uint64(32)], nodes[pairs.astype(np.uint32)]
    is_pair = a != b
    left, right = np.minimum(a, b)[is_pair], np.maximum(a, b)[is_pair]
    yield from PAIRS.scattered(homes.at(left), left, right, np.zeros(len(left), np.uint32))
