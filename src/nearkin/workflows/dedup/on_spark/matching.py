"""Texts in partitions → matches: the steps shared by runs over files and over data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nearkin.engines.spark.blocks import Blocks, Task
from nearkin.engines.spark.layout import Block, Column
from nearkin.engines.spark.requirements import Voice
from nearkin.engines.spark.stages import Stages
from nearkin.options.dedup import DedupOptions
from nearkin.planning.search import BandPlan, Sample
from nearkin.records import I64, U8, U32, U64
from nearkin.runs.arrays import save_array, saved_array
from nearkin.stages.search.exhaustive import LeadKeys, bits_of
from nearkin.stages.search.linking import FOLLOWS, MIN_PIVOTS, Linking, sort_entries
from nearkin.stages.search.prefixes import Occurrences
from nearkin.workflows.dedup.candidates import BandKeys, SampleKeys
from nearkin.workflows.dedup.on_spark.keying import (
    EntryMeetings,
    PartitionEntries,
    SendBandKeysTask,
    SendPrefixesTask,
    counts_place,
    leading,
    n_bins_for,
    n_leading,
    pairs_in_partition,
    skewed_place,
    texts_at,
    texts_of_entries,
)
from nearkin.workflows.dedup.on_spark.partitions import (
    CANDIDATES,
    ENTRIES,
    HOT,
    LEADS,
    LENGTHS,
    MARKS,
    OCCURRENCES,
    SKEWED,
    Partitions,
)
from nearkin.workflows.dedup.on_spark.skewed import link_skewed
from nearkin.workflows.dedup.on_spark.texts import PartitionTexts
from nearkin.workflows.dedup.on_spark.verifying import verify_all
from nearkin.workflows.dedup.plans import Plan, chosen_nodes, plan_in_words, plan_search, sample_of


@dataclass(frozen=True, slots=True)
class ClusterMatches:
    """Matches found on a cluster, each in the partition of one of its texts, with the plan and counts."""

    plan: Plan
    blocks: Blocks
    n_candidates: int
    n_not_compared: int


def match_texts(
    stages: Stages,
    partitions: Partitions,
    counted: Sequence[I64],
    folders: tuple[Path, Path],
    options: DedupOptions,
    *,
    is_against: bool,
    planning: AbstractContextManager[Voice],
) -> ClusterMatches:
    """Plan the search, pair the texts that share a key, and verify the pairs.

    Parameters
    ----------
    counted : sequence of two int64 arrays, shape (n_partitions,)
        Columns of `COUNTED`.
    folders : tuple of two Paths
        Folder of the texts of the partitions, and folder for their sizes and keys.
    planning
        Entered while the search is planned; its progress receives the plan.
    """
    texts, keys = folders
    with planning as progress:
        sample = look(partitions, counted, texts, options, is_against=is_against)
        plan = plan_search(sample, options)
        progress.say(plan_in_words(plan, options))
    linked = link_all(stages, partitions, texts, keys, options, plan, sample)
    blocks = verify_all(stages, "matches", linked.pairs, partitions, folders, options)
    (n_pairs,) = CANDIDATES.joined(blocks.of(CANDIDATES.stream).collected())
    return ClusterMatches(plan, blocks, int(n_pairs.sum()), linked.n_not_compared)


def look(
    partitions: Partitions, counted: Sequence[I64], texts: Path, options: DedupOptions, *, is_against: bool
) -> Sample:
    """Compare some texts with one another; see `workflows.dedup.plans.look`."""
    n_texts, n_mine = counted
    n_nodes, n_of_mine = int(n_texts.sum()), int(n_mine.sum())
    nodes = chosen_nodes(n_of_mine, n_nodes - n_of_mine)
    ends = np.cumsum(n_texts)
    partition = np.searchsorted(ends, nodes, side="right")
    rows = np.zeros(len(nodes), np.int64)
    for one in np.unique(partition).tolist():
        here = partition == one
        rows[here] = PartitionTexts.load(texts, one).first[nodes[here].astype(np.int64) - int(ends[one] - n_texts[one])]
    n_characters = np.array([_value_at(partitions, "n_characters", row) for row in rows.tolist()], np.int64)
    return sample_of(
        nodes, rows, n_characters, partitions.chunks(), options,
        n_mine=n_of_mine, n_nodes=n_nodes, is_against=is_against,
    )  # fmt: skip


def _value_at(partitions: Partitions, column: str, row: int) -> int:
    i = int(np.searchsorted(partitions.starts, row, side="right")) - 1
    [chunk] = partitions.chunks_between(i, i + 1)
    return int(chunk.column(column)[row - chunk.start].as_py())


HOT_LENGTH = 1 << 20
"""Maximum number of entries of one key that are sent to one task."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Candidates found on a cluster: `PAIRS`, some of them repeated."""

    pairs: Blocks
    n_not_compared: int


def link_all(
    stages: Stages,
    partitions: Partitions,
    texts: Path,
    folder: Path,
    options: DedupOptions,
    plan: Plan,
    sample: Sample,
) -> Linked:
    """Pair the texts that share a key."""
    folder.mkdir(exist_ok=True)
    meetings = EntryMeetings.of(plan, sample, options, stages.n_at_a_time)
    ratio = options.measure.min_size_ratio(options.threshold)
    linking = LinkEntriesTask(partitions, meetings, ratio)
    keying = SendBandKeysTask(
        partitions=partitions,
        texts=texts,
        folder=folder,
        options=options,
        plan=plan,
        meetings=meetings,
        n_bins=n_bins_for(sample.mean_size),
    )
    linked = stages.kept("bands", lambda: stages.parts(len(partitions), keying).shuffled(meetings.n_targets, linking))
    has_counts = _save_counts(linked, folder)
    if not isinstance(plan, BandPlan):
        keys = SampleKeys(plan, options)
        linked = send_samples(stages, partitions, texts, folder, options, keys, meetings, linking)
    elif has_counts:
        prefixes = SendPrefixesTask(folder, BandKeys(plan, options), meetings)
        short = stages.kept(
            "prefixes", lambda: stages.parts(len(partitions), prefixes).shuffled(meetings.n_targets, linking)
        )
        linked = linked.and_those_of(short)
    return Linked(*link_skewed(stages, linked, partitions, texts, folder, meetings, ratio))


def _save_counts(linked: Blocks, folder: Path) -> bool:
    buckets, n = OCCURRENCES.joined(linked.of(OCCURRENCES.stream).collected())
    if len(buckets):
        save_array(counts_place(folder), Occurrences.summed(buckets, n).dense())
    return len(buckets) > 0


@dataclass(frozen=True, slots=True)
class LinkEntriesTask:
    """Pair the texts that share a key; set aside those of skewed keys."""

    partitions: Partitions
    meetings: EntryMeetings
    min_size_ratio: float

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        buckets, n = OCCURRENCES.joined(blocks)
        if len(buckets):
            here = Occurrences.summed(buckets, n)
            yield from OCCURRENCES.packed(target, here.buckets, here.n)
        for band in range(self.meetings.n_bands + 1):
            marks = MARKS.of(band).joined(blocks)
            entries = ENTRIES.of(band).joined(blocks)
            if len(entries[0]) or len(marks[0]):
                yield from self._linked(band, marks, *entries)

    def _linked(
        self, band: int, marks: Sequence[Column], keys: U64, nodes: U32, sizes: U32, sides: U8
    ) -> Iterator[Block]:
        leads_first = np.argsort(sides & FOLLOWS, kind="stable").astype(np.uint32)
        keys, order = sort_entries(keys[leads_first], leads_first)
        found, starts, lengths = _runs(keys)
        n_leads = np.add.reduceat((sides[order] & FOLLOWS) == 0, starts, dtype=np.int64) if len(starts) else starts
        is_skewed = (lengths > MIN_PIVOTS) | np.isin(found, marks[0])
        here = found[is_skewed], lengths[is_skewed], n_leads[is_skewed]
        yield from self._told(band, *(np.append(own, there) for own, there in zip(here, marks, strict=True)))
        is_skewed = np.repeat(is_skewed, lengths)
        if is_skewed.any():
            aside = order[is_skewed]
            columns = np.full(len(aside), band), keys[is_skewed], nodes[aside], sizes[aside], sides[aside]
            yield from SKEWED.scattered(self.partitions.at(nodes[aside]), *columns)
            keys, order = keys[~is_skewed], order[~is_skewed]
        linking = Linking(sizes, sides, self.min_size_ratio)
        for pairs, _ in linking.link_sorted(keys, order):
            yield from pairs_in_partition(self.partitions, *texts_of_entries(nodes, pairs))

    def _told(self, band: int, keys: U64, lengths: I64, n_leads: I64) -> Iterator[Block]:
        found, of_key = np.unique(keys, return_inverse=True)
        lengths, n_leads = (np.bincount(of_key, n, len(found)).astype(np.int64) for n in (lengths, n_leads))
        is_led = n_leads > 0
        found, lengths, n_leads = found[is_led], lengths[is_led], n_leads[is_led]
        is_hot = lengths > HOT_LENGTH
        hot = found[is_hot], lengths[is_hot], n_leads[is_hot]
        yield from HOT.packed(0, np.full(len(hot[0]), band), *hot)
        told, n_keys = np.unique(np.stack([lengths, n_leads]), axis=1, return_counts=True)
        yield from LENGTHS.packed(0, np.full(len(n_keys), band), *told, n_keys)


def _runs(keys: U64) -> tuple[U64, I64, I64]:
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    return keys[starts], starts, np.diff(np.append(starts, len(keys)))


def send_samples(
    stages: Stages,
    partitions: Partitions,
    texts: Path,
    folder: Path,
    options: DedupOptions,
    keys: SampleKeys,
    meetings: EntryMeetings,
    linking: Task,
) -> Blocks:
    """Send the entries of all texts to ``linking``, once the sizes of all are known."""
    n_keys = n_leading(folder, len(partitions), keys.prefixes)
    place = folder / "lead-bits.arrow"
    if n_keys:
        marked = stages.kept("leads", lambda: stages.parts(len(partitions), ListLeadingTask(folder, keys, n_keys)))
        (bits,) = LEADS.joined(marked.collected())
        save_array(place, LeadKeys.of_bits(bits, n_keys).bitmap)
    sending = SendSampledTask(
        partitions=partitions,
        texts=texts,
        folder=folder,
        options=options,
        keys=keys,
        meetings=meetings,
        leads=place if n_keys else None,
    )
    return stages.kept("samples", lambda: stages.parts(len(partitions), sending).shuffled(meetings.n_targets, linking))


@dataclass(frozen=True, slots=True)
class ListLeadingTask:
    """List the shingles with which the small texts of a partition lead."""

    folder: Path
    keys: SampleKeys
    n_keys: int

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        keys, *_ = leading(self.folder, target, self.keys.prefixes)
        yield from LEADS.packed(target, bits_of(keys, self.n_keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class SendSampledTask:
    """Send the entries of the texts of a partition to where equal keys meet."""

    partitions: Partitions
    texts: Path
    folder: Path
    options: DedupOptions
    keys: SampleKeys
    meetings: EntryMeetings
    leads: Path | None

    def __call__(self, target: int, blocks: Sequence[Block]) -> Iterator[Block]:
        """See `Task`."""
        texts, entries = PartitionTexts.load(self.texts, target), PartitionEntries(self.meetings)
        leads = None if self.leads is None else LeadKeys(saved_array(self.leads))
        own = leading(self.folder, target, self.keys.prefixes)[:4]
        entries.add_loose(*own)
        for chunk in self.partitions.chunks(target):
            here = slice(*np.searchsorted(texts.first, [chunk.start, chunk.end]).tolist())
            nodes, sides = texts.first[here], texts.sides[here]
            if not len(nodes):
                continue
            sets = self.options.shingle.sets(texts_at(chunk, nodes))
            sizes = sets.sizes.astype(np.uint32)
            sampled = self.keys.sampled(nodes, sets)
            entries.add_loose(*sampled, *_of_texts(nodes, sizes, sides, sampled[1]))
            if leads is not None:
                is_here = (own[1] >= nodes[0]) & (own[1] <= nodes[-1])
                following = self.keys.following(nodes, sets, leads, [sampled, (own[0][is_here], own[1][is_here])])
                entries.add_loose(*following, *_of_texts(nodes, sizes, sides | FOLLOWS, following[1]))
        yield from entries.sent(skewed_place(self.folder, "samples", target))


def _of_texts(nodes: U32, sizes: U32, sides: U8, wanted: U32) -> tuple[U32, U8]:
    at = np.searchsorted(nodes, wanted)
    return sizes[at], sides[at]
